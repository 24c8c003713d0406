//! Operand files of `falchion gemm`, and the problem size from files and flags.

use super::lists::Lists;
use crate::{
    args::GemmArgs,
    failure::Failure,
    npy::{NpyFile, missing, shared, wider},
};
use falchion::{
    epilogue::{EpilogueDesc, SCALARS},
    internals::{
        operand::Problem,
        shape::{Axis, EpilogueOperand, EpilogueOperands, OperandKind},
    },
    numeric::ElementKind,
};
use std::path::{Path, PathBuf};

/// Operand files, opened.
#[derive(Default)]
pub struct Files {
    /// File of A.
    pub a: Option<NpyFile>,
    /// File of B.
    pub b: Option<NpyFile>,
    /// File of C.
    pub c: Option<NpyFile>,
    /// Files of the epilogue's operands except C.
    pub operands: EpilogueOperands<NpyFile>,
}

/// Returns the flags that set operands of the epilogue, each with its value and the names that the
/// flag accepts.
pub fn operand_flags(
    args: &GemmArgs,
) -> impl Iterator<Item = (&'static str, &str, &'static [EpilogueOperand])> {
    let vectors = args
        .vectors
        .iter()
        .map(|given| ("--vector", given.as_str(), &EpilogueOperand::VECTORS as &[EpilogueOperand]));
    let matrices = args.matrices.iter().map(|given| {
        ("--matrix", given.as_str(), &EpilogueOperand::AUXILIARY as &[EpilogueOperand])
    });
    vectors.chain(matrices)
}

/// Opens a file with one matrix per GEMM, or with one matrix for all.
fn open_batch(args: &GemmArgs, path: &Path) -> Result<NpyFile, Failure> {
    let products = args.products();
    NpyFile::open_batch(path, products, |matrices| match args.groups() {
        Some((axis, _)) => format!("{} has {products} groups", GemmArgs::flag_of_groups(axis)),
        None => format!("--batch is {products}; try --batch {matrices}"),
    })
}

impl Files {
    /// Opens the files of A, B, and C.
    pub fn open(args: &GemmArgs) -> Result<Self, Failure> {
        let open =
            |path: &Option<PathBuf>| path.as_deref().map(|path| open_batch(args, path)).transpose();
        // Groups of rows share A and C, and groups along K share A and B.
        let along = args.groups().map(|(axis, _)| axis);
        let open_shared = |path: &Option<PathBuf>, shared: bool| match path {
            Some(path) if shared => NpyFile::open(path).map(Some),
            _ => open(path),
        };
        let (a, b, c) = (
            open_shared(&args.a_file, along.is_some())?,
            open_shared(&args.b_file, along == Some(Axis::K))?,
            open_shared(&args.c_file, along == Some(Axis::M))?,
        );
        Ok(Self { a, b, c, operands: EpilogueOperands::NONE })
    }

    /// Element types of A and B, from their files. Two floating-point types become the wider type.
    pub fn elements(&self) -> [Option<ElementKind>; 2] {
        let [a, b] = [&self.a, &self.b].map(|file| file.as_ref().map(NpyFile::element));
        match a.zip(b).and_then(|(a, b)| wider(a, b)) {
            Some(wider) => [Some(wider); 2],
            None => [a, b],
        }
    }

    /// Opens the files of the epilogue's operands. Refuses operands that the epilogue does not
    /// read.
    pub fn open_operands(
        &mut self,
        args: &GemmArgs,
        epilogue: &EpilogueDesc,
    ) -> Result<(), Failure> {
        for (flag, given, names) in operand_flags(args) {
            let refuse = |because: String| Failure::refused(format!("{flag} {given}: {because}"));
            let named = |name: &str| names.iter().copied().find(|operand| operand.name() == name);
            let (operand, path) = given
                .split_once('=')
                .and_then(|(name, path)| Some((named(name)?, Path::new(path))))
                .ok_or_else(|| {
                    let names = names.iter().map(|name| name.name()).collect::<Vec<_>>();
                    refuse(format!(
                        "the value must be NAME=FILE, and NAME must be {}",
                        names.join(" or ")
                    ))
                })?;
            if !epilogue.has(operand) || epilogue.writes(operand) {
                return Err(refuse(format!("the epilogue {epilogue} does not read {operand}")));
            }
            let file = match operand.side() {
                Some(_) => NpyFile::open_vector(path)?,
                None if args.group_rows.is_some() => NpyFile::open(path)?,
                None => open_batch(args, path)?,
            };
            if self.operands.slot(operand).replace(file).is_some() {
                return Err(refuse(format!("the flags set {operand} twice")));
            }
        }
        Ok(())
    }

    /// The types that the files of A and B hold, in words.
    pub fn types(&self) -> String {
        let files = [&self.a, &self.b].into_iter().flatten();
        let held: Vec<String> =
            files.map(|file| format!("{} holds {}", file.name(), file.element())).collect();
        held.join(" and ")
    }

