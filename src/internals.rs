//! What the laboratory needs of the library and no caller does. Nothing here keeps its name or its
//! shape.

/// The trees that texts of layouts are read into: expressions of layouts are evaluated from them.
pub use crate::layout::algebra::parse::{Fault, Kind, Node, parse, pointed};

/// What a block of a kernel from elsewhere computes, and the loading of one.
#[cfg(feature = "cuda")]
pub use crate::{cuda::loaded::Loaded, plan::Geometry};

/// Facts of number formats that a reference computes with.
pub use crate::numeric::{convert::round_to_odd, fused_sum::least_exponent};

/// The refusal of a number out of its range.
pub use crate::refusal::rules::within;

/// The epilogue as the host evaluates it: references are held against it.
pub use crate::epilogue::evaluate::{Rows, evaluate};

/// The assertion that a map's twin has its fingerprint: the lab's kernels are held to their maps,
/// too.
pub use crate::codegen::fingerprint_assertion;

macro_rules! rooms {
    ($($room:ident),*) => {
        $(#[allow(missing_docs, reason = "each room says what it is where it stands")]
        pub mod $room {
            pub use crate::$room::*;
        })*
    };
}

// The rooms that tests and the lab look into.
rooms! { call, codegen, family, host, index, operand, pass, plan, schedule, sentence, sys, thread }
