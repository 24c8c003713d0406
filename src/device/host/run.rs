//! A product on the host: the same in both modes but for how a block is computed.

use super::{
    Fault, Program,
    block::Block,
    fast::FastBlocks,
    plan::{Plan, stored_once},
    store::Store,
    vectors::whole,
};
use crate::{
    desc::{GemmDesc, OperandKind},
    device::{
        arguments::Source,
        space::{HostSlice, HostSliceMut},
    },
    epilogue::SCALARS,
    error::Error,
    index::at,
    numeric::{Combination, Element, Visit, Widen, dispatch},
    threadblock::tile_iterator::TileIterator,
};
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// How the host runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Composed, vectorized, parallel over blocks.
    Fast,
    /// Thread by thread, with everything watched; threads take turns in an order drawn from the seed.
    Checked {
        /// What the order is drawn from.
        seed: u64,
    },
}

/// A row-major problem: extents, leading dimensions in elements, scalars. Checked by whoever makes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Problem {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub lda: usize,
    pub ldb: usize,
    pub ldc: usize,
    pub ldd: usize,
    pub scalars: [f64; SCALARS],
}

/// Operands in host memory, their element types known to the description.
pub(crate) struct Inputs<'a> {
    pub a: HostSlice<'a>,
    pub b: HostSlice<'a>,
    pub c: Source<HostSlice<'a>>,
    pub d: HostSliceMut<'a>,
}

/// Operands, their types known.
pub(super) struct Typed<'a, T: Combination> {
    pub desc: &'a GemmDesc,
    pub problem: Problem,
    pub a: &'a [<T::A as Element>::Storage],
    pub b: &'a [<T::B as Element>::Storage],
    /// Tiles along K that are multiplied: none when the epilogue reads no accumulator.
    pub tiles: u32,
}

impl<T: Combination> Typed<'_, T> {
    /// The walk of the block at `origin` over an operand.
    pub fn iterator(&self, operand: OperandKind, origin: u64) -> TileIterator {
        let extent = if operand == OperandKind::A { self.problem.m } else { self.problem.n };
        TileIterator { origin, extent_mn: extent as u64, extent_k: self.problem.k as u64, tile_k: self.desc.threadblock.k }
    }

    /// Distances between neighbours along MN and along K, in elements.
    pub fn strides(&self, operand: OperandKind) -> (usize, usize) {
        let leading = if operand == OperandKind::A { self.problem.lda } else { self.problem.ldb };
        if self.desc.operand(operand).k_contiguous { (leading, 1) } else { (1, leading) }
    }

    /// Element (`row`, `column`) of an operand seen as MN x K; outside of it, zero.
    pub fn element(&self, operand: OperandKind, element: Option<(u64, u64)>) -> T::Accumulator {
        let (along_mn, along_k) = self.strides(operand);
        let Some((mn, k)) = element else { return T::Accumulator::default() };
        let at = mn as usize * along_mn + k as usize * along_k;
        match operand {
            OperandKind::A => self.a.get(at).map_or_else(Default::default, |x| x.widen()),
            OperandKind::B => self.b.get(at).map_or_else(Default::default, |x| x.widen()),
        }
    }
}

/// The sums of one block, row by row of its tile.
pub(super) type Tile<T> = Vec<<T as Combination>::Accumulator>;

/// What computes D once the types are known.
pub(super) trait HostKernel {
    /// The description.
    fn desc(&self) -> &GemmDesc;
    /// Computes D; C is there where it is read.
    fn compute<T: Combination>(
        &self,
        typed: &Typed<'_, T>,
        source: Source<&[<T::C as Element>::Storage]>,
        d: &mut [<T::C as Element>::Storage],
    ) -> Result<(), Error>;
}

/// Gives operands in host memory their types, and has D computed where there is any.
///
/// # Errors
///
/// [`Error::Refused`] when there is no such combination of types, [`Error::Fault`] when the program does what it must not.
pub(super) fn with_types(computer: &impl HostKernel, problem: Problem, inputs: Inputs<'_>) -> Result<(), Error> {
    struct Run<'r, 'a, X> {
        computer: &'r X,
        problem: Problem,
        inputs: Inputs<'a>,
    }
    impl<X: HostKernel> Visit for Run<'_, '_, X> {
        type Out = Result<(), Error>;
        fn visit<T: Combination>(self) -> Self::Out {
            let (Inputs { a, b, c, d }, desc) = (self.inputs, self.computer.desc());
            let (a, b, d) = (a.of::<T::A>()?, b.of::<T::B>()?, d.of::<T::C>()?);
            let reads = desc.epilogue.reads(&self.problem.scalars);
            let tiles = if reads.accumulator { desc.blocks(self.problem.k).tiles() } else { 0 };
            let typed = Typed::<T> { desc, problem: self.problem, a, b, tiles };
            let source = match c {
                _ if !reads.source => Source::None,
                Source::None => Source::None,
                Source::InPlace => Source::InPlace,
                Source::Matrix(c) => Source::Matrix(c.of::<T::C>()?),
            };
            if self.problem.m == 0 || self.problem.n == 0 {
                return Ok(());
            }
            self.computer.compute(&typed, source, d)
        }
    }
    dispatch(computer.desc(), Run { computer, problem, inputs })?
}

