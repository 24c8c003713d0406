//! Transposes on a device equal their definition bit by bit, and write nothing else: the cases of
//! `tests/host/transpose.rs`, for more descriptions.

use super::prepared::{capture, captured, end_capture, without_events};
use crate::harness::{
    prelude::*,
    transposes::{check_each, named},
};
use falchion::{internals::operand::transpose::Configuration, refusal::Refusal};

struct OnDevice(Arc<CudaStream>);

impl OnDevice {
    fn new() -> Self {
        let context = open(0).expect("this test runs on an NVIDIA GPU");
        Self(context.new_stream().expect("a stream"))
    }
}

impl Transposer for OnDevice {
    fn run(&self, choice: Choice, placed: Placed<'_>) -> Result<(), Error> {
        let mut resident = Resident::new(&self.0, &placed.whole)?;
        resident.transpose(choice, &placed.problem, placed.first)?;
        resident.download(placed.whole.d)
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn random_transposes_equal_the_definition_on_the_device() {
    check_each(&OnDevice::new(), &random_descriptions(100, 1), 6, any_extents);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn resolved_and_ladder_transposes_equal_the_definition_on_the_device() {
    let device = OnDevice::new();
    check_each(&device, &named(), 12, any_extents);
    check_each(&device, &named(), 12, |_| Choice::Auto);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_cases_for_a_sanitizer() {
    let device = OnDevice::new();
    check_each(&device, &named(), 3, any_extents);
    check_each(&device, &random_descriptions(20, 2), 3, any_extents);
}

/// The typed interface: typed arguments, a prepared kernel, in-place sums, and overlapping memory.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn typed_transposes_run_on_the_device() {
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

/// A kernel that is not compiled is refused during capture. A prepared kernel is captured.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn capture_requires_a_prepared_transpose() {
    let device = OnDevice::new();
    let stream = &device.0;
    let elements: Vec<i8> = (0..64).collect();
    let made = || (stream.clone_htod(&elements), stream.alloc_zeros::<i8>(64));
    let (a, d) = without_events(stream.context(), made);
    let (a, mut d) = (a.expect("memory"), d.expect("memory"));
    let transpose = Transpose::<i8, Unprepared>::new();
    stream.synchronize().expect("the device");
    capture(stream);
    let refused = transpose.run(Arguments::transpose((8, 8), &a, &mut d));
    let _ = end_capture(stream);
    let refused = refused.expect_err("a capture");
    assert_eq!(refused.refusal(), Some(&Refusal::NOT_PREPARED));
    transpose
        .prepare(stream.context(), &Arguments::transpose((8, 8), &a, &mut d))
        .expect("a kernel");
    capture(stream);
    transpose.run(Arguments::transpose((8, 8), &a, &mut d)).expect("it is prepared");
    captured(stream).expect("a graph").launch().expect("a launch");
    let expected: Vec<i8> = (0..64).map(|i| i % 8 * 8 + i / 8).collect();
    assert_eq!(stream.clone_dtoh(&d).expect("memory"), expected);
}
