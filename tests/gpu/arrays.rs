//! Arrays on a device: the host's bits, wherever their matrices lie; what no product writes stays as it was.

use super::prepared::{capture, captured, untracked};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{cuda::open, prelude::*, threadblock::MOST_PRODUCTS};
use falchion_lab::verify::draw;
use std::sync::Arc;

/// Small whole numbers.
trait Whole: Copy + PartialEq {
    fn whole(x: i8) -> Self;
}

macro_rules! whole {
    ($($T:ty => $f:expr),*) => {
        $(impl Whole for $T {
            fn whole(x: i8) -> Self {
                let f: fn(i8) -> Self = $f;
                f(x)
            }
        })*
    };
}
whole!(f32 => f32::from, i8 => |x| x, i32 => i32::from, f64 => f64::from, F16 => |x| F16::from_f32(f32::from(x)), Bf16 => |x| Bf16::from_f32(f32::from(x)));

fn numbers<T: Whole>(seed: u64, length: usize) -> Vec<T> {
    (0..length as u64).map(|i| T::whole((draw(seed, i) % 15) as i8 - 7)).collect()
}

/// Elements before each matrix and behind it.
const GUARD: usize = 64;

/// Some matrices, each in memory of its own, `beyond` elements behind where others begin.
struct Matrices<T> {
    host: Vec<Vec<T>>,
    device: Vec<CudaSlice<T>>,
    beyond: usize,
    length: usize,
}

impl<T: Whole + cudarc::driver::DeviceRepr> Matrices<T> {
    fn of(stream: &Arc<CudaStream>, (seed, count): (u64, usize), length: usize, beyond: usize) -> Self {
        let host: Vec<Vec<T>> = (0..count).map(|i| numbers(seed + 10 * i as u64, beyond + length + 2 * GUARD)).collect();
        let device = host.iter().map(|matrix| stream.clone_htod(matrix).unwrap()).collect();
        Self { host, device, beyond, length }
    }

    /// Where each of them lies: only one of them begins elsewhere than others.
    fn place(&self, number: usize) -> core::ops::Range<usize> {
        let first = GUARD + if number == 1 { self.beyond } else { 0 };
        first..first + self.length
    }

    /// Whether all bytes, guards among them, are the host's.
    fn same(&self, stream: &Arc<CudaStream>) -> bool {
        self.host.iter().zip(&self.device).all(|(host, device)| stream.clone_dtoh(device).unwrap() == *host)
    }
}

