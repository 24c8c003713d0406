//! Functions that users add, in crates of their own.

use crate::{
    numeric::ComputeKind,
    refusal::{Refusal, Word},
};
use core::fmt;
use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// A function of one number, in two languages.
///
/// It computes in `f32`. An epilogue that computes in `f64` or in integers, each of which is an
/// `f64`, takes [`F64`](Self::F64), and is refused where there is none.
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
    /// A name for messages; it need not be unique.
    const NAME: &'static str;
    /// A C++ expression of type `float` in `float x`.
    const CUDA: &'static str;
    /// The same function on the host. Bits agree only as far as both compute alike.
    fn host(x: f32) -> f32;
    /// The same function of `f64`, where there is one.
    const F64: Option<F64Function> = None;
}

/// A user's function of `f64`, in both languages: an integer goes through it and is rounded to the
/// nearest, of two such to the even one.
#[derive(Clone, Copy, Debug)]
pub struct F64Function {
    /// A C++ expression of type `double` in `double x`.
    pub cuda: &'static str,
    /// The same function on the host.
    pub host: fn(f64) -> f64,
}

/// The name of a user's function in a description: FNV-1a of its name and texts, alike in every
/// process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(pub u64);

impl NodeId {
    /// The id of a function.
    pub const fn of<F: Function>() -> Self {
        let id = fnv(fnv(fnv(0xcbf2_9ce4_8422_2325, F::NAME), "\u{1f}"), F::CUDA);
        match F::F64 {
            Some(function) => Self(fnv(fnv(id, "\u{1f}"), function.cuda)),
            None => Self(id),
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

const fn fnv(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    hash
}

/// A user's function, as a value.
#[derive(Clone, Copy, Debug)]
pub struct UserFunction {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub cuda: &'static str,
    /// What it does on the host.
    pub host: fn(f32) -> f32,
    /// The same of `f64`.
    pub f64: Option<F64Function>,
}

impl UserFunction {
    /// Its text in an epilogue of `compute`.
    ///
    /// # Errors
    /// [`Refusal::NodeOfF32`] where it is a function of `f32` alone, and `f32` does not hold every
    /// number of the epilogue.
    pub(super) fn text(&self, compute: ComputeKind) -> Result<&'static str, Refusal> {
        match (compute, self.f64) {
            (ComputeKind::F32, _) => Ok(self.cuda),
            (_, Some(function)) => Ok(function.cuda),
            (_, None) => Err(Refusal::NodeOfF32 { node: Word(self.name), compute }),
        }
    }
}

static REGISTRY: LazyLock<RwLock<HashMap<NodeId, UserFunction>>> = LazyLock::new(RwLock::default);

/// Makes a function known to this process, so that descriptions can name it. Types do it by
/// themselves.
pub fn register<F: Function>() -> NodeId {
    let id = NodeId::of::<F>();
    if registered(id).is_none() {
        let function = UserFunction { name: F::NAME, cuda: F::CUDA, host: F::host, f64: F::F64 };
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(id, function);
    }
    id
}

/// The function of an id, when this process knows it.
pub fn registered(id: NodeId) -> Option<UserFunction> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}
