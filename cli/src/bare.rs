//! `falchion` alone: one verified product on what is here.

use crate::{
    args::On,
    cuda::{Kernel, Place},
    failure::Failure,
    gemm::{self, judged, speed, verified},
    print,
    progress::{during, timed},
};
use falchion::internals::{
    family::{Request, Resolved},
    host::Mode,
};
use falchion_lab::owned::HostProduct;
use serde_json::json;

/// m, n and k on the host.
const ON_HOST: (usize, usize, usize) = (1024, 1024, 1024);
/// m, n and k on a GPU.
const ON_CUDA: (usize, usize, usize) = (4096, 4096, 4096);
/// Timed runs at most, of which the fastest counts; one before them warms up.
const RUNS: usize = 5;
/// No new run after so many seconds.
const ENOUGH_SECONDS: f64 = 1.0;

/// A product, and how long it took.
struct Run {
    resolved: Resolved,
    product: HostProduct,
    extents: (usize, usize, usize),
    on: &'static str,
    seconds: f64,
}

/// Runs the command.
pub fn run(json: bool) -> Result<(), Failure> {
    let run = match Place::of(On::Auto)? {
        Place::Host => on_host()?,
        // A GPU that does not work is no reason to fail: the host does.
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
        return judged(verdict);
    }
    judged(verdict)?;
    print::line(&format!(
        "D = A*B, {m} x {n} x {k} in f32: {}",
        speed(run.on, run.extents, run.seconds)
    ));
    print::line(&verified(verdict, (m, n)));
    print::line("next:");
    print::table(next(run.on).map(|(command, what)| vec![command.to_owned(), what.to_owned()]));
    Ok(())
}

/// What to try next.
fn next(on: &str) -> [(&'static str, &'static str); 3] {
    let doctor = if on == "cuda" { "what was found here" } else { "what a GPU would need here" };
    [
        (
            "falchion gemm --m 1000 --n 1234 --k 777 --verify",
            "a product of your size; --a-file, --b-file and --out take .npy",
        ),
        ("falchion gemm --explain", "which kernel was chosen, and why"),
        ("falchion doctor", doctor),
    ]
}

fn on_host() -> Result<Run, Failure> {
    let resolved = Request::default().resolve(Place::Host.target())?;
    let mut product = gemm::drawn(&resolved, ON_HOST, 0)?;
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
    let mut product = gemm::drawn(&resolved, ON_CUDA, 0)?;
    let seconds = during("computing", || fastest(|| kernel.run(&mut product)))?;
    Ok(Run { resolved, product, extents: ON_CUDA, on: gemm::on(true), seconds })
}

/// The least seconds of a few runs, after one that does not count.
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
