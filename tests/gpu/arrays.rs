//! Pointer arrays on a device: D has the bits of the host at any addresses, and no kernel writes
//! beyond its matrices.

use super::prepared::{capture, captured, untracked};
use crate::harness::{prelude::*, whole::Whole};
use cudarc::driver::{CudaView, CudaViewMut};

/// Guard elements before and after each matrix.
const GUARD: usize = 64;

/// Matrices of a pointer array, each in its own allocation.
struct Matrices<T> {
    host: Vec<Vec<T>>,
    device: Vec<CudaSlice<T>>,
    /// Additional offset of matrix 1 in its allocation, in elements.
    beyond: usize,
    length: usize,
}

impl<T: Whole + DeviceRepr> Matrices<T> {
    fn new(
        stream: &Arc<CudaStream>,
        (seed, count): (u64, usize),
        length: usize,
        beyond: usize,
    ) -> Self {
        let host: Vec<Vec<T>> = (0..count)
            .map(|i| numbers(seed + 10 * i as u64, beyond + length + 2 * GUARD))
            .collect();
        let device = host.iter().map(|matrix| stream.clone_htod(matrix).unwrap()).collect();
        Self { host, device, beyond, length }
    }

    /// Returns the range of a matrix in its allocation. Only matrix 1 has another offset.
    fn place(&self, number: usize) -> core::ops::Range<usize> {
        let first = GUARD + if number == 1 { self.beyond } else { 0 };
        first..first + self.length
    }

    fn copies(&self) -> Vec<Vec<T>> {
        self.host.iter().enumerate().map(|(i, one)| one[self.place(i)].to_vec()).collect()
    }

    fn on_host(&mut self) -> Vec<&mut [T]> {
        let places: Vec<_> = (0..self.host.len()).map(|i| self.place(i)).collect();
        self.host.iter_mut().zip(places).map(|(one, place)| &mut one[place]).collect()
    }

    fn views(&self) -> Vec<CudaView<'_, T>> {
        self.device.iter().enumerate().map(|(i, one)| one.slice(self.place(i))).collect()
    }

    fn views_mut(&mut self) -> Vec<CudaViewMut<'_, T>> {
        let places: Vec<_> = (0..self.device.len()).map(|i| self.place(i)).collect();
        self.device.iter_mut().zip(places).map(|(one, place)| one.slice_mut(place)).collect()
    }

    /// Copies all bytes to the device, including the guards.
    fn upload(&mut self, stream: &Arc<CudaStream>) {
        let all = self.host.iter().zip(&mut self.device);
        all.for_each(|(host, device)| stream.memcpy_htod(host, device).unwrap());
    }

    /// Changes all numbers on the host and on the device.
    fn renew(&mut self, stream: &Arc<CudaStream>, round: u64) {
        self.host
            .iter_mut()
            .for_each(|host| *host = numbers(round + host.len() as u64, host.len()));
        self.upload(stream);
    }

    /// Restores each matrix on the device, but not its guards.
    fn restore(&mut self, stream: &Arc<CudaStream>) {
        let host = self.host.clone();
        self.views_mut()
            .iter_mut()
            .zip(&host)
            .for_each(|(place, host)| stream.memcpy_htod(&host[..place.len()], place).unwrap());
    }

    /// Returns whether all bytes are equal to those of the host, including the guards.
    fn same(&self, stream: &Arc<CudaStream>) -> bool {
        self.host
            .iter()
            .zip(&self.device)
            .all(|(host, device)| stream.clone_dtoh(device).unwrap() == *host)
    }
}

