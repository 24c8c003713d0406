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

/// Identifier of a user function in a description: the FNV-1a hash of its name and texts, equal in
/// every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(pub u64);

impl NodeId {
    /// Returns the identifier of a function.
    pub const fn for_function<F: Function>() -> Self {
        let hash = TextHash::EMPTY.and(F::NAME).and(SEPARATOR).and(F::CUDA);
        match F::F64 {
            Some(function) => Self(hash.and(SEPARATOR).and(function.cuda).0),
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
    /// C++ expression.
    pub cuda: &'static str,
    /// Function on the host.
    pub host: fn(f32) -> f32,
    /// Function of `f64`.
    pub f64: Option<F64Function>,
}

impl UserFunction {
    /// Returns the C++ expression for an epilogue of `compute`.
    ///
    /// # Errors
    /// [`Refusal`] if the function supports only `f32` and the epilogue computes in another type.
    pub(super) fn text(&self, compute: ComputeKind) -> Result<&'static str, Refusal> {
        match (compute, self.f64) {
            (ComputeKind::F32, _) => Ok(self.cuda),
            (_, Some(function)) => Ok(function.cuda),
            (_, None) => Err(Refusal::node_of_f32(self.name, compute)),
        }
    }
}

static REGISTRY: LazyLock<RwLock<HashMap<NodeId, UserFunction>>> = LazyLock::new(RwLock::default);

/// Registers a function in this process, so that descriptions can refer to it. Epilogue types
/// register their functions themselves.
pub fn register<F: Function>() -> NodeId {
    let id = NodeId::for_function::<F>();
    if registered(id).is_none() {
        let function = UserFunction { name: F::NAME, cuda: F::CUDA, host: F::host, f64: F::F64 };
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(id, function);
    }
    id
}

/// Returns the function with an identifier, or `None` if it is not registered in this process.
pub fn registered(id: NodeId) -> Option<UserFunction> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}
