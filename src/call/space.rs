//! Where operands live: in host memory or on a device. Arguments are of one space, so mixing the
//! two does not compile.

use super::{
    Any, AnySlice, AnySliceMut, Call, Elements, Matrices, Memory, OperandView, View, view::memory,
};
use crate::{
    error::Error,
    numeric::{Element, ElementKind, MathType},
    refusal::{Field, Operand, Refusal, rules::within},
};
use bytemuck::Pod;
use core::ops::Range;

/// A place for operands, where they are multiplied and transposed.
pub trait Space: Sized + 'static {
    /// A matrix that is read.
    type Ref<'a, T: Pod>: Copy;
    /// A matrix that is written.
    type Mut<'a, T: Pod>;
    /// Elements that are read, of a type that is a value.
    type Read<'a>: Memory;
    /// Elements that are written.
    type Write<'a>: Memory;
    /// What orders a call's work: nothing on the host, a stream on a device.
    type Queue: 'static;
    /// Memory that a matrix owns.
    type Owned<T: Element>;

    /// The same matrix for less long: an associated type does not shorten by itself.
    fn shorter<'a, 'b: 'a, T: Pod>(matrix: Self::Ref<'b, T>) -> Self::Ref<'a, T>;
    /// The same of a matrix that is written.
    fn shorter_mut<'a, 'b: 'a, T: Pod>(matrix: Self::Mut<'b, T>) -> Self::Mut<'a, T>;
    /// Number of elements that are there, from the first of the matrix on.
    fn length<T: Pod>(matrix: &Self::Ref<'_, T>) -> usize;
    /// The same of a matrix that is written.
    fn length_mut<T: Pod>(matrix: &Self::Mut<'_, T>) -> usize;
    /// What orders the work of a call that writes this matrix.
    fn queue<T: Pod>(d: &Self::Mut<'_, T>) -> Self::Queue;
    /// The queue of the memory of a matrix that is read.
    fn queue_of_input<T: Pod>(matrix: &Self::Ref<'_, T>) -> Self::Queue;
    /// Allocates zeros for work in a queue.
    ///
    /// # Errors
    /// [`Error::Refused`] or [`Error::Driver`] if the memory cannot be allocated.
    fn zeros<T: Element>(queue: &Self::Queue, length: usize) -> Result<Self::Owned<T>, Error>;
    /// Owned memory as a matrix that is read.
    fn owned<T: Element>(memory: &Self::Owned<T>) -> Self::Ref<'_, T>;
    /// Owned memory as a matrix that is written.
    fn owned_mut<T: Element>(memory: &mut Self::Owned<T>) -> Self::Mut<'_, T>;
    /// Elements of a kind, to be read by work in a queue: their values, or their bytes.
    fn read<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: Self::Ref<'a, T>,
        queue: &'q Self::Queue,
    ) -> Self::Read<'q>;
    /// Numbers of the host that work in a queue takes by value.
    fn by_value<'a: 'q, 'q>(offsets: &'a [u32], queue: &'q Self::Queue) -> Self::Read<'q>;
    /// Elements of a kind, to be written by work in a queue.
    fn write<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: Self::Mut<'a, T>,
        queue: &'q Self::Queue,
    ) -> Self::Write<'q>;
}

/// Host memory: slices.
#[derive(Clone, Copy, Debug)]
pub struct Host;

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
        let refusal = Refusal::MatrixTooLarge { extents: [length, 1], element: T::KIND };
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
        HostSlice { kind, bytes: bytemuck::cast_slice(matrix) }
    }

    fn by_value<'a: 'q, 'q>(offsets: &'a [u32], (): &'q ()) -> HostSlice<'q> {
        HostSlice { kind: ElementKind::I32, bytes: bytemuck::cast_slice(offsets) }
    }

    fn write<'a: 'q, 'q, T: Pod>(
        kind: ElementKind,
        matrix: &'a mut [T],
        (): &'q (),
    ) -> HostSliceMut<'q> {
        HostSliceMut { kind, bytes: bytemuck::cast_slice_mut(matrix) }
    }
}

