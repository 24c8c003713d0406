//! The loads of fragments from a TMA ring on CUDA cores.

use super::{
    super::{Direction, NotAnAccess, WarpAccess, steps::Steps},
    lanes, user,
};
use crate::counters::Purpose;
use falchion::{
    arch::WARP,
    internals::{
        index::{IndexMap, at},
        shape::OperandKind,
    },
    nest::GemmDesc,
    threadblock::WarpSpecialized,
    warp::{ThreadTiles, thread_maps::FragmentMap},
};

/// Adds the loads of `f32` fragments on CUDA cores: 16 bytes at a time for each k of a stage, by
/// every warp.
pub(super) fn fragments(
    d: &GemmDesc,
    components: &WarpSpecialized,
    tiles: &ThreadTiles,
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    for operand in OperandKind::BOTH {
        let (stage, fragment) = (components.boxed_tile(operand), FragmentMap::new(*tiles, operand));
        let (element, run) = (d.operand(operand).stored, tiles.interleave[operand.index()]);
        for (warp, k) in
            (0..tiles.threads() / WARP).flat_map(|warp| (0..tiles.warp.k).map(move |k| (warp, k)))
        {
            for i in (0..fragment.domain().column).step_by(run as usize) {
                let of = lanes(|lane| {
                    Some(element.bytes_of(stage.at(at(fragment.mn(warp * WARP + lane, i), k))?))
                });
                let access = WarpAccess::new(Direction::Load, element.bytes_of(run), of)?;
                steps.add(Purpose::Load, Some(user(d, operand)), access);
            }
        }
    }
    Ok(())
}
