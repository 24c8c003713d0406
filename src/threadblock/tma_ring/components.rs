//! The components of a warp-specialized description: the ring, its consumers, their instructions,
//! and the path of D. Invalid descriptions are refused.

use crate::{
    arch::{ArchKind, OpKind},
    nest::GemmDesc,
    operand::{Axis, OperandKind},
    refusal::{
        Because, Field, Refusal, hold,
        rules::{explained, multiple, within},
    },
    schedule::ScheduleKind,
    shape::Mn,
    smem::Along,
    threadblock::{
        MainloopKind, Pipeline, RoleOptions, SharedOperand, StageTile, SwizzleMode,
        WarpSpecialized,
        tensor_map::{CHUNK_BYTES, STRIDE_ALIGNMENT},
        tma_ring::{
            pipeline::{LEAST_REGISTERS, MOST_STAGES, MOST_STAGING},
            shapes::{MOST_PROMOTED_TILES, MOST_TILE},
        },
    },
    warp::{
        TiledMma,
        wgmma::{
            FragmentLoad, FragmentRows, MOST_COLUMNS, MmaWarpgroup, OperandA, OperandTile, ROWS,
            STAGE_BYTES, THREADS, is_input, reads_along_mn,
        },
    },
};

/// Returns the multiplication of a stage by a warpgroup.
const fn consumer_mma(d: &GemmDesc) -> Result<TiledMma, Refusal> {
    let (refused, accumulator) = (d.types().refused_by(d.op()), d.output.accumulator);
    let b = hold!(tile(d, OperandKind::B));
    if d.a_from_registers() {
        let input = d.operands[0].stored;
        let row = input.elements_in(STAGE_BYTES) as u64;
        // A tile consists of whole boxes and whole warp tiles. Two warp tiles fill whole boxes if
        // one does not.
        let (warp, most) = (d.warp().m as u64, MOST_TILE as u64);
        let whole = if warp.is_multiple_of(row) { warp } else { 2 * warp };
        if whole > most {
            let rows = multiple(Field::Warp(Axis::M), warp, row, most);
            hold!(explained(rows, A_FROM_REGISTERS));
        }
        let rows = multiple(Field::Threadblock(Axis::M), d.threadblock().m as u64, whole, most);
        hold!(explained(rows, A_FROM_REGISTERS));
        // A byte selector distributes 8-bit elements, so crossing their rows costs nothing. A
        // column-major D needs adjacent rows in order.
        let crossed = input.bits() == 8 && d.frame.d_order().is_row();
        let rows = if crossed { FragmentRows::Crossed } else { FragmentRows::Paired };
        let (Some(tile), Some(mma)) = (
            OperandTile::for_fragments(input, d.threadblock().m),
            MmaWarpgroup::new(OperandA::Registers(input), b, accumulator, d.instruction().n),
        ) else {
            return Err(refused);
        };
        return Ok(TiledMma::Wgmma(mma, Some(FragmentLoad { tile, rows })));
    }
    let a = hold!(tile(d, OperandKind::A));
    match MmaWarpgroup::new(OperandA::Shared(a), b, accumulator, d.instruction().n) {
        Some(mma) => Ok(TiledMma::Wgmma(mma, None)),
        None => Err(refused),
    }
}

const A_FROM_REGISTERS: Because = Because::Words("a_operand = registers");

/// Returns an operand's tile of one stage.
const fn tile(d: &GemmDesc, operand: OperandKind) -> Result<OperandTile, Refusal> {
    let (element, mn) = match operand {
        OperandKind::A => (d.operands[0].stored, d.threadblock().m),
        OperandKind::B => (d.operands[1].stored, d.threadblock().n),
    };
    let refused = d.types().refused_by(d.op());
    let along = WarpSpecialized::along(d, operand);
    if along.is(Along::Mn) {
        // Each instruction begins at the start of a box. Instructions have 64 rows of A.
        let row = element.elements_in(STAGE_BYTES) as u64;
        let extent = match operand {
            OperandKind::A => d.instruction().m as u64,
            OperandKind::B => d.instruction().n as u64,
        };
        let field = Field::Instruction(operand.axis());
        hold!(explained(
            multiple(field, extent, row, MOST_COLUMNS as u64),
            Because::Major { operand, along_k: false }
        ));
    }
    match OperandTile::new(element, along, SwizzleMode::Bytes128, mn) {
        Some(tile) => Ok(tile),
        None => Err(refused),
    }
}

