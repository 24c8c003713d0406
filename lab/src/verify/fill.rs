//! Operands from a seed. The numbers do not depend on the machine or on the layout.

use super::number::{Number, with_element};
use falchion::{
    Error,
    arch::{ArchKind, OpKind},
    internals::operand::{Elements, HostSliceMut, View},
    layout::Order,
    numeric::{Combined, ElementKind, Instruction},
};
use rayon::prelude::*;

/// Returns number `index` of the sequence of a seed: the output function of splitmix64 (Steele,
/// Lea, Flood 2014) on a counter.
#[inline(always)]
pub const fn draw(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The kind of numbers in operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fill {
    /// Small whole numbers, so that sums are exact in any order, and results are compared with
    /// `==`.
    Integers,
    /// For floating-point types, sums of two uniform numbers, in [-2, 2). For integer types, whole
    /// numbers from -8 to 7, or from 0 to 15 if unsigned.
    Random,
}

/// Returns the limit up to which the type represents every whole number.
pub(super) const fn largest_whole(kind: ElementKind) -> f64 {
    match kind {
        ElementKind::F64 => 9_007_199_254_740_992.0,
        ElementKind::F32 => 16_777_216.0,
        ElementKind::Tf32 | ElementKind::F16 => 2048.0,
        ElementKind::Bf16 => 256.0,
        ElementKind::E4m3 => 16.0,
        ElementKind::E5m2 => 8.0,
        ElementKind::I8 => 127.0,
        ElementKind::U8 => 255.0,
        ElementKind::I32 => 2_147_483_647.0,
    }
}

/// Returns the limit up to which sums of whole products are exact.
fn exact_sums(types: Combined) -> f64 {
    // The newest architecture has every instruction, and older ones keep the same range of whole
    // numbers.
    let own = Instruction::for_types(types, ArchKind::Sm90).filter(|_| !types.is_of(OpKind::Simt));
    own.map_or(largest_whole(types.accumulator), |instruction| instruction.largest_whole())
}

/// A distribution of random numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution {
    /// Whole numbers from `-largest` to `largest`, or from 0 for an unsigned type. Some of them are
    /// 0.
    Whole {
        /// The largest magnitude.
        largest: u32,
        /// Fraction of numbers that are not zero, in units of 2^-16.
        density: u32,
    },
    /// See [`Fill::Random`].
    Random,
}

/// Smallest magnitude of random numbers. The largest one is 2, so the rows of every matrix fit the
/// window of f16x3.
const NEAREST_TO_ZERO: f64 = 1.0 / 65_536.0;

/// Fraction of elements that are not zero.
const DENSE: f64 = 0.75;

impl Fill {
    /// Returns the distribution of the elements of A and B for sums of `k` products.
    ///
    /// Whole numbers go up to `r`, the largest number from 8 down to 1 that satisfies two
    /// conditions. `W(T)` is the limit up to which `T` represents every whole number: 2^24 for f32,
    /// 2^11 for f16, and 2^14 if tensor cores add products of fp8.
    ///
    /// - `k r^2 <= W(accumulator)`: every sum of some of the products is then exact.
    /// - `3 sqrt(k) r^2 <= W(C)`, or `k r^2 / 4 <= W(C)` without a sign: nearly all sums are that
    ///   small. Results are then not rounded or clamped, which would hide an error.
    ///
    /// If even 1 is too large, more elements are zero. The expected sum of magnitudes is then a
    /// quarter of `W(accumulator)`, and of `W(C)` without a sign. The verification does not depend
    /// on chance: [`bound`](super::bound) decides for each element from the data whether its sums
    /// were exact.
    pub fn operands(self, types: Combined, k: usize) -> Distribution {
        if self == Self::Random {
            return Distribution::Random;
        }
        let (k, signed) = (k.max(1) as f64, types.a != ElementKind::U8);
        let (sums, results) = (exact_sums(types), largest_whole(types.c));
        let fits = |r: f64| {
            let strays = if signed { 3.0 * k.sqrt() * r * r } else { k * r * r / 4.0 };
            k * r * r <= sums && strays <= results
        };
        let largest = (1..=8).rev().find(|&r| fits(f64::from(r))).unwrap_or(1);
        let magnitudes = if signed { sums } else { sums.min(results) } / 4.0;
        let thin = if fits(1.0) || (signed && k <= sums) {
            DENSE
        } else {
            (magnitudes / k).sqrt().min(DENSE)
        };
        Distribution::Whole { largest, density: (thin * 65_536.0).ceil() as u32 }
    }

    /// Returns the distribution of the elements of C.
    pub fn source(self) -> Distribution {
        match self {
            Self::Integers => {
                Distribution::Whole { largest: 8, density: (DENSE * 65_536.0) as u32 }
            }
            Self::Random => Distribution::Random,
        }
    }
}

