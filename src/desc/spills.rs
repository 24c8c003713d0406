//! What to do with a kernel whose threads may not have the registers they need.

use crate::words::words;
words! {
    /// Whether registers may be spilled to local memory.
    pub enum SpillKind {
        /// A description that is estimated to spill is no kernel.
        Refused = "refused",
        /// It is one: for exploring beyond the estimate, and for showing what spilling costs.
        Allowed = "allowed",
    }
}
