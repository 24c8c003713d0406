//! Element and math types, as types and as a value.

use crate::shape::words::words;

/// 1 sign, 4 exponent, and 3 fraction bits, bias 7. The type has no infinity; NaN is `S.1111.111`,
/// and the largest number is 448. Source: Micikevicius et al., *FP8 Formats for Deep Learning*
/// (2022), table 1.
pub use float8::F8E4M3 as E4m3;
/// 1 sign, 5 exponent, and 2 fraction bits, bias 15: the upper half of a binary16, with its
/// infinities and NaNs. The largest number is 57344.
pub use float8::F8E5M2 as E5m2;
/// bfloat16: the upper half of a binary32.
pub use half::bf16 as Bf16;
/// IEEE 754 binary16.
pub use half::f16 as F16;

/// Number with the exponent range of `f32` and 10 fraction bits, stored as an `f32`. It is the f32
/// mode of tensor cores.
///
/// A matrix of `Tf32` may hold any `f32`. Tensor cores read the upper 19 bits and ignore the low 13
/// bits ([`Tf32::as_read`]), which truncates numbers toward zero. If Falchion itself creates such a
/// matrix from a file or a seed, it rounds to nearest even ([`Tf32::nearest`]). Tensor cores then
/// read these numbers without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tf32;

impl Tf32 {
    /// Bits of an `f32` that tensor cores ignore.
    const IGNORED: u32 = (1 << 13) - 1;

    /// Returns the number that tensor cores read: `x` without its low 13 bits. A NaN whose fraction
    /// is only in these bits becomes an infinity; no instruction produces such a NaN.
    #[inline(always)]
    pub const fn as_read(x: f32) -> f32 {
        f32::from_bits(x.to_bits() & !Self::IGNORED)
    }

    /// Returns the number with 10 fraction bits that is nearest to `x`, ties to even.
    #[inline(always)]
    pub const fn nearest(x: f32) -> f32 {
        let bits = x.to_bits();
        let tie_to_even = Self::IGNORED / 2 + ((bits >> 13) & 1);
        if x.is_finite() { f32::from_bits((bits + tie_to_even) & !Self::IGNORED) } else { x }
    }
}

words! {
    /// Element type, as a value.
    pub enum ElementKind {
        /// IEEE binary64.
        F64 = "f64",
        /// IEEE binary32.
        F32 = "f32",
        /// [`Tf32`], stored as binary32.
        Tf32 = "tf32",
        /// IEEE binary16.
        F16 = "f16",
        /// bfloat16.
        Bf16 = "bf16",
        /// [`E4m3`]: 8 bits, 4 of exponent, 3 of fraction, no infinity.
        E4m3 = "e4m3",
        /// [`E5m2`]: 8 bits, 5 of exponent, 2 of fraction.
        E5m2 = "e5m2",
        /// Two's complement, 8 bits.
        I8 = "i8",
        /// Unsigned, 8 bits.
        U8 = "u8",
        /// Two's complement, 32 bits.
        I32 = "i32",
    }
}

