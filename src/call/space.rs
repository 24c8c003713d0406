//! Where operands live: in host memory or on a device. Arguments are of one space, so mixing the two does not compile.

use super::{Call, Matrices, View, view::memory};
use crate::{
    error::Error,
    numeric::{Element, ElementKind},
    refusal::Refusal,
};
use bytemuck::Pod;
use core::ops::Range;

/// A place for operands.
pub trait Space: Sized {
    /// A matrix that is read.
    type Ref<'a, T: Pod>: Copy;
    /// A matrix that is written.
    type Mut<'a, T: Pod>;
}

/// Host memory: slices.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl Space for Host {
    type Ref<'a, T: Pod> = &'a [T];
    type Mut<'a, T: Pod> = &'a mut [T];
}

/// Something that can be read as a matrix of `T`.
pub trait Readable<'a, T: Pod> {
    /// Where it lives.
    type In: Space;
    /// Its elements.
    fn view(self) -> <Self::In as Space>::Ref<'a, T>;
}

/// Something that can be written as a matrix of `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as a matrix of `{T}`",
    note = "results are &mut [T], &mut Vec<T> and &mut [T; N] on the host; &mut CudaSlice<T> and &mut CudaViewMut<T> on a device"
)]
pub trait Writable<'a, T: Pod> {
    /// Where it lives.
    type In: Space;
    /// Its elements.
    fn view(self) -> <Self::In as Space>::Mut<'a, T>;
}

/// What each operand may be: memory in the space `S`, of the elements of `E`. Each has a trait of its own, by which the compiler names it.
macro_rules! operands {
    ($($Memory:ident as $view:ident, $forms:literal { $($(#[doc = $doc:literal])* $Operand:ident, $cannot:literal;)* })*) => {
        $($($(#[doc = $doc])*
        #[diagnostic::on_unimplemented(
            message = $cannot,
            label = "this has to be elements of `{E}`, in the same memory as the other operands",
            note = $forms
        )]
        pub trait $Operand<'a, E: Element, S: Space> {
            /// Its elements.
            fn elements(self) -> S::$view<'a, E::Storage>;
        }

        // Else the compiler speaks of what is read or written, whichever operand that is.
        #[diagnostic::do_not_recommend]
        impl<'a, E: Element, S: Space, M: $Memory<'a, E::Storage, In = S>> $Operand<'a, E, S> for M {
            fn elements(self) -> S::$view<'a, E::Storage> {
                self.view()
            }
        })*)*
    };
}

operands! {
    Readable as Ref, "what is read is &[T], &Vec<T> or &[T; N] on the host; &CudaSlice<T>, &CudaView<T> or &CudaViewMut<T> on a device" {
        /// A.
        OperandA, "A cannot be `{Self}`";
        /// B.
        OperandB, "B cannot be `{Self}`";
        /// C.
        OperandC, "C cannot be `{Self}`";
        /// A vector of the epilogue.
        OperandVector, "a vector of the epilogue cannot be `{Self}`";
    }
    Writable as Mut, "what is written is &mut [T], &mut Vec<T> or &mut [T; N] on the host; &mut CudaSlice<T> or &mut CudaViewMut<T> on a device" {
        /// D.
        OperandD, "D cannot be `{Self}`";
    }
}

macro_rules! host_operands {
    ($($(const $N:ident,)? $reference:ty, $mutable:ty;)*) => {
        $(impl<'a, T: Pod $(, const $N: usize)?> Readable<'a, T> for $reference {
            type In = Host;
            fn view(self) -> &'a [T] {
                self
            }
        }

        impl<'a, T: Pod $(, const $N: usize)?> Writable<'a, T> for $mutable {
            type In = Host;
            fn view(self) -> &'a mut [T] {
                self
            }
        })*
    };
}

host_operands! {
    &'a [T], &'a mut [T];
    &'a Vec<T>, &'a mut Vec<T>;
    const N, &'a [T; N], &'a mut [T; N];
}