impl Distribution {
    /// Returns the number for some random bits, in a type.
    #[inline(always)]
    fn number(self, bits: u64, kind: ElementKind) -> f64 {
        let signed = kind != ElementKind::U8;
        match self {
            Self::Whole { largest, density } => {
                if (bits & 0xffff) as u32 >= density {
                    return 0.0;
                }
                let magnitude = 1.0 + f64::from(((bits >> 17) as u32 & 0xffff) % largest);
                if signed && (bits >> 16) & 1 == 1 { -magnitude } else { magnitude }
            }
            Self::Random if kind.is_integer() => {
                (bits >> 60) as f64 - if signed { 8.0 } else { 0.0 }
            }
            Self::Random => {
                let uniform = |bits: u64| (bits & 0xffff_ffff) as f64 / 4_294_967_296.0;
                let x = 2.0 * (uniform(bits >> 32) + uniform(bits)) - 2.0;
                if x.abs() < NEAREST_TO_ZERO { x + NEAREST_TO_ZERO.copysign(x) } else { x }
            }
        }
    }

    /// Fills the `rows` x `columns` matrix at the beginning of the slice, and leaves the gaps
    /// between its rows or columns unchanged. Element (i, j) depends only on the seed and on `i *
    /// columns + j`, so a matrix is the same in every layout.
    ///
    /// # Errors
    /// None, because a slice has its own type.
    pub fn fill(
        self,
        seed: u64,
        slice: HostSliceMut<'_>,
        view: &View<Elements>,
        (rows, columns): (usize, usize),
    ) -> Result<(), Error> {
        let (order, kind) = (order_of(view, (rows, columns)), slice.kind());
        let (lines, along) = (order.packed(columns, rows), order.packed(rows, columns));
        let (by_line, by_step) = if order.is_row() { (columns, 1) } else { (1, columns) };
        fn lay<E: Number>(
            slice: HostSliceMut<'_>,
            (leading, lines, along): (usize, usize, usize),
            number: impl Fn(usize, usize) -> f64 + Sync,
        ) -> Result<(), Error> {
            slice.elements::<E>()?.par_chunks_mut(leading.max(1)).take(lines).enumerate().for_each(
                |(line, elements)| {
                    for (step, element) in elements.iter_mut().take(along).enumerate() {
                        *element = E::nearest(number(line, step));
                    }
                },
            );
            Ok(())
        }
        let number = |line: usize, step: usize| {
            self.number(draw(seed, (line * by_line + step * by_step) as u64), kind)
        };
        with_element!(kind, E => lay::<E>(slice, (view.leading(order), lines, along), number))
    }
}

/// Returns the order in which a matrix is contiguous, or row-major if both are possible.
pub(crate) fn order_of<M>(view: &View<M>, (_, columns): (usize, usize)) -> Order {
    if view.strides[1] == 1 && view.strides[0] >= columns { Order::Row } else { Order::Col }
}

/// Returns the extents of a batch as one matrix. Row-major matrices of a batch are stacked by rows,
/// and column-major ones by columns. A matrix that all GEMMs share, with a stride of 0, counts
/// once.
pub(crate) fn batch_extents<M>(
    view: &View<M>,
    (rows, columns): (usize, usize),
    batch: usize,
) -> (usize, usize) {
    let matrices = if view.batch_stride == 0 { 1 } else { batch };
    let by_row = order_of(view, (rows, columns)).is_row();
    if by_row {
        (rows.saturating_mul(matrices), columns)
    } else {
        (rows, columns.saturating_mul(matrices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::HostBuffer;
    use falchion::nest::{COMBINATIONS, TENSOR_OP_COMBINATIONS};

    #[test]
    fn integers_stay_within_exact_sums() {
        for &types in COMBINATIONS.iter().chain(TENSOR_OP_COMBINATIONS) {
            for k in [0, 1, 3, 64, 255, 1024, 2048, 2049, 5000, 16_384, 100_000, 10_000_000] {
                let Distribution::Whole { largest, density } = Fill::Integers.operands(types, k)
                else {
                    unreachable!()
                };
                let share = f64::from(density) / 65_536.0;
                let magnitudes = k as f64 * (share * f64::from(largest)).powi(2);
                assert!(largest >= 1 && density > 0, "{types:?} {k}");
                assert!(magnitudes <= exact_sums(types), "{types:?} {k}: {largest} {share}");
                assert!(
                    k > 1024 || types.a == ElementKind::U8 || density as f64 >= DENSE * 65_536.0,
                    "{types:?} {k}: {share}"
                );
            }
        }
    }

    #[test]
    fn a_matrix_is_the_same_in_every_layout() -> Result<(), Error> {
        for kind in [ElementKind::F16, ElementKind::F64, ElementKind::U8, ElementKind::I32] {
            let (rows, columns) = (5, 7);
            let laid = |order: Order, leading| -> Result<Vec<f64>, Error> {
                let view = View::new(Elements::new(80), order, leading);
                let mut buffer = HostBuffer::poisoned(kind, 80)?;
                Distribution::Random.fill(7, buffer.slice_mut(0..80)?, &view, (rows, columns))?;
                let mut numbers = Vec::new();
                for place in 0..rows * columns {
                    numbers.push(buffer.get(order.offset(
                        place / columns,
                        place % columns,
                        leading,
                    ))?);
                }
                Ok(numbers)
            };
            let packed = laid(Order::Row, columns)?;
            assert_eq!(packed, laid(Order::Row, 9)?);
            assert_eq!(packed, laid(Order::Col, 11)?);
            assert!(
                packed.iter().all(|x| (-8.0..16.0).contains(x))
                    && packed.iter().any(|x| *x != packed[0])
            );
        }
        Ok(())
    }
}