/// An array on both, twice on the device.
macro_rules! held {
    ($stream:expr, $Gemm:ty, [$A:ty, $C:ty], $extents:expr, $products:expr, $beyond:expr, $x:ident, $c:ident => $changed:expr) => {{
        let (stream, (m, n, k), products): (&Arc<CudaStream>, _, usize) = ($stream, $extents, $products);
        let [of_a, of_b, of_c, of_d]: [usize; 4] = $beyond;
        let a = Matrices::<$A>::of(stream, (1, products), m * k, of_a);
        let b = Matrices::<$A>::of(stream, (2, products), k * n, of_b);
        let c = Matrices::<$C>::of(stream, (3, products), m * n, of_c);
        let mut d = Matrices::<$C>::of(stream, (4, products), m * n, of_d);
        let before = d.host.clone();
        let places: Vec<_> = (0..products).map(|i| d.place(i)).collect();
        {
            let read = |all: &'_ [Vec<$A>], of: &Matrices<$A>| -> Vec<_> {
                (0..products).map(|i| all[i][of.place(i)].to_vec()).collect()
            };
            let (x, y) = (read(&a.host, &a), read(&b.host, &b));
            let z: Vec<_> = (0..products).map(|i| c.host[i][c.place(i)].to_vec()).collect();
            let $c = &z;
            let of_d = d.host.iter_mut().zip(&places).map(|(d, place)| &mut d[place.clone()]);
            let $x = Arguments::array((m, n, k), &x, &y, of_d).unwrap();
            <$Gemm>::new().run($changed).expect("the host");
        }
        assert!(d.host != before);
        let mut bytes = 0;
        for _ in 0..2 {
            d.device.iter_mut().zip(&before).for_each(|(d, before)| stream.memcpy_htod(before, d).unwrap());
            let x: Vec<_> = a.device.iter().enumerate().map(|(i, m)| m.slice(a.place(i))).collect();
            let y: Vec<_> = b.device.iter().enumerate().map(|(i, m)| m.slice(b.place(i))).collect();
            let z: Vec<_> = c.device.iter().enumerate().map(|(i, m)| m.slice(c.place(i))).collect();
            let mut w: Vec<_> = d.device.iter_mut().zip(&places).map(|(d, place)| d.slice_mut(place.clone())).collect();
            let $c = &z;
            let $x = Arguments::array((m, n, k), &x, &y, &mut w).unwrap();
            bytes = <$Gemm>::new().workspace_size(&$changed).expect("a size");
            let mut workspace = stream.alloc_zeros::<u8>(bytes as usize + 1).unwrap();
            let $x = Arguments::array((m, n, k), &x, &y, &mut w).unwrap().workspace(&mut workspace);
            <$Gemm>::new().run($changed).expect("the device");
            drop(w);
            assert!(d.same(stream), "{:?}, {products} products, {:?}", (m, n, k), [of_a, of_b, of_c, of_d]);
        }
        assert!(a.same(stream) && b.same(stream) && c.same(stream), "what is read stays");
        bytes
    }};
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_array_on_cuda_cores_is_the_hosts() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor>;
    type Columns = Gemm<i8, ColMajor, i8, RowMajor, i32, ColMajor>;
    for extents in [(128, 64, 32), (130, 67, 33), (1, 5, 7), (64, 64, 4096)] {
        held!(&stream, Rows, [f32, f32], extents, 4, [0; 4], x, _c => x);
        held!(&stream, Rows, [f32, f32], extents, 3, [0; 4], x, c => x.sources(2.0, c).unwrap());
        held!(&stream, Rows, [f32, f32], extents, 3, [0; 4], x, c => x.source(2.0, &c[1]));
        held!(&stream, Rows, [f32, f32], extents, 3, [0; 4], x, _c => x.in_place(-1.0));
        // The second product's matrices begin where no wide access does.
        held!(&stream, Rows, [f32, f32], extents, 3, [1, 2, 3, 1], x, c => x.sources(1.0, c).unwrap());
        held!(&stream, Columns, [i8, i32], extents, 5, [1, 0, 0, 1], x, _c => x.in_place(-1.0));
    }
    // Several launches: full ones, and a last one of one product.
    for products in [MOST_PRODUCTS as usize, MOST_PRODUCTS as usize + 1, 300] {
        held!(&stream, Rows, [f32, f32], (33, 17, 9), products, [0, 0, 0, 1], x, c => x.sources(1.0, c).unwrap());
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Ampere or newer"]
fn an_array_of_mma_sync_is_the_hosts() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Halves = Gemm<F16, RowMajor, F16, ColMajor, f32, RowMajor, f32, TensorOp, Sm80>;
    type Turned = Gemm<Bf16, ColMajor, Bf16, RowMajor, f32, ColMajor, f32, TensorOp, Sm80>;
    type Bytes = Gemm<i8, ColMajor, i8, RowMajor, i32, ColMajor, i32, TensorOp, Sm80>;
    type Doubles = Gemm<f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, TensorOp, Sm80>;
    for extents in [(256, 128, 64), (130, 67, 33), (1, 5, 7), (64, 64, 4096)] {
        held!(&stream, Halves, [F16, f32], extents, 4, [0; 4], x, c => x.sources(2.0, c).unwrap());
        held!(&stream, Halves, [F16, f32], extents, 3, [1, 2, 0, 3], x, _c => x.in_place(2.0));
        held!(&stream, Turned, [Bf16, f32], extents, 5, [8, 4, 2, 0], x, c => x.source(1.0, &c[0]));
        held!(&stream, Bytes, [i8, i32], extents, 4, [4, 1, 0, 1], x, _c => x.in_place(-1.0));
        held!(&stream, Doubles, [f64, f64], extents, 3, [0, 1, 0, 1], x, c => x.sources(1.0, c).unwrap());
    }
    held!(&stream, Halves, [F16, f32], (33, 17, 9), 300, [0; 4], x, c => x.sources(1.0, c).unwrap());
}

/// TMA takes a map for each matrix, six products a launch; where an operand is not read where it lies, a product a launch, each behind its own passes, which have one workspace in turn.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn an_array_of_warp_specialized_kernels_is_the_hosts() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;
    type Emulated = Gemm<f32, RowMajor, f32, ColMajor, f32, RowMajor, f32, TensorOp, Sm90>;
    type Columns = Gemm<Bf16, RowMajor, Bf16, ColMajor, f32, ColMajor, f32, TensorOp, Sm90>;
    type Bytes = Gemm<i8, RowMajor, i8, ColMajor, i32, RowMajor, i32, TensorOp, Sm90>;
    for extents in [(256, 128, 64), (130, 72, 48), (1, 8, 16), (64, 64, 8192)] {
        for products in [2, 6, 7, 13] {
            held!(&stream, Rows, [Bf16, Bf16], extents, products, [0; 4], x, c => x.sources(1.0, c).unwrap());
        }
        held!(&stream, Rows, [Bf16, Bf16], extents, 7, [8, 16, 8, 8], x, c => x.source(1.0, &c[1]));
        // Threads store what TMA does not.
        held!(&stream, Rows, [Bf16, Bf16], extents, 7, [0, 8, 1, 3], x, _c => x.in_place(1.0));
        held!(&stream, Columns, [Bf16, f32], extents, 7, [0, 8, 0, 4], x, c => x.sources(-1.0, c).unwrap());
        held!(&stream, Bytes, [i8, i32], extents, 7, [16, 0, 0, 1], x, _c => x.in_place(2.0));
    }
    for extents in [(256, 128, 64), (130, 67, 33)] {
        let direct = held!(&stream, Rows, [Bf16, Bf16], extents, 4, [0; 4], x, c => x.sources(1.0, c).unwrap());
        assert_eq!(direct == 0, extents.2 % 8 == 0, "{extents:?}");
        let repacked = held!(&stream, Rows, [Bf16, Bf16], extents, 3, [1, 0, 0, 1], x, _c => x.in_place(1.0));
        assert!(repacked > 0, "{extents:?}");
        held!(&stream, Emulated, [f32, f32], extents, 3, [0, 1, 0, 0], x, _c => x);
    }
}

