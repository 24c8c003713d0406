//! What runs a description: one trait, one implementation for each space.

use crate::{
    arch::Machine,
    call::{Arguments, Elements, Host, HostCall, HostSlice, HostSliceMut, Matrices, Problem, Source, Space, TypedMemory, View},
    desc::GemmDesc,
    error::Error,
    host::{Mode, composed, execute, warp_specialized},
    layout::Orders,
    numeric::Element,
    plan::{Program, WarpSpecializedProgram},
    refusal::Refusal,
};
use bytemuck::Pod;

/// The call that arguments become in a space.
pub type CallIn<'a, S> = crate::call::Call<<S as Executor>::Read<'a>, <S as Executor>::Write<'a>>;

/// A space whose operands can be multiplied where they are.
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
    ///
    /// Those of [`Gemm::run`](super::Gemm::run).
    fn execute(desc: &GemmDesc, queue: &Self::Queue, call: CallIn<'_, Self>) -> Result<(), Error>;

    /// Bytes of the workspace that a product takes.
    ///
    /// # Errors
    ///
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
            match self.strides[which].or(self.strides[beside]) {
                Some(strides) => View { memory, strides },
                None => View::packed(memory, order, extents, self.leading[which].or(self.leading[beside])),
            }
        };
        Problem {
            m,
            n,
            k,
            a: matrix(0, S::length(&self.a), orders.a, (m, k)),
            b: matrix(1, S::length(&self.b), orders.b, (k, n)),
            c: self.c.as_ref().map(|c| matrix(2, S::length(c), orders.c, (m, n))),
            d: matrix(3, S::length_mut(&self.d), orders.c, (m, n)),
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
        let (a, b) = (S::read::<A>(self.a, queue), S::read::<B>(self.b, queue));
        let (c, d) = (self.c.map(|c| S::read::<C>(c, queue)), S::write::<C>(self.d, queue));
        let workspace = self.workspace.map(|bytes| S::write::<u8>(bytes, queue));
        CallIn::<S> { workspace, ..problem.with(Matrices { a, b, c, d }) }
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

/// Runs a description on operands in host memory: the one way, for types and for values.
///
/// # Errors
///
/// [`Error::Refused`] when the description or the call is refused, [`Error::Fault`] when the checked mode finds one.
pub fn run_on_host(desc: &GemmDesc, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
    let desc = desc.for_scalars(&call.scalars);
    // The host has every instruction and all the memory that a tag stands for.
    desc.check()?;
    // The fast mode knows no slices of D: sums are the same where A and B change places.
    let desc = if mode == Mode::Fast { desc.of_rows() } else { desc };
    in_frame_of(&desc, call, |call| match (desc.warp_specialized(), mode) {
        (Some(desc), Mode::Fast) => warp_specialized::execute_fast(&desc, call),
        (Some(desc), Mode::Checked { seed }) => warp_specialized::execute_program(&desc.program()?, seed, call),
        (None, _) => {
            let known = composed(&desc)?;
            execute(&known.program, Some(&known.composition), mode, call)
        }
    })
}

/// Runs a program whose maps, schedule or description someone has changed, to see what becomes of it.
///
/// # Errors
///
/// Those of [`run_on_host`].
pub fn run_program(program: &Program, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
    program.desc.check()?;
    in_frame_of(&program.desc, call, |call| execute(program, None, mode, call))
}

/// Runs a program of the warp-specialized family, checked; someone may have changed its ring, its maps or its numbers.
///
/// # Errors
///
/// Those of [`run_on_host`].
pub fn run_warp_specialized(program: &WarpSpecializedProgram, seed: u64, call: HostCall<'_>) -> Result<(), Error> {
    let desc = program.desc.sum();
    desc.check()?;
    in_frame_of(&desc, call, |call| warp_specialized::execute_program(program, seed, call))
}

/// Does `run` with a user's call as the kernel of a description sees it.
fn in_frame_of<'a>(
    desc: &GemmDesc,
    call: HostCall<'a>,
    run: impl FnOnce(HostCall<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    run(call.seen_by(desc)?).map_err(|error| error.framed(desc.frame))
}
