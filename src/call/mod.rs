//! One problem: what a caller passes, what a kernel reads of it, and where its operands lie.

mod arguments;
mod route;
mod space;
mod split_layout;

pub use arguments::{Arguments, MatrixShape, Shapes, Source};
pub(crate) use arguments::{LARGEST, setters};
pub use route::{OperandNeed, Routes, WORKSPACE_ALIGNMENT, Way};
pub use space::{Host, HostMatrices, HostSlice, HostSliceMut, Readable, Space, Writable};
pub(crate) use split_layout::LINE_BYTES;
pub use split_layout::{DEPTH, SplitLayout};
