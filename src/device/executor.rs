//! The executor trait, with one implementation per memory space.

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

/// A GEMM call with operands in the memory space `S`.
pub type CallIn<'a, S> = crate::call::Call<<S as Space>::Read<'a>, <S as Space>::Write<'a>>;

/// A transpose call with operands in the memory space `S`.
pub type TransposeCallIn<'a, S> = TransposeCall<<S as Space>::Read<'a>, <S as Space>::Write<'a>>;

/// A memory space with a GEMM and a transpose for operands in its memory.
pub trait Executor: Space {
    /// Computes a GEMM.
    ///
    /// # Errors
    /// The errors of [`GemmOperation::run`](super::GemmOperation::run).
    fn execute(desc: &GemmDesc, queue: &Self::Queue, call: CallIn<'_, Self>) -> Result<(), Error>;

    /// Computes an array of GEMMs of equal size and layout.
    ///
    /// # Errors
    /// The errors of [`GemmOperation::run`](super::GemmOperation::run).
    fn execute_array(
        desc: &GemmDesc,
        queue: &Self::Queue,
        calls: Vec<CallIn<'_, Self>>,
    ) -> Result<(), Error>;

    /// Computes a transpose with the kernel that `choice` selects for `combine`.
    ///
    /// # Errors
    /// The errors of [`Transpose::run`](super::Transpose::run).
    fn transpose(
        choice: Choice,
        combine: Combine,
        queue: &Self::Queue,
        call: TransposeCallIn<'_, Self>,
    ) -> Result<(), Error>;

    /// Returns the workspace size in bytes for a GEMM or an array of GEMMs. The size depends on the
    /// addresses of A and B.
    ///
    /// # Errors
    /// The errors of [`GemmOperation::workspace_size`](super::GemmOperation::workspace_size).
    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal>;

    /// Returns the machine that a configuration is selected for, or `None` on the host.
    fn machine(queue: &Self::Queue) -> Option<Machine>;
}

impl<'a, S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// Returns the problem without data. Matrices without strides are packed, in the orders of the
    /// types.
    pub(crate) fn problem(&self, orders: Orders) -> Problem {
        let (m, n, k) = self.extents;
        let groups = self.groups.as_ref().map(Offsets::groups);
        let matrix = |which: usize, length, order, extents| {
            // In place, D has the strides of C.
            let beside = if which == 3 && matches!(self.c, Source::InPlace) { 2 } else { which };
            let memory = Elements::of(length).skip(self.first(which));
            let view = match self.strides_of(which).or(self.strides_of(beside)) {
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

    /// Returns the problem size for a workspace of `workspace` bytes. If the call sets strides of A
    /// or B, or if a view has another order than the kernel, the workspace is reserved for copies
    /// of operands.
    pub(crate) fn size(&self, orders: Orders, workspace: u64) -> ProblemSize {
        let leading = [0, 1].map(|which| {
            let order = if which == 0 { orders.a } else { orders.b };
            self.views[which].map_or(self.leading[which], |view| view.leading(order))
        });
        let strided = [0, 1].map(|which| {
            let of_view = self.views[which].is_some() && leading[which].is_none();
            let strides = if of_view { self.strides_of(which) } else { self.strides[which] };
            strides.map(|[rows, columns]| rows.max(columns))
        });
        let (for_passes, workspace) = (workspace, if strided == [None; 2] { workspace } else { 0 });
        let leading = [0, 1].map(|which| strided[which].or(leading[which]));
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

    /// Size of the workspace in bytes, or `u64::MAX` for a growing workspace.
    pub(crate) fn workspace_given(&self) -> u64 {
        match &self.workspace {
            None => 0,
            Some(WorkspaceMemory::Fixed(bytes)) => S::length_mut(bytes) as u64,
            Some(WorkspaceMemory::Growing(_)) => u64::MAX,
        }
    }

    /// Grows a growing workspace to the size that the description needs.
    ///
    /// # Errors
    /// The errors of [`Executor::workspace_size`] and [`GrowingWorkspace::grow`].
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

    /// Queue of D, which orders the work of the call.
    pub(crate) fn queue(&self) -> S::Queue {
        C::queue(&self.d)
    }

    /// Returns the problem of each GEMM without data: one problem, or one per member of an array.
    /// With a queue, the problems have the addresses of A and B.
    pub(crate) fn problems(&self, orders: Orders, queue: Option<&S::Queue>) -> Vec<Problem> {
        let first = self.problem(orders);
        let addresses = |a: A::Ref<'_, S>, b: B::Ref<'_, S>| {
            let address = |queue| {
                let (a, b) = (A::read(a, queue), B::read(b, queue));
                [a.skip(self.first(0)).address(), b.skip(self.first(1)).address()]
            };
            queue.map_or([0; 2], address)
        };
        let further = self.further.iter().map(|Further { a, b, c, d }| {
            let mut problem = first.at(addresses(*a, *b));
            let elements = |which, length| Elements::of(length).skip(self.first(which)).length;
            problem.a.memory.length = elements(0, A::length(a));
            problem.b.memory.length = elements(1, B::length(b));
            problem.d.memory.length = elements(3, C::length_mut(d));
            if let (Source::Matrix(view), Some(c)) = (&mut problem.c, c) {
                view.memory.length = elements(2, C::length(c));
            }
            problem
        });
        core::iter::once(first.at(addresses(self.a, self.b))).chain(further).collect()
    }

    /// Returns the problem size for kernels of the description's family, with a workspace of
    /// `workspace` bytes.
    pub(crate) fn size_for(&self, desc: &GemmDesc, workspace: u64) -> ProblemSize {
        let size = self.size(desc.orders(), workspace);
        if self.further.is_empty() {
            return size;
        }
        // Tensor maps use the workspace first. Copies of operands use the remaining bytes.
        let array = ProblemSize { workspace, ..size }.of_array(desc, self.further.len() + 1);
        ProblemSize { workspace: array.workspace.min(size.workspace), ..array }
    }

    /// Checks that the epilogue of a description reads every argument, and that the matrices have
    /// its element types. With run-time types, a caller can pass other element types.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand or the scalar.
    pub(crate) fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        let epilogue = desc.class.output.epilogue.leave(desc.frame);
        check_read(&epilogue, &self.vectors, &self.c, &self.scalars)?;
        self.check_views()?;
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

    /// Returns the calls of all GEMMs of an array. The first call holds the workspace.
    pub(crate) fn calls<'q>(mut self, orders: Orders, queue: &'q S::Queue) -> Vec<CallIn<'q, S>>
    where
        'a: 'q,
    {
        let (problem, vectors, shared) = (self.problem(orders), self.vectors, self.c);
        let first = [0, 1, 2, 3].map(|which| self.first(which));
        let further = core::mem::take(&mut self.further);
        let mut calls = Vec::with_capacity(further.len() + 1);
        calls.push(self.call(orders, queue));
        calls.extend(further.into_iter().map(|Further { a, b, c, d }| {
            let vectors = vectors.map(|_, vector| C::read(vector, queue));
            let (a, b) = (A::read(a, queue).skip(first[0]), B::read(b, queue).skip(first[1]));
            let c = shared.map(|shared| C::read(c.unwrap_or(shared), queue).skip(first[2]));
            let d = C::write(d, queue).skip(first[3]);
            problem.with(Matrices { a, b, c, d, vectors })
        }));
        calls
    }

    /// Returns the call.
    pub(crate) fn call<'q>(self, orders: Orders, queue: &'q S::Queue) -> CallIn<'q, S>
    where
        'a: 'q,
    {
        let problem = self.problem(orders);
        let vectors = self.vectors.map(|_, vector| C::read(vector, queue));
        let first = [0, 1, 2, 3].map(|which| self.first(which));
        let (a, b) = (A::read(self.a, queue).skip(first[0]), B::read(self.b, queue).skip(first[1]));
        let c = self.c.map(|c| C::read(c, queue).skip(first[2]));
        let d = C::write(self.d, queue).skip(first[3]);
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
        // Extents alone limit the access width on the host, so the addresses are 0.
        let desc =
            choice.desc(combine, call.d.memory.kind().bytes_of(1), &call.problem().at([0; 3]));
        run_on_host(&desc, Mode::Fast, call)
    }

    /// Returns 0, because the host reads every operand in place.
    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal> {
        problems.iter().try_for_each(|problem| problem.enter(desc).map(drop)).map(|()| 0)
    }

    fn machine((): &()) -> Option<Machine> {
        None
    }
}
