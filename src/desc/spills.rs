//! What to do with a kernel whose threads may not have the registers they need.

/// Whether registers may be spilled to local memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum SpillKind {
    /// A description that is estimated to spill is no kernel.
    Refused,
    /// It is one: for exploring beyond the estimate, and for showing what spilling costs.
    Allowed,
}
