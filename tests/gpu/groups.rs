//! Grouped GEMM on a device: each group has the bits of a separate GEMM, for every kind of kernel.
//! Rows without a group do not change, for any offsets.

use super::prepared::{capture, captured, untracked};
use crate::harness::{
    groups::{copies_single_elements, largest, whole},
    prelude::*,
};

/// Matrices of a case on a device, and a workspace that is large enough for all of its calls.
pub(super) struct OnDevice {
    stream: Arc<CudaStream>,
    a: CudaSlice<u8>,
    b: CudaSlice<u8>,
    c: CudaSlice<u8>,
    d: CudaSlice<u8>,
    operands: EpilogueOperands<CudaSlice<u8>>,
    offsets: CudaSlice<u8>,
    /// Offsets in host memory, which launches pass by value.
    pub(super) by_value: Option<Vec<u32>>,
    workspace: CudaSlice<u8>,
}

impl OnDevice {
    pub(super) fn new(stream: &Arc<CudaStream>, case: &Grouped) -> Self {
        let copied = |bytes: &[u8]| stream.clone_htod(bytes).expect("device memory");
        let mut operands = case.operands.as_ref();
        Self {
            stream: stream.clone(),
            a: copied(&case.a),
            b: copied(&case.b),
            c: copied(&case.c),
            d: copied(&case.d),
            operands: EpilogueOperands::by(|kind| {
                operands.slot(kind).take().map(|bytes| copied(bytes))
            }),
            offsets: copied(case.offset_bytes()),
            by_value: None,
            workspace: stream.alloc_zeros(1 << 26).expect("device memory"),
        }
    }

    pub(super) fn run(
        &mut self,
        kernel: &CudaKernel,
        (problem, first, row): (&Problem, [usize; 4], usize),
    ) -> Result<(), Error> {
        let (stream, types) = (&self.stream, kernel.desc().user_types());
        let read = |kind: ElementKind, bytes, first| {
            DeviceMatrix::read_bytes(kind, bytes, stream).from(first)
        };
        let matrices = CudaMatrices {
            a: read(types.a, &self.a, first[0]),
            b: read(types.b, &self.b, first[1]),
            c: problem.c.map(|_| read(types.c, &self.c, first[2])),
            d: DeviceMatrix::write_bytes(types.c, &mut self.d, stream).from(first[3]),
            operands: EpilogueOperands::by(|kind| {
                let first = if kind.side() == Some(OperandKind::A) { row } else { 0 };
                self.operands.get(kind).map(|bytes| read(types.c, bytes, first))
            }),
        };
        let offsets = || match &self.by_value {
            Some(offsets) => DeviceMatrix::by_value(offsets),
            None => DeviceMatrix::read_bytes(ElementKind::I32, &self.offsets, stream),
        };
        let groups = problem.groups.map(|groups| Groups::new(groups.axis, offsets()));
        let workspace =
            Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut self.workspace, stream));
        let call = CudaCall { groups, workspace, ..problem.with(matrices) };
        kernel.run(stream, call)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.stream.clone_dtoh(&self.d).expect("device memory")
    }
}

