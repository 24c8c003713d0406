//! The executor trait, with one implementation per memory space.

use crate::{
    Error,
    arch::Machine,
    device::{
        Arguments, EpilogueMemory, Host, MatrixElements, Offsets, OperandView, Space,
        WorkspaceMemory,
    },
    host::{Array, run_on_host},
    nest::{GemmDesc, ProblemSize},
    numeric::ElementKind,
    operand::{
        Elements, HostCall, Indices, Matrices, Memory, Problem, UpMatrix, View, check_passed,
        check_read, transpose::Choice,
    },
    refusal::Refusal,
    shape::{Axis, EpilogueOperand},
};

/// A GEMM call with operands in the memory space `S`.
pub type CallIn<'a, S> = crate::operand::Call<<S as Space>::Read<'a>, <S as Space>::Write<'a>>;

/// A memory space with a GEMM and a transpose for operands in its memory.
///
/// This trait is sealed: other crates cannot implement it.
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

    /// Computes a transpose with the kernel that `choice` selects.
    ///
    /// # Errors
    /// The errors of [`Transpose::run`](super::Transpose::run).
    fn transpose(choice: Choice, queue: &Self::Queue, call: CallIn<'_, Self>) -> Result<(), Error>;

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
    /// types. The epilogue of `desc` determines the matrices of B.
    pub(crate) fn problem(&self, desc: &GemmDesc) -> Problem {
        let ((m, n, k), [a, b, c, d]) = (self.extents, self.placements());
        let (orders, placement_of_b) = (desc.orders(), b);
        let groups = self.groups.as_ref().map(Offsets::groups);
        let indices = self.index_lists(orders);
        let [rows_of_a, columns_of_b] = [(0, m), (1, n)].map(|(number, lines): (usize, usize)| {
            indices.operands[number].map_or(lines, |list| list.extent)
        });
        let columns_of_b = if self.holds_gates(desc) { 2 * n } else { columns_of_b };
        let b = b.view(B::elements(&self.b.memory), orders.b, (k, columns_of_b));
        let (b, up) = match (self.placement_of_up(placement_of_b), &self.up) {
            (Some(placement), Some(up)) => {
                let up = placement.view(B::elements(&up.memory), orders.b, (k, n));
                (b, UpMatrix::Matrix(up))
            }
            _ => self.gate_columns.matrices_of_b(desc, b, n),
        };
        let rows_of_d = indices.output.map_or(m, |(_, list)| list.extent);
        let source = self.c.memory.as_ref();
        let shared =
            groups.is_some_and(|groups| groups.axis != Axis::K) || !self.d.others.is_empty();
        let operand = |operand: EpilogueOperand, view: &OperandView<EpilogueMemory<'_, S>>| {
            let memory = view.memory.elements();
            match operand.side() {
                _ if operand.is_reduction() || operand.is_scalar() => {
                    let values = memory.skip(view.placement.first());
                    // One scalar serves all GEMMs.
                    let one = operand.is_scalar() && values.length == 1;
                    let values = View::reduction(values, operand, (m, n));
                    if shared || one { values.batched(0) } else { values }
                }
                Some(side) => View::vector(memory.skip(view.placement.first()), side),
                None if shared => view.placement.shared().view(memory, orders.c, (rows_of_d, n)),
                None => view.placement.view(memory, orders.c, (rows_of_d, n)),
            }
        };
        Problem {
            m,
            n,
            k,
            batch: groups.map_or(self.batch, |groups| groups.count()),
            groups,
            indices,
            a: a.view(A::elements(&self.a.memory), orders.a, (rows_of_a, k)),
            b,
            up,
            c: source.map(|source| c.view(C::elements(source), orders.c, (rows_of_d, n))),
            d: d.view(C::elements_mut(&self.d.memory), orders.c, (rows_of_d, n)),
            operands: self
                .operands
                .iter()
                .map(|(name, view)| (*name, operand(*name, view)))
                .collect(),
            scalars: self.scalars,
            workspace: None,
        }
    }

    /// Returns the problem size for a workspace of `workspace` bytes. If the call sets strides of A
    /// or B, or if a view has another order than the kernel, the workspace is reserved for copies
    /// of operands.
    fn size(&self, desc: &GemmDesc, workspace: u64) -> ProblemSize {
        let (orders, (m, n, k)) = (desc.orders(), self.extents);
        let extents = (m, desc.epilogue.columns_per_output() * n, k);
        let operands = [(self.a.placement, orders.a), (self.b.placement, orders.b)];
        let leading = operands.map(|(placement, order)| placement.leading_in(order));
        let strided = operands.map(|(placement, order)| {
            let set = placement.geometry.is_none() || placement.leading_in(order).is_none();
            let strides = if set { placement.strides() } else { None };
            strides.map(|[rows, columns]| rows.max(columns))
        });
        let (for_passes, workspace) = (workspace, if strided == [None; 2] { workspace } else { 0 });
        let leading = [0, 1].map(|which| strided[which].or(leading[which]));
        let gathers = [0, 1].map(|which| self.indices[which].is_some());
        match self.groups.as_ref().map(Offsets::groups) {
            Some(groups) => ProblemSize {
                leading,
                gathers,
                for_passes,
                ..ProblemSize::for_groups_along(groups.axis, extents, groups.count())
            },
            None => ProblemSize {
                extents,
                batch: self.batch,
                workspace,
                for_passes,
                leading,
                gathers,
                groups: None,
                array: false,
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
    /// [`GrowingWorkspace::grow`]: crate::device::GrowingWorkspace::grow
    pub(crate) fn grown(mut self, desc: &GemmDesc, queue: &S::Queue) -> Result<Self, Error> {
        if let Some(WorkspaceMemory::Growing(_)) = &self.workspace {
            let needed = S::workspace_size(desc, &self.problems(desc, Some(queue)))?;
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
        C::queue(&self.d.memory)
    }

    /// Number of GEMMs with matrices of their own: 1, or the GEMMs of a pointer array.
    fn gemms(&self) -> usize {
        self.d.others.len() + 1
    }

    /// Returns the problem of each GEMM without data: one problem, or one per GEMM of an array.
    /// With a queue, the problems have the addresses of A and B.
    pub(crate) fn problems(&self, desc: &GemmDesc, queue: Option<&S::Queue>) -> Vec<Problem> {
        let (first, [a, b, c, d]) = (self.problem(desc), self.placements().map(|at| at.first()));
        let problem = |number: usize| {
            let (of_a, of_b) = (self.a.gemm_memory(number), self.b.gemm_memory(number));
            let of_d = if number == 0 { &self.d.memory } else { &self.d.others[number - 1] };
            let matrices = Matrices {
                a: A::elements(of_a).skip(a),
                b: B::elements(of_b).skip(b),
                c: self.c.gemm_memory(number).as_ref().map(|of_c| C::elements(of_c).skip(c)),
                d: C::elements_mut(of_d).skip(d),
                operands: first.operands.map(|_, view| view.memory),
            };
            let addresses = queue.map_or([0; 2], |queue| {
                [A::read(*of_a, queue).skip(a).address(), B::read(*of_b, queue).skip(b).address()]
            });
            let of_up = self.up.as_ref().map_or(of_b, |up| &up.memory);
            let up = first.up.map(|view| {
                let memory = view.memory;
                let address = queue.map_or(0, |queue| {
                    B::read(*of_up, queue).skip(self.first_of_up(&first)).address()
                });
                view.with(Elements { address, ..memory })
            });
            let Problem { groups, indices, .. } = first;
            Problem { groups, indices, up, ..first.with(matrices) }.at(addresses)
        };
        (0..self.gemms()).map(problem).collect()
    }

    /// Returns the problem size for kernels with the description's main loop and MMA, with a
    /// workspace of `workspace` bytes.
    pub(crate) fn size_for(&self, desc: &GemmDesc, workspace: u64) -> ProblemSize {
        let size = self.size(desc, workspace);
        if self.d.others.is_empty() {
            return size;
        }
        // Tensor maps use the workspace first. Copies of operands use the remaining bytes.
        let array = ProblemSize { workspace, ..size }.for_array(desc, self.gemms());
        ProblemSize { workspace: array.workspace.min(size.workspace), ..array }
    }

    /// Checks that the epilogue of a description reads every argument, and that views have the
    /// shapes of the call.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand or the scalar.
    pub(crate) fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        let epilogue = &desc.epilogue;
        let operands =
            self.operands.iter().map(|(operand, view)| (*operand, view.memory.is_written()));
        let array = self.gemms() > 1;
        check_passed((epilogue, desc.frame), operands.clone(), array)?;
        check_read(epilogue, &self.c.memory, &self.scalars)?;
        self.check_up(desc)?;
        self.check_views(desc)
    }

    /// Returns the call of each GEMM: one call, or one per GEMM of an array. The first call holds
    /// the workspace.
    pub(crate) fn calls<'q>(
        self,
        desc: GemmDesc,
        queue: &'q S::Queue,
    ) -> impl Iterator<Item = CallIn<'q, S>>
    where
        'a: 'q,
    {
        let (problem, [a, b, c, d]) = (self.problem(&desc), self.placements().map(|at| at.first()));
        let first_of_up = self.first_of_up(&problem);
        let mut workspace = match self.workspace {
            Some(WorkspaceMemory::Fixed(bytes)) => Some(S::write(ElementKind::U8, bytes, queue)),
            _ => None,
        };
        let offsets = self.groups.map(|offsets| offsets.list.read(queue));
        let mut groups = problem.groups.zip(offsets).map(|(groups, offsets)| groups.with(offsets));
        let lists = self.indices.map(|list| Some(list?.read(queue)));
        let mut indices = problem.indices.with(lists);
        let Self { a: of_a, b: of_b, up: of_up, c: of_c, d: of_d, mut operands, .. } = self;
        let outputs = core::iter::once(of_d.memory).chain(of_d.others);
        outputs.enumerate().map(move |(number, of_d)| {
            let matrices = Matrices {
                a: A::read(*of_a.gemm_memory(number), queue).skip(a),
                b: B::read(*of_b.gemm_memory(number), queue).skip(b),
                c: of_c.gemm_memory(number).map(|of_c| C::read(of_c, queue).skip(c)),
                d: C::write(of_d, queue).skip(d),
                operands: operands
                    .iter_mut()
                    .filter_map(|(name, view)| {
                        let memory = view.memory.enqueue(queue)?;
                        Some((*name, memory.skip(view.placement.first())))
                    })
                    .collect(),
            };
            let of_up = of_up.as_ref().map_or(of_b.gemm_memory(number), |up| &up.memory);
            let up = problem.up.map(|up| up.with(B::read(*of_up, queue).skip(first_of_up)));
            let (workspace, groups) = (workspace.take(), groups.take());
            let indices = core::mem::replace(&mut indices, Indices::NONE);
            CallIn::<S> { workspace, groups, indices, up, ..problem.with(matrices) }
        })
    }
}

impl Executor for Host {
    fn execute(desc: &GemmDesc, (): &(), call: HostCall<'_>) -> Result<(), Error> {
        run_on_host(desc, call)
    }

    fn execute_array(desc: &GemmDesc, (): &(), calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        run_on_host(&Array(desc), calls)
    }

    fn transpose(choice: Choice, (): &(), call: HostCall<'_>) -> Result<(), Error> {
        // Extents alone limit the access width on the host, so the addresses are 0.
        let mut problem = call.problem().at([0; 2]);
        problem.d.memory.address = 0;
        problem.c = problem.c.map(|c| View { memory: Elements { address: 0, ..c.memory }, ..c });
        let desc = choice.desc(call.d.memory.kind(), &problem);
        run_on_host(&desc, call)
    }

    /// Returns 0, because the host reads every operand in place.
    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal> {
        let check =
            |problem: &Problem| problem.enter(&desc.for_scalars(&problem.scalars)).map(drop);
        problems.iter().try_for_each(check).map(|()| 0)
    }

    fn machine((): &()) -> Option<Machine> {
        None
    }
}
