//! One GEMM call: the problem size, the memory of the matrices, and the scalars.
//!
//! [`Arguments`](crate::device::Arguments) become a [`Call`] in the user's frame, on the host and
//! on a device. [`Call::enter`] checks the call and moves it to the kernel's frame. A call without
//! data is a [`Problem`].

use super::{Elements, GateColumns, Groups, Indices, Memory, Source, UpMatrix, View};
use crate::{
    codegen::EpilogueOperandParams,
    epilogue::{MOST_OPERANDS, Reads, SCALARS},
    layout::Order,
    nest::GemmDesc,
    refusal::Refusal,
    shape::{EpilogueOperand, EpilogueOperands, Frame, OperandKind},
};

/// GEMM `D = epilogue(A·B, C)`: problem size, matrices, operands of the epilogue, and scalars.
/// Inputs are in memory `R`. D and the workspace are in memory `W`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Call<R, W = R> {
    /// Number of rows of D.
    pub m: usize,
    /// Number of columns of D.
    pub n: usize,
    /// Length of the dot products.
    pub k: usize,
    /// Number of GEMMs in the batch, or of groups in a grouped GEMM.
    pub batch: usize,
    /// Groups of a grouped GEMM, whose GEMMs share D and either A or B.
    pub groups: Option<Groups<R>>,
    /// Index lists, which select rows of A, columns of B, or rows of D.
    pub indices: Indices<R>,
    /// A, m x k.
    pub a: View<R>,
    /// B, k x n. With a gate in the epilogue, the matrix of the gate.
    pub b: View<R>,
    /// The other matrix of B, if the epilogue has a gate.
    pub up: UpMatrix<View<R>>,
    /// C, m x n.
    pub c: Source<View<R>>,
    /// D, m x n.
    pub d: View<W>,
    /// Operands of the epilogue except C, which is in [`c`](Self::c). A vector is an m x n matrix
    /// with one stride of 0, which all GEMMs of a batch share.
    pub operands: EpilogueOperands<View<R>>,
    /// Scalars alpha, beta, and s2 to s7.
    pub scalars: [f64; SCALARS],
    /// Workspace: bytes for copies of operands, split-K partials, and tables of arrays and groups.
    pub workspace: Option<W>,
}

/// Call without its data.
pub type Problem = Call<Elements>;

/// Memory of the matrices of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Matrices<R, W = R> {
    /// A.
    pub a: R,
    /// B.
    pub b: R,
    /// C, if the call has one.
    pub c: Source<R>,
    /// D.
    pub d: W,
    /// Operands of the epilogue except C.
    pub operands: EpilogueOperands<R>,
}

impl Problem {
    /// Returns the problem of matrices in the user's orders. A matrix is packed if `lda`, `ldb`, or
    /// `ldc` is `None`; C and D share `ldc`. The problem has all operands of an epilogue, and a C
    /// if the epilogue of `desc` reads C.
    pub fn new(
        desc: &GemmDesc,
        (m, n, k): (usize, usize, usize),
        [lda, ldb, ldc]: [Option<usize>; 3],
        scalars: [f64; SCALARS],
    ) -> Self {
        let (orders, all) = (desc.orders(), Elements::ALL);
        let d = View::packed(all, orders.c, (m, n), ldc);
        let columns = desc.epilogue.columns_per_output() * n;
        let c = if desc.reads(&scalars).source() { Source::Matrix(d) } else { Source::None };
        let (a, b) = (
            View::packed(all, orders.a, (m, k), lda),
            View::packed(all, orders.b, (k, columns), ldb),
        );
        let (b, up) = GateColumns::Halves.matrices_of_b(desc, b, n);
        let operands = EpilogueOperands::by(|operand| {
            (operand != EpilogueOperand::Source)
                .then(|| View::beside(all, operand, (orders.c, (m, n))))
        });
        Self {
            m,
            n,
            k,
            batch: 1,
            groups: None,
            indices: Indices::NONE,
            a,
            b,
            up,
            c,
            d,
            operands,
            scalars,
            workspace: None,
        }
    }

