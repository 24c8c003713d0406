//! What to do with a kernel whose threads may not have the registers they need.

/// Whether registers may be spilled to local memory, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum SpillKind {
    /// A description that is estimated to spill is no kernel.
    Refused,
    /// It is one: for exploring beyond the estimate, and for showing what spilling costs.
    Allowed,
}

/// Whether registers may be spilled to local memory, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether spills are taken",
    note = "write NoSpills or SpillsAllowed"
)]
pub trait Spilling: 'static {
    /// The same choice, as a value.
    const KIND: SpillKind;
}

/// [`SpillKind::Refused`].
#[derive(Clone, Copy, Debug)]
pub struct NoSpills;

/// [`SpillKind::Allowed`].
#[derive(Clone, Copy, Debug)]
pub struct SpillsAllowed;

impl Spilling for NoSpills {
    const KIND: SpillKind = SpillKind::Refused;
}

impl Spilling for SpillsAllowed {
    const KIND: SpillKind = SpillKind::Allowed;
}
