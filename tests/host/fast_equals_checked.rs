//! The fast mode gives the bits of the checked mode: element types, slices of K, edges, layouts,
//! tiles of every form.

use crate::harness::{on_host::slices, prelude::*};
use falchion::{
    epilogue::{Clamp, Constant},
    internals::index::Map,
    layout::Layout,
};

/// Extents that fit tiles, and extents that do not.
const EXTENTS: [(usize, usize, usize); 6] =
    [(128, 128, 32), (70, 133, 37), (1, 3, 1), (17, 64, 0), (9, 21, 1), (40, 1, 50)];

/// A generator that is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Elements whose products and sums round.
trait Sample: bytemuck::Pod + PartialEq {
    fn sample(numbers: &mut Numbers) -> Self;
}

macro_rules! samples {
    ($($element:ty => |$x:ident| $how:expr;)*) => {
        $(impl Sample for $element {
            fn sample(numbers: &mut Numbers) -> Self {
                let $x = numbers.next();
                $how
            }
        })*
    };
}

/// Between -1 and 1, with both zeros among them.
fn real(x: u64) -> f64 {
    match x % 16 {
        0 => 0.0,
        1 => -0.0,
        _ => (x >> 4) as f64 / f64::from(1 << 26) - 1.0,
    }
}

samples! {
    f64 => |x| real(x);
    f32 => |x| real(x) as f32;
    F16 => |x| F16::from_f64(real(x));
    Bf16 => |x| Bf16::from_f64(real(x));
    i8 => |x| x as i8;
    u8 => |x| x as u8;
    i32 => |x| x as i32;
}

/// Runs `desc` in both modes on the same numbers, and compares bytes.
fn agree<A: MathType, B: MathType, C: MathType>(desc: GemmDesc, orders: [Order; 3])
where
    A::Storage: Sample,
    B::Storage: Sample,
    C::Storage: Sample,
{
    for (case, (m, n, k)) in EXTENTS.into_iter().enumerate() {
        let mut numbers = Numbers(case as u64);
        let matrix = |order: Order, rows, columns| {
            let leading = order.packed(rows, columns) + if case < 4 { 5 } else { 0 };
            View::new(Elements::of(leading * order.packed(columns, rows)), order, leading)
        };
        let (a, b, c) = (matrix(orders[0], m, k), matrix(orders[1], k, n), matrix(orders[2], m, n));
        let a_elements: Vec<A::Storage> =
            (0..a.memory.length).map(|_| Sample::sample(&mut numbers)).collect();
        let b_elements: Vec<B::Storage> =
            (0..b.memory.length).map(|_| Sample::sample(&mut numbers)).collect();
        let c_elements: Vec<C::Storage> =
            (0..c.memory.length).map(|_| Sample::sample(&mut numbers)).collect();
        let scalars = if case % 2 == 0 { [1.0, 0.0] } else { [0.75, -2.0] };
        let mut all = [0.0; 8];
        all[..2].copy_from_slice(&scalars);
        let problem = Problem {
            m,
            n,
            k,
            batch: 1,
            a,
            b,
            c: Source::InPlace,
            d: c,
            vectors: Default::default(),
            scalars: all,
            groups: None,
            workspace: None,
        };
        let run = |mode| {
            let mut d = c_elements.clone();
            let matrices = HostMatrices {
                c: Source::InPlace,
                ..slices::<A, B, C>(&a_elements, &b_elements, &mut d)
            };
            run_on_host(&desc, mode, problem.with(matrices))
                .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
            d
        };
        let (fast, checked) = (run(Mode::Fast), run(Mode::Checked { seed: 7 }));
        assert!(
            bytemuck::cast_slice::<_, u8>(&fast) == bytemuck::cast_slice::<_, u8>(&checked),
            "{m} x {n} x {k}\n{desc:?}"
        );
    }
}

