//! The GEMM operator with element types and layouts as values.

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

/// A GEMM, `D = epilogue(A * B, C)`, whose element types and layouts are known only at run time:
/// CUTLASS's `library::GemmUniversalOperation`.
///
/// A [`GemmUniversal`](super::GemmUniversal) of the same types uses the same kernels. Operands are
/// [`AnySlice`](super::AnySlice)s, or slices whose types the program names. A call refuses a slice
/// of another element type.
///
/// ```
/// use falchion::prelude::*;
///
/// // A file names an element type and holds bytes.
/// let (kind, bytes) = ("bf16".parse()?, vec![0x80, 0x3f].repeat(6));
/// let (a, b) = (AnySlice::of_bytes(kind, &bytes), AnySlice::of_bytes(kind, &bytes));
/// let mut d = [0.0f32; 4];
/// let bf16 = MatrixType::row(kind);
/// let gemm = GemmOperation::new(bf16, bf16, "f32:row".parse()?)?;
/// gemm.run(Arguments::new((2, 2, 3), a, b, AnySliceMut::of::<f32>(&mut d)))?;
/// assert_eq!(d, [3.0; 4]);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// The example implements a BLAS interface, in which a letter selects a transposed operand:
///
/// ```
/// use falchion::{numeric::ElementKind::F32, prelude::*};
///
/// /// C <- alpha op(A) op(B) + beta C, as SGEMM.
/// #[allow(clippy::too_many_arguments)]
/// fn sgemm(
///     [transa, transb]: [char; 2],
///     (m, n, k): (usize, usize, usize),
///     alpha: f32,
///     (a, lda): (&[f32], usize),
///     (b, ldb): (&[f32], usize),
///     beta: f32,
///     (c, ldc): (&mut [f32], usize),
/// ) -> Result<(), falchion::Error> {
///     let [of_a, of_b] = [MatrixType::blas(F32, transa)?, MatrixType::blas(F32, transb)?];
///     let gemm = GemmOperation::new(of_a, of_b, MatrixType::col(F32))?;
///     let arguments = Arguments::<_, f32, f32, f32>::new((m, n, k), a, b, c);
///     let arguments = arguments.lda(lda).ldb(ldb).ldd(ldc);
///     gemm.run(arguments.alpha(alpha).in_place(beta))
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
/// A [`Request`] also names units, an architecture, and knobs in the words of the command line:
///
/// ```
/// use falchion::{arch::OpKind, device::Request, prelude::*};
///
/// let [a, b, c] = ["f16:row", "f16:col", "f32:row"].map(|text| text.parse().ok());
/// let knobs = [("stages", "4"), ("epilogue", "relu(alpha*acc)")];
/// let knobs = knobs.map(|(name, words)| (name.to_owned(), words.to_owned())).into();
/// let request = Request { a, b, c, op: Some(OpKind::TensorOp), knobs, ..Request::default() };
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
    /// Configurations that the compiler resolves.
    Constant(&'static Completions),
    /// Configurations that the program resolves at run time.
    Made(Arc<Completions>),
    /// Configurations per machine on which a problem runs.
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
    /// Returns the operation on a GPU.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the GPU multiply the types.
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

    /// Returns `true` if both operations are the same object in memory.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.get(), other.get())
    }
}

impl GemmOperation {
    /// Creates the operation from the element types and layouts of A, B, and C. D has the type and
    /// layout of C. Each machine uses its fastest units that multiply the types without emulation.
    /// These units are tensor cores for 16-bit, 8-bit, tf32, and f64 types, and CUDA cores for
    /// `f32`. The accumulator is the first type that [`COMBINATIONS`](crate::desc::COMBINATIONS) or
    /// [`TENSOR_OP_COMBINATIONS`](crate::desc::TENSOR_OP_COMBINATIONS) lists for these types.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of).
    pub fn new(a: MatrixType, b: MatrixType, c: MatrixType) -> Result<Self, Error> {
        Self::of(&Request { a: Some(a), b: Some(b), c: Some(c), ..Request::default() })
    }

    /// Creates the operation of a [`Request`]. Without units and architecture, each machine uses
    /// its fastest units. With units only, the operation has the default architecture of
    /// a [`Gemm`](super::Gemm) with these units.
    ///
    /// # Errors
    /// [`Error::Refused`] or [`Error::Unresolved`] if no kernel fits the request.
    /// [`Error::KnobText`] if a text is not a value of its knob. [`Error::Description`] if the
    /// types contradict the description.
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

