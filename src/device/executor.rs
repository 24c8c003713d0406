//! What runs a description: one trait, one implementation for each space.

use crate::{
    arch::Machine,
    call::{
        Arguments, Elements, Further, Host, HostCall, Matrices, MatrixElements, Memory, Offsets,
        Problem, Source, Space, View, WorkspaceMemory, check_read, check_types,
    },
    desc::GemmDesc,
    error::Error,
    family::ProblemSize,
    host::{Array, Mode, run_on_host},
    layout::Orders,
    numeric::{Combined, ElementKind},
    pass::transpose::{Choice, Combine, TransposeCall},
    refusal::{Operand, Refusal},
};

/// The call that arguments become in a space.
pub type CallIn<'a, S> = crate::call::Call<<S as Space>::Read<'a>, <S as Space>::Write<'a>>;

/// The same of a transpose.
pub type TransposeCallIn<'a, S> = TransposeCall<<S as Space>::Read<'a>, <S as Space>::Write<'a>>;

/// A space whose operands can be multiplied and transposed where they are.
pub trait Executor: Space {
    /// Computes a product, which the user has.
    ///
    /// # Errors
    /// Those of [`Gemm::run`](super::Gemm::run).
    fn execute(desc: &GemmDesc, queue: &Self::Queue, call: CallIn<'_, Self>) -> Result<(), Error>;

    /// Computes an array of products, which are alike but for their matrices' memory.
    ///
    /// # Errors
    /// Those of [`Gemm::run`](super::Gemm::run).
    fn execute_array(
        desc: &GemmDesc,
        queue: &Self::Queue,
        calls: Vec<CallIn<'_, Self>>,
    ) -> Result<(), Error>;

    /// Transposes, by the kernel that `choice` gives for what becomes of elements.
    ///
    /// # Errors
    /// Those of [`Transpose::run`](super::Transpose::run).
    fn transpose(
        choice: Choice,
        combine: Combine,
        queue: &Self::Queue,
        call: TransposeCallIn<'_, Self>,
    ) -> Result<(), Error>;

    /// Bytes of the workspace that a product takes, or each of an array, with A and B at their
    /// addresses.
    ///
    /// # Errors
    /// Those of [`Gemm::workspace_size`](super::Gemm::workspace_size).
    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal>;

    /// The machine that computes, where a configuration may be chosen for it.
    fn machine(queue: &Self::Queue) -> Option<Machine>;
}

impl<'a, S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// The problem without its data; where nothing else was said, matrices are packed, in the
    /// orders of the types.
    pub(crate) fn problem(&self, orders: Orders) -> Problem {
        let (m, n, k) = self.extents;
        let groups = self.groups.as_ref().map(Offsets::groups);
        let matrix = |which: usize, length, order, extents| {
            // What is said of C is said of D where that is C.
            let beside = if which == 3 && matches!(self.c, Source::InPlace) { 2 } else { which };
            let memory = Elements::of(length);
            let view = match self.strides[which].or(self.strides[beside]) {
                Some(strides) => {
                    View::strided(memory, strides, order, extents).one_behind_another(extents)
                }
                None => View::packed(
                    memory,
                    order,
                    extents,
                    self.leading[which].or(self.leading[beside]),
                ),
            };
            // Groups share all matrices but B.
            let shared = Some(0).filter(|_| groups.is_some() && which != 1);
            shared
                .or(self.batch_strides[which])
                .or(self.batch_strides[beside])
                .map_or(view, |stride| view.batched(stride))
        };
        Problem {
            m,
            n,
            k,
            batch: groups.map_or(self.batch, |groups| groups.count()),
            groups,
            a: matrix(0, A::length(&self.a), orders.a, (m, k)),
            b: matrix(1, B::length(&self.b), orders.b, (k, n)),
            c: self.c.as_ref().map(|c| matrix(2, C::length(c), orders.c, (m, n))),
            d: matrix(3, C::length_mut(&self.d), orders.c, (m, n)),
            vectors: self
                .vectors
                .as_ref()
                .map(|kind, vector| View::vector(Elements::of(C::length(vector)), kind.side())),
            scalars: self.scalars,
            workspace: None,
        }
    }