    /// Returns the elements between neighboring matrices of the batch; 0 without a batch.
    pub(crate) const fn batch_stride(&self, view: &View<Elements>) -> u64 {
        if self.batch > 1 { view.batch_stride as u64 } else { 0 }
    }

    /// Returns the number of distinct matrices of an operand, and the elements between them.
    pub const fn matrices(&self, view: &View<Elements>) -> (u64, u64) {
        match self.batch_stride(view) {
            0 => (1, 0),
            stride => (self.batch as u64, stride),
        }
    }

    /// Returns the problem with A and B at the given addresses.
    #[must_use]
    pub fn at(mut self, [a, b]: [u64; 2]) -> Self {
        (self.a.memory.address, self.b.memory.address) = (a, b);
        self
    }

    /// Returns the parameters of the operands that the epilogue reads, by position.
    pub(crate) fn operand_params(&self, desc: &GemmDesc) -> [EpilogueOperandParams; MOST_OPERANDS] {
        let mut params = [EpilogueOperandParams::NONE; MOST_OPERANDS];
        let source = self.read_source();
        let source = source.iter().map(|c| (EpilogueOperand::Source, c));
        for (operand, view) in source.chain(self.operands.iter()) {
            let [row_stride, column_stride] = view.strides.map(|stride| stride as i64);
            if let Some(params) = params.get_mut(desc.epilogue.position(operand)) {
                *params = EpilogueOperandParams {
                    address: view.memory.address,
                    row_stride,
                    column_stride,
                    batch_stride: self.batch_stride(view) as i64,
                };
            }
        }
        params
    }

    /// Returns the matrix that the epilogue reads as C.
    pub fn read_source(&self) -> Option<View<Elements>> {
        self.c.or(self.d)
    }

    /// Returns the call of this problem with the given memory, without groups, index lists, the
    /// second matrix of a gate, or a workspace.
    pub fn with<R, W>(&self, matrices: Matrices<R, W>) -> Call<R, W> {
        let Self { m, n, k, batch, scalars, .. } = *self;
        let (a, b, d) = (self.a.with(matrices.a), self.b.with(matrices.b), self.d.with(matrices.d));
        let c = self.c.with(matrices.c);
        let mut memory = matrices.operands;
        let taken = |operand, view: View<Elements>| Some(view.with(memory.slot(operand).take()?));
        let operands = self.operands.filter_map(taken);
        let (groups, indices, up) = (None, Indices::NONE, UpMatrix::None);
        Call { m, n, k, batch, groups, indices, a, b, up, c, d, operands, scalars, workspace: None }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Returns the call without its data.
    pub fn problem(&self) -> Problem {
        let bytes = |workspace: &W| Elements {
            address: workspace.address(),
            ..Elements::new(workspace.length())
        };
        Call {
            m: self.m,
            n: self.n,
            k: self.k,
            batch: self.batch,
            groups: self.groups.as_ref().map(|groups| Groups {
                axis: groups.axis,
                offsets: groups.offsets.without_data(),
                read: groups.read.for_list_in(&groups.offsets.memory),
            }),
            indices: self.indices.without_data(),
            a: self.a.without_data(),
            b: self.b.without_data(),
            up: self.up.as_ref().map(View::without_data),
            c: self.c.as_ref().map(View::without_data),
            d: self.d.without_data(),
            operands: self.operands.as_ref().map(|_, vector| vector.without_data()),
            scalars: self.scalars,
            workspace: self.workspace.as_ref().map(bytes),
        }
    }

    /// Moves the user's call to the frame of a kernel, and checks that the kernel can compute it.
    /// Drops the operands that the epilogue does not read.
    ///
    /// # Errors
    /// A [`Refusal`] with the user's operand, the value, and the limit.
    pub fn enter(self, desc: &GemmDesc) -> Result<Self, Refusal> {
        let reads = desc.reads(&self.scalars);
        let call = self.swapped_for(desc.frame).reading(&reads);
        call.check(desc, &reads).map(|()| call).map_err(|refusal| refusal.leave(desc.frame))
    }
}

impl<R, W> Call<R, W> {
    /// Moves the user's call to the frame of a kernel, as [`enter`](Self::enter) does, without the
    /// check.
    pub fn enter_unchecked(self, desc: &GemmDesc) -> Self {
        let reads = desc.reads(&self.scalars);
        self.swapped_for(desc.frame).reading(&reads)
    }

