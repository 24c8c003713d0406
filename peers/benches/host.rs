//! How fast the host executor is, next to the `gemm` crate on the same cores; the table of
//! `docs/performance/host.md`.

use falchion::{
    device::{Arguments, Gemm, run_on_host},
    internals::operand::{HostCall, HostSlice, HostSliceMut, Matrices, Problem, Source},
    prelude::*,
};
use falchion_check::run_checked;
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Extents of the product, each.
const EXTENT: usize = 1024;

/// Rounds; in each, everything is timed once.
const ROUNDS: usize = 31;

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The least and the median of some durations, in seconds.
fn summary(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    (times[0].as_secs_f64(), times[times.len() / 2].as_secs_f64())
}

/// The `gemm` crate, all matrices row-major.
fn peer(parallelism: gemm::Parallelism, n: usize, a: &[f32], b: &[f32], d: &mut [f32]) {
    assert!(a.len() == n * n && b.len() == n * n && d.len() == n * n);
    let row = n as isize;
    #[allow(unsafe_code, reason = "the peer takes pointers")]
    // SAFETY: three n x n row-major matrices, as long as was just checked; D is borrowed for
    // writing, A and B for reading.
    unsafe {
        gemm::gemm(
            n,
            n,
            n,
            d.as_mut_ptr(),
            1,
            row,
            false,
            a.as_ptr(),
            1,
            row,
            b.as_ptr(),
            1,
            row,
            0.0f32,
            1.0f32,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// A product of row-major matrices of n x n.
fn call<'a>(
    desc: &GemmDesc,
    n: usize,
    a: &'a [f32],
    b: &'a [f32],
    d: &'a mut [f32],
) -> HostCall<'a> {
    let problem =
        Problem::new(desc, (n, n, n), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let (a, b) = (HostSlice::new::<f32>(a), HostSlice::new::<f32>(b));
    problem.with(Matrices {
        a,
        b,
        c: Source::None,
        d: HostSliceMut::new::<f32>(d),
        operands: Default::default(),
    })
}

/// One product of the checked mode at 128 x 128 x 128.
fn checked() -> Duration {
    let n = 128;
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let (a, b, mut d) = (numbers(n * n, 3), numbers(n * n, 4), vec![0.0f32; n * n]);
    let desc = gemm.desc();
    let call = call(&desc, n, &a, &b, &mut d);
    timed(|| run_checked(&desc, 1, call).expect("the default kernel has no fault"))
}

/// Composing the maps of a description that was not seen before: 256 threads, four stages of 128 x
/// 128 x 16.
fn composed() -> Duration {
    let desc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new().desc();
    let (a, b, mut d) = ([1.0f32], [1.0f32], [0.0f32]);
    let call = call(&desc, 1, &a, &b, &mut d);
    let program = desc.one_schedule().expect("a kernel without a producer");
    timed(|| run_on_host(&program, call).expect("it fits"))
}

fn main() {
    let n = EXTENT;
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let (a, b) = (numbers(n * n, 1), numbers(n * n, 2));
    let (mut ours, mut theirs) = (vec![0.0f32; n * n], vec![0.0f32; n * n]);
    let single =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let mut run = || {
        timed(|| {
            gemm.run(Arguments::new((n, n, n), black_box(&a), black_box(&b), &mut ours))
                .expect("it fits")
        })
    };
    let mut run_peer =
        |parallelism| timed(|| peer(parallelism, n, black_box(&a), black_box(&b), &mut theirs));

    let mut times: [Vec<Duration>; 6] = Default::default();
    for round in 0..=ROUNDS {
        let round_times = [
            run(),
            run_peer(gemm::Parallelism::Rayon(0)),
            single.install(&mut run),
            run_peer(gemm::Parallelism::None),
            checked(),
            composed(),
        ];
        // The first round warms up.
        if round > 0 {
            times.iter_mut().zip(round_times).for_each(|(all, time)| all.push(time));
        }
    }
    let furthest = ours.iter().zip(&theirs).map(|(x, y)| (x - y).abs()).fold(0.0f32, f32::max);
    assert!(furthest < 1e-3, "the products differ by {furthest}");

    let [all, peer_all, one, peer_one, watched, new] = times.map(summary);
    let speed = |seconds: f64| 2.0 * (n as f64).powi(3) / seconds / 1e9;
    println!("| f32, {n} x {n} x {n} | falchion, GFLOP/s | gemm, GFLOP/s | ratio |");
    println!("|---|---:|---:|---:|");
    for (threads, ours, peer) in [(rayon::current_num_threads(), all, peer_all), (1, one, peer_one)]
    {
        for (which, ours, peer) in [("best", ours.0, peer.0), ("median", ours.1, peer.1)] {
            let name = format!("{threads} thread{}, {which}", if threads == 1 { "" } else { "s" });
            println!("| {name} | {:.0} | {:.0} | {:.2} |", speed(ours), speed(peer), peer / ours);
        }
    }
    println!();
    println!(
        "Checked mode, f32, 128 x 128 x 128: {:.0} ms best, {:.0} ms median.",
        watched.0 * 1e3,
        watched.1 * 1e3
    );
    println!(
        "A new description, 128 x 128 x 16: {:.1} ms best, {:.1} ms median.",
        new.0 * 1e3,
        new.1 * 1e3
    );
}