/// Compares grouped GEMM, with offsets on the device and by value, with separate GEMMs.
fn compare(context: &Arc<CudaContext>, desc: &GemmDesc, seed: u64) {
    let stream = context.new_stream().expect("a stream");
    let case = Grouped::random(desc, seed);
    let kernel =
        CudaKernel::prepare(context, desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    let [mut together, mut alone, mut by_value] = [(); 3].map(|()| OnDevice::new(&stream, &case));
    by_value.by_value = Some(case.offsets.clone());
    by_value
        .run(&kernel, (&case.problem, [0; 4], 0))
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    // The call has returned, so its host offsets may change.
    by_value.by_value.iter_mut().for_each(|offsets| offsets.fill(0));
    together
        .run(&kernel, (&case.problem, [0; 4], 0))
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    for SeparateGemm { problem, first, row } in case.separate_gemms() {
        alone
            .run(&kernel, (&problem, first, row))
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    }
    let (together, alone) = (together.bytes(), alone.bytes());
    assert!(
        by_value.bytes() == together,
        "by value: {:?} {desc:?} {:?}",
        case.offsets,
        case.problem
    );
    if let Some(at) = together.iter().zip(&alone).position(|(one, other)| one != other) {
        let (element, types) = (at as u64, desc.user_types());
        let element = types.c.matrix_elements(element);
        panic!(
            "element {element} of D, whose strides are {:?}: {:?} {desc:?} {:?}",
            case.problem.d.strides, case.offsets, case.problem
        );
    }
    assert!(together != case.d, "nothing was written: {desc:?}");
}

/// Returns random descriptions that support packed rows with odd lengths.
fn random_descriptions(
    seed: u64,
    count: usize,
    kernel_kind: KernelKind,
) -> impl Iterator<Item = (GemmDesc, u64)> {
    let wanted = Wanted {
        kernel_kind,
        largest_tile: largest(kernel_kind),
        arch: Some(ArchKind::Sm90),
        ..Wanted::default()
    };
    let all = (0..).map(move |i| (whole(description(draw(seed, i), wanted)), draw(seed + 1, i)));
    all.filter(|(desc, _)| copies_single_elements(desc)).take(count)
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn groups_have_the_bits_of_separate_gemms() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for (kernel_kind, count) in
        [(KernelKind::Simt, 16), (KernelKind::WgmmaRing, 24), (KernelKind::MmaSync, 16)]
    {
        let all: Vec<_> = random_descriptions(0x6120_0700, count, kernel_kind).collect();
        all.par_iter().for_each(|(desc, seed)| compare(&context, desc, *seed));
    }
}

/// Checks one case of each kind of kernel.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_groups_for_a_sanitizer() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for kernel_kind in [KernelKind::Simt, KernelKind::WgmmaRing, KernelKind::MmaSync] {
        for (desc, seed) in random_descriptions(0x6120_0700, 6, kernel_kind) {
            compare(&context, &desc, seed);
        }
    }
}

type Rows = HopperK<Bf16, Bf16>;

/// Typed calls, and a captured graph whose offsets change between launches.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn offsets_may_change_between_launches_of_a_graph() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    let (m, n, k) = (600usize, 136, 72);
    let (host_a, host_b) = (numbers(1, m * k), numbers(2, 3 * k * n));
    let (a, b) = (stream.clone_htod(&host_a).unwrap(), stream.clone_htod(&host_b).unwrap());
    let mut d = stream.alloc_zeros::<Bf16>(m * n).unwrap();
    let mut offsets = stream.clone_htod(&[0u32, 200, 200, 600]).unwrap();
    let kernel = Rows::new().prepare_grouped(&context).expect("grouped kernels");
    capture(&stream);
    kernel
        .run_on(&stream, Arguments::new((m, n, k), &a, &b, &mut d).groups(&offsets))
        .expect("captured");
    let graph = captured(&stream).expect("a graph");
    for ends in [[0u32, 200, 200, 600], [7, 100, 599, 599], [0, 0, 1, 129], [600; 4]] {
        stream.memcpy_htod(&ends, &mut offsets).unwrap();
        let before: Vec<Bf16> = numbers(3, m * n);
        stream.memcpy_htod(&before, &mut d).unwrap();
        graph.launch().unwrap();
        let mut want = before;
        Rows::new()
            .run(Arguments::new((m, n, k), &host_a, &host_b, &mut want).groups(&ends))
            .expect("the host");
        assert!(stream.clone_dtoh(&d).unwrap() == want, "{ends:?}");
    }
}

