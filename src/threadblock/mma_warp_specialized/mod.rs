//! The main loop of Hopper: one warpgroup fills a ring of stages by the copy engine, the others multiply on the tensor cores, or, true
//! `f32`, on the CUDA cores (`op simt`; see `simt.rs` for what is different there).
//!
//! ```text
//! for each tile of D, in the order of the swizzle     blocks stay, and take the next tile; a cluster takes as many as it has blocks
//!     producer:   for each tile along K               wait until a stage is empty, copy A's and B's tile into it
//!     consumers:  for each tile along K               wait until it is full, multiply, let the stage before it go
//!                 for each slice of the tile of D     epilogue, to a staging buffer, from there to D by the copy engine
//! ```
//!
//! The threadblock tile is what a block computes at a time, 128 bytes of K deep. The warp tile is what a *warpgroup* computes: a
//! consumer. Its instruction is 64 x N; a consumer repeats it along M and N. Under the cooperative schedule all consumers multiply one
//! tile, each its part; under ping-pong two take whole tiles in turns, so that one multiplies while the other stores. Everything
//! else follows: [`WarpSpecialized`] is the description in values of the components.
//!
//! | knob | here |
//! |---|---|
//! | `stages` | stages of the ring, 2 to 16; as many as shared memory holds beside the staging of D |
//! | `cluster` | Mx1 shares B's tile among M blocks, 1xN shares A's; each copies its share to all |
//! | `promotion` | of fp8 and of parts of f32: a consumer multiplies each stage by itself, one instruction's tile after the other, and adds it to its sums in f32 |
//! | `source_a` | `registers`: A of 8 or 32 bits that is contiguous along M is copied as it lies, and a consumer brings it to registers, a stage while the one before is multiplied |
//! | `split` | of `f32`: its parts, several products of which make one of the user's |
//! | `align_c` | 16 bytes: C is read and D written by the copy engine; less: by threads, so many elements at a time |
//!
//! `f32` is multiplied in parts ([`numeric::split`](crate::numeric::split)): a call splits its operands first, and what follows is of the parts
//! ([`WarpSpecializedDesc::multiplied`]), several of whose tiles along K read the same block of K ([`SplitBlocks`](crate::numeric::split::SplitBlocks)).
//!
//! A description keeps the layouts that A and B have in memory. Tensor cores read elements of 8 and 32 bits along K alone, so that
//! is how the kernel reads them whatever the layout ([`WarpSpecialized::along`]), but for an A that a consumer brings to registers; threads
//! read along M and N. A call transposes an
//! operand that lies otherwise first, and lays out again one whose rows do not begin at multiples of 16 bytes
//! ([`Routes`](crate::call::Routes)).
//!
//! Twin: `kernels/threadblock/mma_warp_specialized.cuh`.

mod copies;
pub(crate) mod shapes;
mod simt;
mod stage;

use super::{
    Along, MainloopKind, Pipeline, SharedOperand, TensorSwizzle,
    pipeline::{LEAST_REGISTERS, MOST_STAGING},
    tensor_map::{CHUNK_BYTES, STRIDE_ALIGNMENT},
};
pub use crate::threadblock::mma_warp_specialized::stage::{ConsumerMma, StageTile};
use crate::{
    arch::{ArchKind, OpKind},
    desc::WarpSpecializedDesc,
    layout::Order,
    numeric::ElementKind,
    operand::{Axis, OperandKind},
    refusal::{Field, InstructionAlong, Refusal, Word, hold, rules::multiple},
    schedule::{RoleOptions, Roles, ScheduleKind},
    shape::Mn,
    threadblock::mma_warp_specialized::shapes::{MOST_COLUMNS, MOST_PARTS, MOST_TILE},
    warp::mma_simt::ThreadTiles,
    warp::mma_warpgroup::{
        FragmentLoad, FragmentRows, FragmentTile, MmaWarpgroup, OperandA, OperandTile, ROWS, STAGE_BYTES, Swizzle,
        WgmmaAccumulator, WgmmaInput,
    },
};

/// Groups of products under way when a consumer goes on to the next stage. Measured: none under way costs up to two hundredths.
const PENDING: u8 = 1;

