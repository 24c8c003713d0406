//! The fast host and the checked one give the same bits: on random descriptions and problems, with numbers that are hard to
//! treat alike (infinities, NaN, zeros with a sign, denormals, integers that wrap). NaN may carry any payload.

mod common;

use common::{
    Random, asked_for,
    case::Buffers,
    descriptions::{self, Family, coverage::Coverage, description},
    problems::{self, Problem, problem},
    reproduce,
};
use falchion::{
    Error,
    arch::ArchKind,
    desc::GemmDesc,
    device::{HostMatrices, MatrixShape, Source, host::Mode, run_on_host},
    numeric::ElementKind,
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::MainloopKind,
};
use falchion_lab::verify::{Fill, HostBuffer, draw};
use rayon::prelude::*;

const DESCRIPTIONS: usize = 700;
const PROBLEMS_EACH: usize = 4;
/// Products that the checked mode makes for one problem, at most.
const MOST_WORK: u64 = 400_000;
/// The same where the least tile of a warpgroup has 64 x 8 x 32.
const MOST_WORK_OF_ROLES: u64 = 6_000_000;

/// Numbers that two implementations are likely to treat differently.
fn special(kind: ElementKind, random: &mut Random) -> f64 {
    let least = match kind {
        ElementKind::F16 => 2f64.powi(-24),
        ElementKind::F64 => f64::from_bits(1),
        _ => 2f64.powi(-133),
    };
    match kind {
        ElementKind::I8 => random.pick(&[-128.0, 127.0, -1.0]),
        ElementKind::U8 => random.pick(&[255.0, 128.0, 1.0]),
        ElementKind::I32 => random.pick(&[f64::from(i32::MIN), f64::from(i32::MAX), 65_536.0, -65_537.0, 16_777_217.0]),
        _ => random.pick(&[
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            least,
            -least,
            3.0 * least,
            1e4,
            -6e4,
            1e-4,
            1.0 + 2f64.powi(-10),
            3e38,
        ]),
    }
}

/// Puts special numbers at a few places of a matrix.
fn sprinkle(buffer: &mut HostBuffer, first: usize, shape: &MatrixShape, random: &mut Random) {
    if shape.length > 0 {
        for _ in 0..1 + random.below(4) {
            let place = first + random.below(shape.length);
            let number = special(buffer.kind(), random);
            buffer.set(place, number).expect("the element types of descriptions have a form in host memory");
        }
    }
}

fn run(desc: &GemmDesc, mode: Mode, problem: &Problem, buffers: &Buffers) -> Result<HostBuffer, Error> {
    let Problem { shapes, first, .. } = problem;
    let range = |which: usize, shape: &MatrixShape| first[which]..first[which] + shape.length;
    let mut d = buffers.d.clone();
    let matrices = HostMatrices {
        a: buffers.a.slice(range(0, &shapes.a))?,
        b: buffers.b.slice(range(1, &shapes.b))?,
        c: match shapes.c {
            Source::None => Source::None,
            Source::InPlace => Source::InPlace,
            Source::Matrix(shape) => Source::Matrix(buffers.c.slice(range(2, &shape))?),
        },
        d: d.slice_mut(range(3, &shapes.d))?,
    };
    run_on_host(desc, mode, shapes, matrices)?;
    Ok(d)
}