macro_rules! cases {
    ($($name:ident: $a:ty, $la:ty, $b:ty, $lb:ty, $c:ty, $lc:ty, $accumulator:ty, $change:expr;)*) => {
        $(#[test]
        fn $name() {
            let gemm = Gemm::<$a, $la, $b, $lb, $c, $lc, $accumulator>::new();
            let change: fn(GemmDesc) -> GemmDesc = $change;
            agree::<$a, $b, $c>(change(gemm.desc()), [<$la>::ORDER, <$lb>::ORDER, <$lc>::ORDER]);
        })*
    };
}

/// The description with other tiles, of a block and of a warp.
fn tiles(d: GemmDesc, block: (u32, u32, u32), warp: (u32, u32, u32)) -> GemmDesc {
    let mnk = |(m, n, k)| Mnk { m, n, k };
    but!(d, threadblock: mnk(block), warp: mnk(warp))
}

fn swizzled(d: GemmDesc) -> GemmDesc {
    let smem_a = SmemLayout::Swizzled { along: Along::K, bits: 2, base: 1, shift: 0 };
    // Copies of single elements suit every layout.
    but!(d, smem_a, smem_b: SmemLayout::Padded { along: Along::K, padding: 1 }, align_a: 1, align_b: 1)
}

cases! {
    f32_rows: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| d;
    f32_columns: f32, ColMajor, f32, ColMajor, f32, ColMajor, f32, |d| d;
    f32_along_k: f32, RowMajor, f32, ColMajor, f32, RowMajor, f32, |d| d;
    f32_along_mn: f32, ColMajor, f32, RowMajor, f32, RowMajor, f32, |d| d;
    f32_small_warps: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| tiles(d, (32, 64, 8), (8, 32, 8));
    f32_one_small_warp: f32, ColMajor, f32, RowMajor, f32, RowMajor, f32, |d| tiles(d, (8, 16, 8), (8, 16, 8));
    f32_narrow: f32, RowMajor, f32, ColMajor, f32, ColMajor, f32, |d| tiles(d, (128, 8, 8), (16, 8, 8));
    f32_odd_grid: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| tiles(d, (24, 48, 8), (8, 16, 8));
    f32_sliced: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| tiles(d, (32, 64, 16), (32, 32, 8));
    f32_four_subtiles: f32, ColMajor, f32, RowMajor, f32, RowMajor, f32, |d| tiles(d, (32, 32, 32), (16, 32, 8));
    f32_three_subtiles: f32, RowMajor, f32, ColMajor, f32, ColMajor, f32, |d| tiles(d, (32, 32, 24), (32, 32, 8));
    f32_stages: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| but!(d, stages: 3);
    f32_clamped: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| {
        but!(d, epilogue: <Clamp<LinearCombination, Constant<-1>, Constant<1>> as Node>::DESC)
    };
    f32_horizontal: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| but!(d, swizzle: SwizzleKind::Horizontal);
    f32_grouped: f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, |d| but!(tiles(d, (32, 32, 8), (16, 32, 8)), swizzle: SwizzleKind::Identity(4));
    f32_swizzled: f32, RowMajor, f32, ColMajor, f32, RowMajor, f32, |d| tiles(swizzled(d), (128, 128, 8), (32, 64, 8));
    f64_rows: f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, |d| d;
    f64_sliced: f64, ColMajor, f64, RowMajor, f64, ColMajor, f64, |d| tiles(d, (16, 40, 16), (16, 8, 8));
    f16_in_f32: F16, RowMajor, F16, ColMajor, F16, RowMajor, f32, |d| d;
    f16_to_f32: F16, ColMajor, F16, RowMajor, f32, RowMajor, f32, |d| d;
    f16_in_f16: F16, RowMajor, F16, RowMajor, F16, ColMajor, F16, |d| d;
    f16_in_f16_sliced: F16, RowMajor, F16, ColMajor, F16, RowMajor, F16, |d| tiles(d, (32, 64, 16), (32, 32, 8));
    bf16_in_f32: Bf16, ColMajor, Bf16, ColMajor, Bf16, RowMajor, f32, |d| d;
    bf16_to_f32: Bf16, RowMajor, Bf16, RowMajor, f32, ColMajor, f32, |d| d;
    i8_to_i32: i8, RowMajor, i8, ColMajor, i32, RowMajor, i32, |d| d;
    i8_to_i8: i8, ColMajor, i8, RowMajor, i8, ColMajor, i32, |d| tiles(d, (64, 64, 32), (32, 32, 16));
    i8_to_f32: i8, RowMajor, i8, RowMajor, f32, RowMajor, i32, |d| d;
    u8_to_u8: u8, RowMajor, u8, ColMajor, u8, RowMajor, i32, |d| d;
    i32_to_i32: i32, ColMajor, i32, ColMajor, i32, RowMajor, i32, |d| tiles(d, (32, 64, 16), (32, 32, 8));
}

