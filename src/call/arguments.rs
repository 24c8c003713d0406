//! The arguments of one product, and whether they fit.
//!
//! [`Arguments`] is what a user passes, in the layouts of the types. [`Shapes`] is the same without the pointers: it checks
//! sizes and leading dimensions, and turns the user's problem into the one that a kernel sees, by its frame
//! ([`Shapes::canonical_for`]).

use super::{
    DEPTH,
    space::{Readable, Space, Writable},
};
use crate::{
    desc::GemmDesc,
    epilogue::SCALARS,
    layout::{Order, Orders},
    numeric::Element,
    operand::Axis,
    refusal::{Field, Operand, Refusal, Scalar, SplitRefusal},
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

    /// The same source with its matrix replaced.
    pub fn map<S>(self, f: impl FnOnce(R) -> S) -> Source<S> {
        match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(f(matrix)),
            Self::InPlace => Source::InPlace,
        }
    }
}

/// `D = epilogue(A·B, C)`: what to multiply. Leading dimensions are those of packed matrices unless given.
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
pub struct Arguments<'a, S: Space, A: Element, B: Element, C: Element> {
    pub(crate) extents: (usize, usize, usize),
    pub(crate) a: S::Ref<'a, A::Storage>,
    pub(crate) b: S::Ref<'a, B::Storage>,
    pub(crate) c: Source<S::Ref<'a, C::Storage>>,
    pub(crate) d: S::Mut<'a, C::Storage>,
    pub(crate) leading: [Option<usize>; 4],
    pub(crate) scalars: [f64; SCALARS],
    pub(crate) workspace: Option<S::Mut<'a, u8>>,
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

impl<'a, S: Space, A: Element, B: Element, C: Element> Arguments<'a, S, A, B, C> {
    /// `D = A·B`: A is m x k, B is k x n, D is m x n. Alpha is 1 and beta 0 until said otherwise.
    pub fn new(
        (m, n, k): (usize, usize, usize),
        a: impl Readable<'a, A::Storage, In = S>,
        b: impl Readable<'a, B::Storage, In = S>,
        d: impl Writable<'a, C::Storage, In = S>,
    ) -> Self {
        let mut scalars = [0.0; SCALARS];
        scalars[0] = 1.0;
        let (a, b, d) = (a.view(), b.view(), d.view());
        Self { extents: (m, n, k), a, b, c: Source::None, d, leading: [None; 4], scalars, workspace: None }
    }

    /// The scalar alpha.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.scalars[0] = alpha;
        self
    }

    /// C, m x n, and the scalar beta.
    pub fn source(mut self, beta: f64, c: impl Readable<'a, C::Storage, In = S>) -> Self {
        self.c = Source::Matrix(c.view());
        self.scalars[1] = beta;
        self
    }

    /// C is what D holds: `D <- alpha A·B + beta D`.
    pub fn in_place(mut self, beta: f64) -> Self {
        self.c = Source::InPlace;
        self.scalars[1] = beta;
        self
    }

    /// A scalar of the user's, `s2` to `s7`: `scalar::<2>(x)`.
    pub fn scalar<const SLOT: usize>(mut self, x: f64) -> Self {
        const { assert!(SLOT < SCALARS, "an epilogue has the scalars alpha, beta and s2 to s7") };
        self.scalars[SLOT] = x;
        self
    }

    /// Bytes in which operands may be laid out again, of which [`Gemm::workspace_size`](crate::device::Gemm::workspace_size) says how many are
    /// enough. What they hold is lost; on the host they are left alone.
    pub fn workspace(mut self, bytes: impl Writable<'a, u8, In = S>) -> Self {
        self.workspace = Some(bytes.view());
        self
    }

    setters! {
        /// A's leading dimension, in elements.
        lda(leading[0]: leading);
        /// B's leading dimension, in elements.
        ldb(leading[1]: leading);
        /// C's leading dimension, in elements; D's, when C is D.
        ldc(leading[2]: leading);
        /// D's leading dimension, in elements.
        ldd(leading[3]: leading);
    }
}

/// One matrix of a problem: its layout, leading dimension and the elements that are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixShape {
    /// Which index is contiguous.
    pub order: Order,
    /// Elements between rows, or between columns.
    pub leading: usize,
    /// Elements of the memory given, from the first of the matrix on.
    pub length: usize,
}

impl MatrixShape {
    /// Elements that a `rows` x `columns` matrix of this layout takes, from its first to its last.
    pub const fn elements(&self, rows: usize, columns: usize) -> u128 {
        if rows == 0 || columns == 0 {
            return 0;
        }
        let (least, lines) = (self.order.packed(rows, columns), self.order.packed(columns, rows));
        (lines as u128 - 1) * self.leading as u128 + least as u128
    }
}

/// A problem without its data, as the user states it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shapes {
    /// Rows of D.
    pub m: usize,
    /// Columns of D.
    pub n: usize,
    /// Length of the dot products.
    pub k: usize,
    /// A, m x k.
    pub a: MatrixShape,
    /// B, k x n.
    pub b: MatrixShape,
    /// C, m x n.
    pub c: Source<MatrixShape>,
    /// D, m x n.
    pub d: MatrixShape,
    /// alpha, beta, s2 .. s7.
    pub scalars: [f64; SCALARS],
}

/// The largest extent: block coordinates within a tile's reach of it stay below 2^32.
pub(crate) const LARGEST: usize = i32::MAX as usize;

