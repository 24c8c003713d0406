//! Transposes on a device equal their definition in every bit and nowhere else: the cases of
//! `tests/host/transpose.rs`, for more descriptions.

use crate::harness::{prelude::*, transposes::named};
use falchion::{internals::pass::transpose::Configuration, refusal::Refusal};

struct OnDevice(Arc<CudaStream>);

impl OnDevice {
    fn new() -> Self {
        let context = open(0).expect("this test runs on an NVIDIA GPU");
        Self(context.new_stream().expect("a stream"))
    }
}

impl Transposer for OnDevice {
    fn run(
        &self,
        choice: Choice,
        problem: &Problem,
        whole: HostMatrices<'_>,
        first: [usize; 4],
    ) -> Result<(), Error> {
        let mut resident = Resident::new(&self.0, &whole)?;
        resident.transpose(choice, problem, first)?;
        resident.download(whole.d)
    }
}

fn check(
    device: &OnDevice,
    descs: &[TransposeDesc],
    problems: u64,
    choice: impl Fn(TransposeDesc) -> Choice,
) {
    let mut cases = 0;
    for (number, desc) in (0..).zip(descs) {
        for problem in 0..problems {
            let case = TransposeCase::random(desc, number * 1000 + problem);
            if let Err(why) = case.check(device, choice(*desc)) {
                panic!("{desc} {:?}: {why}\n{desc:?}\n{case:?}", desc.combine);
            }
            cases += 1;
        }
    }
    println!("{cases} transposes of {} descriptions on the device", descs.len());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn random_descriptions_are_the_definition_on_the_device() {
    check(&OnDevice::new(), &random_descriptions(100, 1), 6, any_extents);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_resolvers_and_the_ladders_descriptions_are_the_definition_on_the_device() {
    let device = OnDevice::new();
    check(&device, &named(), 12, any_extents);
    check(&device, &named(), 12, |_| Choice::Auto);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_cases_for_a_sanitizer() {
    let device = OnDevice::new();
    check(&device, &named(), 3, any_extents);
    check(&device, &random_descriptions(20, 2), 3, any_extents);
}

/// What a user writes: typed arguments, a prepared kernel, in place, and memory that overlaps.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_typed_door_on_the_device() {
    let device = OnDevice::new();
    let stream = &device.0;
    let a: Vec<f32> = (0..1000 * 3).map(|i| i as f32).collect();
    let on_device = stream.clone_htod(&a).expect("memory");
    let mut d = stream.clone_htod(&vec![1.0f32; 3000]).expect("memory");
    let transpose = Transpose::<f32>::new();
    let kernel = transpose
        .prepare(stream.context(), &Arguments::transpose((1000, 3), &on_device, &mut d))
        .expect("a kernel");
    assert!(kernel.report().is_clean() && kernel.report().registers > 0, "{:?}", kernel.report());
    kernel.run(Arguments::transpose((1000, 3), &on_device, &mut d)).expect("it runs");
    let expected: Vec<f32> = (0..3000).map(|i| a[i % 1000 * 3 + i / 1000]).collect();
    assert_eq!(stream.clone_dtoh(&d).expect("memory"), expected);
    transpose
        .run(Arguments::transpose((1000, 3), &on_device, &mut d).alpha(2.0).in_place(-1.0))
        .expect("it runs");
    assert_eq!(stream.clone_dtoh(&d).expect("memory"), expected);
    let short = transpose.run(Arguments::transpose((1000, 3), &on_device.slice(0..2999), &mut d));
    assert!(
        matches!(
            short.as_ref().err().and_then(Error::refusal),
            Some(Refusal { field: Field::Length(Operand::A), .. })
        ),
        "{short:?}"
    );
}

/// A kernel that no other test prepares.
struct Unprepared;

impl Configuration for Unprepared {
    const CHOICE: Choice = Choice::Desc(
        TransposeDesc { order: SwizzleKind::Identity(7), ..Choice::aligned(Combine::Move, 1) }
            .expect(),
    );
}

/// Elements, and as many zeros, on slices without events: cudarc's event tracking cannot be
/// captured.
#[allow(
    unsafe_code,
    reason = "cudarc asks for a promise: no slice made here is used on two streams"
)]
fn untracked(stream: &Arc<CudaStream>, elements: &[i8]) -> (CudaSlice<i8>, CudaSlice<i8>) {
    // SAFETY: slices made meanwhile are used on `stream` alone.
    unsafe { stream.context().disable_event_tracking() };
    let a = stream.clone_htod(elements).expect("memory");
    let d = stream.alloc_zeros::<i8>(elements.len()).expect("memory");
    // SAFETY: as it was before.
    unsafe { stream.context().enable_event_tracking() };
    (a, d)
}

/// A kernel that is not compiled cannot be launched under capture, and says so; a prepared one can.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn under_capture_a_kernel_has_to_be_prepared() {
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    let device = OnDevice::new();
    let stream = &device.0;
    let (a, mut d) = untracked(stream, &(0..64u8).map(|i| i as i8).collect::<Vec<_>>());
    let transpose = Transpose::<i8, Unprepared>::new();
    stream.synchronize().expect("the device");
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("a capture");
    let refused = transpose.run(Arguments::transpose((8, 8), &a, &mut d));
    let _ = stream
        .end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    let refused = refused.expect_err("a capture");
    assert_eq!(refused.refusal(), Some(&Refusal::NOT_PREPARED));
    transpose
        .prepare(stream.context(), &Arguments::transpose((8, 8), &a, &mut d))
        .expect("a kernel");
    stream.begin_capture(mode).expect("a capture");
    transpose.run(Arguments::transpose((8, 8), &a, &mut d)).expect("it is prepared");
    let graph = stream
        .end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
        .expect("a graph")
        .expect("a graph");
    graph.launch().expect("a launch");
    let expected: Vec<i8> = (0..64).map(|i| i % 8 * 8 + i / 8).collect();
    assert_eq!(stream.clone_dtoh(&d).expect("memory"), expected);
}