/// Runs an array once on the host and twice on the device, and compares all bytes. Returns the size
/// of the workspace in bytes.
macro_rules! compare {
    ($stream:expr, $Gemm:ty, [$A:ty, $C:ty], $extents:expr, $count:expr, $beyond:expr, $x:ident, $c:ident => $changed:expr) => {{
        let (stream, (m, n, k), count): (&Arc<CudaStream>, _, usize) = ($stream, $extents, $count);
        let [of_a, of_b, of_c, of_d]: [usize; 4] = $beyond;
        let a = Matrices::<$A>::new(stream, (1, count), m * k, of_a);
        let b = Matrices::<$A>::new(stream, (2, count), k * n, of_b);
        let c = Matrices::<$C>::new(stream, (3, count), m * n, of_c);
        let mut d = Matrices::<$C>::new(stream, (4, count), m * n, of_d);
        let before = d.host.clone();
        {
            let (x, y, z) = (a.copies(), b.copies(), c.copies());
            let $c = &z;
            let $x = Arguments::array((m, n, k), &x, &y, d.on_host()).unwrap();
            <$Gemm>::new().run($changed).expect("the host");
        }
        assert!(d.host != before);
        let mut bytes = 0;
        for _ in 0..2 {
            d.device
                .iter_mut()
                .zip(&before)
                .for_each(|(d, before)| stream.memcpy_htod(before, d).unwrap());
            let (x, y, z) = (a.views(), b.views(), c.views());
            let mut w = d.views_mut();
            let $c = &z;
            let $x = Arguments::array((m, n, k), &x, &y, &mut w).unwrap();
            bytes = <$Gemm>::new().workspace_size(&$changed).expect("a size");
            let mut workspace = stream.alloc_zeros::<u8>(bytes as usize + 1).unwrap();
            let $x = Arguments::array((m, n, k), &x, &y, &mut w).unwrap().workspace(&mut workspace);
            <$Gemm>::new().run($changed).expect("the device");
            drop(w);
            assert!(
                d.same(stream),
                "{:?}, {count} GEMMs, {:?}",
                (m, n, k),
                [of_a, of_b, of_c, of_d]
            );
        }
        assert!(a.same(stream) && b.same(stream) && c.same(stream), "a kernel wrote to an input");
        bytes
    }};
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_array_on_cuda_cores_has_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    type Columns = Gemm<i8, ColMajor, i8, RowMajor, i32, ColMajor, i32, Simt>;
    for extents in [(128, 64, 32), (130, 67, 33), (1, 5, 7), (64, 64, 4096)] {
        compare!(&stream, Rows, [f32, f32], extents, 4, [0; 4], x, _c => x);
        compare!(&stream, Rows, [f32, f32], extents, 3, [0; 4], x, c => x.sources(2.0, c).unwrap());
        compare!(&stream, Rows, [f32, f32], extents, 3, [0; 4], x, c => x.source(2.0, &c[1]));
        compare!(&stream, Rows, [f32, f32], extents, 3, [0; 4], x, _c => x.in_place(-1.0));
        // The matrices of the second GEMM are not aligned for wide accesses.
        compare!(&stream, Rows, [f32, f32], extents, 3, [1, 2, 3, 1], x, c => x.sources(1.0, c).unwrap());
        compare!(&stream, Columns, [i8, i32], extents, 5, [1, 0, 0, 1], x, _c => x.in_place(-1.0));
    }
    // Short and long parameters of the pass, and several passes.
    for count in [127, 128, 300, 1021, 1022] {
        compare!(&stream, Rows, [f32, f32], (33, 17, 9), count, [0, 0, 0, 1], x, c => x.sources(1.0, c).unwrap());
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Ampere or newer"]
fn an_array_of_mma_sync_has_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Halves = KMajor<F16, f32, RowMajor, f32, TensorOp, Sm80>;
    type Transposed = MnMajor<Bf16, f32, ColMajor, f32, TensorOp, Sm80>;
    type Bytes = MnMajor<i8, i32, ColMajor, i32, TensorOp, Sm80>;
    type Doubles = Gemm<f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, TensorOp, Sm80>;
    for extents in [(256, 128, 64), (130, 67, 33), (1, 5, 7), (64, 64, 4096)] {
        compare!(&stream, Halves, [F16, f32], extents, 4, [0; 4], x, c => x.sources(2.0, c).unwrap());
        compare!(&stream, Halves, [F16, f32], extents, 3, [1, 2, 0, 3], x, _c => x.in_place(2.0));
        compare!(&stream, Transposed, [Bf16, f32], extents, 5, [8, 4, 2, 0], x, c => x.source(1.0, &c[0]));
        compare!(&stream, Bytes, [i8, i32], extents, 4, [4, 1, 0, 1], x, _c => x.in_place(-1.0));
        compare!(&stream, Doubles, [f64, f64], extents, 3, [0, 1, 0, 1], x, c => x.sources(1.0, c).unwrap());
    }
    compare!(&stream, Halves, [F16, f32], (33, 17, 9), 300, [0; 4], x, c => x.sources(1.0, c).unwrap());
}

/// TMA needs a tensor map for each matrix. If a pass copies an operand, each GEMM is a separate
/// launch, and all use one workspace in turn. Threads store the matrices that TMA cannot store.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn an_array_of_warp_specialized_kernels_has_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = HopperK<Bf16, Bf16>;
    type Emulated = HopperK<f32, f32>;
    type Columns = HopperK<Bf16, f32, ColMajor>;
    type Bytes = KMajor<i8, i32, RowMajor, i32, TensorOp, Sm90>;
    type Shared = HopperK<Bf16, Bf16, RowMajor, With<Auto, ClusterShape<2, 1>>>;
    for extents in [(256, 128, 64), (130, 72, 48), (1, 8, 16), (64, 64, 8192)] {
        for count in [2, 7, 13] {
            compare!(&stream, Rows, [Bf16, Bf16], extents, count, [0; 4], x, c => x.sources(1.0, c).unwrap());
        }
        compare!(&stream, Rows, [Bf16, Bf16], extents, 7, [8, 16, 8, 8], x, c => x.source(1.0, &c[1]));
        compare!(&stream, Rows, [Bf16, Bf16], extents, 7, [0, 8, 1, 3], x, _c => x.in_place(1.0));
        compare!(&stream, Columns, [Bf16, f32], extents, 7, [0, 8, 0, 4], x, c => x.sources(-1.0, c).unwrap());
        compare!(&stream, Bytes, [i8, i32], extents, 7, [16, 0, 0, 1], x, _c => x.in_place(2.0));
    }
    // `Shared` reads the operands with TMA, so its unaligned operands are repacked. `Rows` may use
    // a kernel that reads them in place.
    for extents in [(256, 128, 64), (130, 67, 2047)] {
        let direct = compare!(&stream, Shared, [Bf16, Bf16], extents, 4, [0; 4], x, c => x.sources(1.0, c).unwrap());
        assert_eq!(direct == 4 * 48 + 256, extents.2 % 8 == 0, "{extents:?}");
        let repacked = compare!(&stream, Shared, [Bf16, Bf16], extents, 3, [1, 0, 0, 1], x, _c => x.in_place(1.0));
        assert!(repacked > 0, "{extents:?}");
        compare!(&stream, Rows, [Bf16, Bf16], extents, 4, [1, 0, 0, 1], x, c => x.sources(1.0, c).unwrap());
        compare!(&stream, Emulated, [f32, f32], extents, 3, [0, 1, 0, 0], x, _c => x);
    }
}

