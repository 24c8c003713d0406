//! TMA copies on a device.

use super::tensor_kernels::{ENTRIES, MEMORY_BYTES, THREADS, TensorCopyParams, program};
use crate::harness::prelude::*;
use cudarc::driver::CudaModule;
use falchion::internals::sys::{driver::enqueue, tensor_map::encode};

/// Rows of `ENTRIES` in `tensor_kernels`.
pub const LOAD: usize = 0;
pub const STORE: usize = 1;
pub const ROUND: usize = 2;

/// Guard bytes before and after a tensor in global memory. The allocation is aligned to 256 bytes,
/// so the tensor is aligned to exactly 16 bytes.
const GUARD: [u8; 48] = [0xee; 48];

/// Device with the loaded kernels.
pub struct Device {
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    pub module: Arc<CudaModule>,
}

/// Arguments of one launch.
pub struct Run<'a> {
    pub entry: &'a str,
    /// Grid with clusters of two CTAs, or of one.
    pub grid: Grid,
    pub load: &'a TensorCopy,
    pub store: &'a TensorCopy,
    pub mask: u16,
    pub hint: bool,
    /// Tensor that is loaded.
    pub source: &'a [u8],
    /// Tensor that is stored.
    pub target: &'a [u8],
    /// Shared memory before the copy.
    pub before: &'a [u8],
}

/// Memory after the copy.
pub struct Found {
    pub shared: Vec<Vec<u8>>,
    pub target: Vec<u8>,
}

impl Device {
    pub fn new() -> Self {
        let context = open(0).expect("this test runs on an NVIDIA GPU");
        let stream = context.new_stream().expect("a stream");
        let compiled = Nvrtc::get()
            .expect("NVRTC")
            .compile(&program())
            .unwrap_or_else(|error| panic!("{error}"));
        let module = context.load_module(Ptx::from_binary(compiled.image)).expect("a module");
        Self { context, stream, module }
    }

    #[allow(unsafe_code, reason = "the test launches its own kernels")]
    pub fn run(&self, run: &Run<'_>) -> Result<Found, Error> {
        let function = self.module.load_function(run.entry).expect("a kernel");
        let (stream, blocks) = (&self.stream, run.grid.blocks()? as usize);
        let guarded =
            |tensor: &[u8]| stream.clone_htod(&[&GUARD, tensor, &GUARD].concat()).expect("memory");
        let (source, mut target) = (guarded(run.source), guarded(run.target));
        let input = stream.clone_htod(run.before).expect("memory");
        let mut output = stream.clone_htod(&vec![0u8; blocks * MEMORY_BYTES]).expect("memory");
        {
            let (from, _from) = source.device_ptr(stream);
            let (to, _to) = target.device_ptr_mut(stream);
            let (input, _input) = input.device_ptr(stream);
            let (output, _output) = output.device_ptr_mut(stream);
            let corner = |copy: &TensorCopy| [copy.corner()[0], copy.corner()[1], copy.corner()[2]];
            let params = TensorCopyParams {
                load: encode(run.load.tile().map(), from + GUARD.len() as u64)?,
                store: encode(run.store.tile().map(), to + GUARD.len() as u64)?,
                input,
                output,
                load_corner: corner(run.load),
                store_corner: corner(run.store),
                tile: run.load.tile().address(),
                box_bytes: run.load.transaction_bytes(),
                window: MEMORY_BYTES as u32,
                mask: run.mask.into(),
                reserved: [run.hint.into(), 0],
            };
            // SAFETY: the kernel has these parameters. Input and output have `MEMORY_BYTES` bytes
            // per CTA, and the tensors reach as far as their maps. All of this memory lives until
            // the stream is synchronized below, and only this stream uses it.
            unsafe { enqueue(&function, stream, &run.grid, bytemuck::bytes_of(&params)) }?;
        }
        stream.synchronize().expect("the kernel completes");
        let shared = stream.clone_dtoh(&output).expect("memory");
        let target = stream.clone_dtoh(&target).expect("memory");
        let (before, rest) = target.split_at(GUARD.len());
        let (target, behind) = rest.split_at(run.target.len());
        assert_eq!(
            (before, behind),
            (&GUARD[..], &GUARD[..]),
            "the guard zone of the tensor was written"
        );
        let shared = shared.chunks(MEMORY_BYTES).map(<[u8]>::to_vec).collect();
        Ok(Found { shared, target: target.to_vec() })
    }

    /// Runs one CTA that loads, stores, or loads and then stores.
    pub fn one(
        &self,
        way: usize,
        copies: [&TensorCopy; 2],
        source: &[u8],
        target: &[u8],
        before: &[u8],
    ) -> Found {
        let [load, store] = copies;
        let entry = ENTRIES[way][load.tile().map().rank as usize - 2];
        let grid = Grid::with_blocks(1, THREADS, 0);
        let run = Run { entry, grid, load, store, mask: 1, hint: false, source, target, before };
        self.run(&run).unwrap_or_else(|error| panic!("{entry} {load:?}: {error}"))
    }
}
