//! Operand files of `falchion transpose`, and the extents from files and flags.

use crate::{
    args::TransposeArgs,
    failure::Failure,
    npy::{NpyFile, missing, wider},
};
use falchion::numeric::ElementKind;
use std::path::Path;

/// Operand files, opened. A file stacks the matrices of a batch along the rows.
pub struct Files {
    /// File of A.
    pub a: Option<NpyFile>,
    /// File of B.
    pub b: Option<NpyFile>,
}

impl Files {
    /// Opens the files of A and B.
    pub fn open(args: &TransposeArgs) -> Result<Self, Failure> {
        let open = |path: Option<&Path>| path.map(NpyFile::open).transpose();
        Ok(Self { a: open(args.a_file.as_deref())?, b: open(args.b_file.as_deref())? })
    }

    /// The element type: from `--type`, or from the files, or f32. Two floating-point types become
    /// the wider type.
    pub fn element(&self, args: &TransposeArgs) -> Result<ElementKind, Failure> {
        if let Some(element) = args.element {
            return Ok(element);
        }
        let (Some(a), Some(b)) = (&self.a, &self.b) else {
            return Ok(self
                .a
                .as_ref()
                .or(self.b.as_ref())
                .map_or(ElementKind::F32, NpyFile::element));
        };
        wider(a.element(), b.element()).ok_or_else(|| {
            Failure::refused(format!(
                "{} holds {}, but {} holds {}; set --type to convert both",
                a.name(),
                a.element(),
                b.name(),
                b.element()
            ))
        })
    }

    /// Refuses a mix of files and random operands, and a file of B that the kernel does not read.
    pub fn require_all(&self, args: &TransposeArgs) -> Result<(), Failure> {
        if self.b.is_some() && args.beta.is_none() {
            return Err(Failure::refused(
                "beta is 0, so the kernel does not read the B of --b-file; set --beta 1",
            ));
        }
        if !self.is_empty() {
            let operands = [
                ("A", "--a-file FILE", &self.a, args.alpha != 0.0),
                ("B", "--b-file FILE", &self.b, args.beta.is_some_and(|beta| beta != 0.0)),
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
        self.a.is_none() && self.b.is_none()
    }

    /// Rows and columns of A, from the flags or the files. Refuses files with conflicting extents.
    pub fn extents(&self, args: &TransposeArgs) -> Result<(usize, usize), Failure> {
        let of = |file: &Option<NpyFile>| file.as_ref().map(NpyFile::extents);
        let ((a_rows, a_columns), (b_rows, b_columns)) = (of(&self.a).unzip(), of(&self.b).unzip());
        let known =
            |flag: &str, given: Option<usize>, across: Option<usize>, down: Option<usize>| {
                let extent = given.or(across).or(down.map(|rows| rows / args.batch.max(1)));
                extent.ok_or_else(|| {
                    Failure::refused(format!(
                        "the number of {flag} is unknown; set --{flag}, or add a file of A or B"
                    ))
                })
            };
        let rows = known("rows", args.rows, b_columns, a_rows)?;
        let columns = known("cols", args.cols, a_columns, b_rows)?;
        let batch = |rows: usize| rows.saturating_mul(args.batch);
        for (operand, file, wanted) in
            [("A", &self.a, (batch(rows), columns)), ("B", &self.b, (batch(columns), rows))]
        {
            if let Some(file) = file.as_ref().filter(|file| file.extents() != wanted) {
                let (found, across) = file.extents();
                let each = if args.batch == 1 {
                    String::new()
                } else {
                    format!(" ({} stacked matrices)", args.batch)
                };
                return Err(Failure::refused(format!(
                    "{} holds {found} x {across} elements, but {operand}{each} has {} x {} elements",
                    file.name(),
                    wanted.0,
                    wanted.1
                )));
            }
        }
        Ok((rows, columns))
    }
}
