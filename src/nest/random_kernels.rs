//! Random numbers, and random kernels for the tests of the resolver.

use crate::{
    arch::{ArchKind::Sm90, OpKind::*},
    nest::{Class, DecompositionKind, Frame, GemmDesc, Knobs, Limits, Pins, SpillKind, WorkDesc},
    numeric::{
        ElementKind::{self, *},
        EmulationKind, Multiplied, TransformId,
    },
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{
        L2PromotionKind, Mainloop, MainloopKind, SwizzleKind, TmaRingKnobs,
        smem::{Along, SmemLayout},
    },
    warp::{
        AOperandKind, InterleaveKind, MmaSyncKnobs, PromotionKind, SaturateKind, SimtKnobs,
        UnrollKind, WarpMma, WgmmaKnobs,
        mma_sync::{MathOperator, WarpInstruction},
    },
};

/// A class in the user's frame, the frame of its kernels, and pins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub user: Class,
    pub frame: Frame,
    pub pins: Pins,
}

/// Random numbers. The same seed always gives the same numbers.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    pub(super) fn maybe<T: Copy>(&mut self, n: u64, all: &[T]) -> Option<T> {
        (self.once_in(n) && !all.is_empty()).then(|| self.of(all))
    }
}

/// Layouts of operands in shared memory.
pub(super) const SMEM: [SmemLayout; 6] = [
    SmemLayout::Auto,
    SmemLayout::Padded { along: Along::Mn, padding: 4 },
    SmemLayout::Padded { along: Along::K, padding: 8 },
    SmemLayout::Padded { along: Along::Mn, padding: 3 },
    SmemLayout::Swizzled { along: Along::Mn, bits: 3, base: 2, shift: 1 },
    SmemLayout::Swizzled { along: Along::K, bits: 2, base: 2, shift: 0 },
];

/// Returns a random kernel of a class, or `None` if the draw is invalid.
pub(super) fn kernel(draw: &mut Draw, user: &Class, frame: Frame) -> Option<GemmDesc> {
    let desc = GemmDesc::new(user, &knobs(draw, user)).enter(frame).settled();
    let desc = if draw.once_in(4) { desc.with_rows_as_columns() } else { desc };
    desc.check().is_ok().then_some(desc)
}

/// Returns a random kernel of a class with pins, or `None` if the draw is invalid.
pub(super) fn kernel_with(draw: &mut Draw, asked: &Asked) -> Option<GemmDesc> {
    let knobs = knobs(draw, &asked.user);
    let desc = GemmDesc::new(&asked.user, &knobs).pinned(asked.pins).enter(asked.frame).settled();
    let desc = if draw.once_in(4) { desc.with_rows_as_columns() } else { desc };
    desc.check().is_ok().then_some(desc)
}

fn knobs(draw: &mut Draw, user: &Class) -> Knobs {
    let on_hopper = matches!(user.arch, Sm90);
    let is_f32 = user.a.element.is(F32);
    match user.op {
        Simt if on_hopper && is_f32 && draw.once_in(2) => threads(draw),
        Simt => simt(draw, user),
        TensorOp if on_hopper && !user.a.element.is(F64) && !draw.once_in(3) => wgmma(draw, user),
        TensorOp if on_hopper && user.a.element.is(F64) && draw.once_in(2) => mma_sync_ring(draw),
        TensorOp => mma_sync(draw, user),
    }
}

fn limits(draw: &mut Draw, knobs: Knobs) -> Knobs {
    let (decomposition, split_k) = match draw.below(8) {
        0 => (DecompositionKind::StreamK, 1),
        1 => (DecompositionKind::DataParallel, 1),
        2 => (DecompositionKind::SplitKParallel, draw.of(&[1, 2, 11])),
        3 => (DecompositionKind::SplitKCluster, draw.of(&[2, 4, 8])),
        _ => (DecompositionKind::SplitK, draw.of(&[1, 1, 1, 2, 8])),
    };
    let swizzle = draw.of(&[knobs.work.swizzle, SwizzleKind::Hilbert, SwizzleKind::Grouped(4)]);
    let blocks_per_sm = if knobs.has_producer() { 1 } else { draw.of(&[1, 1, 1, 1, 2, 3, 4]) };
    let spills =
        draw.of(&[SpillKind::Refused, SpillKind::Refused, SpillKind::Refused, SpillKind::Allowed]);
    Knobs {
        work: WorkDesc { decomposition, split_k, swizzle, ..knobs.work },
        limits: Limits { blocks_per_sm, spills },
        ..knobs
    }
}

/// Returns transforms of elements of a type: to f32, and to the types that tensor cores multiply.
pub(super) fn transforms(stored: ElementKind) -> Vec<TransformId> {
    let has = [F32, F16, Bf16, Tf32].contains(&stored);
    let to = |multiplied| TransformId { hash: 1, stored, multiplied };
    [F32, Tf32, F16, Bf16].into_iter().filter(|_| has).map(to).collect()
}

