//! Memory spaces: the host, and devices. All arguments of a call have one space as a type
//! parameter, so code that mixes two spaces does not compile.

use super::{Any, AnySlice, AnySliceMut, EpilogueMemory, OperandView};
use crate::{
    Error,
    numeric::{Element, ElementKind, MathType},
    operand::{Elements, HostSlice, HostSliceMut, Memory},
    refusal::Refusal,
};
use bytemuck::Pod;

/// Seals [`Space`], and with it [`Executor`](crate::device::Executor).
pub(crate) mod sealed {
    /// A memory space of this crate.
    pub trait Sealed {}
}

/// Memory space of operands. Calls and passes run in the space of their operands.
///
/// This trait is sealed: other crates cannot implement it.
pub trait Space: sealed::Sealed + Sized + 'static {
    /// Input matrix with elements of type `T`.
    type Ref<'a, T: Pod>: Copy;
    /// Output matrix with elements of type `T`.
    type Mut<'a, T: Pod>;
    /// Input elements with the element type as a value.
    type Read<'a>: Memory;
    /// Output elements with the element type as a value.
    type Write<'a>: Memory;
    /// Queue that orders the work of a call: `()` on the host, a stream on a device.
    type Queue: 'static;
    /// Memory that a matrix owns.
    type Owned<T: Element>;

    /// Returns the matrix with a shorter lifetime. The compiler does not shorten the lifetime of an
    /// associated type.
    fn shorter<'a, 'b: 'a, T: Pod>(matrix: Self::Ref<'b, T>) -> Self::Ref<'a, T>;
    /// Returns the output matrix with a shorter lifetime.
    fn shorter_mut<'a, 'b: 'a, T: Pod>(matrix: Self::Mut<'b, T>) -> Self::Mut<'a, T>;
    /// Returns the number of elements from the first element of the matrix on.
    fn length<T: Pod>(matrix: &Self::Ref<'_, T>) -> usize;
    /// Returns the number of elements of an output matrix.
    fn length_mut<T: Pod>(matrix: &Self::Mut<'_, T>) -> usize;
    /// Returns the queue of a call that writes this matrix.
    fn queue<T: Pod>(d: &Self::Mut<'_, T>) -> Self::Queue;
    /// Returns the queue of the memory of an input matrix.
    fn queue_of_input<T: Pod>(matrix: &Self::Ref<'_, T>) -> Self::Queue;
    /// Allocates zeros for work in a queue.
    ///
    /// # Errors
    /// [`Error::Refused`] or [`Error::Driver`] if the memory cannot be allocated.
    fn zeros<T: Element>(queue: &Self::Queue, length: usize) -> Result<Self::Owned<T>, Error>;
    /// Returns owned memory as an input matrix.
    fn owned<T: Element>(memory: &Self::Owned<T>) -> Self::Ref<'_, T>;
    /// Returns owned memory as an output matrix.
    fn owned_mut<T: Element>(memory: &mut Self::Owned<T>) -> Self::Mut<'_, T>;
    /// Prepares input elements of a type for work in a queue.
    fn read<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: Self::Ref<'a, T>,
        queue: &'q Self::Queue,
    ) -> Self::Read<'q>;
    /// Prepares host numbers that work in a queue receives by value.
    fn by_value<'a: 'q, 'q>(offsets: &'a [u32], queue: &'q Self::Queue) -> Self::Read<'q>;
    /// Prepares output elements of a type for work in a queue.
    fn write<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: Self::Mut<'a, T>,
        queue: &'q Self::Queue,
    ) -> Self::Write<'q>;
    /// Returns output elements as an operand of the epilogue that a call writes.
    fn shared<'q: 'q>(output: Self::Write<'q>) -> Self::Read<'q>;
}

/// Host memory. Operands are slices.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl sealed::Sealed for Host {}

impl Space for Host {
    type Ref<'a, T: Pod> = &'a [T];
    type Mut<'a, T: Pod> = &'a mut [T];
    type Read<'a> = HostSlice<'a>;
    type Write<'a> = HostSliceMut<'a>;
    type Queue = ();
    type Owned<T: Element> = Vec<T>;

    fn shorter<'a, 'b: 'a, T: Pod>(matrix: &'b [T]) -> &'a [T] {
        matrix
    }

    fn shorter_mut<'a, 'b: 'a, T: Pod>(matrix: &'b mut [T]) -> &'a mut [T] {
        matrix
    }

    fn length<T: Pod>(matrix: &&[T]) -> usize {
        matrix.len()
    }

    fn length_mut<T: Pod>(matrix: &&mut [T]) -> usize {
        matrix.len()
    }

    fn queue<T: Pod>(_: &&mut [T]) {}

    fn queue_of_input<T: Pod>(_: &&[T]) {}

    fn zeros<T: Element>((): &(), length: usize) -> Result<Vec<T>, Error> {
        let refusal = Refusal::matrix_too_large([length, 1], T::KIND);
        let elements = bytemuck::allocation::try_zeroed_slice_box(length);
        Ok(elements.map_err(|()| refusal)?.into_vec())
    }

    fn owned<T: Element>(memory: &Vec<T>) -> &[T] {
        memory
    }

    fn owned_mut<T: Element>(memory: &mut Vec<T>) -> &mut [T] {
        memory
    }

    fn read<'a: 'q, 'q, T: Pod>(kind: ElementKind, matrix: &'a [T], (): &'q ()) -> HostSlice<'q> {
        HostSlice::from_bytes(kind, bytemuck::cast_slice(matrix))
    }

    fn by_value<'a: 'q, 'q>(offsets: &'a [u32], (): &'q ()) -> HostSlice<'q> {
        HostSlice::from_bytes(ElementKind::I32, bytemuck::cast_slice(offsets))
    }

    fn write<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: &'a mut [T],
        (): &'q (),
    ) -> HostSliceMut<'q> {
        HostSliceMut::from_bytes(kind, bytemuck::cast_slice_mut(matrix))
    }

    fn shared<'q: 'q>(output: HostSliceMut<'q>) -> HostSlice<'q> {
        output.into_shared()
    }
}

