//! One call: a problem and where its matrices lie, whatever their memory.
//!
//! A user's [`Arguments`] become a [`Call`] once. The call enters the kernel's frame once
//! ([`Call::enter`]), on the host and on a device. A call without data is a [`Problem`].

mod any;
mod arguments;
mod array;
mod check;
mod decomposed_layout;
mod fitting;
mod geometry;
mod groups;
mod launch;
mod matrix;
mod of_views;
mod operand_view;
mod owned;
mod partials;
mod route;
mod space;
mod unread;
mod view;
mod workspace;

pub use any::{Any, AnyElement, AnySlice, AnySliceMut};
pub use arguments::Arguments;
pub(crate) use arguments::{Offsets, setters};
pub(crate) use check::{LARGEST, check_memory, check_output, check_types, check_written};
pub(crate) use decomposed_layout::LINE_BYTES;
pub use decomposed_layout::{DEPTH, DecomposedLayout};
#[cfg(feature = "cuda")]
pub(crate) use fitting::accesses;
pub use fitting::fitting;
pub use geometry::ViewGeometry;
pub use groups::{Groups, ReadOffsets};
pub use launch::{AddressRange, Grid, Launch, Params, TmaTensor};
pub use matrix::{MatMut, MatRef};
pub use operand_view::{OperandView, Placement};
pub use owned::Mat;
pub use partials::Partials;
pub(crate) use route::repacked_bytes;
pub use route::{OperandNeed, Routes, WORKSPACE_ALIGNMENT, Way};
#[cfg(feature = "cuda")]
pub(crate) use space::operand_memory;
pub use space::{
    Host, HostCall, HostMatrices, HostSlice, HostSliceMut, MatrixElements, OperandA, OperandB,
    OperandC, OperandD, OperandVector, Readable, Space, Writable,
};
pub(crate) use unread::check_read;
pub use view::{Elements, Memory, View};
pub use workspace::{GrowingWorkspace, OperandWorkspace, WorkspaceMemory};

use crate::{
    desc::{Class, GemmDesc},
    epilogue::{Reads, SCALARS},
    layout::Order,
    operand::{Frame, OperandKind, VectorKind, Vectors},
    refusal::Refusal,
};

/// Where C comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source<R> {
    /// There is none; an epilogue that reads it is refused.
    None,
    /// A matrix of its own.
    Matrix(R),
    /// What D holds: `C <- alpha A·B + beta C`, as in BLAS.
    InPlace,
}

impl<R> Source<R> {
    /// The matrix, when it is one of its own.
    pub fn matrix(&self) -> Option<&R> {
        match self {
            Self::Matrix(matrix) => Some(matrix),
            _ => None,
        }
    }

    /// What is read: the matrix, or D, where that is C.
    pub fn or(self, d: R) -> Option<R> {
        match self {
            Self::None => None,
            Self::Matrix(matrix) => Some(matrix),
            Self::InPlace => Some(d),
        }
    }

    /// The same source by reference.
    pub fn as_ref(&self) -> Source<&R> {
        match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(matrix),
            Self::InPlace => Source::InPlace,
        }
    }

    /// The same source with its matrix replaced.
    pub fn map<S>(self, f: impl FnOnce(R) -> S) -> Source<S> {
        match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(f(matrix)),
            Self::InPlace => Source::InPlace,
        }
    }

    /// The same source with its matrix replaced, where that succeeds.
    ///
    /// # Errors
    /// That of `f`.
    pub fn try_map<S, E>(self, f: impl FnOnce(R) -> Result<S, E>) -> Result<Source<S>, E> {
        Ok(match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(f(matrix)?),
            Self::InPlace => Source::InPlace,
        })
    }
}

impl<M> Source<View<M>> {
    /// The same source in other memory.
    pub fn with<R>(&self, memory: Source<R>) -> Source<View<R>> {
        match (self, memory) {
            (Self::Matrix(view), Source::Matrix(memory)) => Source::Matrix(view.with(memory)),
            (Self::InPlace, _) => Source::InPlace,
            _ => Source::None,
        }
    }
}