    /// What a choice among kernels reads of it, with a workspace of so many bytes: where operands
    /// may be transposed to it, it is theirs.
    pub(crate) fn size(&self, workspace: u64) -> ProblemSize {
        let (for_passes, workspace) =
            (workspace, if self.strides[..2] == [None; 2] { workspace } else { 0 });
        let leading = [0, 1].map(|which| {
            self.strides[which].map(|[rows, columns]| rows.max(columns)).or(self.leading[which])
        });
        match &self.groups {
            Some(offsets) => ProblemSize {
                leading,
                for_passes,
                ..ProblemSize::of_groups(self.extents, offsets.groups().count())
            },
            None => ProblemSize {
                extents: self.extents,
                batch: self.batch,
                workspace,
                for_passes,
                leading,
                groups: false,
            },
        }
    }

    /// Size of the workspace in bytes; one that grows has any size.
    pub(crate) fn workspace_given(&self) -> u64 {
        match &self.workspace {
            None => 0,
            Some(WorkspaceMemory::Fixed(bytes)) => S::length_mut(bytes) as u64,
            Some(WorkspaceMemory::Growing(_)) => u64::MAX,
        }
    }

    /// The arguments with a workspace of a fixed size: one that grows has what a description needs.
    ///
    /// # Errors
    /// Those of [`Executor::workspace_size`] and [`GrowingWorkspace::grow`].
    ///
    /// [`GrowingWorkspace::grow`]: crate::call::GrowingWorkspace::grow
    pub(crate) fn grown(mut self, desc: &GemmDesc, queue: &S::Queue) -> Result<Self, Error> {
        if let Some(WorkspaceMemory::Growing(_)) = &self.workspace {
            let needed = S::workspace_size(desc, &self.problems(desc.orders(), Some(queue)))?;
            if let Some(WorkspaceMemory::Growing(memory)) = self.workspace.take()
                && needed > 0
            {
                self.workspace = Some(WorkspaceMemory::Fixed(memory.grow(queue, needed)?));
            }
        }
        Ok(self)
    }

    /// What orders the call's work.
    pub(crate) fn queue(&self) -> S::Queue {
        C::queue(&self.d)
    }

    /// The problem of each product without its data, one but of an array; for work in a queue, with
    /// A and B at their addresses. Nothing is read.
    pub(crate) fn problems(&self, orders: Orders, queue: Option<&S::Queue>) -> Vec<Problem> {
        let first = self.problem(orders);
        let addresses = |a: A::Ref<'_, S>, b: B::Ref<'_, S>| {
            queue.map_or([0; 2], |queue| [A::read(a, queue).address(), B::read(b, queue).address()])
        };
        let further = self.further.iter().map(|Further { a, b, c, d }| {
            let mut problem = first.at(addresses(*a, *b));
            (problem.a.memory.length, problem.b.memory.length) = (A::length(a), B::length(b));
            problem.d.memory.length = C::length_mut(d);
            if let (Source::Matrix(view), Some(c)) = (&mut problem.c, c) {
                view.memory.length = C::length(c);
            }
            problem
        });
        core::iter::once(first.at(addresses(self.a, self.b))).chain(further).collect()
    }

    /// What a choice among kernels of a description's family reads of it, with a workspace of so
    /// many bytes.
    pub(crate) fn size_for(&self, desc: &GemmDesc, workspace: u64) -> ProblemSize {
        let size = self.size(workspace);
        if self.further.is_empty() {
            return size;
        }
        // Maps lie in any workspace, also where operands may have all of what is left.
        let array = ProblemSize { workspace, ..size }.of_array(desc, self.further.len() + 1);
        ProblemSize { workspace: array.workspace.min(size.workspace), ..array }
    }

