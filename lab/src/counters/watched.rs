//! What each thread of a block touches, access by access, while the checked executor runs it.
//!
//! An access that the kernel makes in one instruction is one here, however many elements it moves.

use super::Gathered;
use crate::{
    Error,
    banks::{Direction, WarpAccess},
};
use falchion::internals::{
    host::machine::{Access, Observer, Purpose, Touched, observe},
    operand::OperandKind,
    plan::Program,
};

/// The direction of an access to the memory that it is an access to.
pub(super) const fn direction(purpose: Purpose) -> Direction {
    match purpose {
        Purpose::Fetch | Purpose::Load | Purpose::EpilogueLoad => Direction::Load,
        Purpose::Store | Purpose::Copy | Purpose::EpilogueStore | Purpose::Write => {
            Direction::Store
        }
    }
}

/// Distances in global memory between neighbours along MN and along K, in elements: of A, and of B.
pub(super) type Strides = [(u64, u64); 2];

/// What an access is for, and the operand whose tile it touches.
pub(crate) type Whose = (Purpose, Option<OperandKind>);

/// The same, in an order: the index of the operand whose tile it touches.
type What = (Purpose, Option<usize>);

/// Tells of every access of every warp of block 0, over `tiles` k-tiles: of those to shared memory,
/// and with `strides` of those to global memory, whose matrices begin at address 0. Returns how
/// many products were added up.
pub(crate) fn of_block(
    program: &Program,
    tiles: u32,
    strides: Option<Strides>,
    tell: &mut dyn FnMut(Whose, &WarpAccess),
) -> Result<u64, Error> {
    let mut tell = |(purpose, operand): What, access: &WarpAccess| {
        tell((purpose, operand.map(|index| OperandKind::BOTH[index])), access)
    };
    let mut walk = Walk { program, strides, warps: Gathered::new(&mut tell) };
    let multiply_adds = observe(program, tiles, &mut walk).map_err(falchion::Error::from)?;
    walk.warps.finish().map(|()| multiply_adds)
}

/// Who looks on while a block runs, and knows where matrices lie.
struct Walk<'t> {
    program: &'t Program,
    strides: Option<Strides>,
    warps: Gathered<'t, What>,
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