impl ElementKind {
    /// Returns the element type with a name, or `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the C++ type in `kernels/numeric.cuh`.
    pub const fn cuda(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::Tf32 => "tf32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::I8 => "signed char",
            Self::U8 => "unsigned char",
            Self::I32 => "int",
        }
    }

    /// Returns the width in memory in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Tf32 | Self::I32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::I8 | Self::U8 => 8,
        }
    }

    /// Returns the number of elements that fit into `bytes` bytes.
    pub const fn elements_in(self, bytes: u32) -> u32 {
        // At most `bytes`, because no element has fewer than 8 bits.
        (bytes as u64 * 8 / self.bits() as u64) as u32
    }

    /// Returns the size of `elements` consecutive elements in bytes, rounded up; at most
    /// `u32::MAX`.
    pub const fn bytes_of(self, elements: u32) -> u32 {
        let bytes = (elements as u64 * self.bits() as u64).div_ceil(8);
        if bytes > u32::MAX as u64 { u32::MAX } else { bytes as u32 }
    }

    /// Returns [`elements_in`](Self::elements_in) for 64-bit sizes.
    pub const fn matrix_elements(self, bytes: u64) -> u64 {
        let elements = bytes as u128 * 8 / self.bits() as u128;
        if elements > u64::MAX as u128 { u64::MAX } else { elements as u64 }
    }

    /// Returns [`bytes_of`](Self::bytes_of) for 64-bit sizes; at most `u64::MAX`.
    pub const fn matrix_bytes(self, elements: u64) -> u64 {
        let bytes = (elements as u128 * self.bits() as u128).div_ceil(8);
        if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 }
    }

    /// Returns the default accumulator type.
    pub const fn accumulator(self) -> Self {
        match self {
            Self::F64 => Self::F64,
            Self::I8 | Self::U8 | Self::I32 => Self::I32,
            _ => Self::F32,
        }
    }

    /// Returns whether the type is an integer type.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I8 | Self::U8 | Self::I32)
    }

    /// Returns whether the type is an 8-bit floating-point type.
    pub const fn is_fp8(self) -> bool {
        matches!(self, Self::E4m3 | Self::E5m2)
    }

    /// Returns whether a number, rounded to nearest even, is within the type's range.
    /// Floating-point types accept every number: beyond the largest number they yield infinity, or
    /// for fp8 the largest number.
    pub fn takes(self, x: f64) -> bool {
        let within = |least: i32, most: i32| {
            (f64::from(least)..=f64::from(most)).contains(&x.round_ties_even())
        };
        match self {
            Self::I8 => within(i8::MIN.into(), i8::MAX.into()),
            Self::U8 => within(u8::MIN.into(), u8::MAX.into()),
            Self::I32 => within(i32::MIN, i32::MAX),
            _ => true,
        }
    }

    /// Returns whether both types are equal, for use in `const fn`s.
    pub const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

words! {
    /// Compute type of an epilogue.
    pub enum ComputeKind {
        /// Binary32: epilogues of all accumulators except `f64`, unless accumulators, outputs, and
        /// scalars are all integers.
        F32 = "f32",
        /// Binary64: epilogues of `f64` accumulators.
        F64 = "f64",
        /// Wrapping 32-bit integers: integer accumulators and outputs, and integer scalars.
        I32 = "i32",
    }
}

impl ComputeKind {
    /// Returns the C++ type.
    pub const fn cuda(self) -> &'static str {
        match self {
            Self::F32 => "float",
            Self::F64 => "double",
            Self::I32 => "int",
        }
    }

    /// Returns the element type of the same numbers, which reductions of an epilogue have.
    pub const fn element(self) -> ElementKind {
        match self {
            Self::F32 => ElementKind::F32,
            Self::F64 => ElementKind::F64,
            Self::I32 => ElementKind::I32,
        }
    }

    /// Returns a scalar as an epilogue of this type multiplies by it.
    pub const fn rounded(self, scalar: f64) -> f64 {
        match self {
            Self::F32 => scalar as f32 as f64,
            Self::F64 | Self::I32 => scalar,
        }
    }

    /// Returns whether an epilogue of this type can read elements of a type.
    pub const fn reads(self, element: ElementKind) -> bool {
        match self {
            Self::F32 => !element.is(ElementKind::F64),
            Self::F64 => element.is(ElementKind::F64),
            Self::I32 => element.is_integer(),
        }
    }

    /// Returns the compute type of an epilogue from `accumulator` to `c` with integer scalars.
    pub const fn for_types(accumulator: ElementKind, c: ElementKind) -> Self {
        match (accumulator, c.is_integer()) {
            (ElementKind::F64, _) => Self::F64,
            (ElementKind::I32, true) => Self::I32,
            _ => Self::F32,
        }
    }
}

/// Element type: a number that slices hold and GEMMs multiply.
///
/// This bound suffices for a generic function that multiplies slices:
///
/// ```
/// use falchion::prelude::*;
///
/// /// The scalar product of two vectors.
/// fn dot<T: Element>(a: &[T], b: &[T]) -> Result<T, falchion::Error> {
///     let mut d = [T::ZERO];
///     let (a, b) = (MatRef::new(a, (1, a.len())), MatRef::new(b, (b.len(), 1)));
///     falchion::gemm(a, b, MatMut::new(&mut d, (1, 1)))?;
///     Ok(d[0])
/// }
///
/// assert_eq!(dot(&[2.0f32, 3.0], &[4.0, 5.0])?, 23.0);
/// assert_eq!(dot(&[2i32, 3], &[4, 5])?, 23);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// [`Tf32`] is not an element type, because its matrices are slices of `f32`.
pub trait Element: MathType<Storage = Self> + bytemuck::Pod {
    /// The number 0.
    const ZERO: Self;
}