    /// Checks that the epilogue of a description reads every argument, and that the matrices hold
    /// elements of its types. A caller of run-time types may pass others.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand or the scalar.
    pub(crate) fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        let epilogue = desc.class.output.epilogue.framed(desc.frame);
        check_read(&epilogue, &self.vectors, &self.c, &self.scalars)?;
        self.check_types(desc.user_types())
    }

    fn check_types(&self, types: Combined) -> Result<(), Refusal> {
        let pairs = [
            (Operand::A, A::kind(&self.a), types.a),
            (Operand::B, B::kind(&self.b), types.b),
            (Operand::D, C::kind_mut(&self.d), types.c),
        ];
        let c = self.c.matrix().map(|c| (Operand::C, C::kind(c), types.c));
        let vectors = self
            .vectors
            .iter()
            .map(|(kind, vector)| (Operand::Vector(kind), C::kind(vector), types.c));
        let further = self.further.iter().flat_map(|Further { a, b, c, d }| {
            let c = c.as_ref().map(|c| (Operand::C, C::kind(c), types.c));
            [
                (Operand::A, A::kind(a), types.a),
                (Operand::B, B::kind(b), types.b),
                (Operand::D, C::kind_mut(d), types.c),
            ]
            .into_iter()
            .chain(c)
        });
        check_types(pairs.into_iter().chain(c).chain(vectors).chain(further))
    }

    /// The calls of all products of an array, as the user has them: the workspace is the first
    /// one's.
    pub(crate) fn calls<'q>(mut self, orders: Orders, queue: &'q S::Queue) -> Vec<CallIn<'q, S>>
    where
        'a: 'q,
    {
        let (problem, vectors, shared) = (self.problem(orders), self.vectors, self.c);
        let further = core::mem::take(&mut self.further);
        let mut calls = Vec::with_capacity(further.len() + 1);
        calls.push(self.call(orders, queue));
        calls.extend(further.into_iter().map(|Further { a, b, c, d }| {
            let vectors = vectors.map(|_, vector| C::read(vector, queue));
            let (a, b) = (A::read(a, queue), B::read(b, queue));
            let (c, d) =
                (shared.map(|shared| C::read(c.unwrap_or(shared), queue)), C::write(d, queue));
            problem.with(Matrices { a, b, c, d, vectors })
        }));
        calls
    }

    /// The call, as the user has it.
    pub(crate) fn call<'q>(self, orders: Orders, queue: &'q S::Queue) -> CallIn<'q, S>
    where
        'a: 'q,
    {
        let problem = self.problem(orders);
        let vectors = self.vectors.map(|_, vector| C::read(vector, queue));
        let (a, b) = (A::read(self.a, queue), B::read(self.b, queue));
        let (c, d) = (self.c.map(|c| C::read(c, queue)), C::write(self.d, queue));
        let workspace = match self.workspace {
            Some(WorkspaceMemory::Fixed(bytes)) => Some(S::write(ElementKind::U8, bytes, queue)),
            _ => None,
        };
        let offsets = self.groups.map(|offsets| offsets.read(queue));
        let groups = problem.groups.zip(offsets).map(|(groups, offsets)| groups.with(offsets));
        CallIn::<S> { workspace, groups, ..problem.with(Matrices { a, b, c, d, vectors }) }
    }
}

impl Executor for Host {
    fn execute(desc: &GemmDesc, (): &(), call: HostCall<'_>) -> Result<(), Error> {
        run_on_host(desc, Mode::Fast, call)
    }

    fn execute_array(desc: &GemmDesc, (): &(), calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        run_on_host(&Array(desc), Mode::Fast, calls)
    }

    fn transpose(
        choice: Choice,
        combine: Combine,
        (): &(),
        call: TransposeCallIn<'_, Self>,
    ) -> Result<(), Error> {
        // Accesses of a width that the extents allow: addresses do not matter here.
        let desc =
            choice.desc(combine, call.d.memory.kind().bytes_of(1), &call.problem().at([0; 3]));
        run_on_host(&desc, Mode::Fast, call)
    }

    /// None: the host reads every operand where it lies.
    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal> {
        problems.iter().try_for_each(|problem| problem.seen_by(desc).map(drop)).map(|()| 0)
    }

    fn machine((): &()) -> Option<Machine> {
        None
    }
}
