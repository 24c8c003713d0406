//! The default table of TMA-fed `mma.sync` kernels.

use crate::{
    arch::{ArchKind::Sm90, OpKind},
    nest::{
        Knobs, SaturateKind,
        defaults::{Row, combined},
    },
    numeric::ElementKind::F64,
    shape::Mnk,
    threadblock::{Mainloop, TmaRingKnobs},
    warp::{MmaSyncKnobs, WarpMma},
};

/// Knobs of the TMA-fed kernel for `f64`. It is not the configuration of
/// [`Auto`](crate::nest::Auto), because MN-major operands need a workspace.
const COPIED_BY_TMA: Knobs = Knobs::new(
    Mainloop::TmaRing(TmaRingKnobs {
        threadblock: Mnk::new(128, 128, 16),
        stages: 6,
        ..TmaRingKnobs::DEFAULT
    }),
    WarpMma::MmaSync(MmaSyncKnobs {
        warp: Mnk::new(64, 32, 16),
        instruction: Mnk::new(16, 8, 4),
        saturate: SaturateKind::Off,
    }),
    [2; 3],
);

/// The rows of the table.
pub(crate) const ROWS: &[Row] =
    &[Row::new(OpKind::TensorOp, &[Sm90], &[combined(F64, F64, F64)], &[COPIED_BY_TMA])];
