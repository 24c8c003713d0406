//! Passes on a device. The repack pass copies exactly the bytes of the matrix, at the speed of a
//! copy. GEMMs with operands that TMA cannot read are correct in every layout. The workspace size
//! is exact.

use super::prepared::{capture, end_capture, without_events};
use crate::harness::{case::Tally, prelude::*, problems, random_cases};
use falchion::{arch::OpClass, cuda::repack};
use falchion_lab::sys::timing::Stopwatch;

fn stream() -> Arc<CudaStream> {
    open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream")
}

/// Guard bytes before and after the copy.
const GUARD: usize = 64;
const POISON: u8 = 0xa5;

/// Repacks rows from byte `offset` of an allocation that ends with the last row, and checks the
/// whole buffer of the copy.
fn check(
    stream: &Arc<CudaStream>,
    (rows, row_bytes, gap): (usize, usize, usize),
    offset: usize,
    more: usize,
) {
    let (stride, pitch) = (row_bytes + gap, row_bytes.next_multiple_of(16) + 16 * more);
    let source: Vec<u8> =
        (0..offset + (rows - 1) * stride + row_bytes).map(|i| draw(7, i as u64) as u8).collect();
    let on_device = stream.clone_htod(&source).expect("device memory");
    let before = vec![POISON; 2 * GUARD + rows * pitch];
    let mut copy = stream.clone_htod(&before).expect("device memory");
    let shapes = RepackShapes::new(rows as u64, row_bytes as u64, stride as u64, pitch as u64)
        .expect("a matrix that is not empty");
    {
        let from = on_device.slice(offset..);
        let mut to = copy.slice_mut(GUARD..GUARD + rows * pitch);
        let from = DeviceMatrix::read_bytes(ElementKind::U8, &from, stream);
        let to = DeviceMatrix::write_bytes(ElementKind::U8, &mut to, stream);
        repack(stream, &shapes, &from, &to).expect("it runs");
    }
    let found = stream.clone_dtoh(&copy).expect("the copy is copied back");
    let written = row_bytes.next_multiple_of(16);
    for (i, &byte) in found.iter().enumerate() {
        let (row, column) = (i.wrapping_sub(GUARD) / pitch, i.wrapping_sub(GUARD) % pitch);
        if i < GUARD || row >= rows || column >= written {
            assert_eq!(
                byte, POISON,
                "byte {i} was written: {rows} x {row_bytes} + {gap} at {offset}"
            );
        } else if column < row_bytes {
            let wanted = source[offset + row * stride + column];
            assert_eq!(
                byte, wanted,
                "row {row}, byte {column}: {rows} x {row_bytes} + {gap} at {offset}"
            );
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn repack_copies_exactly_the_matrix() {
    let stream = stream();
    let mut cases = 0;
    for offset in 0..16 {
        for row_bytes in [1, 3, 15, 16, 17, 64, 100, 1000, 4095, 16_382, 16_400] {
            for (rows, gap, more) in [(1, 0, 0), (2, 1, 1), (37, 0, 3), (129, 5, 0), (300, 16, 0)] {
                check(&stream, (rows, row_bytes, gap), offset, more);
                cases += 1;
            }
        }
    }
    println!("{cases} matrices repacked");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_cases_for_a_sanitizer() {
    let stream = stream();
    for offset in [0, 1, 6, 15] {
        for row_bytes in [1, 17, 1000, 4095] {
            check(&stream, (37, row_bytes, 3), offset, 1);
        }
    }
    let tally = products(2, 3_000_000, 3);
    println!("{tally:?}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn invalid_repacks_are_refused() {
    let stream = stream();
    let mut bytes = stream.alloc_zeros::<u8>(4096).expect("device memory");
    let shapes = RepackShapes::new(10, 100, 101, 112).expect("a matrix that is not empty");
    let mut run = |from: usize, to: usize, length: usize| {
        let other = stream.alloc_zeros::<u8>(length).expect("device memory");
        let address = DeviceMatrix::read_bytes(ElementKind::U8, &other, &stream).from(from);
        let copy = DeviceMatrix::write_bytes(ElementKind::U8, &mut bytes, &stream).from(to);
        repack(&stream, &shapes, &address, &copy)
    };
    run(0, 0, 1009).expect("enough bytes");
    let said = |result: Result<(), Error>| result.message();
    assert!(
        said(run(1, 0, 1009))
            .contains("length of the source = 1008 elements is less than 1009 elements")
    );
    assert!(said(run(0, 8, 2000)).contains("address of the copy"));
    assert!(
        said(run(0, 4096 - 1008, 2000))
            .contains("length of the copy = 1008 elements is less than 1120 elements")
    );
}

/// GEMMs in every layout at the edges of the default tiles, with unaligned leading dimensions and
/// addresses. Compares integers with `==`, then random data under the bound, with guard zones
/// around all matrices.
fn products(problems_each: u64, most_work: u64, seed: u64) -> Tally {
    let (device, wanted) = (OnCuda::new(), problems::Wanted { most_work, aligned: false });
    let kinds = [
        (ElementKind::Bf16, ElementKind::Bf16),
        (ElementKind::F16, ElementKind::F32),
        (ElementKind::I8, ElementKind::I32),
        (ElementKind::U8, ElementKind::I32),
    ];
    let mut tally = Tally::default();
    for ((a, c), orders) in
        random_cases::orders().flat_map(|orders| kinds.map(|kind| (kind, orders)))
    {
        let types = element_types(a, a.accumulator(), c);
        let desc = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        for number in 0..problems_each {
            let seeds = (seed, draw(seed, number));
            let guarded = guarded(seeds.1, &desc, wanted);
            for fill in [Fill::Integers, Fill::Random] {
                let judged = judge_one(&device, &desc, &guarded, fill, seeds);
                tally = Tally {
                    cases: tally.cases + 1,
                    ..tally.and(judged.unwrap_or_else(|wrong| panic!("{wrong}")))
                };
            }
        }
    }
    tally
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn unaligned_gemms_are_correct_in_every_layout() {
    let tally = products(10, 60_000_000, 1);
    println!("{tally:?}");
    assert!(
        tally.cases >= 4 * 8 * 10 * 2 && tally.exact > tally.elements / 3 && tally.largest <= 1.0
    );
}

type Bytes = Gemm<i8, RowMajor, i8, RowMajor, i32, RowMajor, i32, TensorOp, Sm90>;

/// GEMM whose A and B are repacked, because K and the rows of B have odd lengths. TMA writes D.
struct Odd {
    a: CudaSlice<i8>,
    b: CudaSlice<i8>,
    d: CudaSlice<i32>,
    want: Vec<i32>,
}

impl Odd {
    const EXTENTS: (usize, usize, usize) = (200, 264, 101);

    fn new(stream: &Arc<CudaStream>) -> Self {
        let (m, n, k) = Self::EXTENTS;
        let drawn =
            |count: usize, seed| (0..count).map(|i| draw(seed, i as u64) as i8).collect::<Vec<_>>();
        let (a, b, mut want) = (drawn(m * k, 1), drawn(k * n, 2), vec![0; m * n]);
        let on_host = Gemm::<i8, RowMajor, i8, RowMajor, i32, RowMajor, i32, Simt>::new();
        on_host
            .run(Arguments::new(Self::EXTENTS, &a, &b, &mut want))
            .expect("the host computes it");
        without_events(stream.context(), || {
            let (a, b) = (stream.clone_htod(&a).expect("A"), stream.clone_htod(&b).expect("B"));
            Self { a, b, d: stream.clone_htod(&vec![-1; m * n]).expect("D"), want }
        })
    }

    fn workspace(stream: &Arc<CudaStream>, bytes: usize) -> CudaSlice<u8> {
        let poison = vec![POISON; bytes];
        without_events(stream.context(), || stream.clone_htod(&poison).expect("device memory"))
    }

    fn arguments(&mut self) -> Arguments<'_, Cuda, i8, i8, i32> {
        Arguments::new(Self::EXTENTS, &self.a, &self.b, &mut self.d)
    }

    fn is_right(&self, stream: &Arc<CudaStream>) -> bool {
        stream.clone_dtoh(&self.d).expect("D is copied back") == self.want
    }
}

/// A run accepts a workspace of `workspace_size` bytes at any address, writes nothing outside of
/// it, and refuses one byte less.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn run_accepts_exactly_the_bytes_of_workspace_size() {
    let stream = stream();
    let mut odd = Odd::new(&stream);
    let gemm = Bytes::new();
    let size = gemm.workspace_size(&odd.arguments()).expect("it fits") as usize;
    // The Hopper kernel that `run` selects reads B along N: 200 rows of 101 bytes at a pitch of
    // 112, and 101 rows of 264 bytes at a pitch of 272. Both begin at multiples of 256.
    assert_eq!(
        size,
        (200usize * 112).next_multiple_of(256) + (101usize * 272).next_multiple_of(256) + 256
    );
    assert_eq!(
        gemm.prepare(stream.context()).expect("a kernel").workspace_size(&odd.arguments()),
        Ok(size as u64)
    );
    for begin in [0, 1, 17, 255] {
        let mut workspace = Odd::workspace(&stream, begin + size + 300);
        let mut view = workspace.slice_mut(begin..begin + size);
        gemm.run(odd.arguments().workspace(&mut view)).expect("a workspace that is large enough");
        assert!(odd.is_right(&stream), "workspace at byte {begin}");
        let after = stream.clone_dtoh(&workspace).expect("the workspace is copied back");
        assert!(
            after[..begin].iter().chain(&after[begin + size..]).all(|&byte| byte == POISON),
            "bytes around the workspace"
        );
        stream.memcpy_htod(&vec![-1; odd.want.len()], &mut odd.d).expect("D is reset");
    }
    let refused = |result: Result<(), Error>| match result {
        Err(Error::Refused(refusal)) => *refusal,
        other => panic!("{other:?}"),
    };
    let none = refused(gemm.run(odd.arguments()));
    assert_eq!(
        none.to_string(),
        format!("workspace = 0 bytes is less than {size} bytes (A repacked, B repacked)")
    );
    let mut short = Odd::workspace(&stream, size - 1);
    assert!(matches!(
        refused(gemm.run(odd.arguments().workspace(&mut short))),
        Refusal { field: Field::Workspace, .. }
    ));
    // Nothing was enqueued, so D is unchanged.
    assert!(stream.clone_dtoh(&odd.d).expect("D is copied back").iter().all(|&x| x == -1));
}

/// A prepared kernel has also prepared its passes: its first run can be captured, and the graph
/// replays.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_captured_run_with_passes_replays() {
    let stream = stream();
    let mut odd = Odd::new(&stream);
    let kernel = Bytes::new().prepare(stream.context()).expect("a kernel");
    let size = kernel.workspace_size(&odd.arguments()).expect("it fits") as usize;
    let mut workspace = Odd::workspace(&stream, size);
    stream.synchronize().expect("the device");
    capture(&stream);
    let run = kernel.run(odd.arguments().workspace(&mut workspace));
    let graph = end_capture(&stream);
    run.expect("passes are prepared");
    let graph = graph.expect("the end of a capture").expect("a graph");
    assert!(!odd.is_right(&stream), "a captured run must not write D");
    for _ in 0..100 {
        graph.launch().expect("a launch");
    }
    stream.synchronize().expect("the device");
    assert!(odd.is_right(&stream));
}

/// If A and B have the other order than their types, a pass transposes them in the workspace, for
/// SIMT and for warp-specialized kernels. The result is exact.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn operands_with_the_other_order_are_transposed() {
    fn ran<Op: OpClass, G: Fn() -> KMajor<F16, f32, ColMajor, f32, Op, Sm90>>(
        stream: &Arc<CudaStream>,
        gemm: G,
    ) -> (u64, Vec<f32>) {
        let (m, n, k) = (130, 72, 200);
        let halves = |count: usize, seed: u64| {
            (0..count as u64).map(|i| F16::from_f32((draw(seed, i) % 9) as f32 - 4.0)).collect()
        };
        // A is column-major and B is row-major, unlike their types.
        let (a, b): (Vec<F16>, Vec<F16>) = (halves(m * k, 1), halves(k * n, 2));
        let want: Vec<f32> = (0..m * n)
            .map(|at| (0..k).map(|l| a[l * m + at % m].to_f32() * b[l * n + at / m].to_f32()).sum())
            .collect();
        let (a, b) = (
            stream.clone_htod(&a).expect("device memory"),
            stream.clone_htod(&b).expect("device memory"),
        );
        let mut d = stream.clone_htod(&vec![f32::NAN; m * n]).expect("device memory");
        let size = {
            let arguments =
                Arguments::new((m, n, k), &a, &b, &mut d).strides_a(1, m).strides_b(n, 1);
            gemm().workspace_size(&arguments).expect("it fits")
        };
        let mut workspace = stream.alloc_zeros::<u8>(size as usize).expect("device memory");
        let arguments = Arguments::new((m, n, k), &a, &b, &mut d)
            .strides_a(1, m)
            .strides_b(n, 1)
            .workspace(&mut workspace);
        gemm().run(arguments).expect("it runs");
        let found = stream.clone_dtoh(&d).expect("D is copied back");
        assert_eq!(found, want);
        (size, found)
    }
    let stream = stream();
    let (on_cuda_cores, first) = ran(&stream, KMajor::<F16, f32, ColMajor, f32, Simt, Sm90>::new);
    let (on_tensor_cores, second) = ran(&stream, HopperK::<F16, f32, ColMajor>::new);
    assert!(on_cuda_cores > 0 && on_tensor_cores > 0, "{on_cuda_cores} {on_tensor_cores}");
    assert_eq!(first, second);
}

/// The pass moves at least four fifths of the bytes per second of the driver's copy.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn repack_reaches_the_speed_of_a_copy() {
    let stream = stream();
    let watch = Stopwatch::new(&stream).expect("events");
    let rounds = 20;
    for element in [2, 1] {
        let (rows, row_bytes) = (8191, 8191 * element);
        let pitch = (row_bytes as usize).next_multiple_of(128);
        let source = stream.alloc_zeros::<u8>(rows * row_bytes as usize).expect("device memory");
        let mut copy = stream.alloc_zeros::<u8>(rows * pitch).expect("device memory");
        let shapes = RepackShapes::new(rows as u64, row_bytes, row_bytes, pitch as u64)
            .expect("a matrix that is not empty");
        let mut best = [f64::INFINITY; 2];
        for _ in 0..5 {
            let repacked = watch.time(|| {
                (0..rounds).try_for_each(|_| {
                    let from = DeviceMatrix::read_bytes(ElementKind::U8, &source, &stream);
                    let to = DeviceMatrix::write_bytes(ElementKind::U8, &mut copy, &stream);
                    repack(&stream, &shapes, &from, &to)
                })
            });
            let copied = watch.time(|| {
                let mut part = copy.slice_mut(..source.len());
                (0..rounds)
                    .try_for_each(|_| stream.memcpy_dtod(&source, &mut part).map_err(Error::from))
            });
            for (best, time) in best.iter_mut().zip([repacked, copied]) {
                *best = best.min(time.expect("the device") / f64::from(rounds));
            }
        }
        let [repacked, copied] = best;
        let rate = |time: f64| 2.0 * (rows as f64) * row_bytes as f64 / time / 1e6;
        println!(
            "{rows} rows of {row_bytes} bytes: {repacked:.1} us, {:.2} TB/s; a copy {copied:.1} us, {:.2} TB/s: {:.3} of it",
            rate(repacked),
            rate(copied),
            copied / repacked
        );
        assert!(repacked * 0.8 <= copied, "{repacked} us, and a copy takes {copied}");
    }
}
