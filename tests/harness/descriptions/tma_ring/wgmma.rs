//! Random descriptions of warp-specialized kernels.

use super::super::{epilogue, order, ring_types, spills, work};
use crate::harness::prelude::*;

/// Returns the default description of `bf16` in these layouts.
pub fn plain(orders: [Order; 3]) -> GemmDesc {
    let bf16 = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16);
    default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, orders)
}

/// Returns a random valid description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let mut random = Random::new(seed);
    // Types and layouts stay fixed while the other knobs are drawn again. Each type and layout
    // therefore keeps its share of the descriptions.
    let types = random.pick(&ring_types());
    let c = random.pick(&[Order::Row, Order::Col]);
    let source = if types.a.bytes_of(1) != 2 && types.a != ElementKind::F32 {
        random.pick(&[AOperandKind::Shared, AOperandKind::Registers])
    } else {
        AOperandKind::Shared
    };
    // Decomposed operands are K-major.
    let orders = if source == AOperandKind::Registers {
        // The kernel's A is contiguous along M, or its B along N. For a column-major D, the user's
        // A and B are the kernel's transposed B and A.
        let (a, b) = random.pick(&[
            (Order::Col, Order::Row),
            (Order::Col, Order::Col),
            (Order::Row, Order::Row),
            (Order::Row, Order::Row),
        ]);
        if c.is_row() { [a, b, c] } else { [b.transposed(), a.transposed(), c] }
    } else if types.a.bytes_of(1) == 2 || types.a == ElementKind::F32 {
        [random.pick(&[Order::Row, Order::Col]), random.pick(&[Order::Row, Order::Col]), c]
    } else {
        [Order::Row, Order::Col, c]
    };
    let cluster = random.pick(&[(1, 1), (1, 1), (2, 1), (1, 2), (4, 1)]);
    // Half of the kernels with A in shared memory have a column-major D, and two thirds of those
    // have a small N. A separate generator draws this, so that other descriptions do not change.
    let mut apart = Random::new(draw(seed, 7));
    let narrow = (source == AOperandKind::Shared && apart.once_in(2)).then(|| !apart.once_in(3));
    for _ in 0..100_000 {
        let desc = attempt(&mut random, (types, source, narrow), orders, cluster, wanted.plain);
        let tile = desc.threadblock();
        let inside = (64..=256).contains(&tile.m) && (8..=320).contains(&tile.n);
        if inside && tile.m * tile.n * tile.k <= wanted.largest_tile && desc.check().is_ok() {
            return desc;
        }
    }
    panic!("no legal description was drawn from seed {seed}: {types:?} {orders:?} {cluster:?}");
}

/// Returns a random valid description with a random number of pending `wgmma` groups, if valid.
/// Half of the descriptions with `bf16x6` change to `bf16x3`.
pub fn with_groups_under_way(seed: u64, wanted: Wanted) -> GemmDesc {
    let desc = description(seed, wanted);
    let mut random = Random::new(draw(seed, 1));
    let emulation = match desc.emulation() {
        EmulationKind::Bf16x6 if random.once_in(2) => EmulationKind::Bf16x3,
        other => other,
    };
    let other = but!(desc, emulation, pending: random.below(4) as u32);
    if other.check().is_ok() { other } else { desc }
}

/// Returns random values for every free knob. Many of the descriptions are invalid.
fn attempt(
    random: &mut Random,
    (types, a_operand, narrow): (Combined, AOperandKind, Option<bool>),
    orders: [Order; 3],
    (m, n): (u32, u32),
    plain: bool,
) -> GemmDesc {
    let emulation = if types.a == ElementKind::F32 {
        random.pick(&[EmulationKind::Bf16x6, EmulationKind::F16x3])
    } else {
        EmulationKind::None
    };
    let multiplied = emulation.term_type().unwrap_or(types.a);
    let step = multiplied.elements_in(32);
    let columns = match random.below(3) {
        _ if narrow == Some(true) => 8 * (1 + random.below(8) as u32),
        0 => random.pick(&[64, 128, 192, 256]),
        1 => 32 * (1 + random.below(8) as u32),
        _ => 8 * (1 + random.below(32) as u32),
    };
    let instruction = Mnk::new(64, columns, step);
    let warp = Mnk::new(
        64 * random.pick(&[1, 1, 1, 2, 3, 4]),
        columns * random.pick(&[1, 1, 1, 2]),
        4 * step,
    );
    let consumers = random.pick(&[(1, 1), (2, 1), (2, 1), (1, 2), (3, 1), (1, 3)]);
    let threadblock = Mnk::new(warp.m * consumers.0, warp.n * consumers.1, 4 * step);
    let stages = 2 + random.below(6) as u32;
    let swizzle = order(random);
    let split_k = random.pick(&[1, 1, 1, 1, 2, 3, 7, 11]);
    // TMA stores half of all Ds.
    let align_c = (types.c.elements_in(16)) >> random.pick(&[0, 0, 0, 1, 2, 3]);
    let schedule = if consumers == (1, 1) && random.once_in(2) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    let promotion = if a_operand == AOperandKind::Shared
        && (types.a.is_fp8() || emulation.decomposes())
        && random.once_in(2)
    {
        PromotionKind::Stage
    } else {
        PromotionKind::Never
    };
    let spills = spills(random, !plain, 4);
    let cluster = Mn { m, n };
    let knobs = Knobs {
        work: work(swizzle, split_k),
        mainloop: Mainloop::TmaRing(TmaRingKnobs {
            threadblock,
            stages,
            cluster,
            schedule,
            ..TmaRingKnobs::DEFAULT
        }),
        mma: WarpMma::Wgmma(WgmmaKnobs { warp, instruction, a_operand, pending: 1, promotion }),
        access: [types.a.elements_in(16), types.b.elements_in(16), align_c],
        smem: [SmemLayout::Auto; 2],
        multiplied: [Multiplied::from_emulation(emulation); 2],
        limits: Limits { blocks_per_sm: 1, spills },
    };
    let desc = GemmDesc::from_values(OpKind::TensorOp, ArchKind::Sm90, types, orders, knobs);
    let desc = but!(desc, epilogue: epilogue(random, plain));
    let desc = if narrow.is_some() { desc.with_rows_as_columns() } else { desc };
    let scaled = desc.output.compute == ComputeKind::I32 && random.once_in(2);
    if scaled { but!(desc, compute: ComputeKind::F32) } else { desc }
}
