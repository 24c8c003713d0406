//! Emulated `f32` GEMMs on tensor cores, for several distributions of data and all layouts.

use crate::harness::prelude::*;

pub const TYPES: Combined = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);

/// Layouts of A, B, and D. The first has both operands K-major.
pub const ORDERS: [[Order; 3]; 5] = [
    [Order::Row, Order::Col, Order::Row],
    [Order::Col, Order::Col, Order::Row],
    [Order::Row, Order::Row, Order::Row],
    [Order::Col, Order::Row, Order::Col],
    [Order::Row, Order::Col, Order::Col],
];

/// Returns the default description with an emulation.
pub fn desc(emulation: EmulationKind, orders: [Order; 3]) -> GemmDesc {
    let default = default_of(OpKind::TensorOp, ArchKind::Sm90, TYPES, orders);
    but!(default, emulation: emulation)
}

/// Distributions of data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Data {
    /// Sums of uniform numbers.
    Normal,
    /// Exponents from -30 to 30.
    Wide,
    /// Halves of K that cancel up to a relative difference of one millionth.
    Cancelling,
    /// Numbers near 1 whose second and third terms are as large as possible, with one sign.
    Hostile,
    /// Numbers down to the smallest ones of `f32`.
    Tiny,
}

pub const DATA: [Data; 5] = [Data::Normal, Data::Wide, Data::Cancelling, Data::Hostile, Data::Tiny];

/// Returns rows of K random numbers.
pub fn draws(data: Data, seed: u64, rows: usize, k: usize) -> Vec<f32> {
    let uniform = |index: u64| (draw(seed, index) >> 40) as f64 / f64::from(1 << 24);
    let one = |index: u64| {
        let normal = (0..4).map(|i| uniform(4 * index + i)).sum::<f64>() - 2.0;
        match data {
            Data::Normal | Data::Cancelling => normal,
            Data::Wide => {
                (normal + 3.0).copysign(normal)
                    * 2f64.powi((draw(seed ^ 77, index) % 61) as i32 - 30)
            }
            Data::Hostile => {
                1.0 + 2f64.powi(-8) - 2f64.powi(-17) + (uniform(index) - 0.5) * 2f64.powi(-19)
            }
            Data::Tiny => normal * 2f64.powi(-60 - (draw(seed ^ 78, index) % 75) as i32),
        }
    };
    let cancelled = |at: usize| {
        let (row, step) = (at / k, at % k);
        let partner =
            if step >= k / 2 && k > 1 && data == Data::Cancelling { step - k / 2 } else { step };
        let sign =
            if partner != step && seed < 50 { -1.0 - 1e-6 * uniform(at as u64) } else { 1.0 };
        (sign * one((row * k + partner) as u64)) as f32
    };
    (0..rows * k).map(cancelled).collect()
}

/// Returns the view of a packed matrix.
pub fn packed(order: Order, rows: usize, columns: usize) -> View<Elements> {
    View::packed(Elements::new(rows * columns), order, (rows, columns), None)
}

/// Returns the problem of packed matrices.
pub fn problem([a, b, c]: [Order; 3], [m, n, k]: [usize; 3]) -> Problem {
    let scalars = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let (a, b, d) = (packed(a, m, k), packed(b, k, n), packed(c, m, n));
    Problem { scalars, ..problem_of((m, n, k), [a, b, d]) }
}

/// Returns rows along K as a packed matrix that is contiguous along K, or along the rows.
pub fn pack_matrix(numbers: &[f32], (rows, k): (usize, usize), along_k: bool) -> Vec<f32> {
    if along_k {
        numbers.to_vec()
    } else {
        (0..rows * k).map(|at| numbers[at % rows * k + at / rows]).collect()
    }
}

/// Runs a GEMM on rows of A and columns of B, and returns D row by row.
fn product(
    orders: [Order; 3],
    [m, n, k]: [usize; 3],
    (a, b): (&[f32], &[f32]),
    run: impl FnOnce(HostCall<'_>) -> Result<(), Error>,
) -> Result<Vec<f32>, Error> {
    let (a, b) =
        (pack_matrix(a, (m, k), orders[0].is_row()), pack_matrix(b, (n, k), !orders[1].is_row()));
    let mut d = vec![f32::NAN; m * n];
    let d_slice = HostSliceMut::new::<f32>(&mut d);
    let matrices = matrices(HostSlice::new::<f32>(&a), HostSlice::new::<f32>(&b), d_slice);
    run(problem(orders, [m, n, k]).with(matrices))?;
    Ok(if orders[2].is_row() { d } else { (0..m * n).map(|at| d[at % n * m + at / n]).collect() })
}

/// Returns the result of a description on the host.
pub fn computed(
    desc: &GemmDesc,
    mode: Mode,
    sizes: [usize; 3],
    operands: (&[f32], &[f32]),
) -> Result<Vec<f32>, Error> {
    let orders = desc.orders();
    product([orders.a, orders.b, orders.c], sizes, operands, |call| run_in_mode(desc, mode, call))
}

/// Returns the result of a program on the checked machine.
pub fn ran(
    program: &WarpSpecializedProgram,
    sizes: [usize; 3],
    operands: (&[f32], &[f32]),
) -> Result<Vec<f32>, Error> {
    let orders = program.desc.orders();
    product([orders.a, orders.b, orders.c], sizes, operands, |call| {
        run_in_mode(program, Mode::Checked { seed: 3 }, call)
    })
}

/// Checks that D has the same bits in all layouts and in both modes.
pub fn check_all_layouts(sizes: [usize; 3], desc: impl Fn([Order; 3]) -> GemmDesc) {
    let [m, n, k] = sizes;
    let (a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
    let bits = |orders, mode| {
        let d = computed(&desc(orders), mode, sizes, (&a, &b));
        bits(&d.unwrap_or_else(|error| panic!("{error}")))
    };
    let first = bits(ORDERS[0], Mode::Fast);
    for orders in ORDERS {
        for mode in [Mode::Fast, Mode::Checked { seed: 9 }] {
            assert!(bits(orders, mode) == first, "{orders:?} {mode:?} {:?}", desc(orders));
        }
    }
}

/// Returns the verdict on D of K-major operands.
pub fn judge(desc: &GemmDesc, sizes: [usize; 3], (a, b): (&[f32], &[f32]), d: &[f32]) -> Verdict {
    let [a, b, d] = [a, b, d].map(HostSlice::new::<f32>);
    let (problem, c, operands) = (problem(ORDERS[0], sizes), None, EpilogueOperands::NONE);
    let claim = Claim { desc, problem: &problem, a, b, c, d, operands };
    falchion_lab::verify::check(&claim).expect("slices")
}
