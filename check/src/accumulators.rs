//! Accumulators whose type is a run-time value.

use core::ops::Range;
use falchion::{
    internals::{
        numeric::Number,
        shape::OperandKind,
        sys::simd::{Vectorized, dispatch},
        thread::mma::outer_product,
    },
    numeric::{
        Accumulator, ElementKind, F16, HostTransform, Instruction, Saturating,
        emulation::RegisterTerms, sum_slices,
    },
    threadblock::{MmaBase, SLICES_AT_ONCE},
};

/// Numbers of one accumulator type.
#[derive(Clone, Debug)]
pub enum Accumulators {
    /// binary32 numbers.
    F32(Vec<f32>),
    /// binary64 numbers.
    F64(Vec<f64>),
    /// 32-bit integers that wrap.
    I32(Vec<i32>),
    /// 32-bit integers that saturate.
    Saturating(Vec<Saturating>),
    /// binary16 numbers.
    F16(Vec<F16>),
}

/// A function that reads the first element of a byte slice and returns it as a word.
pub(crate) type Word = Box<dyn Fn(&[u8]) -> u64>;

/// Evaluates one expression for the vector of a value's variant.
macro_rules! each {
    ($of:expr, $numbers:ident => $how:expr) => {
        match $of {
            Accumulators::F32($numbers) => $how,
            Accumulators::F64($numbers) => $how,
            Accumulators::I32($numbers) => $how,
            Accumulators::Saturating($numbers) => $how,
            Accumulators::F16($numbers) => $how,
        }
    };
}

impl Default for Accumulators {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

/// Returns a number as 64 bits. The number occupies the first bytes in native order; the other
/// bytes are 0.
fn word<T: Number>(x: T) -> u64 {
    let mut word = [0; 8];
    word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&x));
    u64::from_ne_bytes(word)
}

fn word_to_number<T: Number>(word: u64) -> T {
    bytemuck::pod_read_unaligned(&word.to_ne_bytes()[..size_of::<T>()])
}

/// `accumulators[i, j] += a[i] b[j]`, row by row.
struct Outer<'n, T, A, B> {
    accumulators: &'n mut [T],
    extents: [usize; 2],
    a: A,
    b: B,
}

impl<T: Accumulator, A: Fn(usize) -> T, B: Fn(usize) -> T> Vectorized for Outer<'_, T, A, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let [rows, columns] = self.extents;
        outer_product(rows as u32, columns as u32, |i, j| {
            let sum = &mut self.accumulators[i as usize * columns + j as usize];
            *sum = sum.mul_add((self.a)(i as usize), (self.b)(j as usize));
        });
    }
}

impl Accumulators {
    /// Returns `count` zeros of the accumulator type `kind`, or of `f32` if `kind` is not an
    /// accumulator type.
    pub(crate) fn zeros(kind: ElementKind, count: usize) -> Self {
        match kind {
            ElementKind::F64 => Self::F64(vec![0.0; count]),
            ElementKind::I32 => Self::I32(vec![0; count]),
            ElementKind::F16 => Self::F16(vec![F16::ZERO; count]),
            _ => Self::F32(vec![0.0; count]),
        }
    }

    /// Returns `count` zeros of the accumulator type of a CTA, which saturates if its instruction
    /// does.
    pub(crate) fn for_block(base: &MmaBase, count: usize) -> Self {
        if base.mma.saturates() {
            Self::Saturating(vec![Saturating::default(); count])
        } else {
            Self::zeros(base.accumulator, count)
        }
    }

    /// Converts the elements in `bytes` from type `from` to `kind`; `None` if the conversion is not
    /// exact.
    pub(crate) fn widened(kind: ElementKind, from: ElementKind, bytes: &[u8]) -> Option<Self> {
        fn row<T: Number>(from: ElementKind, bytes: &[u8], to: &mut [T]) -> Option<()> {
            T::widening(from).map(|widening| (widening.row)(bytes, to))
        }
        let mut this = Self::zeros(kind, from.matrix_elements(bytes.len() as u64) as usize);
        each!(&mut this, numbers => row(from, bytes, numbers)).map(|()| this)
    }

    /// Returns the conversion from an element of type `from` to a word of accumulator type `kind`;
    /// `None` if the conversion is not exact.
    pub(crate) fn words_of(kind: ElementKind, from: ElementKind) -> Option<Word> {
        fn words<T: Number>(from: ElementKind) -> Option<Word> {
            let one = T::widening(from)?.one;
            Some(Box::new(move |bytes| word(one(bytes))))
        }
        match kind {
            ElementKind::F64 => words::<f64>(from),
            ElementKind::I32 => words::<i32>(from),
            ElementKind::F16 => words::<F16>(from),
            _ => words::<f32>(from),
        }
    }