/// A description of this family in values of its components.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WarpSpecialized {
    /// The ring, with the staging of D behind it.
    pub ring: Pipeline,
    /// Consumers along M and N of the block's tile. Where threads multiply, all are counted along M: warps make up the grid.
    pub consumers: Mn,
    /// Instructions' tiles along M and N of a consumer's tile; where threads multiply, 1 and 1.
    pub repeats: Mn,
    /// What a consumer does with a stage; its tiles are the block's.
    pub mma: ConsumerMma,
    /// What the schedules leave open.
    pub options: RoleOptions,
    /// The order of C and D, and so of slices.
    pub layout_c: Order,
    /// Columns of D in a slice, which has the rows of an instruction; 0 where threads store.
    pub slice_columns: u32,
    /// How a slice lies in its staging buffer, and the copy engine finds it.
    pub slice_swizzle: TensorSwizzle,
}

/// What a warpgroup does with a stage.
const fn consumer_mma(d: &WarpSpecializedDesc, accumulator: WgmmaAccumulator) -> Result<ConsumerMma, Refusal> {
    let refused = d.class.combined().refused_by(d.class.op);
    let b = hold!(tile(d, OperandKind::B));
    if d.a_from_registers() {
        let Some(input) = WgmmaInput::of(d.class.a.element) else { return Err(refused) };
        let row = (STAGE_BYTES / input.bytes()) as u64;
        // Whole boxes, and whole warp tiles, which are whole instructions: two make whole boxes where one does not.
        let (warp, most) = (d.knobs.warp.m as u64, MOST_TILE as u64);
        let whole = if warp.is_multiple_of(row) { warp } else { 2 * warp };
        if whole > most {
            hold!(multiple(Field::WarpMFromRegisters, warp, row, most));
        }
        hold!(multiple(Field::ThreadblockMFromRegisters, d.knobs.threadblock.m as u64, whole, most));
        // 8-bit elements are dealt out by a selector, which crosses rows for nothing. Neighbours of a column-major D are in order.
        let crossed = input.bytes() == 1 && d.class.output.layout.is_row();
        let rows = if crossed { FragmentRows::Crossed } else { FragmentRows::Paired };
        let (Ok(tile), Ok(mma)) = (
            FragmentTile::new(input, d.knobs.threadblock.m),
            MmaWarpgroup::new(OperandA::Registers(input), b, accumulator, d.knobs.instruction.n),
        ) else {
            return Err(refused);
        };
        return Ok(ConsumerMma::Registers(mma, FragmentLoad { tile, rows }));
    }
    let a = hold!(tile(d, OperandKind::A));
    match MmaWarpgroup::new(OperandA::Shared(a), b, accumulator, d.knobs.instruction.n) {
        Ok(mma) => Ok(ConsumerMma::Warpgroup(mma)),
        Err(_) => Err(refused),
    }
}

/// An operand's tile of one stage.
const fn tile(d: &WarpSpecializedDesc, operand: OperandKind) -> Result<OperandTile, Refusal> {
    let (element, mn) = match operand {
        OperandKind::A => (d.class.a.element, d.knobs.threadblock.m),
        OperandKind::B => (d.class.b.element, d.knobs.threadblock.n),
    };
    let refused = d.class.combined().refused_by(d.class.op);
    let Some(input) = WgmmaInput::of(element) else { return Err(refused) };
    let along = WarpSpecialized::along(d, operand);
    if along.is(Along::Mn) {
        // Every instruction begins where a box does; those of A have its 64 rows.
        let row = (STAGE_BYTES / input.bytes()) as u64;
        let (field, extent) = match operand {
            OperandKind::A => (
                Field::InstructionAlong(InstructionAlong { axis: Axis::M, operand: OperandKind::A }),
                d.knobs.instruction.m as u64,
            ),
            OperandKind::B => (
                Field::InstructionAlong(InstructionAlong { axis: Axis::N, operand: OperandKind::B }),
                d.knobs.instruction.n as u64,
            ),
        };
        hold!(multiple(field, extent, row, MOST_COLUMNS));
    }
    match OperandTile::new(input, along, Swizzle::Bytes128, mn) {
        Ok(tile) => Ok(tile),
        Err(_) => Err(refused),
    }
}

impl WarpSpecialized {
    /// The index along which a kernel reads an operand: that along which it is contiguous in memory, or K, where tensor cores read
    /// elements of its width no other way; threads read along MN. Where the two differ, what the kernel reads is the operand's transpose.
    pub const fn along(d: &WarpSpecializedDesc, operand: OperandKind) -> Along {
        let (element, k_contiguous) = match operand {
            OperandKind::A => (d.class.a.element, d.class.a.layout.is_row()),
            OperandKind::B => (d.class.b.element, !d.class.b.layout.is_row()),
        };
        if matches!(d.class.op, OpKind::Simt) {
            return Along::Mn;
        }
        match WgmmaInput::of(element) {
            Some(input)
                if !k_contiguous && (input.reads_along_mn() || matches!(operand, OperandKind::A) && d.a_from_registers()) =>
            {
                Along::Mn
            }
            _ => Along::K,
        }
    }

