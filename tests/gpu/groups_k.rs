//! Grouped GEMM along K on a device: each group has the bits of a separate GEMM, for every kind of
//! kernel. Neighboring groups with NaN do not change a group, for any offsets.

use super::{
    groups::OnDevice,
    prepared::{capture, captured, untracked},
};
use crate::harness::{
    groups::{copies_single_elements, largest, whole},
    groups_k::{IntegersAlongK, groups_along_k},
    integers::Data,
    prelude::*,
};

/// Returns random descriptions that compute groups along K with packed rows of odd lengths.
fn random_descriptions(
    seed: u64,
    (kernel_kind, plain): (KernelKind, bool),
    count: usize,
) -> Vec<(GemmDesc, u64)> {
    let largest_tile = largest(kernel_kind);
    let wanted = Wanted { kernel_kind, largest_tile, plain, arch: Some(ArchKind::Sm90) };
    let all = (0..).map(move |i| (whole(description(draw(seed, i), wanted)), draw(seed + 1, i)));
    all.filter(|(desc, _)| copies_single_elements(desc) && groups_along_k(desc))
        .take(count)
        .collect()
}

/// Compares grouped GEMM along K, with offsets on the device and by value, with separate GEMMs.
fn compare(context: &Arc<CudaContext>, desc: &GemmDesc, seed: u64) {
    let stream = context.new_stream().expect("a stream");
    let case = Grouped::random_along_k(desc, seed);
    let kernel =
        CudaKernel::prepare(context, desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    let [mut together, mut alone, mut by_value] = [(); 3].map(|()| OnDevice::new(&stream, &case));
    by_value.by_value = Some(case.offsets.clone());
    for all in [&mut by_value, &mut together] {
        all.run(&kernel, (&case.problem, [0; 4], 0))
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    }
    for SeparateGemm { problem, first, row } in case.separate_gemms_along_k() {
        alone
            .run(&kernel, (&problem, first, row))
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    }
    let (together, alone) = (together.bytes(), alone.bytes());
    let context = || format!("{:?} {:?}\n{desc:?}", case.offsets, case.problem);
    assert!(by_value.bytes() == together, "by value: {}", context());
    if let Some(at) = together.iter().zip(&alone).position(|(one, other)| one != other) {
        let element = desc.user_types().c.matrix_elements(at as u64);
        panic!("element {element} of D: {}", context());
    }
    assert!(together != case.d, "nothing was written: {}", context());
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn groups_along_k_have_the_bits_of_separate_gemms() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for &kernel_kind in KernelKind::ALL {
        let all = random_descriptions(0x6120_0800, (kernel_kind, false), 20);
        all.par_iter().for_each(|(desc, seed)| compare(&context, desc, *seed));
    }
}

/// Compares groups of integers, some of which hold NaN, with exact sums.
fn compare_integers(context: &Arc<CudaContext>, desc: &GemmDesc, seed: u64) {
    let stream = context.new_stream().expect("a stream");
    let mut case = IntegersAlongK::random(desc, seed);
    let mut d = std::mem::replace(&mut case.d, Data::new(desc.output.element, [].into_iter()));
    let kernel =
        CudaKernel::prepare(context, desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    let types = desc.user_types();
    let copied = |data: &Data| stream.clone_htod(data.slice().bytes()).expect("device memory");
    let (a, b, c) = (copied(&case.a), copied(&case.b), copied(&case.c));
    let (mut of_d, offsets) =
        (copied(&d), stream.clone_htod(bytemuck::cast_slice(&case.offsets)).expect("memory"));
    let mut workspace = stream.alloc_zeros::<u8>(1 << 26).expect("device memory");
    let matrices = CudaMatrices {
        a: DeviceMatrix::read_bytes(types.a, &a, &stream),
        b: DeviceMatrix::read_bytes(types.b, &b, &stream),
        c: case.problem.c.map(|_| DeviceMatrix::read_bytes(types.c, &c, &stream)),
        d: DeviceMatrix::write_bytes(types.c, &mut of_d, &stream),
        operands: EpilogueOperands::NONE,
    };
    let groups =
        Some(Groups::new(Axis::K, DeviceMatrix::read_bytes(ElementKind::I32, &offsets, &stream)));
    let workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut workspace, &stream));
    let call = CudaCall { groups, workspace, ..case.problem.with(matrices) };
    kernel.run(&stream, call).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    let bytes = stream.clone_dtoh(&of_d).expect("device memory");
    d.slice_mut().bytes_mut().copy_from_slice(&bytes);
    if let Some(wrong) = case.wrong(&d) {
        panic!("{seed}: {wrong}: {:?} {:?}\n{desc:?}", case.offsets, case.problem);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn groups_along_k_have_exact_sums_beside_nan() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for &kernel_kind in KernelKind::ALL {
        let all = random_descriptions(0x6120_0900, (kernel_kind, true), 40);
        all.par_iter().for_each(|(desc, seed)| compare_integers(&context, desc, *seed));
    }
}

/// Checks one case of each kind of kernel.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_groups_along_k_for_a_sanitizer() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for &kernel_kind in KernelKind::ALL {
        for (desc, seed) in random_descriptions(0x6120_0900, (kernel_kind, true), 4) {
            compare_integers(&context, &desc, seed);
        }
    }
}

/// Weight gradients: both operands have one row per token.
type Weights = Gemm<Bf16, ColMajor, Bf16, RowMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;

