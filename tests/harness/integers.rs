//! GEMMs of small integers on the host. Their results are exact in every element type and are
//! compared with `==`.

use crate::harness::prelude::*;

macro_rules! data {
    ($($Kind:ident: $MathType:ty, |$x:ident| $from:expr, |$y:ident| $to:expr;)*) => {
        /// Elements of a matrix, with the element type as a value.
        pub enum Data {
            $($Kind(Vec<<$MathType as MathType>::Storage>),)*
        }

        impl Data {
            /// Creates elements of a type from integers.
            pub fn new(kind: ElementKind, values: impl Iterator<Item = i32>) -> Self {
                match kind {
                    $(ElementKind::$Kind => Self::$Kind(values.map(|$x| $from).collect()),)*
                }
            }

            /// Creates elements of a type from integers. An element without an integer is NaN, or
            /// the largest integer of a type without NaN.
            pub fn poisoned(kind: ElementKind, values: &[Option<i32>]) -> Self {
                let mut all = Self::new(kind, values.iter().map(|value| value.unwrap_or(0)));
                let missing = values.iter().enumerate().filter(|(_, value)| value.is_none());
                missing.for_each(|(at, _)| all.poison(at));
                all
            }

            /// Returns the elements as an input slice.
            pub fn slice(&self) -> HostSlice<'_> {
                match self { $(Self::$Kind(elements) => HostSlice::new::<$MathType>(elements),)* }
            }

            /// Returns the elements as an output slice.
            pub fn slice_mut(&mut self) -> HostSliceMut<'_> {
                match self { $(Self::$Kind(elements) => HostSliceMut::new::<$MathType>(elements),)* }
            }

            /// Returns one element as f64.
            pub fn get(&self, at: usize) -> f64 {
                match self { $(Self::$Kind(elements) => { let $y = elements[at]; $to })* }
            }
        }
    };
}

data! {
    F64: f64, |x| f64::from(x), |y| y;
    F32: f32, |x| x as f32, |y| f64::from(y);
    F16: F16, |x| F16::from_f32(x as f32), |y| y.to_f64();
    Bf16: Bf16, |x| Bf16::from_f32(x as f32), |y| y.to_f64();
    Tf32: Tf32, |x| x as f32, |y| f64::from(y);
    E4m3: E4m3, |x| E4m3::from_f32(x as f32), |y| y.to_f64();
    E5m2: E5m2, |x| E5m2::from_f32(x as f32), |y| y.to_f64();
    I8: i8, |x| x as i8, |y| f64::from(y);
    U8: u8, |x| x as u8, |y| f64::from(y);
    I32: i32, |x| x, |y| f64::from(y);
}

impl Data {
    /// Sets an element to NaN or infinity, or to the largest integer of a type.
    fn poison(&mut self, at: usize) {
        let x = if at.is_multiple_of(2) { f32::NAN } else { f32::INFINITY };
        match self {
            Self::F64(all) => all[at] = x.into(),
            Self::F32(all) | Self::Tf32(all) => all[at] = x,
            Self::F16(all) => all[at] = F16::from_f32(x),
            Self::Bf16(all) => all[at] = Bf16::from_f32(x),
            Self::E4m3(all) => all[at] = E4m3::from_f32(x),
            Self::E5m2(all) => all[at] = E5m2::from_f32(x),
            Self::I8(all) => all[at] = i8::MAX,
            Self::U8(all) => all[at] = u8::MAX,
            Self::I32(all) => all[at] = i32::MAX,
        }
    }
}

/// Returns an integer as a type stores it. Results of fp8 round most integers.
pub fn stored(kind: ElementKind, x: f64) -> f64 {
    Data::new(kind, [x as i32].into_iter()).get(0)
}

/// Maximum number of nonzero products per element of D. Sums of this many products fit into every
/// narrow type.
pub(super) const PRODUCTS: usize = 112;

/// Value of D before the GEMM. No sum of [`PRODUCTS`] products reaches it.
const POISON: i32 = 113;

