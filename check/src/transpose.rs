//! Transposes: runs tile by tile on the machine.

use crate::machine::{Tile, transpose_tile, whole_pieces};
use falchion::{
    Error, Refusal,
    internals::{
        host::shared::{combined, units_once},
        operand::{
            Elements, HostCall, Problem, View,
            transpose::{TransposeDesc, TransposeProgram},
        },
        schedule::Fault,
    },
};

/// Checks a call against a description; `None` if D is empty.
///
/// # Errors
/// The refusal of the call.
pub(crate) fn entered<'a>(
    desc: &TransposeDesc,
    call: HostCall<'a>,
) -> Result<Option<HostCall<'a>>, Refusal> {
    Ok(Some(desc.enter(call)?).filter(|call| !call.is_empty()))
}

/// Runs one whole tile on names, and checks the units of work of a problem in the kernel's frame.
///
/// # Errors
/// The first fault of the tile or of the units.
pub(crate) fn compose(program: &TransposeProgram, problem: &Problem) -> Result<(), Error> {
    named_tile(program)?;
    let work = program.desc.work(problem)?;
    Ok(units_once(&work, &program.units).try_for_each(|unit| unit.map(drop))?)
}

/// Runs one whole tile on names, and checks that each element arrives at its transposed place.
fn named_tile(program: &TransposeProgram) -> Result<(), Fault> {
    let d = &program.desc;
    let mut misplaced = None;
    // Rows and columns around a tile fit into 32 bits.
    let name = |row: i64, column: i64| u64::from(row as u32) << 32 | u64::from(column as u32);
    let mut sink = |row: i64, column: u32, found: u64| {
        if name(row, column.into()) != found && misplaced.is_none() {
            let [row, found_row, found_column] = [row as u32, (found >> 32) as u32, found as u32];
            misplaced = Some(Fault::Misplaced { row, column, found_row, found_column });
        }
    };
    whole_pieces(program)?;
    // A gathered tile lies inside a larger matrix, and its rows begin at every offset within an
    // access.
    let around = |extent: u32| {
        if d.is_gathered() { -64..i64::from(extent) + 64 } else { 0..i64::from(extent) }
    };
    let tile = Tile {
        rows: around(d.rows),
        columns: around(d.columns),
        beyond_a: &|row| (row * 3).rem_euclid(i64::from(d.access_a)) as u32,
        beyond_d: &|column| column % d.write_alignment(),
        source: &name,
        sink: &mut sink,
    };
    transpose_tile(program, tile, 0, None)?;
    misplaced.map_or(Ok(()), Err)
}

/// Returns an element as bits.
fn word(element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(bytes)
}

/// Runs tile by tile, in the order in which CTAs start.
pub(crate) fn tile_by_tile(
    program: &TransposeProgram,
    call: HostCall<'_>,
    seed: u64,
) -> Result<(), Error> {
    let problem = &call.problem();
    let width = call.d.memory.kind().bytes_of(1) as usize;
    let element = |matrix: &[u8], at: usize| word(&matrix[at * width..][..width]);
    let (rule, d) = (combined(program.desc.combine, problem), call.d.memory.into_bytes());
    let a = (problem.k > 0).then(|| call.a.memory.bytes());
    let c = call.c.matrix().map(|c| (c.memory.bytes(), c.with(())));
    let desc = &program.desc;
    whole_pieces(program)?;
    for taken in units_once(&desc.work(problem)?, &program.units) {
        let (block, units) = taken?;
        let [unit] = units[..] else { continue };
        let matrix = unit.product as usize;
        let (row, column) =
            ((unit.column * desc.rows) as usize, (unit.row * desc.columns) as usize);
        // The extent of the matrix, relative to the first element of the tile. It may begin before
        // the tile and end after it. A matrix has at most 2^63 bytes.
        let around = |extent: usize, first: usize| -(first as i64)..extent as i64 - first as i64;
        let place = |first: usize, by: i64| (first as i64 + by) as usize;
        let source = |i: i64, j: i64| {
            let at =
                matrix * problem.a.batch_stride + problem.a.offset(place(column, j), place(row, i));
            a.map_or(0, |a| element(a, at))
        };
        let mut sink = |i: i64, j: u32, value: u64| {
            let (i, j) = (place(row, i), column + j as usize);
            let place = matrix * problem.d.batch_stride + problem.d.offset(j, i);
            let other = c.map_or_else(
                || element(d, place),
                |(c, at)| element(c, matrix * at.batch_stride + at.offset(j, i)),
            );
            d[place * width..][..width].copy_from_slice(&rule(value, other).to_le_bytes()[..width]);
        };
        let seed = seed ^ u64::from(block);
        let beyond = |line: i64, laid: View<Elements>, along: usize, access: u32| {
            let first = (matrix * laid.batch_stride + along) as i64
                + line.wrapping_mul(laid.strides[0] as i64);
            first.rem_euclid(i64::from(access)) as u32
        };
        let tile = Tile {
            rows: around(problem.n, row),
            columns: around(problem.m, column),
            beyond_a: &|i| beyond(row as i64 + i, problem.a.transposed(), column, desc.access_a),
            beyond_d: &|j| {
                beyond(column as i64 + i64::from(j), problem.d, row, desc.write_alignment())
            },
            source: &source,
            sink: &mut sink,
        };
        transpose_tile(program, tile, seed, None)?;
    }
    Ok(())
}
