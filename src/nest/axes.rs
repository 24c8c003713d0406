//! The axes along which the resolver searches, by main loop and MMA.

mod mma_sync;
mod simt;
mod tma_ring;

use crate::{
    nest::{GemmDesc, Knobs, Pins},
    refusal::Refusal,
    threadblock::Mainloop,
    warp::WarpMma,
};

/// Number of axes, the slowest first.
pub(crate) const AXES: usize = 4;

/// Returns the number of values of each axis.
pub(crate) const fn values(base: &GemmDesc) -> [u32; AXES] {
    match (base.mainloop, base.mma) {
        (Mainloop::TmaRing(_), _) => tma_ring::VALUES,
        (_, WarpMma::MmaSync(_)) => mma_sync::VALUES,
        _ => simt::VALUES,
    }
}

/// Returns the knobs at a place along the axes, or `None` if the place has none. `base` has the
/// row's knobs with the pins applied.
pub(crate) const fn along_axes(base: &GemmDesc, pins: &Pins, place: [u32; AXES]) -> Option<Knobs> {
    match (base.mainloop, base.mma) {
        (Mainloop::TmaRing(_), _) => tma_ring::along_axes(base, pins, place),
        (_, WarpMma::MmaSync(_)) => mma_sync::along_axes(base, pins, place),
        _ => simt::along_axes(base, pins, place),
    }
}

/// Returns the axis along which the next knobs may avoid the refusal.
pub(crate) const fn axis_against(base: &GemmDesc, pins: &Pins, refusal: &Refusal) -> usize {
    match (base.mainloop, base.mma) {
        (Mainloop::TmaRing(_), _) => tma_ring::axis_against(base, pins, refusal),
        (_, WarpMma::MmaSync(_)) => mma_sync::axis_against(pins, refusal),
        _ => simt::axis_against(pins, refusal),
    }
}
