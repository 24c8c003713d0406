//! Random descriptions of SIMT kernels on the CUDA cores.

use super::{epilogue, main_loop, order, spills, work};
use crate::harness::prelude::*;

/// Returns a random valid description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let mut random = Random::new(seed);
    // Types stay fixed while the other knobs are drawn again, so that each keeps its share.
    let types = random.pick(COMBINATIONS);
    let arch = wanted.arch.unwrap_or(random.pick(&ArchKind::ALL));
    let mainloop = random.pick(ONE_SCHEDULE);
    for _ in 0..100_000 {
        let desc = attempt(&mut random, types, arch, mainloop, wanted.plain);
        if desc.check().is_ok()
            && desc.threadblock().m * desc.threadblock().n * desc.threadblock().k
                <= wanted.largest_tile
        {
            return desc;
        }
        if mainloop.copies_asynchronously() && !arch.copies_asynchronously() {
            return description(seed.wrapping_mul(31).wrapping_add(7), wanted);
        }
    }
    panic!("no legal description was drawn from seed {seed}: {types:?} {arch} {mainloop:?}");
}

/// Returns random values for every knob. Most of the descriptions are invalid.
fn attempt(
    random: &mut Random,
    types: Combined,
    arch: ArchKind,
    mainloop: MainloopKind,
    plain: bool,
) -> GemmDesc {
    let orders = [0; 3].map(|_| random.pick(&[Order::Row, Order::Col]));
    let warp = Mnk::new(
        random.pick(&[8, 16, 32, 64, 128]),
        random.pick(&[8, 16, 32, 64, 128]),
        random.pick(&[8, 8, 10, 12, 14, 16, 16, 18, 20, 22, 24, 26, 28, 30, 32, 48, 64]),
    );
    let warps = [1, 1, 2, 2, 3, 4, 5, 8, 16];
    let slices = if random.once_in(3) { random.pick(&[2, 3, 4, 8, 16]) } else { 1 };
    let threadblock =
        Mnk::new(warp.m * random.pick(&warps), warp.n * random.pick(&warps), warp.k * slices);
    let align = |random: &mut Random| random.pick(&[1, 1, 2, 4, 8, 16]);
    let epilogue = epilogue(random, plain);
    let stages = match mainloop.fixed_stages() {
        Some(stages) => stages,
        None => random.pick(&[2, 3, 4, 5, 6]),
    };
    let swizzle = order(random);
    let access = [align(random), align(random), align(random)];
    let smem = [shared(random), shared(random)];
    let blocks_per_sm = random.pick(&[1, 1, 1, 2, 2, 3, 4, 8]);
    let interleave = match random.below(3) {
        0 => InterleaveKind::Vector,
        _ => InterleaveKind::Elements(1 << random.below(7)),
    };
    let unroll = match mainloop.fixed_stages() {
        Some(1) if !random.once_in(3) => UnrollKind::By(1 + random.below(8) as u32),
        _ => UnrollKind::Full,
    };
    let spills = spills(random, !plain, 3);
    let split_k = random.pick(&[1, 1, 1, 1, 2, 3, 7, 11]);
    let knobs = Knobs {
        work: work(swizzle, split_k),
        mainloop: main_loop(mainloop, threadblock, stages, unroll),
        mma: WarpMma::Simt(SimtKnobs { warp, thread: None, interleave }),
        access,
        smem,
        multiplied: [Multiplied::Stored; 2],
        limits: Limits { blocks_per_sm, spills },
    };
    let desc = but!(GemmDesc::from_values(OpKind::Simt, arch, types, orders, knobs), epilogue);
    let scaled = desc.output.compute == ComputeKind::I32 && random.once_in(2);
    if scaled { but!(desc, compute: ComputeKind::F32) } else { desc }
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
