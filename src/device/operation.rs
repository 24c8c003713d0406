//! The operator whose types are values: what [`Gemm`](super::Gemm) is once its types are.

use super::{
    chosen::{CHOSEN, Choice},
    executor::Executor,
};
use crate::{
    arch::{ArchKind, Machine},
    call::{Arguments, MatrixElements},
    desc::GemmDesc,
    error::Error,
    family::{Completions, ProblemSize, Request, Target, TypedRequest},
    layout::MatrixType,
    refusal::Refusal,
};
use core::fmt;
use std::sync::{Arc, OnceLock};

/// `D = epilogue(A·B, C)`, of types and layouts that a program learns where it runs: CUTLASS's
/// `library::GemmUniversalOperation`.
///
/// It has the kernels of the [`Gemm`](super::Gemm) of the same types, and its [`run`](Self::run) is
/// that one's: on the host for host slices, on their device for device slices. Operands are
/// [`AnySlice`](super::AnySlice)s, or slices whose types the program names; they have to hold what
/// the operation was made of.
///
/// ```
/// use falchion::prelude::*;
///
/// // Of a file, for one: which elements, and their bytes.
/// let (kind, bytes) = ("bf16".parse()?, vec![0x80, 0x3f].repeat(6));
/// let (a, b) = (AnySlice::of_bytes(kind, &bytes), AnySlice::of_bytes(kind, &bytes));
/// let mut d = [0.0f32; 4];
/// let gemm = GemmOperation::new(MatrixType::row(kind), MatrixType::row(kind), "f32:row".parse()?)?;
/// gemm.run(Arguments::new((2, 2, 3), a, b, AnySliceMut::of::<f32>(&mut d)))?;
/// assert_eq!(d, [3.0; 4]);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// A caller of BLAS, which says transposed or not in a letter:
///
/// ```
/// use falchion::{numeric::ElementKind::F32, prelude::*};
///
/// /// C <- alpha op(A) op(B) + beta C, as SGEMM.
/// #[allow(clippy::too_many_arguments)]
/// fn sgemm(
///     [transa, transb]: [char; 2], (m, n, k): (usize, usize, usize), alpha: f32, (a, lda): (&[f32], usize), (b, ldb): (&[f32], usize),
///     beta: f32, (c, ldc): (&mut [f32], usize),
/// ) -> Result<(), falchion::Error> {
///     let gemm = GemmOperation::new(MatrixType::blas(F32, transa)?, MatrixType::blas(F32, transb)?, MatrixType::col(F32))?;
///     let arguments = Arguments::<_, f32, f32, f32>::new((m, n, k), a, b, c).lda(lda).ldb(ldb).ldd(ldc);
///     gemm.run(arguments.alpha(alpha.into()).in_place(beta.into()))
/// }
///
/// let (a, b, mut c) = ([1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 1.0], [10.0; 4]);
/// sgemm(['N', 'T'], (2, 2, 2), 1.0, (&a, 2), (&b, 2), 0.5, (&mut c, 2))?;
/// assert_eq!(c, [6.0, 7.0, 8.0, 9.0]);
/// sgemm(['T', 'N'], (2, 2, 2), 1.0, (&a, 2), (&b, 2), 0.0, (&mut c, 2))?;
/// assert_eq!(c, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// What else can be said, units, an architecture, knobs in the command line's words, is a
/// [`Request`]:
///
/// ```
/// use falchion::{arch::OpKind, device::Request, prelude::*};
///
/// let [a, b, c] = ["f16:row", "f16:col", "f32:row"].map(|text| text.parse().ok());
/// let knobs = [("stages", "4"), ("epilogue", "relu(alpha*acc)")].map(|(name, words)| (name.to_owned(), words.to_owned()));
/// let request = Request { a, b, c, op: Some(OpKind::TensorOp), knobs: knobs.into(), ..Request::default() };
/// assert_eq!(GemmOperation::of(&request)?.desc().stages(), 4);
/// # Ok::<(), falchion::Error>(())
/// ```
#[derive(Clone)]
pub struct GemmOperation {
    configurations: Configurations,
}

