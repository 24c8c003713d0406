//! The GEMM operator.

use super::{
    chosen::{CHOSEN, Choice},
    configurations::{Candidates, Configurations},
    executor::Executor,
};
use crate::{
    Error,
    arch::{Machine, OpKind},
    device::{Any, Arguments, MatrixElements, Readable},
    layout::{MatrixType, Orders},
    nest::{GemmDesc, ProblemSize, Request, TypedRequest},
    numeric::{Combined, MathType},
    operand::check_types,
    refusal::{Operand, Refusal},
};
use core::{fmt, marker::PhantomData};

/// The operator of a GEMM, `D = epilogue(A * B, C)`. Its element types, layouts, and knobs are
/// values, which may be known only at run time: CUTLASS's `library::GemmUniversalOperation`.
///
/// A [`Gemm`](super::Gemm) creates its operator from types at compile time and derefs to it, so
/// both have the same methods. `A`, `B`, and `C` are the element types of the operands. With
/// [`Any`](super::Any), operands are [`AnySlice`](super::AnySlice)s, and a call refuses a slice of
/// another element type. [`typed`](Self::typed) returns the operator for slices whose element types
/// the program names.
///
/// ```
/// use falchion::prelude::*;
///
/// // A file names an element type and holds bytes.
/// let (kind, bytes) = ("bf16".parse()?, vec![0x80, 0x3f].repeat(6));
/// let (a, b) = (AnySlice::from_bytes(kind, &bytes), AnySlice::from_bytes(kind, &bytes));
/// let mut d = [0.0f32; 4];
/// let bf16 = MatrixType::row(kind);
/// let gemm = GemmOperation::new(bf16, bf16, "f32:row".parse()?)?;
/// gemm.run(Arguments::new((2, 2, 3), a, b, AnySliceMut::new::<f32>(&mut d)))?;
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
///     let gemm = GemmOperation::new(of_a, of_b, MatrixType::col(F32))?.typed::<f32, f32, f32>()?;
///     let arguments = Arguments::new((m, n, k), a, b, c).lda(lda).ldb(ldb).ldd(ldc);
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
/// assert_eq!(GemmOperation::from_request(&request)?.desc().stages(), 4);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct GemmOperation<A = Any, B = Any, C = Any> {
    pub(super) configurations: Configurations,
    _elements: PhantomData<ElementTypes<A, B, C>>,
}

/// Marker of three element types, which owns no value.
pub(super) type ElementTypes<A, B, C> = fn() -> (A, B, C);

impl<A, B, C> Clone for GemmOperation<A, B, C> {
    fn clone(&self) -> Self {
        Self::from_configurations(self.configurations.clone())
    }
}

impl GemmOperation {
    /// Creates the operator from the element types and layouts of A, B, and C. D has the type and
    /// layout of C. Each machine uses its fastest units that multiply the types without emulation.
    /// These units are tensor cores for 16-bit, 8-bit, tf32, and f64 types, and CUDA cores for
    /// `f32`. The accumulator is the first type that [`COMBINATIONS`](crate::nest::COMBINATIONS) or
    /// [`TENSOR_OP_COMBINATIONS`](crate::nest::TENSOR_OP_COMBINATIONS) lists for these types.
    ///
    /// # Errors
    /// The errors of [`from_request`](Self::from_request).
    pub fn new(a: MatrixType, b: MatrixType, c: MatrixType) -> Result<Self, Error> {
        Self::from_request(&Request { a: Some(a), b: Some(b), c: Some(c), ..Request::default() })
    }

    /// Creates the operator of a [`Request`]. Without units and architecture, each machine uses
    /// its fastest units. With units only, the operator has the default architecture of
    /// a [`Gemm`](super::Gemm) with these units.
    ///
    /// # Errors
    /// [`Error::Refused`] or [`Error::Unresolved`] if no kernel fits the request.
    /// [`Error::KnobText`] if a text is not a value of its knob. [`Error::Description`] if the
    /// types contradict the description.
    pub fn from_request(request: &Request) -> Result<Self, Error> {
        let candidates = match request.description {
            Some(description) => Candidates::fixed(request.description_of(description)?),
            None => {
                let wanted = request.wanted()?;
                let arch = wanted.arch.or(wanted.op.map(OpKind::default_arch));
                let wanted = TypedRequest { arch, ..wanted };
                Candidates::from_request(wanted, wanted.without_machine()?)
            }
        };
        Ok(Self::from_configurations(Configurations::computed(candidates)))
    }

