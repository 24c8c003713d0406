//! The components of a warp-specialized description: the ring, its consumers, their instructions,
//! and the path of D. Invalid descriptions are refused.

use crate::{
    arch::ArchKind,
    nest::GemmDesc,
    refusal::{Refusal, hold},
    schedule::ScheduleKind,
    shape::{Axis, Mn, OperandKind},
    threadblock::{
        MainloopKind, Pipeline, RoleOptions, SharedOperand, StageTile, SwizzleMode,
        WarpSpecialized,
        smem::Along,
        tensor_map::CHUNK_BYTES,
        tma_ring::{Consumer, pipeline::MOST_STAGING},
    },
    warp::{
        TiledMma,
        warpgroup::{ROWS, STAGE_BYTES},
    },
};

impl WarpSpecialized {
    /// Returns the index along which a kernel reads an operand, in global and in shared memory. If
    /// it is not the contiguous index, the kernel reads the operand's transpose.
    pub const fn along(d: &GemmDesc, operand: OperandKind) -> Along {
        d.mma.along(d, operand)
    }

    /// Returns the components of a description.
    ///
    /// # Errors
    /// The refusal of another operation or architecture; of tiles that consumers and instructions
    /// do not divide; of operands that no descriptor can address; and of clusters that cannot share
    /// tiles evenly.
    pub const fn new(d: &GemmDesc) -> Result<Self, Refusal> {
        let user = d;
        let d = &d.multiplied();
        if !matches!(d.arch, ArchKind::Sm90) {
            return Err(Refusal::hopper_only(MainloopKind::TmaRing.name(), d.arch));
        }
        let Consumer { mma, consumers, repeats, by_threads } = hold!(d.mma.consumer(user, d));
        hold!(Self::cluster_shape(d));
        let pingpong = matches!(d.schedule(), ScheduleKind::Pingpong);
        let unstaged = Pipeline {
            stages: d.stages(),
            stage_bytes: [
                StageTile::read_by(&mma, OperandKind::A).bytes(),
                StageTile::read_by(&mma, OperandKind::B).bytes(),
            ],
            consumers: if pingpong { PARTNERS } else { consumers.count() },
            pingpong,
            multicast: Self::multicast(d),
            gathered: [d.operands[0].indexed, d.operands[1].indexed],
            slices: d.cluster_slices(mma.consumer_accumulators(repeats)),
            staging_buffers: 0,
            staging_bytes: 0,
            vector_bytes: 0,
            source: d.by_tma() && d.epilogue.has_source(),
        };
        let (ring, subtile) = match by_threads {
            true => (unstaged, Subtile::NONE),
            false => Self::staged(d, unstaged, repeats),
        };
        let promoted_tiles = if d.promotes() { Some((repeats.m * repeats.n) as u8) } else { None };
        let options = RoleOptions {
            pending: if d.promotes() { 0 } else { d.mma.pending() as u8 },
            promoted_tiles,
            fragments: d.a_from_registers(),
            subtiles: subtile.count as u8,
            split_k: d.has_slices(),
            by_threads,
            groups_k: matches!(d.work.mode.groups(), Some(Axis::K)),
            registers: Self::registers(&ring, &mma),
        };
        let this = Self {
            ring,
            consumers,
            repeats,
            mma,
            options,
            grouped: d.work.mode.groups().is_some(),
            array: d.work.mode.is_array(),
            gate: d.gate_map(d.threadblock()),
            layout_c: d.frame.d_order(),
            subtile_columns: subtile.columns,
            subtile_swizzle: subtile.swizzle,
        }
        .with_fitting_sets();
        hold!(this.shared_evenly());
        hold!(this.whole_stages());
        hold!(ring.check());
        Ok(this)
    }

    /// Returns the ring with buffers through which consumers store subtiles of D, and the subtile.
    pub(crate) const fn staged(
        d: &GemmDesc,
        unstaged: Pipeline,
        repeats: Mn,
    ) -> (Pipeline, Subtile) {
        let part = Mn { m: d.warp().m, n: d.warp_columns_of_d() };
        let vector_bytes = d.epilogue.vector_bytes(d.output.compute, part);
        let unstaged = Pipeline { staging_buffers: 1, vector_bytes, ..unstaged };
        let available = d.arch.machine().shared_bytes_each_of(1);
        let (columns, swizzle) = Self::subtile(d, &unstaged, available);
        let count = repeats.m * (d.warp_columns_of_d() / columns);
        let staging_bytes = d.output.element.bytes_of(ROWS * columns);
        let bare = Pipeline { staging_bytes, ..unstaged };
        let staging_buffers = Self::staging(&bare, count, available);
        (Pipeline { staging_buffers, ..bare }, Subtile { count, columns, swizzle })
    }