/// The two slices: one that is read, and one that is written.
macro_rules! host_slices {
    ($($(#[$meta:meta])* $Slice:ident: $($mutable:ident)?, $get:ident, $cast:ident, $try_cast:ident;)*) => {
        $($(#[$meta])*
        pub struct $Slice<'a> {
            kind: ElementKind,
            bytes: &'a $($mutable)? [u8],
        }

        impl<'a> $Slice<'a> {
            /// The elements of a matrix of `E`.
            pub fn new<E: Element>(elements: &'a $($mutable)? [E::Storage]) -> Self {
                Self { kind: E::KIND, bytes: bytemuck::$cast(elements) }
            }

            /// Number of elements.
            pub fn length(&self) -> usize {
                self.kind.matrix_elements(self.bytes.len() as u64) as usize
            }

            /// The type of the elements.
            pub fn kind(&self) -> ElementKind {
                self.kind
            }

            fn address(&self) -> u64 {
                self.bytes.as_ptr() as u64
            }

            /// Some of the elements, `None` when they are not all there.
            pub fn get(self, elements: Range<usize>) -> Option<Self> {
                // Those beyond an address space are beyond every slice.
                let byte = |element: usize| self.kind.matrix_bytes(element as u64) as usize;
                let bytes = byte(elements.start)..byte(elements.end);
                Some(Self { bytes: self.bytes.$get(bytes)?, ..self })
            }

            /// The elements, as `E`.
            ///
            /// # Errors
            /// [`Refusal::ElementType`] when they are of another type.
            pub fn of<E: Element>(self) -> Result<&'a $($mutable)? [E::Storage], Error> {
                let wrong = Refusal::ElementType { given: self.kind, wanted: E::KIND };
                let elements = Some(self.bytes).filter(|_| self.kind == E::KIND).and_then(|bytes| bytemuck::$try_cast(bytes).ok());
                elements.ok_or(wrong.into())
            }
        }
        memory!($Slice<'_>);)*
    };
}

host_slices! {
    /// A slice in host memory whose element type is a value.
    #[derive(Clone, Copy, Debug)]
    HostSlice: , get, cast_slice, try_cast_slice;
    /// A mutable slice in host memory whose element type is a value.
    #[derive(Debug)]
    HostSliceMut: mut, get_mut, cast_slice_mut, try_cast_slice_mut;
}

impl<'a> HostSlice<'a> {
    /// The elements' bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> HostSliceMut<'a> {
    /// The elements' bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The elements' bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// The elements' bytes, for as long as the slice may be written.
    pub fn into_bytes(self) -> &'a mut [u8] {
        self.bytes
    }
}

/// Matrices in host memory, element types as values.
pub type HostMatrices<'a> = Matrices<HostSlice<'a>, HostSliceMut<'a>>;

/// A call on matrices in host memory.
pub type HostCall<'a> = Call<HostSlice<'a>, HostSliceMut<'a>>;

impl HostCall<'_> {
    /// One product of a batch that has been checked; of a matrix that is not there, no element.
    pub(crate) fn product(&mut self, number: usize) -> HostCall<'_> {
        fn read<'b>(view: &View<HostSlice<'b>>, number: usize) -> View<HostSlice<'b>> {
            let HostSlice { kind, bytes } = view.memory;
            view.with(HostSlice { kind, bytes: bytes.get(view.first_byte(kind, number) as usize..).unwrap_or_default() })
        }
        let Self { m, n, k, scalars, .. } = *self;
        let (a, b, c) = (read(&self.a, number), read(&self.b, number), self.c.as_ref().map(|c| read(c, number)));
        let (kind, d) = (self.d.memory.kind, self.d.with(()));
        let bytes = self.d.memory.bytes.get_mut(d.first_byte(kind, number) as usize..).unwrap_or_default();
        let d = d.with(HostSliceMut { kind, bytes });
        Call { m, n, k, batch: 1, a, b, c, d, vectors: self.vectors, scalars, workspace: None }
    }
}
