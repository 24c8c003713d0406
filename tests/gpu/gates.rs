//! Epilogues with a gate on a device: the bits of the host in each form of B, one launch, and no
//! workspace.

use super::{
    prepared::{capture, captured, untracked},
    run::device,
};
use crate::harness::{
    gates::{GatedCase, descriptions_where},
    prelude::*,
};
use cudarc::driver::{CudaGraph, sys};

/// Runs a case on the device, and returns D.
fn on_device(
    context: &Arc<CudaContext>,
    desc: &GemmDesc,
    case: &GatedCase,
) -> Result<Vec<u8>, Error> {
    let stream = context.new_stream()?;
    let (types, problem) = (case.types, &case.problem);
    // An allocation has at least one element.
    let copied = |bytes: &[u8]| stream.clone_htod(&[bytes, &[0; 16]].concat());
    let (a, b, c) = (copied(&case.a)?, copied(&case.b)?, copied(&case.c)?);
    let (mut d, mut workspace) = (copied(&case.d)?, stream.alloc_zeros::<u8>(1 << 26)?);
    let operands = case.operands.as_ref().map(|_, bytes| copied(bytes).expect("device memory"));
    let read = |kind: ElementKind, bytes| DeviceMatrix::read_bytes(kind, bytes, &stream);
    let matrices = CudaMatrices {
        a: read(types.a, &a),
        b: read(types.b, &b).from(case.first[0]),
        c: problem.c.map(|_| read(types.c, &c)),
        d: DeviceMatrix::write_bytes(types.c, &mut d, &stream),
        operands: operands.as_ref().map(|name, bytes| read(case.element(name), bytes)),
    };
    let up = problem.up.map(|up| up.with(read(types.b, &b).from(case.first[1])));
    let workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut workspace, &stream));
    let kernel = CudaKernel::prepare(context, desc)?;
    kernel.run(&stream, CudaCall { up, workspace, ..problem.with(matrices) })?;
    let mut found = stream.clone_dtoh(&d)?;
    found.truncate(case.d.len());
    Ok(found)
}

