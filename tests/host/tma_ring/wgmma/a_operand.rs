//! A from registers gives the bits of A from shared memory on the host, in every layout that
//! supports both. Invalid requests are refused.

use crate::harness::{prelude::*, problems::Wanted, same_bits::run};

fn types() -> [Combined; 4] {
    use ElementKind::{Bf16, E4m3, E5m2, F16, F32, I8, I32, Tf32};
    let of = |a, b, accumulator, c| Combined { a, b, accumulator, c };
    [
        of(I8, I8, I32, I32),
        of(E4m3, E4m3, F32, Bf16),
        of(E5m2, E4m3, F32, F16),
        of(Tf32, Tf32, F32, F32),
    ]
}

/// Returns a default description with smaller tiles, and with A from registers if the kernel's A is
/// M-major.
fn description(
    types: Combined,
    orders: [Order; 3],
    (block, warp): ((u32, u32), (u32, u32)),
    schedule: ScheduleKind,
) -> GemmDesc {
    let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
    let k = d.threadblock().k;
    let mnk = |(m, n)| Mnk::new(m, n, k);
    let instruction = Mnk { n: warp.1, ..d.instruction() };
    let (threadblock, warp) = (mnk(block), mnk(warp));
    let pins =
        but!(d, threadblock, warp, instruction, schedule, stages: 3, cluster: Mn::ONE).pins();
    d.with(Pins { a_operand: Some(AOperandKind::Registers), ..pins })
}

/// Layouts of A, B, and D that support A from registers: the kernel's A is M-major. The last two
/// have an N-major B and a K-major A, and swap the operands.
fn orders() -> Vec<[Order; 3]> {
    let (row, col) = (Order::Row, Order::Col);
    vec![
        [col, col, row],
        [col, row, row],
        [row, row, col],
        [col, row, col],
        [row, row, row],
        [col, col, col],
    ]
}

/// A from registers on the checked machine has the bits of A from shared memory in the fast mode:
/// for every type and layout, at random tile edges, with and without C, with D stored by TMA and by
/// threads.
#[test]
fn registers_give_the_bits_of_shared_memory() {
    let tiles = [((128, 64), (64, 64)), ((128, 32), (128, 32)), ((256, 32), (128, 32))];
    let mut cases = Vec::new();
    for (types, orders) in types()
        .into_iter()
        .flat_map(|types| orders().into_iter().map(move |orders| (types, orders)))
    {
        for (number, tile) in tiles.into_iter().enumerate() {
            let turns = tile.0 == tile.1;
            let schedule = if turns { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative };
            let desc = description(types, orders, tile, schedule);
            assert_eq!(desc.check(), Ok(()), "{types:?} {orders:?} {tile:?}");
            assert!(desc.a_from_registers());
            let column_major = orders[0] == orders[1] && orders[1] == orders[2];
            assert_eq!(
                (desc.frame.d_order().is_row(), desc.operands[0].layout),
                (!column_major, Order::Col)
            );
            assert_eq!([desc.orders().a, desc.orders().b, desc.orders().c], orders);
            assert_eq!(desc.with(desc.user_pins()), desc);
            for align_c in [desc.alignments()[2], 1] {
                let seed = draw(number as u64, cases.len() as u64);
                cases.push((but!(desc, align_c), seed));
            }
        }
    }
    let (runs, sums) = cases
        .par_iter()
        .flat_map(|(desc, seed)| (0..4u64).into_par_iter().map(move |i| (desc, draw(*seed, i))))
        .map(|(desc, seed)| {
            let guarded = guarded(seed, desc, Wanted { most_work: 6_000_000, aligned: false });
            let buffers = Buffers::filled(desc, &guarded, Fill::Random, seed).expect("buffers");
            let shared = desc.with(Pins { a_operand: Some(AOperandKind::Shared), ..Pins::NONE });
            assert_eq!((shared.mma.a_operand(), shared.check()), (AOperandKind::Shared, Ok(())));
            let wanted = run(&shared, Mode::Fast, &guarded, &buffers).expect("a GEMM");
            for mode in [Mode::Fast, Mode::Checked { seed }] {
                let found = run(desc, mode, &guarded, &buffers).expect("a GEMM");
                assert!(found == wanted, "{mode:?}: other bits\n{desc:?}\n{guarded:?}");
            }
            (1, guarded.problem.m * guarded.problem.n)
        })
        .reduce(|| (0, 0), |x, y| (x.0 + y.0, x.1 + y.1));
    println!(
        "{runs} problems of {} descriptions, {sums} elements of D, all bits alike",
        cases.len()
    );
    assert!(runs == 4 * 6 * 3 * 2 * 4 && sums > 100_000);
}