/// Typed calls with offsets in host memory, with and without a pass, and with more groups than one
/// launch supports. The slice may change or be dropped after the call, and a graph replays the
/// captured offsets. Without a workspace, and with invalid offsets, no work is enqueued.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn host_offsets_are_passed_by_value() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    for (groups, k) in [(3usize, 72usize), (127, 72), (128, 72), (300, 72), (5, 73)] {
        let (m, n) = (4 * groups + 60, 72usize);
        let (host_a, host_b) = (numbers(1, m * k), numbers(2, groups * k * n));
        let before: Vec<Bf16> = numbers(3, m * n);
        let (a, b) = (stream.clone_htod(&host_a).unwrap(), stream.clone_htod(&host_b).unwrap());
        let mut d = stream.clone_htod(&before).unwrap();
        let mut ends: Vec<u32> =
            (0..=groups as u64).map(|i| (draw(groups as u64, i) % m as u64) as u32).collect();
        ends.sort_unstable();
        let mut want = before.clone();
        Rows::new()
            .run(Arguments::new((m, n, k), &host_a, &host_b, &mut want).groups(&ends))
            .expect("the host");

        macro_rules! by_value {
            ($ends:expr) => {
                Arguments::new((m, n, k), &a, &b, &mut d).groups_by_value($ends)
            };
        }
        let kernel = Rows::new().prepare_grouped(&context).expect("grouped kernels");
        let bytes = kernel.workspace_size(&by_value!(&ends)).expect("a size");
        assert!(bytes >= 4 * ends.len() as u64);
        let told = kernel.run(by_value!(&ends)).message();
        assert_eq!(
            told,
            format!("workspace = 0 bytes is less than {bytes} bytes (group offsets or indices)")
        );
        let mut workspace = stream.clone_htod(&vec![0xffu8; bytes as usize]).unwrap();
        let mut short = stream.alloc_zeros::<u8>(bytes as usize - 1).unwrap();
        assert!(kernel.run(by_value!(&ends).workspace(&mut short)).is_err());
        let mut bad = ends.clone();
        bad[2] = m as u32 + 1;
        let told = kernel.run(by_value!(&bad).workspace(&mut workspace)).message();
        let begin = format!("offset 2 of the groups = {} is outside {} to {m}", m + 1, bad[1]);
        assert!(told.starts_with(&begin), "{told}");
        assert!(stream.clone_dtoh(&d).unwrap() == before, "a refused call wrote to D");

        let mut given = ends.clone();
        kernel.run(by_value!(&given).workspace(&mut workspace)).expect("a launch");
        given.fill(0);
        drop(given);
        assert!(stream.clone_dtoh(&d).unwrap() == want, "{groups} groups");

        capture(&stream);
        let mut given = ends.clone();
        let arguments = by_value!(&given).workspace(&mut workspace);
        kernel.run_on(&stream, arguments).expect("captured");
        given.fill(m as u32);
        drop(given);
        let graph = captured(&stream).expect("a graph");
        for _ in 0..2 {
            stream.memcpy_htod(&before, &mut d).unwrap();
            stream.memcpy_htod(&vec![0xffu8; bytes as usize], &mut workspace).unwrap();
            graph.launch().unwrap();
            assert!(stream.clone_dtoh(&d).unwrap() == want, "{groups} groups, replayed");
        }
    }
}

