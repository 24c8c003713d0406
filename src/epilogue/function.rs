//! Functions that users add, in crates of their own.

use core::fmt;
use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// A function of one number, in two languages.
///
/// ```
/// use falchion::epilogue::{Acc, Apply, Function, Node};
///
/// struct Square;
/// impl Function for Square {
///     const NAME: &'static str = "square";
///     const CUDA: &'static str = "x * x";
///     fn host(x: f32) -> f32 {
///         x * x
///     }
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
}

/// The name of a user's function in a description: FNV-1a of its name and text, alike in every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(pub u64);

impl NodeId {
    /// The id of a function.
    pub const fn of<F: Function>() -> Self {
        Self(fnv(fnv(fnv(0xcbf2_9ce4_8422_2325, F::NAME), "\u{1f}"), F::CUDA))
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
}

static REGISTRY: LazyLock<RwLock<HashMap<NodeId, UserFunction>>> = LazyLock::new(RwLock::default);

/// Makes a function known to this process, so that descriptions can name it. Types do it by themselves.
pub fn register<F: Function>() -> NodeId {
    let id = NodeId::of::<F>();
    if registered(id).is_none() {
        let function = UserFunction { name: F::NAME, cuda: F::CUDA, host: F::host };
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(id, function);
    }
    id
}

/// The function of an id, when this process knows it.
pub fn registered(id: NodeId) -> Option<UserFunction> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}