    /// Moves the kernel's call to the user's frame.
    pub fn leave(self, frame: Frame) -> Self {
        self.swapped_for(frame)
    }

    fn swapped_for(self, frame: Frame) -> Self {
        if frame.swapped { self.swapped() } else { self }
    }

    /// Drops the operands that the epilogue does not read. Sets K to 0 if the epilogue does not
    /// read the accumulators.
    pub(crate) fn reading(self, reads: &Reads) -> Self {
        let operands = self.operands.filter_map(|operand, view| {
            (reads.reads(operand) && operand != EpilogueOperand::Source).then_some(view)
        });
        let (c, k) = (
            if reads.source() { self.c } else { Source::None },
            if reads.accumulator { self.k } else { 0 },
        );
        Self { c, k, operands, ..self }
    }

    /// Returns the transposed GEMM on the same bytes: `Dᵀ = Bᵀ·Aᵀ`.
    fn swapped(self) -> Self {
        Self {
            m: self.n,
            n: self.m,
            groups: self.groups.map(Groups::swapped),
            indices: self.indices.swapped(),
            a: self.b.transposed(),
            b: self.a.transposed(),
            c: self.c.map(View::transposed),
            d: self.d.transposed(),
            operands: self.operands.map(|_, vector| vector.transposed()).swapped(),
            ..self
        }
    }

    /// Returns whether the call has no element of D.
    pub const fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0 || self.batch == 0
    }

    /// Returns the maxima of the epilogue, with the number of results of each.
    pub(crate) fn maxima(&self) -> impl Iterator<Item = (&View<R>, usize)> {
        let maxima = self.operands.iter();
        let maxima = maxima.filter(|(operand, _)| operand.is_reduction() && !operand.is_sum());
        // Groups of D are one output, and share the results.
        maxima.map(|(_, view)| (view, view.elements((self.m, self.n), self.outputs()) as usize))
    }

    /// Returns the view of A or B.
    pub const fn operand(&self, operand: OperandKind) -> &View<R> {
        match operand {
            OperandKind::A => &self.a,
            OperandKind::B => &self.b,
        }
    }

    /// Returns M for A, or N for B.
    pub const fn mn(&self, operand: OperandKind) -> usize {
        match operand {
            OperandKind::A => self.m,
            OperandKind::B => self.n,
        }
    }

    /// Returns the length and the number of the contiguous lines of an operand in an order. A line
    /// is a row in row-major order, and a column in column-major order.
    pub const fn lines(&self, operand: OperandKind, order: Order) -> (usize, usize) {
        if order.along_k(operand) { (self.k, self.mn(operand)) } else { (self.mn(operand), self.k) }
    }

    /// Returns the order in which an operand is contiguous. If both orders are possible, returns
    /// the order of the description.
    pub(crate) fn order(&self, desc: &GemmDesc, operand: OperandKind) -> Order {
        let layout = desc.operand(operand).layout;
        self.operand(operand).order(layout, self.extents(operand)).unwrap_or(layout)
    }

    /// Returns the layout of the matrix that the epilogue reads as C.
    pub fn source(&self) -> View<()> {
        self.c.matrix().map_or(self.d.with(()), |c| c.with(()))
    }
}