impl WarpSpecialized {
    /// Returns the index along which a kernel reads an operand. It is the contiguous index in
    /// global memory if the tensor cores support that for the element's width, and K otherwise.
    /// SIMT kernels read along M and N. If the index is not the contiguous one, the kernel reads
    /// the operand's transpose.
    pub const fn along(d: &GemmDesc, operand: OperandKind) -> Along {
        let (element, k_contiguous) = (d.operand(operand).stored, d.k_contiguous(operand));
        if matches!(d.op(), OpKind::Simt) {
            return Along::Mn;
        }
        let read = reads_along_mn(element)
            || is_input(element) && matches!(operand, OperandKind::A) && d.a_from_registers();
        if !k_contiguous && read { Along::Mn } else { Along::K }
    }

    /// Returns the components of a description.
    ///
    /// # Errors
    /// The refusal of another operation or architecture; of tiles that warpgroups and instructions
    /// do not divide; of operands that no descriptor can address; and of clusters that cannot share
    /// tiles evenly.
    pub const fn new(d: &GemmDesc) -> Result<Self, Refusal> {
        let user = d;
        let d = &d.multiplied();
        if !matches!(d.arch, ArchKind::Sm90) {
            return Err(Refusal::hopper_only(MainloopKind::TmaRing.name(), d.arch));
        }
        hold!(user.check_a_operand());
        hold!(user.check_emulation_ring());
        // The ring refuses stages that are out of range.
        if let 2..=MOST_STAGES = d.stages() {
            let most = RoleOptions::most_pending(d.stages(), d.a_from_registers());
            hold!(within(Field::Pending, d.mma.pending() as u64, 0, most as u64));
        }
        if matches!(d.op(), OpKind::Simt) {
            return Self::new_simt(d);
        }
        if !user.types().is_of(d.op()) {
            return Err(user.types().refused_by(d.op()));
        }
        // Integer accumulators support only outputs of their own type. Other outputs use
        // `mma.sync`.
        let stored =
            !d.output.accumulator.is_integer() || d.output.element.is(d.output.accumulator);
        if !is_input(d.operands[0].stored) || !stored {
            let (mainloop, nearest) =
                (MainloopKind::TmaRing.name(), MainloopKind::Multistage.name());
            return Err(Refusal::other_mainloop(mainloop, d.op(), d.arch, nearest));
        }
        hold!(Self::shapes(d));
        hold!(Self::cluster_shape(d));
        let mma = hold!(consumer_mma(d));
        let consumers = Mn { m: d.threadblock().m / d.warp().m, n: d.threadblock().n / d.warp().n };
        let repeats = Mn { m: d.warp().m / ROWS, n: d.warp().n / d.instruction().n };
        let count = consumers.m * consumers.n;
        let pingpong = matches!(d.schedule(), ScheduleKind::Pingpong);
        let unstaged = Pipeline {
            stages: d.stages(),
            stage_bytes: [
                StageTile::of_mma(&mma, OperandKind::A).bytes(),
                StageTile::of_mma(&mma, OperandKind::B).bytes(),
            ],
            consumers: if pingpong { PARTNERS } else { count },
            pingpong,
            multicast: Self::multicast(d),
            slices: d.cluster_slices(repeats.m * repeats.n * (ROWS * d.instruction().n / THREADS)),
            staging_buffers: 1,
            staging_bytes: 0,
            source: d.by_tma() && d.epilogue.has_source(),
        };
        let available = d.arch.machine().shared_bytes_each_of(1);
        let (subtile_columns, subtile_swizzle) = Self::subtile(d, &unstaged, available);
        let subtiles = repeats.m * (d.warp().n / subtile_columns);
        let bare = Pipeline {
            staging_bytes: d.output.element.bytes_of(ROWS * subtile_columns),
            ..unstaged
        };
        let ring = Pipeline { staging_buffers: Self::staging(&bare, subtiles, available), ..bare };
        let slices = match d.promotes() {
            true if repeats.m * repeats.n > MOST_PROMOTED_TILES => {
                return Err(Self::too_many_promoted_tiles(d, repeats.m));
            }
            true => Some((repeats.m * repeats.n) as u8),
            false => None,
        };
        let pending = if d.promotes() { 0 } else { d.mma.pending() as u8 };
        let registers = Self::registers(&ring);
        let fragments = d.a_from_registers();
        let options = RoleOptions {
            pending,
            promoted_tiles: slices,
            fragments,
            subtiles: subtiles as u8,
            split_k: d.has_slices(),
            by_threads: false,
            registers,
        };
        let this = Self {
            ring,
            consumers,
            repeats,
            mma,
            options,
            grouped: d.work.mode.groups().is_some(),
            array: d.work.mode.is_array(),
            layout_c: d.frame.d_order(),
            subtile_columns,
            subtile_swizzle,
        }
        .with_fitting_sets();
        hold!(this.shared_evenly());
        hold!(ring.check());
        Ok(this)
    }