/// A captured graph whose offsets change between launches has the bits of the host.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn offsets_along_k_may_change_between_launches_of_a_graph() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    let (m, n, k) = (264usize, 136, 600);
    let (host_a, host_b) = (numbers(1, m * k), numbers(2, k * n));
    let (a, b) = (stream.clone_htod(&host_a).unwrap(), stream.clone_htod(&host_b).unwrap());
    let mut d = stream.alloc_zeros::<Bf16>(3 * m * n).unwrap();
    let mut offsets = stream.clone_htod(&[0u32, 200, 200, 600]).unwrap();
    let kernel = Weights::new().prepare_grouped_k(&context).expect("kernels of groups along K");
    capture(&stream);
    kernel
        .run_on(&stream, Arguments::new((m, n, k), &a, &b, &mut d).groups_k(&offsets))
        .expect("captured");
    let graph = captured(&stream).expect("a graph");
    for ends in
        [[0u32, 200, 200, 600], [7, 100, 599, 599], [0, 0, 1, 129], [600; 4], [3, 66, 67, 600]]
    {
        stream.memcpy_htod(&ends, &mut offsets).unwrap();
        let before: Vec<Bf16> = numbers(3, 3 * m * n);
        stream.memcpy_htod(&before, &mut d).unwrap();
        graph.launch().unwrap();
        let mut want = before;
        Weights::new()
            .run(Arguments::new((m, n, k), &host_a, &host_b, &mut want).groups_k(&ends))
            .expect("the host");
        assert!(stream.clone_dtoh(&d).unwrap() == want, "{ends:?}");
    }
}

/// All layouts of fp8, bf16, and f32 have the bits of the host, with offsets that are no multiples
/// of a vector. Operands that a kernel reads along K begin within a vector.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn groups_along_k_have_the_bits_of_the_host_in_all_layouts() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let (m, n, k) = (144usize, 160, 592);
    macro_rules! check {
        ($A:ty, $Acc:ty, $D:ty, $Op:ty) => {
            check!($A, $Acc, $D, $Op, ColMajor, RowMajor);
            check!($A, $Acc, $D, $Op, RowMajor, RowMajor);
            check!($A, $Acc, $D, $Op, ColMajor, ColMajor);
            check!($A, $Acc, $D, $Op, RowMajor, ColMajor);
        };
        ($A:ty, $Acc:ty, $D:ty, $Op:ty, $LayoutA:ty, $LayoutB:ty) => {
            let gemm = Gemm::<$A, $LayoutA, $A, $LayoutB, $D, RowMajor, $Acc, $Op, Sm90>::new();
            let (host_a, host_b): (Vec<$A>, Vec<$A>) = (numbers(1, m * k), numbers(2, k * n));
            let (a, b) = (stream.clone_htod(&host_a).unwrap(), stream.clone_htod(&host_b).unwrap());
            for ends in
                [[0u32, 592, 592, 592], [5, 70, 70, 591], [1, 2, 130, 131], [16, 80, 81, 337]]
            {
                let mut want: Vec<$D> = numbers(3, 3 * m * n);
                let mut d = stream.clone_htod(&want).unwrap();
                let offsets = stream.clone_htod(&ends).unwrap();
                let mut workspace = stream.alloc_zeros::<u8>(1 << 22).unwrap();
                let arguments =
                    Arguments::new((m, n, k), &a, &b, &mut d).groups_k_checked(&offsets);
                gemm.run(arguments.workspace(&mut workspace)).expect("a launch");
                let arguments = Arguments::new((m, n, k), &host_a, &host_b, &mut want);
                gemm.run(arguments.groups_k(&ends)).expect("the host");
                let names = (stringify!($A), stringify!($LayoutA), stringify!($LayoutB));
                assert!(stream.clone_dtoh(&d).unwrap() == want, "{names:?} {ends:?}");
            }
        };
    }
    check!(E4m3, f32, Bf16, TensorOp);
    check!(i8, i32, i32, TensorOp);
    check!(Bf16, f32, f32, TensorOp);
    check!(F16, f32, F16, TensorOp);
    check!(f32, f32, f32, Simt);
    check!(f64, f64, f64, TensorOp);
}

/// Offsets that descend or exceed K write nothing outside D, and every launch ends.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn bad_offsets_along_k_write_nothing_outside_d() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let (m, n, k, guard) = (136usize, 72, 300, 4096);
    let a = stream.clone_htod(&vec![Bf16::ONE; m * k]).unwrap();
    let b = stream.clone_htod(&vec![Bf16::ONE; k * n]).unwrap();
    for ends in [
        [0u32, 200, 100, 300],
        [0, 5000, 40, 300],
        [u32::MAX, 0, 1 << 31, 7],
        [250, 200, 290, u32::MAX],
        [u32::MAX; 4],
    ] {
        let offsets = stream.clone_htod(&ends).unwrap();
        let all = guard + 3 * m * n + guard;
        let mut d = stream.clone_htod(&vec![Bf16::from_f32(7.0); all]).unwrap();
        let mut of_d = d.slice_mut(guard..all - guard);
        let arguments = Arguments::new((m, n, k), &a, &b, &mut of_d);
        Weights::new().run(arguments.groups_k(&offsets)).expect("a launch");
        stream.synchronize().expect("it ends");
        let inside = |i: &usize| (guard..all - guard).contains(i);
        for (i, x) in stream.clone_dtoh(&d).unwrap().into_iter().enumerate() {
            let group = i.saturating_sub(guard) / (m * n);
            let wanted = if inside(&i) {
                let [first, end] = [ends[group], ends[group + 1]].map(|offset| offset.min(300));
                end.saturating_sub(first) as f32
            } else {
                7.0
            };
            assert!(x == Bf16::from_f32(wanted), "{ends:?}: element {i} is {x}");
        }
    }
}
