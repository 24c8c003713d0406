//! Launch of a kernel as data: grid, parameters, and tensor maps. This module does not call the
//! driver.

use crate::{
    arch::{MOST_BLOCKS, PORTABLE_CLUSTER},
    codegen::TensorGemmParams,
    nest::GemmDesc,
    operand::Problem,
    refusal::{Field, Refusal},
    shape::EpilogueOperand,
    threadblock::TensorMapDesc,
};
use bytemuck::Pod;

/// Grid of a launch: clusters, CTAs, threads, and shared memory.
///
/// `__cluster_dims__` at the entry point fixes the cluster size when the kernel is compiled,
/// because the multicast masks and the barrier counts depend on it. The launch therefore does not
/// set a cluster size. A grid always consists of whole clusters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Number of clusters.
    pub clusters: u32,
    /// CTAs per cluster, along x. 1 for a kernel without clusters.
    pub cluster: u32,
    /// Threads per CTA.
    pub threads: u32,
    /// Dynamic shared memory per CTA, in bytes.
    pub shared_bytes: u32,
}

impl Grid {
    /// Creates the grid of a kernel without clusters.
    pub const fn with_blocks(blocks: u32, threads: u32, shared_bytes: u32) -> Self {
        Self { clusters: blocks, cluster: 1, threads, shared_bytes }
    }

    /// Creates a grid with one CTA per tile and without clusters.
    ///
    /// # Errors
    /// [`Refusal`] if the tiles exceed the maximum size of a grid in x.
    pub const fn with_tiles(tiles: u64, threads: u32, shared_bytes: u32) -> Result<Self, Refusal> {
        let most = MOST_BLOCKS as u64;
        let refused = Err(Refusal::too_many_tiles(tiles, most, 1));
        if tiles > most {
            refused
        } else {
            Ok(Self::with_blocks(tiles as u32, threads, shared_bytes))
        }
    }

    /// Returns the number of CTAs.
    ///
    /// # Errors
    /// [`Refusal`] if the cluster has no CTA, or more than [`PORTABLE_CLUSTER`] CTAs. [`Refusal`]
    /// if the CTAs exceed the maximum size of a grid in x.
    pub const fn blocks(&self) -> Result<u32, Refusal> {
        let (value, most) = (self.cluster as u64, PORTABLE_CLUSTER as u64);
        if value == 0 || value > most {
            return Err(Refusal::out_of_range(Field::BlocksOfACluster, value, 1, most));
        }
        let (tiles, most) = (self.clusters as u64 * value, MOST_BLOCKS as u64);
        if tiles > most { Err(Refusal::too_many_tiles(tiles, most, 1)) } else { Ok(tiles as u32) }
    }
}

/// Tensor in device memory, and the box that TMA moves. The driver encodes it as a tensor map in
/// the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TmaTensor {
    /// Sizes, strides, and box of the tensor.
    pub desc: TensorMapDesc,
    /// Device address of the first element.
    pub address: u64,
}

/// Maximum size of kernel parameters in bytes.
const MOST: usize = TensorGemmParams::SIZE;

/// Bytes of a parameter struct, followed by zeros.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Params(pub [u8; MOST]);

impl Params {
    /// Copies the bytes of a struct.
    pub fn new<T: Pod>(params: &T) -> Self {
        const { assert!(size_of::<T>() <= MOST) };
        let mut bytes = [0; MOST];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(params));
        Self(bytes)
    }
}

/// Maximum number of address ranges that a launch clears: tickets, and each maximum.
pub const CLEARED: usize = 1 + EpilogueOperand::MAXIMA.len();

/// Launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Grid of the kernel.
    pub grid: Grid,
    /// Parameters, which the kernel receives by value.
    pub params: Params,
    /// Tensors of A, B, C, and D, whose tensor maps follow the parameters. `None` for a tensor that
    /// TMA does not move.
    pub tensors: [Option<TmaTensor>; TensorGemmParams::MAPS],
    /// Addresses that the launch sets to 0 before the kernel starts: tickets, and maxima of the
    /// epilogue.
    pub clear: [Option<AddressRange>; CLEARED],
    /// Grid of the second kernel, which reduces the split-K partials or adds the parts of sums, and
    /// receives the same parameters.
    pub reduction: Option<Grid>,
}

/// Half-open range of device addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressRange {
    /// First address.
    pub start: u64,
    /// First address after the range.
    pub end: u64,
}

/// Returns the addresses that a launch clears: its tickets, and the maxima of its epilogue.
pub(crate) fn cleared(
    desc: &GemmDesc,
    problem: &Problem,
    tickets: Option<AddressRange>,
) -> [Option<AddressRange>; CLEARED] {
    let element_bytes = desc.output.compute.element().bytes_of(1);
    let ranges = problem.maxima().map(|(view, count)| {
        let start = view.memory.address;
        AddressRange { start, end: start + count as u64 * u64::from(element_bytes) }
    });
    let mut all = tickets.into_iter().chain(ranges.filter(|range| range.end > range.start));
    [(); CLEARED].map(|()| all.next())
}

impl Launch {
    /// Creates a launch without tensors.
    pub fn new<T: Pod>(grid: Grid, params: &T) -> Self {
        Self {
            grid,
            params: Params::new(params),
            tensors: [None; 4],
            clear: [None; CLEARED],
            reduction: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn a_grid_is_whole_clusters_and_not_too_many() {
        let grid = |clusters, cluster| Grid { clusters, cluster, threads: 384, shared_bytes: 0 };
        assert_eq!(grid(66, 2).blocks(), Ok(132));
        assert_eq!(Grid::with_blocks(7, 32, 0).blocks(), Ok(7));
        let said =
            |clusters, cluster| grid(clusters, cluster).blocks().expect_err("refused").to_string();
        assert_eq!(said(1, 0), "blocks of a cluster = 0 is outside 1 to 8; try 1");
        assert_eq!(said(1, 16), "blocks of a cluster = 16 is outside 1 to 8; try 8");
        assert_eq!(
            said(1 << 30, 2),
            "number of tiles = 2147483648 exceeds 2147483647 (thread blocks of a grid); use a larger tile"
        );
        assert_eq!(
            said(u32::MAX, 8),
            "number of tiles = 34359738360 exceeds 2147483647 (thread blocks of a grid); use a larger tile"
        );
    }
}