/// One launch computes the GEMMs of an array after a pass with short or long parameters. Without a
/// workspace, each GEMM is a separate launch.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn large_arrays_have_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = HopperK<Bf16, Bf16>;
    type Transposed = HopperMn<Bf16, f32, ColMajor>;
    type Eights = HopperK<E4m3, f32>;
    type Tens = HopperK<Tf32, f32>;
    type Bytes = KMajor<i8, i32, RowMajor, i32, TensorOp, Sm90>;
    type SplitKernel = HopperK<Bf16, f32, RowMajor, With<Auto, SplitK<3>>>;
    type Shared = HopperK<Bf16, f32, RowMajor, With<Auto, ClusterShape<2, 1>>>;
    let records = |count: usize| 48 * count as u64 + 256;
    for count in [7, 85, 86, 300] {
        for extents in [(128, 128, 128), (130, 72, 48), (1, 8, 16)] {
            let asked = compare!(&stream, Rows, [Bf16, Bf16], extents, count, [0; 4], x, c => x.sources(2.0, c).unwrap());
            assert!(asked >= records(count), "{asked} bytes for {count} GEMMs");
            // Threads store the matrices that TMA cannot store. Their addresses precede the
            // positions in a record.
            compare!(&stream, Rows, [Bf16, Bf16], extents, count, [0, 8, 1, 3], x, c => x.sources(1.0, c).unwrap());
            compare!(&stream, Transposed, [Bf16, f32], extents, count, [8, 16, 0, 4], x, _c => x.in_place(-1.0));
        }
        compare!(&stream, Eights, [E4m3, f32], (130, 72, 64), count, [16, 0, 0, 4], x, c => x.sources(1.0, c).unwrap());
        compare!(&stream, Tens, [f32, f32], (130, 72, 48), count, [0, 4, 4, 0], x, c => x.source(1.0, &c[2]));
        compare!(&stream, Bytes, [i8, i32], (130, 72, 64), count, [16, 0, 0, 4], x, _c => x.in_place(2.0));
        compare!(&stream, Shared, [Bf16, f32], (300, 200, 80), count, [0, 8, 0, 0], x, c => x.sources(1.0, c).unwrap());
    }
    // The split-K partials of all GEMMs precede the records.
    for count in [7, 40] {
        let asked = compare!(&stream, SplitKernel, [Bf16, f32], (130, 72, 520), count, [0; 4], x, c => x.sources(1.0, c).unwrap());
        assert!(asked > records(count) + count as u64 * 3 * 128 * 72 * 4, "{asked} bytes");
    }
    compare!(&stream, Rows, [Bf16, Bf16], (64, 64, 0), 9, [0; 4], x, c => x.sources(1.0, c).unwrap());
    // Two launches of the pass write the records.
    compare!(&stream, Rows, [Bf16, Bf16], (1, 8, 16), 700, [0; 4], x, c => x.sources(2.0, c).unwrap());
}

