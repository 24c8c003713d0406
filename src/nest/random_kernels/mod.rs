//! Random numbers, and random kernels for the tests of the resolver.

mod mma_sync;
mod simt;
mod tma_ring;

use crate::{
    arch::{ArchKind::Sm90, OpKind},
    nest::{Class, DecompositionKind, Frame, GemmDesc, Knobs, Limits, Pins, SpillKind, WorkDesc},
    numeric::{
        ElementKind::{self, *},
        TransformId,
    },
    shape::Mnk,
    threadblock::{
        Mainloop, MainloopKind, SwizzleKind,
        smem::{Along, SmemLayout},
    },
    warp::UnrollKind,
};

/// A class in the user's frame, the frame of its kernels, and pins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub user: Class,
    pub frame: Frame,
    pub pins: Pins,
}

/// Random numbers. The same seed always gives the same numbers.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub(super) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    pub(super) fn maybe<T: Copy>(&mut self, n: u64, all: &[T]) -> Option<T> {
        (self.once_in(n) && !all.is_empty()).then(|| self.choose(all))
    }
}

/// Layouts of operands in shared memory.
pub(super) const SMEM: [SmemLayout; 6] = [
    SmemLayout::Auto,
    SmemLayout::Padded { along: Along::Mn, padding: 4 },
    SmemLayout::Padded { along: Along::K, padding: 8 },
    SmemLayout::Padded { along: Along::Mn, padding: 3 },
    SmemLayout::Swizzled { along: Along::Mn, bits: 3, base: 2, shift: 1 },
    SmemLayout::Swizzled { along: Along::K, bits: 2, base: 2, shift: 0 },
];

/// Returns a random kernel of a class, or `None` if the draw is invalid.
pub(super) fn kernel(draw: &mut Draw, user: &Class, frame: Frame) -> Option<GemmDesc> {
    let desc = GemmDesc::new(user, &knobs(draw, user)?).enter(frame).settled();
    let desc = if draw.once_in(4) { desc.with_rows_as_columns() } else { desc };
    desc.check().is_ok().then_some(desc)
}

/// Returns a random kernel of a class with pins, or `None` if the draw is invalid.
pub(super) fn kernel_with(draw: &mut Draw, asked: &Asked) -> Option<GemmDesc> {
    let knobs = knobs(draw, &asked.user)?;
    let desc = GemmDesc::new(&asked.user, &knobs).pinned(asked.pins).enter(asked.frame).settled();
    let desc = if draw.once_in(4) { desc.with_rows_as_columns() } else { desc };
    desc.check().is_ok().then_some(desc)
}

/// A kind of kernels: its units, whether a TMA ring feeds it, the types of A that it multiplies,
/// and its knobs.
type RandomKind = (OpKind, bool, fn(ElementKind) -> bool, fn(&mut Draw, &Class) -> Knobs);

/// The kinds of kernels.
const KINDS: &[RandomKind] = &[
    (OpKind::Simt, true, |a| a.is(F32), tma_ring::simt::knobs),
    (OpKind::TensorOp, true, |a| a.is(F64), tma_ring::mma_sync::knobs),
    (OpKind::TensorOp, true, |a| !a.is(F64), tma_ring::wgmma::knobs),
    (OpKind::Simt, false, |_| true, simt::knobs),
    (OpKind::TensorOp, false, |_| true, mma_sync::knobs),
];

/// Returns random knobs of a class, or `None` if no kind of kernel multiplies it.
fn knobs(draw: &mut Draw, user: &Class) -> Option<Knobs> {
    let (on_hopper, a) = (matches!(user.arch, Sm90), user.a.element);
    let fed = on_hopper
        && match user.op {
            OpKind::TensorOp if !a.is(F64) => !draw.once_in(3),
            OpKind::Simt if !a.is(F32) => false,
            OpKind::Simt | OpKind::TensorOp => draw.once_in(2),
        };
    let fits = |fed| move |kind: &&RandomKind| (kind.0, kind.1) == (user.op, fed) && kind.2(a);
    let (.., knobs) = KINDS.iter().find(fits(fed)).or_else(|| KINDS.iter().find(fits(false)))?;
    Some(knobs(draw, user))
}

fn limits(draw: &mut Draw, knobs: Knobs) -> Knobs {
    let (decomposition, split_k) = match draw.below(8) {
        0 => (DecompositionKind::StreamK, 1),
        1 => (DecompositionKind::DataParallel, 1),
        2 => (DecompositionKind::SplitKParallel, draw.choose(&[1, 2, 11])),
        3 => (DecompositionKind::SplitKCluster, draw.choose(&[2, 4, 8])),
        _ => (DecompositionKind::SplitK, draw.choose(&[1, 1, 1, 2, 8])),
    };
    let swizzle = draw.choose(&[knobs.work.swizzle, SwizzleKind::Hilbert, SwizzleKind::Grouped(4)]);
    let blocks_per_sm = if knobs.has_producer() { 1 } else { draw.choose(&[1, 1, 1, 1, 2, 3, 4]) };
    let spills = draw.choose(&[
        SpillKind::Refused,
        SpillKind::Refused,
        SpillKind::Refused,
        SpillKind::Allowed,
    ]);
    Knobs {
        work: WorkDesc { decomposition, split_k, swizzle, ..knobs.work },
        limits: Limits { blocks_per_sm, spills },
        ..knobs
    }
}

/// Returns transforms of elements of a type: to f32, and to the types that tensor cores multiply.
pub(super) fn transforms(stored: ElementKind) -> Vec<TransformId> {
    let has = [F32, F16, Bf16, Tf32].contains(&stored);
    let to = |multiplied| TransformId { hash: 1, stored, multiplied };
    [F32, Tf32, F16, Bf16].into_iter().filter(|_| has).map(to).collect()
}

/// Returns a random main loop without a producer.
fn mainloop(draw: &mut Draw, threadblock: Mnk, single: bool) -> Mainloop {
    let stages = match draw.below(6) {
        0 if single => Some(1),
        0..=2 => Some(2),
        _ => None,
    };
    let unroll = match stages {
        Some(1) => draw.choose(&[UnrollKind::Full, UnrollKind::By(1), UnrollKind::By(4)]),
        _ => UnrollKind::Full,
    };
    let fed =
        |kind: &MainloopKind| !kind.has_producer() && (single || kind.fixed_stages() != Some(1));
    let any = || MainloopKind::ALL.into_iter().find(fed).expect("a main loop");
    let kind = MainloopKind::with_stages(stages).unwrap_or_else(any);
    let stages = stages.unwrap_or_else(|| draw.choose(&[2, 3, 3, 4, 4, 5, 6, 8, 12]));
    Mainloop::new(kind, threadblock, stages, unroll)
}
