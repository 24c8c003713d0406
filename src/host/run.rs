//! A product on the host: the same in both modes but for how a block is computed.

use super::{
    accumulated::Accumulated,
    accumulators::Accumulators,
    chains::Chains,
    composition::{Composition, stored_once},
    fast::compute,
    machine::{Started, run_block},
    operands::{Operands, Product, Tiling, unknown},
    store::Blocks,
    vectors::whole,
};
use crate::{
    call::HostCall,
    desc::GemmDesc,
    error::Error,
    index::{Map, at},
    numeric::{Accumulator, ElementKind, F16, Number, SplitKind, split::SplitBlocks},
    operand::OperandKind,
    plan::{HostProgram, Program},
    refusal::{Refusal, Word},
    schedule::Fault,
    shape::Mnk,
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
    /// Warp by warp, with everything watched, in an order drawn from the seed.
    Checked {
        /// What the order is drawn from.
        seed: u64,
    },
}

/// A program whose threads all follow one schedule, what it composes to where that is known, and how it is run.
struct OneSchedule<'p> {
    program: &'p Program,
    composition: Option<&'p Composition>,
    /// The map (0, block) to the number of a tile.
    order: Map,
    /// Rows and columns of tiles.
    tiles: (usize, usize),
}

/// Runs a program on operands in host memory.
///
/// # Errors
///
/// [`Error::Refused`] when there is no such combination of types, [`Error::Fault`] when the program does what it must not.
pub(crate) fn execute(program: &Program, composition: Option<&Composition>, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
    let (desc, tiles) = (&program.desc, &program.base.tiles);
    let block = tiles.block;
    let blocks = SplitBlocks::of((SplitKind::None, desc.frame), call.k, block.k);
    let tiling = Tiling { block, slices: tiles.warps().k, blocks };
    let tiles @ (rows, columns) = (call.m.div_ceil(block.m as usize), call.n.div_ceil(block.n as usize));
    let Some(mut product) = Product::of(&desc.class, tiling, call)? else { return Ok(()) };
    let order = (program.maps.order)(rows as u32, columns as u32);
    let this = OneSchedule { program, composition, order, tiles };
    match (mode, desc.class.accumulator) {
        (Mode::Checked { seed }, _) => this.checked(seed, &mut product),
        (Mode::Fast, ElementKind::F64) => this.fast::<f64>(&mut product),
        (Mode::Fast, ElementKind::I32) => this.fast::<i32>(&mut product),
        (Mode::Fast, ElementKind::F16) => this.fast::<F16>(&mut product),
        (Mode::Fast, _) => this.fast::<f32>(&mut product),
    }
}

impl OneSchedule<'_> {
    /// The tile of D that a block computes.
    fn place(&self, block: u32) -> Result<(u32, u32), Fault> {
        let (rows, columns) = self.tiles;
        let tile = self.order.at(at(0, block)).ok_or(Fault::LeftOut { map: "order", row: 0, column: block })?;
        let (row, column) = (tile / columns as u32, tile % columns as u32);
        if row as usize >= rows { Err(Fault::TileTwice { row, column }) } else { Ok((row, column)) }
    }

    /// Block by block.
    fn checked(&self, seed: u64, product: &mut Product<'_>) -> Result<(), Error> {
        let (program, (rows, columns)) = (self.program, self.tiles);
        let mut computed = vec![false; rows * columns];
        let stored = stored_once(program).and_then(|()| whole(program));
        for block in 0..(rows * columns) as u32 {
            let tile @ (row, column) = self.place(block)?;
            match computed.get_mut(row as usize * columns + column as usize) {
                Some(known) if !*known => *known = true,
                _ => return Err(Fault::TileTwice { row, column }.into()),
            }
            let order = seed ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let accumulators = checked_block(program, &product.operands, tile, order, stored)?;
            let extents = (program.base.tiles.block.m as usize, program.base.tiles.block.n as usize);
            let (piece, kind) = (accumulators.len(), accumulators.kind());
            Blocks { tiles: &[tile], extents, accumulators: accumulators.bytes(), piece, kind }.store(product)?;
        }
        Ok(())
    }

    /// Many blocks at once, through the composition.
    fn fast<T: Accumulator + Number>(&self, product: &mut Product<'_>) -> Result<(), Error> {
        let own;
        let composition = match self.composition {
            Some(composition) => composition,
            None => {
                own = Composition::of(self.program)?;
                &own
            }
        };
        compute(&Chains::<T>::of(product.operands, composition)?, self.tiles, |block| self.place(block), product)
    }
}

/// A block of the checked mode. `stored` is whether accumulators are stored once; what goes wrong before that is told first.
fn checked_block(
    program: &Program,
    operands: &Operands<'_>,
    (row, column): (u32, u32),
    seed: u64,
    stored: Result<(), Fault>,
) -> Result<Accumulators, Error> {
    let (class, base) = (&program.desc.class, &program.base);
    let Mnk { m, n, .. } = base.tiles.block;
    let walks = [
        operands.iterator(OperandKind::A, u64::from(row) * u64::from(m)),
        operands.iterator(OperandKind::B, u64::from(column) * u64::from(n)),
    ];
    let matrices = OperandKind::BOTH.map(|operand| operands.matrix(operand));
    let [Some(of_a), Some(of_b)] = matrices.map(|matrix| Accumulators::words_of(class.accumulator, matrix.kind)) else {
        return Err(unknown(class));
    };
    let words = [of_a, of_b];
    let source = |operand: OperandKind, tile: u32, mn: u32, k: u32| {
        let element = walks[operand.index()].element(tile, mn, k);
        element.map_or(0, |(mn, k)| words[operand.index()](matrices[operand.index()].from(mn as usize, k as usize)))
    };
    let accumulators = Accumulated::Numbers(Accumulators::zeros(base.accumulator, base.tiles.accumulators() as usize));
    let threads = run_block(program, &Started { source: &source, accumulators, tiles: operands.tiles, seed }, None)?;
    stored?;
    let mut tile = Accumulators::zeros(base.accumulator, (m * n) as usize);
    for thread in 0..base.tiles.threads_per_slice() {
        for index in 0..base.tiles.accumulators() {
            if let Some(place) = program.maps.accumulator.at(at(thread, index)) {
                tile.set(place as usize, threads[thread as usize].word(index));
            }
        }
    }
    Ok(tile)
}

/// A program and what it composes to, once for each description.
pub(crate) struct Composed {
    pub program: Program,
    pub composition: Composition,
}

/// Descriptions whose programs are kept.
const KEPT: usize = 1024;

/// The program of a description that has been checked, composed.
pub(crate) fn composed(desc: &GemmDesc) -> Result<Arc<Composed>, Error> {
    static KNOWN: LazyLock<Mutex<HashMap<GemmDesc, Arc<Composed>>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(composed) = known().get(desc) {
        return Ok(composed.clone());
    }
    let HostProgram::OneSchedule(program) = desc.plan()?.program()? else {
        return Err(Refusal::HasRoles { mainloop: Word(desc.family.mainloop().name()) }.into());
    };
    let composition = Composition::of(&program)?;
    let composed = Arc::new(Composed { program: *program, composition });
    let mut known = known();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(*desc, composed.clone());
    Ok(composed)
}
