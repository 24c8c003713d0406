//! A whole transpose on the host.

use super::element::{Linear, Move, Rule};
use crate::{
    error::Error,
    host::{
        Mode,
        machine::{Tile, transpose_tile, whole_pieces},
    },
    numeric::ElementKind,
    pass::transpose::{Combine, Strided, TransposeDesc, TransposeMatrices, TransposeProgram, TransposeShapes},
    refusal::Refusal,
    schedule::Fault,
};
use std::{
    collections::HashSet,
    sync::{LazyLock, PoisonError, RwLock},
};

/// Descriptions whose programs were seen to transpose a tile.
static COMPOSED: LazyLock<RwLock<HashSet<TransposeDesc>>> = LazyLock::new(RwLock::default);

/// Runs a description that has been checked, on a problem that has been checked.
pub(crate) fn run(
    desc: &TransposeDesc,
    mode: Mode,
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
) -> Result<(), Error> {
    let program = TransposeProgram::of(desc);
    let known = || COMPOSED.read().unwrap_or_else(PoisonError::into_inner).contains(desc);
    if mode == Mode::Fast && !known() {
        composed(&program)?;
        COMPOSED.write().unwrap_or_else(PoisonError::into_inner).insert(*desc);
    }
    execute(&program, mode, shapes, matrices)
}

/// The same of a program that someone has changed.
pub(crate) fn run_changed(
    program: &TransposeProgram,
    mode: Mode,
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
) -> Result<(), Error> {
    if mode == Mode::Fast {
        composed(program)?;
        tiles(program, shapes)?;
    }
    execute(program, mode, shapes, matrices)
}

/// Runs one whole tile on names: each element of it has to arrive where its transpose belongs.
fn composed(program: &TransposeProgram) -> Result<(), Fault> {
    let d = &program.desc;
    let mut misplaced = None;
    // Of a tile and its surroundings rows and columns have 32 bits.
    let name = |row: i64, column: i64| u64::from(row as u32) << 32 | u64::from(column as u32);
    let mut sink = |row: i64, column: u32, found: u64| {
        if name(row, column.into()) != found && misplaced.is_none() {
            let [row, found_row, found_column] = [row as u32, (found >> 32) as u32, found as u32];
            misplaced = Some(Fault::Misplaced { row, column, found_row, found_column });
        }
    };
    whole_pieces(program)?;
    // Tiles in the midst of others, whose rows begin at every place of an access.
    let around = |extent: u32| if d.is_gathered() { -64..i64::from(extent) + 64 } else { 0..i64::from(extent) };
    let tile = Tile {
        rows: around(d.rows),
        columns: around(d.columns),
        beyond_a: &|row| (row * 3).rem_euclid(i64::from(d.access_a)) as u32,
        beyond_d: &|column| column % d.access_d,
        source: &name,
        sink: &mut sink,
    };
    transpose_tile(program, tile, 0, None)?;
    misplaced.map_or(Ok(()), Err)
}

fn execute(
    program: &TransposeProgram,
    mode: Mode,
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
) -> Result<(), Error> {
    if shapes.is_empty() {
        return Ok(());
    }
    let kind = matrices.d.kind();
    let wanted = program.desc.combine.kind().unwrap_or(kind);
    let b = matrices.b.matrix().map(|b| b.kind());
    for given in [kind, matrices.a.kind()].into_iter().chain(b) {
        if given != wanted {
            return Err(Refusal::ElementType { given, wanted }.into());
        }
    }
    if kind.bytes_of(1) != program.desc.element_bytes {
        return Err(Refusal::ElementBytes { given: kind, bytes: program.desc.element_bytes }.into());
    }
    if let Mode::Checked { seed } = mode {
        return checked(program, shapes, matrices, seed).map_err(Error::from);
    }
    match (program.desc.combine, kind.bytes_of(1)) {
        (Combine::F32, _) => fast::<f32>(shapes, matrices, &Linear::<f32>::new(shapes)),
        (Combine::F64, _) => fast::<f64>(shapes, matrices, &Linear::<f64>::new(shapes)),
        (Combine::Move, 1) => fast::<u8>(shapes, matrices, &Move),
        (Combine::Move, 2) => fast::<u16>(shapes, matrices, &Move),
        (Combine::Move, 4) => fast::<u32>(shapes, matrices, &Move),
        (Combine::Move, _) => fast::<u64>(shapes, matrices, &Move),
    }
}

fn fast<T: bytemuck::Pod + Send + Sync>(
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
    rule: &impl Rule<T>,
) -> Result<(), Error> {
    let TransposeMatrices { a, b, mut d } = matrices;
    let kind = d.kind();
    let b = b.matrix().zip(shapes.source());
    let b = b.map(|(b, at)| Ok::<_, Error>((elements::<T>(kind, b.bytes())?, at))).transpose()?;
    let a = if shapes.reads_a() { elements::<T>(kind, a.bytes())? } else { &[] };
    let d = bytemuck::try_cast_slice_mut::<u8, T>(d.bytes_mut()).map_err(|_| unaligned(kind))?;
    super::fast::run(shapes, a, b, d, rule);
    Ok(())
}