/// Returns a random main loop without a producer.
fn mainloop(draw: &mut Draw, threadblock: Mnk, single: bool) -> Mainloop {
    let stages = match draw.below(6) {
        0 if single => Some(1),
        0..=2 => Some(2),
        _ => None,
    };
    let unroll = match stages {
        Some(1) => draw.of(&[UnrollKind::Full, UnrollKind::By(1), UnrollKind::By(4)]),
        _ => UnrollKind::Full,
    };
    let fed =
        |kind: &MainloopKind| !kind.has_producer() && (single || kind.fixed_stages() != Some(1));
    let any = || MainloopKind::ALL.into_iter().find(fed).expect("a main loop");
    let kind = MainloopKind::with_stages(stages).unwrap_or_else(any);
    let stages = stages.unwrap_or_else(|| draw.of(&[2, 3, 3, 4, 4, 5, 6, 8, 12]));
    Mainloop::new(kind, threadblock, stages, unroll)
}

fn simt(draw: &mut Draw, user: &Class) -> Knobs {
    let (sides, k) =
        ([8, 16, 16, 32, 32, 64, 64, 128], draw.of(&[8, 8, 8, 16, 16, 32, 12, 64, 10]));
    let warp = Mnk::new(draw.of(&sides), draw.of(&sides), k);
    let warps = [1, 1, 2, 2, 3, 4, 8];
    let tile =
        Mnk::new(warp.m * draw.of(&warps), warp.n * draw.of(&warps), k * draw.of(&[1, 1, 1, 2, 4]));
    let most = user.a.element.elements_in(16);
    let accesses = [1, 2, 4, 8, 16].map(|access: u32| access.min(most));
    let access = [draw.of(&accesses), draw.of(&accesses), draw.of(&[1, 2, 4])];
    let interleave = draw.of(&[
        InterleaveKind::Vector,
        InterleaveKind::Vector,
        InterleaveKind::Elements(1),
        InterleaveKind::Elements(8),
    ]);
    let mma = WarpMma::Simt(SimtKnobs { warp, thread: None, interleave });
    let knobs = Knobs::new(mainloop(draw, tile, true), mma, access);
    let smem = [(); 2].map(|()| if draw.once_in(4) { draw.of(&SMEM) } else { SmemLayout::Auto });
    let multiplied = [user.a.element, user.b.element].map(|stored| {
        let transforms = transforms(stored);
        match transforms.is_empty() || !draw.once_in(6) {
            true => Multiplied::Stored,
            false => Multiplied::Transformed(draw.of(&transforms)),
        }
    });
    limits(draw, Knobs { smem, multiplied, ..knobs })
}

fn mma_sync(draw: &mut Draw, user: &Class) -> Knobs {
    let emulation = match user.a.element {
        F32 => draw.of(&[EmulationKind::Tf32x3, EmulationKind::Tf32x3, EmulationKind::Bf16x1]),
        _ => EmulationKind::None,
    };
    let multiplied = [user.a.element, user.b.element].map(|stored| {
        let transforms = transforms(stored);
        match transforms.is_empty() || !draw.once_in(3) {
            true => Multiplied::from_emulation(emulation),
            false => Multiplied::Transformed(draw.of(&transforms)),
        }
    });
    let math = MathOperator::for_operands(multiplied, Frame::USER);
    let inputs = [user.a.element, user.b.element];
    let fits = |one: &WarpInstruction| one.sm() <= user.arch.sm();
    let instructions: Vec<_> = WarpInstruction::all()
        .filter_map(|one| WarpInstruction::new(math, inputs, user.accumulator, one.shape()))
        .filter(fits)
        .map(|one| one.shape())
        .collect();
    let instruction =
        if instructions.is_empty() { Mnk::new(16, 8, 8) } else { draw.of(&instructions) };
    let sides = [16, 32, 32, 48, 64, 64, 96, 128];
    let k = instruction.k * draw.of(&[1, 2, 2, 4, 8]);
    let warp = Mnk::new(draw.of(&sides), draw.of(&sides), k);
    let warps = [1, 1, 2, 2, 3, 4];
    let tile =
        Mnk::new(warp.m * draw.of(&warps), warp.n * draw.of(&warps), k * draw.of(&[1, 1, 1, 2]));
    let most = user.a.element.elements_in(16);
    let accesses = [most, most, most / 2, 4.min(most), 2.min(most), 1].map(|access| access.max(1));
    let access = [draw.of(&accesses), draw.of(&accesses), draw.of(&[1, 2, 2])];
    let saturate = if draw.once_in(8) { SaturateKind::On } else { SaturateKind::Off };
    let mma = WarpMma::MmaSync(MmaSyncKnobs { warp, instruction, saturate });
    let knobs = Knobs { multiplied, ..Knobs::new(mainloop(draw, tile, false), mma, access) };
    limits(draw, knobs)
}