/// Matrices may lie further apart than the positions of one launch reach: 2^31 steps of 16 bytes.
/// The array is then divided into launches, which share the space for the records.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper with 80 GiB of free memory"]
fn matrices_of_an_array_may_lie_far_apart() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = HopperK<Bf16, f32>;
    const SIZE: usize = 64 * 64;
    let bytes = (16usize << 31) + (1 << 20);
    let mut a = stream.alloc_zeros::<Bf16>(bytes / 2).unwrap();
    let mut d = stream.alloc_zeros::<f32>(bytes / 4).unwrap();
    let (end_a, end_d) = (bytes / 2 - 4 * SIZE, bytes / 4 - 4 * SIZE);
    let firsts_a = [0, end_a, SIZE + 8, 2 * SIZE + 8, end_a + SIZE + 8];
    let firsts_d = [0, SIZE + 4, end_d, end_d + SIZE + 4, 2 * SIZE + 8];
    let b: Vec<Bf16> = numbers(3, SIZE);
    let on_device = stream.clone_htod(&b).unwrap();
    let all_a: Vec<Vec<Bf16>> = (0..5).map(|i| numbers(100 + i, SIZE)).collect();
    for (content, first) in all_a.iter().zip(firsts_a) {
        stream.memcpy_htod(content, &mut a.slice_mut(first..first + SIZE)).unwrap();
    }
    let mut on_host = vec![vec![0.0f32; SIZE]; 5];
    let array = Arguments::array((64, 64, 64), &all_a, vec![&b; 5], &mut on_host).unwrap();
    Rows::new().run(array).expect("the host");
    let mut workspace = falchion::cuda::Workspace::new();
    let kernel = Rows::new().prepare_array(stream.context()).expect("kernels of arrays");
    let x = firsts_a.map(|first| a.slice(first..first + SIZE));
    for bound in [false, true] {
        for first in firsts_d {
            stream.memset_zeros(&mut d.slice_mut(first..first + SIZE)).unwrap();
        }
        {
            let (mut low, mut high) = d.split_at_mut(end_d);
            let (mut d0, mut rest) = low.split_at_mut(SIZE);
            let (_, mut rest) = rest.split_at_mut(4);
            let (mut d1, mut rest) = rest.split_at_mut(SIZE);
            let (_, mut rest) = rest.split_at_mut(4);
            let (mut d4, _) = rest.split_at_mut(SIZE);
            let (mut d2, mut rest) = high.split_at_mut(SIZE);
            let (_, mut rest) = rest.split_at_mut(4);
            let (mut d3, _) = rest.split_at_mut(SIZE);
            let z = [&mut d0, &mut d1, &mut d2, &mut d3, &mut d4];
            let array = Arguments::array((64, 64, 64), &x, vec![&on_device; 5], z).unwrap();
            let array = array.workspace(&mut workspace);
            if bound {
                kernel.bind(&stream, array, |call| call.run()).expect("a bound call");
            } else {
                kernel.run_on(&stream, array).expect("an array");
            }
        }
        for (number, first) in firsts_d.into_iter().enumerate() {
            let found = stream.clone_dtoh(&d.slice(first..first + SIZE)).unwrap();
            assert!(found == on_host[number], "product {number}, bound {bound}");
        }
    }
}

