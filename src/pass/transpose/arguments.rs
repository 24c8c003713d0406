//! The arguments of one transpose, and whether they fit.

use super::desc::{Combine, TransposeDesc};
use crate::{
    call::{HostSlice, HostSliceMut, LARGEST, Readable, Source, Space, Writable, setters},
    layout::Order,
    numeric::Element,
    refusal::{Field, Operand, Refusal, Scalar},
    thread::access::dividing,
};

/// An element that transposes can scale and add.
pub trait Scalable: Element {
    /// How.
    const COMBINE: Combine;
}

impl Scalable for f32 {
    const COMBINE: Combine = Combine::F32;
}

impl Scalable for f64 {
    const COMBINE: Combine = Combine::F64;
}

/// What to transpose: `D = Aᵀ`, and for f32 and f64 `D = alpha Aᵀ + beta B`.
///
/// A is `rows` x `columns`, D and B are `columns` x `rows`. Matrices are row-major: element (i, j) of A lies at `i * lda + j`, of
/// D at `i * ldd + j`. The same bytes read column by column are the transposes, so a column-major `m` x `n` matrix with leading
/// dimension `lda` is transposed by `new((n, m), ..)`. Leading dimensions are those of packed matrices unless given, and so are
/// the strides of a batch.
///
/// ```
/// use falchion::prelude::*;
///
/// let (a, mut d) = ([1, 2, 3, 4, 5, 6], [0; 6]);
/// Transpose::<i32>::new().run(TransposeArguments::new((2, 3), &a, &mut d))?;
/// assert_eq!(d, [1, 4, 2, 5, 3, 6]);
///
/// let (x, b, mut d) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [10.0f32; 6], [f32::NAN; 6]);
/// Transpose::<f32>::new().run(TransposeArguments::new((2, 3), &x, &mut d).alpha(2.0).source(-1.0, &b))?;
/// assert_eq!(d, [-8.0, -2.0, -6.0, 0.0, -4.0, 2.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct TransposeArguments<'a, S: Space, T: Element> {
    pub(crate) extents: (usize, usize),
    pub(crate) a: S::Ref<'a, T::Storage>,
    pub(crate) b: Source<S::Ref<'a, T::Storage>>,
    pub(crate) d: S::Mut<'a, T::Storage>,
    pub(crate) leading: [Option<usize>; 3],
    pub(crate) strides: [Option<usize>; 3],
    pub(crate) batch: usize,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) combine: Combine,
}

impl<'a, S: Space, T: Element> TransposeArguments<'a, S, T> {
    /// `D = Aᵀ`: A is `rows` x `columns`.
    pub fn new(
        (rows, columns): (usize, usize),
        a: impl Readable<'a, T::Storage, In = S>,
        d: impl Writable<'a, T::Storage, In = S>,
    ) -> Self {
        Self {
            extents: (rows, columns),
            a: a.view(),
            b: Source::None,
            d: d.view(),
            leading: [None; 3],
            strides: [None; 3],
            batch: 1,
            alpha: 1.0,
            beta: 0.0,
            combine: Combine::Move,
        }
    }

    /// So many transposes, of matrices one after another.
    pub fn batch(mut self, count: usize) -> Self {
        self.batch = count;
        self
    }

    setters! {
        /// A's leading dimension: elements from one row to the next.
        lda(leading[0]: leading);
        /// D's leading dimension; B's too, when B is D.
        ldd(leading[2]: leading);
        /// Elements from one A of the batch to the next; 0 transposes the same A again.
        stride_a(strides[0]: elements);
        /// Elements from one D of the batch to the next. The D's may be interleaved row by row, and may not overlap.
        stride_d(strides[2]: elements);
    }
}

impl<'a, S: Space, T: Scalable> TransposeArguments<'a, S, T> {
    /// Scales Aᵀ. At 0, A is not read.
    pub fn alpha(mut self, alpha: f64) -> Self {
        (self.alpha, self.combine) = (alpha, T::COMBINE);
        self
    }

    /// B, `columns` x `rows` like D, and its scalar. At 0, B is not read: NaN in it cannot reach D.
    pub fn source(mut self, beta: f64, b: impl Readable<'a, T::Storage, In = S>) -> Self {
        (self.b, self.beta, self.combine) = (Source::Matrix(b.view()), beta, T::COMBINE);
        self
    }

