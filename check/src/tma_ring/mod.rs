//! Warp-specialized kernels: runs cluster by cluster, each in an order of events that follows from
//! the seed.
//!
//! The data in the ring are bytes: a [`TensorCopy`] writes boxes, and matrix descriptors read them
//! (`wgmma.rs`). The products are added as the instruction adds (`products.rs`), and subtiles are
//! staged and stored (`subtiles.rs`). Without `wgmma`, threads read, multiply, and store
//! (`threads.rs`). Every element of D must be written exactly once.
//!
//! [`TensorCopy`]: falchion::threadblock::TensorCopy

pub(crate) mod array;
mod numbers;
mod partials;
mod products;
mod reading;
mod subtiles;
mod threads;
mod wgmma;

use crate::{
    machine::{ClusterWork, run},
    program::WarpSpecializedProgram,
};
use falchion::{
    Error, Refusal,
    internals::{
        host::{
            progress::BLOCKS,
            shared::{
                Matrix, Operands, Product,
                ring::{Scales, run_decomposed, tiling, work},
            },
        },
        nest::STRIDE_ALIGNMENT,
        operand::{HostCall, Source},
        schedule::Fault,
        shape::OperandKind,
    },
    numeric::Instruction,
    refusal::{Advice, Field, Rule, Value},
    threadblock::Along,
};
use numbers::{Numbers, Placed};
use partials::TilePartials;
use products::RecentColumns;
use reading::Reading;
use std::borrow::Cow;

/// Runs a program on a call in the kernel's frame.
///
/// # Errors
/// [`Error::Refused`] if an operand cannot be decomposed, or if the class does not support the
/// element types. [`Error::Fault`] if the program has a fault.
pub(crate) fn execute(
    program: &WarpSpecializedProgram,
    seed: u64,
    call: HostCall<'_>,
) -> Result<(), Error> {
    run_decomposed(&program.emulation, &program.desc, call, |scales, call| {
        let desc = &program.multiplied;
        products(program, (seed, scales), &mut Product::new(desc, tiling(desc, call.k), call)?)
    })
}

/// Computes the outputs of all GEMMs of a batch.
fn products(
    program: &WarpSpecializedProgram,
    (seed, scales): (u64, Scales<'_>),
    product: &mut Product<'_>,
) -> Result<(), Error> {
    let Product { operands: matrices, source, d } = product;
    let (problem, desc, source) = (&matrices.problem, &program.multiplied, *source);
    let extents = ((problem.m, problem.n), problem.batch, matrices.tiling.blocks.tiles());
    let work = work(desc, extents, program.clusters)?;
    let operands = match matrices.tiling.blocks.tiles() {
        0 => None,
        _ => Some([
            placed(program, matrices, OperandKind::A)?,
            placed(program, matrices, OperandKind::B)?,
        ]),
    };
    let readings = [Reading::new(program, OperandKind::A)?, Reading::new(program, OperandKind::B)?];
    let mut written = vec![false; problem.batch * problem.m * problem.n];
    let mut partials = TilePartials::default();
    BLOCKS.expect(work.clusters.into());
    for cluster in 0..work.clusters {
        BLOCKS.advance();
        let mut numbers = Numbers {
            program,
            matrices: *matrices,
            // The schedule performs promotion, so the instruction here has none.
            instruction: Instruction::for_types(desc.types(), desc.arch),
            work,
            cluster,
            operands: operands.as_ref(),
            readings: &readings,
            scales,
            source,
            d,
            written: &mut written,
            partials: &mut partials,
            recent: RecentColumns::default(),
            wrong: None,
        };
        // Under cluster split-K, the slices of a cluster's CTAs may have different numbers of
        // k-tiles.
        let ranks = 0..1 + program.ring.ring.senders();
        let units = ranks.flat_map(|rank| (0..work.count(cluster)).map(move |i| (rank, i)));
        let taken = units.map(|(rank, i)| {
            (program.units)(&work, cluster, rank, i).map_or(work.tiles_k, |unit| unit.k_count)
        });
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
        Some(at) => {
            let (row, column) = (at / problem.n % problem.m, at % problem.n);
            Err(Fault::NeverWritten { row: row as u64, column: column as u64 }.into())
        }
        None => Ok(()),
    }
}

/// Returns an operand as TMA reads it. The operand is copied if its rows do not begin at multiples
/// of 16 bytes, or if the kernel reads it in the other layout. Otherwise it stays in place.
fn placed<'a>(
    program: &WarpSpecializedProgram,
    matrices: &Operands<'a>,
    operand: OperandKind,
) -> Result<Placed<'a>, Error> {
    let problem = &matrices.problem;
    let Matrix { bytes, kind: element, strides, extents: (mn, _) } = matrices.matrix(operand);
    let (count, apart) = problem.matrices(problem.operand(operand));
    let batch = |apart| (problem.batch > 1).then_some((count, apart));
    let map = |leading: usize, apart: u64| {
        let extents = (mn as u64, problem.k as u64);
        program.components.operand_map(operand, element, extents, (leading as u64, batch(apart)))
    };
    let maps = &program.operands[operand.index()];
    let along_k = program.components.tile(operand).along().is(Along::K);
    let (lines, row) = if along_k { (mn, problem.k) } else { (problem.k, mn) };
    let (across, along) = if along_k { strides } else { (strides.1, strides.0) };
    let transposed = along_k != matrices.along_k(operand);
    let (map, bytes) = match map(if transposed { row } else { across }, apart) {
        Ok(map) if !transposed => (map, Cow::Borrowed(bytes)),
        Err(refusal) if !is_of_stride(&refusal) => return Err(refusal.into()),
        known => {
            let pitch = match known {
                Err(Refusal {
                    field: Field::LeadingDimensionOf(_),
                    advice: Advice::Value(Value::Number(nearest)),
                    ..
                }) => nearest as usize,
                _ => row.next_multiple_of(element.elements_in(STRIDE_ALIGNMENT as u32) as usize),
            };
            let width = if transposed { 1 } else { row };
            let size = element.bytes_of(1) as usize;
            let mut copied = vec![0; count as usize * lines * pitch * size];
            for (number, to) in copied.chunks_exact_mut((pitch * size).max(1)).enumerate() {
                let first = number / lines * apart as usize + number % lines * across;
                // Copies whole rows if the layout is kept, and single elements if it is transposed.
                for (i, to) in to[..row * size].chunks_exact_mut(width * size).enumerate() {
                    let from = (first + i * along) * size;
                    to.copy_from_slice(&bytes[from..from + width * size]);
                }
            }
            (map(pitch, (lines * pitch) as u64)?, Cow::Owned(copied))
        }
    };
    let mut map = map;
    map.swizzle = maps.copy_swizzle;
    map.box_dims[usize::from(along_k)] = maps.box_mn;
    Ok(Placed { map, bytes, own: count > 1 })
}

/// Returns whether TMA does not support the leading dimension or the batch stride.
fn is_of_stride(refusal: &Refusal) -> bool {
    matches!(
        (refusal.rule, refusal.field),
        (Rule::Multiple, Field::LeadingDimensionOf(_) | Field::BatchStrideOf(_))
    )
}
