//! Operand files of `falchion gemm`, and the problem size from files and flags.

use crate::{
    args::GemmArgs,
    failure::Failure,
    npy::{NpyFile, missing, shared, wider},
};
use falchion::{
    epilogue::{EpilogueDesc, Op, SCALARS},
    internals::{
        call::Problem,
        operand::{OperandKind, VectorKind, Vectors},
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
    /// Files of the epilogue's vectors.
    pub vectors: Vectors<NpyFile>,
}

impl Files {
    /// Opens the files of A, B, and C.
    pub fn open(args: &GemmArgs) -> Result<Self, Failure> {
        let products = args.products();
        let open = |path: &Option<PathBuf>| {
            let other = |matrices| match &args.group_rows {
                Some(_) => format!("--group-rows has {products} groups"),
                None => format!("--batch is {products}; try --batch {matrices}"),
            };
            path.as_deref().map(|path| NpyFile::open_batch(path, products, other)).transpose()
        };
        // The groups of a grouped GEMM share A and C.
        let open_shared = |path: &Option<PathBuf>| match (&args.group_rows, path) {
            (Some(_), Some(path)) => NpyFile::open(path).map(Some),
            _ => open(path),
        };
        let (a, b, c) =
            (open_shared(&args.a_file)?, open(&args.b_file)?, open_shared(&args.c_file)?);
        Ok(Self { a, b, c, vectors: Vectors::NONE })
    }

    /// Element types of A and B, from their files. Two floating-point types become the wider type.
    pub fn elements(&self) -> [Option<ElementKind>; 2] {
        let [a, b] = [&self.a, &self.b].map(|file| file.as_ref().map(NpyFile::element));
        match a.zip(b).and_then(|(a, b)| wider(a, b)) {
            Some(wider) => [Some(wider); 2],
            None => [a, b],
        }
    }

    /// Opens the files of vectors. Refuses vectors that the epilogue does not read.
    pub fn open_vectors(
        &mut self,
        args: &GemmArgs,
        epilogue: &EpilogueDesc,
    ) -> Result<(), Failure> {
        for given in &args.vectors {
            let refuse = |because: String| Failure::refused(format!("--vector {given}: {because}"));
            let named = |name: &str| VectorKind::ALL.into_iter().find(|kind| kind.name() == name);
            let names = || {
                format!(
                    "the value must be NAME=FILE, and NAME must be {}",
                    VectorKind::ALL.map(VectorKind::name).join(" or ")
                )
            };
            let (kind, path) = given
                .split_once('=')
                .and_then(|(name, path)| Some((named(name)?, path)))
                .ok_or_else(|| refuse(names()))?;
            if !epilogue.ops().contains(&Op::Vector(kind)) {
                return Err(refuse(format!("the epilogue {epilogue} does not read {kind}")));
            }
            if self.vectors.slot(kind).replace(NpyFile::open_vector(Path::new(path))?).is_some() {
                return Err(refuse(format!("the flags set {kind} twice")));
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
            ("C", "--c-file FILE", &self.c, reads.source),
        ];
        for (operand, flag, file, read) in matrices {
            if read && file.is_none() {
                return Err(missing(operand, flag));
            }
        }
        for (kind, ()) in reads.vectors.iter() {
            if self.vectors.get(kind).is_none() {
                return Err(missing(kind.name(), &format!("--vector {}=FILE", kind.name())));
            }
        }
        Ok(())
    }

    /// Whether no operand has a file.
    pub fn is_empty(&self) -> bool {
        [&self.a, &self.b, &self.c].into_iter().all(Option::is_none)
            && self.vectors.iter().next().is_none()
    }

    /// The problem in which a file with one matrix serves the whole batch.
    pub fn shared(&self, problem: Problem) -> Problem {
        let (a, b) = (shared(problem.a, &self.a), shared(problem.b, &self.b));
        let c = problem.c.map(|c| shared(c, &self.c));
        Problem { a, b, c, ..problem }
    }

    /// M, N, and K, from the flags or the files. Refuses files with conflicting extents.
    pub fn extents(&self, args: &GemmArgs) -> Result<(usize, usize, usize), Failure> {
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
        if let Some((m, rows)) = args.m.zip(args.rows()).filter(|(m, rows)| m != rows) {
            return Err(Failure::refused(format!(
                "--m is {m}, but the sum of --group-rows is {rows}; remove --m"
            )));
        }
        let m = known("m", args.rows(), rows(a), rows(c))?;
        let n = known("n", args.n, columns(b), columns(c))?;
        let k = known("k", args.k, columns(a), rows(b))?;
        for (operand, axes, file, wanted) in [
            ("A", "m x k", &self.a, (m, k)),
            ("B", "k x n", &self.b, (k, n)),
            ("C", "m x n", &self.c, (m, n)),
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
        for (kind, file) in self.vectors.iter() {
            let (held, length) =
                (file.extents().1, if kind.side() == OperandKind::A { m } else { n });
            if held != length {
                return Err(Failure::refused(format!(
                    "{} holds {held} elements, but {kind} has {length} elements",
                    file.name()
                )));
            }
        }
        Ok((m, n, k))
    }
}