/// Offsets on a device with checking enabled. Valid offsets are computed. The first invalid offset
/// is refused with the host's message, even if it is beyond the first chunk that is read back. D
/// does not change. During capture the call is refused, and the capture continues.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn device_offsets_are_checked_on_request() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    let kernel = Rows::new().prepare_grouped(&context).expect("grouped kernels");
    let (m, n, k) = (600usize, 72, 72);
    let (a, b) = (
        stream.clone_htod(&vec![Bf16::ONE; m * k]).unwrap(),
        stream.clone_htod(&vec![Bf16::ONE; k * n]).unwrap(),
    );
    let seven = vec![Bf16::from_f32(7.0); m * n];
    let mut d = stream.clone_htod(&seven).unwrap();
    macro_rules! shared_b {
        () => {
            Arguments::new((m, n, k), &a, &b, &mut d).batch_stride_b(0)
        };
    }
    for count in [3usize, 4095, 4096, 9000] {
        let good: Vec<u32> = (0..=count).map(|i| (i * m / count) as u32).collect();
        let mut offsets = stream.clone_htod(&good).unwrap();
        let beyond = m as u32 + 1;
        for (at, bad) in
            [(0, beyond), (1, u32::MAX), (count - 1, 1 << 31), (count, 0), (count, beyond)]
        {
            let mut ends = good.clone();
            ends[at] = bad;
            stream.memcpy_htod(&ends, &mut offsets).unwrap();
            let refused = kernel.run(shared_b!().groups_checked(&offsets));
            let (mut of_host, ones) = (seven.clone(), vec![Bf16::ONE; m * k]);
            let host = Arguments::new((m, n, k), &ones, &ones[..k * n], &mut of_host);
            let wanted = Rows::new().run(host.groups(&ends).batch_stride_b(0));
            assert_eq!(refused.message(), wanted.message());
        }
        stream.memcpy_htod(&good, &mut offsets).unwrap();
        capture(&stream);
        let refused = kernel.run_on(&stream, shared_b!().groups_checked(&offsets));
        let refused = refused.expect_err("a capture");
        assert_eq!(refused.refusal(), Some(&Refusal::LISTS_CAPTURED));
        kernel.run_on(&stream, shared_b!().groups(&offsets)).expect("captured");
        let graph = captured(&stream).expect("a graph");
        assert!(stream.clone_dtoh(&d).unwrap() == seven, "a refused call wrote to D");
        let all = vec![Bf16::from_f32(k as f32); m * n];
        graph.launch().unwrap();
        assert!(stream.clone_dtoh(&d).unwrap() == all);
        stream.memcpy_htod(&seven, &mut d).unwrap();
        kernel.run(shared_b!().groups_checked(&offsets)).expect("good offsets");
        assert!(stream.clone_dtoh(&d).unwrap() == all);
        stream.memcpy_htod(&seven, &mut d).unwrap();
    }
}

/// Offsets that decrease or exceed D write nothing outside of D, and every launch ends.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn bad_offsets_write_nothing_outside_d() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let (m, n, k, guard) = (300usize, 136, 72, 4096);
    type Threads = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    let a = stream.clone_htod(&vec![Bf16::ONE; m * k]).unwrap();
    let b = stream.clone_htod(&vec![Bf16::ONE; 3 * k * n]).unwrap();
    let (x, y) = (
        stream.clone_htod(&vec![1.0f32; m * k]).unwrap(),
        stream.clone_htod(&vec![1.0f32; 3 * k * n]).unwrap(),
    );
    for ends in [
        [0u32, 200, 100, 300],
        [0, 5000, 40, 300],
        [u32::MAX, 0, 1 << 31, 7],
        [250, 200, 290, u32::MAX],
        [u32::MAX; 4],
    ] {
        let offsets = stream.clone_htod(&ends).unwrap();
        let mut d = stream.clone_htod(&vec![Bf16::from_f32(7.0); guard + m * n + guard]).unwrap();
        let mut z = stream.clone_htod(&vec![7.0f32; guard + m * n + guard]).unwrap();
        let (mut of_d, mut of_z) =
            (d.slice_mut(guard..guard + m * n), z.slice_mut(guard..guard + m * n));
        Rows::new()
            .run(Arguments::new((m, n, k), &a, &b, &mut of_d).groups(&offsets))
            .expect("a launch");
        Threads::new()
            .run(Arguments::new((m, n, k), &x, &y, &mut of_z).groups(&offsets))
            .expect("a launch");
        stream.synchronize().expect("it ends");
        let (d, z) = (stream.clone_dtoh(&d).unwrap(), stream.clone_dtoh(&z).unwrap());
        let inside = |i: &usize| (guard..guard + m * n).contains(i);
        let numbers = d.iter().map(|x| x.to_f32()).enumerate().chain(z.iter().copied().enumerate());
        for (i, x) in numbers {
            assert!(x == 7.0 || inside(&i) && x == k as f32, "{ends:?}: element {i} is {x}");
        }
    }
}