    /// Creates an operation from checked kernels of constant types.
    pub(super) const fn of_types(completions: &'static Completions) -> Self {
        Self { configurations: Configurations::Constant(completions) }
    }

    /// Creates an operation from checked kernels.
    pub(super) fn made(completions: Completions) -> Self {
        Self { configurations: Configurations::Made(Arc::new(completions)) }
    }

    /// Returns the description of the first candidate configuration. If the description depends on
    /// the machine, the function returns the description for the host.
    pub fn desc(&self) -> GemmDesc {
        self.configurations.get().first()
    }

    /// Returns the operation on a machine, or on the host for `None`. The operation depends on the
    /// machine if the request names neither units nor an architecture.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the machine multiply the types.
    pub fn on(&self, machine: Option<&Machine>) -> Result<&Self, Refusal> {
        match (&self.configurations, machine) {
            (Configurations::OfMachine(of_machine), Some(machine)) => of_machine.on(machine),
            _ => Ok(self),
        }
    }

    /// Returns the operation on the machine that holds D.
    fn here<S: Executor>(&self, queue: &S::Queue) -> Result<&Self, Refusal> {
        match &self.configurations {
            Configurations::OfMachine(_) => self.on(S::machine(queue).as_ref()),
            _ => Ok(self),
        }
    }

    /// Returns the description that a problem uses on a machine, as
    /// [`Gemm::desc_for`](super::Gemm::desc_for) does. If no units of the machine multiply the
    /// types, the function returns the description for the host, which the machine refuses.
    pub fn desc_for(&self, size: &ProblemSize, machine: &Machine) -> GemmDesc {
        let operation = self.on(Some(machine)).unwrap_or(self);
        operation.configurations.get().at(operation.choice(size, machine))
    }

    /// Returns the index of the problem's kernel among the [`kernels`](Self::kernels), and its
    /// split-K slices if K is split.
    pub(super) fn choice(&self, size: &ProblemSize, machine: &Machine) -> Choice {
        CHOSEN.of(&self.configurations, size, machine, || {
            self.configurations.get().choice(size, machine)
        })
    }

    /// Returns the candidate kernels, with the kernel of [`desc`](Self::desc) first. Each entry has
    /// the kernel without a change, and the split-K kernel if the problem selects the slices.
    #[cfg(feature = "cuda")]
    pub(super) fn kernels(&self) -> impl Iterator<Item = [Option<GemmDesc>; 2]> {
        let completions = self.configurations.get();
        completions
            .all()
            .iter()
            .map(|desc| [Some(*desc), (!completions.ways(desc).is_empty()).then(|| desc.cut(2))])
    }

    /// Checks element types, sizes, leading dimensions, and the arguments that the epilogue reads.
    ///
    /// # Errors
    /// A [`Refusal`] names the operand, its value, and the limit.
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

    /// Returns the size in bytes of the [workspace](Arguments::workspace) for the fastest
    /// configuration, as [`Gemm::workspace_size`](super::Gemm::workspace_size) does.
    ///
    /// # Errors
    /// The errors of [`can_implement`](Self::can_implement).
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

    /// Computes the GEMM, as [`Gemm::run`](super::Gemm::run) does. The operands are
    /// [`AnySlice`](super::AnySlice)s, or the arguments name the element types, as in
    /// `Arguments::<_, f32, f32, f32>::new(..)`.
    ///
    /// # Errors
    /// - [`Error::Refused`] if the problem does not fit the kernel or the machine.
    /// - [`Error::Refused`] if an operand has another element type.
    /// - [`Error::Refused`] if the epilogue does not read an argument.
    ///
    /// [`Error`] lists the other errors.
    pub fn run<S: Executor, A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        arguments: Arguments<'_, S, A, B, C>,
    ) -> Result<(), Error> {
        self.run_in(&arguments.queue(), arguments)
    }

    /// Enqueues the GEMM in another queue, as [`run`](Self::run) does in the queue of D.
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

    /// Returns the description that a problem uses on the machine of the queue.
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
    /// The candidate configurations of f32.
    pub fn of_f32() -> Self {
        let f32 = MatrixType::row(crate::numeric::ElementKind::F32);
        GemmOperation::new(f32, f32, f32).expect("a row").configurations
    }
}