    /// Returns the word of the number that a transform makes of the `f32` in `of`.
    pub(crate) fn transformed(of: u64, transform: HostTransform) -> u64 {
        word(transform.apply(word_to_number::<f32>(of)))
    }

    /// Resizes to `count` numbers. Keeps the present numbers if their type is `kind`; all other
    /// numbers are zeros.
    pub(crate) fn grow(&mut self, kind: ElementKind, count: usize) {
        if self.kind() != kind {
            *self = Self::zeros(kind, count);
        }
        each!(self, numbers => numbers.resize(count, Default::default()));
    }

    /// Returns the numbers at the indices `places`. An index beyond the end gives zero, and without
    /// `from` all numbers are zeros of type `kind`.
    pub(crate) fn taken(kind: ElementKind, from: Option<&Self>, places: &[usize]) -> Self {
        fn gather<T: Number>(numbers: &[T], places: &[usize]) -> Vec<T> {
            places.iter().map(|&at| numbers.get(at).copied().unwrap_or_default()).collect()
        }
        match from {
            None => Self::zeros(kind, places.len()),
            Some(Self::F32(numbers)) => Self::F32(gather(numbers, places)),
            Some(Self::F64(numbers)) => Self::F64(gather(numbers, places)),
            Some(Self::I32(numbers)) => Self::I32(gather(numbers, places)),
            Some(Self::Saturating(numbers)) => Self::Saturating(gather(numbers, places)),
            Some(Self::F16(numbers)) => Self::F16(gather(numbers, places)),
        }
    }

    /// Returns the element type.
    pub(crate) const fn kind(&self) -> ElementKind {
        match self {
            Self::F32(_) => ElementKind::F32,
            Self::F64(_) => ElementKind::F64,
            Self::I32(_) | Self::Saturating(_) => ElementKind::I32,
            Self::F16(_) => ElementKind::F16,
        }
    }

    pub(crate) fn len(&self) -> usize {
        each!(self, numbers => numbers.len())
    }

    /// Returns the numbers as bytes in native order.
    pub(crate) fn bytes(&self) -> &[u8] {
        each!(self, numbers => bytemuck::cast_slice(numbers))
    }

    /// Returns number `at` as a word.
    pub(crate) fn word(&self, at: usize) -> u64 {
        each!(self, numbers => word(numbers[at]))
    }

    /// Sets number `at` from a word.
    pub(crate) fn set(&mut self, at: usize, word: u64) {
        each!(self, numbers => numbers[at] = word_to_number(word));
    }

    /// Adds the number in `word` to number `at`.
    pub(crate) fn add(&mut self, at: usize, word: u64) {
        each!(self, numbers => numbers[at] = numbers[at].plus(word_to_number(word)));
    }

    /// Returns the sum of split-K partials in their fixed order. All partials must have the type of
    /// the first.
    pub(crate) fn sum_slices(partials: &[&Self]) -> Self {
        let Some(mut sum) = partials.first().map(|&first| first.clone()) else {
            return Self::default();
        };
        for at in 0..sum.len() {
            let word = |slice: usize| partials[slice].word(at);
            each!(&mut sum, numbers => numbers[at] = sum_slices(partials.len(), SLICES_AT_ONCE as usize, |slice| word_to_number(word(slice))));
        }
        sum
    }

    /// Adds the numbers `range` of `others` to the numbers `range` of `self`, or to 0 if `to_zero`
    /// is set. Does nothing if the types differ.
    pub(crate) fn add_range(&mut self, range: Range<usize>, others: &Self, to_zero: bool) {
        fn add<T: Accumulator>(
            accumulators: Option<&mut [T]>,
            others: Option<&[T]>,
            to_zero: bool,
        ) {
            for (sum, &other) in
                accumulators.into_iter().flatten().zip(others.into_iter().flatten())
            {
                *sum = if to_zero { T::default() } else { *sum }.plus(other);
            }
        }
        match (self, others) {
            (Self::F32(accumulators), Self::F32(others)) => {
                add(accumulators.get_mut(range.clone()), others.get(range), to_zero)
            }
            (Self::F64(accumulators), Self::F64(others)) => {
                add(accumulators.get_mut(range.clone()), others.get(range), to_zero)
            }
            (Self::I32(accumulators), Self::I32(others)) => {
                add(accumulators.get_mut(range.clone()), others.get(range), to_zero)
            }
            (Self::F16(accumulators), Self::F16(others)) => {
                add(accumulators.get_mut(range.clone()), others.get(range), to_zero)
            }
            (Self::Saturating(sums), Self::Saturating(others)) => {
                add(sums.get_mut(range.clone()), others.get(range), to_zero)
            }
            _ => {}
        }
    }

