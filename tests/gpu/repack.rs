//! Passes on a device: what repacks matrices copies every byte and no other, at the speed of a
//! copy; products whose operands TMA cannot read are right in every layout; and what a workspace is
//! held to.

use super::prepared::{capture, end_capture, without_events};
use crate::harness::{case::Tally, prelude::*, problems, random_cases};
use falchion::{arch::OpClass, cuda::repack};
use falchion_lab::sys::timing::Stopwatch;

fn stream() -> Arc<CudaStream> {
    open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream")
}

/// Bytes on both sides of what is written.
const GUARD: usize = 64;
const POISON: u8 = 0xa5;

/// Copies `rows` rows that begin `offset` bytes into an allocation which ends with the last of
/// them, and holds the whole buffer of the copy against what it is to be.
fn check(
    stream: &Arc<CudaStream>,
    (rows, row_bytes, gap): (usize, usize, usize),
    offset: usize,
    more: usize,
) {
    let (stride, pitch) = (row_bytes + gap, row_bytes.next_multiple_of(16) + 16 * more);
    let source: Vec<u8> =
        (0..offset + (rows - 1) * stride + row_bytes).map(|i| draw(7, i as u64) as u8).collect();
    let on_device = stream.clone_htod(&source).expect("room");
    let before = vec![POISON; 2 * GUARD + rows * pitch];
    let mut copy = stream.clone_htod(&before).expect("room");
    let shapes = RepackShapes::new(rows as u64, row_bytes as u64, stride as u64, pitch as u64)
        .expect("something to copy");
    {
        let from = on_device.slice(offset..);
        let mut to = copy.slice_mut(GUARD..GUARD + rows * pitch);
        let from = DeviceMatrix::read_bytes(ElementKind::U8, &from, stream);
        let to = DeviceMatrix::write_bytes(ElementKind::U8, &mut to, stream);
        repack(stream, &shapes, &from, &to).expect("it runs");
    }
    let found = stream.clone_dtoh(&copy).expect("the copy comes back");
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
fn repacked_bytes_are_the_matrix() {
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
    let mut bytes = stream.alloc_zeros::<u8>(4096).expect("room");
    let shapes = RepackShapes::new(10, 100, 101, 112).expect("something to copy");
    let mut run = |from: usize, to: usize, length: usize| {
        let other = stream.alloc_zeros::<u8>(length).expect("room");
        let address = DeviceMatrix::read_bytes(ElementKind::U8, &other, &stream).from(from);
        let copy = DeviceMatrix::write_bytes(ElementKind::U8, &mut bytes, &stream).from(to);
        repack(&stream, &shapes, &address, &copy)
    };
    run(0, 0, 1009).expect("as many bytes as it takes");
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

/// Products in every layout, of problems at the edges of the default kernels' tiles, with leading
/// dimensions and first elements that keep no alignment: whole numbers compared with `==`, then
/// random ones under the bound, guard zones around everything.
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
fn odd_products_are_right_in_every_layout() {
    let tally = products(10, 60_000_000, 1);
    println!("{tally:?}");
    assert!(
        tally.cases >= 4 * 8 * 10 * 2 && tally.exact > tally.elements / 3 && tally.largest <= 1.0
    );
}

type Bytes = Gemm<i8, RowMajor, i8, RowMajor, i32, RowMajor, i32, TensorOp, Sm90>;

/// A product whose A and B are repacked, K and the rows of B being odd. D is written by TMA.
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
        without_events(stream.context(), || stream.clone_htod(&poison).expect("room"))
    }

    fn arguments(&mut self) -> Arguments<'_, Cuda, i8, i8, i32> {
        Arguments::new(Self::EXTENTS, &self.a, &self.b, &mut self.d)
    }

    fn is_right(&self, stream: &Arc<CudaStream>) -> bool {
        stream.clone_dtoh(&self.d).expect("D comes back") == self.want
    }
}