/// Element type of a matrix: a Rust type, [`Any`](crate::device::Any) if the type is a value, or
/// [`Identity`](crate::device::Identity) for a B without memory.
pub trait MatrixElements: 'static {
    /// Input matrix in a space.
    type Ref<'a, S: Space>: Copy;
    /// Output matrix in a space.
    type Mut<'a, S: Space>;

    /// Returns the number and the type of the elements of an input matrix.
    fn elements<S: Space>(matrix: &Self::Ref<'_, S>) -> Elements;
    /// Returns the number and the type of the elements of an output matrix.
    fn elements_mut<S: Space>(matrix: &Self::Mut<'_, S>) -> Elements;
    /// Returns the queue of a call that writes this matrix.
    fn queue<S: Space>(d: &Self::Mut<'_, S>) -> S::Queue;
    /// Prepares the input elements for work in a queue.
    fn read<'a: 'q, 'q, S: Space>(matrix: Self::Ref<'a, S>, queue: &'q S::Queue) -> S::Read<'q>;
    /// Prepares the output elements for work in a queue.
    fn write<'a: 'q, 'q, S: Space>(matrix: Self::Mut<'a, S>, queue: &'q S::Queue) -> S::Write<'q>;
}

impl<E: MathType> MatrixElements for E {
    type Ref<'a, S: Space> = S::Ref<'a, E::Storage>;
    type Mut<'a, S: Space> = S::Mut<'a, E::Storage>;

    fn elements<S: Space>(matrix: &S::Ref<'_, E::Storage>) -> Elements {
        Elements::with_kind(S::length(matrix), E::KIND)
    }

    fn elements_mut<S: Space>(matrix: &S::Mut<'_, E::Storage>) -> Elements {
        Elements::with_kind(S::length_mut(matrix), E::KIND)
    }

    fn queue<S: Space>(d: &S::Mut<'_, E::Storage>) -> S::Queue {
        S::queue(d)
    }

    fn read<'a: 'q, 'q, S: Space>(
        matrix: S::Ref<'a, E::Storage>,
        queue: &'q S::Queue,
    ) -> S::Read<'q> {
        S::read(E::KIND, matrix, queue)
    }

    fn write<'a: 'q, 'q, S: Space>(
        matrix: S::Mut<'a, E::Storage>,
        queue: &'q S::Queue,
    ) -> S::Write<'q> {
        S::write(E::KIND, matrix, queue)
    }
}

