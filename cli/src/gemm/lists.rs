//! Index lists of `falchion gemm`: gathered rows of A, gathered columns of B, and scattered rows of
//! D.

use super::files::Files;
use crate::{args::GemmArgs, failure::Failure, npy::NpyFile};
use falchion::{
    internals::{
        operand::{Elements, IndexList, Indices, Problem, View},
        shape::Axis,
    },
    layout::Order,
    nest::GemmDesc,
    numeric::ElementKind,
};
use falchion_lab::owned::HostMatrix;
use std::path::{Path, PathBuf};

/// Index lists of A, B, and D.
#[derive(Default)]
pub struct Lists(pub [Option<Vec<u32>>; 3]);

/// Reads an index list, a vector of non-negative numbers.
fn read(flag: &str, path: &Path) -> Result<Vec<u32>, Failure> {
    let file = NpyFile::open_vector(path)?;
    let (name, (_, length)) = (file.name(), file.extents());
    let refuse = |because: String| Failure::refused(format!("{flag}: {name} {because}"));
    if file.element() != ElementKind::I32 {
        return Err(refuse(format!("holds {}, and indices are i32", file.element())));
    }
    let mut vector = HostMatrix::poisoned(ElementKind::I32, (1, length), Order::Row, length)?;
    file.read_into(&mut vector)?;
    let mut list = Vec::with_capacity(length);
    vector.try_each(Order::Row, |x| {
        if x < 0.0 {
            return Err(refuse(format!("holds {x}, and indices are not negative")));
        }
        list.push(x as u32);
        Ok(())
    })?;
    Ok(list)
}

impl Lists {
    /// Reads the files of the flags.
    pub fn open(args: &GemmArgs) -> Result<Self, Failure> {
        let list =
            |flag, path: &Option<PathBuf>| path.as_deref().map(|path| read(flag, path)).transpose();
        Ok(Self([
            list("--gather-a", &args.gather_a)?,
            list("--gather-b", &args.gather_b)?,
            list("--scatter-d", &args.scatter_d)?,
        ]))
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Returns the length of a list: M for lists of A and D, and N for a list of B.
    pub fn length(&self, number: usize) -> Option<usize> {
        self.0[number].as_ref().map(Vec::len)
    }

    /// Returns the problem with the lists. A matrix has the rows of its file, or as many rows as
    /// its list needs.
    pub fn apply(
        &self,
        problem: Problem,
        (desc, args, files): (&GemmDesc, &GemmArgs, &Files),
    ) -> Problem {
        let Problem { n, k, .. } = problem;
        let extent = |number: usize, file: Option<usize>| {
            let list = self.0[number].as_ref()?;
            let needed = list.iter().max().map_or(0, |last| *last as usize + 1);
            Some(file.unwrap_or(needed))
        };
        let rows = |file: &Option<NpyFile>| file.as_ref().map(|file| file.extents().0);
        let columns = |file: &Option<NpyFile>| file.as_ref().map(|file| file.extents().1);
        let [a, b, d] =
            [extent(0, rows(&files.a)), extent(1, columns(&files.b)), extent(2, rows(&files.c))];
        let orders = desc.orders();
        let packed = |view: View<Elements>, order, extents, leading| {
            let shared = view.batch_stride == 0;
            let view = View::packed(view.memory, order, extents, leading);
            if shared { view.batched(0) } else { view }
        };
        let list = |number: usize, extent: Option<usize>| {
            let length = self.length(number)?;
            Some(IndexList::new(Elements::new(length), extent?))
        };
        let output = |view: View<Elements>| match d {
            Some(rows) => packed(view, orders.c, (rows, n), args.ldc),
            None => view,
        };
        Problem {
            indices: Indices {
                operands: [list(0, a), list(1, b)],
                output: list(2, d).map(|list| (Axis::M, list)),
            },
            a: a.map_or(problem.a, |rows| packed(problem.a, orders.a, (rows, k), args.lda)),
            b: b.map_or(problem.b, |columns| packed(problem.b, orders.b, (k, columns), args.ldb)),
            c: problem.c.map(output),
            d: output(problem.d),
            operands: problem
                .operands
                .map(|operand, view| if operand.is_matrix() { output(view) } else { view }),
            ..problem
        }
    }
}
