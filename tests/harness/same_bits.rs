//! Comparison of two executors on one problem with special numbers: infinities, NaN, signed zeros,
//! denormals, and integers that wrap. NaN may have any payload.

use super::{case::sliced, problems, reproduce, requested_case};
use crate::harness::prelude::*;

/// Maximum number of multiplications of a problem in checked mode.
pub const MOST_WORK: u64 = 400_000;
/// Maximum for warp-specialized kernels, whose smallest warpgroup tile is 64 x 8 x 32.
pub const MOST_WARP_SPECIALIZED_WORK: u64 = 6_000_000;

/// Returns a number that two implementations are likely to treat differently.
pub fn special(kind: ElementKind, random: &mut Random) -> f64 {
    let least = match kind {
        ElementKind::F16 => 2f64.powi(-24),
        ElementKind::F64 => f64::from_bits(1),
        _ => 2f64.powi(-133),
    };
    match kind {
        ElementKind::I8 => random.pick(&[-128.0, 127.0, -1.0]),
        ElementKind::U8 => random.pick(&[255.0, 128.0, 1.0]),
        ElementKind::I32 => random.pick(&[
            f64::from(i32::MIN),
            f64::from(i32::MAX),
            65_536.0,
            -65_537.0,
            16_777_217.0,
        ]),
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

/// Writes special numbers to some elements of a matrix.
pub fn sprinkle(buffer: &mut HostBuffer, first: usize, view: &View<Elements>, random: &mut Random) {
    if view.memory.length > 0 {
        for _ in 0..1 + random.below(4) {
            let place = first + random.below(view.memory.length);
            let number = special(buffer.kind(), random);
            buffer
                .set(place, number)
                .expect("the element types of descriptions have a form in host memory");
        }
    }
}

/// Returns D's buffer with guard zones after a GEMM on the host.
pub fn run(
    desc: &GemmDesc,
    mode: Mode,
    guarded: &Guarded,
    buffers: &Buffers,
) -> Result<HostBuffer, Error> {
    let Guarded { problem, first, .. } = guarded;
    let range =
        |which: usize, view: &View<Elements>| first[which]..first[which] + view.memory.length;
    let (mut d, mut operands) = (buffers.d.clone(), buffers.operands.clone());
    let epilogue = desc.epilogue.leave(desc.frame);
    let matrices = HostMatrices {
        a: buffers.a.slice(range(0, &problem.a))?,
        b: buffers.b.slice(range(1, &problem.b))?,
        c: problem.c.try_map(|c| buffers.c.slice(range(2, &c)))?,
        d: d.slice_mut(range(3, &problem.d))?,
        operands: sliced(&mut operands, &epilogue)?,
    };
    run_in_mode(desc, mode, problem.with(matrices))?;
    Ok(d)
}

/// Returns the first element whose bytes differ, unless both are NaN.
pub fn difference(x: &HostBuffer, y: &HostBuffer) -> Result<Option<usize>, Error> {
    let width = x.kind().bytes_of(1) as usize;
    let differs = |(place, (x, y)): (usize, (&[u8], &[u8]))| (x != y).then_some(place);
    for place in x
        .bytes()
        .chunks_exact(width)
        .zip(y.bytes().chunks_exact(width))
        .enumerate()
        .filter_map(differs)
    {
        if !(x.get(place)?.is_nan() && y.get(place)?.is_nan()) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Executor that returns D's whole buffer. The number seeds its random choices.
pub type Other<'o> = &'o (dyn Fn(&Guarded, &Buffers, u64) -> Result<HostBuffer, Error> + Sync);

/// Compares the fast mode with `other` on one problem. Returns whether operands had special
/// numbers.
pub fn compare(
    desc: &GemmDesc,
    seeds: (u64, u64),
    aligned: bool,
    other: Other<'_>,
) -> Result<bool, Error> {
    let most_work = if desc.has_producer() { MOST_WARP_SPECIALIZED_WORK } else { MOST_WORK };
    let wanted = problems::Wanted { most_work, aligned };
    let guarded = guarded(seeds.1, desc, wanted);
    let mut random = Random::new(seeds.1);
    let mut buffers = Buffers::filled(desc, &guarded, Fill::Random, seeds.1)?;
    let problem = &guarded.problem;
    let specials = random.once_in(2);
    if specials {
        // Operands with infinities or NaN cannot be scaled.
        if !desc.emulation().scales() {
            sprinkle(&mut buffers.a, guarded.first[0], &problem.a, &mut random);
            sprinkle(&mut buffers.b, guarded.first[1], &problem.b, &mut random);
        }
        if let Source::Matrix(c) = &problem.c {
            sprinkle(&mut buffers.c, guarded.first[2], c, &mut random);
        }
        sprinkle(&mut buffers.d, guarded.first[3], &problem.d, &mut random);
        for (_, vector) in buffers.operands.iter_mut() {
            let view = View::packed(
                Elements::new(vector.length()),
                Order::Row,
                (1, vector.length()),
                None,
            );
            sprinkle(vector, 0, &view, &mut Random::new(seeds.1 ^ 7));
        }
    }
    let fast = run(desc, Mode::Fast, &guarded, &buffers)?;
    let others = other(&guarded, &buffers, random.next())?;
    if let Some(place) = difference(&fast, &others)? {
        panic!(
            "element {place} of D's buffer is {} when fast and {} otherwise\n  {}\n  {desc:?}\n  {guarded:?}",
            fast.get(place)?,
            others.get(place)?,
            reproduce("same_bits", seeds)
        );
    }
    Ok(specials)
}

/// Random pairs of results: the descriptions, and how many problems each has.
pub struct Pairs {
    pub seed: u64,
    pub descriptions: usize,
    pub problems: usize,
    pub wanted: Wanted,
    /// Selects descriptions.
    pub asked: fn(&GemmDesc) -> bool,
    /// Whether problems have the alignments of the description.
    pub aligned: bool,
}

/// Executor of a description that returns D's whole buffer. The number seeds its random choices.
pub type Executor<'e> =
    &'e (dyn Fn(&GemmDesc, &Guarded, &Buffers, u64) -> Result<HostBuffer, Error> + Sync);

impl Pairs {
    /// Compares the fast mode with an executor on all problems. Checks the numbers of pairs, of
    /// pairs with special numbers, and of distinct descriptions. Returns the descriptions.
    pub fn compare(&self, executor: Executor<'_>, least: (usize, usize, usize)) -> Vec<GemmDesc> {
        let one = |desc: &GemmDesc, seeds| {
            let other =
                |guarded: &Guarded, buffers: &Buffers, seed| executor(desc, guarded, buffers, seed);
            compare(desc, seeds, self.aligned, &other).unwrap_or_else(|error| {
                panic!("{error}\n  {}\n  {desc:?}", reproduce("same_bits", seeds))
            })
        };
        if let Some(seeds) = requested_case() {
            one(&description(seeds.0, self.wanted), seeds);
            return Vec::new();
        }
        let seeds = (0..self.descriptions).map(|i| draw(self.seed, i as u64));
        let all = seeds.map(|seed| (seed, description(seed, self.wanted)));
        let all: Vec<_> = all.filter(|(_, desc)| (self.asked)(desc)).collect();
        let special = all.par_iter().map(|(seed, desc)| {
            let seeds = (0..self.problems).map(|i| (*seed, draw(*seed, i as u64)));
            seeds.filter(|&seeds| one(desc, seeds)).count()
        });
        let (special, pairs) = (special.sum::<usize>(), all.len() * self.problems);
        let all: Vec<_> = all.into_iter().map(|(_, desc)| desc).collect();
        let distinct = all.iter().collect::<HashSet<_>>().len();
        println!("{pairs} pairs, {special} with special numbers, {distinct} descriptions");
        assert!(pairs >= least.0 && special >= least.1 && distinct >= least.2);
        all
    }
}

/// Returns the filter for small warp-specialized tiles.
pub fn wgmma_ring() -> Wanted {
    Wanted { largest_tile: 1 << 20, kernel_kind: KernelKind::WgmmaRing, ..Wanted::default() }
}

/// Returns the filter for small tiles of TMA-fed SIMT kernels.
pub fn simt_ring() -> Wanted {
    Wanted {
        largest_tile: MOST_WORK as u32,
        kernel_kind: KernelKind::SimtRing,
        ..Wanted::default()
    }
}

/// Returns the filter for small tiles of TMA-fed `mma.sync` kernels.
pub fn mma_sync_ring() -> Wanted {
    let kernel_kind = KernelKind::MmaSyncRing;
    Wanted { largest_tile: MOST_WORK as u32, kernel_kind, ..Wanted::default() }
}

/// Returns the filter for small tiles of `mma.sync` kernels of one architecture, or of all.
pub fn mma_sync(arch: Option<ArchKind>) -> Wanted {
    let kernel_kind = KernelKind::MmaSync;
    Wanted { largest_tile: MOST_WORK as u32 / 4, kernel_kind, arch, ..Wanted::default() }
}