/// Memory that can be an input matrix of `T`.
pub trait Readable<'a, T: Pod> {
    /// Memory space.
    type In: Space;
    /// Returns the memory as an input matrix.
    fn view(self) -> <Self::In as Space>::Ref<'a, T>;
}

/// Memory that can be an output matrix of `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as a matrix of `{T}`",
    note = "results are &mut [T], &mut Vec<T> and &mut [T; N] on the host; &mut CudaSlice<T> and &mut CudaViewMut<T> on a device"
)]
pub trait Writable<'a, T: Pod> {
    /// Memory space.
    type In: Space;
    /// Returns the memory as an output matrix.
    fn view(self) -> <Self::In as Space>::Mut<'a, T>;
}

/// Declares one trait per operand: memory in the space `S` with elements of `E`. Separate traits
/// let compiler messages name the operand.
macro_rules! operands {
    ($($Memory:ident as $view:ident of $Any:ident, $forms:literal { $($(#[doc = $doc:literal])* $Operand:ident, $cannot:literal;)* })*) => {
        $($($(#[doc = $doc])*
        #[diagnostic::on_unimplemented(
            message = $cannot,
            label = "must hold elements of `{E}`, in the same memory as the other operands",
            note = $forms
        )]
        pub trait $Operand<'a, E: MatrixElements, S: Space> {
            /// Returns the operand in the user's frame.
            fn placed(self) -> OperandView<E::$view<'a, S>>;
        }

        // Without the attribute, messages of the compiler mention `Readable`, `Writable`, or `Any`
        // instead of the operand.
        #[diagnostic::do_not_recommend]
        impl<'a, 'b: 'a, S: Space> $Operand<'a, Any, S> for $Any<'b, S> {
            fn placed(self) -> OperandView<$Any<'a, S>> {
                OperandView::new(self.shorter(), None)
            }
        })*)*
    };
}

operands! {
    Readable as Ref of AnySlice, "an input is a MatRef; or &[T], &Vec<T>, or &[T; N] on the host; or &CudaSlice<T>, &CudaView<T>, or &CudaViewMut<T> on a device" {
        /// Memory that can be the operand A of a call.
        OperandA, "A cannot be `{Self}`";
        /// Memory that can be the operand B of a call.
        OperandB, "B cannot be `{Self}`";
        /// Memory that can be the operand C of a call.
        OperandC, "C cannot be `{Self}`";
    }
    Writable as Mut of AnySliceMut, "an output is a MatMut; or &mut [T], &mut Vec<T>, or &mut [T; N] on the host; or &mut CudaSlice<T> or &mut CudaViewMut<T> on a device" {
        /// Memory that can be the operand D of a call.
        OperandD, "D cannot be `{Self}`";
    }
}

/// Memory that can be an operand of the epilogue, with elements of any type.
#[diagnostic::on_unimplemented(
    message = "an operand of the epilogue cannot be `{Self}`",
    label = "must hold elements of an element type, in the same memory as the other operands",
    note = "an input is a MatRef; or &[T], &Vec<T>, or &[T; N] on the host; or &CudaSlice<T>, &CudaView<T>, or &CudaViewMut<T> on a device"
)]
pub trait EpilogueInput<'a, S: Space> {
    /// Returns the operand in the user's frame.
    fn placed(self) -> OperandView<EpilogueMemory<'a, S>>;
}

/// Memory that can be a result of the epilogue beside D, with elements of any type.
#[diagnostic::on_unimplemented(
    message = "a result of the epilogue cannot be `{Self}`",
    label = "must hold elements of an element type, in the same memory as the other operands",
    note = "an output is a MatMut; or &mut [T], &mut Vec<T>, or &mut [T; N] on the host; or &mut CudaSlice<T> or &mut CudaViewMut<T> on a device"
)]
pub trait EpilogueOutput<'a, S: Space> {
    /// Returns the operand in the user's frame.
    fn placed(self) -> OperandView<EpilogueMemory<'a, S>>;
}

