//! Operands of a kernel: their views, their routes, and the passes that prepare them.
//!
//! - A [`Call`] is one GEMM in memory: problem size, a [`View`] of each matrix, and scalars. Its
//!   checks, groups, and pointer arrays are in modules of their own.
//! - [`Routes`] says whether a kernel reads an operand in place, or as a copy in the workspace.
//! - A [`Pass`] copies or converts an operand before the GEMM, or transposes a matrix on its own.

mod array;
mod call;
mod check;
pub mod decompose;
mod decomposed_layout;
mod fitting;
mod gates;
pub mod gather;
mod groups;
mod host_call;
mod host_slice;
mod indices;
mod list;
mod pass;
pub mod records;
pub mod repack;
mod route;
mod source;
mod split;
pub mod transpose;
mod unread;
mod view;

pub use call::{Call, Matrices, Problem};
pub(crate) use check::{LARGEST, check_memory, check_output, check_types, check_written};
pub use decompose::{DecomposeDesc, DecomposeShapes, DecomposeStep, PIECE, PIECES, TILE};
pub(crate) use decomposed_layout::LINE_BYTES;
pub use decomposed_layout::{DEPTH, DecomposedLayout};
#[cfg(feature = "cuda")]
pub(crate) use fitting::accesses;
pub use fitting::fitting;
pub use gates::{GateColumns, UpMatrix};
pub use gather::{GatherCopy, GatherDesc};
pub(crate) use groups::Group;
pub use groups::Groups;
pub use host_call::{HostCall, HostMatrices};
pub use host_slice::{HostSlice, HostSliceMut};
pub(crate) use indices::{HostIndices, line_strides, lines_held};
pub use indices::{IndexList, Indices};
pub use list::ListReader;
use pass::unit_of;
pub use pass::{Pass, PassBatch, PassDesc};
pub use records::RecordsDesc;
pub use repack::{REPACK, Realignment, RepackCopy, RepackDesc, RepackMap, RepackShapes};
pub use route::{OperandNeed, Routes, WORKSPACE_ALIGNMENT, Way};
pub(crate) use route::{aligned_bytes_at_any_address, repacked_bytes, tma_reads_rows};
pub use source::Source;
pub use split::AxisSplit;
pub(crate) use unread::{check_passed, check_read};
pub use view::{Elements, Memory, View};