    /// B is what D holds: `D <- alpha Aᵀ + beta D`.
    pub fn in_place(mut self, beta: f64) -> Self {
        (self.b, self.beta, self.combine) = (Source::InPlace, beta, T::COMBINE);
        self
    }

    setters! {
        /// B's leading dimension.
        ldb(leading[1]: leading);
        /// Elements from one B of the batch to the next.
        stride_b(strides[1]: elements);
    }
}

/// Where the matrices of a batch lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strided {
    /// Elements from one row to the next.
    pub leading: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
    /// Elements of the memory given, from the first on.
    pub length: usize,
}

impl Strided {
    /// A batch of packed matrices of such rows, or of the leading dimension and stride given.
    pub fn of(rows: usize, columns: usize, leading: Option<usize>, stride: Option<usize>, length: usize) -> Self {
        let leading = leading.unwrap_or(columns);
        Self { leading, stride: stride.unwrap_or(rows.saturating_mul(leading)), length }
    }

    /// Elements from the first of the batch to the last.
    pub fn elements(&self, rows: usize, columns: usize, batch: usize) -> u128 {
        if rows == 0 || columns == 0 || batch == 0 {
            return 0;
        }
        (batch as u128 - 1) * self.stride as u128 + (rows as u128 - 1) * self.leading as u128 + columns as u128
    }

    /// Whether two matrices of the batch share an element; rows may be interleaved.
    fn overlaps(&self, rows: usize, columns: usize, batch: usize) -> bool {
        let apart = self.stride as u128 >= self.elements(rows, columns, 1);
        let interleaved =
            self.stride >= columns && Self { leading: 0, ..*self }.elements(1, columns, batch) <= self.leading as u128;
        batch > 1 && rows > 0 && columns > 0 && !apart && !interleaved
    }
}

/// A transpose without its data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransposeShapes {
    /// Rows of A, columns of D.
    pub rows: usize,
    /// Columns of A, rows of D.
    pub columns: usize,
    /// Transposes.
    pub batch: usize,
    /// A, rows x columns.
    pub a: Strided,
    /// B, columns x rows.
    pub b: Source<Strided>,
    /// D, columns x rows.
    pub d: Strided,
    /// Scales Aᵀ.
    pub alpha: f64,
    /// Scales B.
    pub beta: f64,
}

impl TransposeShapes {
    /// A batch of `rows` x `columns` matrices one below another, packed or of the leading dimensions given for A, B and D, in
    /// memory that is long enough. There is a B where `beta` is not 0.
    pub fn stacked(
        (rows, columns): (usize, usize),
        batch: usize,
        [lda, ldb, ldd]: [Option<usize>; 3],
        [alpha, beta]: [f64; 2],
    ) -> Self {
        let of = |rows, columns, leading| Strided::of(rows, columns, leading, None, usize::MAX);
        let b = if beta == 0.0 { Source::None } else { Source::Matrix(of(columns, rows, ldb)) };
        Self { rows, columns, batch, a: of(rows, columns, lda), b, d: of(columns, rows, ldd), alpha, beta }
    }

    /// Packed matrices, and no B.
    pub fn packed(rows: usize, columns: usize) -> Self {
        let a = Strided::of(rows, columns, None, None, rows.saturating_mul(columns));
        let d = Strided::of(columns, rows, None, None, a.length);
        Self { rows, columns, batch: 1, a, b: Source::None, d, alpha: 1.0, beta: 0.0 }
    }

    /// Whether A's elements matter.
    pub fn reads_a(&self) -> bool {
        self.alpha != 0.0
    }

    /// Whether B's elements matter.
    pub fn reads_b(&self) -> bool {
        self.beta != 0.0
    }

