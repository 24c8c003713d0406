//! User functions for epilogues, defined in other crates.

use crate::{
    numeric::ComputeKind,
    refusal::Refusal,
    shape::words::{SEPARATOR, TextHash},
};
use core::fmt;
use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// Function of one number, in C++ and in Rust.
///
/// The function computes in `f32`. Epilogues that compute in `f64` or in integers use
/// [`F64`](Self::F64), and are refused without it. Integers are converted to `f64`.
///
/// ```
/// use falchion::epilogue::{Acc, Apply, F64Function, Function, Node};
///
/// struct Square;
/// impl Function for Square {
///     const NAME: &'static str = "square";
///     const CUDA: &'static str = "x * x";
///     fn host(x: f32) -> f32 {
///         x * x
///     }
///     const F64: Option<F64Function> = Some(F64Function { cuda: "x * x", host: |x| x * x });
/// }
/// assert!(<Apply<Square, Acc> as Node>::DESC.check().is_ok());
/// ```
pub trait Function: 'static {
    /// Name for messages; it need not be unique.
    const NAME: &'static str;
    /// C++ expression of type `float` in `float x`.
    const CUDA: &'static str;
    /// Function on the host. Its bits equal the GPU's only as far as both expressions compute
    /// alike.
    fn host(x: f32) -> f32;
    /// Function of `f64`, if it exists.
    const F64: Option<F64Function> = None;
}

/// User function of `f64`, in both languages. Integers also use it; their result is rounded to
/// nearest even.
#[derive(Clone, Copy, Debug)]
pub struct F64Function {
    /// C++ expression of type `double` in `double x`.
    pub cuda: &'static str,
    /// Function on the host.
    pub host: fn(f64) -> f64,
}

/// Function of two numbers, in C++ and in Rust. It differs from a [`Function`] by its operands
/// only.
///
/// ```
/// use falchion::epilogue::{Acc, Apply2, BiasN, BinaryFunction, Node};
///
/// struct Squares;
/// impl BinaryFunction for Squares {
///     const NAME: &'static str = "squares";
///     const CUDA: &'static str = "x * x + y * y";
///     fn host(x: f32, y: f32) -> f32 {
///         x * x + y * y
///     }
/// }
/// assert!(<Apply2<Squares, Acc, BiasN> as Node>::DESC.check().is_ok());
/// ```
pub trait BinaryFunction: 'static {
    /// Name for messages; it need not be unique.
    const NAME: &'static str;
    /// C++ expression of type `float` in `float x` and `float y`.
    const CUDA: &'static str;
    /// Function on the host.
    fn host(x: f32, y: f32) -> f32;
    /// Function of `f64`, if it exists.
    const F64: Option<F64BinaryFunction> = None;
}

/// User function of two `f64`, in both languages.
#[derive(Clone, Copy, Debug)]
pub struct F64BinaryFunction {
    /// C++ expression of type `double` in `double x` and `double y`.
    pub cuda: &'static str,
    /// Function on the host.
    pub host: fn(f64, f64) -> f64,
}

/// Identifier of a user function in a description: the FNV-1a hash of its name and texts, equal in
/// every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(pub u64);

impl NodeId {
    /// Returns the identifier of a function.
    pub const fn for_function<F: Function>() -> Self {
        let f64 = match F::F64 {
            Some(function) => Some(function.cuda),
            None => None,
        };
        Self::for_texts(F::NAME, F::CUDA, f64)
    }

    /// Returns the identifier of a function of two numbers.
    pub const fn for_binary_function<F: BinaryFunction>() -> Self {
        let f64 = match F::F64 {
            Some(function) => Some(function.cuda),
            None => None,
        };
        Self(TextHash(Self::for_texts(F::NAME, F::CUDA, f64).0).and(SEPARATOR).and("2").0)
    }

    const fn for_texts(name: &str, cuda: &str, f64: Option<&str>) -> Self {
        let hash = TextHash::EMPTY.and(name).and(SEPARATOR).and(cuda);
        match f64 {
            Some(cuda) => Self(hash.and(SEPARATOR).and(cuda).0),
            None => Self(hash.0),
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// User function, as a value.
#[derive(Clone, Copy, Debug)]
pub struct UserFunction {
    /// Name.
    pub name: &'static str,
    /// C++ expression of `float`.
    pub cuda: &'static str,
    /// C++ expression of `double`, if the function has one.
    pub cuda_f64: Option<&'static str>,
    /// Functions on the host.
    pub body: UserBody,
}

/// Host functions of a user function: of `f32`, and of `f64` if it exists.
#[derive(Clone, Copy, Debug)]
pub enum UserBody {
    /// Function of one number.
    Unary {
        /// Function of `f32`.
        host: fn(f32) -> f32,
        /// Function of `f64`.
        f64: Option<fn(f64) -> f64>,
    },
    /// Function of two numbers.
    Binary {
        /// Function of `f32`.
        host: fn(f32, f32) -> f32,
        /// Function of `f64`.
        f64: Option<fn(f64, f64) -> f64>,
    },
}

impl UserFunction {
    /// Returns the number of operands.
    pub const fn arity(&self) -> usize {
        match self.body {
            UserBody::Unary { .. } => 1,
            UserBody::Binary { .. } => 2,
        }
    }

    /// Returns the C++ expression for an epilogue of `compute`.
    ///
    /// # Errors
    /// [`Refusal`] if the function supports only `f32` and the epilogue computes in another type.
    pub(super) fn text(&self, compute: ComputeKind) -> Result<&'static str, Refusal> {
        match (compute, self.cuda_f64) {
            (ComputeKind::F32, _) => Ok(self.cuda),
            (_, Some(cuda)) => Ok(cuda),
            (_, None) => Err(Refusal::node_of_f32(self.name, compute)),
        }
    }
}

static REGISTRY: LazyLock<RwLock<HashMap<NodeId, UserFunction>>> = LazyLock::new(RwLock::default);

/// Registers a function in this process, so that descriptions can refer to it. Epilogue types
/// register their functions themselves.
pub fn register<F: Function>() -> NodeId {
    let f64 = F::F64;
    insert(
        NodeId::for_function::<F>(),
        UserFunction {
            name: F::NAME,
            cuda: F::CUDA,
            cuda_f64: f64.map(|function| function.cuda),
            body: UserBody::Unary { host: F::host, f64: f64.map(|function| function.host) },
        },
    )
}

/// Registers a function of two numbers, as [`register`] does.
pub fn register_binary<F: BinaryFunction>() -> NodeId {
    let f64 = F::F64;
    insert(
        NodeId::for_binary_function::<F>(),
        UserFunction {
            name: F::NAME,
            cuda: F::CUDA,
            cuda_f64: f64.map(|function| function.cuda),
            body: UserBody::Binary { host: F::host, f64: f64.map(|function| function.host) },
        },
    )
}

fn insert(id: NodeId, function: UserFunction) -> NodeId {
    if registered(id).is_none() {
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(id, function);
    }
    id
}

/// Returns the function with an identifier, or `None` if it is not registered in this process.
pub fn registered(id: NodeId) -> Option<UserFunction> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}
