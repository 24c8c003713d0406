//! The operands' files, and the extents that they and the flags agree on.

use crate::{args::GemmArgs, failure::Failure, npy::NpyFile};
use std::path::Path;

/// The files that were given, opened.
#[derive(Default)]
pub struct Files {
    /// Of A.
    pub a: Option<NpyFile>,
    /// Of B.
    pub b: Option<NpyFile>,
    /// Of C.
    pub c: Option<NpyFile>,
}

impl Files {
    /// Opens what was given.
    pub fn open(args: &GemmArgs) -> Result<Self, Failure> {
        let open = |path: Option<&Path>| path.map(NpyFile::open).transpose();
        Ok(Self { a: open(args.a_file.as_deref())?, b: open(args.b_file.as_deref())?, c: open(args.c_file.as_deref())? })
    }

    /// Whether there is no file.
    pub fn none(&self) -> bool {
        self.a.is_none() && self.b.is_none() && self.c.is_none()
    }

    /// m, n and k: from the flags, else from the files, which have to agree.
    pub fn extents(&self, args: &GemmArgs) -> Result<(usize, usize, usize), Failure> {
        let of = |file: &Option<NpyFile>| file.as_ref().map(NpyFile::extents);
        let (a, b, c) = (of(&self.a), of(&self.b), of(&self.c));
        let rows = |extents: Option<(usize, usize)>| extents.map(|extents| extents.0);
        let columns = |extents: Option<(usize, usize)>| extents.map(|extents| extents.1);
        let known = |axis: &str, flag: Option<usize>, first: Option<usize>, second: Option<usize>| {
            flag.or(first).or(second).ok_or_else(|| {
                Failure::refused(format!("{axis} is not known; give --{axis}, or a file of an operand that has it as an extent"))
            })
        };
        let m = known("m", args.m, rows(a), rows(c))?;
        let n = known("n", args.n, columns(b), columns(c))?;
        let k = known("k", args.k, columns(a), rows(b))?;
        for (operand, axes, file, wanted) in
            [("A", "m x k", &self.a, (m, k)), ("B", "k x n", &self.b, (k, n)), ("C", "m x n", &self.c, (m, n))]
        {
            if let Some(file) = file.as_ref().filter(|file| file.extents() != wanted) {
                let (rows, columns) = file.extents();
                return Err(Failure::refused(format!(
                    "{} holds {rows} x {columns} elements, and {operand}, {axes}, has {} x {}",
                    file.name(),
                    wanted.0,
                    wanted.1
                )));
            }
        }
        Ok((m, n, k))
    }
}
