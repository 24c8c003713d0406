//! The gate of bits: the host computes the recorded bits of 560 problems with every knob pinned.
//! 444 problems have one GEMM, 56 are batches, 30 are grouped, and 30 are arrays of pointers.

use crate::harness::{case::sliced, gate::*, groups::whole, prelude::*, problems::packed, words};

/// Problems of the record: single GEMMs and batches, grouped GEMMs, and arrays.
const PROBLEMS: usize = 500;
const GROUPED: usize = 30;
const ARRAYS: usize = 30;

/// Returns the packed problem of three extents in the layouts of a description, with C, all
/// vectors, and all scalars. A batch has three GEMMs.
fn problem(desc: &GemmDesc, [m, n, k]: [usize; 3]) -> Guarded {
    let orders = desc.orders();
    let batch = if desc.work.mode.several() { 3 } else { 1 };
    let matrix = |order, extents: (usize, usize)| {
        let view = View::packed(Elements::ALL, order, extents, None);
        let apart = if batch > 1 { extents.0 * extents.1 } else { 0 };
        let view = view.batched(apart);
        view.with(Elements::new(view.elements(extents, batch) as usize))
    };
    let mut problem = packed([m, n, k]);
    problem.batch = batch;
    problem.a = matrix(orders.a, (m, k));
    problem.b = matrix(orders.b, (k, n));
    problem.d = matrix(orders.c, (m, n));
    problem.c = Source::Matrix(problem.d);
    problem.scalars = [1.5, -0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0];
    let (m, n) = (problem.m, problem.n);
    problem.operands = EpilogueOperands::by(|kind| {
        let length = if kind.side() == Some(OperandKind::A) { m } else { n };
        kind.side().map(|side| View::vector(Elements::new(length), side))
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

/// Returns the hash of D's bytes.
fn bits(line: &str) -> Result<String, String> {
    if let Some((words, seed)) = line.rsplit_once(";groups=") {
        let seed = seed.parse().map_err(|_| "the seed is a number")?;
        return bits_of_groups(&words::read(words)?, seed);
    }
    if let Some(line) = line.strip_suffix(";array=3") {
        return bits_of_array(line);
    }
    let (desc, guarded) = described(line)?;
    let mut buffers = Buffers::filled(&desc, &guarded, Fill::Random, 0x9a7e)
        .map_err(|error| error.to_string())?;
    let batch = guarded.problem.batch;
    for matrix in [&mut buffers.a, &mut buffers.b, &mut buffers.c] {
        repeat(matrix, batch).map_err(|error| error.to_string())?;
    }
    buffers.run(&OnHost(Mode::Fast), &desc, &guarded).map_err(|error| error.to_string())?;
    Ok(hash(buffers.d.bytes().iter().copied()))
}

fn bits_of_groups(desc: &GemmDesc, seed: u64) -> Result<String, String> {
    let case = Grouped::random(desc, seed);
    let mut d = case.d.clone();
    let whole = (&case.problem, [0; 4], 0);
    super::groups::run(desc, Mode::Fast, &case, whole, &mut d)
        .map_err(|error| error.to_string())?;
    Ok(hash(d))
}

/// Three GEMMs with separate matrices.
fn bits_of_array(line: &str) -> Result<String, String> {
    let (desc, guarded) = described(line)?;
    let buffers = |seed| Buffers::filled(&desc, &guarded, Fill::Random, seed);
    let all: Result<Vec<_>, _> = [0x9a7e, 0x9a7f, 0x9a80].into_iter().map(buffers).collect();
    let mut all = all.map_err(|error| error.to_string())?;
    let mut operands = all[0].operands.clone();
    let epilogue = desc.epilogue.leave(desc.frame);
    let operands = sliced(&mut operands, &epilogue).map_err(|error| error.to_string())?;
    let mut calls = Vec::new();
    for buffers in &mut all {
        let matrices = whole_matrices(buffers, &guarded, operands);
        calls.push(guarded.problem.with(matrices.map_err(|error| error.to_string())?));
    }
    run_in_mode(&Array(&desc), Mode::Fast, calls).map_err(|error| error.to_string())?;
    Ok(hash(all.iter().flat_map(|buffers| buffers.d.bytes().iter().copied())))
}

fn whole_matrices<'a>(
    Buffers { a, b, c, d, .. }: &'a mut Buffers,
    guarded: &Guarded,
    operands: EpilogueOperands<HostSlice<'a>>,
) -> Result<HostMatrices<'a>, falchion_lab::Error> {
    let c = guarded.problem.c.try_map(|_| c.whole())?;
    Ok(HostMatrices { a: a.whole()?, b: b.whole()?, c, d: d.whole_mut()?, operands })
}

/// Returns the description and the problem of a line with extents.
fn described(line: &str) -> Result<(GemmDesc, Guarded), String> {
    let (words, extents) = line.rsplit_once(";extents=").ok_or("no extents")?;
    let (desc, extents) = (words::read(words)?, extents.split('x'));
    let extents: Vec<usize> =
        extents.map(str::parse).collect::<Result<_, _>>().map_err(|_| "extents are numbers")?;
    let guarded = problem(&desc, extents.try_into().map_err(|_| "three extents")?);
    Ok((desc, guarded))
}

/// Returns lines of grouped GEMMs, whose K is not split.
fn grouped() -> impl Iterator<Item = String> {
    let groups = |(index, desc): (usize, GemmDesc)| {
        format!("{};groups={}", spelled(&whole(desc)), draw(0x9a7e, index as u64))
    };
    let supported =
        |desc: &GemmDesc| !desc.work.mode.several() && !desc.streams_k() && !desc.cuts_by_cluster();
    random(0x6b0a, 4 * GROUPED).into_iter().filter(supported).enumerate().map(groups).take(GROUPED)
}

/// Returns lines of arrays.
fn arrays() -> impl Iterator<Item = String> {
    let single = |desc: &GemmDesc| !desc.work.mode.several();
    let descs = random(0xa44a, 4 * ARRAYS).into_iter().filter(single).enumerate();
    descs.map(|(index, desc)| with_extents(index, &desc) + ";array=3").take(ARRAYS)
}

/// Appends extents of about two tiles to the line of a description.
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
        let single = descs.iter().enumerate().map(|(index, desc)| with_extents(index, desc));
        single.chain(grouped()).chain(arrays()).collect()
    };
    compare(("gate_bits.txt", PROBLEMS + GROUPED + ARRAYS), lines, bits);
}
