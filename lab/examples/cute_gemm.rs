//! The GEMM of the CuTe tutorial: its layouts, the GEMM computed thread by thread on the host, and
//! the same GEMM on a GPU if there is one.
//!
//! Run it with `cargo run -p falchion-lab --example cute_gemm`.

use falchion::{Error, shape::Mnk};
use falchion_lab::layout::cute_gemm::CuteGemm;

fn main() -> Result<(), Error> {
    let tile = Mnk::new(64, 64, 16);
    let gemm = CuteGemm::new(Mnk::new(1024, 1024, 1024 * 8), tile, (8, 8))?;
    for (name, layout) in ["mA", "mB", "mC"].iter().zip(gemm.matrices()?) {
        println!("{name:<5}{layout}");
    }
    let block = gemm.block((0, 0))?;
    for (name, layout) in [
        ("gA", &block.gA.0),
        ("gB", &block.gB.0),
        ("gC", &block.gC.0),
        ("sA", &block.sA),
        ("sB", &block.sB),
    ] {
        println!("{name:<5}{layout}");
    }
    let thread = gemm.thread((0, 0), 0)?;
    for (name, part) in [
        ("tAgA", &thread.tAgA),
        ("tAsA", &thread.tAsA),
        ("tBgB", &thread.tBgB),
        ("tBsB", &thread.tBsB),
        ("tCsA", &thread.tCsA),
        ("tCsB", &thread.tCsB),
        ("tCgC", &thread.tCgC),
    ] {
        println!("{name:<5}{}", part.0);
    }
    println!("partition of the whole grid, (block,thread,value) or (thread,value):");
    for (name, layout) in gemm.grid()?.named() {
        println!("{name:<5}{layout}");
    }

    let (m, n, k) = (128u32, 192u32, 32u32);
    let small = CuteGemm::new(Mnk::new(m, n, k), tile, (8, 8))?;
    let draw =
        |count: u32, by: u32| (0..count).map(|i| i64::from(i * by % 17) - 8).collect::<Vec<_>>();
    let (a, b, mut c) = (draw(m * k, 7), draw(n * k, 5), vec![0; (m * n) as usize]);
    small.run(&a, &b, &mut c)?;
    let at = |i: u32, j: u32| {
        (0..k).map(|l| a[(i + l * m) as usize] * b[(j + l * n) as usize]).sum::<i64>()
    };
    let wrong = (0..n)
        .flat_map(|j| (0..m).map(move |i| (i, j)))
        .filter(|(i, j)| c[(i + j * m) as usize] != at(*i, *j))
        .count();
    println!(
        "on the host, {m} x {n} x {k}, copied and multiplied thread by thread: {wrong} of {} elements are wrong",
        m * n
    );
    assert_eq!(wrong, 0);
    on_device(&gemm)
}

/// Computes the GEMM on the first device and verifies it. Without a device, prints the reason.
#[cfg(feature = "cuda")]
fn on_device(gemm: &CuteGemm) -> Result<(), Error> {
    use falchion::{cuda::open, numeric::ElementKind};
    use falchion_lab::{layout::cute_gemm::CuteGemmKernel, owned::resident::Resident};
    let context = match open(0) {
        Ok(context) => context,
        Err(why) => {
            println!("no device: {why}");
            return Ok(());
        }
    };
    let kernel = CuteGemmKernel::prepare(&context, gemm, ElementKind::F32)?;
    let (desc, mut product) = gemm.product(ElementKind::F32)?;
    let [operands, _] = product.distributions(&desc);
    product.a.draw(operands, 1)?;
    product.b.draw(operands, 2)?;
    let matrices = product.matrices()?;
    let mut resident = Resident::new(&context.default_stream(), &matrices)?;
    resident.run_cute_gemm(&kernel, [0; 3])?;
    resident.download(matrices.d)?;
    let verdict = product.verify(&desc)?;
    println!("on the device, {} registers per thread: {verdict}", kernel.report().registers);
    assert!(verdict.is_right());
    Ok(())
}

/// Prints that this build has no CUDA.
#[cfg(not(feature = "cuda"))]
fn on_device(_: &CuteGemm) -> Result<(), Error> {
    println!("no device: this build lacks the feature `cuda`");
    Ok(())
}
