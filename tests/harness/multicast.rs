//! A load that several blocks of a cluster receive, modelled.

use falchion::{Refusal, threadblock::TensorCopy};

/// Which blocks of a cluster receive a load: bit `r` stands for the block of rank `r`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Multicast(pub u16);

impl Multicast {
    /// The ranks that receive the load, in order.
    pub fn receivers(self) -> impl Iterator<Item = u32> {
        (0..u16::BITS).filter(move |&rank| self.0 >> rank & 1 == 1)
    }

    /// Loads the box into the tiles of several blocks of a cluster, one for each rank. Answers what
    /// each block's barrier is told.
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
