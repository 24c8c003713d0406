//! Random descriptions of `mma.sync` kernels.

use super::{epilogue, main_loop, order, spills, work};
use crate::harness::prelude::*;

/// Returns the instructions of an architecture for a type combination.
pub fn instructions(types: Combined, arch: ArchKind) -> Vec<WarpInstruction> {
    if types.a.is_fp8() && arch == ArchKind::Sm90 {
        return Vec::new();
    }
    let fits = |one: &WarpInstruction| {
        one.sm() <= arch.sm()
            && WarpInstruction::new(one.math(), [types.a, types.b], types.accumulator, one.shape())
                == Some(*one)
    };
    WarpInstruction::all().filter(fits).collect()
}

/// Main loops of the descriptions.
const LOOPS: &[MainloopKind] =
    &[MainloopKind::Pipelined, MainloopKind::Multistage, MainloopKind::Multistage];

/// Returns a random valid description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let mut random = Random::new(seed);
    let (types, arch, shapes) = loop {
        let types = random.pick(TENSOR_OP_COMBINATIONS);
        let arch = wanted.arch.unwrap_or(random.pick(&ARCHS));
        let shapes = instructions(types, arch);
        let copies =
            |of: &MainloopKind| !of.copies_asynchronously() || arch.copies_asynchronously();
        let converts = !types.c.is_fp8() || arch.sm() >= ArchKind::Sm89.sm();
        if !shapes.is_empty() && LOOPS.iter().any(copies) && converts {
            break (types, arch, shapes);
        }
    };
    for _ in 0..100_000 {
        let instruction = random.pick(&shapes);
        let desc = attempt(&mut random, types, arch, instruction, wanted.plain);
        let tile = desc.threadblock();
        if desc.check().is_ok() && tile.m * tile.n * tile.k <= wanted.largest_tile {
            return desc;
        }
    }
    panic!("no legal description was drawn from seed {seed}: {types:?} {arch}");
}

/// Returns random values for every knob. Many of the descriptions are invalid.
fn attempt(
    random: &mut Random,
    types: Combined,
    arch: ArchKind,
    of: WarpInstruction,
    plain: bool,
) -> GemmDesc {
    let instruction = of.shape();
    let orders = [0; 3].map(|_| random.pick(&[Order::Row, Order::Col]));
    let warp = Mnk::new(
        random.pick(&[8, 16, 32, 64, 128, 48, 96]),
        random.pick(&[8, 16, 32, 64, 128, 48, 96]),
        instruction.k * random.pick(&[1, 2, 2, 4, 8]),
    );
    let warps = [1, 1, 2, 2, 3, 4, 8];
    let slices = if random.once_in(3) { random.pick(&[2, 3, 4]) } else { 1 };
    let threadblock =
        Mnk::new(warp.m * random.pick(&warps), warp.n * random.pick(&warps), warp.k * slices);
    let align = |random: &mut Random| random.pick(&[1, 1, 2, 4, 8, 16]);
    let mainloop = random.pick(LOOPS);
    let stages = match mainloop.fixed_stages() {
        Some(stages) => stages,
        None => random.pick(&[2, 3, 4, 5, 6]),
    };
    let swizzle = order(random);
    let split_k = random.pick(&[1, 1, 1, 1, 2, 3, 7, 11]);
    let access = [align(random), align(random), align(random)];
    let saturate = if types.accumulator.is_integer() && random.once_in(2) {
        SaturateKind::On
    } else {
        SaturateKind::Off
    };
    let blocks_per_sm = random.pick(&[1, 1, 1, 2, 3]);
    let spills = spills(random, !plain, 3);
    let knobs = Knobs {
        work: work(swizzle, split_k),
        mainloop: main_loop(mainloop, threadblock, stages, UnrollKind::Full),
        mma: WarpMma::MmaSync(MmaSyncKnobs { warp, instruction, saturate }),
        access,
        smem: [SmemLayout::Auto; 2],
        multiplied: of.math().multiplied(),
        limits: Limits { blocks_per_sm, spills },
    };
    let desc = GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, knobs);
    let desc = but!(desc, epilogue: epilogue(random, plain));
    let scaled = desc.output.compute == ComputeKind::I32 && random.once_in(2);
    if scaled { but!(desc, compute: ComputeKind::F32) } else { desc }
}