/// A run takes a workspace of `workspace_size`, wherever it begins, writes nothing around it, and
/// takes none that is a byte shorter.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_run_takes_what_workspace_size_says() {
    let stream = stream();
    let mut odd = Odd::new(&stream);
    let gemm = Bytes::new();
    let size = gemm.workspace_size(&odd.arguments()).expect("it fits") as usize;
    // 200 rows of 101 bytes in pitches of 112, and 101 of 264 in pitches of 272, for the kernel
    // that `run` takes on Hopper reads B along N; both begin at multiples of 256.
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
        gemm.run(odd.arguments().workspace(&mut view)).expect("it is enough");
        assert!(odd.is_right(&stream), "a workspace from byte {begin} on");
        let after = stream.clone_dtoh(&workspace).expect("it comes back");
        assert!(
            after[..begin].iter().chain(&after[begin + size..]).all(|&byte| byte == POISON),
            "around the workspace"
        );
        stream.memcpy_htod(&vec![-1; odd.want.len()], &mut odd.d).expect("D is forgotten");
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
    // Nothing was enqueued: D is what it was.
    assert!(stream.clone_dtoh(&odd.d).expect("D comes back").iter().all(|&x| x == -1));
}

/// A prepared kernel has prepared what its passes need: the first run is captured, and replays.
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
    run.expect("all of it is prepared");
    let graph = graph.expect("the end of a capture").expect("something was captured");
    assert!(!odd.is_right(&stream), "nothing has run yet");
    for _ in 0..100 {
        graph.launch().expect("a launch");
    }
    stream.synchronize().expect("the device");
    assert!(odd.is_right(&stream));
}

/// A and B in the other order than their types say are transposed, in the workspace, for kernels of
/// either family, and the product is right.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn operands_of_the_other_order_are_transposed_first() {
    fn ran<Op: OpClass, G: Fn() -> KMajor<F16, f32, ColMajor, f32, Op, Sm90>>(
        stream: &Arc<CudaStream>,
        gemm: G,
    ) -> (u64, Vec<f32>) {
        let (m, n, k) = (130, 72, 200);
        let halves = |count: usize, seed: u64| {
            (0..count as u64).map(|i| F16::from_f32((draw(seed, i) % 9) as f32 - 4.0)).collect()
        };
        // A by columns and B by rows, where the types say the other.
        let (a, b): (Vec<F16>, Vec<F16>) = (halves(m * k, 1), halves(k * n, 2));
        let want: Vec<f32> = (0..m * n)
            .map(|at| (0..k).map(|l| a[l * m + at % m].to_f32() * b[l * n + at / m].to_f32()).sum())
            .collect();
        let (a, b) = (stream.clone_htod(&a).expect("room"), stream.clone_htod(&b).expect("room"));
        let mut d = stream.clone_htod(&vec![f32::NAN; m * n]).expect("room");
        let size = {
            let arguments =
                Arguments::new((m, n, k), &a, &b, &mut d).strides_a(1, m).strides_b(n, 1);
            gemm().workspace_size(&arguments).expect("it fits")
        };
        let mut workspace = stream.alloc_zeros::<u8>(size as usize).expect("room");
        let arguments = Arguments::new((m, n, k), &a, &b, &mut d)
            .strides_a(1, m)
            .strides_b(n, 1)
            .workspace(&mut workspace);
        gemm().run(arguments).expect("it runs");
        let found = stream.clone_dtoh(&d).expect("D comes back");
        assert_eq!(found, want);
        (size, found)
    }
    let stream = stream();
    let (on_cuda_cores, first) = ran(&stream, KMajor::<F16, f32, ColMajor, f32, Simt, Sm90>::new);
    let (on_tensor_cores, second) = ran(&stream, HopperK::<F16, f32, ColMajor>::new);
    assert!(on_cuda_cores > 0 && on_tensor_cores > 0, "{on_cuda_cores} {on_tensor_cores}");
    assert_eq!(first, second);
}

/// Bytes read and written a second, beside those of the driver's copy of as many: at least four
/// fifths.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn matrices_are_laid_out_again_at_the_speed_of_a_copy() {
    let stream = stream();
    let watch = Stopwatch::new(&stream).expect("events");
    let rounds = 20;
    for element in [2, 1] {
        let (rows, row_bytes) = (8191, 8191 * element);
        let pitch = (row_bytes as usize).next_multiple_of(128);
        let source = stream.alloc_zeros::<u8>(rows * row_bytes as usize).expect("room");
        let mut copy = stream.alloc_zeros::<u8>(rows * pitch).expect("room");
        let shapes = RepackShapes::new(rows as u64, row_bytes, row_bytes, pitch as u64)
            .expect("something to copy");
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
