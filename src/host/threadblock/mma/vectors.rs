//! Checks that the elements of each vector access are contiguous and aligned.
//!
//! The host moves one element at a time, and the kernel moves whole vectors. A map that
//! scatters the elements of a vector is a fault, even though each element alone would arrive.

use crate::{
    layout::index_map::{Coord, IndexMap, at, points},
    schedule::Fault,
    shape::OperandKind,
    threadblock::mma::program::Program,
};

/// Checks every vector access to shared memory and to D.
pub fn whole(program: &Program) -> Result<(), Fault> {
    let (base, maps) = (&program.base, &program.maps);
    for operand in OperandKind::BOTH {
        let (facts, smem) = (base.operand(operand), &maps.smem[operand.index()]);
        let (loaded, loaded_along_k) = base.mma.fragment_access(base, operand);
        // The two accesses are the copy to shared memory and the load of fragments.
        for (along_k, width) in
            [(facts.k_contiguous, facts.shared_access()), (loaded_along_k, loaded)]
        {
            vectors(smem.as_ref(), operand, width, if along_k { (0, 1) } else { (1, 0) })?;
        }
        // Each row that `ldmatrix` reads begins at the address of its first element and is a whole
        // vector.
        let width = if base.mma.is_warp_wide() { 1 } else { loaded };
        let fragment = maps.fragment[operand.index()].as_ref();
        for point in points(fragment).filter(|point| point.column.is_multiple_of(width)) {
            if !side_by_side(width, |i| fragment.at(at(point.row, point.column + i))) {
                return Err(Fault::VectorApart {
                    operand,
                    mn: fragment.at(point).unwrap_or(0),
                    k: 0,
                });
            }
        }
    }
    let (accumulator, width) = (maps.accumulator.as_ref(), base.store_access);
    for point in points(accumulator).filter(|point| point.column.is_multiple_of(width)) {
        if !side_by_side(width, |i| accumulator.at(at(point.row, point.column + i))) {
            return Err(Fault::StoreApart { thread: point.row, accumulator: point.column });
        }
    }
    Ok(())
}

/// Checks that accesses of `width` elements along direction `along` (rows, columns) of a tile are
/// contiguous in shared memory.
pub fn vectors(
    map: &dyn IndexMap,
    operand: OperandKind,
    width: u32,
    along: (u32, u32),
) -> Result<(), Fault> {
    for Coord { row, column } in points(map) {
        let begins = (row * along.0 + column * along.1).is_multiple_of(width);
        if begins && !side_by_side(width, |i| map.at(at(row + i * along.0, column + i * along.1))) {
            return Err(Fault::VectorApart { operand, mn: row, k: column });
        }
    }
    Ok(())
}

/// Returns whether `width` offsets are consecutive and the first is a multiple of `width`. Points
/// that the map leaves out are other faults and are ignored here.
fn side_by_side(width: u32, place: impl Fn(u32) -> Option<u32>) -> bool {
    let Some(first) = place(0) else { return true };
    width == 1
        || first.is_multiple_of(width)
            && (1..width).all(|i| place(i).is_none_or(|next| next == first + i))
}
