//! Whether wide accesses are what they are taken for: neighbours, and aligned.
//!
//! The checked executor moves one element at a time; the kernel moves as many as the description
//! says lie side by side. A map under which they do not is a fault, though every element by itself
//! would arrive.

use crate::{
    index::{Coord, IndexMap, at, points},
    operand::OperandKind,
    plan::Program,
    schedule::Fault,
};

/// Checks every access of more than one element to shared memory, and to D.
pub(super) fn whole(program: &Program) -> Result<(), Fault> {
    let (base, maps) = (&program.base, &program.maps);
    for operand in OperandKind::BOTH {
        let (facts, smem) = (base.operand(operand), &maps.smem[operand.index()]);
        let (loaded, loaded_along_k) = base.fragment_access(operand);
        // As vectors are copied, and as fragments load them.
        for (along_k, width) in
            [(facts.k_contiguous, facts.shared_access()), (loaded_along_k, loaded)]
        {
            vectors(smem.as_ref(), operand, width, if along_k { (0, 1) } else { (1, 0) })?;
        }
        // Rows that `ldmatrix` reads begin where their first element lies, and that is a whole
        // vector.
        let width = if base.instruction.is_some() { 1 } else { loaded };
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

/// Whether accesses of so many neighbours along a tile's rows, or along its columns, are that in
/// shared memory.
pub(super) fn vectors(
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

/// Whether `width` places follow one another, the first a multiple of `width`. Points that a map
/// leaves out are other faults.
fn side_by_side(width: u32, place: impl Fn(u32) -> Option<u32>) -> bool {
    let Some(first) = place(0) else { return true };
    width == 1
        || first.is_multiple_of(width)
            && (1..width).all(|i| place(i).is_none_or(|next| next == first + i))
}