/// The first element whose bytes differ, unless both are NaN.
fn difference(x: &HostBuffer, y: &HostBuffer) -> Result<Option<usize>, Error> {
    let width = x.kind().bytes() as usize;
    let differs = |(place, (x, y)): (usize, (&[u8], &[u8]))| (x != y).then_some(place);
    for place in x.bytes().chunks_exact(width).zip(y.bytes().chunks_exact(width)).enumerate().filter_map(differs) {
        if !(x.get(place)?.is_nan() && y.get(place)?.is_nan()) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Something that computes D's whole buffer another way; the number is for whatever it leaves to chance.
type Other<'o> = &'o (dyn Fn(&Problem, &Buffers, u64) -> Result<HostBuffer, Error> + Sync);

/// Compares the fast mode with `other` on one problem; says whether D held a number that is infinite or none.
fn compare(desc: &GemmDesc, seeds: (u64, u64), aligned: bool, other: Other<'_>) -> Result<bool, Error> {
    let most_work = if desc.mainloop.has_roles() { MOST_WORK_OF_ROLES } else { MOST_WORK };
    let wanted = problems::Wanted { most_work, aligned };
    let problem = problem(seeds.1, desc, wanted);
    let mut random = Random::new(seeds.1);
    let mut buffers = Buffers::filled(desc, &problem, Fill::Random, seeds.1)?;
    let shapes = &problem.shapes;
    let specials = random.once_in(2);
    if specials {
        // What is not finite cannot be scaled.
        if !desc.split.scales() {
            sprinkle(&mut buffers.a, problem.first[0], &shapes.a, &mut random);
            sprinkle(&mut buffers.b, problem.first[1], &shapes.b, &mut random);
        }
        if let Source::Matrix(c) = &shapes.c {
            sprinkle(&mut buffers.c, problem.first[2], c, &mut random);
        }
        sprinkle(&mut buffers.d, problem.first[3], &shapes.d, &mut random);
    }
    let fast = run(desc, Mode::Fast, &problem, &buffers)?;
    let others = other(&problem, &buffers, random.next())?;
    if let Some(place) = difference(&fast, &others)? {
        panic!(
            "element {place} of D's buffer is {} when fast and {} otherwise\n  {}\n  {desc:?}\n  {problem:?}",
            fast.get(place)?,
            others.get(place)?,
            reproduce("same_bits", seeds)
        );
    }
    Ok(specials)
}

/// The fast mode and the checked one on a problem.
fn fast_and_checked(desc: &GemmDesc, seeds: (u64, u64)) -> bool {
    let checked = |problem: &Problem, buffers: &Buffers, seed| run(desc, Mode::Checked { seed }, problem, buffers);
    compare(desc, seeds, false, &checked)
        .unwrap_or_else(|error| panic!("{error}\n  {}\n  {desc:?}", reproduce("same_bits", seeds)))
}

/// Both modes on problems of descriptions drawn from a seed: how many pairs, how many with special numbers, which descriptions.
fn drawn_pairs(seed: u64, descriptions: usize, problems: usize, wanted: descriptions::Wanted) -> (usize, usize, Vec<GemmDesc>) {
    let drawn: Vec<(u64, GemmDesc)> =
        (0..descriptions).map(|i| draw(seed, i as u64)).map(|seed| (seed, description(seed, wanted))).collect();
    let (pairs, special) = drawn
        .par_iter()
        .map(|(seed, desc)| {
            (0..problems).fold((0, 0), |(pairs, special), i| {
                (pairs + 1, special + usize::from(fast_and_checked(desc, (*seed, draw(*seed, i as u64)))))
            })
        })
        .reduce(|| (0, 0), |x, y| (x.0 + y.0, x.1 + y.1));
    (pairs, special, drawn.into_iter().map(|(_, desc)| desc).collect())
}

/// Small tiles whose warpgroups have roles.
fn roles() -> descriptions::Wanted {
    descriptions::Wanted { largest_tile: 1 << 20, family: Family::WarpSpecialized, ..descriptions::Wanted::default() }
}

#[test]
fn fast_and_checked_give_the_same_bits() {
    let wanted = descriptions::Wanted { largest_tile: MOST_WORK as u32 / 4, ..descriptions::Wanted::default() };
    if let Some(seeds) = asked_for() {
        fast_and_checked(&description(seeds.0, wanted), seeds);
        return;
    }
    let (pairs, special, drawn) = drawn_pairs(0x5a3e_b175, DESCRIPTIONS, PROBLEMS_EACH, wanted);
    let missing = Coverage::of(&drawn).missing();
    println!("{pairs} pairs, {special} of them with special numbers; descriptions lack {missing:?}");
    assert!(pairs >= 2800 && special >= 1200);
    assert!(missing.is_empty(), "{missing:?}");
}

/// The checked mode carries bytes through the ring and reads them through descriptors; the fast one knows neither.
#[test]
fn fast_and_checked_give_the_same_bits_where_warpgroups_have_roles() {
    if let Some(seeds) = asked_for() {
        fast_and_checked(&description(seeds.0, roles()), seeds);
        return;
    }
    let (pairs, special, drawn) = drawn_pairs(0x5a3e_b190, 220, 3, roles());
    let missing = Coverage::missing_roles(&drawn);
    println!("{pairs} pairs, {special} of them with special numbers; descriptions lack {missing:?}");
    assert!(pairs >= 450 && special >= 150);
    assert!(missing.is_empty(), "{missing:?}");
}

/// Small tiles whose warpgroups have roles, and whose threads multiply.
fn threads() -> descriptions::Wanted {
    descriptions::Wanted { largest_tile: MOST_WORK as u32, family: Family::Threads, ..descriptions::Wanted::default() }
}

/// Threads read what boxes of the copy engine hold, in an order of events that a seed draws; the fast mode knows chains alone.
#[test]
fn fast_and_checked_give_the_same_bits_where_threads_multiply() {
    if let Some(seeds) = asked_for() {
        fast_and_checked(&description(seeds.0, threads()), seeds);
        return;
    }
    let (pairs, special, drawn) = drawn_pairs(0x5a3e_b1f3, 200, 3, threads());
    let missing = Coverage::missing_threads(&drawn);
    println!("{pairs} pairs, {special} of them with special numbers; descriptions lack {missing:?}");
    assert!(pairs >= 600 && special >= 200);
    assert!(missing.is_empty(), "{missing:?}");
}

/// The same product by threads that all follow one schedule, which copy what they multiply themselves.
fn of_one_schedule(d: &GemmDesc) -> GemmDesc {
    let k = d.threadblock.k;
    GemmDesc {
        arch: ArchKind::Sm80,
        mainloop: MainloopKind::Pipelined,
        threadblock: Mnk::new(64, 32, k),
        warp: Mnk::new(32, 16, k),
        instruction: Mnk::new(1, 1, 1),
        stages: 2,
        cluster: Mn { m: 1, n: 1 },
        schedule: ScheduleKind::Cooperative,
        align_a: 1,
        align_b: 1,
        align_c: 1,
        ..*d
    }
}

/// D of a description whose threads multiply what the copy engine brings, run through its ring, has the bits of the main loop that
/// gathers its tiles itself, run thread by thread: `D = epilogue(fma chain over k of A B, C)`, whatever the tiles.
#[test]
fn threads_give_the_bits_of_the_other_main_loops() {
    let compared: usize = (0..60u64)
        .into_par_iter()
        .map(|i| {
            let seed = draw(0x5a3e_b1f4, i);
            let desc = description(seed, threads());
            let other = of_one_schedule(&desc);
            assert_eq!(other.check(), Ok(()), "{other:?}");
            let checked = |problem: &Problem, buffers: &Buffers, seed| {
                let ring = run(&desc, Mode::Checked { seed }, problem, buffers)?;
                let threads = run(&other, Mode::Checked { seed }, problem, buffers)?;
                assert_eq!(difference(&ring, &threads)?, None, "{desc:?} {problem:?}");
                Ok(threads)
            };
            for i in 0..3 {
                compare(&desc, (seed, draw(seed, i)), false, &checked).unwrap_or_else(|error| panic!("{error} {desc:?}"));
            }
            3
        })
        .sum();
    println!("{compared} products");
    assert!(compared >= 180);
}

/// The fast mode and the device on problems of descriptions drawn from a seed.
#[cfg(feature = "cuda")]
fn device_pairs(seed: u64, descriptions: u64, wanted: descriptions::Wanted) -> (usize, Vec<GemmDesc>) {
    let device = common::on_cuda::OnCuda::new();
    let drawn: Vec<(u64, GemmDesc)> =
        (0..descriptions).map(|i| draw(seed, i)).map(|seed| (seed, description(seed, wanted))).collect();
    let pairs = drawn
        .par_iter()
        .map(|(seed, desc)| {
            let on_device = |problem: &Problem, buffers: &Buffers, _| {
                let mut after = buffers.clone();
                after.run(&device, desc, problem)?;
                Ok(after.d)
            };
            for i in 0..8 {
                let seeds = (*seed, draw(*seed, i));
                compare(desc, seeds, true, &on_device).unwrap_or_else(|error| panic!("{error} {seeds:?} {desc:?}"));
            }
            8
        })
        .sum();
    (pairs, drawn.into_iter().map(|(_, desc)| desc).collect())
}

#[cfg(feature = "cuda")]
fn distinct(drawn: &[GemmDesc]) -> usize {
    drawn.iter().collect::<std::collections::HashSet<_>>().len()
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_gives_the_hosts_bits() {
    let wanted = descriptions::Wanted { largest_tile: MOST_WORK as u32 / 4, ..descriptions::Wanted::default() };
    let (pairs, drawn) = device_pairs(0xb175_0fd5, 150, wanted);
    let of = |kind| drawn.iter().filter(|desc| desc.a == kind).count();
    let kinds = [ElementKind::F32, ElementKind::F64, ElementKind::I8].map(of);
    println!("{pairs} pairs from {} descriptions, {kinds:?} of them in f32, f64 and i8", distinct(&drawn));
    assert!(pairs >= 500 && distinct(&drawn) >= 100 && kinds.iter().all(|&count| count >= 5));
}

/// Whether the CUDA cores that the copy engine feeds add as the host does: bit by bit.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn threads_that_the_copy_engine_feeds_give_the_hosts_bits() {
    let (pairs, drawn) = device_pairs(0xb175_0ff3, 60, threads());
    let missing = Coverage::missing_threads(&drawn);
    println!("{pairs} pairs from {} descriptions, which lack {missing:?}", distinct(&drawn));
    assert!(pairs >= 400 && distinct(&drawn) >= 50 && missing.len() <= 2);
}

/// Whether the host adds as the tensor cores of Hopper do: bit by bit.
#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_tensor_cores_give_the_hosts_bits() {
    let (pairs, drawn) = device_pairs(0xb175_0f90, 90, roles());
    let of = |kind| drawn.iter().filter(|desc| desc.a == kind).count();
    let kinds = [ElementKind::F16, ElementKind::Bf16, ElementKind::I8].map(of);
    println!("{pairs} pairs from {} descriptions, {kinds:?} of them in f16, bf16 and i8", distinct(&drawn));
    assert!(pairs >= 500 && distinct(&drawn) >= 80 && kinds.iter().all(|&count| count >= 3));
}
