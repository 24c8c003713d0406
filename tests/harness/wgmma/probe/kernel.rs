//! A device kernel with one stage of a warpgroup's product, for inspection.

use super::text::{ProbeText, WarpgroupProbeParams};
use crate::harness::prelude::*;
use falchion::{
    internals::{Loaded, sys::driver::enqueue},
    warp::wgmma::{ROWS, THREADS},
};

/// A stage of [`MmaWarpgroup`] in a kernel of its own, compiled and loaded on one device.
pub struct WarpgroupProbe {
    mma: MmaWarpgroup,
    stream: Arc<CudaStream>,
    text: ProbeText,
    loaded: Loaded,
}

impl WarpgroupProbe {
    /// Compiles and loads the kernel on a Hopper GPU.
    pub fn prepare(context: &Arc<CudaContext>, mma: &MmaWarpgroup) -> Result<Self, Error> {
        let (text, machine) = (ProbeText::new(mma, false), machine_of(context)?);
        assert_eq!(machine.sm, ArchKind::Sm90.sm(), "wgmma is an instruction of sm_90a only");
        let loaded = Loaded::new(context, text.unit.clone(), machine.sm, text.shared_bytes)?;
        Ok(Self { mma: *mma, stream: context.default_stream(), text, loaded })
    }

    /// Returns the report of the assembler: registers, spills, and serialized instructions.
    pub fn report(&self) -> &Report {
        &self.loaded.report
    }

    /// Returns `D(m, n) = rounds * sum over k of A(m, k) B(n, k)`, row by row: 64 rows of N. Each
    /// round adds the product once. `a` is the result of `tile_bytes`, or of `fragment_bytes` for
    /// four steps if A comes from registers. `b` is B's tile.
    #[allow(unsafe_code, reason = "a launch")]
    pub fn run(&self, a: &[u8], b: &[u8], rounds: u32) -> Result<Vec<f64>, Error> {
        let ProbeText { bytes_a, fragment_bytes, tile_bytes, shared_bytes, .. } = self.text;
        let sizes = [bytes_a.max(fragment_bytes), tile_bytes - bytes_a];
        assert_eq!([a.len(), b.len()], sizes.map(|bytes| bytes as usize), "bytes of A and B");
        assert!(rounds > 0, "no round writes D");
        let stream = &self.stream;
        let in_tile = if fragment_bytes == 0 { a } else { &[] };
        let tiles = stream.clone_htod(&[in_tile, b].concat())?;
        let fragments = stream.clone_htod(a)?;
        let accumulator = self.mma.instruction().accumulator();
        let elements = (ROWS * self.mma.instruction().n()) as usize;
        let mut d = stream.clone_htod(&vec![0xff; elements * accumulator.bytes_of(1) as usize])?;
        {
            let ((tiles, _reads), (fragments, _reads_too)) =
                (tiles.device_ptr(stream), fragments.device_ptr(stream));
            let (d, _writes) = d.device_ptr_mut(stream);
            let params = WarpgroupProbeParams { tiles, fragments, d, rounds, reserved: 0 };
            let grid = Grid::with_blocks(1, THREADS, shared_bytes);
            // SAFETY: the kernel has these parameters. The operands have the sizes that the kernel
            // reads, as asserted above, and D has the size that it writes. The guards keep them
            // until the stream has finished with them.
            unsafe {
                enqueue(&self.loaded.function, stream, &grid, bytemuck::bytes_of(&params))?;
            }
        }
        let bytes = stream.clone_dtoh(&d)?;
        stream.synchronize()?;
        Ok(numbers(accumulator, &bytes))
    }
}

/// Converts accumulators to f64, which represents all of them.
fn numbers(accumulator: ElementKind, bytes: &[u8]) -> Vec<f64> {
    let words = bytes.as_chunks::<4>().0.iter();
    match accumulator {
        ElementKind::I32 => words.map(|word| i32::from_le_bytes(*word).into()).collect(),
        ElementKind::F16 => {
            bytes.as_chunks::<2>().0.iter().map(|half| F16::from_le_bytes(*half).into()).collect()
        }
        _ => words.map(|word| f32::from_le_bytes(*word).into()).collect(),
    }
}