/// The configurations that a problem selects from.
#[derive(Clone, Debug)]
pub(super) enum Configurations {
    /// Resolved while compiling.
    Constant(&'static Completions),
    /// Resolved at run time.
    Made(Arc<Completions>),
    /// Resolved for the machine on which a problem runs.
    OfMachine(Arc<OfMachine>),
}

/// A request that names neither units nor an architecture.
#[derive(Debug)]
pub(super) struct OfMachine {
    wanted: TypedRequest,
    on_host: Completions,
    /// One operation per architecture tag, resolved at first use.
    on_gpus: [OnceLock<GemmOperation>; ArchKind::ALL.len()],
}

impl OfMachine {
    /// The operation on a GPU.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the GPU multiply such types.
    fn on(&self, machine: &Machine) -> Result<&GemmOperation, Refusal> {
        let arch = ArchKind::newest_of(machine.sm).unwrap_or(ArchKind::Sm70);
        let known = &self.on_gpus[arch as usize];
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let completions =
            self.wanted.completions(Target::Gpu(arch)).map_err(|unresolved| unresolved.because)?;
        Ok(known.get_or_init(|| GemmOperation::made(completions)))
    }
}

impl Configurations {
    fn get(&self) -> &Completions {
        match self {
            Self::Constant(completions) => completions,
            Self::Made(completions) => completions,
            Self::OfMachine(of_machine) => &of_machine.on_host,
        }
    }

    /// Whether it is the other one, and not merely like it.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.get(), other.get())
    }
}

