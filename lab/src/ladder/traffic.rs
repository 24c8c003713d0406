//! The memory accesses of a rung's threads, counted one by one. The checked machine counts the
//! accesses of configurations.

use super::{Program, Textbook};
use crate::{
    Error,
    banks::{Direction, NotAnAccess, WarpAccess},
    counters::{Counters, GlobalAccesses, SharedAccesses, count},
};
use falchion::{
    arch::WARP,
    epilogue::SCALARS,
    internals::operand::Problem,
    refusal::{Field, Refusal},
};

/// Sizes are multiples of this number. The tiles of every rung then divide the problem, and all
/// CTAs are alike.
pub const SIZE_STEP: usize = 256;

/// Largest size. Beyond it, the elements of a matrix do not have 32-bit numbers.
pub const SIZE_MOST: usize = 32_768;

/// Checks that a GEMM of `size` x `size` x `size` can be climbed.
///
/// # Errors
/// [`Refusal`] of an invalid size, with the nearest valid size.
pub fn check_size(size: usize) -> Result<(), Refusal> {
    if !(SIZE_STEP..=SIZE_MOST).contains(&size) {
        return Err(Refusal::out_of_range(
            Field::Size,
            size as u64,
            SIZE_STEP as u64,
            SIZE_MOST as u64,
        ));
    }
    if !size.is_multiple_of(SIZE_STEP) {
        let nearest = (size + SIZE_STEP / 2) / SIZE_STEP * SIZE_STEP;
        return Err(Refusal::not_multiple(
            Field::Size,
            size as u64,
            SIZE_STEP as u64,
            nearest as u64,
        ));
    }
    Ok(())
}

/// Returns the accesses of a rung's threads for `D = A·B`, with row-major `size` x `size` matrices.
///
/// # Errors
/// The errors of [`check_size`] and of [`count`].
pub fn traffic(program: &Program, size: usize) -> Result<Counters, Error> {
    check_size(size)?;
    match program {
        Program::Textbook(textbook) => textbook
            .counters(size as u64)
            .map_err(|error| Error::Measurement { because: error.to_string() }),
        Program::Gemm(desc) => count(
            &desc.one_schedule()?,
            &Problem::new(desc, (size, size, size), [None; 3], PRODUCT),
        ),
    }
}

/// The scalars of `D = A·B`: alpha is 1.
pub(super) const PRODUCT: [f64; SCALARS] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// Bytes per element. The ladder uses `f32`.
const ELEMENT: u64 = 4;

impl Textbook {
    /// Returns the accesses for a `size` that is a multiple of [`SIZE_STEP`]. They are the accesses
    /// of the first warp in the first k-tile, multiplied by the numbers of warps and tiles, which
    /// are all alike.
    fn counters(self, size: u64) -> Result<Counters, NotAnAccess> {
        let side = u64::from(Self::SIDE);
        let warps = u64::from(Self::THREADS / WARP) * (size / side) * (size / side);
        let mut tile = Tile { times: warps * (size / side), counters: Counters::default() };
        match self {
            Self::Naive => {
                for k in 0..side {
                    tile.global(|counters| &mut counters.a, |_, y| y * size + k)?;
                    tile.global(|counters| &mut counters.b, |x, _| k * size + x)?;
                }
            }
            Self::SharedMemory => {
                tile.global(|counters| &mut counters.a, |x, y| y * size + x)?;
                tile.global(|counters| &mut counters.b, |x, y| y * size + x)?;
                for _ in 0..2 {
                    tile.shared(Direction::Store, |x, y| y * side + x)?;
                }
                for k in 0..side {
                    tile.shared(Direction::Load, |_, y| y * side + k)?;
                    tile.shared(Direction::Load, |x, _| k * side + x)?;
                }
            }
        }
        tile.counters.multiply_adds = size * size * size;
        Ok(tile.counters)
    }
}

/// The accesses of a warp in one k-tile, multiplied by the number of such k-tiles.
struct Tile {
    times: u64,
    counters: Counters,
}

impl Tile {
    /// Returns the access in which the thread at (`x`, `y`) of the CTA touches this element.
    fn access(
        direction: Direction,
        element: impl Fn(u64, u64) -> u64,
    ) -> Result<WarpAccess, NotAnAccess> {
        let side = u64::from(Textbook::SIDE);
        let lanes =
            (0..u64::from(WARP)).map(|lane| Some(element(lane % side, lane / side) * ELEMENT));
        WarpAccess::new(direction, ELEMENT as u32, lanes)
    }

    fn global(
        &mut self,
        of: impl Fn(&mut Counters) -> &mut GlobalAccesses,
        element: impl Fn(u64, u64) -> u64,
    ) -> Result<(), NotAnAccess> {
        let access = Self::access(Direction::Load, element)?;
        of(&mut self.counters).add(self.times, access.active() as u64, &access);
        Ok(())
    }

    fn shared(
        &mut self,
        direction: Direction,
        element: impl Fn(u64, u64) -> u64,
    ) -> Result<(), NotAnAccess> {
        let access = Self::access(direction, element)?;
        let of: &mut SharedAccesses = match direction {
            Direction::Load => &mut self.counters.loads,
            Direction::Store => &mut self.counters.stores,
        };
        of.add(self.times, &access);
        Ok(())
    }
}