/// A operand that cannot come from registers is refused with advice.
#[test]
fn invalid_operands_in_registers_are_refused() {
    let (row, col) = (Order::Row, Order::Col);
    let sentence = |types: Combined, orders, knobs: &[(&str, &str)]| {
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        let mut all = d.user_pins();
        for (name, words) in knobs.iter().chain(&[("a_operand", "registers")]) {
            all.set(name, words).expect("a value");
        }
        d.with(all).check().message()
    };
    let [i8, e4m3, ..] = types();
    let bf16 = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::F32);
    let begins = "a_operand = registers is not supported by the warpspecialized main loop";
    for (says, wanted) in [
        (sentence(i8, [row, col, row], &[]), "A is K-major"),
        (sentence(bf16, [col, col, row], &[]), "wgmma reads 16-bit elements in both orders"),
        (sentence(e4m3, [col, col, row], &[("promotion", "stage")]), "promoted accumulators"),
    ] {
        assert_eq!(says, format!("{begins} ({wanted}); try shared"));
    }
    let says =
        sentence(e4m3, [col, col, row], &[("threadblock", "64x128x128"), ("warp", "64x128x128")]);
    assert_eq!(
        says,
        "threadblock M = 64 is not a multiple of 128 (a_operand = registers); try 128"
    );
}

/// A consumer with enough registers has two sets of fragments. Otherwise it has one set, and no
/// products in flight while A is loaded.
#[test]
fn sets_of_fragments_fit_the_registers() {
    let [i8, ..] = types();
    let of = |tile, schedule| description(i8, [Order::Col, Order::Col, Order::Row], tile, schedule);
    let sets = |d: &GemmDesc| {
        let components = d.components().expect("a kernel");
        assert!(components.registers_needed() <= components.registers_available());
        (components.options.pending, components.options.fragment_sets())
    };
    assert_eq!(sets(&of(((128, 128), (128, 128)), ScheduleKind::Pingpong)), (1, 2));
    assert_eq!(sets(&of(((128, 256), (64, 256)), ScheduleKind::Cooperative)), (1, 2));
    assert_eq!(sets(&of(((128, 160), (128, 160)), ScheduleKind::Pingpong)), (0, 1));
    let says = of(((128, 192), (128, 192)), ScheduleKind::Pingpong).check().message();
    assert_eq!(
        says,
        "registers per thread = 264 exceeds 240 (384 threads per block, 1 block per multiprocessor); use a smaller warp tile, or spills = allowed"
    );
}

/// `auto` resolves to registers if layouts, types, and tile allow it, and to shared memory
/// otherwise. An unresolved `auto` is refused.
#[test]
fn auto_selects_registers_if_supported() {
    let (row, col) = (Order::Row, Order::Col);
    let bf16 = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::F32);
    let [i8, e4m3, ..] = types();
    let made = |types, orders, promotion| {
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        let tile = Mnk { m: 128, n: 128, k: d.threadblock().k };
        let knobs =
            but!(d, threadblock: tile, warp: tile, instruction: Mnk { n: 128, ..d.instruction() })
                .user_pins();
        let schedule = Some(ScheduleKind::Pingpong);
        let d = d.with(Pins {
            a_operand: Some(AOperandKind::Auto),
            schedule,
            promotion: Some(promotion),
            ..knobs
        });
        assert!(d.check().is_ok() && d.orders().c == orders[2], "{d:?}");
        (d.mma.a_operand(), d.frame.d_order())
    };
    let (never, stage) = (PromotionKind::Never, PromotionKind::Stage);
    for orders in orders() {
        let swapped = orders[0] == orders[1] && orders[1] == orders[2];
        assert_eq!(
            made(i8, orders, never),
            (AOperandKind::Registers, if swapped { col } else { row }),
            "{orders:?}"
        );
    }
    for (types, orders, promotion) in [
        (i8, [row, col, row], never),
        (i8, [row, col, col], never),
        (bf16, [col, col, row], never),
        (e4m3, [col, col, row], stage),
    ] {
        assert_eq!(
            made(types, orders, promotion),
            (AOperandKind::Shared, row),
            "{types:?} {orders:?}"
        );
    }
    let d = default_of(OpKind::TensorOp, ArchKind::Sm90, i8, [col, col, row]);
    let says = but!(d, a_operand: AOperandKind::Auto).check().message();
    assert_eq!(
        says,
        "a_operand = auto is not supported by the warpspecialized main loop (the resolver selects the source of A); try shared"
    );
}

/// At least three quarters of each benchmark space are valid kernels. The rest exceed shared
/// memory.
#[test]
fn register_spaces_consist_of_valid_kernels() {
    use falchion_lab::explore::{Census, Space};
    let texts = [
        include_str!("../../../../benches/spaces/hopper_registers_8bit.json"),
        include_str!("../../../../benches/spaces/hopper_registers_32bit.json"),
    ];
    for (types, orders) in types()
        .into_iter()
        .flat_map(|types| orders().into_iter().map(move |orders| (types, orders)))
    {
        let base = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        let space = Space::from_json(&base, texts[usize::from(types.a == ElementKind::Tf32)])
            .expect("a space");
        let census = Census::new(&space, &|desc| Ok(desc.check()?)).expect("a census");
        for refused in &census.refused {
            assert!(
                refused.first.contains("shared memory"),
                "{types:?} {orders:?}: {}",
                refused.first
            );
        }
        assert!(census.legal.iter().all(|&point| space.at(point).a_from_registers()));
        assert!(
            census.legal.len() as u64 * 4 >= census.points * 3,
            "{} of {}",
            census.legal.len(),
            census.points
        );
    }
}