    /// The components of a description.
    ///
    /// # Errors
    ///
    /// What they are not made for: another operation or architecture, tiles that are no whole number of warpgroups' instructions,
    /// operands that no descriptor reaches, a cluster that does not share its tiles evenly.
    pub const fn of(d: &WarpSpecializedDesc) -> Result<Self, Refusal> {
        let user = d;
        let d = &d.multiplied();
        if !matches!(d.class.arch, ArchKind::Sm90) {
            return Err(Refusal::HopperAlone { mainloop: Word(MainloopKind::WarpSpecialized.name()), arch: d.class.arch });
        }
        hold!(user.check_source_a());
        hold!(user.check_split());
        if matches!(d.class.op, OpKind::Simt) {
            return Self::of_threads(d);
        }
        if !user.class.combined().is_of(d.class.op) {
            return Err(user.class.combined().refused_by(d.class.op));
        }
        hold!(Self::shapes(d));
        hold!(Self::cluster_shape(d));
        let accumulator = match d.class.accumulator {
            ElementKind::F16 => WgmmaAccumulator::F16,
            ElementKind::I32 => WgmmaAccumulator::S32,
            _ => WgmmaAccumulator::F32,
        };
        let mma = hold!(consumer_mma(d, accumulator));
        let consumers = Mn { m: d.knobs.threadblock.m / d.knobs.warp.m, n: d.knobs.threadblock.n / d.knobs.warp.n };
        let repeats = Mn { m: d.knobs.warp.m / ROWS, n: d.knobs.warp.n / d.knobs.instruction.n };
        let count = consumers.m * consumers.n;
        let in_turns = matches!(d.knobs.schedule, ScheduleKind::Pingpong);
        let (slice_columns, slice_swizzle) = Self::slice(d);
        let slices = repeats.m * (d.knobs.warp.n / slice_columns);
        let bare = Pipeline {
            stages: d.knobs.stages,
            stage_bytes: [mma.tile(OperandKind::A).bytes(), mma.tile(OperandKind::B).bytes()],
            consumers: if in_turns { PARTNERS } else { count },
            in_turns,
            multicast: Self::multicast(d),
            staging_buffers: 1,
            staging_bytes: d.class.output.element.bytes_of(ROWS * slice_columns),
            source: d.by_copy_engine() && d.class.output.epilogue.has_source(),
        };
        let ring =
            Pipeline { staging_buffers: Self::staging(&bare, slices, d.class.arch.machine().shared_bytes_each_of(1)), ..bare };
        let parts = match d.promotes() {
            true if repeats.m * repeats.n > MOST_PARTS => return Err(Self::too_many_parts(d, repeats.m)),
            true => Some((repeats.m * repeats.n) as u8),
            false => None,
        };
        let pending = if d.promotes() { 0 } else { PENDING };
        let registers = Self::registers(&ring);
        let fragments = d.a_from_registers();
        let options =
            RoleOptions { pending, promoted_parts: parts, fragments, slices: slices as u8, by_threads: false, registers };
        let this = Self { ring, consumers, repeats, mma, options, layout_c: d.class.output.layout, slice_columns, slice_swizzle }
            .with_fitting_sets();
        hold!(this.shared_evenly());
        hold!(ring.check());
        Ok(this)
    }

    /// The columns of a slice: rows of the widest swizzle that a consumer's columns are a whole number of. There is one:
    /// see [`shapes`](Self::shapes).
    ///
    /// Of a column-major D, as many columns as fit the same bytes and a consumer's columns are a whole number of: each is rows of the
    /// widest swizzle.
    const fn slice(d: &WarpSpecializedDesc) -> (u32, TensorSwizzle) {
        if !d.class.output.layout.is_row() {
            let mut columns = SLICE_BYTES / d.class.output.element.bytes_of(ROWS);
            while columns > COLUMNS && !d.knobs.warp.n.is_multiple_of(columns) {
                columns /= 2;
            }
            return (columns, TensorSwizzle::Bytes128);
        }
        let widths = [TensorSwizzle::Bytes128, TensorSwizzle::Bytes64, TensorSwizzle::Bytes32];
        let bytes = d.class.output.element.bytes_of(d.knobs.warp.n);
        let mut i = 0;
        while i + 1 < widths.len() && !bytes.is_multiple_of(CHUNK_BYTES << widths[i].bits()) {
            i += 1;
        }
        (d.class.output.element.elements_in(CHUNK_BYTES << widths[i].bits()), widths[i])
    }

