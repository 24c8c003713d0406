//! Operands whose element type is a value, for types that are known only at run time.

use crate::{
    device::space::{Host, MatrixElements, Readable, Space, Writable},
    numeric::{AnyOf, ElementKind, MathType, PerElement},
    operand::Elements,
};

/// Element type of [`Arguments`](crate::device::Arguments) for a
/// [`GemmOperation`](crate::device::GemmOperation): each operand has its element type as a value.
#[derive(Clone, Copy, Debug)]
pub struct Any;

/// An input matrix with its element type as a value. `new` accepts a slice of elements, and
/// `from_bytes` accepts an element type and bytes.
///
/// ```
/// use falchion::{numeric::ElementKind, prelude::*};
///
/// let (floats, bytes) = (vec![1.0f32; 12], vec![0u8; 24]);
/// let of_elements = AnySlice::new::<f32>(&floats);
/// let of_bytes = AnySlice::from_bytes(ElementKind::Bf16, &bytes);
/// assert_eq!((of_elements.kind(), of_elements.length()), (ElementKind::F32, 12));
/// assert_eq!((of_bytes.kind(), of_bytes.length()), (ElementKind::Bf16, 12));
/// ```
///
/// An enum of vectors becomes an `AnySlice` in a `match`. `AnySlice<'_>` is in host memory, and
/// `AnySlice<'_, Cuda>` is in device memory.
///
/// ```
/// use falchion::prelude::*;
///
/// enum Data {
///     F32(Vec<f32>),
///     Bf16(Vec<Bf16>),
/// }
///
/// impl Data {
///     fn any(&self) -> AnySlice<'_> {
///         match self {
///             Self::F32(x) => AnySlice::new::<f32>(x),
///             Self::Bf16(x) => AnySlice::new::<Bf16>(x),
///         }
///     }
/// }
///
/// let (weights, mut d) = (Data::Bf16(vec![Bf16::ONE; 6]), [0.0f32; 4]);
/// let kind = MatrixType::row(weights.any().kind());
/// let gemm = GemmOperation::new(kind, kind, "f32:row".parse()?)?;
/// gemm.run(Arguments::new((2, 2, 3), weights.any(), weights.any(), AnySliceMut::new::<f32>(&mut d)))?;
/// assert_eq!(d, [3.0; 4]);
/// # let _ = Data::F32(Vec::new());
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct AnySlice<'a, S: Space = Host>(Slice<'a, S>);

/// An output matrix with its element type as a value, like [`AnySlice`].
pub struct AnySliceMut<'a, S: Space = Host>(SliceMut<'a, S>);

impl<S: Space> Copy for AnySlice<'_, S> {}

impl<S: Space> Clone for AnySlice<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The references to input matrices in a space.
struct Refs<'a, S>(core::marker::PhantomData<&'a S>);

impl<'a, S: Space> PerElement for Refs<'a, S> {
    type Of<T: bytemuck::Pod> = S::Ref<'a, T>;
}

/// The references to output matrices in a space.
struct Muts<'a, S>(core::marker::PhantomData<&'a S>);

impl<'a, S: Space> PerElement for Muts<'a, S> {
    type Of<T: bytemuck::Pod> = S::Mut<'a, T>;
}