    /// Whether there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0 || self.batch == 0
    }

    /// Where B lies, when it is read.
    pub fn source(&self) -> Option<Strided> {
        match self.b {
            _ if !self.reads_b() => None,
            Source::None => None,
            Source::InPlace => Some(self.d),
            Source::Matrix(b) => Some(b),
        }
    }

    /// Tiles of `desc` down and across one D.
    pub fn tiles(&self, desc: &TransposeDesc) -> (u64, u64) {
        // What is gathered is written in aligned accesses: rows of D begin up to an access before the first tile does.
        let before = if desc.is_gathered() && self.rows > 0 { desc.access_d as usize - 1 } else { 0 };
        (
            self.columns.div_ceil(desc.columns as usize) as u64,
            self.rows.saturating_add(before).div_ceil(desc.rows as usize) as u64,
        )
    }

    /// Whether a kernel of description `desc` can compute this: sizes, leading dimensions, scalars.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the operand, its value and the limit.
    pub fn check(&self, desc: &TransposeDesc) -> Result<(), Refusal> {
        for (field, value) in [(Field::Rows, self.rows), (Field::Columns, self.columns)] {
            if value > LARGEST {
                return Err(Refusal::ExtentTooLarge { field, value, most: LARGEST as u64 });
            }
        }
        if matches!(desc.combine, Combine::Move) && (self.alpha != 1.0 || self.reads_b()) {
            return Err(Refusal::NotScaled { scalar: if self.reads_b() { Scalar::BETA } else { Scalar::ALPHA } });
        }
        self.check_matrix(Operand::D, self.d, self.columns, self.rows)?;
        if self.d.overlaps(self.columns, self.rows, self.batch) {
            let nearest = self.d.elements(self.columns, self.rows, 1) as u64;
            return Err(Refusal::BatchOverlaps { value: self.d.stride, nearest });
        }
        if self.reads_a() {
            self.check_matrix(Operand::A, self.a, self.rows, self.columns)?;
        }
        match self.b {
            Source::Matrix(b) if self.reads_b() => self.check_matrix(Operand::B, b, self.columns, self.rows)?,
            Source::None if self.reads_b() => return Err(Refusal::MissingOperand { operand: Operand::B }),
            _ => {}
        }
        if self.is_empty() {
            return Ok(());
        }
        let ((down, across), most) = (self.tiles(desc), u64::from(desc.grid()));
        let tiles = u128::from(down) * u128::from(across) * self.batch as u128;
        if tiles > u128::from(most) {
            return Err(Refusal::TooManyTiles { tiles: u64::try_from(tiles).unwrap_or(u64::MAX), most });
        }
        Ok(())
    }

    fn check_matrix(&self, operand: Operand, matrix: Strided, rows: usize, columns: usize) -> Result<(), Refusal> {
        let Strided { leading, length, .. } = matrix;
        if leading < columns {
            return Err(Refusal::LeadingDimension { operand, value: leading, least: columns, order: Order::Row });
        }
        let needed = matrix.elements(rows, columns, self.batch);
        // Addresses are 64 bits wide, and signed offsets reach half as far.
        if needed.saturating_mul(16) > i64::MAX as u128 {
            return Err(Refusal::Overflow { operand, rows, columns, leading });
        }
        if (length as u128) < needed {
            return Err(Refusal::TooShort { operand, length, needed, rows, columns, leading });
        }
        Ok(())
    }

    /// Elements that one access to A and one to D can move, up to `access_a` and `access_d`, where the first elements of A, B
    /// and D have such numbers counted from address 0.
    pub(crate) fn widths(&self, desc: &TransposeDesc, [a, b, d]: [u64; 3]) -> (u32, u32) {
        let batch_strides = |matrix: Strided| if self.batch > 1 { matrix.stride as u64 } else { 0 };
        // What is read by no access limits none. A single row has no next.
        let of = |matrix: Strided, first: u64, rows: usize| {
            [first, if rows > 1 { matrix.leading as u64 } else { 0 }, batch_strides(matrix)]
        };
        let mut access_a = dividing(desc.access_a, &[self.columns as u64]);
        if self.reads_a() {
            access_a = dividing(access_a, &of(self.a, a, self.rows));
        }
        let mut access_d = dividing(desc.access_d, &of(self.d, d, self.columns));
        if let Some(matrix) = self.source() {
            access_d = dividing(access_d, &of(matrix, if matches!(self.b, Source::InPlace) { d } else { b }, self.columns));
        }
        (access_a, dividing(access_d, &[self.rows as u64]))
    }
}

/// Operands in host memory, element types as values.
#[derive(Debug)]
pub struct TransposeMatrices<'a> {
    /// A.
    pub a: HostSlice<'a>,
    /// B.
    pub b: Source<HostSlice<'a>>,
    /// D.
    pub d: HostSliceMut<'a>,
}
