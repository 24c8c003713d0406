//! Warp-specialized kernels, on the host.
//!
//! A description becomes a [`WarpSpecializedProgram`]: the ring, every map, every number that its
//! kernel has. Two modes run it:
//!
//! - **checked** (`checked.rs`, `numbers.rs`): cluster by cluster, every warp a machine of
//!   [`machine`](super::machine), in an order drawn from a seed. What moves through the ring are
//!   bytes: boxes that a [`TensorCopy`](crate::threadblock::TensorCopy) wrote, read back through
//!   descriptors (`reading.rs`), added as the instruction adds (`products.rs`), staged and stored
//!   (`subtiles.rs`), or read, summed and stored thread by thread (`threads.rs`). Every element of
//!   D has to be written once.
//! - **fast** (`fast.rs`): the same accumulators in the same order, parallel over tiles, without a
//!   ring: the bits are the same. On the CUDA cores, and of integers, accumulators are chains of
//!   multiply-adds, and the panels and wide products of the other main loops make them.
//!
//! Factors are decomposed first (`emulation.rs`): both modes multiply their parts.

mod checked;
mod emulation;
mod fast;
mod numbers;
mod parts;
mod products;
mod reading;
mod subtiles;
mod threads;

use super::{
    chains::Chains,
    composition::Composition,
    fast::compute,
    operands::{Product, Tiling},
};
use crate::{
    arch::OpKind,
    call::HostCall,
    desc::WarpSpecializedDesc,
    error::Error,
    numeric::{
        Accumulator, ElementKind, EmulationKind, F16, Instruction, Number, emulation::RegisterParts,
    },
    operand::Frame,
    plan::{EmulationProgram, WarpSpecializedProgram},
};
use emulation::{DecomposedOperands, Scales};
use fast::Steps;

/// Runs a description of this family, which has been checked, in the fast mode. A batch whose
/// factors cannot be decomposed is refused before anything is written.
///
/// # Errors
/// [`Error::Refused`] when there is no such combination of types, or factors cannot be decomposed.
pub(crate) fn execute_fast(desc: &WarpSpecializedDesc, call: HostCall<'_>) -> Result<(), Error> {
    in_parts(&EmulationProgram::RIGHT, desc, call, |scales, mut call| {
        let (desc, k) = (desc.multiplied(), call.k);
        (0..call.batch).try_for_each(|number| {
            fast_product(
                &desc,
                &mut Product::of(&desc.class, tiling(&desc, k), call.product(number))?,
                (scales, number),
            )
        })
    })
}

/// Runs a program, checked.
///
/// # Errors
/// Those of [`execute_fast`], [`Error::Fault`].
pub(crate) fn execute_program(
    program: &WarpSpecializedProgram,
    seed: u64,
    call: HostCall<'_>,
) -> Result<(), Error> {
    in_parts(&program.emulation, &program.desc, call, |scales, call| {
        let desc = &program.multiplied;
        checked::products(
            program,
            (seed, scales),
            &mut Product::of(&desc.class, tiling(desc, call.k), call)?,
        )
    })
}

/// Does `compute` with the call as the kernel has it: of the operands' parts where they are
/// decomposed.
fn in_parts(
    program: &EmulationProgram,
    desc: &WarpSpecializedDesc,
    call: HostCall<'_>,
    compute: impl FnOnce(Scales<'_>, HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    if !desc.knobs.emulation.decomposes() {
        return compute(
            Scales { shifts: &Default::default(), lines: [[0; 2]; 2], unscaled: program.unscaled },
            call,
        );
    }
    let operands = DecomposedOperands::of(program, desc, &call)?;
    let scales =
        Scales { shifts: &operands.shifts, lines: operands.lines, unscaled: program.unscaled };
    compute(scales, operands.call(call))
}

/// How its kernel walks a product.
const fn tiling(desc: &WarpSpecializedDesc, k: usize) -> Tiling {
    Tiling {
        block: desc.knobs.threadblock,
        slices: 1,
        blocks: desc.blocks(k),
        split_k: desc.knobs.split_k,
    }
}

/// D of a product of the fast mode, and its number.
fn fast_product(
    desc: &WarpSpecializedDesc,
    product: &mut Product<'_>,
    scales: (Scales<'_>, usize),
) -> Result<(), Error> {
    let instruction =
        desc.matrix_instruction().filter(|_| matches!(desc.class.op, OpKind::TensorOp));
    if let Some(instruction) = instruction {
        return stepped(product, scales, (instruction, WHOLE));
    }
    match desc.class.accumulator {
        ElementKind::F64 => chains::<f64>(product),
        ElementKind::I32 => chains::<i32>(product),
        ElementKind::F16 => chains::<F16>(product),
        _ => chains::<f32>(product),
    }
}

/// What instructions take that make no parts themselves.
const WHOLE: RegisterParts =
    RegisterParts { emulation: EmulationKind::None, frame: Frame::USER, k: 1 };

/// Every accumulator is summed in steps of an instruction.
fn stepped(
    product: &mut Product<'_>,
    scales: (Scales<'_>, usize),
    instruction: (Instruction, RegisterParts),
) -> Result<(), Error> {
    let steps = Steps::of(product.operands, scales, instruction)?;
    let grid @ (_, columns) = steps.grid();
    compute(&steps, grid, |block| Ok((block / columns as u32, block % columns as u32)), product)
}

/// The same where nothing was scaled, whichever family's instruction it is.
///
/// # Errors
/// [`Error::Refused`] where the operands are not widened to `f32`.
pub(super) fn stepped_unscaled(
    product: &mut Product<'_>,
    instruction: (Instruction, RegisterParts),
) -> Result<(), Error> {
    let scales = Scales {
        shifts: &Default::default(),
        lines: [[0; 2]; 2],
        unscaled: EmulationProgram::RIGHT.unscaled,
    };
    stepped(product, (scales, 0), instruction)
}

/// Every accumulator is one chain of multiply-adds along K, whoever makes it.
fn chains<T: Accumulator + Number>(product: &mut Product<'_>) -> Result<(), Error> {
    let (problem, block) = (product.operands.problem, product.operands.tiling.block);
    let (rows, columns) =
        (problem.m.div_ceil(block.m as usize), problem.n.div_ceil(block.n as usize));
    let composition = Composition::of_one_product(block);
    let chains = Chains::<T>::of(product.operands, (&composition, 1), None)?;
    compute(
        &chains,
        (rows, columns),
        |block| Ok((block / columns as u32, block % columns as u32)),
        product,
    )
}
