//! cuBLASLt: every algorithm its heuristic offers, with the compute type said aloud.
//!
//! Types and numbers are cudarc's, of CUDA 12 or 13; so is the library, opened at run time and not
//! needed to build.
#![allow(unsafe_code)]

mod codes;
mod launch;
mod plan;
mod problem;
mod table;

pub use codes::scale;
pub(super) use codes::{Answer, check};
pub use launch::{LtLaunch, LtSet, Region};
pub use plan::{LtAddresses, LtAlgorithm, LtPlan};
pub use problem::{ALIGNMENT_BYTES, LtOperand, LtProblem};

use cudarc::{cublaslt::sys::cublasLtHandle_t, driver::CudaContext};
use falchion::Error;
use falchion::internals::sys::driver::driver;
use std::{path::Path, ptr::null_mut, sync::Arc};
use table::Table;

/// A handle to cuBLASLt on one device's primary context.
pub struct Lt {
    table: &'static Table,
    handle: cublasLtHandle_t,
    context: Arc<CudaContext>,
}

/// The text of a version of cuBLAS or cuBLASLt: 130100 is `13.1.0`.
pub(super) fn version_name(version: usize) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

impl Lt {
    /// Opens the library for the device of `context`: the file `path`, or the library that
    /// [`falchion::internals::sys::library`] finds. The first library opened serves the process.
    ///
    /// # Errors
    /// [`Error::Library`] with every place tried; [`Error::Driver`] if the library does not start
    /// on the device.
    pub fn open(context: &Arc<CudaContext>, path: Option<&Path>) -> Result<Self, Error> {
        let table = Table::get(path)?;
        context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut handle = null_mut();
        // SAFETY: `handle` is a valid place for the handle, and a context is current on this
        // thread.
        let status = unsafe { (table.create)(&raw mut handle) };
        codes::check("cublasLtCreate", status)?;
        Ok(Self { table, handle, context: Arc::clone(context) })
    }

    /// The library's version: 130100 is 13.1.0.
    #[must_use]
    pub fn version(&self) -> usize {
        // SAFETY: the function takes nothing and reads a constant.
        unsafe { (self.table.get_version)() }
    }

    /// The library's version as text: `13.1.0`.
    #[must_use]
    pub fn version_name(&self) -> String {
        version_name(self.version())
    }

    /// The context whose device this handle computes on.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// The descriptors of `problem`, made once for many launches.
    ///
    /// # Errors
    /// [`Error::Driver`] when the library refuses a descriptor.
    pub fn plan(&self, problem: &LtProblem) -> Result<LtPlan, Error> {
        LtPlan::new(self.table, problem)
    }

    /// Up to `requested` algorithms for `plan` that need no more than `workspace_bytes`, the
    /// library's favourite first.
    ///
    /// Buffers are taken to be aligned as the plan's problem says. The list is empty when the
    /// library does not support the problem.
    ///
    /// # Errors
    /// [`Error::Driver`] when the library answers anything but success or
    /// `CUBLAS_STATUS_NOT_SUPPORTED`.
    pub fn algorithms(
        &self,
        plan: &LtPlan,
        workspace_bytes: usize,
        requested: usize,
    ) -> Result<Vec<LtAlgorithm>, Error> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        plan.algorithms(self.handle, workspace_bytes, requested)
    }
}

impl Drop for Lt {
    fn drop(&mut self) {
        // The library frees device memory of the context. A failure has nobody to go to: the
        // process keeps what leaked.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the handle came from `cublasLtCreate` of this table and is destroyed once.
            unsafe { (self.table.destroy)(self.handle) };
        }
    }
}
