//! Workspace that arguments pass: memory of a fixed size, or memory that grows.

use crate::{
    Error,
    device::space::{Space, Writable},
};

/// Workspace of a call.
#[doc(hidden)]
pub enum WorkspaceMemory<'a, S: Space> {
    /// Bytes that the caller owns.
    Fixed(S::Mut<'a, u8>),
    /// Memory that grows to the size that a call needs.
    Growing(&'a mut dyn GrowingWorkspace<S>),
}

/// Memory that grows to the size that a call needs.
#[doc(hidden)]
pub trait GrowingWorkspace<S: Space> {
    /// Returns at least `bytes` bytes for work in a queue.
    ///
    /// # Errors
    /// [`Error::Refused`] if the queue cannot allocate. [`Error::Driver`] if the memory is
    /// exhausted.
    fn grow(&mut self, queue: &S::Queue, bytes: u64) -> Result<S::Mut<'_, u8>, Error>;
}

/// Memory that [`Arguments::workspace`](crate::device::Arguments::workspace) accepts: bytes in the
/// operands' space, or a `&mut Workspace`.
#[diagnostic::on_unimplemented(
    message = "a workspace cannot be `{Self}`",
    note = "a workspace is &mut Workspace, &mut CudaSlice<u8>, or &mut CudaViewMut<u8> on a device; &mut [u8] or &mut Vec<u8> on the host"
)]
pub trait OperandWorkspace<'a, S: Space> {
    /// Returns the memory.
    #[doc(hidden)]
    fn memory(self) -> WorkspaceMemory<'a, S>;
}

#[diagnostic::do_not_recommend]
impl<'a, S: Space, M: Writable<'a, u8, In = S>> OperandWorkspace<'a, S> for M {
    fn memory(self) -> WorkspaceMemory<'a, S> {
        WorkspaceMemory::Fixed(self.view())
    }
}
