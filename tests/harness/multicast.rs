//! Model of a multicast load, which several CTAs of a cluster receive.

use crate::harness::prelude::*;

/// Mask of the CTAs that receive a load. Bit `r` stands for the CTA of rank `r`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Multicast(pub u16);

impl Multicast {
    /// Returns the ranks that receive the load in ascending order.
    pub fn receivers(self) -> impl Iterator<Item = u32> {
        (0..u16::BITS).filter(move |&rank| self.0 >> rank & 1 == 1)
    }

    /// Loads the box into the tiles of the receiving CTAs, given one tile per rank. Returns the
    /// number of bytes that each CTA's barrier counts.
    pub fn load(
        self,
        copy: &TensorCopy,
        global: &[u8],
        tiles: &mut [Vec<u8>],
    ) -> Result<Vec<u32>, Refusal> {
        let mut told = vec![0; tiles.len()];
        for rank in self.receivers() {
            told[rank as usize] = copy.load(global, &mut tiles[rank as usize])?;
        }
        Ok(told)
    }
}