/// What a matrix holds: elements of a type, or of one that is a value, [`Any`](super::Any).
pub trait MatrixElements: 'static {
    /// A matrix that is read, in a space.
    type Ref<'a, S: Space>: Copy;
    /// A matrix that is written.
    type Mut<'a, S: Space>;

    /// Number of elements that are there.
    fn length<S: Space>(matrix: &Self::Ref<'_, S>) -> usize;
    /// The same of a matrix that is written.
    fn length_mut<S: Space>(matrix: &Self::Mut<'_, S>) -> usize;
    /// The type of the elements.
    fn kind<S: Space>(matrix: &Self::Ref<'_, S>) -> ElementKind;
    /// The same of a matrix that is written.
    fn kind_mut<S: Space>(matrix: &Self::Mut<'_, S>) -> ElementKind;
    /// Number and type of the elements of a matrix that is read.
    fn elements<S: Space>(matrix: &Self::Ref<'_, S>) -> Elements {
        Elements::of_kind(Self::length(matrix), Self::kind(matrix))
    }
    /// Number and type of the elements of a matrix that is written.
    fn elements_mut<S: Space>(matrix: &Self::Mut<'_, S>) -> Elements {
        Elements::of_kind(Self::length_mut(matrix), Self::kind_mut(matrix))
    }
    /// What orders the work of a call that writes this matrix.
    fn queue<S: Space>(d: &Self::Mut<'_, S>) -> S::Queue;
    /// The elements, to be read by work in a queue.
    fn read<'a: 'q, 'q, S: Space>(matrix: Self::Ref<'a, S>, queue: &'q S::Queue) -> S::Read<'q>;
    /// The elements, to be written by work in a queue.
    fn write<'a: 'q, 'q, S: Space>(matrix: Self::Mut<'a, S>, queue: &'q S::Queue) -> S::Write<'q>;
}

impl<E: MathType> MatrixElements for E {
    type Ref<'a, S: Space> = S::Ref<'a, E::Storage>;
    type Mut<'a, S: Space> = S::Mut<'a, E::Storage>;

    fn length<S: Space>(matrix: &S::Ref<'_, E::Storage>) -> usize {
        S::length(matrix)
    }

    fn length_mut<S: Space>(matrix: &S::Mut<'_, E::Storage>) -> usize {
        S::length_mut(matrix)
    }

    fn kind<S: Space>(_: &S::Ref<'_, E::Storage>) -> ElementKind {
        E::KIND
    }

    fn kind_mut<S: Space>(_: &S::Mut<'_, E::Storage>) -> ElementKind {
        E::KIND
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

/// What each operand may be: memory in the space `S`, of what `E` says. Each has a trait of its
/// own, by which the compiler names it.
macro_rules! operands {
    ($($Memory:ident as $view:ident of $Any:ident, $forms:literal { $($(#[doc = $doc:literal])* $Operand:ident, $cannot:literal;)* })*) => {
        $($($(#[doc = $doc])*
        #[diagnostic::on_unimplemented(
            message = $cannot,
            label = "must hold elements of `{E}`, in the same memory as the other operands",
            note = $forms
        )]
        pub trait $Operand<'a, E: MatrixElements, S: Space> {
            /// The operand in the user's frame.
            fn placed(self) -> OperandView<E::$view<'a, S>>;
        }

        // Else the compiler speaks of what is read or written, whichever operand that is, or of
        // what a type that is a value takes.
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
        /// A.
        OperandA, "A cannot be `{Self}`";
        /// B.
        OperandB, "B cannot be `{Self}`";
        /// C.
        OperandC, "C cannot be `{Self}`";
        /// A vector of the epilogue.
        OperandVector, "a vector of the epilogue cannot be `{Self}`";
    }
    Writable as Mut of AnySliceMut, "an output is a MatMut; or &mut [T], &mut Vec<T>, or &mut [T; N] on the host; or &mut CudaSlice<T> or &mut CudaViewMut<T> on a device" {
        /// D.
        OperandD, "D cannot be `{Self}`";
    }
}

/// Gives memory of a space the traits of its operands. `$view` makes the space's own reference.
macro_rules! operand_memory {
    (@operand $Operand:ident, $S:ty, $Ref:ident, [$($N:ident)?], $M:ty) => {
        #[diagnostic::do_not_recommend]
        impl<'a, T: bytemuck::Pod, E: $crate::numeric::MathType<Storage = T> $(, const $N: usize)?>
            $crate::call::$Operand<'a, E, $S> for $M
        {
            fn placed(self) -> $crate::call::OperandView<<$S as $crate::call::Space>::$Ref<'a, T>> {
                $crate::call::OperandView::new(self.view(), None)
            }
        }
    };
    ($S:ty, Ref, |$x:ident| $view:expr, $($(const $N:ident,)? $M:ty;)*) => {
        $(impl<'a, T: bytemuck::Pod $(, const $N: usize)?> $crate::call::Readable<'a, T> for $M {
            type In = $S;
            fn view(self) -> <$S as $crate::call::Space>::Ref<'a, T> {
                let $x = self;
                $view
            }
        }
        operand_memory!(@operand OperandA, $S, Ref, [$($N)?], $M);
        operand_memory!(@operand OperandB, $S, Ref, [$($N)?], $M);
        operand_memory!(@operand OperandC, $S, Ref, [$($N)?], $M);
        operand_memory!(@operand OperandVector, $S, Ref, [$($N)?], $M);)*
    };
    ($S:ty, Mut, |$x:ident| $view:expr, $($(const $N:ident,)? $M:ty;)*) => {
        $(impl<'a, T: bytemuck::Pod $(, const $N: usize)?> $crate::call::Writable<'a, T> for $M {
            type In = $S;
            fn view(self) -> <$S as $crate::call::Space>::Mut<'a, T> {
                let $x = self;
                $view
            }
        }
        operand_memory!(@operand OperandD, $S, Mut, [$($N)?], $M);)*
    };
}
#[cfg(feature = "cuda")]
pub(crate) use operand_memory;

operand_memory! { Host, Ref, |memory| memory, &'a [T]; &'a Vec<T>; const N, &'a [T; N]; }
operand_memory! { Host, Mut, |memory| memory, &'a mut [T]; &'a mut Vec<T>; const N, &'a mut [T; N]; }

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
            pub fn new<E: MathType>(elements: &'a $($mutable)? [E::Storage]) -> Self {
                Self { kind: E::KIND, bytes: bytemuck::$cast(elements) }
            }

            /// Elements of a kind, by their bytes.
            pub(crate) fn of_bytes(kind: ElementKind, bytes: &'a $($mutable)? [u8]) -> Self {
                Self { kind, bytes }
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

            /// The elements from one of them on.
            fn skip(self, elements: usize) -> Self {
                let first = self.kind.matrix_bytes(elements as u64) as usize;
                let bytes = self.bytes.$get(first..).unwrap_or_default();
                Self { bytes, ..self }
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
            pub fn of<E: MathType>(self) -> Result<&'a $($mutable)? [E::Storage], Error> {
                let wrong = Refusal::ElementType { operand: Operand::Tensor, given: self.kind, wanted: E::KIND };
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

/// From element `at` of a matrix of a batch on; of one that is not read, whose distances nobody has
/// checked, no element where that is beyond it.
fn read<'b>(view: &View<HostSlice<'b>>, number: usize, at: (usize, usize)) -> View<HostSlice<'b>> {
    let (HostSlice { kind, bytes }, [down, across]) = (view.memory, view.strides);
    let element = at.0.saturating_mul(down).saturating_add(at.1.saturating_mul(across));
    let first = view.first_byte(kind, number).saturating_add(kind.matrix_bytes(element as u64));
    view.with(HostSlice { kind, bytes: bytes.get(first as usize..).unwrap_or_default() })
}

impl<'a> HostCall<'a> {
    /// A and B of one product of a batch that has been checked, for as long as they may be read.
    pub(crate) fn factors(&self, number: usize) -> [HostSlice<'a>; 2] {
        [&self.a, &self.b].map(|view| read(view, number, (0, 0)).memory)
    }
}

impl HostCall<'_> {
    /// The products of a batch whose Ds lie one behind another, as the calls of an array of the
    /// same matrices; none where Ds have no element.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] for no product, or too many.
    pub fn each(self) -> Result<Vec<Self>, Refusal> {
        within(Field::Products, self.batch as u64, 1, i32::MAX as u64)?;
        let Self { m, n, k, batch, ref a, ref b, ref c, vectors, scalars, .. } = self;
        let (d, mut calls) = (self.d.with(()), Vec::new());
        let HostSliceMut { kind, mut bytes } = self.d.memory;
        for number in 0..if m == 0 || n == 0 { 0 } else { batch } {
            let apart = if number + 1 == batch {
                bytes.len()
            } else {
                (d.first_byte(kind, 1) as usize).min(bytes.len())
            };
            let (own, behind) = core::mem::take(&mut bytes).split_at_mut(apart);
            bytes = behind;
            let (a, b) = (read(a, number, (0, 0)), read(b, number, (0, 0)));
            let (c, d) = (
                c.as_ref().map(|c| read(c, number, (0, 0))),
                d.with(HostSliceMut { kind, bytes: own }),
            );
            calls.push(Call {
                m,
                n,
                k,
                batch: 1,
                groups: None,
                a,
                b,
                c,
                d,
                vectors,
                scalars,
                workspace: None,
            });
        }
        Ok(calls)
    }

    /// One product of a batch that has been checked; of a matrix that is not there, no element.
    pub(crate) fn product(&mut self, number: usize) -> HostCall<'_> {
        self.part(number, (0..self.m, 0..self.n))
    }

    /// The same of some rows and columns of its D.
    pub(super) fn part(
        &mut self,
        number: usize,
        (rows, columns): (Range<usize>, Range<usize>),
    ) -> HostCall<'_> {
        let (m, n, at) = (rows.len(), columns.len(), (rows.start, columns.start));
        let Self { k, scalars, .. } = *self;
        let (a, b) = (read(&self.a, number, (at.0, 0)), read(&self.b, number, (0, at.1)));
        let (c, vectors) = (
            self.c.as_ref().map(|c| read(c, number, at)),
            self.vectors.map(|_, vector| read(&vector, 0, at)),
        );
        let (kind, d) = (self.d.memory.kind, self.d.with(()));
        let first = d.first_byte(kind, number) + kind.matrix_bytes(d.offset(at.0, at.1) as u64);
        let bytes = self.d.memory.bytes.get_mut(first as usize..).unwrap_or_default();
        let d = d.with(HostSliceMut { kind, bytes });
        Call { m, n, k, batch: 1, groups: None, a, b, c, d, vectors, scalars, workspace: None }
    }
}