    /// Adds the outer product of two fragments, which are given as words.
    pub(crate) fn add_products(
        &mut self,
        extents: [usize; 2],
        a: impl Fn(usize) -> u64 + Copy,
        b: impl Fn(usize) -> u64 + Copy,
    ) {
        each!(self, accumulators => dispatch(Outer { accumulators, extents, a: move |i| word_to_number(a(i)), b: move |j| word_to_number(b(j)) }));
    }

    /// Runs `products`, which adds the products of one instruction. Saturating accumulators first
    /// sum these products from 0 and then add the sum, because one instruction saturates only once.
    pub(crate) fn add_at_once(&mut self, products: impl Fn(&mut Self)) {
        let Self::Saturating(sums) = self else { return products(self) };
        let mut own = Self::Saturating(vec![Saturating::default(); sums.len()]);
        products(&mut own);
        self.add_range(0..own.len(), &own, false);
    }

    /// Adds the products of rows of A and columns of B with the rounding of an instruction. The
    /// words of both are given k by k. Only `f32` and `f16` accumulators support it; for other
    /// types nothing is added.
    pub(crate) fn add_steps(
        &mut self,
        (instruction, terms): &(Instruction, RegisterTerms),
        extents: [usize; 2],
        words: [&[u64]; 2],
    ) {
        fn add<T: Copy>(
            sums: &mut [T],
            [rows, columns]: [Vec<Vec<f32>>; 2],
            step: impl Fn(T, &[f32], &[f32]) -> T,
        ) {
            for (sums, row) in sums.chunks_exact_mut(columns.len().max(1)).zip(&rows) {
                sums.iter_mut()
                    .zip(&columns)
                    .for_each(|(sum, column)| *sum = step(*sum, row, column));
            }
        }
        let taken = |number: fn(u64) -> f32| {
            OperandKind::BOTH.map(|operand| {
                let (words, extent) = (words[operand.index()], extents[operand.index()]);
                let of = |row| words.iter().skip(row).step_by(extent).map(|&word| number(word));
                (0..extent).map(|row| terms.taken(operand, of(row).collect())).collect()
            })
        };
        match self {
            Self::F32(sums) => {
                add(sums, taken(word_to_number), |sum, a, b| instruction.sum_from(sum, a, b))
            }
            Self::F16(sums) => {
                let taken = taken(|word| word_to_number::<F16>(word).to_f32());
                add(sums, taken, |sum, a, b| F16::from_f32(instruction.step(sum.to_f32(), a, b)));
            }
            Self::F64(_) | Self::I32(_) | Self::Saturating(_) => {}
        }
    }

    /// Adds the outer products of `groups` fragments of `a` and of `b` to each tile of `rows` x
    /// `columns` accumulators. Fragments have `rows` and `columns` elements. Does nothing if the
    /// types differ.
    pub(crate) fn add_outers(&mut self, extents: [usize; 2], groups: usize, fragments: [&Self; 2]) {
        struct Outers<'n, T>([usize; 2], usize, &'n mut [T], [&'n [T]; 2]);
        impl<T: Accumulator> Vectorized for Outers<'_, T> {
            type Output = ();
            #[inline(always)]
            fn run(self) {
                let Self(extents, groups, accumulators, [a, b]) = self;
                let [rows, columns] = extents.map(|extent| extent.max(1));
                let tiles = accumulators.chunks_exact_mut(rows * columns);
                let of_tiles =
                    a.chunks(rows * groups.max(1)).zip(b.chunks(columns * groups.max(1)));
                for (accumulators, (a, b)) in tiles.zip(of_tiles) {
                    for (a, b) in a.chunks_exact(rows).zip(b.chunks_exact(columns)) {
                        let (a, b) = (|i: usize| a[i], |j: usize| b[j]);
                        Outer { accumulators: &mut *accumulators, extents, a, b }.run();
                    }
                }
            }
        }
        match (self, fragments) {
            (Self::F32(sums), [Self::F32(a), Self::F32(b)]) => {
                dispatch(Outers(extents, groups, sums, [a, b]))
            }
            (Self::F64(sums), [Self::F64(a), Self::F64(b)]) => {
                dispatch(Outers(extents, groups, sums, [a, b]))
            }
            (Self::I32(sums), [Self::I32(a), Self::I32(b)]) => {
                dispatch(Outers(extents, groups, sums, [a, b]))
            }
            (Self::F16(sums), [Self::F16(a), Self::F16(b)]) => {
                dispatch(Outers(extents, groups, sums, [a, b]))
            }
            _ => {}
        }
    }
}
