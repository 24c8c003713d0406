//! A CUDA graph of a GEMM: prepare the kernels, reserve the workspace, capture, and launch. Run the
//! example with `cargo run --release --example graph`. The example needs an NVIDIA driver and
//! libnvrtc.

use falchion::{
    cuda::{Workspace, open},
    cudarc::driver::sys::{CUgraphInstantiate_flags as Flags, CUstreamCaptureMode as Mode},
    prelude::*,
};

fn main() -> Result<(), falchion::Error> {
    let context = open(0).unwrap_or_else(|error| {
        eprintln!("this example needs an NVIDIA GPU: {error}");
        std::process::exit(2)
    });
    // SAFETY: all slices stay on one stream, so cudarc needs no events. An event ends a capture.
    #[allow(unsafe_code)]
    unsafe {
        context.disable_event_tracking()
    };
    let stream = context.new_stream()?;
    let (m, n, k) = (16, 4096, 4096);
    let a = stream.clone_htod(&vec![F16::ONE; m * k])?;
    let b = stream.clone_htod(&vec![F16::ONE; k * n])?;
    let mut d = stream.alloc_zeros::<f32>(m * n)?;

    // A capture can neither compile kernels nor allocate memory.
    let kernel = Gemm::<F16, RowMajor, F16, ColMajor, f32>::new().prepare(&context)?;
    let bytes = kernel.workspace_size(&Arguments::new((m, n, k), &a, &b, &mut d))?;
    let mut workspace = Workspace::new();
    workspace.reserve(&stream, bytes)?;

    stream.begin_capture(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    kernel.run(Arguments::new((m, n, k), &a, &b, &mut d).workspace(&mut workspace))?;
    let graph = stream.end_capture(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)?;
    graph.expect("the capture holds a kernel").launch()?;
    assert!(stream.clone_dtoh(&d)?.iter().all(|&x| x == k as f32));
    Ok(())
}
