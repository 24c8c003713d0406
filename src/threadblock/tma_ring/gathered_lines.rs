//! Lines that the producer of a TMA ring gathers: the part of each thread, and the registers of the
//! producer.
//!
//! TMA copies boxes of neighboring lines. If an index list selects the lines of an operand, the
//! four producer warps copy them instead, with `cp.async` to the addresses that TMA would write. A
//! line is a row of A or a column of B that is contiguous along K. It has 128 bytes per stage, in
//! chunks of 16 bytes.
//!
//! ```text
//! thread t, step s:   line t / 8 + 16 * s,   chunk t mod 8      8 threads copy one line
//! ```
//!
//! A thread loads the indices of its lines once per tile of D. Chunks beyond K, and lines beyond
//! the operand, are zeros.
//!
//! Twin: `kernels/threadblock/tma_ring/gathered_lines.cuh`.

use crate::{
    layout::index_map::{Coord, IndexMap, at},
    nest::GemmDesc,
    shape::OperandKind,
    threadblock::{
        Pipeline, StageTile, WarpSpecialized, smem::Along, tensor_map::CHUNK_BYTES,
        tma_ring::pipeline::LEAST_REGISTERS,
    },
    warp::{
        TiledMma,
        warpgroup::{STAGE_BYTES, WARPS},
        wgmma::OperandTile,
    },
};

/// Threads that gather: the producer warpgroup.
const THREADS: u32 = WARPS * 32;

/// Threads that copy the chunks of one line.
const LINE_THREADS: u32 = STAGE_BYTES / CHUNK_BYTES;

/// Registers of a gathering thread other than indices: the ring position, the walk over tiles, and
/// addresses. With this value, `tests/nvrtc/kernels/wgmma_ring/gathered.rs` finds no spills.
const OVERHEAD: u32 = 32;

/// Map from (thread of the producer, step) to the offset of the thread's chunk in the tile, in
/// elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatheredLines(pub OperandTile);

impl GatheredLines {
    /// Returns the lines that a thread copies per stage.
    pub const fn steps(&self) -> u32 {
        self.0.mn().div_ceil(THREADS / LINE_THREADS)
    }
}

impl IndexMap for GatheredLines {
    fn domain(&self) -> Coord {
        at(THREADS, self.steps())
    }

    fn codomain(&self) -> u32 {
        self.0.codomain()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let mn = point.row / LINE_THREADS + point.column * (THREADS / LINE_THREADS);
        let k = point.row % LINE_THREADS * self.0.input().elements_in(CHUNK_BYTES);
        self.0.at(at(mn, k))
    }
}

/// Returns the registers of a producer thread. A gathering thread holds one index per line.
pub(crate) const fn producer_registers(ring: &Pipeline, mma: &TiledMma) -> u32 {
    if !ring.gathers() {
        return LEAST_REGISTERS;
    }
    let (mut registers, mut i) = (OVERHEAD, 0);
    while i < OperandKind::BOTH.len() {
        let tile = StageTile::read_by(mma, OperandKind::BOTH[i]);
        if let (true, StageTile::Warpgroup(tile)) = (ring.gathered[i], tile) {
            registers += GatheredLines(tile).steps();
        }
        i += 1;
    }
    registers.next_multiple_of(8)
}

impl WarpSpecialized {
    /// Returns the map by which the producer gathers an operand. `None` if TMA copies it.
    pub const fn gathered_lines(&self, operand: OperandKind) -> Option<GatheredLines> {
        match (self.ring.gathered[operand.index()], self.tile(operand)) {
            (true, StageTile::Warpgroup(tile)) => Some(GatheredLines(tile)),
            _ => None,
        }
    }
}

impl GemmDesc {
    /// Returns whether a producer of this kernel's kind can gather the lines of an operand for
    /// `wgmma`. They must be contiguous along K. A pass decomposes the operands of emulated f32.
    pub(crate) const fn gathers_along_k(&self, operand: OperandKind) -> bool {
        !self.emulation().decomposes()
            && self.k_contiguous(operand)
            && WarpSpecialized::along(self, operand).is(Along::K)
    }

    /// Returns whether the producer of this kernel gathers the lines of an operand. The registers
    /// must suffice if the producer gathers each operand that it can.
    pub(crate) const fn producer_gathers(&self, operand: OperandKind) -> bool {
        if !self.gathers_along_k(operand) {
            return false;
        }
        let (mut all, mut i) = (*self, 0);
        while i < OperandKind::BOTH.len() {
            all.operands[i].indexed = self.gathers_along_k(OperandKind::BOTH[i]);
            i += 1;
        }
        all.check().is_ok()
    }
}
