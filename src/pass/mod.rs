//! Kernels that move or rewrite an operand: before a product, or for themselves.

pub mod relay;
pub mod split;
pub mod transpose;

pub use relay::{RELAY, Realignment, RelayDesc, RelayFault, RelayMap, RelayProgram, RelayShapes};
pub use split::{PIECE, SplitPass, SplitPassDesc, SplitPassProgram};