/// Arrays with different matrices use one workspace in sequence, without a wait. No kernel uses
/// records of another array. The bits equal those of separate launches, as in a call without a
/// workspace.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn arrays_in_sequence_share_a_workspace() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    type Rows = HopperK<Bf16, f32>;
    let (extents @ (m, n, k), count, rounds) = ((128, 128, 128), 64, 8);
    let kernel = Rows::new().prepare_array(&context).expect("kernels of arrays");
    let of = |round: usize, beyond: usize| {
        let seed = 1000 * round as u64;
        let a = Matrices::<Bf16>::new(&stream, (1 + seed, count), m * k, 8 * beyond);
        let b = Matrices::<Bf16>::new(&stream, (2 + seed, count), k * n, 0);
        (a, b, Matrices::<f32>::new(&stream, (3 + seed, count), m * n, 0))
    };
    let mut all: Vec<_> = (0..rounds).map(|round| of(round, round % 3)).collect();
    let mut workspace = stream.clone_htod(&vec![0xffu8; 48 * count + 256]).unwrap();
    for without in [false, true] {
        for (a, b, d) in &mut all {
            let (x, y, mut z) = (a.views(), b.views(), d.views_mut());
            let array = Arguments::array(extents, &x, &y, &mut z).unwrap();
            kernel
                .run(if without { array } else { array.workspace(&mut workspace) })
                .expect("an array");
        }
        for (round, (a, b, d)) in all.iter_mut().enumerate() {
            let (x, y) = (a.copies(), b.copies());
            Rows::new()
                .run(Arguments::array(extents, &x, &y, d.on_host()).unwrap())
                .expect("the host");
            assert!(d.same(&stream), "round {round}, without a workspace {without}");
            d.restore(&stream);
        }
    }
}

/// A captured graph holds the addresses and writes the records each time it runs, so the workspace
/// may hold any bytes before.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_graph_writes_records() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    type Rows = HopperK<Bf16, f32>;
    let (extents @ (m, n, k), count) = ((64, 48, 32), 130);
    let kernel = Rows::new().prepare_array(&context).expect("kernels of arrays");
    // Without a workspace, each GEMM is a separate launch.
    Rows::new().prepare(&context).expect("kernels of single GEMMs");
    let mut a = Matrices::<Bf16>::new(&stream, (1, count), m * k, 0);
    let b = Matrices::<Bf16>::new(&stream, (2, count), k * n, 0);
    let mut d = Matrices::<f32>::new(&stream, (3, count), m * n, 0);
    let mut workspace = stream.clone_htod(&vec![0xffu8; 48 * count + 256]).unwrap();
    for given in [true, false] {
        capture(&stream);
        {
            let (x, y, mut z) = (a.views(), b.views(), d.views_mut());
            let array = Arguments::array(extents, &x, &y, &mut z).unwrap();
            kernel
                .run_on(&stream, if given { array.workspace(&mut workspace) } else { array })
                .expect("captured");
        }
        let graph = captured(&stream).expect("a graph");
        for round in 0..3 {
            a.renew(&stream, round);
            stream.memcpy_htod(&vec![0xa5u8; 48 * count + 256], &mut workspace).unwrap();
            d.upload(&stream);
            graph.launch().unwrap();
            let (x, y) = (a.copies(), b.copies());
            Rows::new()
                .run(Arguments::array(extents, &x, &y, d.on_host()).unwrap())
                .expect("the host");
            assert!(d.same(&stream), "round {round}, a workspace {given}");
        }
    }
}

