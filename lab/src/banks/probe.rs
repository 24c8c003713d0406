//! A device probe of the accesses of [`cases`](super::cases): one launch each, whose wavefronts a
//! profiler counts.
//!
//! A launch has one warp and one access. The kernel's name contains the direction and the width.
//! `scripts/banks.sh` runs this probe under `ncu` and compares the counted wavefronts with
//! [`wavefronts`](super::wavefronts).
//!
//! Twin: `lab/kernels/banks/probe.cuh`.

use super::cases::SPAN_BYTES;
use crate::banks::{Direction, LANES, WarpAccess};
use crate::{Error, KERNELS, sys::launch::launch};
use core::fmt::Write;
use cudarc::{
    driver::{CudaContext, CudaFunction, CudaModule, DevicePtr, DevicePtrMut},
    nvrtc::Ptx,
};
use falchion::{
    internals::sys::{
        driver::{Grid, driver},
        nvrtc::{Nvrtc, Program},
    },
    mirrored,
};
use std::sync::Arc;

mirrored! {
    /// The parameters of a probe of shared memory.
    ProbeParams {
        /// Address of a table with each lane's offset in shared memory, in bytes.
        offsets: u64,
        /// Address of one output word per lane.
        results: u64,
    }
}

/// The offset of an inactive lane. `lab/kernels/banks/probe.cuh` defines the same number.
const OFF: u32 = u32::MAX;

/// All widths of an access, in bytes.
const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// Returns the name of the kernel of an access.
pub fn entry(direction: Direction, bytes: u32) -> String {
    format!("probe_{}_{bytes}", direction.name())
}

/// Returns the NVRTC program for `sm`, with a kernel for each direction and width.
pub fn program(sm: u32) -> Program {
    let mut source = format!("{}#include \"banks/probe.cuh\"\n", ProbeParams::declaration());
    for direction in [Direction::Load, Direction::Store] {
        for bytes in WIDTHS {
            let _ = writeln!(
                source,
                "extern \"C\" __global__ void {}(const __grid_constant__ ProbeParams params) {{\n  __shared__ __align__(128) char shared[{SPAN_BYTES}];\n  banks::probe<{bytes}, {}>(params, shared);\n}}",
                entry(direction, bytes),
                direction == Direction::Store,
            );
        }
    }
    Program {
        name: "probe.cu".to_owned(),
        source,
        headers: KERNELS.iter().map(|&(name, text)| (name.to_owned(), text.into())).collect(),
        arch: format!("sm_{sm}"),
        options: vec!["-default-device".to_owned(), "--ptxas-options=-v".to_owned()],
    }
}

/// The probe kernels on a device.
pub struct Probe {
    context: Arc<CudaContext>,
    module: Arc<CudaModule>,
}

impl Probe {
    /// Compiles and loads the kernels.
    ///
    /// # Errors
    /// - [`falchion::Error::Library`] if NVRTC is missing.
    /// - [`falchion::Error::Compile`] if NVRTC rejects the kernel.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn prepare(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let sm = falchion::cuda::machine_of(context)?.sm;
        let compiled = Nvrtc::get()?.compile(&program(sm))?;
        let module = context
            .load_module(Ptx::from_binary(compiled.image))
            .map_err(driver("cuModuleLoadData"))?;
        Ok(Self { context: context.clone(), module })
    }

    /// Makes one access in one launch, and synchronizes.
    ///
    /// # Errors
    /// - [`Error::Measurement`] if an address is beyond [`SPAN_BYTES`].
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn run(&self, access: &WarpAccess) -> Result<(), Error> {
        let offsets = offsets(access)?;
        let name = entry(access.direction(), access.bytes());
        let function: CudaFunction =
            self.module.load_function(&name).map_err(driver("cuModuleGetFunction"))?;
        let stream = self.context.default_stream();
        let offsets = stream.clone_htod(&offsets).map_err(driver("cuMemcpyHtoDAsync"))?;
        let mut results = stream.alloc_zeros::<u32>(LANES).map_err(driver("cuMemAllocAsync"))?;
        {
            let (from, _reads) = offsets.device_ptr(&stream);
            let (to, _writes) = results.device_ptr_mut(&stream);
            launch(
                &function,
                &stream,
                &Grid::with_blocks(1, LANES as u32, 0),
                &ProbeParams { offsets: from, results: to },
            )?;
        }
        Ok(stream.synchronize().map_err(driver("cuStreamSynchronize"))?)
    }
}

/// Returns the offsets of the lanes, which must be within the kernel's shared memory.
fn offsets(access: &WarpAccess) -> Result<Vec<u32>, Error> {
    let limit = u64::from(SPAN_BYTES - access.bytes());
    let offset = |address: Option<u64>| match address {
        None => Ok(OFF),
        Some(address) if address <= limit => Ok(address as u32),
        Some(address) => Err(Error::Measurement {
            because: format!("an address of {address} bytes is above {limit}"),
        }),
    };
    access.lanes().iter().copied().map(offset).collect()
}