/// `D = epilogue(A·B, C)`: extents, and where the matrices lie. What is read is in memory `R`, what
/// is written in memory `W`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Call<R, W = R> {
    /// Rows of D.
    pub m: usize,
    /// Columns of D.
    pub n: usize,
    /// Length of the dot products.
    pub k: usize,
    /// Products, each of the next matrices of a batch.
    pub batch: usize,
    /// Whose lines of D lie one behind another, of a batch whose products share A and D, or B and
    /// D.
    pub groups: Option<Groups<R>>,
    /// A, m x k.
    pub a: View<R>,
    /// B, k x n.
    pub b: View<R>,
    /// C, m x n.
    pub c: Source<View<R>>,
    /// D, m x n.
    pub d: View<W>,
    /// Vectors, where they are given: as m x n matrices whose columns, or rows, are all alike, the
    /// same for each product of a batch.
    pub vectors: Vectors<View<R>>,
    /// alpha, beta, s2 .. s7.
    pub scalars: [f64; SCALARS],
    /// Bytes in which operands may be repacked.
    pub workspace: Option<W>,
}

/// A call without its data.
pub type Problem = Call<Elements>;

/// The memory of a call's matrices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Matrices<R, W = R> {
    /// A.
    pub a: R,
    /// B.
    pub b: R,
    /// C.
    pub c: Source<R>,
    /// D.
    pub d: W,
    /// Vectors.
    pub vectors: Vectors<R>,
}

impl Problem {
    /// The problem of packed matrices, or of the leading dimensions given for A, B and for C and D,
    /// in the orders that the user has. There is a C where the epilogue of `desc` reads one, and
    /// there are vectors.
    pub fn of(
        desc: &GemmDesc,
        (m, n, k): (usize, usize, usize),
        [lda, ldb, ldc]: [Option<usize>; 3],
        scalars: [f64; SCALARS],
    ) -> Self {
        let (orders, all) = (desc.orders(), Elements::ALL);
        let d = View::packed(all, orders.c, (m, n), ldc);
        let c = if desc.class.output.epilogue.reads(&scalars).source {
            Source::Matrix(d)
        } else {
            Source::None
        };
        let (a, b) =
            (View::packed(all, orders.a, (m, k), lda), View::packed(all, orders.b, (k, n), ldb));
        let vectors = Vectors::by(|kind| Some(View::vector(all, kind.side())));
        Self { m, n, k, batch: 1, groups: None, a, b, c, d, vectors, scalars, workspace: None }
    }

    /// Elements from a matrix of the batch to the next; 0 where there is no next.
    pub(crate) const fn batch_stride(&self, view: &View<Elements>) -> u64 {
        if self.batch > 1 { view.batch_stride as u64 } else { 0 }
    }

    /// How many matrices the batch has where one of them lies, and elements from one to the next.
    pub(crate) const fn matrices(&self, view: &View<Elements>) -> (u64, u64) {
        match self.batch_stride(view) {
            0 => (1, 0),
            stride => (self.batch as u64, stride),
        }
    }

    /// The same problem with A and B at these addresses.
    #[must_use]
    pub fn at(mut self, [a, b]: [u64; 2]) -> Self {
        (self.a.memory.address, self.b.memory.address) = (a, b);
        self
    }

    /// Where vectors begin; 0 of one that there is not.
    pub(crate) fn vector_addresses(&self) -> [u64; VectorKind::ALL.len()] {
        VectorKind::ALL.map(|kind| self.vectors.get(kind).map_or(0, |vector| vector.memory.address))
    }

    /// What is read as C.
    pub fn read_source(&self) -> Option<View<Elements>> {
        self.c.or(self.d)
    }

