//! The gate of bits: the host computes the recorded bits of 500 problems with every knob pinned.

use crate::harness::{
    case::Buffers,
    gate::{compare, hash, random, spelled},
    on_host::OnHost,
    problems::{Guarded, packed},
    words,
};
use falchion::{
    desc::GemmDesc,
    internals::{
        call::{Elements, Source, View},
        host::Mode,
        operand::{OperandKind, Vectors},
    },
};
use falchion_lab::verify::{Fill, HostBuffer, draw};

/// Problems of the record.
const PROBLEMS: usize = 500;

/// The packed problem of three extents in the layouts of a description, with C, all vectors, and
/// all scalars. A batch has three GEMMs.
fn problem(desc: &GemmDesc, [m, n, k]: [usize; 3]) -> Guarded {
    let orders = desc.orders();
    let batch = if desc.class.mode.several() { 3 } else { 1 };
    let matrix = |order, extents: (usize, usize)| {
        let view = View::packed(Elements::ALL, order, extents, None);
        let apart = if batch > 1 { extents.0 * extents.1 } else { 0 };
        let view = view.batched(apart);
        view.with(Elements::of(view.elements(extents, batch) as usize))
    };
    let mut problem = packed([m, n, k]);
    problem.batch = batch;
    problem.a = matrix(orders.a, (m, k));
    problem.b = matrix(orders.b, (k, n));
    problem.d = matrix(orders.c, (m, n));
    problem.c = Source::Matrix(problem.d);
    problem.scalars = [1.5, -0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0];
    let (m, n) = (problem.m, problem.n);
    problem.vectors = Vectors::by(|kind| {
        let length = if kind.side() == OperandKind::A { m } else { n };
        Some(View::vector(Elements::of(length), kind.side()))
    });
    Guarded { problem, first: [0; 4], behind: [0; 4], poisoned: false }
}

/// Fills the further matrices of a batch: the first matrix, rotated by one element per matrix.
fn repeat(buffer: &mut HostBuffer, batch: usize) -> Result<(), falchion_lab::Error> {
    let element = buffer.bytes().len() / buffer.length().max(1);
    let bytes = buffer.whole_mut()?.into_bytes();
    let one = bytes.len() / batch;
    for number in 1..batch {
        bytes.copy_within(0..one, number * one);
        bytes[number * one..(number + 1) * one].rotate_left(number * element);
    }
    Ok(())
}

/// Hash of D's bytes.
fn bits(line: &str) -> Result<String, String> {
    let (words, extents) = line.rsplit_once(";extents=").ok_or("no extents")?;
    let (desc, extents) = (words::read(words)?, extents.split('x'));
    let extents: Vec<usize> =
        extents.map(str::parse).collect::<Result<_, _>>().map_err(|_| "extents are numbers")?;
    let guarded = problem(&desc, extents.try_into().map_err(|_| "three extents")?);
    let mut buffers = Buffers::filled(&desc, &guarded, Fill::Random, 0x9a7e)
        .map_err(|error| error.to_string())?;
    let batch = guarded.problem.batch;
    for matrix in [&mut buffers.a, &mut buffers.b, &mut buffers.c] {
        repeat(matrix, batch).map_err(|error| error.to_string())?;
    }
    buffers.run(&OnHost(Mode::Fast), &desc, &guarded).map_err(|error| error.to_string())?;
    Ok(hash(buffers.d.bytes().iter().copied()))
}

/// Extents around two tiles of a description, as words behind the description's.
fn with_extents(index: usize, desc: &GemmDesc) -> String {
    let (tile, number) = (desc.threadblock(), |salt| draw(index as u64, salt) as usize);
    let m = tile.m as usize + number(0) % (tile.m as usize) + 1;
    let n = tile.n as usize + number(1) % (tile.n as usize) + 1;
    let depth = (desc.stages() * tile.k) as usize;
    let k = desc.split_k() as usize * tile.k as usize + number(2) % (2 * depth) + 1;
    format!("{};extents={m}x{n}x{k}", spelled(desc))
}

#[test]
fn the_host_computes_the_recorded_bits() {
    let lines = || {
        let descs = random(0xb175, PROBLEMS);
        descs.iter().enumerate().map(|(index, desc)| with_extents(index, desc)).collect()
    };
    compare(("gate_bits.txt", PROBLEMS), lines, bits);
}
