//! Operands of `f32` split on a device, and whether their rows could be scaled.

use super::{
    context::machine_of,
    loaded::{Loaded, Registry},
    operands::DeviceMatrix,
    report::Report,
};
use crate::{
    call::SplitLayout,
    codegen::{SplitLine, SplitParams, TranslationUnit},
    desc::WarpSpecializedDesc,
    error::Error,
    numeric::SplitKind,
    operand::OperandKind,
    pass::{SplitPass, SplitPassDesc},
    refusal::{Refusal, SplitRefusal},
    sys::{
        driver::{Grid, driver, launch},
        read_back::read_back,
    },
};
use cudarc::driver::{CudaContext, CudaStream, sys::CUstreamCaptureStatus};
use std::sync::Arc;

/// The kernel that splits operands, ready to be launched. Clones share it; it may be used from any thread.
#[derive(Clone)]
pub struct CudaSplit(Arc<Loaded>);

static KNOWN: Registry<SplitPassDesc, CudaSplit> = Registry::new();

/// The text that is compiled: with the maps' fingerprints where debug assertions are on.
pub fn split_unit(split: SplitKind) -> TranslationUnit {
    SplitPassDesc::of(split).translation_unit(cfg!(debug_assertions))
}

/// The passes of one operand, ready to be enqueued.
pub(super) struct Splitting {
    kernel: CudaSplit,
    launches: [Option<(Grid, SplitParams)>; 4],
}

/// How an operand of the row-major problem lies in memory: its leading dimension, and whether it is contiguous along K.
#[derive(Clone, Copy)]
pub(super) struct Lies {
    pub leading: usize,
    pub along_k: bool,
}

impl CudaSplit {
    /// Compiles and loads the kernel of a mode, unless this process has it already.
    ///
    /// # Errors
    ///
    /// Those of [`compile`](super::compile); [`Error::Driver`].
    pub fn prepare(context: &Arc<CudaContext>, split: SplitKind) -> Result<Self, Error> {
        let desc = SplitPassDesc::of(split);
        if let Some(kernel) = KNOWN.get(context, &desc) {
            return Ok(kernel);
        }
        let loaded = Loaded::new(context, split_unit(split), machine_of(context)?.sm, 0)?;
        Ok(KNOWN.keep(context, &desc, Self(Arc::new(loaded))))
    }

    /// What the assembler said: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// The passes between addresses that have been checked. The kernel is compiled now if need be, unless the stream is being captured.
    pub(super) fn ready(
        stream: &Arc<CudaStream>,
        layout: &SplitLayout,
        operand: &DeviceMatrix<'_>,
        lies: Lies,
        workspace: u64,
    ) -> Result<Splitting, Error> {
        let desc = SplitPassDesc::of(layout.split);
        let most = i32::MAX as u64;
        let mut launches = [None; 4];
        for (slot, &pass) in launches.iter_mut().zip(SplitPass::of(layout.split)) {
            let tiles = desc.blocks(layout, pass);
            let params = desc.params(layout, (operand.address, lies.leading as u64, lies.along_k), workspace, pass);
            let params = params.filter(|_| tiles <= most).ok_or(Refusal::TooManyTiles { tiles, most })?;
            *slot = Some((Grid::of_blocks(tiles as u32, desc.threads(), 0), params));
        }
        let kernel = KNOWN.for_run(stream, &desc, || Self::prepare(stream.context(), layout.split))?;
        Ok(Splitting { kernel, launches })
    }
}

impl Splitting {
    pub(super) fn enqueue(&self, stream: &CudaStream) -> Result<(), Error> {
        let mut launches = self.launches.iter().flatten();
        launches.try_for_each(|(grid, params)| launch(&self.kernel.0.function, stream, grid, params))
    }

    /// Where the rows' facts are, and the word of the first that is refused.
    fn addresses(&self) -> Option<[u64; 2]> {
        self.launches[0].map(|(_, params)| [params.lines, params.status])
    }

    /// The address of the rows' facts; 0 where rows are not scaled.
    pub(super) fn lines(&self) -> u64 {
        self.addresses().map_or(0, |[lines, _]| lines)
    }
}

/// Refuses to scale on a stream that is being captured: the product waits for what was found.
pub(super) fn check_capture(stream: &CudaStream, desc: &WarpSpecializedDesc) -> Result<(), Error> {
    if !desc.knobs.emulation.scales() {
        return Ok(());
    }
    match stream.capture_status().map_err(driver("cuStreamIsCapturing"))? {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(()),
        _ => Err(Refusal::Split(SplitRefusal::Captured).into()),
    }
}

/// Waits for the passes of both operands, and refuses the first row that could not be scaled. Of modes that do not scale, does not wait.
pub(super) fn check_window(
    stream: &CudaStream,
    desc: &WarpSpecializedDesc,
    splittings: [Option<&Splitting>; 2],
) -> Result<(), Error> {
    if !desc.knobs.emulation.scales() {
        return Ok(());
    }
    let [Some(a), Some(b)] = splittings.map(|splitting| splitting.and_then(Splitting::addresses)) else { return Ok(()) };
    let first: [u32; 2] = read_back(stream, [a, b].map(|[_, status]| status))?;
    for ((operand, [lines, _]), line) in OperandKind::BOTH.into_iter().zip([a, b]).zip(first) {
        if line == u32::MAX {
            continue;
        }
        let [facts]: [SplitLine; 1] = read_back(stream, [lines + u64::from(line) * size_of::<SplitLine>() as u64])?;
        let refused = SplitRefusal::of(operand, line, &facts.into());
        return Err(Refusal::Split(if desc.frame.is_exchanged() { refused.exchanged() } else { refused }).into());
    }
    Ok(())
}
