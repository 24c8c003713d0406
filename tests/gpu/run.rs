//! Guarantees of `run` on a device: streams, capture, alignment, memory, threads, and cost. See
//! `book/src/guarantees.md`.

use super::prepared::{capture, captured, end_capture, untracked, without_events};
use crate::harness::prelude::*;

type Sgemm = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
type OnDevice<'a> = Arguments<'a, Cuda, f32, f32, f32>;

pub fn device() -> (Arc<CudaContext>, Arc<CudaStream>) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    (context, stream)
}

fn whole_numbers(length: usize, seed: usize) -> Vec<f32> {
    (0..length).map(|i| ((i * 7 + seed * 13 + i / 11) % 9) as f32 - 4.0).collect()
}

/// Returns a GEMM of whole numbers, which is exact, computed on the host.
fn product((m, n, k): (usize, usize, usize), a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut d = vec![f32::NAN; m * n];
    Sgemm::new().run(Arguments::new((m, n, k), a, b, &mut d)).expect("the host computes it");
    d
}

struct Problem {
    extents: (usize, usize, usize),
    a: CudaSlice<f32>,
    b: CudaSlice<f32>,
    d: CudaSlice<f32>,
    want: Vec<f32>,
}

impl Problem {
    fn new(stream: &Arc<CudaStream>, extents: (usize, usize, usize)) -> Self {
        let (m, n, k) = extents;
        let (a, b) = (whole_numbers(m * k, 1), whole_numbers(k * n, 2));
        let want = product(extents, &a, &b);
        let copied = |x: &[f32]| stream.clone_htod(x).expect("device memory");
        Self { extents, a: copied(&a), b: copied(&b), d: copied(&vec![f32::NAN; m * n]), want }
    }

    /// Creates slices without events. Streams that track events cannot be captured.
    fn untracked(stream: &Arc<CudaStream>, extents: (usize, usize, usize)) -> Self {
        without_events(stream.context(), || Self::new(stream, extents))
    }

