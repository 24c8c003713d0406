//! Epilogues: expressions that compute D from accumulators, written as trees of types.
//!
//! ```text
//! Relu<Add<Scaled<Alpha, Acc>, Scaled<Beta, Source>>>        types
//!         |
//!         v
//! [alpha acc scale beta source scale add relu]               EpilogueDesc: postfix, Copy, const, hashable
//!         |                         \
//!         v                          v
//! evaluate(), row by row            a struct in the generated header: operands, and an expression
//! ```
//!
//! `Scaled<S, X>` with `S = 0` is 0 for every X: with beta = 0, a NaN in C cannot reach D, and C is
//! not read. User functions are nodes like any other ([`Function`], [`Apply`]). [`BiasM`],
//! [`BiasN`], [`ScaleM`], and [`ScaleN`] are vectors along the user's M and N, for every order of D.
//!
//! ```
//! use falchion::epilogue::{EpilogueDesc, LinearCombination, Node, Relu};
//! let desc = <Relu<LinearCombination> as Node>::DESC;
//! assert_eq!(desc.to_string(), "relu(alpha * acc + beta * c)");
//! assert_eq!("relu(alpha*acc + beta*c)".parse(), Ok(desc));
//! # let _: EpilogueDesc = desc;
//! ```

mod check;
mod constant;
mod desc;
pub(crate) mod evaluate;
mod formula;
mod function;
mod gates;
pub(crate) mod lanes;
mod math;
mod operands;
mod parse;
#[doc(hidden)]
pub mod partials;
pub(crate) mod reduction;
mod results;
mod spell;
#[doc(hidden)]
pub mod sums;
#[doc(hidden)]
pub mod tensor_store;
#[doc(hidden)]
pub mod tile_store;
mod tree;
pub(crate) mod vectors;

pub use constant::Real;
#[doc(hidden)]
pub use desc::{CAPACITY, LOCALS, MOST_OPERANDS, SCALARS};
pub use desc::{EpilogueDesc, Op};
#[doc(hidden)]
pub use evaluate::Reads;
pub(crate) use evaluate::{Rows, evaluate};
#[doc(hidden)]
pub use formula::formula;
pub use function::{
    BinaryFunction, F64BinaryFunction, F64Function, Function, NodeId, UserBody, UserFunction,
    register, register_binary, registered,
};
pub use math::*;
pub(crate) use operands::members;
pub use parse::ParseEpilogueError;
pub(crate) use spell::functions;
pub use tree::{
    Acc, Alpha, AlphaPtr, Amax, Apply, Apply2, Aux, Beta, BetaPtr, BiasM, BiasN, Clamp, ColAmax,
    ColSum, Constant, Fraction, Gate, Let, LinearCombination, LinearCombinationRelu, Local, Node,
    RowAmax, RowSum, Scalar, ScalarNode, ScaleM, ScaleN, Scaled, Source, Up, WriteAux,
};
#[doc(hidden)]
pub use tree::{OfD, OperandElement};