/// Without space for records, each GEMM is a separate launch. A workspace without space for the
/// split-K partials of one GEMM is refused.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_workspace_without_space_for_records_leads_to_separate_launches() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type SplitKernel = HopperK<Bf16, f32, RowMajor, With<Auto, SplitK<2>>>;
    let (extents @ (m, n, k), count) = ((64, 64, 256), 20);
    let (a, b) = (
        stream.clone_htod(&vec![Bf16::from_f32(1.0); m * k]).unwrap(),
        stream.clone_htod(&vec![Bf16::from_f32(1.0); k * n]).unwrap(),
    );
    let mut d: Vec<_> =
        (0..count).map(|_| stream.clone_htod(&vec![f32::NAN; m * n]).unwrap()).collect();
    let whole = SplitKernel::new()
        .workspace_size(
            &Arguments::array(extents, vec![&a; count], vec![&b; count], &mut d).unwrap(),
        )
        .expect("a size");
    let of_one = SplitKernel::new()
        .workspace_size(&Arguments::new(extents, &a, &b, &mut d[0]))
        .expect("a size");
    assert!(whole > of_one + 48 * count as u64);
    let run = |bytes: u64, d: &mut [CudaSlice<f32>]| {
        let mut workspace = stream.alloc_zeros::<u8>(bytes as usize).unwrap();
        let array = Arguments::array(extents, vec![&a; count], vec![&b; count], d).unwrap();
        SplitKernel::new().run(array.workspace(&mut workspace))
    };
    for bytes in [whole, whole - 1, of_one] {
        run(bytes, &mut d).unwrap_or_else(|error| panic!("{bytes} bytes: {error}"));
        for d in &mut d {
            assert!(stream.clone_dtoh(d).unwrap().iter().all(|&x| x == k as f32), "{bytes} bytes");
            stream.memcpy_htod(&vec![f32::NAN; m * n], d).unwrap();
        }
    }
    let refused = run(of_one - 1, &mut d).message();
    assert_eq!(
        refused,
        format!("workspace = {} bytes is less than {of_one} bytes (split-K partials)", of_one - 1)
    );
    assert!(
        d.iter().all(|d| stream.clone_dtoh(d).unwrap().iter().all(|x| x.is_nan())),
        "D has changed"
    );
}

/// A captured graph holds the addresses. The list of matrices may be dropped, and their content may
/// change.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_holds_addresses() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    let (extents @ (m, n, k), count) = ((64, 48, 32), 130);
    let kernel = Rows::new().prepare(&context).expect("kernels of single GEMMs");
    let mut a = Matrices::<f32>::new(&stream, (1, count), m * k, 0);
    let b = Matrices::<f32>::new(&stream, (2, count), k * n, 0);
    let mut d = Matrices::<f32>::new(&stream, (3, count), m * n, 0);
    capture(&stream);
    {
        let (x, y, mut z) = (a.views(), b.views(), d.views_mut());
        kernel
            .run_on(&stream, Arguments::array(extents, &x, &y, &mut z).unwrap())
            .expect("captured");
    }
    let graph = captured(&stream).expect("a graph");
    for round in 0..3 {
        a.renew(&stream, round);
        graph.launch().unwrap();
        let (x, y) = (a.copies(), b.copies());
        Rows::new().run(Arguments::array(extents, &x, &y, d.on_host()).unwrap()).expect("the host");
        assert!(d.same(&stream), "round {round}");
    }
}