    /// The most staging buffers that the slices are a whole number of, and that shared memory holds beside the stages: slices that
    /// have a buffer each wait for no other's store.
    const fn staging(bare: &Pipeline, slices: u32, available: u32) -> u32 {
        let mut buffers = if slices < MOST_STAGING { slices } else { MOST_STAGING };
        while buffers > 1 {
            let ring = Pipeline { staging_buffers: buffers, ..*bare };
            if slices.is_multiple_of(buffers) && ring.shared_bytes() <= available {
                return buffers;
            }
            buffers -= 1;
        }
        1
    }

    /// What a cluster shares.
    const fn multicast(d: &WarpSpecializedDesc) -> Option<SharedOperand> {
        match (d.knobs.cluster.m, d.knobs.cluster.n) {
            (1, 1) => None,
            (blocks, 1) => Some(SharedOperand { operand: OperandKind::B, blocks }),
            (_, blocks) => Some(SharedOperand { operand: OperandKind::A, blocks }),
        }
    }

    /// What the roles keep and take of the registers; `None` where one consumer has enough from the launch on.
    const fn registers(ring: &Pipeline) -> Option<[u8; 2]> {
        if ring.consumers < 2 {
            return None;
        }
        Some([LEAST_REGISTERS as u8, ring.registers_beside(LEAST_REGISTERS) as u8])
    }

    /// What each role does.
    pub fn roles(&self) -> Roles {
        self.options.spelled(&self.ring)
    }

    /// An operand's tile of a stage.
    pub const fn tile(&self, operand: OperandKind) -> StageTile {
        self.mma.tile(operand)
    }

    /// What a warpgroup does with a stage; `None` where threads multiply.
    pub const fn warpgroup(&self) -> Option<&MmaWarpgroup> {
        match &self.mma {
            ConsumerMma::Warpgroup(mma) | ConsumerMma::Registers(mma, _) => Some(mma),
            ConsumerMma::Threads(_) => None,
        }
    }

    /// What threads do with a stage; `None` where warpgroups multiply.
    pub const fn threads(&self) -> Option<&ThreadTiles> {
        match &self.mma {
            ConsumerMma::Warpgroup(_) | ConsumerMma::Registers(..) => None,
            ConsumerMma::Threads(tiles) => Some(tiles),
        }
    }

    /// How a warpgroup brings A to registers; `None` where it does not.
    pub const fn fragment_load(&self) -> Option<&FragmentLoad> {
        match &self.mma {
            ConsumerMma::Registers(_, load) => Some(load),
            ConsumerMma::Warpgroup(_) | ConsumerMma::Threads(_) => None,
        }
    }

    /// Which rows of an instruction's tile a thread's sums are of.
    pub const fn fragment_rows(&self) -> FragmentRows {
        match self.fragment_load() {
            Some(load) => load.rows,
            None => FragmentRows::Ordinary,
        }
    }
}

/// The most bytes of a slice: its rows, 128 bytes of each.
const SLICE_BYTES: u32 = ROWS * STAGE_BYTES;

/// What the columns of a slice of a column-major D are a multiple of: with rows of 128 bytes, whole periods of the swizzle.
const COLUMNS: u32 = 8;

/// Warpgroups that take tiles in turns.
const PARTNERS: u32 = 2;

impl WarpSpecializedDesc {
    /// Whether the copy engine moves C and D: where they are aligned for it, to 16 bytes, and threads do not multiply.
    pub(crate) const fn by_copy_engine(&self) -> bool {
        let aligned = self.class.output.element.bytes_of(self.knobs.align_c) >= STRIDE_ALIGNMENT as u32;
        matches!(self.class.op, OpKind::TensorOp) && aligned
    }

    /// Whether the kernel reads an operand's transpose: along the other index than the one that is contiguous in memory.
    pub const fn reads_transposed(&self, operand: OperandKind) -> bool {
        WarpSpecialized::along(self, operand).is(Along::K) != self.class.k_contiguous(operand)
    }

    /// The components; `None` of a description that is refused.
    pub const fn components(&self) -> Option<WarpSpecialized> {
        match WarpSpecialized::of(self) {
            Ok(components) => Some(components),
            Err(_) => None,
        }
    }
}