/// A program whose threads all follow one schedule, its plan where it has been composed, and how it is run.
struct OneSchedule<'p> {
    program: &'p Program,
    plan: Option<&'p Plan>,
    mode: Mode,
}

/// Runs a program on operands in host memory.
///
/// # Errors
///
/// Those of [`with_types`].
pub(crate) fn execute(
    program: &Program,
    plan: Option<&Plan>,
    mode: Mode,
    problem: Problem,
    inputs: Inputs<'_>,
) -> Result<(), Error> {
    with_types(&OneSchedule { program, plan, mode }, problem, inputs)
}

impl HostKernel for OneSchedule<'_> {
    fn desc(&self) -> &GemmDesc {
        &self.program.desc
    }

    fn compute<T: Combination>(
        &self,
        typed: &Typed<'_, T>,
        source: Source<&[<T::C as Element>::Storage]>,
        d: &mut [<T::C as Element>::Storage],
    ) -> Result<(), Error> {
        let (desc, problem, program) = (typed.desc, &typed.problem, self.program);
        let (rows, columns) = (problem.m.div_ceil(desc.threadblock.m as usize), problem.n.div_ceil(desc.threadblock.n as usize));
        let order = (program.maps.order)(rows as u32, columns as u32);
        let place = |block: u32| {
            let tile = order.at(at(0, block)).ok_or(Fault::LeftOut { map: "order", row: 0, column: block })?;
            let (row, column) = (tile / columns as u32, tile % columns as u32);
            if row as usize >= rows { Err(Fault::TileTwice { row, column }) } else { Ok((row, column)) }
        };
        let store = Store::new(typed, source);
        let mut blocks = 0..(rows * columns) as u32;
        match self.mode {
            Mode::Checked { seed } => {
                let mut computed = vec![false; rows * columns];
                let stored = stored_once(program).and_then(|()| whole(program));
                for block in blocks {
                    let tile @ (row, column) = place(block)?;
                    match computed.get_mut(row as usize * columns + column as usize) {
                        Some(known) if !*known => *known = true,
                        _ => return Err(Fault::TileTwice { row, column }.into()),
                    }
                    let order = seed ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let sums = checked_block(program, typed, tile, order, stored)?;
                    store.blocks(&[tile], &sums, sums.len(), d);
                }
            }
            Mode::Fast => {
                let own;
                let plan = match self.plan {
                    Some(plan) => plan,
                    None => {
                        own = Plan::of(program)?;
                        &own
                    }
                };
                let fast = FastBlocks::new(typed, plan);
                let mut sums = Vec::new();
                while !blocks.is_empty() {
                    let batch = fast.batch(&mut blocks, place)?;
                    let piece = fast.sums(&batch, &mut sums);
                    store.blocks(&batch.tiles, &sums, piece, d);
                }
            }
        }
        Ok(())
    }
}

/// A block of the checked mode. `stored` is whether sums are stored once; what goes wrong before that is told first.
fn checked_block<T: Combination>(
    program: &Program,
    typed: &Typed<'_, T>,
    (row, column): (u32, u32),
    seed: u64,
    stored: Result<(), Fault>,
) -> Result<Tile<T>, Fault> {
    let d = typed.desc;
    let walks = [
        typed.iterator(OperandKind::A, u64::from(row) * u64::from(d.threadblock.m)),
        typed.iterator(OperandKind::B, u64::from(column) * u64::from(d.threadblock.n)),
    ];
    let source =
        |operand: OperandKind, tile: u32, mn: u32, k: u32| typed.element(operand, walks[operand.index()].element(tile, mn, k));
    let block = Block::run(program, &source, typed.tiles, seed)?;
    stored?;
    let mut sums = vec![T::Accumulator::default(); (d.threadblock.m * d.threadblock.n) as usize];
    for thread in 0..d.threads_per_slice() {
        for (index, sum) in (0..).zip(&block.threads[thread as usize].sums) {
            if let Some(place) = program.maps.accumulator.at(at(thread, index)) {
                sums[place as usize] = *sum;
            }
        }
    }
    Ok(sums)
}

/// A program and its plan, composed once for each description.
pub(crate) struct Composed {
    pub program: Program,
    pub plan: Plan,
}

/// Descriptions whose plans are kept.
const KEPT: usize = 1024;

/// The program and plan of a description that has been checked.
pub(crate) fn composed(desc: &GemmDesc) -> Result<Arc<Composed>, Fault> {
    static KNOWN: LazyLock<Mutex<HashMap<GemmDesc, Arc<Composed>>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(composed) = known().get(desc) {
        return Ok(composed.clone());
    }
    let program = Program::of(desc);
    let plan = Plan::of(&program)?;
    let composed = Arc::new(Composed { program, plan });
    let mut known = known();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(*desc, composed.clone());
    Ok(composed)
}
