//! The loads of fragments from a TMA ring with `mma.sync`.

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
    warp::{
        ThreadTiles,
        mma_sync::{FragmentMap, WarpInstruction},
        thread_maps::StepMap,
    },
};

/// Adds the loads of `f64` fragments with `mma.sync`: one element at a time for each k-block of a
/// stage, by every warp.
pub(super) fn fragments(
    d: &GemmDesc,
    components: &WarpSpecialized,
    (tiles, instruction): (&ThreadTiles, &WarpInstruction),
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    let depth = StepMap { tiles: *tiles, step: instruction.shape().k };
    for operand in OperandKind::BOTH {
        let (stage, element) = (components.boxed_tile(operand), d.operand(operand).stored);
        let fragment = FragmentMap::new(*tiles, *instruction, operand);
        let blocks = depth.domain().column;
        for (warp, block) in
            (0..tiles.threads() / WARP).flat_map(|warp| (0..blocks).map(move |block| (warp, block)))
        {
            for i in 0..fragment.domain().column {
                let of = lanes(|lane| {
                    let thread = warp * WARP + lane;
                    let (place, k) = (fragment.at(at(thread, i))?, depth.at(at(thread, block))?);
                    let point = at(place / depth.step, k + place % depth.step);
                    Some(element.bytes_of(stage.at(point)?))
                });
                let access = WarpAccess::new(Direction::Load, element.bytes_of(1), of)?;
                steps.add(Purpose::Load, Some(user(d, operand)), access);
            }
        }
    }
    Ok(())
}