/// A map with its offsets changed.
struct Changed<F>(Map, F);

impl<F: Fn(Coord, u32) -> u32 + Send + Sync> IndexMap for Changed<F> {
    fn domain(&self) -> Coord {
        self.0.domain()
    }

    fn codomain(&self) -> u32 {
        self.0.codomain()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        Some((self.1)(point, self.0.at(point)?))
    }
}

/// Runs a program in a mode on 64 x 64 x 32 numbers.
fn run(program: &Program, mode: Mode) -> Result<Vec<f32>, Error> {
    let (n, k) = (64, 32);
    let mut numbers = Numbers(1);
    let mut matrix =
        |count: usize| (0..count).map(|_| Sample::sample(&mut numbers)).collect::<Vec<f32>>();
    let (a, b, mut d) = (matrix(n * k), matrix(k * n), vec![0.0; n * n]);
    let problem =
        Problem::of(&program.desc, (n, n, k), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let matrices = slices::<f32, f32, f32>(&a, &b, &mut d);
    run_on_host(program, mode, problem.with(matrices)).map(|()| d)
}

/// The program of 32 x 32 tiles, four warps each, two along M and two along N.
fn four_warps() -> Program {
    tiles(
        Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new().desc(),
        (32, 32, 8),
        (16, 16, 8),
    )
    .one()
    .program()
}

#[test]
fn warps_that_form_no_grid_are_multiplied_one_by_one() {
    let right = run(&four_warps(), Mode::Fast).unwrap();
    let mut program = four_warps();
    // Neighbouring rows change places, but only in the left half of the tile: half of the warps.
    let swap = |_, offset: u32| if offset % 32 < 16 { offset ^ 32 } else { offset };
    program.maps.accumulator = Arc::new(Changed(program.maps.accumulator, swap));
    let fast = run(&program, Mode::Fast).unwrap();
    assert_eq!(fast, run(&program, Mode::Checked { seed: 3 }).unwrap());
    assert_eq!(fast[64..80], right[..16]);
    assert_eq!(fast[80..96], right[80..96]);
}

#[test]
fn wrong_maps_make_wrong_products() {
    let right = run(&four_warps(), Mode::Fast).unwrap();
    let wrong: [fn(&mut Program); 4] = [
        |p| p.maps.fragment[0] = Arc::new(Changed(p.maps.fragment[0].clone(), |_, mn| mn ^ 1)),
        |p| p.maps.fragment[1] = Arc::new(Changed(p.maps.fragment[1].clone(), |_, mn| mn ^ 16)),
        |p| p.maps.copy[1] = Arc::new(Changed(p.maps.copy[1].clone(), |_, vector| vector ^ 1)),
        |p| p.maps.depth = Arc::new(Changed(p.maps.depth.clone(), |_, k| k ^ 1)),
    ];
    for (which, change) in wrong.into_iter().enumerate() {
        let mut program = four_warps();
        change(&mut program);
        let (fast, checked) = (run(&program, Mode::Fast), run(&program, Mode::Checked { seed: 3 }));
        // Which thread copies which vector does not matter, as long as each is copied.
        match (fast, checked) {
            (Ok(fast), Ok(checked)) => {
                assert_eq!(fast, checked, "{which}");
                assert_eq!(fast == right, which == 2, "{which}");
            }
            (fast, checked) => assert!(fast.is_err() && checked.is_err(), "{which}"),
        }
    }
}