impl GemmOperation {
    /// Creates the operation from the element types and layouts of A, B, and C; D has the type and
    /// layout of C. Each machine uses its fastest units that multiply the types as they are: tensor
    /// cores for 16-bit, 8-bit, tf32, and f64 types, and CUDA cores for `f32`. The accumulator is
    /// the first that [`COMBINATIONS`](crate::desc::COMBINATIONS) or
    /// [`TENSOR_OP_COMBINATIONS`](crate::desc::TENSOR_OP_COMBINATIONS) lists for these types.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub fn new(a: MatrixType, b: MatrixType, c: MatrixType) -> Result<Self, Error> {
        Self::of(&Request { a: Some(a), b: Some(b), c: Some(c), ..Request::default() })
    }

    /// Creates the operation of a [`Request`]. Without units and architecture, each machine uses
    /// its fastest units. With units only, the architecture is the default of a
    /// [`Gemm`](super::Gemm) with these units.
    ///
    /// # Errors
    /// [`Error::Refused`] when there is no such kernel, [`Error::KnobText`] when words are no value
    /// of a knob, [`Error::Description`] when types contradict the description.
    pub fn of(request: &Request) -> Result<Self, Error> {
        if let Some(description) = request.description {
            return Ok(Self::made(request.completions_of(description)?));
        }
        let wanted = request.wanted()?;
        let arch = match (wanted.arch, wanted.op) {
            (Some(arch), _) => arch,
            (None, Some(op)) => op.default_arch(),
            (None, None) => {
                let on_host = wanted.on_host_by_default()?;
                let of_machine = OfMachine { wanted, on_host, on_gpus: Default::default() };
                return Ok(Self {
                    configurations: Configurations::OfMachine(Arc::new(of_machine)),
                });
            }
        };
        Ok(Self::made(wanted.completions(Target::Gpu(arch))?))
    }

    /// Of kernels that have been checked, of types.
    pub(super) const fn of_types(completions: &'static Completions) -> Self {
        Self { configurations: Configurations::Constant(completions) }
    }

    /// Of kernels that have been checked.
    pub(super) fn made(completions: Completions) -> Self {
        Self { configurations: Configurations::Made(Arc::new(completions)) }
    }

    /// The description of these types, before a problem chooses.
    pub fn desc(&self) -> GemmDesc {
        self.configurations.get().first()
    }

    /// The operation on a machine, or on the host without one. They differ if the request names
    /// neither units nor an architecture.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the machine multiply such types.
    pub fn on(&self, machine: Option<&Machine>) -> Result<&Self, Refusal> {
        match (&self.configurations, machine) {
            (Configurations::OfMachine(of_machine), Some(machine)) => of_machine.on(machine),
            _ => Ok(self),
        }
    }

    /// The operation where D is.
    fn here<S: Executor>(&self, queue: &S::Queue) -> Result<&Self, Refusal> {
        match &self.configurations {
            Configurations::OfMachine(_) => self.on(S::machine(queue).as_ref()),
            _ => Ok(self),
        }
    }

    /// The description that a problem runs with on a machine, as
    /// [`Gemm::desc_for`](super::Gemm::desc_for) says. If no units of the machine multiply such
    /// types, the description is the host's, which the machine refuses.
    pub fn desc_for(&self, size: &ProblemSize, machine: &Machine) -> GemmDesc {
        let operation = self.on(Some(machine)).unwrap_or(self);
        operation.configurations.get().at(operation.choice(size, machine))
    }

    /// Which of the [`kernels`](Self::kernels) a problem takes, and into how many parts it cuts K,
    /// where it does.
    pub(super) fn choice(&self, size: &ProblemSize, machine: &Machine) -> Choice {
        CHOSEN.of(&self.configurations, size, machine, || {
            self.configurations.get().choice(size, machine)
        })
    }

    /// The kernels that a problem chooses among, that of [`desc`](Self::desc) first: each with K as
    /// it has it, and in parts, if a problem chooses how many.
    #[cfg(feature = "cuda")]
    pub(super) fn kernels(&self) -> impl Iterator<Item = [Option<GemmDesc>; 2]> {
        let completions = self.configurations.get();
        completions
            .all()
            .iter()
            .map(|desc| [Some(*desc), (!completions.ways(desc).is_empty()).then(|| desc.cut(2))])
    }

    /// Whether these kernels can compute the product: types, sizes, leading dimensions, what the
    /// epilogue reads.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand, its value and the limit.
    pub fn can_implement<S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<(), Refusal> {
        let operation = self.here::<S>(&arguments.queue())?;
        let desc = operation.desc().for_scalars(&arguments.scalars);
        arguments.check(&desc)?;
        arguments.products()?;
        arguments
            .problems(desc.orders(), None)
            .into_iter()
            .try_for_each(|problem| problem.seen_by(&desc).map(drop))
    }

    /// Bytes of the [workspace](Arguments::workspace) that the product takes, as
    /// [`Gemm::workspace_size`](super::Gemm::workspace_size) says.
    ///
    /// # Errors
    /// Those of [`can_implement`](Self::can_implement).
    pub fn workspace_size<S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<u64, Refusal> {
        let queue = arguments.queue();
        let operation = self.here::<S>(&queue)?;
        arguments.products()?;
        let size = arguments.size_for(&operation.desc(), u64::MAX);
        let desc = operation.desc_of::<S>(&queue, &size);
        arguments.check(&desc)?;
        S::workspace_size(&desc, &arguments.problems(desc.orders(), Some(&queue)))
    }

    /// Computes the product, as [`Gemm::run`](super::Gemm::run) does. Arguments are of
    /// [`AnySlice`](super::AnySlice)s, or name their elements: `Arguments::<_, f32, f32,
    /// f32>::new(..)`.
    ///
    /// # Errors
    /// [`Error::Refused`] when the product does not fit the kernel or the machine, or an operand
    /// holds elements of another type; see [`Error`] for the others.
    pub fn run<S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        arguments: Arguments<'_, S, A, B, C>,
    ) -> Result<(), Error> {
        self.run_in(&arguments.queue(), arguments)
    }

    /// [`run`](Self::run) in another queue.
    pub(super) fn run_in<S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        queue: &S::Queue,
        arguments: Arguments<'_, S, A, B, C>,
    ) -> Result<(), Error> {
        let operation = self.here::<S>(queue)?;
        let size = arguments.size_for(&operation.desc(), arguments.workspace_given());
        let desc = operation.desc_of::<S>(queue, &size);
        arguments.check(&desc)?;
        let several = arguments.products()?.is_some();
        let arguments = arguments.grown(&desc, queue)?;
        if several {
            S::execute_array(&desc, queue, arguments.calls(desc.orders(), queue))
        } else {
            S::execute(&desc, queue, arguments.call(desc.orders(), queue))
        }
    }

    /// The description that a problem runs with where the queue's work is done.
    fn desc_of<S: Executor>(&self, queue: &S::Queue, size: &ProblemSize) -> GemmDesc {
        match S::machine(queue) {
            Some(machine) => self.desc_for(size, &machine),
            None => self.desc(),
        }
    }
}

impl fmt::Debug for GemmOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desc = self.desc();
        f.debug_tuple("GemmOperation")
            .field(&desc.user_types())
            .field(&desc.orders())
            .field(&format_args!("{desc}"))
            .finish()
    }
}

#[cfg(test)]
impl Configurations {
    /// Those of f32, made anew.
    pub fn of_f32() -> Self {
        let f32 = MatrixType::row(crate::numeric::ElementKind::F32);
        GemmOperation::new(f32, f32, f32).expect("a row").configurations
    }
}