impl Shapes {
    /// The problem of packed matrices, or of the leading dimensions given for A, B and for C and D. There is a C where the
    /// epilogue of `desc` reads one.
    pub fn of(
        desc: &GemmDesc,
        (m, n, k): (usize, usize, usize),
        [lda, ldb, ldc]: [Option<usize>; 3],
        scalars: [f64; SCALARS],
    ) -> Self {
        let Orders { a, b, c } = desc.orders();
        let matrix = |order: crate::layout::Order, leading: Option<usize>, rows, columns| MatrixShape {
            order,
            leading: leading.unwrap_or(order.packed(rows, columns)),
            length: usize::MAX,
        };
        let d = matrix(c, ldc, m, n);
        let c = if desc.class.output.epilogue.reads(&scalars).source { Source::Matrix(d) } else { Source::None };
        Self { m, n, k, a: matrix(a, lda, m, k), b: matrix(b, ldb, k, n), c, d, scalars }
    }

    /// The problem of the same bytes with A and B in each other's place, and all orders turned: `Dᵀ = Bᵀ·Aᵀ`.
    fn turned(self) -> Self {
        let turned = |matrix: MatrixShape| MatrixShape { order: matrix.order.transposed(), ..matrix };
        Self {
            m: self.n,
            n: self.m,
            k: self.k,
            a: turned(self.b),
            b: turned(self.a),
            c: self.c.map(turned),
            d: turned(self.d),
            scalars: self.scalars,
        }
    }

    /// The problem as the kernel of description `d` sees it, when it is one of that.
    ///
    /// # Errors
    ///
    /// [`Refusal::Layouts`] when the layouts are others.
    pub fn canonical_for(&self, d: &GemmDesc) -> Result<Self, Refusal> {
        let seen = self.seen_by(d);
        if [seen.a.order, seen.b.order, seen.d.order] != [d.class.a.layout, d.class.b.layout, d.class.output.layout] {
            return Err(Refusal::Layouts {
                a: d.class.a.layout,
                b: d.class.b.layout,
                d: d.class.output.layout,
                exchanged: d.frame.is_exchanged(),
            });
        }
        Ok(seen)
    }

    /// The leading dimension of what the epilogue reads as C.
    pub(crate) fn source_leading(&self) -> usize {
        if let Source::Matrix(c) = self.c { c.leading } else { self.d.leading }
    }

    /// The problem with A and B in each other's place where the description's are.
    fn seen_by(self, d: &GemmDesc) -> Self {
        if d.frame.is_exchanged() { self.turned() } else { self }
    }

    /// Whether a kernel of description `d` can compute this: sizes, leading dimensions, what the epilogue reads.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the operand, its value and the limit.
    pub fn check(&self, d: &GemmDesc) -> Result<(), Refusal> {
        for (axis, value) in [(Axis::M, self.m), (Axis::N, self.n), (Axis::K, self.k)] {
            if value > LARGEST {
                return Err(Refusal::ExtentTooLarge { field: Field::Extent(axis), value, most: LARGEST as u64 });
            }
        }
        if let Some(split) = d.warp_specialized().map(|d| d.knobs.emulation).filter(|split| split.splits()) {
            let depth = DEPTH as usize;
            let most = LARGEST / split.parts() as usize / depth * depth;
            if self.k > most {
                return Err(Refusal::Split(SplitRefusal::TooDeep { k: self.k, split, most: most as u64 }));
            }
        }
        let reads = d.class.output.epilogue.reads(&self.scalars);
        let integral = matches!(d.class.compute, crate::numeric::ComputeKind::I32);
        if let Some(slot) = self.scalars.iter().position(|x| integral && !x.is_finite()) {
            return Err(Refusal::NotFinite { scalar: Scalar(slot as u8) });
        }
        check_matrix(Operand::D, self.d, self.m, self.n)?;
        if reads.accumulator {
            check_matrix(Operand::A, self.a, self.m, self.k)?;
            check_matrix(Operand::B, self.b, self.k, self.n)?;
        }
        match self.c {
            Source::Matrix(c) if reads.source => check_matrix(Operand::C, c, self.m, self.n)?,
            Source::None if reads.source => return Err(Refusal::MissingOperand { operand: Operand::C }),
            _ => {}
        }
        let canonical = self.seen_by(d);
        let tile = d.threadblock();
        let tiles = canonical.m.div_ceil(tile.m as usize) as u64 * canonical.n.div_ceil(tile.n as usize) as u64;
        let most = u64::from(d.class.arch.machine().grid_x);
        if tiles > most {
            return Err(Refusal::TooManyTiles { tiles, most });
        }
        d.class.output.epilogue.check_functions()
    }
}

fn check_matrix(operand: Operand, matrix: MatrixShape, rows: usize, columns: usize) -> Result<(), Refusal> {
    let MatrixShape { order, leading, length } = matrix;
    let least = order.packed(rows, columns);
    if leading < least {
        return Err(Refusal::LeadingDimension { operand, value: leading, least, order });
    }
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let needed = matrix.elements(rows, columns);
    if needed > u128::from(u64::MAX) {
        return Err(Refusal::Overflow { operand, rows, columns, leading });
    }
    if (length as u128) < needed {
        return Err(Refusal::TooShort { operand, length, needed, rows, columns, leading });
    }
    Ok(())
}
