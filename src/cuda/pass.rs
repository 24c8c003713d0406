//! Passes on a device: kernels that bring an operand to where a product reads it.

use super::{
    context::machine_of,
    loaded::{Loaded, Registry},
    operands::DeviceMatrix,
    report::Report,
};
use crate::{
    codegen::{SplitLine, TranslationUnit},
    error::Error,
    operand::OperandKind,
    pass::{Pass, PassDesc, RELAY, RelayShapes},
    refusal::{Field, Operand, Refusal, SplitRefusal, rules::multiple},
    sys::{driver::driver, read_back::read_back},
    threadblock::tensor_map::ADDRESS_ALIGNMENT,
};
use cudarc::driver::{CudaContext, CudaStream, sys::CUstreamCaptureStatus};
use std::sync::Arc;

/// A pass's kernel, ready to be launched. Clones share it; it may be used from any thread.
#[derive(Clone)]
pub struct CudaPass(Arc<Loaded>);

static KNOWN: Registry<PassDesc, CudaPass> = Registry::new();

/// The text that is compiled for a pass: with the maps' fingerprints where debug assertions are on.
pub fn pass_unit(desc: &PassDesc) -> TranslationUnit {
    desc.unit(cfg!(debug_assertions))
}

impl CudaPass {
    /// Compiles and loads a pass's kernel, unless this process has it already.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when it is no kernel for this device; those of [`compile`](super::compile); [`Error::Driver`].
    pub fn prepare(context: &Arc<CudaContext>, desc: &PassDesc) -> Result<Self, Error> {
        if let Some(kernel) = KNOWN.get(context, desc) {
            return Ok(kernel);
        }
        let machine = machine_of(context)?;
        desc.check_on(&machine)?;
        let loaded = Loaded::new(context, pass_unit(desc), machine.sm, desc.shared_bytes())?;
        Ok(KNOWN.keep(context, desc, Self(Arc::new(loaded))))
    }

    /// What the assembler said: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// The text that was compiled.
    pub fn source(&self) -> &TranslationUnit {
        &self.0.unit
    }

    /// The kernel for a run on `stream`: prepared now if need be, unless the stream is being captured.
    pub(super) fn for_run(stream: &CudaStream, desc: &PassDesc) -> Result<Self, Error> {
        KNOWN.for_run(stream, desc, || Self::prepare(stream.context(), desc))
    }

    /// Enqueues what a call has for it to do, between addresses that have been checked.
    pub(super) fn enqueue(&self, stream: &CudaStream, pass: &Pass) -> Result<(), Error> {
        pass.launches().try_for_each(|launch| self.0.launch(stream, &launch?))
    }
}

/// Enqueues a copy of rows that begin anywhere to rows that begin at multiples of 16 bytes: nothing is allocated, and nothing waits. The
/// matrices are bytes; the copy begins at a multiple of 16.
///
/// # Errors
///
/// [`Error::Refused`] when a matrix is too short, lies on another device, is no matrix of bytes, when the copy overlaps what is
/// copied, or begins elsewhere; [`Error::Driver`] when the launch is refused.
pub fn repack(
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
    CudaPass::for_run(stream, &PassDesc::Repack(RELAY))?.enqueue(stream, &Pass::Repack(*shapes, [source.address, copy.address]))
}

/// Refuses to scale on a stream that is being captured: the product waits for what was found.
pub(super) fn check_capture(stream: &CudaStream, passes: &[Option<Pass>; 2]) -> Result<(), Error> {
    if passes.iter().flatten().all(|pass| pass.window().is_none()) {
        return Ok(());
    }
    match stream.capture_status().map_err(driver("cuStreamIsCapturing"))? {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(()),
        _ => Err(Refusal::Split(SplitRefusal::Captured).into()),
    }
}

/// Waits for passes that scale both operands, and refuses the first row that could not be scaled. For others it does not wait.
pub(super) fn check_window(stream: &CudaStream, passes: &[Option<Pass>; 2]) -> Result<(), Error> {
    let [Some(a), Some(b)] = passes.each_ref().map(|pass| pass.as_ref().and_then(Pass::window)) else { return Ok(()) };
    let first: [u32; 2] = read_back(stream, [a, b].map(|[_, status]| status))?;
    for ((operand, [lines, _]), line) in OperandKind::BOTH.into_iter().zip([a, b]).zip(first) {
        if line == u32::MAX {
            continue;
        }
        let [facts]: [SplitLine; 1] = read_back(stream, [lines + u64::from(line) * size_of::<SplitLine>() as u64])?;
        return Err(Refusal::Split(SplitRefusal::of(operand, line, &facts.into())).into());
    }
    Ok(())
}
