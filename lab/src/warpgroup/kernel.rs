//! A device kernel with one stage of a warpgroup's product, for inspection.

use super::text::{ProbeText, WarpgroupProbeParams};
use crate::{Error, sys::launch::launch};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use falchion::{
    arch::ArchKind,
    cuda::{machine_of, report::Report},
    internals::{
        Loaded,
        codegen::TranslationUnit,
        sys::driver::{Grid, driver},
    },
    numeric::ElementKind,
    warp::mma_warpgroup::{MmaWarpgroup, ROWS, THREADS},
};
use half::f16;
use std::sync::Arc;

/// A stage of [`MmaWarpgroup`] in a kernel of its own, compiled and loaded on one device.
///
/// ```no_run
/// use falchion::{cuda::open, numeric::{Bf16, ElementKind}, threadblock::Along};
/// use falchion_lab::warpgroup::{WarpgroupProbe, tile_bytes};
/// use falchion::warp::mma_warpgroup::{MmaWarpgroup, OperandA, OperandTile, SwizzleMode};
/// let tile = OperandTile::new(ElementKind::Bf16, Along::K, SwizzleMode::Bytes128, 64).expect("a tile");
/// let mma = MmaWarpgroup::new(OperandA::Shared(tile), tile, ElementKind::F32, 64).expect("a stage");
/// let probe = WarpgroupProbe::prepare(&open(0)?, &mma)?;
/// let ones = tile_bytes(&tile, |_, _| Bf16::ONE.to_bits().into());
/// assert_eq!(probe.run(&ones, &ones, 1)?, [64.0; 64 * 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WarpgroupProbe {
    mma: MmaWarpgroup,
    stream: Arc<CudaStream>,
    text: ProbeText,
    loaded: Loaded,
}

impl WarpgroupProbe {
    /// Compiles and loads the kernel.
    ///
    /// # Errors
    /// - [`Error::Measurement`] if the device is not sm_90, or if the tiles exceed its shared
    ///   memory.
    /// - [`falchion::Error::Library`] if NVRTC is missing.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn prepare(context: &Arc<CudaContext>, mma: &MmaWarpgroup) -> Result<Self, Error> {
        let (text, machine) = (ProbeText::of(mma, false), machine_of(context)?);
        if machine.sm != ArchKind::Sm90.sm() {
            return Err(refused(format!(
                "the device is sm_{}, and wgmma is an instruction of sm_90a alone",
                machine.sm
            )));
        }
        let (needed, most) = (text.shared_bytes, machine.shared_bytes_per_block);
        if needed > most {
            return Err(refused(format!(
                "the tiles take {needed} bytes of shared memory, and a block has {most}; take fewer rows"
            )));
        }
        let loaded = Loaded::new(context, text.unit.clone(), machine.sm, needed)?;
        Ok(Self { mma: *mma, stream: context.default_stream(), text, loaded })
    }

    /// Returns the report of the assembler: registers, spills, and serialized instructions.
    pub fn report(&self) -> &Report {
        &self.loaded.report
    }

    /// Returns the compiled source.
    pub fn source(&self) -> &TranslationUnit {
        &self.loaded.unit
    }

    /// Returns `D(m, n) = rounds * sum over k of A(m, k) B(n, k)`, row by row: 64 rows of N. Each
    /// round adds the product once. `a` is the result of [`tile_bytes`](super::tile_bytes), or of
    /// [`fragment_bytes`](super::fragment_bytes) for four steps if A comes from registers. `b` is
    /// B's tile.
    ///
    /// # Errors
    /// - [`Error::Measurement`] if an operand has another size, or if there are no rounds.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn run(&self, a: &[u8], b: &[u8], rounds: u32) -> Result<Vec<f64>, Error> {
        let ProbeText { bytes_a, fragment_bytes, tile_bytes, shared_bytes, .. } = self.text;
        let sizes = [("A", a, bytes_a.max(fragment_bytes)), ("B", b, tile_bytes - bytes_a)];
        for (operand, given, wanted) in sizes {
            if given.len() != wanted as usize {
                return Err(refused(format!(
                    "{operand} has {} bytes, and the stage reads {wanted}",
                    given.len()
                )));
            }
        }
        if rounds == 0 {
            return Err(refused("rounds = 0; try 1".to_owned()));
        }
        let stream = &self.stream;
        let in_tile = if fragment_bytes == 0 { a } else { &[] };
        let tiles = copied(stream, &[in_tile, b].concat())?;
        let fragments = copied(stream, a)?;
        let accumulator = self.mma.instruction().accumulator();
        let elements = (ROWS * self.mma.instruction().n()) as usize;
        let mut d = copied(stream, &vec![0xff; elements * accumulator.bytes_of(1) as usize])?;
        {
            let ((tiles, _reads), (fragments, _reads_too)) =
                (tiles.device_ptr(stream), fragments.device_ptr(stream));
            let (d, _writes) = d.device_ptr_mut(stream);
            let params = WarpgroupProbeParams { tiles, fragments, d, rounds, reserved: 0 };
            launch(
                &self.loaded.function,
                stream,
                &Grid::of_blocks(1, THREADS, shared_bytes),
                &params,
            )?;
        }
        let bytes = stream.clone_dtoh(&d).map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        Ok(numbers(accumulator, &bytes))
    }
}

fn refused(because: String) -> Error {
    Error::Measurement { because }
}

fn copied(stream: &Arc<CudaStream>, bytes: &[u8]) -> Result<CudaSlice<u8>, falchion::Error> {
    stream.clone_htod(bytes).map_err(driver("cuMemcpyHtoDAsync"))
}

/// Converts accumulators to f64, which represents all of them.
fn numbers(accumulator: ElementKind, bytes: &[u8]) -> Vec<f64> {
    let words = bytes.as_chunks::<4>().0.iter();
    match accumulator {
        ElementKind::I32 => words.map(|word| i32::from_le_bytes(*word).into()).collect(),
        ElementKind::F16 => {
            bytes.as_chunks::<2>().0.iter().map(|half| f16::from_le_bytes(*half).into()).collect()
        }
        _ => words.map(|word| f32::from_le_bytes(*word).into()).collect(),
    }
}
