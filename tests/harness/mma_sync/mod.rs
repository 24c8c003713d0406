//! Shared code of the tests of `mma.sync`.

pub mod cutlass_list;
