//! What runs a description: one trait, one implementation for each space.

use crate::{
    arch::Machine,
    call::{Arguments, Elements, Host, HostCall, HostSlice, HostSliceMut, Matrices, Problem, Source, Space, TypedMemory, View},
    desc::GemmDesc,
    error::Error,
    host::{Mode, run_on_host},
    layout::Orders,
    numeric::Element,
    pass::transpose::{Choice, Combine, TransposeCall},
    refusal::Refusal,
};
use bytemuck::Pod;

/// The call that arguments become in a space.
pub type CallIn<'a, S> = crate::call::Call<<S as Executor>::Read<'a>, <S as Executor>::Write<'a>>;

/// The same of a transpose.
pub type TransposeCallIn<'a, S> = TransposeCall<<S as Executor>::Read<'a>, <S as Executor>::Write<'a>>;

/// A space whose operands can be multiplied and transposed where they are.
pub trait Executor: Space {
    /// Elements that are read, of a type that is a value.
    type Read<'a>: TypedMemory;
    /// Elements that are written.
    type Write<'a>: TypedMemory;
    /// What orders a call's work: nothing on the host, a stream on a device.
    type Queue: 'static;

    /// Number of elements that are there, from the first of the matrix on.
    fn length<T: Pod>(matrix: &Self::Ref<'_, T>) -> usize;
    /// The same of a matrix that is written.
    fn length_mut<T: Pod>(matrix: &Self::Mut<'_, T>) -> usize;
    /// What orders the work of a call that writes this matrix.
    fn queue<T: Pod>(d: &Self::Mut<'_, T>) -> Self::Queue;
    /// The elements, to be read by work in a queue.
    fn read<'a: 'q, 'q, E: Element>(matrix: Self::Ref<'a, E::Storage>, queue: &'q Self::Queue) -> Self::Read<'q>;
    /// The elements, to be written by work in a queue.
    fn write<'a: 'q, 'q, E: Element>(matrix: Self::Mut<'a, E::Storage>, queue: &'q Self::Queue) -> Self::Write<'q>;

    /// Computes a product, which the user has.
    ///
    /// # Errors
    /// Those of [`Gemm::run`](super::Gemm::run).
    fn execute(desc: &GemmDesc, queue: &Self::Queue, call: CallIn<'_, Self>) -> Result<(), Error>;

    /// Transposes, by the kernel that `choice` gives for what becomes of elements.
    ///
    /// # Errors
    /// Those of [`Transpose::run`](super::Transpose::run).
    fn transpose(choice: Choice, combine: Combine, queue: &Self::Queue, call: TransposeCallIn<'_, Self>) -> Result<(), Error>;

    /// Bytes of the workspace that a product takes.
    ///
    /// # Errors
    /// Those of [`Gemm::workspace_size`](super::Gemm::workspace_size).
    fn workspace_size<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        problem: Problem,
        arguments: &Arguments<'_, Self, A, B, C>,
    ) -> Result<u64, Refusal>;

    /// The machine that computes, where a configuration may be chosen for it.
    fn machine(queue: &Self::Queue) -> Option<Machine>;
}

impl<'a, S: Executor, A: Element, B: Element, C: Element> Arguments<'a, S, A, B, C> {
    /// The problem without its data; where nothing else was said, matrices are packed, in the orders of the types.
    pub(crate) fn problem(&self, orders: Orders) -> Problem {
        let (m, n, k) = self.extents;
        let matrix = |which: usize, length, order, extents| {
            // What is said of C is said of D where that is C.
            let beside = if which == 3 && matches!(self.c, Source::InPlace) { 2 } else { which };
            let memory = Elements::of(length);
            let view = match self.strides[which].or(self.strides[beside]) {
                Some(strides) => View { memory, strides, batch_stride: 0 }.one_behind_another(extents),
                None => View::packed(memory, order, extents, self.leading[which].or(self.leading[beside])),
            };
            self.batch_strides[which].or(self.batch_strides[beside]).map_or(view, |stride| view.batched(stride))
        };
        Problem {
            m,
            n,
            k,
            batch: self.batch,
            a: matrix(0, S::length(&self.a), orders.a, (m, k)),
            b: matrix(1, S::length(&self.b), orders.b, (k, n)),
            c: self.c.as_ref().map(|c| matrix(2, S::length(c), orders.c, (m, n))),
            d: matrix(3, S::length_mut(&self.d), orders.c, (m, n)),
            vectors: self.vectors.as_ref().map(|kind, vector| View::vector(Elements::of(S::length(vector)), kind.side())),
            scalars: self.scalars,
            workspace: None,
        }
    }

    /// The call, as the user has it.
    pub(crate) fn call<'q>(self, orders: Orders, queue: &'q S::Queue) -> CallIn<'q, S>
    where
        'a: 'q,
    {
        let problem = self.problem(orders);
        let vectors = self.vectors.map(|_, vector| S::read::<C>(vector, queue));
        let (a, b) = (S::read::<A>(self.a, queue), S::read::<B>(self.b, queue));
        let (c, d) = (self.c.map(|c| S::read::<C>(c, queue)), S::write::<C>(self.d, queue));
        let workspace = self.workspace.map(|bytes| S::write::<u8>(bytes, queue));
        CallIn::<S> { workspace, ..problem.with(Matrices { a, b, c, d, vectors }) }
    }
}

impl Executor for Host {
    type Read<'a> = HostSlice<'a>;
    type Write<'a> = HostSliceMut<'a>;
    type Queue = ();

    fn length<T: Pod>(matrix: &&[T]) -> usize {
        matrix.len()
    }

    fn length_mut<T: Pod>(matrix: &&mut [T]) -> usize {
        matrix.len()
    }

    fn queue<T: Pod>(_: &&mut [T]) {}

    fn read<'a: 'q, 'q, E: Element>(matrix: &'a [E::Storage], (): &'q ()) -> HostSlice<'q> {
        HostSlice::new::<E>(matrix)
    }

    fn write<'a: 'q, 'q, E: Element>(matrix: &'a mut [E::Storage], (): &'q ()) -> HostSliceMut<'q> {
        HostSliceMut::new::<E>(matrix)
    }

    fn execute(desc: &GemmDesc, (): &(), call: HostCall<'_>) -> Result<(), Error> {
        run_on_host(desc, Mode::Fast, call)
    }

    fn transpose(choice: Choice, combine: Combine, (): &(), call: TransposeCallIn<'_, Self>) -> Result<(), Error> {
        // Accesses of a width that the extents allow: addresses do not matter here.
        let desc = choice.desc(combine, call.d.memory.kind().bytes_of(1), &call.problem().at([0; 3]));
        run_on_host(&desc, Mode::Fast, call)
    }

    /// None: the host reads every operand where it lies.
    fn workspace_size<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        problem: Problem,
        _: &Arguments<'_, Self, A, B, C>,
    ) -> Result<u64, Refusal> {
        problem.seen_by(desc).map(|_| 0)
    }

    fn machine((): &()) -> Option<Machine> {
        None
    }
}