/// A graph holds the addresses: what made the list of matrices may be gone by then, and what they hold may change.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_holds_addresses() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor>;
    let (extents @ (m, n, k), products) = ((64, 48, 32), 130);
    let kernel = Rows::new().prepare_array(&context).expect("kernels of arrays");
    let mut a = Matrices::<f32>::of(&stream, (1, products), m * k, 0);
    let b = Matrices::<f32>::of(&stream, (2, products), k * n, 0);
    let mut d = Matrices::<f32>::of(&stream, (3, products), m * n, 0);
    capture(&stream);
    {
        let x: Vec<_> = a.device.iter().enumerate().map(|(i, one)| one.slice(a.place(i))).collect();
        let y: Vec<_> = b.device.iter().enumerate().map(|(i, one)| one.slice(b.place(i))).collect();
        let places: Vec<_> = (0..products).map(|i| d.place(i)).collect();
        let mut z: Vec<_> = d.device.iter_mut().zip(places).map(|(one, place)| one.slice_mut(place)).collect();
        kernel.run_on(&stream, Arguments::array(extents, &x, &y, &mut z).unwrap()).expect("captured");
    }
    let graph = captured(&stream).expect("a graph");
    for round in 0..3 {
        for (host, device) in a.host.iter_mut().zip(&mut a.device) {
            *host = numbers(round + host.len() as u64, host.len());
            stream.memcpy_htod(host, device).unwrap();
        }
        graph.launch().unwrap();
        let (x, y): (Vec<_>, Vec<_>) =
            (0..products).map(|i| (a.host[i][a.place(i)].to_vec(), b.host[i][b.place(i)].to_vec())).unzip();
        let places: Vec<_> = (0..products).map(|i| d.place(i)).collect();
        let of_d = d.host.iter_mut().zip(places).map(|(one, place)| &mut one[place]);
        Rows::new().run(Arguments::array(extents, &x, &y, of_d).unwrap()).expect("the host");
        assert!(d.same(&stream), "round {round}");
    }
}

/// A few arrays of each family.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_arrays_for_a_sanitizer() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor>;
    type Halves = Gemm<F16, RowMajor, F16, ColMajor, f32, RowMajor, f32, TensorOp, Sm80>;
    held!(&stream, Rows, [f32, f32], (130, 67, 33), 3, [1, 2, 3, 1], x, c => x.sources(1.0, c).unwrap());
    held!(&stream, Halves, [F16, f32], (130, 67, 33), 3, [1, 2, 0, 3], x, c => x.sources(1.0, c).unwrap());
    held!(&stream, Halves, [F16, f32], (33, 17, 9), 121, [0; 4], x, _c => x.in_place(1.0));
    type Hopper = Gemm<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;
    held!(&stream, Hopper, [Bf16, Bf16], (130, 72, 48), 7, [8, 0, 0, 8], x, c => x.sources(1.0, c).unwrap());
}

/// Each matrix is as long as the extents say, and lies on D's device.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_array_may_not_reach_beyond_its_memory() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor>;
    let all = stream.clone_htod(&vec![1.0f32; 200]).unwrap();
    let mut d = stream.clone_htod(&vec![7.0f32; 128]).unwrap();
    let (mut first, mut second) = d.split_at_mut(64);
    let short = [all.slice(0..64), all.slice(137..200)];
    let refused =
        Rows::new().run(Arguments::array((8, 8, 8), [&all, &all], &short, [&mut first, &mut second]).unwrap()).expect_err("63");
    assert!(refused.to_string().starts_with("B has 63 elements"), "{refused}");
    assert!(stream.clone_dtoh(&d).unwrap().iter().all(|&x| x == 7.0), "D is untouched");
    let (mut first, mut second) = d.split_at_mut(64);
    Rows::new().run(Arguments::array((8, 8, 8), [&all; 2], [&all; 2], [&mut first, &mut second]).unwrap()).expect("it fits");
    assert_eq!(stream.clone_dtoh(&d).unwrap(), [8.0; 128]);
}