    /// The call of this problem on some matrices.
    pub fn with<R, W>(&self, matrices: Matrices<R, W>) -> Call<R, W> {
        let Self { m, n, k, batch, scalars, .. } = *self;
        let (a, b, d) = (self.a.with(matrices.a), self.b.with(matrices.b), self.d.with(matrices.d));
        let c = self.c.with(matrices.c);
        let mut memory = matrices.vectors;
        let vectors =
            Vectors::by(|kind| Some(self.vectors.get(kind)?.with(memory.slot(kind).take()?)));
        Call { m, n, k, batch, groups: None, a, b, c, d, vectors, scalars, workspace: None }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// The call without its data.
    pub fn problem(&self) -> Problem {
        let bytes = |workspace: &W| Elements {
            address: workspace.address(),
            ..Elements::of(workspace.length())
        };
        Call {
            m: self.m,
            n: self.n,
            k: self.k,
            batch: self.batch,
            groups: self.groups.as_ref().map(|groups| Groups {
                axis: groups.axis,
                offsets: groups.offsets.without_data(),
                read: if groups.offsets.memory.by_value() {
                    ReadOffsets::ByValue
                } else {
                    groups.read
                },
            }),
            a: self.a.without_data(),
            b: self.b.without_data(),
            c: self.c.as_ref().map(View::without_data),
            d: self.d.without_data(),
            vectors: self.vectors.as_ref().map(|_, vector| vector.without_data()),
            scalars: self.scalars,
            workspace: self.workspace.as_ref().map(bytes),
        }
    }

    /// The user's call in the frame of a kernel, without the operands that its epilogue does not
    /// read. Checks that the kernel can compute the call.
    ///
    /// # Errors
    /// A [`Refusal`] with the user's operand, the value, and the limit.
    pub fn enter(self, desc: &GemmDesc) -> Result<Self, Refusal> {
        let reads = desc.class.output.epilogue.reads(&self.scalars);
        let call = self.swapped_for(desc.frame).reading(&reads);
        call.check(desc, &reads).map(|()| call).map_err(|refusal| refusal.leave(desc.frame))
    }
}

impl<R, W> Call<R, W> {
    /// The user's call in the frame of a kernel, as [`enter`](Self::enter) returns it, unchecked.
    pub fn enter_unchecked(self, desc: &GemmDesc) -> Self {
        let reads = desc.class.output.epilogue.reads(&self.scalars);
        self.swapped_for(desc.frame).reading(&reads)
    }

    /// The kernel's call in the user's frame.
    pub fn leave(self, frame: Frame) -> Self {
        self.swapped_for(frame)
    }

    fn swapped_for(self, frame: Frame) -> Self {
        if frame.swapped { self.swapped() } else { self }
    }

    /// The call without C, vectors, and K if the epilogue does not read C, the vectors, or the
    /// accumulators.
    fn reading(mut self, reads: &Reads) -> Self {
        let vectors = Vectors::by(|kind| {
            self.vectors.slot(kind).take().filter(|_| reads.vectors.get(kind).is_some())
        });
        let (c, k) = (
            if reads.source { self.c } else { Source::None },
            if reads.accumulator { self.k } else { 0 },
        );
        Self { c, k, vectors, ..self }
    }

    /// The transposed GEMM on the same bytes: `Dᵀ = Bᵀ·Aᵀ`.
    fn swapped(self) -> Self {
        Self {
            m: self.n,
            n: self.m,
            groups: self.groups.map(Groups::swapped),
            a: self.b.transposed(),
            b: self.a.transposed(),
            c: self.c.map(View::transposed),
            d: self.d.transposed(),
            vectors: self.vectors.map(|_, vector| vector.transposed()).swapped(),
            ..self
        }
    }

    /// One of the operands.
    pub const fn operand(&self, operand: OperandKind) -> &View<R> {
        match operand {
            OperandKind::A => &self.a,
            OperandKind::B => &self.b,
        }
    }

    /// M of A, and N of B.
    pub const fn mn(&self, operand: OperandKind) -> usize {
        match operand {
            OperandKind::A => self.m,
            OperandKind::B => self.n,
        }
    }

    /// How long the rows are that are contiguous in an operand of some order, or its columns, and
    /// how many there are.
    pub const fn lines(&self, operand: OperandKind, order: Order) -> (usize, usize) {
        if order.along_k(operand) { (self.k, self.mn(operand)) } else { (self.mn(operand), self.k) }
    }

    /// The order in which an operand is contiguous: of a class's kernel, where it is so in both.
    pub(crate) fn order(&self, class: &Class, operand: OperandKind) -> Order {
        let layout = class.operand(operand).layout;
        let extents = match operand {
            OperandKind::A => (self.m, self.k),
            OperandKind::B => (self.k, self.n),
        };
        self.operand(operand).order(layout, extents).unwrap_or(layout)
    }

    /// Where what the epilogue reads as C lies in its memory: C, or D where that is C.
    pub fn source(&self) -> View<()> {
        self.c.matrix().map_or(self.d.with(()), |c| c.with(()))
    }
}
