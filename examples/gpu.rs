//! A GEMM on a GPU: `bf16` operands, an `f32` result, and a workspace that grows.
//!
//! Run the example with `cargo run --release --example gpu`. The example needs an NVIDIA driver and
//! libnvrtc.

use falchion::{
    cuda::{Workspace, open},
    prelude::*,
};

fn main() -> Result<(), falchion::Error> {
    let context = open(0).unwrap_or_else(|error| {
        eprintln!("this example needs an NVIDIA GPU: {error}");
        std::process::exit(2)
    });
    let stream = context.default_stream();
    let (m, n, k) = (1024, 512, 2048);
    let a = stream.clone_htod(&vec![Bf16::ONE; m * k])?;
    let b = stream.clone_htod(&vec![Bf16::ONE; k * n])?;
    let mut d = stream.alloc_zeros::<f32>(m * n)?;

    // A is row-major, B is column-major, and D is row-major.
    let gemm = Gemm::<Bf16, RowMajor, Bf16, ColMajor, f32>::new();

    // The first call compiles the kernel. `run` enqueues the work on D's stream.
    let mut workspace = Workspace::new();
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut d).alpha(0.5).workspace(&mut workspace))?;

    let d = stream.clone_dtoh(&d)?;
    assert!(d.iter().all(|&x| x == 1024.0));
    println!("{m} x {n} x {k}: D[0] = {}, workspace of {} bytes", d[0], workspace.bytes());
    Ok(())
}