    /// Returns the operator for slices of the element types `A`, `B`, and `C`.
    ///
    /// # Errors
    /// [`Refusal`] if the operator has another element type.
    pub fn typed<A: MathType, B: MathType, C: MathType>(
        &self,
    ) -> Result<GemmOperation<A, B, C>, Refusal> {
        let types = self.types();
        let operands = [
            (Operand::A, A::KIND, types.a),
            (Operand::B, B::KIND, types.b),
            (Operand::D, C::KIND, types.c),
        ];
        check_types(operands)?;
        Ok(GemmOperation::from_configurations(self.configurations.clone()))
    }
}

impl<A, B, C> GemmOperation<A, B, C> {
    /// Creates the operator of candidates that the compiler resolves.
    pub(super) const fn constant(candidates: &'static Candidates) -> Self {
        Self { configurations: Configurations::Constant(candidates), _elements: PhantomData }
    }

    fn from_configurations(configurations: Configurations) -> Self {
        Self { configurations, _elements: PhantomData }
    }

    /// Returns the description of the first candidate configuration. If the description depends on
    /// the machine, the function returns the description for the host.
    pub fn desc(&self) -> GemmDesc {
        self.configurations.first()
    }

    /// Returns the element types of A, B, C, and the accumulator.
    pub fn types(&self) -> Combined {
        self.configurations.types()
    }

    /// Returns the orders of A, B, and C.
    pub fn orders(&self) -> Orders {
        self.configurations.orders()
    }

    /// Returns the operator on a machine, or on the host for `None`. The operator depends on the
    /// machine if neither the architecture nor the description is fixed.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the machine multiply the types.
    pub fn on(&self, machine: Option<&Machine>) -> Result<Self, Refusal> {
        self.configurations.on(machine).cloned().map(Self::from_configurations)
    }

    /// Returns the configurations on the machine that holds D.
    fn here<S: Executor>(&self, queue: &S::Queue) -> Result<&Configurations, Refusal> {
        if self.configurations.are_native() {
            self.configurations.on(S::machine(queue).as_ref())
        } else {
            Ok(&self.configurations)
        }
    }

    /// Returns the description that a problem uses on a machine: the candidate with the shortest
    /// predicted time whose workspace fits. If no units of the machine multiply the types, the
    /// function returns the description for the host, which the machine refuses.
    pub fn desc_for(&self, size: &ProblemSize, machine: &Machine) -> GemmDesc {
        let here = self.configurations.on(Some(machine)).unwrap_or(&self.configurations);
        here.completions().at(here.choice(size, machine))
    }

    /// Returns the candidate kernels, with the kernel of [`desc`](Self::desc) first. Each entry has
    /// the kernel without a change, and the split-K kernel if the problem selects the slices.
    #[cfg(feature = "cuda")]
    pub(super) fn kernels(&self) -> impl Iterator<Item = [Option<GemmDesc>; 2]> {
        let completions = self.configurations.completions();
        completions
            .all()
            .iter()
            .map(|desc| [Some(*desc), (!completions.ways(desc).is_empty()).then(|| desc.cut(2))])
    }
}

impl<A: MatrixElements, B: MatrixElements, C: MatrixElements> GemmOperation<A, B, C> {
    /// Checks element types, sizes, leading dimensions, lengths, and the arguments that the
    /// epilogue reads.
    ///
    /// # Errors
    /// A [`Refusal`] names the operand, its value, and the limit.
    pub fn can_implement<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<(), Refusal> {
        let here = self.here::<S>(&arguments.queue())?;
        let desc = here.first().for_scalars(&arguments.scalars);
        arguments.check(&desc)?;
        arguments.products()?;
        arguments
            .problems(&desc, None)
            .into_iter()
            .try_for_each(|problem| problem.enter(&desc).map(drop))
    }

    /// Returns the size in bytes of the [workspace](Arguments::workspace) for the fastest
    /// configuration. The size is 0 on the host, and if the kernel needs no copy of an operand, no
    /// split-K partials, and no tables. A smaller workspace excludes configurations. The kernel
    /// then uses fewer split-K slices. Each GEMM of an array is then a separate launch. The call
    /// refuses a workspace that is too small for a required copy. [`Route`](crate::refusal::Route)
    /// lists the copies.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, b, mut d) = (vec![1i8; 33 * 35], vec![1i8; 35 * 31], vec![0i32; 33 * 31]);
    /// let gemm = Gemm::<i8, RowMajor, i8, RowMajor, i32, RowMajor>::new();
    /// assert_eq!(gemm.workspace_size(&Arguments::new((33, 31, 35), &a, &b, &mut d))?, 0);
    /// # Ok::<(), falchion::Refusal>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`can_implement`](Self::can_implement).
    pub fn workspace_size<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<u64, Refusal> {
        let queue = arguments.queue();
        let here = self.here::<S>(&queue)?;
        arguments.products()?;
        let size = arguments.size_for(&here.first(), u64::MAX);
        let desc = here.desc_of::<S>(&queue, &size);
        arguments.check(&desc)?;
        S::workspace_size(&desc, &arguments.problems(&desc, Some(&queue)))
    }

