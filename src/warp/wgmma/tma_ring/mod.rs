//! Consumers of a TMA ring on Hopper's tensor cores: each warpgroup multiplies tiles in shared
//! memory with `wgmma`.
//!
//! Twin: `kernels/warp/wgmma/tma_ring.cuh`.

mod arithmetic;
mod complete;
mod cost;
mod cuda;
pub(crate) mod defaults;

use crate::{
    nest::GemmDesc,
    refusal::{
        Because, Field, Refusal, hold,
        rules::{explained, multiple, within},
    },
    schedule::ScheduleKind,
    shape::{Axis, Mn, OperandKind},
    threadblock::{
        MainloopKind, RoleOptions, StageTile, SwizzleMode,
        mainloop::MOST_STAGES,
        smem::Along,
        tensor_map::CHUNK_BYTES,
        tma_ring::{
            Consumer, ConsumerRegisters,
            pipeline::MOST_CONSUMERS,
            shapes::{MOST_TILE, ping_pong},
        },
    },
    warp::{
        TiledMma, WgmmaKnobs,
        wgmma::{
            FRAGMENT_REGISTERS, FragmentLoad, FragmentRows, MOST_COLUMNS, MmaWarpgroup, OperandA,
            OperandTile, ROWS, STAGE_BYTES, STEP_BYTES, STEPS, THREADS, columns_of, is_input,
        },
    },
};

/// Launch registers that one `wgmma` instruction needs in addition to its accumulators. Registers
/// that a consumer gains later by `setmaxnreg` do not count. Measured with 3 consumers, which
/// launch with 128 registers: NVRTC 13 needs 130 registers with 104 accumulators, 138 with 112, and
/// 146 with 120 (C7602).
pub(super) const BESIDE_ACCUMULATORS: u32 = 26;

/// Returns the multiplication of a stage by a warpgroup.
const fn consumer_mma(d: &GemmDesc) -> Result<TiledMma, Refusal> {
    let accumulator = d.output.accumulator;
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
            return Err(d.types().refused_by(d.op()));
        };
        return Ok(TiledMma::Wgmma(mma, Some(FragmentLoad { tile, rows })));
    }
    let a = hold!(tile(d, OperandKind::A));
    match MmaWarpgroup::new(OperandA::Shared(a), b, accumulator, d.instruction().n) {
        Some(mma) => Ok(TiledMma::Wgmma(mma, None)),
        None => Err(d.types().refused_by(d.op())),
    }
}

const A_FROM_REGISTERS: Because = Because::Words("a_operand = registers");

/// Returns an operand's tile of one stage.
const fn tile(d: &GemmDesc, operand: OperandKind) -> Result<OperandTile, Refusal> {
    let (element, mn) = match operand {
        OperandKind::A => (d.operands[0].stored, d.threadblock().m),
        OperandKind::B => (d.operands[1].stored, d.threadblock().n),
    };
    let along = WgmmaKnobs::along(d, operand);
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
        None => Err(d.types().refused_by(d.op())),
    }
}

impl TiledMma {
    /// Returns the loads that move A to registers, or `None` if A stays in shared memory.
    pub const fn fragment_load(&self) -> Option<&FragmentLoad> {
        match self {
            Self::Wgmma(_, Some(load)) => Some(load),
            _ => None,
        }
    }
}

impl WgmmaKnobs {
    /// Returns the tile of an operand in one stage. For an A operand in registers, it is the
    /// M-major tile that the warpgroup loads.
    pub(crate) const fn stage_tile(
        mma: &MmaWarpgroup,
        load: &Option<FragmentLoad>,
        operand: OperandKind,
    ) -> StageTile {
        StageTile::Warpgroup(match (operand, load, mma.a()) {
            (OperandKind::A, Some(load), _) => load.tile,
            (OperandKind::A, None, OperandA::Shared(tile)) => tile,
            (OperandKind::A, None, OperandA::Registers(_)) | (OperandKind::B, ..) => mma.b(),
        })
    }

    /// Returns the consumer of a description. `user` has the operands in memory, and `d` has the
    /// operands that the kernel multiplies; both are equal without emulation.
    ///
    /// # Errors
    /// The refusal of other types, and of tiles that warpgroups and instructions do not divide.
    pub(crate) const fn consumer(user: &GemmDesc, d: &GemmDesc) -> Result<Consumer, Refusal> {
        hold!(user.check_a_operand());
        hold!(user.check_emulation());
        hold!(user.check_promotion());
        // The ring refuses stages that are out of range.
        if let 2..=MOST_STAGES = d.stages() {
            let most = RoleOptions::most_pending(d.stages(), d.a_from_registers());
            hold!(within(Field::Pending, d.mma.pending() as u64, 0, most as u64));
        }
        if !user.types().is_of(d.op()) {
            return Err(user.types().refused_by(d.op()));
        }
        // Integer accumulators support only outputs of their own type. Other outputs use
        // `mma.sync`.
        let stored =
            !d.output.accumulator.is_integer() || d.output.element.is(d.output.accumulator);
        if !is_input(d.operands[0].stored) || !stored {
            let mainloop = d.mainloop.kind().name();
            let nearest = MainloopKind::without_producer().name();
            return Err(Refusal::other_mainloop(mainloop, d.op(), d.arch, nearest));
        }
        hold!(Self::check_shapes(d));
        let (tile, warp) = (d.threadblock(), d.warp());
        let repeats = Mn { m: warp.m / ROWS, n: warp.n / d.instruction().n };
        hold!(d.check_promoted_tiles(repeats));
        Ok(Consumer {
            mma: hold!(consumer_mma(d)),
            consumers: Mn { m: tile.m / warp.m, n: tile.n / warp.n },
            repeats,
            by_threads: false,
        })
    }

