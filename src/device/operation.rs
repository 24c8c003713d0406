//! The operator whose types are values: what [`Gemm`](super::Gemm) is once its types are.

use super::{
    chosen::{CHOSEN, Choice},
    executor::Executor,
};
use crate::{
    arch::Machine,
    call::{Arguments, MatrixElements},
    desc::GemmDesc,
    error::Error,
    family::{Completions, ProblemSize, Request},
    layout::MatrixType,
    refusal::Refusal,
};
use std::sync::Arc;

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
#[derive(Clone, Debug)]
pub struct GemmOperation {
    configurations: Configurations,
}

/// What an operation chooses among: of types, or made where the program runs.
#[derive(Clone, Debug)]
pub(super) enum Configurations {
    Constant(&'static Completions),
    Made(Arc<Completions>),
}

impl Configurations {
    fn get(&self) -> &Completions {
        match self {
            Self::Constant(completions) => completions,
            Self::Made(completions) => completions,
        }
    }

    /// Whether it is the other one, and not merely like it.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self.get(), other.get())
    }
}

impl GemmOperation {
    /// The operation on the CUDA cores of matrices like these; C and D are alike. Every knob is
    /// chosen, and products are accumulated in what the first row of
    /// [`COMBINATIONS`](crate::desc::COMBINATIONS) with these types says.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub fn new(a: MatrixType, b: MatrixType, c: MatrixType) -> Result<Self, Error> {
        Self::of(&Request { a: Some(a), b: Some(b), c: Some(c), ..Request::default() })
    }

    /// The operation that is asked for. It is of the architecture that a [`Gemm`](super::Gemm) of
    /// its units has, where none is asked for.
    ///
    /// # Errors
    /// [`Error::Refused`] when there is no such kernel, [`Error::KnobText`] when words are no value
    /// of a knob, [`Error::Description`] when types contradict the description.
    pub fn of(request: &Request) -> Result<Self, Error> {
        Ok(Self::made(request.completions(request.units().default_arch())?))
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

    /// The description that a problem runs with on a machine, as
    /// [`Gemm::desc_for`](super::Gemm::desc_for) says.
    pub fn desc_for(&self, size: &ProblemSize, machine: &Machine) -> GemmDesc {
        self.configurations.get().at(self.choice(size, machine))
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
        let desc = self.desc().for_scalars(&arguments.scalars);
        arguments.check_types(desc.user_types())?;
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
        arguments.products()?;
        let desc = self.desc_of::<S>(&queue, &arguments.size_for(&self.desc(), u64::MAX));
        arguments.check_types(desc.user_types())?;
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
        let queue = arguments.queue();
        let desc = self
            .desc_of::<S>(&queue, &arguments.size_for(&self.desc(), arguments.workspace_given()));
        arguments.check_types(desc.user_types())?;
        match arguments.products()? {
            None => S::execute(&desc, &queue, arguments.call(desc.orders(), &queue)),
            Some(_) => S::execute_array(&desc, &queue, arguments.calls(desc.orders(), &queue)),
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

#[cfg(test)]
impl Configurations {
    /// Those of f32, made anew.
    pub fn of_f32() -> Self {
        let f32 = MatrixType::row(crate::numeric::ElementKind::F32);
        GemmOperation::new(f32, f32, f32).expect("a row").configurations
    }
}
