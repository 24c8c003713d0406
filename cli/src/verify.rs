//! The seam to the library's verification: operands from a seed, and D against a reference and an a-priori bound.

use falchion::{
    desc::GemmDesc,
    device::{HostMatrix, HostProduct, Source},
    epilogue::Op,
    layout::Order,
    numeric::{ComputeKind, ElementKind},
};
use std::convert::Infallible;

/// What became of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Whether every element of D is within its bound.
    pub verified: bool,
    /// The largest error over its bound.
    pub error_over_bound: f64,
    /// Row and column of that element.
    pub at: (usize, usize),
}

/// Fills a matrix from a seed: small whole numbers for integers, else numbers from -1 to 1.
pub fn fill(matrix: &mut HostMatrix, seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let (least, most) = match matrix.kind() {
        ElementKind::U8 => (0, 16),
        ElementKind::I8 | ElementKind::I32 => (-8, 8),
        _ => (-1 << 23, 1 << 23),
    };
    let scale = if matrix.kind().is_integer() { 1.0 } else { 2f64.powi(-23) };
    let done: Result<(), Infallible> = matrix.try_fill(Order::Row, |_, _| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok((least + ((x ^ x >> 31) % (most - least) as u64) as i64) as f64 * scale)
    });
    let Ok(()) = done;
}

/// Holds D against a product in binary64, each element against a bound of its own.
pub fn check(desc: &GemmDesc, product: &HostProduct) -> Verdict {
    let ((m, k), (_, n)) = (product.a.extents(), product.b.extents());
    let desc = desc.for_scalars(&product.scalars);
    let reads = desc.epilogue.reads(&product.scalars);
    let (a, b, d) = (values(&product.a, Order::Row), values(&product.b, Order::Row), values(&product.d, Order::Row));
    let c = match &product.c {
        Source::Matrix(c) if reads.source => values(c, Order::Row),
        _ => Vec::new(),
    };
    let mut verdict = Verdict { verified: true, error_over_bound: 0.0, at: (0, 0) };
    let gamma = k as f64 * unit(desc.accumulator) * 1.01;
    for i in 0..m {
        let (mut sums, mut magnitudes) = (vec![0.0; n], vec![0.0; n]);
        for l in (0..k).filter(|_| reads.accumulator) {
            let x = a[i * k + l];
            for (j, &y) in b[l * n..(l + 1) * n].iter().enumerate() {
                sums[j] += x * y;
                magnitudes[j] += (x * y).abs();
            }
        }
        for j in 0..n {
            let source = c.get(i * n + j).copied().unwrap_or(0.0);
            let (want, bound) = epilogue(&desc, product, (sums[j], gamma * magnitudes[j]), source);
            let got = d[i * n + j];
            let same = got == want || got.is_nan() && want.is_nan();
            let ratio = if same { 0.0 } else { (got - want).abs() / bound };
            // NaN is within no bound, and stays.
            let known = ratio <= verdict.error_over_bound || verdict.error_over_bound.is_nan();
            if !known {
                verdict = Verdict { verified: verdict.verified && ratio <= 1.0, error_over_bound: ratio, at: (i, j) };
            }
        }
    }
    verdict
}

/// The epilogue's value and a bound of its error, node by node.
fn epilogue(desc: &GemmDesc, product: &HostProduct, accumulator: (f64, f64), source: f64) -> (f64, f64) {
    let u = match desc.compute {
        ComputeKind::F64 => unit(ElementKind::F64),
        ComputeKind::F32 => unit(ElementKind::F32),
        ComputeKind::I32 => 0.0,
    };
    let mut stack: Vec<(f64, f64)> = Vec::new();
    for op in desc.epilogue.ops() {
        let operands = stack.split_off(stack.len().saturating_sub(op.arity()));
        let rounded = |x: f64, error: f64| (x, error + u * (x.abs() + error));
        stack.push(match (op, &operands[..]) {
            (Op::Accumulator, _) => rounded(accumulator.0, accumulator.1),
            (Op::Source, _) => rounded(source, 0.0),
            (Op::Scalar(slot), _) if desc.compute == ComputeKind::F32 => {
                rounded(f64::from(product.scalars[*slot as usize] as f32), 0.0)
            }
            (Op::Scalar(slot), _) => rounded(product.scalars[*slot as usize], 0.0),
            (Op::Constant(x), _) => rounded(f64::from(*x), 0.0),
            (Op::Add, [(x, dx), (y, dy)]) => rounded(x + y, dx + dy),
            (Op::Scale, [(0.0, _), _]) => (0.0, 0.0),
            (Op::Multiply | Op::Scale, [(x, dx), (y, dy)]) => rounded(x * y, x.abs() * dy + y.abs() * dx + dx * dy),
            (Op::Minimum, [(x, dx), (y, dy)]) => (x.min(*y), dx.max(*dy)),
            (Op::Maximum, [(x, dx), (y, dy)]) => (x.max(*y), dx.max(*dy)),
            (Op::Relu, [(x, dx)]) => (x.max(0.0), *dx),
            _ => (f64::NAN, 0.0),
        });
    }
    let (x, error) = stack.pop().unwrap_or((0.0, 0.0));
    if desc.c.is_integer() {
        let (least, most) = match desc.c {
            ElementKind::I8 => (-128.0, 127.0),
            ElementKind::U8 => (0.0, 255.0),
            _ => (f64::from(i32::MIN), f64::from(i32::MAX)),
        };
        let nearest = x.round_ties_even().clamp(least, most);
        return (nearest, if error == 0.0 { 0.0 } else { error + 1.0 });
    }
    (x, (error + unit(desc.c) * (x.abs() + error)) * 1.01 + smallest(desc.c))
}

/// The unit roundoff.
fn unit(kind: ElementKind) -> f64 {
    match kind {
        ElementKind::F64 => 2f64.powi(-53),
        ElementKind::F16 => 2f64.powi(-11),
        ElementKind::Bf16 => 2f64.powi(-8),
        _ if kind.is_integer() => 0.0,
        _ => 2f64.powi(-24),
    }
}

/// The least number above 0.
fn smallest(kind: ElementKind) -> f64 {
    match kind {
        ElementKind::F16 => 2f64.powi(-24),
        ElementKind::Bf16 => 2f64.powi(-133),
        ElementKind::F64 => 2f64.powi(-1074),
        _ => 2f64.powi(-149),
    }
}

fn values(matrix: &HostMatrix, order: Order) -> Vec<f64> {
    let (rows, columns) = matrix.extents();
    let mut values = Vec::with_capacity(rows * columns);
    let Ok(()) = matrix.try_each(order, |x| {
        values.push(x);
        Ok::<_, Infallible>(())
    });
    values
}