    /// Returns the columns of a subtile and its swizzle. The columns fill rows of the widest
    /// swizzle that divides a consumer's columns. The rules of `wgmma` guarantee that one
    /// does.
    ///
    /// For a column-major D, a subtile has as many columns as fit the same bytes and divide a
    /// consumer's columns. Each column is a row of the widest swizzle. If A comes from registers,
    /// the number is a power of two. Otherwise, if only eight (sixteen for bytes) divides the
    /// columns, as for 152, all columns are one subtile if shared memory holds it. The smallest
    /// subtile is only a kilobyte, with a store of its own.
    const fn subtile(d: &GemmDesc, unstaged: &Pipeline, available: u32) -> (u32, SwizzleMode) {
        if !d.frame.d_order().is_row() {
            let element = d.output.element;
            // Staging buffers have whole swizzles of 1024 bytes.
            let least = if element.bytes_of(1) == 1 { 2 * COLUMNS } else { COLUMNS };
            let mut columns = SUBTILE_BYTES / element.bytes_of(ROWS);
            while columns > least && !d.warp().n.is_multiple_of(columns) {
                columns = if d.a_from_registers() { columns / 2 } else { columns - least };
            }
            let whole = Pipeline {
                staging_bytes: d.output.element.bytes_of(ROWS * d.warp().n),
                ..*unstaged
            };
            if columns == least && !d.a_from_registers() && whole.shared_bytes() <= available {
                columns = d.warp().n;
            }
            // A column of 64 bytes is a row of its own swizzle.
            let narrow = element.bytes_of(ROWS) < STAGE_BYTES;
            let swizzle = if narrow { SwizzleMode::Bytes64 } else { SwizzleMode::Bytes128 };
            return (columns, swizzle);
        }
        let widths = [SwizzleMode::Bytes128, SwizzleMode::Bytes64, SwizzleMode::Bytes32];
        let bytes = d.output.element.bytes_of(d.warp_columns_of_d());
        let mut i = 0;
        while i + 1 < widths.len() && !bytes.is_multiple_of(CHUNK_BYTES << widths[i].bits()) {
            i += 1;
        }
        (d.output.element.elements_in(CHUNK_BYTES << widths[i].bits()), widths[i])
    }

    /// Returns the largest number of staging buffers that divides the subtiles and fits in shared
    /// memory next to the stages. A subtile with its own buffer waits for no other store.
    const fn staging(bare: &Pipeline, subtiles: u32, available: u32) -> u32 {
        let mut buffers = if subtiles < MOST_STAGING { subtiles } else { MOST_STAGING };
        while buffers > 1 {
            let ring = Pipeline { staging_buffers: buffers, ..*bare };
            if subtiles.is_multiple_of(buffers) && ring.shared_bytes() <= available {
                return buffers;
            }
            buffers -= 1;
        }
        1
    }

    /// Returns the operand that the CTAs of a cluster share. Each CTA gathers its own lines of an
    /// operand, because `cp.async` writes only to the shared memory of its own CTA.
    pub(crate) const fn multicast(d: &GemmDesc) -> Option<SharedOperand> {
        let shared = match (d.mainloop.cluster().m, d.mainloop.cluster().n) {
            (1, 1) => return None,
            (blocks, 1) => SharedOperand { operand: OperandKind::B, blocks },
            (_, blocks) => SharedOperand { operand: OperandKind::A, blocks },
        };
        if d.operands[shared.operand.index()].indexed { None } else { Some(shared) }
    }

    /// Returns the registers of a producer thread and of a consumer thread. `None` if there is one
    /// consumer, for which the registers of the launch suffice.
    pub(crate) const fn registers(ring: &Pipeline, mma: &TiledMma) -> Option<[u8; 2]> {
        if ring.consumers < 2 {
            return None;
        }
        let producer = mma.producer_registers(ring);
        Some([producer as u8, ring.registers_beside(producer) as u8])
    }
}

/// Subtiles in which a consumer stores its tile of D.
pub(crate) struct Subtile {
    /// Number per consumer; 0 if threads store D from registers.
    count: u32,
    columns: u32,
    swizzle: SwizzleMode,
}

impl Subtile {
    const NONE: Self = Self { count: 0, columns: 0, swizzle: SwizzleMode::None };
}

/// Maximum bytes of a subtile: 128 bytes of each row.
const SUBTILE_BYTES: u32 = ROWS * STAGE_BYTES;

/// Divisor of the columns of a subtile of a column-major D. With rows of 128 bytes, the columns
/// fill whole periods of the swizzle.
const COLUMNS: u32 = 8;

/// Number of consumer warpgroups with ping-pong.
pub(crate) const PARTNERS: u32 = 2;

impl GemmDesc {
    /// Returns the MMA of a consumer, which may multiply the terms of an emulated f32. It is
    /// arbitrary for an invalid description.
    pub(crate) const fn tiled_mma_on_ring(&self) -> TiledMma {
        match self.components() {
            Some(components) => components.mma,
            None => TiledMma::Unsupported,
        }
    }

    /// Returns the components of a kernel with a TMA ring. `None` for another main loop, and for an
    /// invalid description.
    pub const fn components(&self) -> Option<WarpSpecialized> {
        match WarpSpecialized::new(self) {
            Ok(components) if self.has_producer() => Some(components),
            _ => None,
        }
    }
}
