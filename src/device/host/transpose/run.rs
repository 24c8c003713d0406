//! A whole transpose on the host.

use super::{
    TransposeProgram,
    block::{self, Tile},
    element::{Linear, Move, Rule},
    fast,
    watch::Unwatched,
};
use crate::{
    device::{
        host::{Fault, Mode},
        transpose::{Combine, Strided, TransposeDesc, TransposeMatrices, TransposeShapes},
    },
    error::Error,
    numeric::ElementKind,
    refusal::Refusal,
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
    let mut sink = |row: i64, column: u32, (found_row, found_column): (i64, i64)| {
        if (row, i64::from(column)) != (found_row, found_column) && misplaced.is_none() {
            let [row, found_row, found_column] = [row, found_row, found_column].map(|index| index as u32);
            misplaced = Some(Fault::Misplaced { row, column, found_row, found_column });
        }
    };
    block::whole(program)?;
    // Tiles in the midst of others, whose rows begin at every place of an access.
    let around = |extent: u32| if d.is_gathered() { -64..i64::from(extent) + 64 } else { 0..i64::from(extent) };
    let tile = Tile {
        rows: around(d.rows),
        columns: around(d.columns),
        beyond_a: &|row| (row * 3).rem_euclid(i64::from(d.access_a)) as u32,
        beyond_d: &|column| column % d.access_d,
        source: &|row, column| (row, column),
        sink: &mut sink,
        watch: &mut Unwatched,
    };
    block::run(program, tile, 0)?;
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
    if kind.bytes() != program.desc.element_bytes {
        return Err(Refusal::ElementBytes { given: kind, bytes: program.desc.element_bytes }.into());
    }
    match (program.desc.combine, kind.bytes()) {
        (Combine::F32, _) => typed::<f32>(program, mode, shapes, matrices, &Linear::<f32>::new(shapes)),
        (Combine::F64, _) => typed::<f64>(program, mode, shapes, matrices, &Linear::<f64>::new(shapes)),
        (Combine::Move, 1) => typed::<u8>(program, mode, shapes, matrices, &Move),
        (Combine::Move, 2) => typed::<u16>(program, mode, shapes, matrices, &Move),
        (Combine::Move, 4) => typed::<u32>(program, mode, shapes, matrices, &Move),
        (Combine::Move, _) => typed::<u64>(program, mode, shapes, matrices, &Move),
    }
}

fn typed<T: bytemuck::Pod + Default + Send + Sync>(
    program: &TransposeProgram,
    mode: Mode,
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
    match mode {
        Mode::Fast => {
            fast::run(shapes, a, b, d, rule);
            Ok(())
        }
        Mode::Checked { seed } => checked(program, shapes, (a, b, d), rule, seed).map_err(Error::from),
    }
}

fn elements<T: bytemuck::Pod>(kind: ElementKind, bytes: &[u8]) -> Result<&[T], Error> {
    bytemuck::try_cast_slice(bytes).map_err(|_| unaligned(kind))
}

fn unaligned(kind: ElementKind) -> Error {
    Refusal::ElementType { given: kind, wanted: kind }.into()
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

/// A, B where it is read and is not D, and D.
type Operands<'a, T> = (&'a [T], Option<(&'a [T], Strided)>, &'a mut [T]);

/// Tile by tile, in the order in which blocks start.
fn checked<T: Copy + Default>(
    program: &TransposeProgram,
    shapes: &TransposeShapes,
    (a, b, d): Operands<'_, T>,
    rule: &impl Rule<T>,
    seed: u64,
) -> Result<(), Fault> {
    let desc = &program.desc;
    block::whole(program)?;
    let tiles = tiles(program, shapes)?;
    for matrix in 0..shapes.batch {
        for (block, &(tile_row, tile_column)) in (0..).zip(&tiles) {
            let (row, column) = ((tile_column * desc.rows) as usize, (tile_row * desc.columns) as usize);
            // Of the matrix in elements from the tile's first, which may lie before it or beyond the last: at most 2^63 bytes.
            let around = |extent: usize, first: usize| -(first as i64)..extent as i64 - first as i64;
            let place = |first: usize, by: i64| (first as i64 + by) as usize;
            let source = |i: i64, j: i64| match a {
                [] => T::default(),
                a => a[matrix * shapes.a.stride + place(row, i) * shapes.a.leading + place(column, j)],
            };
            let mut sink = |i: i64, j: u32, value: T| {
                let (i, j) = (place(row, i), column + j as usize);
                let place = &mut d[matrix * shapes.d.stride + j * shapes.d.leading + i];
                let old = *place;
                *place = rule.of(|| value, || b.map_or(old, |(b, at)| b[matrix * at.stride + j * at.leading + i]));
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
                watch: &mut Unwatched,
            };
            block::run(program, tile, seed)?;
        }
    }
    Ok(())
}
