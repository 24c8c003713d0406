//! The default table of TMA-fed SIMT kernels.

use crate::{
    arch::{ArchKind::Sm90, OpKind},
    nest::{
        Knobs,
        defaults::{Row, combined},
    },
    numeric::ElementKind::F32,
    shape::Mnk,
    threadblock::{Mainloop, TmaRingKnobs},
    warp::{InterleaveKind, SimtKnobs, WarpMma},
};

/// Knobs of the TMA-fed SIMT kernel for `f32`, with 16x8 per thread, the fastest in `git show
/// e863db3:./docs/performance/f32_simt.md`. It is not the configuration of
/// [`Auto`](crate::nest::Auto), because K-major operands need a workspace.
pub const COPIED_BY_TMA: Knobs = Knobs::new(
    Mainloop::TmaRing(TmaRingKnobs {
        threadblock: Mnk::new(256, 128, 16),
        stages: 8,
        ..TmaRingKnobs::DEFAULT
    }),
    WarpMma::Simt(SimtKnobs {
        warp: Mnk::new(64, 64, 16),
        thread: Some(Mnk::new(16, 8, 1)),
        interleave: InterleaveKind::Vector,
    }),
    [4; 3],
);

/// The rows of the table.
pub(crate) const ROWS: &[Row] =
    &[Row::new(OpKind::Simt, &[Sm90], &[combined(F32, F32, F32)], &[COPIED_BY_TMA])];