    /// Computes the GEMM: on the CPU for host slices, on their GPU for device slices.
    ///
    /// On a GPU, `run` enqueues the work on the stream of D and returns. `run` allocates only to
    /// grow a `Workspace`. The first call of a kernel compiles the kernel. `prepare` compiles ahead
    /// of time. A call waits for the stream only if `f16x3` must find the range of the operands, or
    /// if it checks offsets or indices on the device, as with
    /// [`groups_checked`](Arguments::groups_checked).
    ///
    /// # Errors
    /// [`Error::Refused`] if the problem does not fit the kernel or the machine, or if the
    /// epilogue does not read an argument. [`Error`] lists the other errors.
    pub fn run<S: Executor>(&self, arguments: Arguments<'_, S, A, B, C>) -> Result<(), Error> {
        self.run_in(&arguments.queue(), arguments)
    }

    /// Computes a batch of `count` GEMMs, as [`run`](Self::run) with [`Arguments::batch`] does.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn batched<S: Executor>(
        &self,
        arguments: Arguments<'_, S, A, B, C>,
        count: usize,
    ) -> Result<(), Error> {
        self.run(arguments.batch(count))
    }

    /// Computes a grouped GEMM: each group of rows of A is multiplied by its own B, as in a mixture
    /// of experts. [`Arguments::groups`] describes the offsets.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // Two experts: rows 0 to 2 of A use the first, and row 3 uses the second.
    /// let (m, n, k) = (4, 2, 3);
    /// let (a, mut d) = (vec![1.0f32; m * k], vec![0.0f32; m * n]);
    /// let experts: Vec<f32> = [vec![1.0; k * n], vec![10.0; k * n]].concat();
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// gemm.grouped(Arguments::new((m, n, k), &a, &experts, &mut d), &[0, 3, 4])?;
    /// assert_eq!(d, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 30.0, 30.0]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and [`Error::Refused`] without a group or for host offsets
    /// that descend or exceed M.
    #[doc(alias = "moe")]
    pub fn grouped<'a, S: Executor>(
        &self,
        arguments: Arguments<'a, S, A, B, C>,
        offsets: impl Readable<'a, u32, In = S>,
    ) -> Result<(), Error> {
        self.run(arguments.groups(offsets))
    }

    /// Enqueues the GEMM in another queue, as [`run`](Self::run) does in the queue of D.
    pub(super) fn run_in<S: Executor>(
        &self,
        queue: &S::Queue,
        arguments: Arguments<'_, S, A, B, C>,
    ) -> Result<(), Error> {
        let here = self.here::<S>(queue)?;
        let size = arguments.size_for(&here.first(), arguments.workspace_given());
        let desc = here.desc_of::<S>(queue, &size);
        arguments.check(&desc)?;
        let several = arguments.products()?.is_some();
        let mut calls = arguments.grown(&desc, queue)?.calls(desc, queue);
        if several {
            return S::execute_array(&desc, queue, calls.collect());
        }
        calls.next().map_or(Ok(()), |call| S::execute(&desc, queue, call))
    }
}

impl Configurations {
    /// Returns the index of the problem's kernel among the candidates, and its split-K slices if K
    /// is split.
    pub(super) fn choice(&self, size: &ProblemSize, machine: &Machine) -> Choice {
        CHOSEN.get_or_choose(self, size, machine, || self.completions().choice(size, machine))
    }

    /// Returns the description that a problem uses on the machine of the queue.
    fn desc_of<S: Executor>(&self, queue: &S::Queue, size: &ProblemSize) -> GemmDesc {
        match S::machine(queue) {
            Some(machine) => self.completions().at(self.choice(size, &machine)),
            None => self.first(),
        }
    }
}

impl<A, B, C> fmt::Debug for GemmOperation<A, B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desc = self.desc();
        f.debug_tuple("GemmOperation")
            .field(&self.types())
            .field(&self.orders())
            .field(&format_args!("{desc}"))
            .finish()
    }
}

#[cfg(test)]
impl Configurations {
    /// The candidate configurations of bf16 on Hopper.
    pub fn bf16_configurations() -> Self {
        let bf16 = Some(MatrixType::row(crate::numeric::ElementKind::Bf16));
        let arch = Some(crate::arch::ArchKind::Sm90);
        let request = Request { a: bf16, b: bf16, arch, ..Request::default() };
        GemmOperation::from_request(&request).expect("a row").configurations
    }
}