/// Type of A that a GEMM multiplies by `B`. A type pair without a kernel fails in `cargo check`.
///
/// ```compile_fail,E0277
/// use falchion::prelude::*;
/// let gemm = Gemm::<f32, RowMajor, F16>::new();
/// ```
#[diagnostic::on_unimplemented(
    message = "no kernel multiplies `{Self}` by `{B}`",
    label = "A holds `{Self}`, and B holds `{B}`",
    note = "A and B have one element type, or are `E4m3` and `E5m2` in either order; convert A or B"
)]
pub trait MultipliedBy<B>: MathType {}

impl<T: MathType> MultipliedBy<T> for T {}
impl MultipliedBy<E5m2> for E4m3 {}
impl MultipliedBy<E4m3> for E5m2 {}

macro_rules! stored {
    ($($element:ty = $zero:expr;)*) => {
        $(impl Element for $element {
            const ZERO: Self = $zero;
        })*
    };
}

stored! {
    f64 = 0.0;
    f32 = 0.0;
    F16 = F16::ZERO;
    Bf16 = Bf16::ZERO;
    E4m3 = E4m3::from_bits(0);
    E5m2 = E5m2::from_bits(0);
    i8 = 0;
    u8 = 0;
    i32 = 0;
}

/// Type that a GEMM multiplies or accumulates: an [`Element`] type, or [`Tf32`], which is stored as
/// `f32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of falchion",
    label = "not an element type",
    note = "element types are f64, f32, Tf32, F16, Bf16, E4m3, E5m2, i8, u8 and i32"
)]
pub trait MathType: Copy + Send + Sync + 'static {
    /// Type as a value.
    const KIND: ElementKind;
    /// Element type in memory.
    type Storage: bytemuck::Pod + Send + Sync;
    /// Default accumulator type.
    type Accumulator: MathType;
    /// Default type of C and D: the first that [`COMBINATIONS`](crate::nest::COMBINATIONS) or
    /// [`TENSOR_OP_COMBINATIONS`](crate::nest::TENSOR_OP_COMBINATIONS) lists.
    type Output: MathType;
    /// Returns the value for this type as one of the values for all types.
    #[doc(hidden)]
    fn any_of<F: PerElement>(value: F::Of<Self::Storage>) -> AnyOf<F>;
}

/// One type per element type: the type of [`AnyOf`]'s value.
#[doc(hidden)]
pub trait PerElement {
    /// Type for elements in memory of type `T`.
    type Of<T: bytemuck::Pod>;
}

macro_rules! elements {
    ($($element:ty, $kind:ident, $storage:ty, $accumulator:ty, $output:ty;)*) => {
        /// A value for one element type.
        #[doc(hidden)]
        pub enum AnyOf<F: PerElement> {
            $(#[doc = "A value for the element type of the same name."]
            $kind(F::Of<$storage>),)*
        }

        impl<F: PerElement> Copy for AnyOf<F> where $(F::Of<$storage>: Copy),* {}

        impl<F: PerElement> Clone for AnyOf<F>
        where
            $(F::Of<$storage>: Copy),*
        {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<F: PerElement> AnyOf<F> {
            /// Returns the element type.
            pub const fn kind(&self) -> ElementKind {
                match self {
                    $(Self::$kind(_) => ElementKind::$kind,)*
                }
            }
        }

        $(impl MathType for $element {
            const KIND: ElementKind = ElementKind::$kind;
            type Storage = $storage;
            type Accumulator = $accumulator;
            type Output = $output;
            fn any_of<F: PerElement>(value: F::Of<$storage>) -> AnyOf<F> {
                AnyOf::$kind(value)
            }
        }
        const _: () = assert!(ElementKind::$kind.bytes_of(1) as usize == size_of::<$storage>());
        const _: () = assert!(ElementKind::$kind.accumulator().is(<$accumulator as MathType>::KIND));)*
    };
}

elements! {
    f64,  F64,  f64,  f64, f64;
    f32,  F32,  f32,  f32, f32;
    Tf32, Tf32, f32,  f32, f32;
    F16,  F16,  F16,  f32, F16;
    Bf16, Bf16, Bf16, f32, Bf16;
    E4m3, E4m3, E4m3, f32, Bf16;
    E5m2, E5m2, E5m2, f32, Bf16;
    i8,   I8,   i8,   i32, i32;
    u8,   U8,   u8,   i32, i32;
    i32,  I32,  i32,  i32, i32;
}
