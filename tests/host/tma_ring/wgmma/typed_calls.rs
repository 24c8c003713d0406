//! Warp-specialized kernels on host slices: typed calls, the instruction's own sums, and missing
//! inputs (K = 0, no C, and no accumulator).

use crate::harness::prelude::*;

const MODES: [Mode; 2] = [Mode::Fast, Mode::Checked { seed: 3 }];
const TYPES: Combined = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::F32);

fn numbers(seed: u64, count: usize) -> Vec<Bf16> {
    (0..count as u64)
        .map(|i| Bf16::from_f32((draw(seed, i) >> 40) as f32 / (1 << 20) as f32 - 8.0))
        .collect()
}

fn packed(order: Order, rows: usize, columns: usize) -> View<Elements> {
    View::packed(Elements::new(rows * columns), order, (rows, columns), None)
}

/// D of `Gemm::<.., TensorOp, Sm90>` on slices, bit by bit:
/// `D[i, j] = Instruction::sum(A[i, :], B[:, j])`, with K padded with zeros to whole stages. If K
/// is reversed, the bits differ.
#[test]
fn every_element_is_the_sum_of_the_instruction() {
    let (m, n, k) = (70, 45, 100);
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let mut d = vec![0.0f32; m * n];
    let gemm = HopperK::<Bf16, f32>::new();
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut d)).expect("a product");
    let instruction =
        Instruction::for_types(TYPES, ArchKind::Sm90).expect("Hopper multiplies bf16");
    let mut others = 0;
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let line = |of: &[Bf16], at: usize| {
            let mut line: Vec<f32> = of[at * k..][..k].iter().map(|x| x.to_f32()).collect();
            line.resize(128, 0.0);
            line
        };
        let (mut row, mut column) = (line(&a, i), line(&b, j));
        assert_eq!(d[i * n + j].to_bits(), instruction.sum(&row, &column).to_bits(), "D({i}, {j})");
        row.reverse();
        column.reverse();
        others += usize::from(d[i * n + j].to_bits() != instruction.sum(&row, &column).to_bits());
    }
    println!("{others} of {} sums have other bits backwards", m * n);
    assert!(others > m * n / 10);
}

/// Runs a nearly square problem with the given D and C.
fn run(
    desc: &GemmDesc,
    mode: Mode,
    [m, n, k]: [usize; 3],
    [alpha, beta]: [f64; 2],
    c: Option<&[f32]>,
    d: &mut [f32],
) {
    let orders = desc.orders();
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let scalars = scalars(alpha, beta);
    let problem = Problem {
        c: c.map_or(Source::InPlace, |_| Source::Matrix(packed(orders.c, m, n))),
        scalars,
        ..problem_of(
            (m, n, k),
            [packed(orders.a, m, k), packed(orders.b, k, n), packed(orders.c, m, n)],
        )
    };
    let matrices = HostMatrices {
        c: c.map_or(Source::InPlace, |c| Source::Matrix(HostSlice::new::<f32>(c))),
        ..slices::<Bf16, Bf16, f32>(&a, &b, d)
    };
    run_in_mode(desc, mode, problem.with(matrices)).unwrap_or_else(|error| panic!("{error}"));
}

/// The host executors accept every L2 promotion, which changes no bit of D.
#[test]
fn l2_promotion_changes_no_bit_of_d() {
    let orders = [Order::Row, Order::Col, Order::Row];
    let desc = default_of(OpKind::TensorOp, ArchKind::Sm90, TYPES, orders);
    for mode in MODES {
        let product = |kind: L2PromotionKind| {
            let desc = desc.with(Pins { l2_promotion: Some(kind), ..Pins::NONE });
            assert_eq!(desc.pins().l2_promotion, Some(kind));
            let mut d = vec![f32::NAN; 70 * 45];
            run(&desc, mode, [70, 45, 100], [1.0, 0.0], None, &mut d);
            d.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let all = L2PromotionKind::ALL.map(product);
        assert!(all[0].iter().all(|bits| !f32::from_bits(*bits).is_nan()));
        assert!(all.iter().all(|d| *d == all[0]));
    }
}

#[test]
fn unread_operands_do_not_change_d() {
    for orders in [[Order::Row, Order::Col, Order::Row], [Order::Col, Order::Row, Order::Col]] {
        for align_c in [4, 1] {
            let default = default_of(OpKind::TensorOp, ArchKind::Sm90, TYPES, orders);
            let desc = but!(default, align_c);
            for mode in MODES {
                let (sizes, n) = ([131, 67, 40], 131 * 67);
                let c: Vec<f32> = (0..n).map(|i| i as f32).collect();
                // If beta is 0, C may be full of NaN.
                let (mut plain, mut poisoned) = (vec![f32::NAN; n], vec![f32::NAN; n]);
                run(&desc, mode, sizes, [1.0, 0.0], Some(&c), &mut plain);
                run(&desc, mode, sizes, [1.0, 0.0], Some(&vec![f32::NAN; n]), &mut poisoned);
                assert!(plain == poisoned && plain.iter().all(|x| x.is_finite()));
                // C in place equals a separate C.
                let (mut beside, mut in_place) = (vec![f32::NAN; n], c.clone());
                run(&desc, mode, sizes, [1.0, 2.0], Some(&c), &mut beside);
                run(&desc, mode, sizes, [1.0, 2.0], None, &mut in_place);
                assert!(beside == in_place && beside != plain);
                // Without K, and without accumulators in the epilogue, D depends on C only.
                let mut left = vec![f32::NAN; n];
                run(&desc, mode, [131, 67, 0], [1.0, 2.0], Some(&c), &mut left);
                assert!(left.iter().zip(&c).all(|(d, c)| *d == 2.0 * c));
                let epilogue = "beta * c + 3".parse().expect("an epilogue");
                run(&but!(desc, epilogue), mode, sizes, [1.0, 2.0], Some(&c), &mut left);
                assert!(left.iter().zip(&c).all(|(d, c)| *d == 2.0 * c + 3.0));
                // The epilogue reads nothing.
                run(&desc, mode, [0, 5, 7], [1.0, 0.0], Some(&[]), &mut []);
            }
        }
    }
}