    /// Checks that instructions and warpgroups divide the tiles, and that a CTA supports the number
    /// of warpgroups.
    const fn check_shapes(d: &GemmDesc) -> Result<(), Refusal> {
        let (tb, warp, instruction) = (d.threadblock(), d.warp(), d.instruction());
        let depth = Self::depth(d) as u64;
        let step = d.operands[0].stored.elements_in(STEP_BYTES) as u64;
        let rules = [
            (Field::Instruction(Axis::M), instruction.m as u64, ROWS as u64, ROWS as u64),
            (Field::Instruction(Axis::K), instruction.k as u64, step, step),
            (Field::Instruction(Axis::N), instruction.n as u64, 8, MOST_COLUMNS as u64),
            (Field::Warp(Axis::K), warp.k as u64, depth, depth),
            (Field::Threadblock(Axis::K), tb.k as u64, depth, depth),
            (Field::Warp(Axis::M), warp.m as u64, ROWS as u64, MOST_TILE as u64),
            (Field::Warp(Axis::N), warp.n as u64, 8, MOST_TILE as u64),
            (Field::Threadblock(Axis::M), tb.m as u64, ROWS as u64, MOST_TILE as u64),
            (Field::Threadblock(Axis::N), tb.n as u64, 8, MOST_TILE as u64),
        ];
        let mut i = 0;
        while i < rules.len() {
            let (field, value, least, most) = rules[i];
            hold!(within(field, value, least, most));
            i += 1;
        }
        hold!(multiple(
            Field::Instruction(Axis::N),
            instruction.n as u64,
            columns_of(d.operands[0].stored.is_integer(), instruction.n) as u64,
            MOST_COLUMNS as u64
        ));
        hold!(multiple(Field::Warp(Axis::M), warp.m as u64, ROWS as u64, MOST_TILE as u64));
        // Columns are multiples of instructions and, for a row-major D, of the rows of the
        // narrowest swizzle. For a column-major D, 64 rows of them fill whole swizzles. Four
        // instructions suffice for all element types.
        let row = if d.frame.d_order().is_row() { 2 * CHUNK_BYTES } else { CHUNK_BYTES };
        let mut columns = instruction.n;
        while !d.output.element.bytes_of(columns).is_multiple_of(row) {
            columns += instruction.n;
        }
        if columns > MOST_TILE {
            let (field, n) = (Field::Instruction(Axis::N), instruction.n as u64);
            let least = d.output.element.elements_in(row) as u64;
            hold!(multiple(field, n, least, MOST_COLUMNS as u64));
        }
        hold!(multiple(Field::Warp(Axis::N), warp.n as u64, columns as u64, MOST_TILE as u64));
        hold!(multiple(Field::Threadblock(Axis::M), tb.m as u64, warp.m as u64, MOST_TILE as u64));
        hold!(multiple(Field::Threadblock(Axis::N), tb.n as u64, warp.n as u64, MOST_TILE as u64));
        let (field, warpgroups) =
            (Field::Warpgroups, (tb.m / warp.m) as u64 * (tb.n / warp.n) as u64);
        match d.schedule() {
            ScheduleKind::Cooperative => within(field, warpgroups, 1, MOST_CONSUMERS as u64),
            ScheduleKind::Pingpong => ping_pong(within(field, warpgroups, 1, 1)),
        }
    }

    /// Returns the number of accumulators per thread. Two `f16` accumulators share a register.
    pub(crate) const fn accumulators(mma: &MmaWarpgroup, repeats: Mn) -> u32 {
        repeats.m * repeats.n * (ROWS * mma.instruction().n() / THREADS)
    }

    /// Returns the registers of a consumer thread. If A comes from registers, each set holds the
    /// fragments of one stage.
    pub(crate) const fn consumer_registers(
        (mma, load): (&MmaWarpgroup, Option<FragmentLoad>),
        repeats: Mn,
        options: &RoleOptions,
    ) -> ConsumerRegisters {
        let accumulators = mma.instruction().registers();
        let set = repeats.m * STEPS * FRAGMENT_REGISTERS;
        ConsumerRegisters {
            accumulators: repeats.m * repeats.n * accumulators,
            partial_accumulators: match (load, options.promoted_tiles) {
                (None, Some(_)) => accumulators,
                _ => 0,
            },
            fragments: if load.is_some() { options.fragment_sets() * set } else { 0 },
            sum: 1,
            instruction: accumulators
                + BESIDE_ACCUMULATORS
                + if load.is_some() { FRAGMENT_REGISTERS } else { 0 },
        }
    }
}

#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod selection_tests;
