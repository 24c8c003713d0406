//! What a user passes to [`Gemm::run`](crate::device::Gemm::run), in the layouts of the types.

use super::{
    Elements, Further, Groups, OperandWorkspace, ReadOffsets, Source, WorkspaceMemory,
    space::{
        MatrixElements, OperandA, OperandB, OperandC, OperandD, OperandVector, Readable, Space,
    },
};
use core::fmt;

use crate::{
    epilogue::SCALARS,
    numeric::ElementKind,
    operand::{Axis, VectorKind, Vectors},
};

/// `D = epilogue(A·B, C)`: what to multiply. Leading dimensions are those of packed matrices unless
/// given.
///
/// ```
/// use falchion::prelude::*;
///
/// let (a, b, mut d) = (vec![1.0f32; 6], vec![2.0f32; 12], vec![0.0f32; 8]);
/// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
/// gemm.run(Arguments::new((2, 4, 3), &a, &b, &mut d).alpha(0.5))?;
/// assert_eq!(d, [3.0; 8]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct Arguments<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> {
    pub(crate) extents: (usize, usize, usize),
    pub(crate) a: A::Ref<'a, S>,
    pub(crate) b: B::Ref<'a, S>,
    pub(crate) c: Source<C::Ref<'a, S>>,
    pub(crate) d: C::Mut<'a, S>,
    pub(crate) leading: [Option<usize>; 4],
    pub(crate) strides: [Option<[usize; 2]>; 4],
    pub(crate) batch: usize,
    /// The matrices of an array behind the first product's.
    pub(crate) further: Vec<Further<'a, S, A, B, C>>,
    pub(crate) groups: Option<Offsets<'a, S>>,
    pub(crate) batch_strides: [Option<usize>; 4],
    pub(crate) vectors: Vectors<C::Ref<'a, S>>,
    pub(crate) scalars: [f64; SCALARS],
    pub(crate) workspace: Option<WorkspaceMemory<'a, S>>,
}

impl<S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> fmt::Debug
    for Arguments<'_, S, A, B, C>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (m, n, k) = self.extents;
        let of = |kind: ElementKind, length: usize| format!("{length} x {kind}");
        let vectors: Vec<_> = self.vectors.iter().map(|(kind, _)| kind.name()).collect();
        let source = match &self.c {
            Source::None => "none".to_owned(),
            Source::InPlace => "D".to_owned(),
            Source::Matrix(c) => of(C::kind(c), C::length(c)),
        };
        f.debug_struct("Arguments")
            .field("m_n_k", &(m, n, k))
            .field("a", &format_args!("{}", of(A::kind(&self.a), A::length(&self.a))))
            .field("b", &format_args!("{}", of(B::kind(&self.b), B::length(&self.b))))
            .field("c", &format_args!("{source}"))
            .field("d", &format_args!("{}", of(C::kind_mut(&self.d), C::length_mut(&self.d))))
            .field("scalars", &self.scalars)
            .field("vectors", &vectors)
            .field("leading_dimensions", &self.leading)
            .field("strides", &self.strides)
            .field("batch", &self.batch)
            .field("array", &(self.further.len() + 1))
            .field("groups", &self.groups.as_ref().map(|offsets| offsets.groups().count()))
            .finish_non_exhaustive()
    }
}

/// Where groups begin, and the last one ends.
pub(crate) enum Offsets<'a, S: Space> {
    /// Where the operands lie.
    InSpace(S::Ref<'a, u32>),
    /// There, too, and checked before anything is enqueued.
    Checked(S::Ref<'a, u32>),
    /// In host memory.
    ByValue(&'a [u32]),
}

impl<'a, S: Space> Offsets<'a, S> {
    /// The groups of rows of a problem.
    pub(crate) fn groups(&self) -> Groups<Elements> {
        let (length, read) = match self {
            Self::InSpace(offsets) => (S::length(offsets), ReadOffsets::InPlace),
            Self::Checked(offsets) => (S::length(offsets), ReadOffsets::Checked),
            Self::ByValue(offsets) => (offsets.len(), ReadOffsets::ByValue),
        };
        Groups { read, ..Groups::of(Axis::M, length.saturating_sub(1)) }
    }

    /// The offsets, to be read by work in a queue.
    pub(crate) fn read<'q>(self, queue: &'q S::Queue) -> S::Read<'q>
    where
        'a: 'q,
    {
        match self {
            Self::InSpace(offsets) | Self::Checked(offsets) => {
                S::read(ElementKind::I32, offsets, queue)
            }
            Self::ByValue(offsets) => S::by_value(offsets, queue),
        }
    }
}

/// Setters of optional numbers: the field and its place, and what the number is called.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($field:ident[$at:literal]: $number:ident);)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, $number: usize) -> Self {
            self.$field[$at] = Some($number);
            self
        })*
    };
}
pub(crate) use setters;