fn elements<T: bytemuck::Pod>(kind: ElementKind, bytes: &[u8]) -> Result<&[T], Error> {
    bytemuck::try_cast_slice(bytes).map_err(|_| unaligned(kind))
}

fn unaligned(kind: ElementKind) -> Error {
    Refusal::ElementType { given: kind, wanted: kind }.into()
}

/// What becomes of an element of A and of one of B at its place, all as bits.
fn combined(combine: Combine, shapes: &TransposeShapes) -> Box<dyn Fn(u64, u64) -> u64> {
    match combine {
        Combine::Move => Box::new(|x, _| x),
        Combine::F32 => {
            let (linear, of) = (Linear::<f32>::new(shapes), |word: u64| f32::from_bits(word as u32));
            Box::new(move |x, y| linear.of(|| of(x), || of(y)).to_bits().into())
        }
        Combine::F64 => {
            let linear = Linear::<f64>::new(shapes);
            Box::new(move |x, y| linear.of(|| f64::from_bits(x), || f64::from_bits(y)).to_bits())
        }
    }
}

/// An element as bits.
fn word(element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(bytes)
}

/// The (row, column) of the tile of D that each block computes: every tile once.
fn tiles(program: &TransposeProgram, shapes: &TransposeShapes) -> Result<Vec<(u32, u32)>, Fault> {
    // Grids of more tiles than 32 bits count have been refused.
    let (down, across) = shapes.tiles(&program.desc);
    let (down, across) = (down as u32, across as u32);
    let order = (program.order)(down, across);
    let mut computed = vec![false; (down * across) as usize];
    let tile = |block| {
        let number = order.at(crate::index::at(0, block)).unwrap_or(u32::MAX);
        let (row, column) = (number / across, number % across);
        let twice = computed.get_mut(number as usize).is_none_or(|seen| core::mem::replace(seen, true));
        if twice { Err(Fault::TileTwice { row, column }) } else { Ok((row, column)) }
    };
    (0..down * across).map(tile).collect()
}

/// Tile by tile, in the order in which blocks start.
fn checked(
    program: &TransposeProgram,
    shapes: &TransposeShapes,
    matrices: TransposeMatrices<'_>,
    seed: u64,
) -> Result<(), Fault> {
    let TransposeMatrices { a, b, mut d } = matrices;
    let width = d.kind().bytes_of(1) as usize;
    let element = |matrix: &[u8], at: usize| word(&matrix[at * width..][..width]);
    let (rule, d) = (combined(program.desc.combine, shapes), d.bytes_mut());
    let (a, b) = (shapes.reads_a().then_some(a.bytes()), b.matrix().map(|b| b.bytes()).zip(shapes.source()));
    let desc = &program.desc;
    whole_pieces(program)?;
    let tiles = tiles(program, shapes)?;
    for matrix in 0..shapes.batch {
        for (block, &(tile_row, tile_column)) in (0..).zip(&tiles) {
            let (row, column) = ((tile_column * desc.rows) as usize, (tile_row * desc.columns) as usize);
            // Of the matrix in elements from the tile's first, which may lie before it or beyond the last: at most 2^63 bytes.
            let around = |extent: usize, first: usize| -(first as i64)..extent as i64 - first as i64;
            let place = |first: usize, by: i64| (first as i64 + by) as usize;
            let source = |i: i64, j: i64| {
                let at = matrix * shapes.a.stride + place(row, i) * shapes.a.leading + place(column, j);
                a.map_or(0, |a| element(a, at))
            };
            let mut sink = |i: i64, j: u32, value: u64| {
                let (i, j) = (place(row, i), column + j as usize);
                let place = matrix * shapes.d.stride + j * shapes.d.leading + i;
                let other = b.map_or_else(|| element(d, place), |(b, at)| element(b, matrix * at.stride + j * at.leading + i));
                d[place * width..][..width].copy_from_slice(&rule(value, other).to_le_bytes()[..width]);
            };
            let seed = seed ^ (matrix as u64) << 32 ^ block;
            let beyond = |line: i64, laid: Strided, along: usize, access: u32| {
                let first = (matrix * laid.stride + along) as i64 + line.wrapping_mul(laid.leading as i64);
                first.rem_euclid(i64::from(access)) as u32
            };
            let tile = Tile {
                rows: around(shapes.rows, row),
                columns: around(shapes.columns, column),
                beyond_a: &|i| beyond(row as i64 + i, shapes.a, column, desc.access_a),
                beyond_d: &|j| beyond(column as i64 + i64::from(j), shapes.d, row, desc.access_d),
                source: &source,
                sink: &mut sink,
            };
            transpose_tile(program, tile, seed, None)?;
        }
    }
    Ok(())
}
