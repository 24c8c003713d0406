//! The arguments of a GEMM or a transpose.

use crate::{
    device::{
        EpilogueMemory, NumberList, Offsets, OperandView, OperandWorkspace, WorkspaceMemory,
        space::{EpilogueInput, MatrixElements, OperandA, OperandB, OperandC, OperandD, Space},
    },
    epilogue::SCALARS,
    operand::{Elements, GateColumns, Source},
    shape::EpilogueOperand,
};
use core::fmt;

/// The arguments of a call: sizes, operands, scalars, strides, batches or groups, index lists, and
/// a workspace.
/// Matrices are packed unless leading dimensions or strides are set. A call refuses an argument
/// that its epilogue does not read.
///
/// ```
/// use falchion::prelude::*;
///
/// let (a, b, mut d) = (vec![1.0f32; 6], vec![2.0f32; 12], vec![0.0f32; 8]);
/// let gemm = Gemm::<f32>::new();
/// gemm.run(Arguments::new((2, 4, 3), &a, &b, &mut d).alpha(0.5))?;
/// assert_eq!(d, [3.0; 8]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct Arguments<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> {
    pub(crate) extents: (usize, usize, usize),
    pub(crate) a: OperandView<A::Ref<'a, S>>,
    pub(crate) b: OperandView<B::Ref<'a, S>>,
    /// Second matrix of B, for an epilogue with a gate. Otherwise B holds both.
    pub(crate) up: Option<OperandView<B::Ref<'a, S>>>,
    /// Order of the columns of a B that holds both.
    pub(crate) gate_columns: GateColumns,
    pub(crate) c: OperandView<Source<C::Ref<'a, S>>>,
    pub(crate) d: OperandView<C::Mut<'a, S>>,
    pub(crate) batch: usize,
    pub(crate) groups: Option<Offsets<'a, S>>,
    /// Index lists of A, B, and D.
    pub(crate) indices: [Option<NumberList<'a, S>>; 3],
    /// Operands of the epilogue except C. The last value for an operand counts.
    pub(crate) operands: Vec<(EpilogueOperand, OperandView<EpilogueMemory<'a, S>>)>,
    pub(crate) scalars: [f64; SCALARS],
    pub(crate) workspace: Option<WorkspaceMemory<'a, S>>,
}

impl<S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> fmt::Debug
    for Arguments<'_, S, A, B, C>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (m, n, k) = self.extents;
        let (a, b, d) = (&self.a.memory, &self.b.memory, &self.d.memory);
        let said = |elements: Elements| match elements.kind {
            Some(kind) => format!("{} x {kind}", elements.length),
            None => "identity".to_owned(),
        };
        let operands: Vec<_> = self.operands.iter().map(|(operand, _)| operand.name()).collect();
        let source = match &self.c.memory {
            Source::None => "none".to_owned(),
            Source::InPlace => "D".to_owned(),
            Source::Matrix(c) => said(C::elements(c)),
        };
        f.debug_struct("Arguments")
            .field("m_n_k", &(m, n, k))
            .field("a", &format_args!("{}", said(A::elements(a))))
            .field("b", &format_args!("{}", said(B::elements(b))))
            .field("c", &format_args!("{source}"))
            .field("d", &format_args!("{}", said(C::elements_mut(d))))
            .field("scalars", &self.scalars)
            .field("operands", &operands)
            .field("placements", &self.placements())
            .field("batch", &self.batch)
            .field("array", &(self.d.others.len() + 1))
            .field("groups", &self.groups.as_ref().map(|offsets| offsets.groups().count()))
            .field("indices", &self.indices.each_ref().map(|list| Some(list.as_ref()?.shape().0)))
            .finish_non_exhaustive()
    }
}

/// Setters of optional numbers: the operand, the field of its placement, and the name of the
/// number.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($operand:ident.$field:ident: $number:ident);)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, $number: usize) -> Self {
            self.$operand.placement.$field = Some($number);
            self
        })*
    };
}

/// Setters of the epilogue's vectors.
macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident: $Operand:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, vector: impl EpilogueInput<'a, S>) -> Self {
            self.operands.push((EpilogueOperand::$Operand, vector.placed()));
            self
        })*
    };
}

