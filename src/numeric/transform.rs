//! Transforms of an operand in registers, defined in other crates.
//!
//! ```text
//! global memory      stored            copied by the main loop
//!       |
//! shared memory      stored
//!       |            a warp loads a fragment
//! registers          stored -> Transform -> multiplied    once per fragment, before its products
//!       |
//! instruction        multiplied        mma.sync, or a fused multiply-add
//! ```
//!
//! The built-in transforms are [`EmulationKind::Tf32x3`] and [`EmulationKind::Bf16x1`]. The kernels
//! call them at the same place, and their CUDA texts compute whole fragments.
//!
//! Twin: `kernels/numeric/transform.cuh`.
//!
//! [`EmulationKind::Tf32x3`]: crate::numeric::EmulationKind::Tf32x3
//! [`EmulationKind::Bf16x1`]: crate::numeric::EmulationKind::Bf16x1

use super::{Bf16, ElementKind, F16, MathType, Tf32};
use crate::shape::words::{SEPARATOR, TextHash};
use core::fmt;
use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// Function of one element of A or B, in C++ and in Rust, that kernels apply in registers between
/// shared memory and the MMA.
///
/// Both texts compute in `f32`. The stored element is widened to `f32`, which is exact. The result
/// is rounded to the multiplied type, to nearest even. Tensor cores read the upper 19 bits of a
/// [`Tf32`] result. The transform of 0 must be 0, because k-tiles are padded with zeros.
///
/// `mma.sync` kernels support the stored types f32, tf32, f16, and bf16, and the multiplied types
/// tf32, f16, and bf16, if the multiplied type is not wider than the stored type. SIMT kernels
/// multiply f32 and store f32, f16, or bf16.
///
/// The configuration leaves [`TransformA`](crate::nest::TransformA),
/// [`TransformB`](crate::nest::TransformB), and [`TransformBoth`](crate::nest::TransformBoth) pin
/// and register a transform. If knobs are values, `numeric::register_transform::<T>()` registers
/// the transform and returns its identifier. The text of the identifier is the value of the knobs
/// `transform_a` and `transform_b`.
///
/// ```
/// use falchion::{nest::TransformA, numeric::Transform, prelude::*};
///
/// struct Magnitude;
/// impl Transform for Magnitude {
///     const NAME: &'static str = "magnitude";
///     type Stored = f32;
///     type Multiplied = f32;
///     const CUDA: &'static str = "x < 0 ? -x : x";
///     fn host(x: f32) -> f32 {
///         if x < 0.0 { -x } else { x }
///     }
/// }
///
/// let gemm = Gemm::<f32>::new().with::<TransformA<Magnitude>>();
/// let mut d = [0.0];
/// gemm.run(Arguments::new((1, 1, 2), &[-2.0, 3.0], &[1.0, -1.0], &mut d))?;
/// assert_eq!(d, [-1.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub trait Transform: 'static {
    /// Name for messages; it need not be unique.
    const NAME: &'static str;
    /// Element type in memory.
    type Stored: MathType;
    /// Element type that the MMA multiplies.
    type Multiplied: MathType;
    /// C++ expression of type `float` in `float x`.
    const CUDA: &'static str;
    /// Function on the host. Its bits equal the GPU's only as far as both texts compute alike.
    fn host(x: f32) -> f32;
}

/// Identifier of a transform in a description: both element types, and the FNV-1a hash of its name,
/// types, and CUDA text. It is equal in every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TransformId {
    /// Hash.
    pub hash: u64,
    /// Element type in memory.
    pub stored: ElementKind,
    /// Element type that the MMA multiplies.
    pub multiplied: ElementKind,
}

impl TransformId {
    /// Returns the identifier of a transform.
    pub const fn new<T: Transform>() -> Self {
        let (stored, multiplied) =
            (<T::Stored as MathType>::KIND, <T::Multiplied as MathType>::KIND);
        let texts = [T::NAME, stored.name(), multiplied.name(), T::CUDA];
        let (mut hash, mut i) = (TextHash::EMPTY, 0);
        while i < texts.len() {
            hash = hash.and(texts[i]).and(SEPARATOR);
            i += 1;
        }
        Self { hash: hash.0, stored, multiplied }
    }

    /// Returns the identifier in a text of the form `transform_HASH:STORED:MULTIPLIED`, in which
    /// `HASH` has 16 hexadecimal digits.
    pub(crate) fn from_words(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (hash, stored, multiplied) = (parts.next()?, parts.next()?, parts.next()?);
        let hash = TextHash::read(b"transform_", hash.as_bytes())?;
        let [stored, multiplied] =
            [ElementKind::from_name(stored)?, ElementKind::from_name(multiplied)?];
        parts.next().is_none().then_some(Self { hash, stored, multiplied })
    }

    /// Returns the C++ name of the transform.
    pub(crate) fn cuda_name(&self) -> String {
        format!("Transform_{:016x}", self.hash)
    }
}

impl fmt::Display for TransformId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hash, stored, multiplied } = self;
        write!(f, "transform_{hash:016x}:{stored}:{multiplied}")
    }
}

/// Transform of a user, as a value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct UserTransform {
    /// Name.
    pub name: &'static str,
    /// C++ expression.
    pub cuda: &'static str,
    /// Function on the host.
    pub host: fn(f32) -> f32,
}

/// Function of a transform on the host, with the rounding to the multiplied type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct HostTransform {
    function: fn(f32) -> f32,
    rounding: fn(f32) -> f32,
}

impl HostTransform {
    /// Returns the number that the MMA multiplies for a stored number.
    #[inline]
    pub fn apply(&self, x: f32) -> f32 {
        (self.rounding)((self.function)(x))
    }
}

static REGISTRY: LazyLock<RwLock<HashMap<TransformId, UserTransform>>> =
    LazyLock::new(RwLock::default);

/// Registers a transform in this process, so that descriptions can refer to it. The leaves of a
/// configuration register their transforms themselves.
pub fn register_transform<T: Transform>() -> TransformId {
    let id = TransformId::new::<T>();
    if registered_transform(id).is_none() {
        let transform = UserTransform { name: T::NAME, cuda: T::CUDA, host: T::host };
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(id, transform);
    }
    id
}

/// Returns the transform with an identifier, or `None` if it is not registered in this process.
#[doc(hidden)]
pub fn registered_transform(id: TransformId) -> Option<UserTransform> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}

impl TransformId {
    /// Returns the function on the host. An unregistered transform, which plans refuse, returns
    /// its argument.
    #[doc(hidden)]
    pub fn on_host(self) -> HostTransform {
        let function = registered_transform(self).map_or((|x| x) as fn(f32) -> f32, |of| of.host);
        let rounding: fn(f32) -> f32 = match self.multiplied {
            ElementKind::Bf16 => |x| Bf16::from_f32(x).to_f32(),
            ElementKind::F16 => |x| F16::from_f32(x).to_f32(),
            ElementKind::Tf32 => Tf32::as_read,
            _ => |x| x,
        };
        HostTransform { function, rounding }
    }
}
