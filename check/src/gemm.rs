//! Kernels whose threads all follow one schedule: runs CTA by CTA on the machine.

use crate::{
    accumulated::Accumulated,
    accumulators::Accumulators,
    machine::{Started, run_block},
};
use falchion::{
    Error,
    internals::{
        host::{
            progress::BLOCKS,
            shared::{
                Blocks, Operands, Product, Tiling, matrix_of, product_of, stored_once, tiling,
                units_once, unknown, vectors::whole, work,
            },
        },
        index::{IndexMap, at},
        nest::Program,
        operand::{HostCall, HostSlice},
        schedule::Fault,
        shape::OperandKind,
    },
    shape::Mnk,
    threadblock::{Unit, Work},
};
use std::collections::HashMap;

/// A program whose threads all follow one schedule, and its work.
struct OneSchedule<'p> {
    program: &'p Program,
    work: Work,
}

/// Runs a program on operands in host memory: on one call, or on the calls of a pointer array, in
/// the kernel's frame. `calls` may be empty.
///
/// # Errors
/// [`Error::Refused`] if the class does not support the element types. [`Error::Fault`] if the
/// program has a fault.
pub(crate) fn execute(
    program: &Program,
    seed: u64,
    calls: &mut [HostCall<'_>],
) -> Result<(), Error> {
    let Some(call) = calls.first() else { return Ok(()) };
    let products = if calls.len() > 1 { calls.len() } else { call.batch };
    let tiling = tiling(program, call.k);
    let work = work(program, tiling, (call.m, call.n), products)?;
    OneSchedule { program, work }.run(seed, tiling, calls)
}

impl OneSchedule<'_> {
    /// Runs CTA by CTA on the machine.
    fn run(&self, seed: u64, tiling: Tiling, calls: &mut [HostCall<'_>]) -> Result<(), Error> {
        let (program, work) = (self.program, self.work);
        let stored = stored_once(program).and_then(|()| whole(program));
        BLOCKS.expect(work.clusters.into());
        let mut slices = HashMap::<_, Vec<_>>::new();
        for taken in units_once(&work, &program.units) {
            BLOCKS.advance();
            let (block, units) = taken?;
            let order = seed ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut read = Vec::with_capacity(units.len());
            for unit in units {
                let number = unit.product as usize;
                let factors = factors_of(calls, &*program.records, number)?;
                // Types are checked before any element is read.
                let problem = Product::new(
                    &program.desc,
                    tiling,
                    product_of(calls, &*program.records, number)?,
                )?
                .operands
                .problem;
                let bytes = factors.map(|factor| factor.bytes());
                let operands = Operands {
                    desc: &program.desc,
                    tiling,
                    problem,
                    bytes,
                    epilogue: Default::default(),
                };
                read.push((unit, operands));
            }
            let tiles = checked_block(program, &read, order, stored)?;
            for ((unit, _), mut accumulators) in read.iter().zip(tiles) {
                let Unit { product, row, column, slice, .. } = *unit;
                if unit.slices > 1 {
                    // The last slice to arrive adds all slices.
                    let arrived = slices.entry((product, row, column)).or_default();
                    arrived.push((slice, accumulators));
                    if arrived.len() < unit.slices as usize {
                        continue;
                    }
                    arrived.sort_by_key(|(slice, _)| *slice);
                    accumulators = Accumulators::sum_slices(
                        &arrived.iter().map(|(_, partial)| partial).collect::<Vec<_>>(),
                    );
                    arrived.clear();
                }
                let call = product_of(calls, &*program.records, product as usize)?;
                let mut product = Product::new(&program.desc, tiling, call)?;
                let extents =
                    (program.base.tiles.block.m as usize, program.base.tiles.block.n as usize);
                let (piece, kind) = (accumulators.len(), accumulators.kind());
                let blocks = Blocks {
                    tiles: &[(row, column)],
                    extents,
                    accumulators: accumulators.bytes(),
                    piece,
                    kind,
                };
                blocks.store(&mut product)?;
            }
        }
        Ok(())
    }
}

/// Runs the units of work of one CTA on the machine, each with A and B of its GEMM. `stored`
/// is the result of [`stored_once`]; a fault of the run takes precedence over it.
fn checked_block(
    program: &Program,
    units: &[(Unit, Operands<'_>)],
    seed: u64,
    stored: Result<(), Fault>,
) -> Result<Vec<Accumulators>, Error> {
    let (desc, base) = (&program.desc, &program.base);
    let Mnk { m, n, .. } = base.tiles.block;
    let [Some(of_a), Some(of_b)] = OperandKind::BOTH.map(|operand| {
        Accumulators::words_of(desc.output.accumulator, desc.operand(operand).stored)
    }) else {
        return Err(unknown(desc));
    };
    let words = [of_a, of_b];
    let walks = |(unit, operands): &(Unit, Operands<'_>)| {
        [
            operands.iterator(OperandKind::A, u64::from(unit.row) * u64::from(m)),
            operands.iterator(OperandKind::B, u64::from(unit.column) * u64::from(n)),
        ]
    };
    // For each k-tile of all units: its unit and its number along K.
    let of_unit = |(i, (unit, _)): (usize, &(Unit, _))| {
        (unit.k_begin..unit.k_begin + unit.k_count).map(move |k| (i, k))
    };
    let k_tiles: Vec<_> = units.iter().enumerate().flat_map(of_unit).collect();
    let read: Vec<_> = units
        .iter()
        .map(|of| (walks(of), OperandKind::BOTH.map(|operand| of.1.matrix(operand))))
        .collect();
    let source = |operand: OperandKind, tile: u32, mn: u32, k: u32| {
        let ((unit, k_tile), side) = (k_tiles[tile as usize], operand.index());
        let (walks, matrices) = &read[unit];
        let element = walks[side].element(k_tile, mn, k);
        element.map_or(0, |(mn, k)| words[side](matrices[side].from(mn as usize, k as usize)))
    };
    let accumulators =
        Accumulated::Numbers(Accumulators::for_block(base, base.tiles.accumulators() as usize));
    let tiles: Vec<_> = units.iter().map(|(unit, _)| unit.k_count).collect();
    let threads =
        run_block(program, &Started { source: &source, accumulators, tiles: &tiles, seed }, None)?;
    stored?;
    let tile_of = |unit: usize| {
        let mut tile = Accumulators::for_block(base, (m * n) as usize);
        for (thread, index) in (0..base.tiles.threads_per_warp_slice())
            .flat_map(|t| (0..base.tiles.accumulators()).map(move |i| (t, i)))
        {
            if let Some(place) = program.maps.accumulator.at(at(thread, index)) {
                tile.set(place as usize, threads[thread as usize][unit].word(index));
            }
        }
        tile
    };
    Ok((0..units.len()).map(tile_of).collect())
}

/// Returns A and B of GEMM `product`, with the lifetime of the calls' memory.
///
/// # Errors
/// [`Fault::LeftOut`] if the map of records has no matrix there.
fn factors_of<'a>(
    calls: &[HostCall<'a>],
    records: &dyn IndexMap,
    product: usize,
) -> Result<[HostSlice<'a>; 2], Fault> {
    if let [batch] = calls {
        return Ok(batch.factors(product));
    }
    let row = product as u32;
    let [(of_a, _), (of_b, _)] =
        [matrix_of(records, calls.len(), (row, 0))?, matrix_of(records, calls.len(), (row, 1))?];
    Ok([calls[of_a].a.memory, calls[of_b].b.memory])
}
