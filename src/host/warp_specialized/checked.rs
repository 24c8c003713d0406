//! The checked mode: cluster by cluster, each in an order of events drawn from the seed.

use super::{
    emulation::Scales,
    numbers::{Numbers, Placed},
    reading::Reading,
};
use crate::{
    call::Source,
    error::Error,
    host::{
        machine::{ClusterWork, run},
        operands::{Matrix, Operands, Product},
    },
    numeric::Instruction,
    operand::OperandKind,
    plan::WarpSpecializedProgram,
    refusal::Refusal,
    schedule::Fault,
    smem::Along,
    threadblock::Work,
};
use std::borrow::Cow;

/// Computes D.
pub(super) fn product(
    program: &WarpSpecializedProgram,
    (seed, scales): (u64, Scales<'_>),
    product: &mut Product<'_>,
) -> Result<(), Error> {
    let Product { operands: matrices, source, d } = product;
    let (problem, desc, source) = (&matrices.problem, &program.multiplied, *source);
    let knobs = &desc.knobs;
    let (tiles, extents) = ((knobs.threadblock, knobs.cluster), ((problem.m, problem.n), matrices.tiles));
    let work = Work::of((desc.sum().geometry().work, knobs.swizzle), tiles, extents, program.clusters)?;
    let operands = match matrices.tiles {
        0 => None,
        _ => Some([placed(program, matrices, OperandKind::A)?, placed(program, matrices, OperandKind::B)?]),
    };
    let readings = [Reading::of(program, OperandKind::A)?, Reading::of(program, OperandKind::B)?];
    let mut written = vec![false; problem.m * problem.n];
    for cluster in 0..work.clusters {
        let mut numbers = Numbers {
            program,
            matrices: *matrices,
            // Promotion is the schedule's.
            instruction: Instruction::of(desc.class.combined(), desc.class.arch),
            work,
            cluster,
            operands: operands.as_ref(),
            readings: &readings,
            scales,
            source,
            d,
            written: &mut written,
            wrong: None,
        };
        let taken =
            (0..work.count(cluster)).map(|i| (program.units)(&work, cluster, 0, i).map_or(work.tiles_k, |unit| unit.k_count));
        let k_tiles: Vec<u32> = taken.collect();
        let work = ClusterWork { k_tiles: &k_tiles, source: !matches!(source, Source::None) };
        let seed = seed ^ u64::from(cluster).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let ran = run(&program.ring, work, seed, &mut numbers);
        if let Some(wrong) = numbers.wrong {
            return Err(wrong);
        }
        ran?;
    }
    match written.iter().position(|written| !written) {
        Some(at) => Err(Fault::NeverWritten { row: (at / problem.n) as u64, column: (at % problem.n) as u64 }.into()),
        None => Ok(()),
    }
}

/// An operand where TMA takes it: in place, or copied, where its rows do not begin at multiples of 16 bytes or where it
/// lies along the other index than the kernel reads it.
fn placed<'a>(program: &WarpSpecializedProgram, matrices: &Operands<'a>, operand: OperandKind) -> Result<Placed<'a>, Error> {
    let problem = &matrices.problem;
    let Matrix { bytes, kind: element, strides, extents: (mn, _) } = matrices.matrix(operand);
    let map = |leading: usize| program.components.operand_map(operand, element, (mn as u64, problem.k as u64), leading as u64);
    let maps = &program.operands[operand.index()];
    let along_k = program.components.tile(operand).along().is(Along::K);
    let (lines, row) = if along_k { (mn, problem.k) } else { (problem.k, mn) };
    let (across, along) = if along_k { strides } else { (strides.1, strides.0) };
    let turned = along_k != matrices.along_k(operand);
    let (map, bytes) = match map(if turned { row } else { across }) {
        Ok(map) if !turned => (map, Cow::Borrowed(bytes)),
        Err(refusal) if !matches!(refusal, Refusal::TensorStride { .. }) => return Err(refusal.into()),
        known => {
            let pitch = match known {
                Err(Refusal::TensorStride { nearest, .. }) => nearest as usize,
                _ => row,
            };
            let width = if turned { 1 } else { row };
            let size = element.bytes_of(1) as usize;
            let mut copied = vec![0; lines * pitch * size];
            for (line, to) in copied.chunks_exact_mut((pitch * size).max(1)).enumerate() {
                // Whole rows where they are rows; else element by element.
                for (i, to) in to[..row * size].chunks_exact_mut(width * size).enumerate() {
                    let from = (line * across + i * along) * size;
                    to.copy_from_slice(&bytes[from..from + width * size]);
                }
            }
            (map(pitch)?, Cow::Owned(copied))
        }
    };
    let mut map = map;
    map.swizzle = maps.copy_swizzle;
    map.box_dims[usize::from(along_k)] = maps.box_mn;
    Ok(Placed { map, bytes })
}
