//! The accesses of a warp-specialized kernel's threads to shared memory: loads of fragments from a
//! stage, and the epilogue's accesses to the staging buffers. Accesses by TMA and by matrix
//! descriptors do not belong to threads.
//!
//! The accesses are those of the kernels' source, at the addresses of the host's maps:
//! `kernels/warp/wgmma/registers.cuh`, `kernels/warp/simt/tma_ring.cuh`,
//! `kernels/warp/mma_sync.cuh`, and `kernels/epilogue/tensor_store.cuh`. Stages and staging buffers
//! begin at multiples of 1024 bytes, so the bank of an offset is the bank of its address.

mod mma_sync;
mod simt;
mod wgmma;

use super::{
    LANES,
    steps::{SharedStep, Steps},
};
use crate::Error;
use falchion::{
    internals::shape::OperandKind, nest::GemmDesc, refusal::Operand, threadblock::WarpSpecialized,
    warp::TiledMma,
};

/// The first byte that each lane touches; `None` for inactive lanes.
type Lanes = [Option<u64>; LANES];

/// Returns the accesses of a kernel's threads: loads for one k-tile, and the epilogue's accesses
/// for one tile of D.
pub(super) fn warp_specialized_steps(desc: &GemmDesc) -> Result<Vec<SharedStep>, Error> {
    let (d, components) = (&desc.multiplied(), &WarpSpecialized::new(desc)?);
    let mut steps = Steps::default();
    let counted = match &components.mma {
        TiledMma::Simt(tiles) => simt::fragments(d, components, tiles, &mut steps),
        TiledMma::MmaSync(tiles, instruction) => {
            mma_sync::fragments(d, components, (tiles, instruction), &mut steps)
        }
        TiledMma::Wgmma(_, load) => wgmma::accesses(d, components, load.as_ref(), &mut steps),
        TiledMma::Unsupported => Ok(()),
    };
    counted.map_err(|apart| Error::Measurement { because: apart.to_string() })?;
    Ok(steps.in_order())
}

/// Returns the operand in the user's frame.
const fn user(d: &GemmDesc, operand: OperandKind) -> Operand {
    Operand::from_kind(operand.leave(d.frame))
}

fn lanes(address: impl Fn(u32) -> Option<u32>) -> Lanes {
    core::array::from_fn(|lane| address(lane as u32).map(u64::from))
}

/// Returns the elements per store of a thread, if D's rows are not aligned for TMA.
const fn stored_by_threads(d: &GemmDesc) -> Option<u32> {
    if d.output.element.bytes_of(d.output.access) < 16 { Some(d.output.access) } else { None }
}

/// Describes the accesses that do not belong to threads.
pub(super) fn without_threads(desc: &GemmDesc) -> Vec<String> {
    let mut said = Vec::new();
    let Some(components) = &desc.components() else { return said };
    let d = &desc.multiplied();
    // In the user's order.
    for operand in OperandKind::BOTH.map(|operand| operand.leave(d.frame)) {
        let name = user(d, operand).name();
        let reads = match &components.mma {
            TiledMma::Simt(_) | TiledMma::MmaSync(..) | TiledMma::Unsupported => {
                "the threads' loads of it are counted"
            }
            TiledMma::Wgmma(_, load) => wgmma::reads(operand, load.is_some()),
        };
        said.push(format!("{name}: TMA writes its tile, and {reads}"));
    }
    if components.threads().is_some() {
        said.push(
            "C and D: threads read and write them in global memory, from registers".to_owned(),
        );
        return said;
    }
    if components.ring.source {
        said.push(
            "C: TMA writes it to the staging buffers, for an epilogue that reads it; the threads' loads of it are counted"
                .to_owned(),
        );
    } else if d.epilogue.has_source() {
        said.push("C: threads read it in global memory".to_owned());
    }
    said.push(match stored_by_threads(d) {
        None => "D: TMA stores it from the staging buffers: no thread reads them".to_owned(),
        Some(_) => {
            "D: threads store it from the staging buffers, and their loads are counted".to_owned()
        }
    });
    said
}