    fn arguments(&mut self) -> OnDevice<'_> {
        Arguments::new(self.extents, &self.a, &self.b, &mut self.d)
    }

    fn is_right(&self, stream: &Arc<CudaStream>) -> bool {
        stream.clone_dtoh(&self.d).expect("D is copied back") == self.want
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn run_uses_the_stream_of_d() {
    let (_, stream) = device();
    let mut problem = Problem::new(&stream, (300, 200, 100));
    Sgemm::new().run(problem.arguments()).unwrap();
    assert!(problem.is_right(&stream));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_prepared_kernel_runs_on_any_stream_of_its_device() {
    let (context, stream) = device();
    let mut problem = Problem::new(&stream, (257, 129, 65));
    let kernel = Sgemm::new().prepare(&context).unwrap();
    assert!(
        kernel.report().registers > 0 && kernel.report().spill_store_bytes == 0,
        "{:?}",
        kernel.report()
    );
    let other = context.new_stream().unwrap();
    kernel.run_on(&other, problem.arguments()).unwrap();
    other.synchronize().unwrap();
    assert!(problem.is_right(&stream));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_captured_run_replays() {
    let (context, stream) = device();
    let mut problem = Problem::untracked(&stream, (512, 256, 128));
    let kernel = Sgemm::new().prepare(&context).unwrap();
    capture(&stream);
    kernel.run(problem.arguments()).unwrap();
    let graph = captured(&stream).expect("a graph");
    for _ in 0..1000 {
        graph.launch().unwrap();
    }
    stream.synchronize().unwrap();
    assert!(problem.is_right(&stream));
}

/// Memory with cudarc events ends a capture. The error says how to avoid events, and the stream
/// remains usable.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn capture_of_tracked_memory_names_its_cause() {
    let (context, stream) = device();
    let mut problem = Problem::new(&stream, (512, 256, 128));
    let kernel = Sgemm::new().prepare(&context).unwrap();
    capture(&stream);
    let sentence = kernel.run(problem.arguments()).unwrap_err().to_string();
    assert!(sentence.contains("CudaContext::disable_event_tracking"), "{sentence}");
    // Takes the error that cudarc recorded when it freed the memory. Otherwise `end_capture` would
    // return this error and not end the capture.
    assert!(context.check_err().is_err());
    assert!(end_capture(&stream).is_err());
    kernel.run(problem.arguments()).unwrap();
    stream.synchronize().unwrap();
    assert!(problem.is_right(&stream));
}

/// A kernel of `prepare` does not run a batch during capture. A kernel of `prepare_batched` does,
/// and the graph can be replayed.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_batch_is_prepared_before_a_capture() {
    let (context, stream) = device();
    let (batch, m, n, k) = (3, 128, 64, 32);
    // A batch of GEMMs with one B is one GEMM with all rows of A.
    let mut problem = Problem::untracked(&stream, (batch * m, n, k));
    // A configuration that no other test prepares.
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>::new()
        .threadblock::<GemmShape<64, 64, 8>>()
        .stages::<6>();
    let plain = gemm.prepare(&context).unwrap();
    let mut capture_run = |run: &dyn Fn(OnDevice<'_>) -> Result<(), Error>| {
        capture(&stream);
        let Problem { a, b, d, .. } = &mut problem;
        let answer = run(Arguments::new((m, n, k), &*a, &*b, d).batch(batch).batch_stride_b(0));
        (answer, end_capture(&stream))
    };
    let (refused, _) = capture_run(&|arguments| plain.run(arguments));
    let refused = refused.expect_err("a capture");
    assert_eq!(refused.refusal(), Some(&Refusal::NOT_PREPARED));
    let kernel = gemm.prepare_batched(&context).unwrap();
    let (first, _) = capture_run(&|arguments| gemm.run(arguments));
    let (second, graph) = capture_run(&|arguments| kernel.run(arguments));
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    graph.unwrap().expect("a graph").launch().unwrap();
    stream.synchronize().unwrap();
    assert!(problem.is_right(&stream));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_unprepared_run_under_capture_is_refused() {
    let (_, stream) = device();
    let mut problem = Problem::untracked(&stream, (96, 96, 32));
    // A configuration that no other test prepares.
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>::new()
        .threadblock::<GemmShape<64, 64, 8>>()
        .stages::<7>();
    capture(&stream);
    let refused = gemm.run(problem.arguments());
    let _ = end_capture(&stream);
    let refused = refused.expect_err("a capture");
    assert_eq!(refused.refusal(), Some(&Refusal::NOT_PREPARED));
    gemm.run(problem.arguments()).unwrap();
    assert!(problem.is_right(&stream));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn misaligned_views_use_narrower_accesses() {
    let (_, stream) = device();
    let (m, n, k) = (130, 67, 35);
    let (a, b) = (whole_numbers(m * k, 3), whole_numbers(k * n, 4));
    let want = product((m, n, k), &a, &b);
    for shift in 0..6 {
        let padded = |x: &[f32]| -> CudaSlice<f32> {
            let mut all = vec![f32::NAN; shift];
            all.extend_from_slice(x);
            stream.clone_htod(&all).unwrap()
        };
        let (a, b, mut d) = (padded(&a), padded(&b), padded(&vec![f32::NAN; m * n]));
        let (a, b, mut d_view) = (a.slice(shift..), b.slice(shift..), d.slice_mut(shift..));
        Sgemm::new().run(Arguments::new((m, n, k), &a, &b, &mut d_view)).unwrap();
        let got = stream.clone_dtoh(&d).unwrap();
        assert!(
            got[..shift].iter().all(|x| x.is_nan()) && got[shift..] == want[..],
            "shifted by {shift} elements"
        );
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn c_may_be_d_or_a_separate_matrix() {
    let (_, stream) = device();
    let (m, n, k) = (140, 90, 50);
    let (a, b, c) = (whole_numbers(m * k, 5), whole_numbers(k * n, 6), whole_numbers(m * n, 7));
    let want: Vec<f32> =
        product((m, n, k), &a, &b).iter().zip(&c).map(|(ab, c)| 2.0 * ab - 3.0 * c).collect();
    let copied = |x: &[f32]| stream.clone_htod(x).unwrap();
    let (a, b, c_device, mut d, mut in_place) =
        (copied(&a), copied(&b), copied(&c), copied(&vec![f32::NAN; m * n]), copied(&c));
    Sgemm::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut d).alpha(2.0).source(-3.0, &c_device))
        .unwrap();
    Sgemm::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut in_place).alpha(2.0).in_place(-3.0))
        .unwrap();
    assert_eq!(stream.clone_dtoh(&d).unwrap(), want);
    assert_eq!(stream.clone_dtoh(&in_place).unwrap(), want);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn d_may_have_more_than_2_to_the_31_elements() {
    let (_, stream) = device();
    // D has 2^31 + 2^17 elements; its last rows lie beyond 2^33 bytes.
    let (m, n, k) = ((1 << 14) + 1, 1 << 17, 2);
    let (a, b) = (whole_numbers(m * k, 8), whole_numbers(k * n, 9));
    let (a_device, b_device) = (stream.clone_htod(&a).unwrap(), stream.clone_htod(&b).unwrap());
    let mut d = stream.alloc_zeros::<f32>(m * n).unwrap();
    Sgemm::new().run(Arguments::new((m, n, k), &a_device, &b_device, &mut d)).unwrap();
    for row in [0, m / 2, m - 2, m - 1] {
        let got = stream.clone_dtoh(&d.slice(row * n..(row + 1) * n)).unwrap();
        let want: Vec<f32> =
            (0..n).map(|j| a[row * k] * b[j] + a[row * k + 1] * b[n + j]).collect();
        assert!(got == want, "row {row}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn sixteen_threads_and_eight_streams_give_the_bits_of_one() {
    let (context, stream) = device();
    let kernel = Sgemm::new().prepare(&context).unwrap();
    let streams: Vec<_> = (0..8).map(|_| context.new_stream().unwrap()).collect();
    let (m, n, k) = (311, 203, 97);
    let noise = |length: usize, seed: u32| -> Vec<f32> {
        (0..length as u32)
            .map(|i| {
                (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / 16_777_216.0 - 0.5
            })
            .collect()
    };
    let (a, b) = (noise(m * k, 1), noise(k * n, 2));
    let (a_device, b_device) = (stream.clone_htod(&a).unwrap(), stream.clone_htod(&b).unwrap());
    stream.synchronize().unwrap();
    // The result is only close to the product, because warps that divide K add in another order.
    let mut d = stream.alloc_zeros::<f32>(m * n).unwrap();
    kernel.run(Arguments::new((m, n, k), &a_device, &b_device, &mut d)).unwrap();
    let want = stream.clone_dtoh(&d).unwrap();
    let near = product((m, n, k), &a, &b);
    assert!(
        want.iter()
            .zip(near)
            .all(|(x, y)| (x - y).abs() <= k as f32 * k as f32 * f32::EPSILON / 4.0)
    );
    thread::scope(|scope| {
        for thread in 0..16 {
            let (kernel, stream, a, b, want) =
                (&kernel, &streams[thread % 8], &a_device, &b_device, &want);
            scope.spawn(move || {
                let mut d = stream.alloc_zeros::<f32>(m * n).unwrap();
                for _ in 0..200 {
                    kernel.run(Arguments::new((m, n, k), a, b, &mut d)).unwrap();
                }
                let got = stream.clone_dtoh(&d).unwrap();
                assert!(
                    got.iter().zip(want).all(|(x, y)| x.to_bits() == y.to_bits()),
                    "thread {thread}"
                );
            });
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_old_device_or_another_device_is_refused() {
    let (context, stream) = device();
    let machine = machine_of(&context).unwrap();
    assert!(Sgemm::DESC.check_on(&machine).is_ok());
    let old = Machine { sm: 75, ..machine };
    let refused = Sgemm::DESC.check_on(&old).unwrap_err().to_string();
    assert!(refused == "compute capability = 75 is less than 80; try arch = sm75", "{refused}");
    drop(stream);
}

/// Returns the host time of each function in microseconds: the median over many rounds, in which
/// the functions alternate. The stream never fills up.
fn host_costs<const N: usize>(stream: &CudaStream, mut enqueue: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut costs = [const { Vec::new() }; N];
    for _ in 0..200 {
        for (enqueue, costs) in enqueue.iter_mut().zip(&mut costs) {
            let began = Instant::now();
            (0..50).for_each(|_| enqueue());
            costs.push(began.elapsed().as_secs_f64() * 1e6 / 50.0);
            stream.synchronize().unwrap();
        }
    }
    costs.map(|mut costs| {
        costs.sort_by(f64::total_cmp);
        costs[costs.len() / 2]
    })
}

/// Enqueues a kernel that does nothing with `N` bytes of parameters.
#[allow(unsafe_code, reason = "a kernel of the test's own")]
fn bare_launch<const N: usize>(
    context: &Arc<CudaContext>,
    stream: &Arc<CudaStream>,
) -> impl FnMut() {
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Params<const N: usize>(
        #[allow(dead_code, reason = "the kernel does not read them")] [u8; N],
    );
    // SAFETY: the kernel does not read the bytes.
    unsafe impl<const N: usize> DeviceRepr for Params<N> {}
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bare(.param .align 64 .b8 params[{N}]) {{ ret; }}\n"
    );
    let module = context.load_module(Ptx::from_src(text)).expect("PTX that every driver compiles");
    let (kernel, params, stream) =
        (module.load_function("bare").unwrap(), Params([0; N]), stream.clone());
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel accesses no memory.
    move || drop(unsafe { stream.launch_builder(&kernel).arg(&params).launch(config) }.unwrap())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_host_cost_of_a_run_is_limited() {
    let (context, stream) = device();
    let kernel = Sgemm::new().prepare(&context).unwrap();
    let [mut untracked, mut unprepared] =
        [(); 2].map(|()| Problem::untracked(&stream, (64, 64, 16)));
    let mut tracked = Problem::new(&stream, (64, 64, 16));
    let mut bare = bare_launch::<208>(&context, &stream);
    let mut run = || kernel.run(untracked.arguments()).unwrap();
    let mut run_tracked = || kernel.run(tracked.arguments()).unwrap();
    let mut run_unprepared = || Sgemm::new().run(unprepared.arguments()).unwrap();
    let [bare, off, on, typed] =
        host_costs(&stream, [&mut bare, &mut run, &mut run_tracked, &mut run_unprepared]);
    println!(
        "host cost of run: {bare:.2} us of a bare launch, {off:.2} us with event tracking off, {on:.2} us with it on, {typed:.2} us of an operator that was not prepared"
    );
    assert!(off < bare + 1.2, "{off:.2} us, and {bare:.2} us of a bare launch");
    assert!(typed < off + 2.0, "{typed:.2} us without `prepare`, and {off:.2} us with it");
}

/// Host cost of a run of a kernel with tensor maps. A run with new addresses encodes the maps.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_host_cost_of_a_run_with_tensor_maps_is_limited() {
    let (context, _) = device();
    let stream = untracked(&context);
    type Hopper = HopperK<Bf16, Bf16>;
    let kernel = Hopper::new().prepare(&context).unwrap();
    let (a, b) = (stream.alloc_zeros(64 * 64).unwrap(), stream.alloc_zeros(64 * 64).unwrap());
    let mut d = stream.alloc_zeros(64 * 64).unwrap();
    let mut others = stream.alloc_zeros(64 * 64 + 8 * 1000).unwrap();
    let mut bare = bare_launch::<768>(&context, &stream);
    let mut run = || kernel.run(Arguments::new((64, 64, 64), &a, &b, &mut d)).unwrap();
    let mut round = 0;
    let mut elsewhere = || {
        round = (round + 1) % 1000;
        let mut d = others.slice_mut(8 * round..8 * round + 64 * 64);
        kernel.run(Arguments::new((64, 64, 64), &a, &b, &mut d)).unwrap();
    };
    let [bare, off, new] = host_costs(&stream, [&mut bare, &mut run, &mut elsewhere]);
    println!(
        "host cost of run with tensor maps: {bare:.2} us of a bare launch, {off:.2} us with event tracking off, {new:.2} us with a new D"
    );
    assert!(off < bare + 2.0, "{off:.2} us, and {bare:.2} us of a bare launch");
}

/// A kernel keeps the launches of checked calls. A call that differs in a length or in a scalar is
/// checked and computed on its own, and a repeated call reads the current matrices.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_repeated_call_is_checked_and_computed_anew() {
    let (context, stream) = device();
    let kernel = Sgemm::new().prepare(&context).unwrap();
    let host = |seed: usize| whole_numbers(16 * 16, seed);
    let (mut a, b) = (stream.clone_htod(&host(1)).unwrap(), stream.clone_htod(&host(2)).unwrap());
    let mut d = stream.clone_htod(&host(3)).unwrap();
    let extents = (16, 16, 16);
    for (round, alpha) in [(1, 1.0), (1, 1.0), (5, 1.0), (6, 2.0), (6, -0.0), (6, 0.0)] {
        stream.memcpy_htod(&host(round), &mut a).unwrap();
        kernel.run(Arguments::new(extents, &a, &b, &mut d).alpha(alpha)).unwrap();
        let mut wanted = vec![0.0f32; 16 * 16];
        let on_host = (host(round), host(2));
        let call = Arguments::new(extents, &on_host.0, &on_host.1, &mut wanted).alpha(alpha);
        Sgemm::new().run(call).unwrap();
        let found = stream.clone_dtoh(&d).unwrap();
        let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&wanted), "round {round}, alpha {alpha}");
    }
    let short = a.slice(0..16 * 16 - 1);
    let refused = kernel.run(Arguments::new(extents, &short, &b, &mut d)).message();
    assert!(refused.starts_with("length of A = 255 elements is less than 256"), "{refused}");
}

#[test]
#[ignore = "needs an NVIDIA GPU and NVRTC on the same machine, and a cache directory of its own"]
fn cold_and_warm_starts_are_fast() {
    let (context, _) = device();
    let folder = std::env::temp_dir().join(format!("falchion-cold-{}", std::process::id()));
    let unit = Sgemm::DESC.plan().unwrap().unit(false);
    let cold_cache = || Cache::new(CacheDir::At(folder.clone()));
    let sm = machine_of(&context).unwrap().sm;
    let cache = cold_cache();
    let began = Instant::now();
    compile(&cache, &unit, sm).unwrap();
    let cold = began.elapsed();
    assert_eq!(cache.compilations(), 1);
    let cache = cold_cache();
    let began = Instant::now();
    let entry = compile(&cache, &unit, sm).unwrap();
    context.load_module(Ptx::from_binary(entry.image.clone())).unwrap();
    let warm = began.elapsed();
    assert_eq!((cache.compilations(), cache.disk_hits()), (0, 1));
    println!("cold {cold:?}, warm from disk and loaded {warm:?}");
    let _ = fs::remove_dir_all(&folder);
    assert!(cold < Duration::from_secs(1) && warm < Duration::from_millis(10), "{cold:?} {warm:?}");
}