/// A bound call writes its records once. Its launches run with the current content of the matrices,
/// also from a captured graph, and have the bits of a call that is not bound.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_bound_array_writes_its_records_once() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    type Threads = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    type Rows = HopperK<Bf16, f32>;
    macro_rules! bound {
        ($Gemm:ty, $A:ty) => {{
            let (stream, kernel) = (&stream, <$Gemm>::new().prepare_array(&context).expect("kernels of arrays"));
            let host = |x: &[Vec<$A>], y: &[Vec<$A>], z: Vec<&mut [f32]>| {
                <$Gemm>::new().run(Arguments::array((64, 48, 32), x, y, z).unwrap()).expect("the host");
            };
            let (extents @ (m, n, k), count) = ((64, 48, 32), 130);
            let mut a = Matrices::<$A>::new(stream, (1, count), m * k, 0);
            let b = Matrices::<$A>::new(stream, (2, count), k * n, 0);
            let mut d = Matrices::<f32>::new(stream, (3, count), m * n, 0);
            let mut workspace = falchion::cuda::Workspace::new();
            let graph = {
                let (x, y, mut z) = (a.views(), b.views(), d.views_mut());
                let array = Arguments::array(extents, &x, &y, &mut z).unwrap();
                let bound = kernel.bind(stream, array.workspace(&mut workspace), |call| {
                    call.run()?;
                    call.run()?;
                    capture(stream);
                    call.run()?;
                    Ok::<_, Error>(captured(stream))
                });
                bound.expect("a bound call").expect("a graph")
            };
            host(&a.copies(), &b.copies(), d.on_host());
            assert!(d.same(stream));
            for round in 0..3 {
                a.renew(&stream, round);
                d.upload(&stream);
                graph.launch().unwrap();
                host(&a.copies(), &b.copies(), d.on_host());
                assert!(d.same(stream), "round {round}");
            }
            capture(stream);
            let (x, y, mut z) = (a.views(), b.views(), d.views_mut());
            let array = Arguments::array(extents, &x, &y, &mut z).unwrap();
            let array = array.workspace(&mut workspace);
            let refused = kernel.bind(stream, array, |call| call.run()).message();
            let sentence = "binding of a call is not possible during stream capture; bind the call before the capture";
            assert_eq!(refused, sentence);
            drop(captured(stream));
        }};
    }
    bound!(Threads, f32);
    bound!(Rows, Bf16);
}

/// Runs a few arrays of each kind of kernel.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_arrays_for_a_sanitizer() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    type Halves = KMajor<F16, f32, RowMajor, f32, TensorOp, Sm80>;
    compare!(&stream, Rows, [f32, f32], (130, 67, 33), 3, [1, 2, 3, 1], x, c => x.sources(1.0, c).unwrap());
    compare!(&stream, Halves, [F16, f32], (130, 67, 33), 3, [1, 2, 0, 3], x, c => x.sources(1.0, c).unwrap());
    compare!(&stream, Halves, [F16, f32], (33, 17, 9), 121, [0; 4], x, _c => x.in_place(1.0));
    type Hopper = HopperK<Bf16, Bf16>;
    for count in [6, 7, 113] {
        compare!(&stream, Hopper, [Bf16, Bf16], (130, 72, 48), count, [8, 0, 0, 8], x, c => x.sources(1.0, c).unwrap());
    }
    compare!(&stream, Hopper, [Bf16, Bf16], (130, 72, 48), 7, [8, 0, 1, 3], x, c => x.sources(1.0, c).unwrap());
    type SplitKernel = HopperK<Bf16, f32, RowMajor, With<Auto, SplitK<3>>>;
    compare!(&stream, SplitKernel, [Bf16, f32], (130, 72, 520), 9, [0; 4], x, _c => x.in_place(1.0));
}

/// A matrix that is shorter than its extents is refused, and D does not change.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_array_beyond_its_memory_is_refused() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    let all = stream.clone_htod(&vec![1.0f32; 200]).unwrap();
    let mut d = stream.clone_htod(&vec![7.0f32; 128]).unwrap();
    let (mut first, mut second) = d.split_at_mut(64);
    let short = [all.slice(0..64), all.slice(137..200)];
    let refused = Rows::new()
        .run(Arguments::array((8, 8, 8), [&all, &all], &short, [&mut first, &mut second]).unwrap())
        .expect_err("63");
    assert!(
        refused.to_string().starts_with("length of B = 63 elements is less than "),
        "{refused}"
    );
    assert!(stream.clone_dtoh(&d).unwrap().iter().all(|&x| x == 7.0), "D has changed");
    let (mut first, mut second) = d.split_at_mut(64);
    Rows::new()
        .run(Arguments::array((8, 8, 8), [&all; 2], [&all; 2], [&mut first, &mut second]).unwrap())
        .expect("it fits");
    assert_eq!(stream.clone_dtoh(&d).unwrap(), [8.0; 128]);
}
