//! `prepare` compiles every kernel that a run may use.

use super::run::device;
use crate::harness::prelude::*;
use cudarc::driver::CudaGraph;

/// Returns a stream whose buffers record no events, so that it can be captured.
pub(super) fn untracked(context: &Arc<CudaContext>) -> Arc<CudaStream> {
    // SAFETY: the slices are used on one stream.
    #[allow(unsafe_code, reason = "cudarc makes event tracking unsafe to disable")]
    unsafe {
        context.disable_event_tracking();
    }
    context.new_stream().unwrap()
}

/// Makes buffers that record no events, because cudarc's event tracking cannot be captured.
pub(super) fn without_events<T>(context: &CudaContext, make: impl FnOnce() -> T) -> T {
    // SAFETY: the slices are used on one stream. Tracking is enabled before and afterwards.
    #[allow(unsafe_code, reason = "cudarc makes event tracking unsafe to disable")]
    unsafe {
        context.disable_event_tracking();
        let made = make();
        context.enable_event_tracking();
        made
    }
}

pub(super) fn capture(stream: &CudaStream) {
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
}

/// Ends a capture, and returns its graph, or `None` if nothing was captured.
pub(super) fn end_capture(
    stream: &Arc<CudaStream>,
) -> Result<Option<CudaGraph>, cudarc::driver::DriverError> {
    stream.end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
}

/// Ends a capture that must succeed.
pub(super) fn captured(stream: &Arc<CudaStream>) -> Option<CudaGraph> {
    end_capture(stream).unwrap()
}

/// If the problem size selects among several kernels, `prepare` compiles all of them. `run` can
/// therefore be captured with any problem size.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn prepare_compiles_every_kernel_that_run_may_use() {
    let (context, _) = device();
    let machine = machine_of(&context).unwrap();
    type Hopper = HopperK<Bf16, f32>;
    let mut problems = vec![
        (2048, 2048, 2048),
        (4096, 2112, 7168),
        (4096, 4096, 4096),
        (128, 7168, 2048),
        (8192, 8192, 512),
    ];
    let chosen = |extents| {
        Hopper::new().desc_for(&ProblemSize { workspace: 0, ..ProblemSize::new(extents) }, &machine)
    };
    let distinct: HashSet<_> = problems.iter().map(|&extents| chosen(extents)).collect();
    assert!(distinct.len() > 1, "all problem sizes select the same kernel");
    // Each of these problems uses split-K in a cluster, without a workspace.
    let few = [(16, 2112, 7168), (32, 2112, 7168), (64, 2112, 7168), (128, 128, 16384)];
    assert!(few.iter().all(|&extents| chosen(extents).cuts_by_cluster()));
    problems.extend(few);
    let kernel = Hopper::new().prepare(&context).unwrap();
    let stream = untracked(&context);
    for extents @ (m, n, k) in problems {
        let (a, b) = (stream.alloc_zeros(m * k).unwrap(), stream.alloc_zeros(k * n).unwrap());
        let mut d = stream.alloc_zeros::<f32>(m * n).unwrap();
        capture(&stream);
        let by_kernel = kernel.run(Arguments::new(extents, &a, &b, &mut d));
        let by_type = Hopper::new().run(Arguments::new(extents, &a, &b, &mut d));
        drop(captured(&stream));
        assert!(by_kernel.is_ok() && by_type.is_ok(), "{extents:?}: {by_kernel:?} {by_type:?}");
    }
}

