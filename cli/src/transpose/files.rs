//! Operand files of `falchion transpose`, and the extents from files and flags.

use crate::{
    args::TransposeArgs,
    failure::Failure,
    npy::{NpyFile, missing, shared, wider},
};
use falchion::{internals::operand::Problem, numeric::ElementKind};
use std::path::Path;

/// Operand files, opened.
pub struct Files {
    /// File of A.
    pub a: Option<NpyFile>,
    /// File of C.
    pub c: Option<NpyFile>,
}

impl Files {
    /// Opens the files of A and C.
    pub fn open(args: &TransposeArgs) -> Result<Self, Failure> {
        let batch = args.batch;
        let other = |matrices| format!("--batch is {batch}; try --batch {matrices}");
        let open = |path: Option<&Path>| {
            path.map(|path| NpyFile::open_batch(path, batch, other)).transpose()
        };
        Ok(Self { a: open(args.a_file.as_deref())?, c: open(args.c_file.as_deref())? })
    }

    /// The element type: from `--type`, or from the files, or f32. Two floating-point types become
    /// the wider type.
    pub fn element(&self, args: &TransposeArgs) -> Result<ElementKind, Failure> {
        if let Some(element) = args.element {
            return Ok(element);
        }
        let (Some(a), Some(c)) = (&self.a, &self.c) else {
            return Ok(self
                .a
                .as_ref()
                .or(self.c.as_ref())
                .map_or(ElementKind::F32, NpyFile::element));
        };
        wider(a.element(), c.element()).ok_or_else(|| {
            Failure::refused(format!(
                "{} holds {}, but {} holds {}; set --type to convert both",
                a.name(),
                a.element(),
                c.name(),
                c.element()
            ))
        })
    }

    /// Refuses a mix of files and random operands, and a file of C that the kernel does not read.
    pub fn require_all(&self, args: &TransposeArgs) -> Result<(), Failure> {
        if self.c.is_some() && args.beta.is_none() {
            return Err(Failure::refused(
                "beta is 0, so the kernel does not read the C of --c-file; set --beta 1",
            ));
        }
        if !self.is_empty() {
            let operands = [
                ("A", "--a-file FILE", &self.a, args.alpha != 0.0),
                ("C", "--c-file FILE", &self.c, args.beta.is_some_and(|beta| beta != 0.0)),
            ];
            for (operand, flag, file, read) in operands {
                if read && file.is_none() {
                    return Err(missing(operand, flag));
                }
            }
        }
        Ok(())
    }

    /// Whether no operand has a file.
    pub fn is_empty(&self) -> bool {
        self.a.is_none() && self.c.is_none()
    }

    /// The problem in which a file with one matrix serves the whole batch.
    pub fn shared(&self, problem: Problem) -> Problem {
        let a = shared(problem.a, &self.a);
        Problem { a, c: problem.c.map(|c| shared(c, &self.c)), ..problem }
    }

    /// Rows and columns of A, from the flags or the files. Refuses files with conflicting extents.
    pub fn extents(&self, args: &TransposeArgs) -> Result<(usize, usize), Failure> {
        let of = |file: &Option<NpyFile>| file.as_ref().map(NpyFile::extents);
        let ((a_rows, a_columns), (c_rows, c_columns)) = (of(&self.a).unzip(), of(&self.c).unzip());
        let known = |flag: &str, given: Option<usize>, of_a, of_c| {
            given.or(of_a).or(of_c).ok_or_else(|| {
                Failure::refused(format!(
                    "the number of {flag} is unknown; set --{flag}, or add a file of A or C"
                ))
            })
        };
        let rows = known("rows", args.rows, a_rows, c_columns)?;
        let columns = known("cols", args.cols, a_columns, c_rows)?;
        for (operand, file, wanted) in
            [("A", &self.a, (rows, columns)), ("C", &self.c, (columns, rows))]
        {
            if let Some(file) = file.as_ref().filter(|file| file.extents() != wanted) {
                let ((found, across), (rows, columns)) = (file.extents(), wanted);
                return Err(Failure::refused(format!(
                    "{} holds {found} x {across} elements, but {operand} has {rows} x {columns} elements",
                    file.name(),
                )));
            }
        }
        Ok((rows, columns))
    }
}
