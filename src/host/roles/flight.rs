//! What is under way between blocks and memory.

use super::{
    fault::Who,
    payload::{ShareName, SliceName},
};
use crate::{operand::OperandKind, schedule::RoleStep};

/// Something asynchronous that will land.
pub(super) struct Flight<D, C> {
    /// The block whose memory it lands in.
    pub block: u32,
    /// The stage, or, of C, the consumer.
    pub stage: u32,
    pub cargo: Cargo<D, C>,
}

/// What lands.
pub(super) enum Cargo<D, C> {
    /// A share of a tile, and the bytes that its barrier counts.
    Copy { operand: OperandKind, share: u32, name: ShareName, bytes: u32, data: D },
    /// A slice of C, the buffer that it lands in, and the bytes that its barrier counts.
    Source { buffer: u32, name: SliceName, bytes: u32, data: C },
    /// An arrival at an empty barrier, and by which step it was sent.
    Arrival { who: Who, step: RoleStep },
}
