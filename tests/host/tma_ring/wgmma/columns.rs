//! A column-major D of the kernel, with A in shared memory: it has the results and the bits of a
//! row-major D.

use crate::harness::{
    descriptions::ring_types as types, prelude::*, problems::Wanted, same_bits::run,
};

const BY_BLAS: [[Order; 3]; 2] = {
    let (row, col) = (Order::Row, Order::Col);
    [[row, col, row], [row, col, col]]
};

fn default(types: Combined, orders: [Order; 3]) -> GemmDesc {
    default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders)
}

/// Returns the default with swapped operands, and with a small N of the kernel's D.
fn few(types: Combined, orders: [Order; 3], (m, warp_m, n): (u32, u32, u32)) -> GemmDesc {
    let d = default(types, orders).with_rows_as_columns();
    let (k, instruction) = (d.threadblock().k, Mnk { n, ..d.instruction() });
    let schedule = if m == warp_m { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative };
    but!(d, threadblock: Mnk { m, n, k }, warp: Mnk { m: warp_m, n, k }, instruction: instruction, schedule: schedule, promotion: PromotionKind::Never, stages: 3, cluster: Mn::ONE)
}

/// Swapping the operands keeps the user's types, layouts, knobs, and problem shapes. JSON states
/// the frame. With a pinned knob, D keeps its order.
#[test]
fn swapping_operands_keeps_the_users_types_and_knobs() {
    for (types, orders) in
        types().into_iter().flat_map(|types| BY_BLAS.map(|orders| (types, orders)))
    {
        let rows = default(types, orders);
        let columns = rows.with_rows_as_columns();
        assert_eq!((rows.frame.d_order(), columns.frame.d_order()), (Order::Row, Order::Col));
        assert_eq!(columns.frame.swapped, !rows.frame.swapped);
        assert_eq!((columns.orders(), columns.user_types()), (rows.orders(), rows.user_types()));
        assert_eq!(
            (columns.user_pins(), columns.threadblock()),
            (rows.user_pins(), rows.threadblock())
        );
        assert_eq!(
            (columns.check(), columns.with_rows_as_columns()),
            (Ok(()), columns),
            "{columns:?}"
        );
        assert_eq!(
            GemmDesc::from_json(&columns.to_json().expect("text")).expect("a description"),
            columns
        );
        assert_eq!(columns.with(columns.user_pins()), columns);
        assert_eq!(columns.with(Pins { stages: Some(3), ..Pins::NONE }), but!(columns, stages: 3));
        let n = match types.c.bits() {
            16 => [8, 24],
            _ if types.c.is_fp8() => [16, 32],
            _ => [8, 16],
        };
        for n in n {
            let few = few(types, orders, (128, 64, n));
            assert_eq!((few.check(), few.with(few.user_pins())), (Ok(()), few), "{few:?}");
            assert_eq!(
                GemmDesc::from_json(&few.to_json().expect("text")).expect("a description"),
                few
            );
        }
    }
}

/// A row of eight 16-bit elements is half of the narrowest swizzle, but a column of a tile is a
/// whole row of the widest swizzle.
#[test]
fn eight_16_bit_columns_need_a_column_major_d() {
    use ElementKind::{Bf16, F32};
    let columns = few(element_types(Bf16, F32, Bf16), BY_BLAS[0], (128, 64, 8));
    assert_eq!(columns.check(), Ok(()));
    let says = but!(columns, layout_c: Order::Row).check().message();
    assert!(says.starts_with("warp N = 8 is not a multiple of 16"), "{says}");
}

/// If only 8 divides the number of columns, all columns are one subtile if it fits into shared
/// memory. Otherwise subtiles have 8 columns.
#[test]
fn a_prime_number_of_octets_is_one_subtile_if_it_fits() {
    use ElementKind::{Bf16, F32};
    let columns = few(element_types(Bf16, F32, Bf16), BY_BLAS[0], (256, 128, 152));
    let subtiles =
        |stages| but!(columns, stages: stages).components().expect("a kernel").subtile_columns;
    assert_eq!([3, 4].map(subtiles), [152, 8]);
    let composite = few(element_types(Bf16, F32, Bf16), BY_BLAS[0], (256, 128, 168));
    assert_eq!(composite.components().expect("a kernel").subtile_columns, 56);
}

/// A pinned tile with an odd number of groups of 8 columns requires a column-major D, because a
/// row-major 16-bit D does not support it. Other tiles keep the order of D.
#[test]
fn an_odd_pinned_tile_selects_a_column_major_d() {
    type Rows = HopperK<Bf16, Bf16>;
    let (odd, even) = (
        Rows::new().threadblock::<GemmShape<256, 152, 64>>().desc(),
        Rows::new().threadblock::<GemmShape<256, 160, 64>>().desc(),
    );
    let of = |desc: GemmDesc| (desc.frame.d_order(), desc.orders().c, desc.threadblock());
    assert_eq!(of(odd), (Order::Col, Order::Row, Mnk::new(256, 152, 64)));
    assert_eq!(of(even), (Order::Row, Order::Row, Mnk::new(256, 160, 64)));
    let (m, n, k) = (300usize, 170, 72);
    let number = |seed, i| Bf16::from_f32((draw(seed, i as u64) % 9) as f32 - 4.0);
    let (a, b): (Vec<_>, Vec<_>) =
        ((0..m * k).map(|i| number(1, i)).collect(), (0..k * n).map(|i| number(2, i)).collect());
    let mut d = vec![Bf16::ZERO; m * n];
    Rows::new()
        .threadblock::<GemmShape<256, 152, 64>>()
        .run(Arguments::new((m, n, k), &a, &b, &mut d))
        .expect("a product");
    for (i, x) in d.iter().enumerate() {
        let sum: f32 = (0..k).map(|l| a[i / n * k + l].to_f32() * b[i % n * k + l].to_f32()).sum();
        assert_eq!(*x, Bf16::from_f32(sum), "element {i}");
    }
}

