//! The accesses of each thread of a CTA on the checked machine.
//!
//! An access of the kernel in one instruction is one access here, for any number of elements.

use super::Gathered;
use crate::{
    Error,
    banks::{Direction, WarpAccess},
};
use falchion::internals::{nest::Program, shape::OperandKind};
use falchion_check::machine::{Access, Observer, Purpose, Touched, observe};

/// Returns the direction of an access to its memory.
pub(super) const fn direction(purpose: Purpose) -> Direction {
    match purpose {
        Purpose::Fetch | Purpose::Load | Purpose::EpilogueLoad => Direction::Load,
        Purpose::Store | Purpose::Copy | Purpose::EpilogueStore | Purpose::Write => {
            Direction::Store
        }
    }
}

/// Strides in global memory along M or N and along K, in elements, of A and of B.
pub(super) type Strides = [(u64, u64); 2];

/// The purpose of an access, and the operand whose tile it touches.
pub(crate) type Whose = (Purpose, Option<OperandKind>);

/// The purpose and the index of the operand, which are ordered.
type OrderedPurpose = (Purpose, Option<usize>);

/// Reports every warp-level access of CTA 0 over `tiles` k-tiles: to shared memory and, with
/// `strides`, to global memory, where matrices begin at address 0. Returns the number of
/// multiply-adds.
pub(crate) fn walk_block(
    program: &Program,
    tiles: u32,
    strides: Option<Strides>,
    tell: &mut dyn FnMut(Whose, &WarpAccess),
) -> Result<u64, Error> {
    let mut tell = |(purpose, operand): OrderedPurpose, access: &WarpAccess| {
        tell((purpose, operand.map(|index| OperandKind::BOTH[index])), access)
    };
    let mut walk = Walk { program, strides, warps: Gathered::new(&mut tell) };
    let multiply_adds = observe(program, tiles, &mut walk).map_err(falchion::Error::from)?;
    walk.warps.finish().map(|()| multiply_adds)
}

/// The observer of a CTA, with the positions of the matrices.
struct Walk<'t> {
    program: &'t Program,
    strides: Option<Strides>,
    warps: Gathered<'t, OrderedPurpose>,
}

impl Observer for Walk<'_> {
    fn saw(&mut self, access: &Access) {
        let what = (access.purpose, access.operand.map(OperandKind::index));
        let (address, bytes) = match (access.touched, access.operand, self.strides) {
            (Touched::Shared { byte, bytes }, ..) => (byte, bytes),
            (Touched::Global { row, column, elements }, Some(operand), Some(strides)) => {
                let ((along_mn, along_k), element) =
                    (strides[operand.index()], self.program.base.operand(operand).element);
                (
                    element.matrix_bytes(row as u64 * along_mn + column as u64 * along_k),
                    element.bytes_of(elements),
                )
            }
            (Touched::Global { .. }, ..) => return,
        };
        self.warps.add(access.thread, what, access.which, address, bytes);
    }

    fn barrier(&mut self) {
        self.warps.meet(|(purpose, _)| direction(purpose));
    }
}
