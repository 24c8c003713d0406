//! `falchion` without a subcommand: one verified GEMM on this machine.

use crate::{
    args::On,
    cuda::{Kernel, Place},
    failure::Failure,
    gemm::{self, require_verified, speed, verified},
    print,
    progress::{during, timed},
};
use falchion::internals::nest::{Request, Resolved};
use falchion_check::Mode;
use falchion_lab::owned::HostProduct;
use serde_json::json;

/// M, N, and K on the host.
const ON_HOST: (usize, usize, usize) = (1024, 1024, 1024);
/// M, N, and K on a GPU.
const ON_CUDA: (usize, usize, usize) = (4096, 4096, 4096);
/// Maximum number of timed runs after one warm-up run. The report uses the fastest run.
const RUNS: usize = 5;
/// Total seconds of timed runs after which no new run starts.
const ENOUGH_SECONDS: f64 = 1.0;

/// A computed GEMM and its time in seconds.
struct Run {
    resolved: Resolved,
    product: HostProduct,
    extents: (usize, usize, usize),
    on: &'static str,
    seconds: f64,
}

/// Runs the command.
pub fn run(json: bool) -> Result<(), Failure> {
    let run = match Place::open(On::Auto)? {
        Place::Host => on_host()?,
        // If the GPU fails, the host computes the GEMM.
        place => on_cuda(&place).or_else(|_| on_host())?,
    };
    let verdict = during("verifying", || run.product.verify(&run.resolved.desc))?;
    let (m, n, k) = run.extents;
    if json {
        let object = json!({
            "verified": verdict.is_right(), "on": run.on, "m": m, "n": n, "k": k,
            "error_over_bound": verdict.error_over_bound, "seconds": run.seconds,
        });
        print::line(&object.to_string());
        return require_verified(verdict);
    }
    require_verified(verdict)?;
    print::line(&format!(
        "D = A*B, {m} x {n} x {k} in f32: {}",
        speed(run.on, run.extents, run.seconds)
    ));
    print::line(&verified(verdict, (m, n)));
    print::line("next:");
    print::table(
        next_commands(run.on).map(|(command, what)| vec![command.to_owned(), what.to_owned()]),
    );
    Ok(())
}

/// Commands to try next.
fn next_commands(on: &str) -> [(&'static str, &'static str); 3] {
    let doctor =
        if on == "cuda" { "the libraries and the GPU" } else { "the libraries that a GPU needs" };
    [
        (
            "falchion gemm --m 1000 --n 1234 --k 777 --verify",
            "a GEMM of your size, from random numbers or .npy files",
        ),
        ("falchion gemm --explain", "the selected kernel, and the origin of each knob"),
        ("falchion doctor", doctor),
    ]
}

fn on_host() -> Result<Run, Failure> {
    let resolved = Request::default().resolve(Place::Host.target())?;
    let mut product = gemm::random_product(&resolved, ON_HOST, 0)?;
    let seconds = during("computing", || {
        fastest(|| {
            let (done, seconds) = timed(|| product.run(&resolved.desc, Mode::Fast));
            Ok(done.map(|()| seconds)?)
        })
    })?;
    Ok(Run { resolved, product, extents: ON_HOST, on: gemm::on(false), seconds })
}

fn on_cuda(place: &Place) -> Result<Run, Failure> {
    let Place::Cuda(device) = place else { return on_host() };
    let resolved = Request::default().resolve(place.target())?;
    let kernel: Kernel = device.prepare(&resolved.desc)?;
    let mut product = gemm::random_product(&resolved, ON_CUDA, 0)?;
    let seconds = during("computing", || fastest(|| kernel.run(&mut product)))?;
    Ok(Run { resolved, product, extents: ON_CUDA, on: gemm::on(true), seconds })
}

/// Seconds of the fastest of a few runs, after one warm-up run.
fn fastest(mut run: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    run()?;
    let (mut least, mut spent) = (f64::INFINITY, 0.0);
    for _ in 0..RUNS {
        let seconds = run()?;
        (least, spent) = (least.min(seconds), spent + seconds);
        if spent >= ENOUGH_SECONDS {
            break;
        }
    }
    Ok(least)
}
