//! What a kernel is launched with, as data: nothing here asks a device.

use crate::{
    arch::{MOST_BLOCKS, PORTABLE_CLUSTER},
    refusal::{Field, Refusal},
    threadblock::TensorMapDesc,
};
use bytemuck::Pod;

/// How many threads a launch has, and how they are grouped.
///
/// The blocks of a cluster are fixed when a kernel is compiled, by `__cluster_dims__` at its entry
/// point: its masks and the counts of its barriers are made for them, so no launch may choose
/// otherwise, and the plain launch does. That the grid is whole clusters is this struct's shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Clusters.
    pub clusters: u32,
    /// Blocks of a cluster, along x; 1 for a kernel without clusters.
    pub cluster: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl Grid {
    /// The grid of a kernel without clusters.
    pub const fn of_blocks(blocks: u32, threads: u32, shared_bytes: u32) -> Self {
        Self { clusters: blocks, cluster: 1, threads, shared_bytes }
    }

    /// The same of a block for each tile.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`] for more than the x axis of a grid has.
    pub const fn of_tiles(tiles: u64, threads: u32, shared_bytes: u32) -> Result<Self, Refusal> {
        let most = MOST_BLOCKS as u64;
        let refused = Err(Refusal::TooManyTiles { tiles, most, batch: 1 });
        if tiles > most {
            refused
        } else {
            Ok(Self::of_blocks(tiles as u32, threads, shared_bytes))
        }
    }

    /// All blocks.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] for a cluster of none, or of more than [`PORTABLE_CLUSTER`];
    /// [`Refusal::TooManyTiles`] for more blocks than the x axis of a grid has.
    pub const fn blocks(&self) -> Result<u32, Refusal> {
        let (value, most) = (self.cluster as u64, PORTABLE_CLUSTER as u64);
        if value == 0 || value > most {
            return Err(Refusal::OutOfRange {
                field: Field::BlocksOfACluster,
                value,
                least: 1,
                most,
            });
        }
        let (tiles, most) = (self.clusters as u64 * value, MOST_BLOCKS as u64);
        if tiles > most {
            Err(Refusal::TooManyTiles { tiles, most, batch: 1 })
        } else {
            Ok(tiles as u32)
        }
    }
}

/// A tensor in device memory, and the box of it that TMA moves: the driver packs it into a
/// parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TmaTensor {
    /// The tensor.
    pub desc: TensorMapDesc,
    /// Device address of its first element.
    pub address: u64,
}

/// Bytes of a kernel's parameters, at most.
const MOST: usize = 768;

/// The bytes of a struct that crosses at a launch, and zeros behind it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Params(pub [u8; MOST]);

impl Params {
    /// Those of a struct.
    pub fn of<T: Pod>(params: &T) -> Self {
        const { assert!(size_of::<T>() <= MOST) };
        let mut bytes = [0; MOST];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(params));
        Self(bytes)
    }
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Its blocks.
    pub grid: Grid,
    /// What it takes by value.
    pub params: Params,
    /// A, B, C and D, whose packed maps are the first of the parameters; `None` where TMA moves
    /// nothing.
    pub tensors: [Option<TmaTensor>; 4],
    /// Addresses that are set to 0 before.
    pub clear: Option<AddressRange>,
    /// Blocks of the second kernel, which takes the same, where it adds the parts of K.
    pub reduction: Option<Grid>,
}

/// Device addresses, from the first to the one behind the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressRange {
    /// The first.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
}

impl Launch {
    /// A launch without tensors.
    pub fn new<T: Pod>(grid: Grid, params: &T) -> Self {
        Self { grid, params: Params::of(params), tensors: [None; 4], clear: None, reduction: None }
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn a_grid_is_whole_clusters_and_not_too_many() {
        let grid = |clusters, cluster| Grid { clusters, cluster, threads: 384, shared_bytes: 0 };
        assert_eq!(grid(66, 2).blocks(), Ok(132));
        assert_eq!(Grid::of_blocks(7, 32, 0).blocks(), Ok(7));
        let said =
            |clusters, cluster| grid(clusters, cluster).blocks().expect_err("refused").to_string();
        assert_eq!(said(1, 0), "blocks of a cluster = 0 is out of range (1 to 8); try 1");
        assert_eq!(said(1, 16), "blocks of a cluster = 16 is out of range (1 to 8); try 8");
        assert!(said(1 << 30, 2).starts_with(
            "the problem has 2147483648 tiles, and a grid has at most 2147483647 thread blocks"
        ));
        assert!(said(u32::MAX, 8).starts_with("the problem has 34359738360 tiles"));
    }
}