#[diagnostic::do_not_recommend]
impl<'a, 'b: 'a, S: Space> EpilogueInput<'a, S> for AnySlice<'b, S> {
    fn placed(self) -> OperandView<EpilogueMemory<'a, S>> {
        OperandView::new(EpilogueMemory::Read(self.shorter()), None)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, 'b: 'a, S: Space> EpilogueOutput<'a, S> for AnySliceMut<'b, S> {
    fn placed(self) -> OperandView<EpilogueMemory<'a, S>> {
        OperandView::new(EpilogueMemory::Written(Some(self.shorter())), None)
    }
}

/// Implements the operand traits for memory of a space. `$view` converts the memory to the
/// reference type of the space.
macro_rules! operand_memory {
    (@operand $Operand:ident, $S:ty, $Ref:ident, [$($N:ident)?], $M:ty) => {
        #[diagnostic::do_not_recommend]
        impl<'a, T: bytemuck::Pod, E: $crate::numeric::MathType<Storage = T> $(, const $N: usize)?>
            $crate::device::$Operand<'a, E, $S> for $M
        {
            fn placed(self) -> $crate::device::OperandView<<$S as $crate::device::Space>::$Ref<'a, T>> {
                $crate::device::OperandView::new(self.view(), None)
            }
        }
    };
    ($S:ty, Ref, |$x:ident| $view:expr, $($(const $N:ident,)? $M:ty;)*) => {
        $(impl<'a, T: bytemuck::Pod $(, const $N: usize)?> $crate::device::Readable<'a, T> for $M {
            type In = $S;
            fn view(self) -> <$S as $crate::device::Space>::Ref<'a, T> {
                let $x = self;
                $view
            }
        }
        operand_memory!(@operand OperandA, $S, Ref, [$($N)?], $M);
        operand_memory!(@operand OperandB, $S, Ref, [$($N)?], $M);
        operand_memory!(@operand OperandC, $S, Ref, [$($N)?], $M);

        #[diagnostic::do_not_recommend]
        impl<'a, T: $crate::numeric::Element $(, const $N: usize)?> $crate::device::EpilogueInput<'a, $S> for $M {
            fn placed(self) -> $crate::device::OperandView<$crate::device::EpilogueMemory<'a, $S>> {
                let memory = $crate::device::AnySlice::new::<T>(self);
                $crate::device::OperandView::new($crate::device::EpilogueMemory::Read(memory), None)
            }
        })*
    };
    ($S:ty, Mut, |$x:ident| $view:expr, $($(const $N:ident,)? $M:ty;)*) => {
        $(impl<'a, T: bytemuck::Pod $(, const $N: usize)?> $crate::device::Writable<'a, T> for $M {
            type In = $S;
            fn view(self) -> <$S as $crate::device::Space>::Mut<'a, T> {
                let $x = self;
                $view
            }
        }
        operand_memory!(@operand OperandD, $S, Mut, [$($N)?], $M);

        #[diagnostic::do_not_recommend]
        impl<'a, T: $crate::numeric::Element $(, const $N: usize)?> $crate::device::EpilogueOutput<'a, $S> for $M {
            fn placed(self) -> $crate::device::OperandView<$crate::device::EpilogueMemory<'a, $S>> {
                let memory = $crate::device::AnySliceMut::new::<T>(self);
                $crate::device::OperandView::new($crate::device::EpilogueMemory::Written(Some(memory)), None)
            }
        })*
    };
}
#[cfg(feature = "cuda")]
pub(crate) use operand_memory;

operand_memory! { Host, Ref, |memory| memory, &'a [T]; &'a Vec<T>; const N, &'a [T; N]; }
operand_memory! { Host, Mut, |memory| memory, &'a mut [T]; &'a mut Vec<T>; const N, &'a mut [T; N]; }
