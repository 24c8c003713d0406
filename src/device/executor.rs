//! What runs a description: one trait, one implementation for each space.

use crate::{
    arch::Machine,
    call::{Arguments, Host, HostMatrices, HostSlice, HostSliceMut, MatrixShape, Shapes, Source, Space},
    desc::GemmDesc,
    error::Error,
    host::{Mode, composed, execute, warp_specialized},
    layout::{Order, Orders},
    numeric::Element,
    plan::{Program, WarpSpecializedProgram},
    refusal::Refusal,
};

/// A space whose operands can be multiplied where they are.
pub trait Executor: Space {
    /// Number of elements that are there, from the first of the matrix on.
    fn length<T: bytemuck::Pod>(matrix: &Self::Ref<'_, T>) -> usize;
    /// The same of a matrix that is written.
    fn length_mut<T: bytemuck::Pod>(matrix: &Self::Mut<'_, T>) -> usize;
    /// Computes the product.
    ///
    /// # Errors
    ///
    /// Those of [`Gemm::run`](super::Gemm::run).
    fn execute<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        orders: Orders,
        arguments: Arguments<'_, Self, A, B, C>,
    ) -> Result<(), Error>;

    /// Bytes of the workspace that the product takes.
    ///
    /// # Errors
    ///
    /// Those of [`Gemm::workspace_size`](super::Gemm::workspace_size).
    fn workspace_size<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        orders: Orders,
        arguments: &Arguments<'_, Self, A, B, C>,
    ) -> Result<u64, Refusal>;

    /// The machine that computes, where a configuration may be chosen for it.
    fn machine<A: Element, B: Element, C: Element>(_: &Arguments<'_, Self, A, B, C>) -> Option<Machine> {
        None
    }

    /// The problem without its data; leading dimensions that were not given are those of packed matrices.
    fn shapes<A: Element, B: Element, C: Element>(arguments: &Arguments<'_, Self, A, B, C>, orders: Orders) -> Shapes {
        let (m, n, k) = arguments.extents;
        let [lda, ldb, ldc, ldd] = arguments.leading;
        let matrix = |order: Order, leading: Option<usize>, rows, columns, length| MatrixShape {
            order,
            leading: leading.unwrap_or(order.packed(rows, columns)),
            length,
        };
        let in_place = matches!(arguments.c, Source::InPlace);
        Shapes {
            m,
            n,
            k,
            a: matrix(orders.a, lda, m, k, Self::length(&arguments.a)),
            b: matrix(orders.b, ldb, k, n, Self::length(&arguments.b)),
            c: match &arguments.c {
                Source::None => Source::None,
                Source::InPlace => Source::InPlace,
                Source::Matrix(c) => Source::Matrix(matrix(orders.c, ldc, m, n, Self::length(c))),
            },
            d: matrix(orders.c, ldd.or(if in_place { ldc } else { None }), m, n, Self::length_mut(&arguments.d)),
            scalars: arguments.scalars,
        }
    }
}

impl Executor for Host {
    fn length<T: bytemuck::Pod>(matrix: &&[T]) -> usize {
        matrix.len()
    }

    fn length_mut<T: bytemuck::Pod>(matrix: &&mut [T]) -> usize {
        matrix.len()
    }

    fn execute<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        orders: Orders,
        arguments: Arguments<'_, Self, A, B, C>,
    ) -> Result<(), Error> {
        let shapes = Self::shapes(&arguments, orders);
        let matrices = HostMatrices {
            a: HostSlice::new::<A>(arguments.a),
            b: HostSlice::new::<B>(arguments.b),
            c: arguments.c.map(HostSlice::new::<C>),
            d: HostSliceMut::new::<C>(arguments.d),
        };
        run_on_host(desc, Mode::Fast, &shapes, matrices)
    }

    /// None: the host reads every operand where it lies.
    fn workspace_size<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        orders: Orders,
        arguments: &Arguments<'_, Self, A, B, C>,
    ) -> Result<u64, Refusal> {
        Self::shapes(arguments, orders).check(&desc.for_scalars(&arguments.scalars)).map(|()| 0)
    }
}

/// Runs a description on operands in host memory: the one way, for types and for values.
///
/// # Errors
///
/// [`Error::Refused`] when the description or the product is refused, [`Error::Fault`] when the checked mode finds one.
pub fn run_on_host(desc: &GemmDesc, mode: Mode, shapes: &Shapes, matrices: HostMatrices<'_>) -> Result<(), Error> {
    let desc = desc.for_scalars(&shapes.scalars);
    // The host has every instruction and all the memory that a tag stands for.
    desc.check()?;
    shapes.check(&desc)?;
    // The fast mode knows no slices of D: sums are the same where A and B change places.
    let desc = if mode == Mode::Fast { desc.of_rows() } else { desc };
    let (problem, inputs) = canonical(&desc, shapes, matrices)?;
    match (desc.warp_specialized(), mode) {
        (Some(desc), Mode::Fast) => warp_specialized::execute_fast(&desc, problem, inputs),
        (Some(desc), Mode::Checked { seed }) => warp_specialized::execute_program(&desc.program()?, seed, problem, inputs),
        (None, _) => {
            let known = composed(&desc)?;
            execute(&known.program, Some(&known.composition), mode, problem, inputs)
        }
    }
}

/// Runs a program whose maps, schedule or description someone has changed, to see what becomes of it.
///
/// # Errors
///
/// Those of [`run_on_host`].
pub fn run_program(program: &Program, mode: Mode, shapes: &Shapes, matrices: HostMatrices<'_>) -> Result<(), Error> {
    let desc = program.desc;
    desc.check()?;
    shapes.check(&desc)?;
    let (problem, inputs) = canonical(&desc, shapes, matrices)?;
    execute(program, None, mode, problem, inputs)
}

/// Runs a program of the warp-specialized family, checked; someone may have changed its ring, its maps or its numbers.
///
/// # Errors
///
/// Those of [`run_on_host`].
pub fn run_warp_specialized(
    program: &WarpSpecializedProgram,
    seed: u64,
    shapes: &Shapes,
    matrices: HostMatrices<'_>,
) -> Result<(), Error> {
    let desc = program.desc.sum();
    desc.check()?;
    shapes.check(&desc)?;
    let (problem, inputs) = canonical(&desc, shapes, matrices)?;
    warp_specialized::execute_program(program, seed, problem, inputs)
}

/// The problem as a kernel sees it, and its operands: A and B change places where the description's do.
fn canonical<'a>(desc: &GemmDesc, shapes: &Shapes, mut matrices: HostMatrices<'a>) -> Result<(Shapes, HostMatrices<'a>), Error> {
    if desc.frame.is_exchanged() {
        core::mem::swap(&mut matrices.a, &mut matrices.b);
    }
    Ok((shapes.canonical_for(desc)?, matrices))
}
