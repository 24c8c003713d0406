//! The fast mode gives the bits of the checked mode: element types, slices of K, edges, layouts, tiles of every form.

use falchion::{
    desc::{EpilogueTree, WithSharedA, WithSharedB, WithTileOrdering},
    device::{Host, HostMatrices, HostSlice, HostSliceMut, MatrixShape, Shapes, Source, host::Mode, run_on_host},
    layout::{Layout, Order},
    numeric::Element,
    prelude::*,
};

/// Extents that fit tiles, and extents that do not.
const EXTENTS: [(usize, usize, usize); 4] = [(128, 128, 32), (70, 133, 37), (1, 3, 1), (17, 64, 0)];

/// A generator that is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
fn agree<A: Element, B: Element, C: Element>(desc: GemmDesc, orders: [Order; 3])
where
    A::Storage: Sample,
    B::Storage: Sample,
    C::Storage: Sample,
{
    for (case, (m, n, k)) in EXTENTS.into_iter().enumerate() {
        let mut numbers = Numbers(case as u64);
        // Leading dimensions that keep every alignment there is.
        let matrix = |order: Order, rows, columns| {
            let leading = (order.packed(rows, columns) + 5).next_multiple_of(16);
            MatrixShape { order, leading, length: leading * order.packed(columns, rows) }
        };
        let (a, b, c) = (matrix(orders[0], m, k), matrix(orders[1], k, n), matrix(orders[2], m, n));
        let a_elements: Vec<A::Storage> = (0..a.length).map(|_| Sample::sample(&mut numbers)).collect();
        let b_elements: Vec<B::Storage> = (0..b.length).map(|_| Sample::sample(&mut numbers)).collect();
        let c_elements: Vec<C::Storage> = (0..c.length).map(|_| Sample::sample(&mut numbers)).collect();
        let scalars = if case % 2 == 0 { [1.0, 0.0] } else { [0.75, -2.0] };
        let mut all = [0.0; 8];
        all[..2].copy_from_slice(&scalars);
        let shapes = Shapes { m, n, k, a, b, c: Source::InPlace, d: c, scalars: all };
        let run = |mode| {
            let mut d = c_elements.clone();
            let matrices = HostMatrices {
                a: HostSlice::new::<A>(&a_elements),
                b: HostSlice::new::<B>(&b_elements),
                c: Source::InPlace,
                d: HostSliceMut::new::<C>(&mut d),
            };
            run_on_host(&desc, mode, &shapes, matrices).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
            d
        };
        let (fast, checked) = (run(Mode::Fast), run(Mode::Checked { seed: 7 }));
        assert!(bytemuck::cast_slice::<_, u8>(&fast) == bytemuck::cast_slice::<_, u8>(&checked), "{m} x {n} x {k}\n{desc:?}");
    }
}

macro_rules! cases {
    ($($name:ident: $a:ty, $la:ty, $b:ty, $lb:ty, $c:ty, $lc:ty, $accumulator:ty, $configuration:ty;)*) => {
        $(#[test]
        fn $name() {
            let gemm = Gemm::<$a, $la, $b, $lb, $c, $lc, $accumulator, Simt, Sm80, $configuration>::new();
            agree::<$a, $b, $c>(gemm.desc(), [<$la>::ORDER, <$lb>::ORDER, <$lc>::ORDER]);
        })*
    };
}

/// Tiles of a block and of a warp.
type Tiles<const M: u32, const N: u32, const K: u32, const WM: u32, const WN: u32, const WK: u32> =
    WithWarp<WithThreadblock<Auto, GemmShape<M, N, K>>, GemmShape<WM, WN, WK>>;