/// Returns element `at` of a matrix: -5 to 5, or a smaller range for narrow types, so that sums of
/// [`PRODUCTS`] products are exact.
pub(super) fn element(kind: ElementKind, salt: u64, at: usize) -> i32 {
    let mut x = (at as u64 ^ salt << 32).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let draw = |n: u64| (((x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % n) as i32;
    match kind {
        ElementKind::U8 => draw(2),
        kind if kind.bits() < 32 => draw(3) - 1,
        _ => draw(11) - 5,
    }
}

/// Runs a program on an m x n x k problem whose leading dimensions are padded by three elements.
/// Returns the fault, the refusal, or the first element of D that differs from the reference.
/// `None` if D is correct.
pub fn wrong(program: &Program, mode: Mode, [m, n, k]: [usize; 3]) -> Option<String> {
    let d = program.desc;
    let (types, orders) = (d.user_types(), d.orders());
    let matrix = |order: Order, rows, columns| {
        let leading = order.packed(rows, columns) + 3;
        View::new(Elements::new(order.packed(columns, rows) * leading), order, leading)
    };
    let (a, b, c) = (matrix(orders.a, m, k), matrix(orders.b, k, n), matrix(orders.c, m, n));
    let [mut a_data, b_data] = [(types.a, a, 1), (types.b, b, 2)].map(|(kind, view, salt)| {
        (0..view.memory.length).map(|at| element(kind, salt, at)).collect::<Vec<_>>()
    });
    // If K exceeds `PRODUCTS`, a row of A keeps only every `kept`-th element. Neighboring rows keep
    // different elements.
    let kept = k.div_ceil(PRODUCTS).max(1);
    for (i, l) in
        (0..m).flat_map(|i| (0..k).map(move |l| (i, l))).filter(|(i, l)| (i + l) % kept != 0)
    {
        a_data[a.offset(i, l)] = 0;
    }
    let [a_data, b_data] = [(types.a, a_data), (types.b, b_data)]
        .map(|(kind, values)| Data::new(kind, values.into_iter()));
    let poison = if d.output.element.bits() < 32 { POISON } else { -1_000_003 };
    let mut result = Data::new(d.output.element, (0..c.memory.length).map(|_| poison));
    let problem = problem_of((m, n, k), [a, b, c]);
    let matrices = matrices(a_data.slice(), b_data.slice(), result.slice_mut());
    if let Err(error) = run_in_mode(program, mode, problem.with(matrices)) {
        return Some(error.to_string());
    }
    let mut touched = vec![false; c.memory.length];
    let of_b: Vec<f64> = (0..k)
        .flat_map(|l| (0..n).map(move |j| (l, j)))
        .map(|(l, j)| b_data.get(b.offset(l, j)))
        .collect();
    for i in 0..m {
        // The sums are exact, so zeros of A may be left out.
        let mut wanted = vec![0.0; n];
        for (l, b) in of_b.chunks_exact(n.max(1)).enumerate() {
            let a = a_data.get(a.offset(i, l));
            if a != 0.0 {
                wanted.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
            }
        }
        for (j, want) in wanted.into_iter().enumerate() {
            let at = c.offset(i, j);
            touched[at] = true;
            let want = stored(d.output.element, want);
            if result.get(at) != want {
                return Some(format!("D({i}, {j}) is {}, and should be {want}", result.get(at)));
            }
        }
    }
    let poison = stored(d.output.element, f64::from(poison));
    (0..c.memory.length)
        .find(|&at| !touched[at] && result.get(at) != poison)
        .map(|at| format!("D's gap at {at} is written"))
}

/// Returns a ragged problem with one tile of C. K exceeds the ring by up to two k-tiles;
/// [`PRODUCTS`] limits it.
pub fn ragged(d: &GemmDesc) -> [usize; 3] {
    let tile_k = d.threadblock().k as usize;
    let k = (d.stages() as usize + 2) * tile_k - 3;
    [
        d.threadblock().m as usize - 5,
        d.threadblock().n as usize - 3,
        k.min(PRODUCTS).max(d.split_k() as usize * tile_k - 3),
    ]
}