    /// Returns the columns of a subtile and its swizzle. The columns fill rows of the widest
    /// swizzle that divides a consumer's columns. [`shapes`](Self::shapes) guarantees that one
    /// does.
    ///
    /// For a column-major D, a subtile has as many columns as fit the same bytes and divide a
    /// consumer's columns. Each column is a row of the widest swizzle. If A comes from registers,
    /// the number is a power of two. Otherwise, if only eight divides the columns, as for 152, all
    /// columns are one subtile if shared memory holds it. A subtile of eight columns is only a
    /// kilobyte, with a store of its own.
    const fn subtile(d: &GemmDesc, unstaged: &Pipeline, available: u32) -> (u32, SwizzleMode) {
        if !d.frame.d_order().is_row() {
            let mut columns = SUBTILE_BYTES / d.output.element.bytes_of(ROWS);
            while columns > COLUMNS && !d.warp().n.is_multiple_of(columns) {
                columns = if d.a_from_registers() { columns / 2 } else { columns - COLUMNS };
            }
            let whole = Pipeline {
                staging_bytes: d.output.element.bytes_of(ROWS * d.warp().n),
                ..*unstaged
            };
            if columns == COLUMNS && !d.a_from_registers() && whole.shared_bytes() <= available {
                columns = d.warp().n;
            }
            return (columns, SwizzleMode::Bytes128);
        }
        let widths = [SwizzleMode::Bytes128, SwizzleMode::Bytes64, SwizzleMode::Bytes32];
        let bytes = d.output.element.bytes_of(d.warp().n);
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

    /// Returns the operand that the CTAs of a cluster share.
    pub(crate) const fn multicast(d: &GemmDesc) -> Option<SharedOperand> {
        match (d.mainloop.cluster().m, d.mainloop.cluster().n) {
            (1, 1) => None,
            (blocks, 1) => Some(SharedOperand { operand: OperandKind::B, blocks }),
            (_, blocks) => Some(SharedOperand { operand: OperandKind::A, blocks }),
        }
    }

    /// Returns the registers of a producer thread and of a consumer thread. `None` if there is one
    /// consumer, for which the registers of the launch suffice.
    pub(crate) const fn registers(ring: &Pipeline) -> Option<[u8; 2]> {
        if ring.consumers < 2 {
            return None;
        }
        Some([LEAST_REGISTERS as u8, ring.registers_beside(LEAST_REGISTERS) as u8])
    }
}

/// Maximum bytes of a subtile: 128 bytes of each row.
const SUBTILE_BYTES: u32 = ROWS * STAGE_BYTES;

/// Divisor of the columns of a subtile of a column-major D. With rows of 128 bytes, the columns
/// fill whole periods of the swizzle.
const COLUMNS: u32 = 8;

/// Number of consumer warpgroups with ping-pong.
pub(crate) const PARTNERS: u32 = 2;

impl GemmDesc {
    /// Returns whether TMA moves C and D. They must be aligned to 16 bytes, and the kernel must use
    /// tensor cores.
    pub(crate) const fn by_tma(&self) -> bool {
        let aligned = self.output.element.bytes_of(self.output.access) >= STRIDE_ALIGNMENT as u32;
        matches!(self.op(), OpKind::TensorOp) && aligned
    }

    /// Returns whether the kernel reads an operand's transpose, along an index that is not
    /// contiguous in global memory.
    pub const fn reads_transposed(&self, operand: OperandKind) -> bool {
        WarpSpecialized::along(self, operand).is(Along::K) != self.k_contiguous(operand)
    }

    /// Returns whether the kernel reads the output of a pass for any address of its operands.
    pub const fn reads_what_passes_make(&self) -> bool {
        let transposes =
            self.reads_transposed(OperandKind::A) || self.reads_transposed(OperandKind::B);
        transposes || self.emulation().decomposes()
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
