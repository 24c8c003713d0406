//! CUDA devices and their limits.

use crate::{
    Error,
    arch::Machine,
    sys::driver::{driver, present},
};
use cudarc::driver::{CudaContext, sys::CUdevice_attribute as Attribute};
use std::sync::{Arc, PoisonError, RwLock};

/// Opens the primary context of the device `ordinal`. All CUDA libraries share the primary context.
///
/// # Errors
/// [`Error::Library`] if the driver is missing. [`Error::Driver`] if the device does not exist.
pub fn open(ordinal: usize) -> Result<Arc<CudaContext>, Error> {
    present()?;
    CudaContext::new(ordinal).map_err(driver("cuInit"))
}

/// Returns the limits of a device.
///
/// # Errors
/// [`Error::Driver`] if the query fails.
pub fn machine_of(context: &CudaContext) -> Result<Machine, Error> {
    let ask = |attribute| {
        context
            .attribute(attribute)
            .map(|value| u32::try_from(value).unwrap_or(0))
            .map_err(driver("cuDeviceGetAttribute"))
    };
    Ok(Machine {
        sm: 10 * ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
            + ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        shared_bytes_per_block: ask(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        shared_bytes_per_sm: ask(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        registers_per_sm: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        threads_per_block: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        threads_per_sm: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        blocks_per_sm: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
        multiprocessors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
    })
}

/// Returns the limits of a device, and queries the driver once per process.
pub(crate) fn known_machine(context: &CudaContext) -> Result<Machine, Error> {
    static KNOWN: RwLock<Vec<(usize, Machine)>> = RwLock::new(Vec::new());
    let key = context.cu_ctx() as usize;
    let known = KNOWN
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .find(|known| known.0 == key)
        .map(|known| known.1);
    if let Some(machine) = known {
        return Ok(machine);
    }
    let machine = machine_of(context)?;
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).push((key, machine));
    Ok(machine)
}
