//! Slices in host memory whose element type is a value.

use crate::{
    Error,
    numeric::{ElementKind, MathType},
    operand::view::memory,
    refusal::{Operand, Refusal},
    sys::shared_bytes::SharedBytes,
};
use core::ops::Range;

/// Declares the input slice and the output slice.
macro_rules! host_slices {
    ($($(#[$meta:meta])* $Slice:ident: [$($mutable:ident)?] [$($shared:ident)?], $get:ident, $cast:ident, $try_cast:ident;)*) => {
        $($(#[$meta])*
        pub struct $Slice<'a> {
            pub(super) kind: ElementKind,
            pub(super) bytes: &'a $($mutable)? [u8],
            // Bytes of an operand that the epilogue writes. `bytes` is then empty.
            $($shared: Option<SharedBytes<'a>>,)?
        }

        impl<'a> $Slice<'a> {
            /// Creates a slice of elements of `E`.
            pub fn new<E: MathType>(elements: &'a $($mutable)? [E::Storage]) -> Self {
                Self::from_bytes(E::KIND, bytemuck::$cast(elements))
            }

            /// Creates a slice from an element type and bytes.
            pub fn from_bytes(kind: ElementKind, bytes: &'a $($mutable)? [u8]) -> Self {
                Self { kind, bytes, $($shared: None,)? }
            }

            /// Returns the number of elements.
            pub fn length(&self) -> usize {
                let bytes = self.bytes.len() $(+ self.$shared.map_or(0, |bytes| bytes.length()))?;
                self.kind.matrix_elements(bytes as u64) as usize
            }

            /// Returns the element type.
            pub fn kind(&self) -> ElementKind {
                self.kind
            }

            /// Returns a slice without elements.
            fn empty() -> Self {
                Self::from_bytes(ElementKind::U8, Default::default())
            }

            fn address(&self) -> u64 {
                $(if let Some(shared) = &self.$shared {
                    return shared.address();
                })?
                self.bytes.as_ptr() as u64
            }

            /// Returns the slice without its first `elements` elements.
            fn skip(self, elements: usize) -> Self {
                let first = self.kind.matrix_bytes(elements as u64) as usize;
                self.after_bytes(first)
            }

            /// Returns the slice without its first `first` bytes.
            pub(super) fn after_bytes(self, first: usize) -> Self {
                $(let $shared = self.$shared.map(|bytes| bytes.from(first));)?
                let bytes = self.bytes.$get(first..).unwrap_or_default();
                Self { bytes, $($shared,)? ..self }
            }

            /// Returns a range of the elements. `None` if the slice does not contain the range.
            pub fn get(self, elements: Range<usize>) -> Option<Self> {
                // `matrix_bytes` saturates, so indices beyond the address space are beyond every
                // slice.
                let byte = |element: usize| self.kind.matrix_bytes(element as u64) as usize;
                let bytes = byte(elements.start)..byte(elements.end);
                Some(Self { bytes: self.bytes.$get(bytes)?, ..self })
            }

            /// Returns the elements as a slice of `E::Storage`.
            ///
            /// # Errors
            /// [`Refusal`] if the elements have another type.
            pub fn elements<E: MathType>(self) -> Result<&'a $($mutable)? [E::Storage], Error> {
                let wrong = Refusal::element_type(Operand::Tensor, self.kind, E::KIND);
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
    HostSlice: [] [shared], get, cast_slice, try_cast_slice;
    /// A mutable slice in host memory whose element type is a value.
    #[derive(Debug)]
    HostSliceMut: [mut] [], get_mut, cast_slice_mut, try_cast_slice_mut;
}

impl<'a> HostSlice<'a> {
    /// Returns the bytes of the elements.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Creates a slice whose elements the threads of a call write.
    pub(crate) fn shared(kind: ElementKind, bytes: SharedBytes<'a>) -> Self {
        Self { shared: Some(bytes), ..Self::from_bytes(kind, &[]) }
    }

    /// Returns whether the elements are a result that threads write.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns the bytes that threads write, or no bytes for an input.
    pub fn shared_bytes(&self) -> SharedBytes<'a> {
        self.shared.unwrap_or(SharedBytes::empty())
    }
}

impl<'a> HostSliceMut<'a> {
    /// Returns the bytes of the elements.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Returns the bytes of the elements, mutably.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// Shares the elements among the threads of a call, as an operand that the epilogue writes.
    pub fn into_shared(self) -> HostSlice<'a> {
        HostSlice::shared(self.kind, SharedBytes::new(self.bytes))
    }

    /// Returns the bytes of the elements with the lifetime of the slice.
    pub fn into_bytes(self) -> &'a mut [u8] {
        self.bytes
    }
}
