//! Items that the lab crate and the tests need. They are not part of the public interface, and
//! their names and signatures may change at any time.

/// Syntax trees of layout expressions, from which the lab evaluates expressions.
pub use crate::layout::algebra::parse::{Fault, Kind, Node, parse, pointed};

/// Geometry of a kernel, and the loading of kernels from other sources.
#[cfg(feature = "cuda")]
pub use crate::{cuda::loaded::Loaded, plan::Geometry};

/// Number formats: rounding and exponents for reference computations.
pub use crate::numeric::{convert::round_to_odd, fused_sum::least_exponent};

/// The refusal of a number outside of its range.
pub use crate::refusal::rules::within;

/// The epilogue as the host evaluates it, for comparison with references.
pub use crate::epilogue::evaluate::{Rows, evaluate};

/// The assertion that a map's CUDA twin has the map's fingerprint, for the kernels of the lab.
pub use crate::codegen::fingerprint_assertion;

macro_rules! rooms {
    ($($room:ident),*) => {
        $(#[allow(missing_docs, reason = "each module has its own documentation")]
        pub mod $room {
            pub use crate::$room::*;
        })*
    };
}

// The modules that tests and the lab use.
rooms! { call, codegen, family, host, index, operand, pass, plan, schedule, sentence, sys, thread }