/// The problem size and the workspace select the number of split-K slices. One prepared kernel is
/// captured with every number of slices. All factors are 1, so each element of D is K.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn one_kernel_splits_k_as_the_workspace_allows() {
    let (context, _) = device();
    let machine = machine_of(&context).unwrap();
    type Product = Gemm<f32, RowMajor, f32, ColMajor, f32, RowMajor, f32, Simt>;
    let problems = [(64, 64, 65536), (100, 60, 4001), (512, 512, 8192), (2048, 2048, 64)];
    let slices = problems
        .map(|extents| Product::new().desc_for(&ProblemSize::new(extents), &machine).split_k());
    assert!(
        slices[..3].iter().all(|slices| *slices > 1) && slices[0] != slices[1] && slices[3] == 1,
        "{slices:?}"
    );
    let kernel = Product::new().prepare(&context).unwrap();
    let stream = untracked(&context);
    for (extents @ (m, n, k), slices) in problems.into_iter().zip(slices) {
        let (a, b) = (
            stream.clone_htod(&vec![1.0f32; m * k]).unwrap(),
            stream.clone_htod(&vec![1.0f32; k * n]).unwrap(),
        );
        let mut d = stream.alloc_zeros::<f32>(m * n).unwrap();
        let bytes = kernel.workspace_size(&Arguments::new(extents, &a, &b, &mut d)).unwrap();
        assert_eq!(
            Product::new().workspace_size(&Arguments::new(extents, &a, &b, &mut d)),
            Ok(bytes)
        );
        assert_eq!(bytes > 0, slices > 1, "{extents:?}");
        // The kernel does not read the previous contents of the workspace.
        let mut workspace = stream.clone_htod(&vec![0xffu8; bytes.max(1) as usize]).unwrap();
        for given in [bytes as usize, bytes as usize / 2, 0] {
            for by_type in [false, true] {
                stream.memset_zeros(&mut d).unwrap();
                stream.synchronize().unwrap();
                capture(&stream);
                let arguments = Arguments::new(extents, &a, &b, &mut d);
                let mut some = workspace.slice_mut(..given);
                let arguments = if given > 0 { arguments.workspace(&mut some) } else { arguments };
                let ran =
                    if by_type { Product::new().run(arguments) } else { kernel.run(arguments) };
                let graph = captured(&stream);
                ran.unwrap();
                let graph = graph.expect("something was captured");
                for _ in 0..2 {
                    graph.launch().unwrap();
                }
                assert!(
                    stream.clone_dtoh(&d).unwrap().iter().all(|&sum| sum == k as f32),
                    "{extents:?} in {given} bytes"
                );
            }
        }
    }
}

/// `prepare_batched` compiles the kernels of all batches. They also compute a single GEMM.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn prepare_batched_compiles_every_kernel_that_a_batch_may_use() {
    let (context, _) = device();
    let machine = machine_of(&context).unwrap();
    type Hopper = HopperK<Bf16, f32>;
    let batches = [
        (64, (512, 512, 512)),
        (2, (4096, 2112, 7168)),
        (256, (128, 128, 128)),
        (1, (4096, 4096, 4096)),
    ];
    let chosen = |&(batch, extents): &(usize, _)| {
        Hopper::new().desc_for(&ProblemSize { batch, ..ProblemSize::new(extents) }, &machine)
    };
    let distinct: HashSet<_> = batches.iter().map(chosen).collect();
    assert!(distinct.len() > 1, "all batches select the same kernel");
    let kernel = Hopper::new().prepare_batched(&context).unwrap();
    assert_eq!(*kernel.desc(), Hopper::DESC.for_batch(2));
    let stream = untracked(&context);
    for (batch, extents @ (m, n, k)) in batches {
        let (a, b) = (
            stream.alloc_zeros(batch * m * k).unwrap(),
            stream.alloc_zeros(batch * k * n).unwrap(),
        );
        let mut d = stream.alloc_zeros::<f32>(batch * m * n).unwrap();
        capture(&stream);
        let by_kernel = kernel.run(Arguments::new(extents, &a, &b, &mut d).batch(batch));
        // A single GEMM uses a kernel of `prepare`.
        let by_type = if batch == 1 {
            Ok(())
        } else {
            Hopper::new().run(Arguments::new(extents, &a, &b, &mut d).batch(batch))
        };
        drop(captured(&stream));
        assert!(
            by_kernel.is_ok() && by_type.is_ok(),
            "{batch} of {extents:?}: {by_kernel:?} {by_type:?}"
        );
    }
}