/// Both slice types.
macro_rules! any {
    ($($Kind:ident)*) => {
        any!(@slice AnySlice Slice Refs Ref Readable length shorter $($Kind)*);
        any!(@slice AnySliceMut SliceMut Muts Mut Writable length_mut shorter_mut $($Kind)*);

        impl<S: Space> Copy for Slice<'_, S> {}

        impl<S: Space> Clone for Slice<'_, S> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl MatrixElements for Any {
            type Ref<'a, S: Space> = AnySlice<'a, S>;
            type Mut<'a, S: Space> = AnySliceMut<'a, S>;

            fn elements<S: Space>(matrix: &AnySlice<'_, S>) -> Elements {
                Elements::with_kind(matrix.length(), matrix.kind())
            }

            fn elements_mut<S: Space>(matrix: &AnySliceMut<'_, S>) -> Elements {
                Elements::with_kind(matrix.length(), matrix.kind())
            }

            fn queue<S: Space>(d: &AnySliceMut<'_, S>) -> S::Queue {
                match &d.0 {
                    $(SliceMut::Elements(AnyOf::$Kind(matrix)) => S::queue(matrix),)*
                    SliceMut::Bytes(_, bytes) => S::queue(bytes),
                }
            }

            fn read<'a: 'q, 'q, S: Space>(matrix: AnySlice<'a, S>, queue: &'q S::Queue) -> S::Read<'q> {
                match matrix.0 {
                    $(Slice::Elements(AnyOf::$Kind(matrix)) => S::read(ElementKind::$Kind, matrix, queue),)*
                    Slice::Bytes(kind, bytes) => S::read(kind, bytes, queue),
                }
            }

            fn write<'a: 'q, 'q, S: Space>(matrix: AnySliceMut<'a, S>, queue: &'q S::Queue) -> S::Write<'q> {
                match matrix.0 {
                    $(SliceMut::Elements(AnyOf::$Kind(matrix)) => S::write(ElementKind::$Kind, matrix, queue),)*
                    SliceMut::Bytes(kind, bytes) => S::write(kind, bytes, queue),
                }
            }
        }
    };
    (@slice $Slice:ident $Kinds:ident $Refs:ident $Ref:ident $Memory:ident $length:ident $shorter:ident $($Kind:ident)*) => {
        enum $Kinds<'a, S: Space> {
            Elements(AnyOf<$Refs<'a, S>>),
            Bytes(ElementKind, S::$Ref<'a, u8>),
        }

        impl<'a, S: Space> $Slice<'a, S> {
            /// Creates a slice from bytes and an element type. Bytes after the last whole element
            /// are ignored. The address of the bytes must be aligned to the element size.
            pub fn from_bytes(kind: ElementKind, bytes: impl $Memory<'a, u8, In = S>) -> Self {
                Self($Kinds::Bytes(kind, bytes.view()))
            }

            /// Creates a slice from elements of the type `E`.
            pub fn new<E: MathType>(elements: impl $Memory<'a, E::Storage, In = S>) -> Self {
                Self::from_matrix::<E>(elements.view())
            }

            /// Creates a slice from a matrix with elements of the type `E`.
            pub(super) fn from_matrix<E: MathType>(matrix: S::$Ref<'a, E::Storage>) -> Self {
                Self($Kinds::Elements(E::any_of(matrix)))
            }

            /// Returns the slice with a shorter lifetime.
            pub(super) fn shorter<'s>(self) -> $Slice<'s, S>
            where
                'a: 's,
            {
                $Slice(match self.0 {
                    $($Kinds::Elements(AnyOf::$Kind(matrix)) => $Kinds::Elements(AnyOf::$Kind(S::$shorter(matrix))),)*
                    $Kinds::Bytes(kind, bytes) => $Kinds::Bytes(kind, S::$shorter(bytes)),
                })
            }

            /// Returns the number of elements.
            pub fn length(&self) -> usize {
                match &self.0 {
                    $($Kinds::Elements(AnyOf::$Kind(matrix)) => S::$length(matrix),)*
                    $Kinds::Bytes(kind, bytes) => kind.matrix_elements(S::$length(bytes) as u64) as usize,
                }
            }

            /// Returns the element type.
            pub fn kind(&self) -> ElementKind {
                match &self.0 {
                    $Kinds::Elements(matrix) => matrix.kind(),
                    $Kinds::Bytes(kind, _) => *kind,
                }
            }
        }
    };
}

any! { F64 F32 Tf32 F16 Bf16 E4m3 E5m2 I8 U8 I32 }