    /// Refuses a GEMM of files and random numbers: if one operand has a file, each operand that
    /// the kernel reads needs a file.
    pub fn require_all(
        &self,
        epilogue: &EpilogueDesc,
        scalars: &[f64; SCALARS],
    ) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let reads = epilogue.reads(scalars);
        let matrices = [
            ("A", "--a-file FILE", &self.a, reads.accumulator),
            ("B", "--b-file FILE", &self.b, reads.accumulator),
            ("C", "--c-file FILE", &self.c, reads.source()),
        ];
        for (operand, flag, file, read) in matrices {
            if read && file.is_none() {
                return Err(missing(operand, flag));
            }
        }
        for (operand, ()) in reads.operands.iter() {
            let given = self.operands.get(operand).is_some() || epilogue.writes(operand);
            if operand != EpilogueOperand::Source && !given {
                let flag = if operand.side().is_some() { "--vector" } else { "--matrix" };
                return Err(missing(operand.name(), &format!("{flag} {operand}=FILE")));
            }
        }
        Ok(())
    }

    /// Whether no operand has a file.
    pub fn is_empty(&self) -> bool {
        [&self.a, &self.b, &self.c].into_iter().all(Option::is_none)
            && self.operands.iter().next().is_none()
    }

    /// The problem in which a file with one matrix serves the whole batch.
    pub fn shared(&self, problem: Problem) -> Problem {
        let (a, b) = (shared(problem.a, &self.a), shared(problem.b, &self.b));
        let up = problem.up.map(|up| shared(up, &self.b));
        let c = problem.c.map(|c| shared(c, &self.c));
        let operands = problem.operands.map(|operand, view| {
            let file = self.operands.get(operand);
            if file.is_some_and(|file| file.batch() == 1) { view.batched(0) } else { view }
        });
        Problem { a, b, up, c, operands, ..problem }
    }

    /// M, N, and K, from the flags or the files. Refuses files with conflicting extents. B has
    /// `each` columns per column of D.
    pub fn extents(
        &self,
        args: &GemmArgs,
        lists: &Lists,
        each: usize,
    ) -> Result<(usize, usize, usize), Failure> {
        let of = |file: &Option<NpyFile>| file.as_ref().map(NpyFile::extents);
        let (a, b, c) = (of(&self.a), of(&self.b), of(&self.c));
        let rows = |extents: Option<(usize, usize)>| extents.map(|extents| extents.0);
        let columns = |extents: Option<(usize, usize)>| extents.map(|extents| extents.1);
        let known = |axis: &str,
                     flag: Option<usize>,
                     first: Option<usize>,
                     second: Option<usize>| {
            flag.or(first).or(second).ok_or_else(|| {
                Failure::refused(format!("{axis} is unknown; set --{axis}, or add the file of an operand with this extent"))
            })
        };
        for (axis, name, flag) in [(Axis::M, "m", args.m), (Axis::K, "k", args.k)] {
            let both = flag.zip(args.lines_of_groups(axis));
            if let Some((given, sum)) = both.filter(|(given, sum)| given != sum) {
                let of_groups = GemmArgs::flag_of_groups(axis);
                return Err(Failure::refused(format!(
                    "--{name} is {given}, but the sum of {of_groups} is {sum}; remove --{name}"
                )));
            }
        }
        // A list has one index per row or column of the GEMM.
        let listed = lists.length(0).or(lists.length(2));
        let m = known("m", args.rows().or(listed), rows(a), rows(c))?;
        let n = known("n", args.n.or(lists.length(1)), columns(b).map(|n| n / each), columns(c))?;
        let k = known("k", args.depth(), columns(a), rows(b))?;
        // A matrix with a list has its own number of rows or columns.
        let lines = |number: usize, held: Option<usize>, all: usize| match lists.length(number) {
            Some(_) => held.unwrap_or(all),
            None => all,
        };
        let rows_of_d = lines(2, rows(c), m);
        let all = if each > 1 { each * n } else { lines(1, columns(b), n) };
        for (operand, axes, file, wanted) in [
            ("A", "m x k", &self.a, (lines(0, rows(a), m), k)),
            ("B", if each > 1 { "k x 2n" } else { "k x n" }, &self.b, (k, all)),
            ("C", "m x n", &self.c, (rows_of_d, n)),
        ] {
            if let Some(file) = file.as_ref().filter(|file| file.extents() != wanted) {
                let (rows, columns) = file.extents();
                return Err(Failure::refused(format!(
                    "{} holds {rows} x {columns} elements, but {operand} ({axes}) has {} x {} elements",
                    file.name(),
                    wanted.0,
                    wanted.1
                )));
            }
        }
        for (operand, file) in self.operands.iter() {
            let (rows, columns) = file.extents();
            let (held, wanted) = match operand.side() {
                Some(OperandKind::A) => (columns.to_string(), m.to_string()),
                Some(OperandKind::B) => (columns.to_string(), n.to_string()),
                None => (format!("{rows} x {columns}"), format!("{m} x {n}")),
            };
            if held != wanted {
                return Err(Failure::refused(format!(
                    "{} holds {held} elements, but {operand} has {wanted} elements",
                    file.name()
                )));
            }
        }
        Ok((m, n, k))
    }
}