/// Compares the device with the host for kernels of one kind.
fn compare(kind: (MainloopKind, WarpMmaKind), seed: u64, count: usize) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let machine = ArchKind::Sm90.machine();
    let all = descriptions_where(seed, count, |desc| {
        (desc.mainloop.kind(), desc.mma.kind()) == kind && desc.check_on(&machine).is_ok()
    });
    all.par_iter().for_each(|(seed, desc)| {
        for number in 0..3 {
            let case = GatedCase::random(desc, draw(*seed, number), true);
            let wanted = case.on_host(desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
            let found = on_device(&context, desc, &case)
                .unwrap_or_else(|error| panic!("{error}\n{desc:?}\n{:?}", case.problem));
            if let Some(at) = found.iter().zip(&wanted).position(|(one, other)| one != other) {
                let (form, problem) = (case.form, &case.problem);
                panic!("byte {at} of D, seed {seed}, {number}, {form:?}: {desc:?} {problem:?}");
            }
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_multistage_simt_have_the_bits_of_the_host() {
    compare((MainloopKind::Multistage, WarpMmaKind::Simt), 0x6a81, 24);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_multistage_mma_sync_have_the_bits_of_the_host() {
    compare((MainloopKind::Multistage, WarpMmaKind::MmaSync), 0x6a82, 24);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_pipelined_kernels_have_the_bits_of_the_host() {
    compare((MainloopKind::Pipelined, WarpMmaKind::Simt), 0x6a83, 24);
    compare((MainloopKind::Pipelined, WarpMmaKind::MmaSync), 0x6a84, 24);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_wgmma_have_the_bits_of_the_host() {
    compare((MainloopKind::TmaRing, WarpMmaKind::Wgmma), 0x6a85, 24);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_simt_rings_have_the_bits_of_the_host() {
    compare((MainloopKind::TmaRing, WarpMmaKind::Simt), 0x6a86, 24);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_mma_sync_rings_have_the_bits_of_the_host() {
    compare((MainloopKind::TmaRing, WarpMmaKind::MmaSync), 0x6a87, 24);
}

/// Returns the number of nodes of a graph: its launches.
fn nodes(graph: &CudaGraph) -> usize {
    let mut count = 0;
    // SAFETY: the graph exists, and a null pointer requests only the number of nodes.
    #[allow(unsafe_code, reason = "cudarc has no function that counts nodes")]
    let status =
        unsafe { sys::cuGraphGetNodes(graph.cu_graph(), core::ptr::null_mut(), &mut count) };
    assert_eq!(status, sys::CUresult::CUDA_SUCCESS);
    count
}

/// A call with a gate is one launch that needs no workspace, so the wide intermediate is never
/// written. The call has the bits of the host in each form of B.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_call_with_a_gate_is_one_launch() {
    // The host adds all of K in sequence.
    let pins = [("epilogue", "silu(gate) * up"), ("split_k", "1")];
    let request = Request {
        arch: Some(ArchKind::Sm90),
        ..request(["bf16:row", "bf16:col", "bf16:row"], &pins)
    };
    let (context, _) = device();
    let gemm = GemmOperation::from_request(&request).expect("an operator");
    let gemm = gemm.typed::<Bf16, Bf16, Bf16>().expect("the types");
    let kernel = gemm.prepare(&context).expect("a kernel");
    let stream = untracked(&context);
    for extents @ (m, n, k) in [(512, 1024, 512), (333, 264, 200), (1000, 72, 1024)] {
        let numbers = |count: usize, seed: u64| -> Vec<Bf16> {
            let number = |i| Bf16::from_f32((draw(seed, i) % 255) as f32 / 128.0 - 1.0);
            (0..count as u64).map(number).collect()
        };
        let (a, gate, up) = (numbers(m * k, 1), numbers(n * k, 2), numbers(n * k, 3));
        let halves = [&gate[..], &up[..]].concat();
        let pairs: Vec<Bf16> = (0..n)
            .flat_map(|j| [&gate[j * k..(j + 1) * k], &up[j * k..(j + 1) * k]].concat())
            .collect();
        let mut wanted = vec![Bf16::from_f32(f32::NAN); m * n];
        gemm.run(Arguments::new(extents, &a, &halves, &mut wanted)).expect("a result");
        let on_device = |of: &[Bf16]| stream.clone_htod(of).expect("device memory");
        let (a, halves, pairs) = (on_device(&a), on_device(&halves), on_device(&pairs));
        // The second matrix may have the lower address.
        let (one, two) = (on_device(&gate), on_device(&up));
        let (three, four) = (on_device(&up), on_device(&gate));
        for form in 0..4 {
            let poison = vec![Bf16::from_f32(f32::NAN); m * n];
            let mut d = on_device(&poison);
            let arguments = match form {
                0 => Arguments::new(extents, &a, &halves, &mut d),
                1 => Arguments::new(extents, &a, &pairs, &mut d).interleaved_gates(),
                2 => Arguments::new(extents, &a, &one, &mut d).up(&two),
                _ => Arguments::new(extents, &a, &four, &mut d).up(&three),
            };
            stream.synchronize().expect("a stream");
            capture(&stream);
            let ran = kernel.run_on(&stream, arguments);
            let graph = captured(&stream);
            ran.expect("a call without a workspace");
            let graph = graph.expect("something was captured");
            assert_eq!(nodes(&graph), 1, "{extents:?}, {form}");
            graph.launch().expect("a launch");
            let found = stream.clone_dtoh(&d).expect("a copy");
            let differ = |(found, wanted): (&Bf16, &Bf16)| found.to_bits() != wanted.to_bits();
            let wrong = found.iter().zip(&wanted).position(differ);
            assert_eq!(wrong, None, "{extents:?}, {form}");
        }
    }
}

/// The up columns may lie in the allocation of D, and are refused if they are too short.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn short_up_columns_are_refused() {
    falchion::epilogue! { struct Product = gate * up }
    let (context, _) = device();
    let stream = context.default_stream();
    let gemm = Gemm::<f32>::new().epilogue::<Product>();
    let (m, n, k) = (8, 16, 4);
    let (a, gate) = (stream.alloc_zeros(m * k), stream.alloc_zeros(n * k));
    let (a, gate) = (a.expect("device memory"), gate.expect("device memory"));
    let mut both = stream.alloc_zeros::<f32>(m * n + n * k).expect("device memory");
    let (d, up) = both.split_at_mut(m * n);
    let (mut d, up) = (d, up);
    gemm.run(Arguments::new((m, n, k), &a, &gate, &mut d).up(&up)).expect("a result");
    let short = up.slice(..n * k - 1);
    let says = gemm.run(Arguments::new((m, n, k), &a, &gate, &mut d).up(&short));
    let says = says.expect_err("a refusal").to_string();
    assert!(says.starts_with("length of the up columns of B = 63 elements"), "{says}");
}