/// Returns a random ring.
fn ring(draw: &mut Draw, threadblock: Mnk, schedule: ScheduleKind) -> Mainloop {
    let cluster = draw.of(&[
        Mn::ONE,
        Mn::ONE,
        Mn::ONE,
        Mn { m: 2, n: 1 },
        Mn { m: 1, n: 2 },
        Mn { m: 1, n: 4 },
        Mn { m: 3, n: 1 },
    ]);
    let stages = draw.of(&[2, 2, 3, 4, 5, 6, 8, 12, 16]);
    let l2_promotion = draw.of(&L2PromotionKind::ALL);
    Mainloop::TmaRing(TmaRingKnobs { threadblock, stages, cluster, schedule, l2_promotion })
}

/// Returns the knobs of a random kernel with a ring and `wgmma`.
fn wgmma(draw: &mut Draw, user: &Class) -> Knobs {
    let emulation = match user.a.element {
        F32 => draw.of(&[EmulationKind::Bf16x6, EmulationKind::Bf16x3, EmulationKind::F16x3]),
        _ => EmulationKind::None,
    };
    let math = emulation.term_type().unwrap_or(user.a.element);
    let (k, step) = (math.elements_in(128), math.elements_in(32));
    let columns = draw.of(&[8, 16, 32, 64, 64, 96, 128, 128, 160, 176, 192, 256]);
    let warp = Mnk::new(64 * draw.of(&[1, 1, 2, 3]), columns * draw.of(&[1, 1, 1, 2]), k);
    let grid = draw.of(&[(1, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3)]);
    let schedule = if grid == (1, 1) && !draw.once_in(3) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, k);
    let promotion = draw.of(&[PromotionKind::Never, PromotionKind::Never, PromotionKind::Stage]);
    let a_operand = draw.of(&[AOperandKind::Shared, AOperandKind::Shared, AOperandKind::Registers]);
    let mma = WarpMma::Wgmma(WgmmaKnobs {
        warp,
        instruction: Mnk::new(64, columns, step),
        a_operand,
        pending: draw.of(&[0, 1, 1, 2]),
        promotion,
    });
    let [a, c] = [user.a.element, user.output.element].map(|kind| kind.elements_in(16));
    let access = [a, a, draw.of(&[c, c, c, 1, 2])];
    let ring = ring(draw, tile, schedule);
    let multiplied = [Multiplied::from_emulation(emulation); 2];
    limits(draw, Knobs { multiplied, ..Knobs::new(ring, mma, access) })
}

/// Returns the warps of a tile along M and N, and a schedule.
fn grid_of_warps(draw: &mut Draw) -> ((u32, u32), ScheduleKind) {
    let grid = draw.of(&[(4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (8, 1), (6, 2), (3, 4), (12, 1)]);
    let schedule = if grid.0 * grid.1 == 4 && draw.once_in(2) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    (grid, schedule)
}

/// Returns the knobs of a random TMA-fed SIMT kernel.
fn threads(draw: &mut Draw) -> Knobs {
    let sides = [4, 8, 8, 12, 16];
    let (thread, lanes) =
        (Mnk::new(draw.of(&sides), draw.of(&sides), 1), draw.of(&[4, 4, 8, 2, 16]));
    let k = draw.of(&[8, 16, 16, 32, 64, 24]);
    let warp = Mnk::new(lanes * thread.m, 32 / lanes * thread.n, k);
    let (grid, schedule) = grid_of_warps(draw);
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, k);
    let mma =
        WarpMma::Simt(SimtKnobs { warp, thread: Some(thread), interleave: InterleaveKind::Vector });
    let knobs = Knobs::new(ring(draw, tile, schedule), mma, [4, 4, draw.of(&[1, 2, 4])]);
    limits(draw, knobs)
}

/// Returns the knobs of a random TMA-fed `mma.sync` kernel.
fn mma_sync_ring(draw: &mut Draw) -> Knobs {
    let sides = [16, 16, 32, 32, 48, 64, 128];
    let warp = Mnk::new(draw.of(&sides), draw.of(&sides), 16);
    let (grid, schedule) = grid_of_warps(draw);
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, 16);
    let (instruction, saturate) = (Mnk::new(16, 8, draw.of(&[4, 8])), SaturateKind::Off);
    let mma = WarpMma::MmaSync(MmaSyncKnobs { warp, instruction, saturate });
    let knobs = Knobs::new(ring(draw, tile, schedule), mma, [2, 2, draw.of(&[1, 2, 2])]);
    limits(draw, knobs)
}