/// Setters of the two strides of a matrix.
macro_rules! strides {
    ($($(#[$doc:meta])* $name:ident($operand:ident);)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, rows: usize, columns: usize) -> Self {
            self.$operand.placement.strides = Some([rows, columns]);
            self
        })*
    };
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// Creates the arguments of `D = A * B`: A is m x k, B is k x n, and D is m x n. Alpha is 1 and
    /// beta is 0 by default.
    pub fn new(
        (m, n, k): (usize, usize, usize),
        a: impl OperandA<'a, A, S>,
        b: impl OperandB<'a, B, S>,
        d: impl OperandD<'a, C, S>,
    ) -> Self {
        Self::from_operands((m, n, k), a.placed(), b.placed(), d.placed())
    }

    /// Creates the arguments from operands in the user's frame.
    pub(super) fn from_operands(
        extents: (usize, usize, usize),
        a: OperandView<A::Ref<'a, S>>,
        b: OperandView<B::Ref<'a, S>>,
        d: OperandView<C::Mut<'a, S>>,
    ) -> Self {
        let mut scalars = [0.0; SCALARS];
        scalars[0] = 1.0;
        let (c, operands) = (OperandView::new(Source::None, None), Vec::new());
        Self {
            extents,
            a,
            b,
            up: None,
            gate_columns: GateColumns::Halves,
            c,
            d,
            batch: 1,
            groups: None,
            indices: [const { None }; 3],
            operands,
            scalars,
            workspace: None,
        }
    }

    /// Sets the number of GEMMs in a batch. The matrices of GEMM `i` begin `i` [batch
    /// strides](Self::batch_stride_a) after the matrices of GEMM 0.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // Three 2 x 4 matrices times one 4 x 5 matrix.
    /// let (a, b, mut d) = (vec![1.0f32; 3 * 8], vec![2.0f32; 20], vec![0.0f32; 3 * 10]);
    /// let gemm = Gemm::<f32>::new();
    /// gemm.run(Arguments::new((2, 5, 4), &a, &b, &mut d).batch(3).batch_stride_b(0))?;
    /// assert_eq!(d, [8.0; 30]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn batch(mut self, count: usize) -> Self {
        self.batch = count;
        self
    }

    /// Sets the scalar alpha, 1 by default. An epilogue that does not read alpha accepts only 1.
    /// All scalars are `f64`, or a type that converts to `f64` without loss, such as `f32`.
    pub fn alpha(mut self, alpha: impl Into<f64>) -> Self {
        self.scalars[0] = alpha.into();
        self
    }

    /// Passes C, an m x n matrix, and the scalar beta. If beta is 0, the kernel does not read C, as
    /// in BLAS. An epilogue that reads C without beta accepts only a beta of 1.
    #[doc(alias = "beta")]
    pub fn source(mut self, beta: impl Into<f64>, c: impl OperandC<'a, C, S>) -> Self {
        self.c.replace(c.placed(), Source::Matrix);
        self.scalars[1] = beta.into();
        self
    }

    /// Uses D as C: `D = alpha * A*B + beta * D`.
    #[doc(alias = "beta")]
    pub fn in_place(mut self, beta: impl Into<f64>) -> Self {
        self.c.replace(OperandView::new((), None), |()| Source::InPlace);
        self.scalars[1] = beta.into();
        self
    }

    vectors! {
        /// Passes the vector `bias_m` of the epilogue: one value per row of D, m contiguous
        /// elements. The epilogue states the element type, which is D's by default. All GEMMs of a
        /// batch or array share the vector.
        bias_m: BiasM;
        /// Passes the vector `bias_n` of the epilogue: one value per column of D, as `bias_m`.
        bias_n: BiasN;
        /// Passes the vector `scale_m` of the epilogue: one value per row of D, as `bias_m`.
        scale_m: ScaleM;
        /// Passes the vector `scale_n` of the epilogue: one value per column of D, as `bias_n`.
        scale_n: ScaleN;
        /// Passes the scalar `alpha_ptr` of the epilogue in memory: one value for all GEMMs, or one
        /// value per GEMM of a batch or per group along K. An earlier kernel on the stream may
        /// write it.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// falchion::epilogue! { struct Scaled = alpha_ptr:f32 * acc }
        /// let mut d = [0.0f32; 4];
        /// let call = Arguments::new((1, 2, 1), &[2.0f32, 3.0], &[1.0, 10.0], &mut d);
        /// let gemm = Gemm::<f32>::new().epilogue::<Scaled>();
        /// gemm.run(call.batch(2).batch_stride_b(0).alpha_ptr(&[1.0f32, -1.0]))?;
        /// assert_eq!(d, [2.0, 20.0, -3.0, -30.0]);
        /// # Ok::<(), falchion::Error>(())
        /// ```
        alpha_ptr: AlphaPtr;
        /// Passes the scalar `beta_ptr` of the epilogue in memory, as `alpha_ptr`. With
        /// `beta_ptr * c`, a value of 0 removes C, even if C holds NaN; the kernel reads C.
        beta_ptr: BetaPtr;
    }

    /// Passes the auxiliary matrix `N` of the epilogue, 1 to 4: m x n elements of the type that the
    /// epilogue states. Memory without strides is packed, in the layout of D. A [`MatRef`] may have
    /// any strides. Each GEMM of a batch has its own matrix; the GEMMs of an array, and groups,
    /// share one.
    ///
    /// ```
    /// use falchion::epilogue::{Acc, Add, Aux, BiasN};
    /// use falchion::prelude::*;
    ///
    /// // f32 values are added to a product of bf16 matrices before it is rounded.
    /// type Residual = EpilogueTree<Add<Add<Acc, BiasN<f32>>, Aux<1, f32>>>;
    /// let gemm = Gemm::<Bf16>::new().with::<Residual>();
    /// let (x, bias, residual) = ([Bf16::ONE; 4], [0.5f32, 0.25], [1.0f32, 2.0, 3.0, 4.0]);
    /// let mut d = [Bf16::ZERO; 4];
    /// gemm.run(Arguments::new((2, 2, 2), &x, &x, &mut d).bias_n(&bias).aux::<1>(&residual))?;
    /// assert_eq!(d.map(f32::from), [3.5, 4.25, 5.5, 6.25]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// [`MatRef`]: crate::device::MatRef
    pub fn aux<const N: usize>(mut self, matrix: impl EpilogueInput<'a, S>) -> Self {
        self.operands.push((const { EpilogueOperand::auxiliary(N) }, matrix.placed()));
        self
    }

    /// Sets a scalar of the epilogue by its slot: `scalar::<2>(x)` sets `s2`. Slots 2 to 7 are 0 by
    /// default.
    pub fn scalar<const SLOT: usize>(mut self, x: impl Into<f64>) -> Self {
        const { assert!(SLOT < SCALARS, "an epilogue has the scalars alpha, beta and s2 to s7") };
        self.scalars[SLOT] = x.into();
        self
    }

    strides! {
        /// Sets the strides of A: the number of elements between neighboring rows, and between
        /// neighboring columns. One of the strides must be 1. If the order differs from the layout
        /// of the type, a GPU may transpose A in the [workspace](Self::workspace).
        strides_a(a);
        /// Sets the strides of B.
        strides_b(b);
        /// Sets the strides of C, which may be any numbers. With [`in_place`](Self::in_place), D
        /// has the strides of C.
        strides_c(c);
        /// Sets the strides of D, which give each element its own address. If C or D has another
        /// order than the layout of the type, or no stride of 1, threads store single elements of
        /// D.
        strides_d(d);
    }

    /// Passes a workspace: device memory for copies of operands, split-K partials, and tables of
    /// arrays and groups. A `Workspace` grows to the size that the call needs.
    /// [`GemmOperation::workspace_size`](crate::device::GemmOperation::workspace_size) returns the
    /// size for other memory. With a smaller workspace, fewer configurations are candidates. The
    /// call overwrites the workspace. The host ignores the workspace.
    pub fn workspace(mut self, memory: impl OperandWorkspace<'a, S>) -> Self {
        self.workspace = Some(memory.memory());
        self
    }

    setters! {
        /// Sets the leading dimension of A in elements. [`strides_a`](Self::strides_a) overrides
        /// the leading dimension.
        lda(a.leading: leading);
        /// Sets the leading dimension of B in elements.
        ldb(b.leading: leading);
        /// Sets the leading dimension of C in elements. With
        /// [`in_place`](Self::in_place), D has the leading dimension of C.
        ldc(c.leading: leading);
        /// Sets the leading dimension of D in elements.
        ldd(d.leading: leading);
        /// Sets the batch stride of A, in elements. With 0, all GEMMs share one A.
        batch_stride_a(a.batch_stride: elements);
        /// Sets the batch stride of B, in elements. With 0, all GEMMs share one B.
        batch_stride_b(b.batch_stride: elements);
        /// Sets the batch stride of C, in elements. With [`in_place`](Self::in_place), D has the
        /// batch stride of C.
        batch_stride_c(c.batch_stride: elements);
        /// Sets the batch stride of D, in elements. The Ds of a batch may interleave row by row,
        /// and must not overlap.
        batch_stride_d(d.batch_stride: elements);
    }
}
