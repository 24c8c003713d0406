//! Descriptions drawn from all that `check` accepts, the same one for the same seed: for every suite that needs any.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod coverage;

use falchion::{
    arch::{ArchKind, OpKind},
    desc::{GemmDesc, Knobs, SpillKind},
    epilogue::{EpilogueDesc, LinearCombination, Node},
    layout::Order,
    numeric::{COMBINATIONS, Combined, ComputeKind},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{Along, MainloopKind, SmemLayout, SwizzleKind},
    verify::draw,
    warp::{InterleaveKind, UnrollKind},
};

/// A sequence of numbers from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
    index: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds are to have nothing in common.
        Self { seed: draw(seed, 0x5eed), index: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.index += 1;
        draw(self.seed, self.index)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What is wanted of a description.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its threadblock tile is at most so many products.
    pub largest_tile: u32,
    /// Only this architecture's instructions.
    pub arch: Option<ArchKind>,
    /// Only linear combinations, and no kernel that may spill.
    pub plain: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { largest_tile: u32::MAX, arch: None, plain: false }
    }
}

/// Epilogues beside the linear combination. Scalars are alpha and beta; s2 is 0.
const EPILOGUES: &[&str] = &[
    "relu(alpha * acc + beta * source)",
    "clamp(alpha * acc + beta * source, -20, 50)",
    "alpha * acc",
    "beta * source + alpha * relu(acc)",
    "max(alpha * acc, beta * source) + 3",
    "alpha * (acc + beta * source)",
    "multiply(min(acc, 3), alpha * acc) + beta * source",
    "acc",
    "alpha * acc + s2 * source",
];

/// Main loops whose threads all follow one schedule.
pub const ONE_SCHEDULE: [MainloopKind; 3] = [MainloopKind::SingleStage, MainloopKind::Pipelined, MainloopKind::Multistage];

/// A legal description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let mut random = Random::new(seed);
    // The element types stay while the rest is drawn again, so that each has its share.
    let types = random.pick(COMBINATIONS);
    let arch = wanted.arch.unwrap_or(random.pick(&ArchKind::ALL));
    let mainloop = random.pick(&ONE_SCHEDULE);
    for _ in 0..100_000 {
        let desc = attempt(&mut random, types, arch, mainloop, wanted.plain);
        if desc.check().is_ok() && desc.threadblock.m * desc.threadblock.n * desc.threadblock.k <= wanted.largest_tile {
            return desc;
        }
        if mainloop == MainloopKind::Multistage && !arch.copies_asynchronously() {
            return description(seed.wrapping_mul(31).wrapping_add(7), wanted);
        }
    }
    panic!("no legal description was drawn from seed {seed}: {types:?} {arch} {mainloop:?}");
}

/// A legal description that would be refused if it needed `spare` registers more.
pub fn that_just_fits(seed: u64, wanted: Wanted, spare: u32) -> GemmDesc {
    let fits = |d: &GemmDesc| d.registers() + spare > d.registers_available(d.arch.machine().registers_per_sm);
    (0..).map(|i| description(draw(seed, i), wanted)).find(fits).expect("a description that just fits")
}

/// Any values for every knob; most of them are no kernel.
fn attempt(random: &mut Random, types: Combined, arch: ArchKind, mainloop: MainloopKind, plain: bool) -> GemmDesc {
    let orders = [0; 3].map(|_| random.pick(&[Order::Row, Order::Col]));
    let warp = Mnk::new(
        random.pick(&[8, 16, 32, 64, 128]),
        random.pick(&[8, 16, 32, 64, 128]),
        random.pick(&[8, 8, 10, 12, 14, 16, 16, 18, 20, 22, 24, 26, 28, 30, 32, 48, 64]),
    );
    let warps = [1, 1, 2, 2, 3, 4, 5, 8, 16];
    let slices = if random.once_in(3) { random.pick(&[2, 3, 4, 8, 16]) } else { 1 };
    let threadblock = Mnk::new(warp.m * random.pick(&warps), warp.n * random.pick(&warps), warp.k * slices);
    let align = |random: &mut Random| random.pick(&[1, 1, 2, 4, 8, 16]);
    let epilogue = match random.below(3) {
        0 if !plain => random.pick(EPILOGUES).parse::<EpilogueDesc>().expect("the epilogues are expressions"),
        _ => LinearCombination::DESC,
    };
    let knobs = Knobs {
        threadblock,
        warp,
        instruction: Mnk::new(1, 1, 1),
        mainloop,
        stages: match mainloop {
            MainloopKind::SingleStage => 1,
            MainloopKind::Pipelined => 2,
            MainloopKind::Multistage | MainloopKind::WarpSpecialized => random.pick(&[2, 3, 4, 5, 6]),
        },
        swizzle: match random.below(4) {
            0 => random.pick(&[SwizzleKind::Horizontal, SwizzleKind::Hilbert]),
            2 => SwizzleKind::Grouped(1 + random.below(16) as u32),
            1 => SwizzleKind::Identity(1 << random.below(4)),
            _ => SwizzleKind::Identity(1 + random.below(64) as u32),
        },
        align_a: align(random),
        align_b: align(random),
        align_c: align(random),
        smem_a: shared(random),
        smem_b: shared(random),
        blocks_per_sm: random.pick(&[1, 1, 1, 2, 2, 3, 4, 8]),
        cluster: Mn { m: 1, n: 1 },
        schedule: ScheduleKind::Cooperative,
        interleave: match random.below(3) {
            0 => InterleaveKind::Vector,
            _ => InterleaveKind::Elements(1 << random.below(7)),
        },
        unroll: match mainloop {
            MainloopKind::SingleStage if !random.once_in(3) => UnrollKind::By(1 + random.below(8) as u32),
            _ => UnrollKind::Full,
        },
        spills: if !plain && random.once_in(3) { SpillKind::Allowed } else { SpillKind::Refused },
        epilogue,
    };
    let desc = GemmDesc::of_values(OpKind::Simt, arch, types, orders, knobs);
    let scaled = desc.compute == ComputeKind::I32 && random.once_in(2);
    if scaled { GemmDesc { compute: ComputeKind::F32, ..desc } } else { desc }
}

fn shared(random: &mut Random) -> SmemLayout {
    let along = random.pick(&[Along::Mn, Along::K]);
    match random.below(3) {
        0 => SmemLayout::Auto,
        1 => SmemLayout::Padded { along, padding: random.below(17) as u32 },
        _ => SmemLayout::Swizzled {
            along,
            bits: 1 + random.below(5) as u32,
            base: random.below(6) as u32,
            shift: random.below(9) as u32,
        },
    }
}
