//! A matrix laid out again on a device: rows that begin anywhere are copied to rows that begin at multiples of 16 bytes.

use super::{
    context::machine_of,
    loaded::{Loaded, Registry},
    operands::DeviceMatrix,
    report::Report,
};
use crate::{
    codegen::{RelayParams, TranslationUnit},
    error::Error,
    pass::{RELAY, RelayDesc, RelayShapes},
    refusal::{Field, Operand, Refusal, rules::multiple},
    sys::driver::{Grid, launch},
    threadblock::tensor_map::ADDRESS_ALIGNMENT,
};
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

/// The kernel that lays matrices out again, ready to be launched. Clones share it; it may be used from any thread.
#[derive(Clone)]
pub struct CudaRelay(Arc<Loaded>);

static KNOWN: Registry<RelayDesc, CudaRelay> = Registry::new();

/// The text that is compiled: with the maps' fingerprints where debug assertions are on.
pub fn relay_unit() -> TranslationUnit {
    RELAY.translation_unit(cfg!(debug_assertions))
}

/// A relay that is ready to be enqueued.
pub(super) struct Relaying {
    kernel: CudaRelay,
    params: RelayParams,
    grid: Grid,
}

impl CudaRelay {
    /// Compiles and loads the kernel, unless this process has it already.
    ///
    /// # Errors
    ///
    /// Those of [`compile`](super::compile); [`Error::Driver`].
    pub fn prepare(context: &Arc<CudaContext>) -> Result<Self, Error> {
        if let Some(kernel) = KNOWN.get(context, &RELAY) {
            return Ok(kernel);
        }
        let loaded = Loaded::new(context, relay_unit(), machine_of(context)?.sm, 0)?;
        Ok(KNOWN.keep(context, &RELAY, Self(Arc::new(loaded))))
    }

    /// What the assembler said: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// Enqueues a copy on `stream`: nothing is allocated, and nothing waits. The matrices are bytes; the copy begins at a multiple
    /// of 16.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when a matrix is too short, lies on another device, is no matrix of bytes, when the copy overlaps what is
    /// copied, or begins elsewhere; [`Error::Driver`] when the launch is refused.
    pub fn run(
        stream: &Arc<CudaStream>,
        shapes: &RelayShapes,
        source: &DeviceMatrix<'_>,
        copy: &DeviceMatrix<'_>,
    ) -> Result<(), Error> {
        let context = stream.context().cu_ctx() as usize;
        let [read, written] = shapes.reach();
        for (operand, matrix, needed) in [(Operand::Source, source, read), (Operand::Copy, copy, written)] {
            if matrix.kind.bits() != 8 {
                return Err(Refusal::ElementBytes { given: matrix.kind, bytes: 1 }.into());
            }
            if matrix.context != context {
                return Err(Refusal::NotOnStream { operand }.into());
            }
            if (matrix.length as u64) < needed {
                return Err(Refusal::ShorterThanLayout { operand, length: matrix.length, needed }.into());
            }
        }
        multiple(Field::CopyAddress, copy.address, ADDRESS_ALIGNMENT, u64::MAX - ADDRESS_ALIGNMENT + 1)?;
        let (read, written) = (source.range(read), copy.range(written));
        if read.start < written.end && written.start < read.end {
            return Err(Refusal::WrittenWhileRead { written: Operand::Copy, read: Operand::Source }.into());
        }
        Self::ready(stream, shapes, source.address, copy.address)?.enqueue(stream)
    }

    /// A copy between addresses that have been checked. The kernel is compiled now if need be, unless the stream is being captured.
    pub(super) fn ready(stream: &Arc<CudaStream>, shapes: &RelayShapes, source: u64, copy: u64) -> Result<Relaying, Error> {
        let (down, across) = shapes.tiles(&RELAY);
        let (tiles, most) = (down.saturating_mul(across), i32::MAX as u64);
        let params = shapes.params(&RELAY, source, copy).filter(|_| tiles <= most);
        let params = params.ok_or(Refusal::TooManyTiles { tiles, most })?;
        let kernel = KNOWN.for_run(stream, &RELAY, || Self::prepare(stream.context()))?;
        Ok(Relaying { kernel, params, grid: Grid::of_blocks(tiles as u32, RELAY.threads(), 0) })
    }
}

impl Relaying {
    pub(super) fn enqueue(&self, stream: &CudaStream) -> Result<(), Error> {
        launch(&self.kernel.0.function, stream, &self.grid, &self.params)
    }
}