/// Setters of vectors of the epilogue.
macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident: $Kind:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, vector: impl OperandVector<'a, C, S>) -> Self {
            *self.vectors.slot(VectorKind::$Kind) = Some(vector.elements());
            self
        })*
    };
}

/// Setters of both distances of a matrix.
macro_rules! strides {
    ($($(#[$doc:meta])* $name:ident[$at:literal];)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, rows: usize, columns: usize) -> Self {
            self.strides[$at] = Some([rows, columns]);
            self
        })*
    };
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// `D = A·B`: A is m x k, B is k x n, D is m x n. Alpha is 1 and beta 0 until said otherwise.
    pub fn new(
        (m, n, k): (usize, usize, usize),
        a: impl OperandA<'a, A, S>,
        b: impl OperandB<'a, B, S>,
        d: impl OperandD<'a, C, S>,
    ) -> Self {
        Self::of((m, n, k), a.elements(), b.elements(), d.elements())
    }

    /// The same of elements.
    pub(super) fn of(
        extents: (usize, usize, usize),
        a: A::Ref<'a, S>,
        b: B::Ref<'a, S>,
        d: C::Mut<'a, S>,
    ) -> Self {
        let mut scalars = [0.0; SCALARS];
        scalars[0] = 1.0;
        let (leading, strides, batch_strides) = ([None; 4], [None; 4], [None; 4]);
        let (c, workspace) = (Source::None, None);
        Self {
            extents,
            a,
            b,
            c,
            d,
            leading,
            strides,
            batch: 1,
            further: Vec::new(),
            groups: None,
            batch_strides,
            vectors: Vectors::NONE,
            scalars,
            workspace,
        }
    }

    /// So many products, of matrices one behind another: product `i` is of A, B, C and D `i` [batch
    /// strides](Self::batch_stride_a) further on.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // Three products of 2 x 4 matrices with one 4 x 5 matrix.
    /// let (a, b, mut d) = (vec![1.0f32; 3 * 8], vec![2.0f32; 20], vec![0.0f32; 3 * 10]);
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// gemm.run(Arguments::new((2, 5, 4), &a, &b, &mut d).batch(3).batch_stride_b(0))?;
    /// assert_eq!(d, [8.0; 30]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn batch(mut self, count: usize) -> Self {
        self.batch = count;
        self
    }

    /// One product of each group of rows, one behind another: rows `offsets[i]` to `offsets[i + 1]`
    /// of A times the `i`-th B are the same rows of D. There are as many Bs as groups, [a batch
    /// stride](Self::batch_stride_b) apart; m is all rows that A and D have, those of no group are
    /// left alone, and groups may be of any length, 0 too. Vectors are of all of D:
    /// [`bias_m`](Self::bias_m) has a value for each of the m rows, and [`bias_n`](Self::bias_n) is
    /// the same for each group.
    ///
    /// The offsets, one more than groups, lie where the operands do;
    /// [`groups_by_value`](Self::groups_by_value) takes the host's for operands on a device. In
    /// host memory they are checked; on a device nobody but the kernel reads them, when it runs, so
    /// that a captured graph may compute them: an offset that descends or leaves D makes groups
    /// short or empty, and nothing is written outside D; [`groups_checked`](Self::groups_checked)
    /// waits, and says which it is. K of groups is not cut into parts.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // Three experts of 4 x 5 weights: two rows of A go to the first, none to the second, one to the third.
    /// let (a, experts, mut d) = (vec![1.0f32; 3 * 4], vec![2.0f32; 3 * 20], vec![0.0f32; 3 * 5]);
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// gemm.run(Arguments::new((3, 5, 4), &a, &experts, &mut d).groups(&[0, 2, 2, 3]))?;
    /// assert_eq!(d, [8.0; 15]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn groups(mut self, offsets: impl Readable<'a, u32, In = S>) -> Self {
        self.groups = Some(Offsets::InSpace(offsets.view()));
        self
    }

    /// [`groups`](Self::groups), whose offsets are checked wherever they lie. Those on a device are
    /// read back first: the call waits for the stream, refuses the first offset that descends or
    /// leaves D before anything is enqueued, and cannot be captured. For finding what is wrong with
    /// offsets that a kernel has written; [`groups`](Self::groups) does not wait.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, experts, mut d) = (vec![1.0f32; 3 * 4], vec![2.0f32; 2 * 20], vec![0.0f32; 3 * 5]);
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// let told = gemm.run(Arguments::new((3, 5, 4), &a, &experts, &mut d).groups_checked(&[0, 4, 3])).unwrap_err();
    /// assert_eq!(told.to_string(), "offset 1 of the groups = 4 is out of range (0 to 3); try 3");
    /// ```
    pub fn groups_checked(mut self, offsets: impl Readable<'a, u32, In = S>) -> Self {
        self.groups = Some(Offsets::Checked(offsets.view()));
        self
    }

    /// The same by offsets in host memory, wherever the operands lie: they are checked, and what is
    /// bad is refused before anything is enqueued. On a device launches take them by value, and
    /// write them to the [workspace](Self::workspace): the slice is not read once the call has
    /// returned, and a captured graph holds the offsets that it had.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, experts, mut d) = (vec![1.0f32; 3 * 4], vec![2.0f32; 2 * 20], vec![0.0f32; 3 * 5]);
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// gemm.run(Arguments::new((3, 5, 4), &a, &experts, &mut d).groups_by_value(&[0, 2, 3]))?;
    /// assert_eq!(d, [8.0; 15]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn groups_by_value(mut self, offsets: &'a [u32]) -> Self {
        self.groups = Some(Offsets::ByValue(offsets));
        self
    }

    /// Sets the scalar alpha, 1 by default. An epilogue that does not read alpha accepts only 1: a
    /// call refuses every argument that its epilogue does not read.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.scalars[0] = alpha;
        self
    }

    /// Passes C, an m x n matrix, and the scalar beta. If beta is 0, C is not read, as in BLAS. An
    /// epilogue that reads C without beta accepts only 1.
    #[doc(alias = "beta")]
    pub fn source(mut self, beta: f64, c: impl OperandC<'a, C, S>) -> Self {
        self.c = Source::Matrix(c.elements());
        self.scalars[1] = beta;
        self
    }

    /// Uses D as C: `D = alpha * A*B + beta * D`.
    #[doc(alias = "beta")]
    pub fn in_place(mut self, beta: f64) -> Self {
        self.c = Source::InPlace;
        self.scalars[1] = beta;
        self
    }

    vectors! {
        /// The vector `bias_m` of the epilogue, m elements at least: one value a row of D, in each
        /// product of a batch.
        bias_m: BiasM;
        /// The vector `bias_n` of the epilogue, n elements at least: one value a column of D, in
        /// each product of a batch.
        bias_n: BiasN;
        /// The vector `scale_m` of the epilogue, as long as [`bias_m`](Self::bias_m).
        scale_m: ScaleM;
        /// The vector `scale_n` of the epilogue, as long as [`bias_n`](Self::bias_n).
        scale_n: ScaleN;
    }

    /// A scalar of the user's, `s2` to `s7`: `scalar::<2>(x)`; 0 unless given.
    pub fn scalar<const SLOT: usize>(mut self, x: f64) -> Self {
        const { assert!(SLOT < SCALARS, "an epilogue has the scalars alpha, beta and s2 to s7") };
        self.scalars[SLOT] = x;
        self
    }

    strides! {
        /// Elements from one row of A to the next, and from one of its columns to the next, one of
        /// which is 1; its rows, or columns, do not overlap. A may lie in either order, whatever
        /// the types say. The distance of an extent of 1 is not looked at. A device transposes what
        /// its kernel does not read, in the [workspace](Self::workspace).
        strides_a[0];
        /// The same of B.
        strides_b[1];
        /// The same of C, which lies in the order of its type; of D, when C is D and
        /// [`strides_d`](Self::strides_d) does not say it.
        strides_c[2];
        /// The same of D, which lies in the order of its type.
        strides_d[3];
    }

    /// Passes a workspace: device memory for copies of operands, split-K partials, and tables of
    /// arrays and groups. A `Workspace` grows to what the call needs. Other memory has the size that
    /// [`Gemm::workspace_size`](crate::device::Gemm::workspace_size) returns, or less: then fewer
    /// configurations are candidates. The call overwrites the workspace. The host ignores it.
    pub fn workspace(mut self, memory: impl OperandWorkspace<'a, S>) -> Self {
        self.workspace = Some(memory.memory());
        self
    }

    setters! {
        /// A's leading dimension, in elements; of no effect beside [`strides_a`](Self::strides_a),
        /// and so are the others beside theirs.
        lda(leading[0]: leading);
        /// B's leading dimension, in elements.
        ldb(leading[1]: leading);
        /// C's leading dimension, in elements; D's, when C is D and [`ldd`](Self::ldd) does not say
        /// it.
        ldc(leading[2]: leading);
        /// D's leading dimension, in elements.
        ldd(leading[3]: leading);
        /// Elements from one A of the batch to the next, one behind another unless given; 0 takes
        /// the same A for each product.
        batch_stride_a(batch_strides[0]: elements);
        /// The same of B.
        batch_stride_b(batch_strides[1]: elements);
        /// The same of C; of D, when C is D and [`batch_stride_d`](Self::batch_stride_d) does not
        /// say it.
        batch_stride_c(batch_strides[2]: elements);
        /// Elements from one D of the batch to the next. The D's may be interleaved line by line,
        /// and may not overlap.
        batch_stride_d(batch_strides[3]: elements);
    }
}
