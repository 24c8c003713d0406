//! What one thread does, step by step, as an interface.

use super::Fault;
use crate::{operand::OperandKind, schedule::Step};

/// What one thread can do: the vocabulary in which main loops and warps say what they do.
pub trait Lane {
    /// Accesses of the thread to an operand's tile in global memory.
    fn accesses(&self, operand: OperandKind) -> u32;
    /// Elements of the thread's fragment of an operand.
    fn held(&self, operand: OperandKind) -> u32;
    /// Vector `access` of tile `written`: global memory to registers.
    fn fetch(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault>;
    /// Vector `access`: registers to the stage of tile `written`.
    fn store(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault>;
    /// Vector `access` of tile `written`: global to shared memory, asynchronously.
    fn copy(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault>;
    /// The copies since the last commit become a group.
    fn commit(&mut self);
    /// All but the last `pending` groups have landed.
    fn wait(&mut self, pending: u32) -> Result<(), Fault>;
    /// One more tile is written.
    fn wrote(&mut self);
    /// One more tile is read.
    fn advance(&mut self);
    /// Element `element` of the fragment of k-group `group` of tile `read`.
    fn load(&mut self, operand: OperandKind, group: u32, element: u32) -> Result<(), Fault>;
    /// Accumulators += the outer product of the fragments of k-group `group`.
    fn multiply(&mut self, group: u32) -> Result<(), Fault>;
    /// Slice `slice` of K deposits its accumulators.
    fn deposit(&mut self, slice: u32) -> Result<(), Fault>;
    /// Slice 0 adds the accumulators of slice `slice`.
    fn collect(&mut self, slice: u32) -> Result<(), Fault>;
    /// The fault of a step that a main loop does not have.
    fn foreign(&self, step: Step) -> Fault {
        Fault::ForeignStep { step }
    }
}