/// Kernels that cannot store columns stay unchanged: A from registers.
#[test]
fn kernels_that_cannot_store_columns_are_unchanged() {
    use ElementKind::{I8, I32};
    let (row, col) = (Order::Row, Order::Col);
    let i8s = default(element_types(I8, I32, I32), [col, col, row]);
    let registers = i8s.with(Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE });
    assert_eq!(registers.with_rows_as_columns(), registers);
    // A kernel with a column-major D can read A from registers if the knob is pinned.
    let both = default(element_types(I8, I32, I32), [row, row, row]).with_rows_as_columns();
    let registers = both.with(Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE });
    assert!(registers.a_from_registers() && registers.orders() == both.orders());
    assert_eq!(
        registers
            .with(Pins { a_operand: Some(AOperandKind::Shared), ..Pins::NONE })
            .frame
            .d_order(),
        row
    );
}

/// A column-major D, on the checked machine and in the fast mode, has the bits of a row-major D:
/// for every type, with a small and a large instruction N, for both orders of the user's D, with
/// and without C, with D stored by TMA and by threads, and for emulated f32 with and without scaled
/// rows and promotion.
#[test]
fn column_major_d_has_the_bits_of_row_major_d() {
    let mut cases = Vec::new();
    let tiles =
        [(64, 64, 8), (128, 64, 16), (128, 128, 24), (64, 64, 32), (128, 64, 64), (128, 64, 152)];
    for (types, orders) in
        types().into_iter().flat_map(|types| BY_BLAS.map(|orders| (types, orders)))
    {
        // Integer instructions have a multiple of 16 columns, except for the first ones, which have
        // a multiple of 8. Tiles of bytes have a multiple of 16.
        let fits = |n: u32| {
            (n < 152 || !types.a.is_integer()) && (n.is_multiple_of(16) || !types.c.is_fp8())
        };
        for (number, tile) in tiles.into_iter().enumerate().filter(|(_, tile)| fits(tile.2)) {
            let desc = few(types, orders, tile);
            let promotes = types.a.is_fp8() || types.a == ElementKind::F32;
            let promotion = if promotes && number % 2 == 1 {
                PromotionKind::Stage
            } else {
                PromotionKind::Never
            };
            let emulations: &[EmulationKind] = match types.a {
                ElementKind::F32 => &[EmulationKind::Bf16x6, EmulationKind::F16x3],
                _ => &[EmulationKind::None],
            };
            for &emulation in emulations {
                let align_c = if cases.len() % 3 == 0 { 1 } else { desc.alignments()[2] };
                let desc = but!(desc, promotion: promotion, emulation: emulation, align_c: align_c);
                assert_eq!(desc.check(), Ok(()), "{desc:?}");
                cases.push((desc, draw(0xc01, cases.len() as u64)));
            }
        }
    }
    let sums: usize = cases
        .par_iter()
        .flat_map(|(desc, seed)| (0..2u64).into_par_iter().map(move |i| (desc, draw(*seed, i))))
        .map(|(desc, seed)| {
            let guarded = guarded(seed, desc, Wanted { most_work: 2_000_000, aligned: false });
            let buffers = Buffers::filled(desc, &guarded, Fill::Random, seed).expect("buffers");
            // The same depth, promotion, and emulation with a tile that a row-major D supports.
            let mut rows = default(desc.user_types(), [desc.orders().a, desc.orders().b, desc.orders().c]);
            rows = rows.with(Pins { threadblock: None, warp: None, instruction: None, schedule: None, ..desc.user_pins() });
            let small = Mnk { m: 128, n: 64, ..desc.threadblock() };
            let instruction = Mnk { n: 64, ..desc.instruction() };
            let rows = but!(rows, threadblock: small, warp: Mnk { m: 64, ..small }, instruction: instruction, schedule: ScheduleKind::Cooperative);
            assert_eq!((rows.check(), rows.frame.d_order()), (Ok(()), Order::Row), "{rows:?}");
            let wanted = run(&rows, Mode::Checked { seed }, &guarded, &buffers).expect("a GEMM");
            for mode in [Mode::Fast, Mode::Checked { seed }] {
                let found = run(desc, mode, &guarded, &buffers).expect("a GEMM");
                assert!(found == wanted, "{mode:?}: other bits\n{desc:?}\n{guarded:?}");
            }
            guarded.problem.m * guarded.problem.n
        })
        .sum();
    println!("{} descriptions, {sums} elements of D, all bits alike", cases.len());
    assert!(cases.len() >= 200 && sums > 100_000);
}
