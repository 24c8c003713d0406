//! Positions of the matrices of a pointer array.
//!
//! One tensor map per operand serves all GEMMs of an array. Its address is the lowest address of
//! the operand, and its third dimension is the position of a matrix: the number of steps from that
//! address. The step is the largest power of two that divides all distances, so matrices that begin
//! at multiples of 256 bytes may lie 512 GiB apart.

use crate::threadblock::{
    MATRICES_OF_PRODUCT,
    tensor_map::{ADDRESS_ALIGNMENT, STRIDE_ALIGNMENT},
};

/// Number of positions. Coordinates of TMA are signed 32-bit integers.
pub(crate) const POSITIONS: u64 = 1 << 31;

/// Largest step in bytes. Larger steps do not reach further than a device's address space.
const MOST_STEP: u64 = 1 << 20;

/// Lowest and highest address of the matrices of one operand, and the bits of all addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spread {
    lowest: u64,
    highest: u64,
    /// Bits that are set in some address.
    set: u64,
    /// Bits that are set in some address and not set in another.
    differing: u64,
}

impl Spread {
    /// Returns the spread of a single matrix.
    pub const fn single(address: u64) -> Self {
        Self { lowest: address, highest: address, set: address, differing: 0 }
    }

    /// Returns the spread of the matrices of two spreads.
    pub fn merge(self, other: Self) -> Self {
        Self {
            lowest: self.lowest.min(other.lowest),
            highest: self.highest.max(other.highest),
            set: self.set | other.set,
            differing: self.differing | other.differing | (self.lowest ^ other.lowest),
        }
    }

    /// Returns the lowest address, with the alignment of the least aligned matrix.
    pub const fn origin(&self) -> u64 {
        self.lowest | (self.set % ADDRESS_ALIGNMENT)
    }

    /// Returns the step in bytes, or `None` if TMA does not support the distances.
    pub const fn step(&self) -> Option<u64> {
        let divides = self.differing | MOST_STEP;
        let step = 1 << divides.trailing_zeros();
        if step >= STRIDE_ALIGNMENT { Some(step) } else { None }
    }

    /// Returns the position of a matrix, or `None` if it has no position.
    #[cfg(any(feature = "cuda", test))]
    pub fn position(&self, address: u64) -> Option<u32> {
        let steps = address.checked_sub(self.lowest)? / self.step()?;
        if steps < POSITIONS { Some(steps as u32) } else { None }
    }

    /// Returns whether all matrices have a position.
    #[cfg(any(feature = "cuda", test))]
    pub fn has_positions(&self) -> bool {
        self.position(self.highest).is_some()
    }
}

/// Spreads of A, B, C, and D.
pub(crate) type Spreads = [Spread; MATRICES_OF_PRODUCT as usize];

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(addresses: &[u64]) -> Spread {
        addresses.iter().copied().map(Spread::single).reduce(Spread::merge).expect("a matrix")
    }

    /// Positions lead back to the addresses, for any order of the matrices.
    #[test]
    fn positions_lead_to_the_addresses() {
        let base = 0x7f12_3456_7000u64;
        for (step, numbers) in [
            (16, vec![0, 3, 1, 7, (1 << 31) - 1]),
            (48, vec![5, 2, 9]),
            (256, vec![1 << 30, 0, 3 << 29]),
            (1 << 20, vec![0, 1, 4]),
            (1 << 33, vec![2, 0, 1]),
            (16, vec![9]),
        ] {
            let mut addresses: Vec<u64> =
                numbers.iter().map(|number| base + step * number).collect();
            for _ in 0..addresses.len() {
                addresses.rotate_left(1);
                let spread = spread_of(&addresses);
                let own = spread.step().expect("a step");
                assert!(spread.has_positions() && own.is_power_of_two() && own <= MOST_STEP);
                assert_eq!(spread.origin(), *addresses.iter().min().unwrap());
                for &address in &addresses {
                    let position = u64::from(spread.position(address).expect("a position"));
                    assert_eq!(spread.origin() + position * own, address);
                }
            }
        }
    }

    /// Distances that no position expresses are found, and the low bits of all addresses stay.
    #[test]
    fn some_matrices_have_no_positions() {
        assert!(!spread_of(&[0, 16, 16 << 31]).has_positions());
        assert!(spread_of(&[0, 16, (16 << 31) - 16]).has_positions());
        assert!(!spread_of(&[0, 1 << 52]).has_positions());
        let odd = spread_of(&[4096, 4096 + 8, 4096 + 64]);
        assert_eq!((odd.step(), odd.origin(), odd.has_positions()), (None, 4096 + 8, false));
        assert_eq!(spread_of(&[4096 + 4, 8192 + 4]).origin(), 4096 + 4);
    }
}
