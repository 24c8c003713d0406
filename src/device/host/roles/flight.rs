//! What is under way between blocks and memory.

use super::{fault::Who, payload::ShareName};
use crate::{desc::OperandKind, schedule::RoleStep};

/// Something asynchronous that will land.
pub(super) struct Flight<D> {
    /// The block whose memory it lands in.
    pub block: u32,
    /// The stage.
    pub stage: u32,
    pub cargo: Cargo<D>,
}

/// What lands.
pub(super) enum Cargo<D> {
    /// A share of a tile, and the bytes that its barrier counts.
    Copy { operand: OperandKind, share: u32, name: ShareName, bytes: u32, data: D },
    /// An arrival at an empty barrier, and by which step it was sent.
    Arrival { who: Who, step: RoleStep },
}
