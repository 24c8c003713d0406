//! Workspaces that grow, and runs on another stream without `prepare`.

use crate::{
    harness::prelude::*,
    prepared::{capture, captured, untracked},
    run::device,
};
use falchion::cuda::Workspace;

/// K is split, so the fastest configuration needs a workspace.
const EXTENTS: (usize, usize, usize) = (64, 64, 65536);

type Product = Gemm<f32, RowMajor, f32, ColMajor, f32, RowMajor, f32, Simt>;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn workspace_grows_to_the_bytes_that_run_needs() {
    let (_context, stream) = device();
    let (m, n, k) = EXTENTS;
    let ones = |count: usize| stream.clone_htod(&vec![1.0f32; count]).expect("memory");
    let (a, b, mut d) = (ones(m * k), ones(k * n), ones(m * n));
    let needed = Product::new()
        .workspace_size(&Arguments::new(EXTENTS, &a, &b, &mut d))
        .expect("a workspace size");
    assert!(needed > 0, "K is split");
    let mut workspace = Workspace::new();
    for _ in 0..2 {
        let arguments = Arguments::new(EXTENTS, &a, &b, &mut d).workspace(&mut workspace);
        Product::new().run(arguments).expect("a product");
        assert!(stream.clone_dtoh(&d).expect("D").iter().all(|&sum| sum == k as f32));
        assert_eq!(workspace.bytes(), needed);
    }
    // A larger workspace stays as it is, and another stream may use it.
    workspace.reserve(&stream, 2 * needed).expect("memory");
    let other = stream.context().new_stream().expect("a stream");
    stream.synchronize().expect("idle");
    let arguments = Arguments::new(EXTENTS, &a, &b, &mut d).workspace(&mut workspace);
    Product::new().run_on(&other, arguments).expect("a product");
    other.synchronize().expect("idle");
    assert_eq!(workspace.bytes(), 2 * needed);
    assert!(stream.clone_dtoh(&d).expect("D").iter().all(|&sum| sum == k as f32));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn workspace_is_reserved_before_a_capture() {
    let (context, _) = device();
    let kernel = Product::new().prepare(&context).expect("kernels");
    let stream = untracked(&context);
    let (m, n, k) = EXTENTS;
    let ones = |count: usize| stream.clone_htod(&vec![1.0f32; count]).expect("memory");
    let (a, b, mut d) = (ones(m * k), ones(k * n), ones(m * n));
    let needed =
        kernel.workspace_size(&Arguments::new(EXTENTS, &a, &b, &mut d)).expect("a workspace size");
    stream.synchronize().expect("idle");
    let mut workspace = Workspace::new();
    capture(&stream);
    let reserved = workspace.reserve(&stream, needed);
    let arguments = Arguments::new(EXTENTS, &a, &b, &mut d).workspace(&mut workspace);
    let ran = kernel.run(arguments);
    drop(captured(&stream));
    for refused in [reserved, ran] {
        let wanted = Refusal::workspace_captured(0, needed);
        assert!(matches!(refused, Err(Error::Refused(refusal)) if *refusal == wanted));
    }
    workspace.reserve(&stream, needed).expect("memory");
    stream.memset_zeros(&mut d).expect("D");
    stream.synchronize().expect("idle");
    capture(&stream);
    let arguments = Arguments::new(EXTENTS, &a, &b, &mut d).workspace(&mut workspace);
    let ran = kernel.run(arguments);
    let graph = captured(&stream);
    ran.expect("a product");
    graph.expect("a graph").launch().expect("a launch");
    assert!(stream.clone_dtoh(&d).expect("D").iter().all(|&sum| sum == k as f32));
}

#[test]
#[ignore = "needs an NVIDIA GPU of compute capability 8.0 or newer"]
fn operators_run_on_another_stream_without_prepare() {
    let (context, stream) = device();
    let other = context.new_stream().expect("a stream");
    let (m, n, k) = (128, 64, 256);
    let ones = |count: usize| stream.clone_htod(&vec![Bf16::ONE; count]).expect("memory");
    let (a, b) = (ones(m * k), ones(k * n));
    let bf16: MatrixType = "bf16:row".parse().expect("a matrix");
    let operation =
        GemmOperation::new(bf16, bf16, "f32:row".parse().expect("a matrix")).expect("a kernel");
    let machine = machine_of(&context).expect("a machine");
    let units = operation.on(Some(&machine)).expect("units").desc().op();
    assert_eq!(units, OpKind::TensorOp);
    for number in 0..2 {
        let mut d = stream.alloc_zeros::<f32>(m * n).expect("memory");
        stream.synchronize().expect("idle");
        let ran = if number == 0 {
            let gemm = GemmUniversal::<Bf16, RowMajor, Bf16, RowMajor, f32, RowMajor>::new();
            gemm.run_on(&other, Arguments::new((m, n, k), &a, &b, &mut d))
        } else {
            let (a, b) = (AnySlice::new::<Bf16>(&a), AnySlice::new::<Bf16>(&b));
            let d = AnySliceMut::new::<f32>(&mut d);
            operation.run_on(&other, Arguments::new((m, n, k), a, b, d))
        };
        ran.expect("a product");
        other.synchronize().expect("idle");
        assert!(stream.clone_dtoh(&d).expect("D").iter().all(|&sum| sum == k as f32), "{number}");
    }
}
