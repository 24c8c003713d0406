//! cuBLASLt: all algorithms that its heuristic offers, with an explicit compute type.
//!
//! The types and constants come from cudarc, for CUDA 12 or 13. The library is opened at run time,
//! and the build does not need it.
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
pub use problem::{ALIGNMENT_BYTES, LtEpilogue, LtOperand, LtProblem};

use cudarc::{cublaslt::sys::cublasLtHandle_t, driver::CudaContext};
use falchion::internals::sys::driver::driver;
use falchion::{
    Error,
    internals::shape::EpilogueOperand,
    refusal::{Because, Operand, Refusal},
};
use std::{path::Path, ptr::null_mut, sync::Arc};
use table::Table;

/// A cuBLASLt handle on the primary context of one device.
pub struct Lt {
    table: &'static Table,
    handle: cublasLtHandle_t,
    context: Arc<CudaContext>,
}

/// Returns a version of cuBLAS or cuBLASLt as text: 130100 is `13.1.0`.
pub(super) fn version_name(version: usize) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

impl Lt {
    /// Opens the library for the device of `context`: the file `path`, or the library that
    /// [`falchion::internals::sys::library`] finds. The process uses the first opened library for
    /// all handles.
    ///
    /// # Errors
    /// [`Error::Library`] with all searched places. [`Error::Driver`] if the library does not start
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

    /// Returns the version of the library: 130100 is 13.1.0.
    #[must_use]
    pub fn version(&self) -> usize {
        // SAFETY: the function has no arguments and returns a constant.
        unsafe { (self.table.get_version)() }
    }

    /// Returns the version of the library as text, such as `13.1.0`.
    #[must_use]
    pub fn version_name(&self) -> String {
        version_name(self.version())
    }

    /// Returns the context of the handle's device.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Creates the descriptors of `problem`, which many launches share.
    ///
    /// # Errors
    /// [`Error::Driver`] if the library refuses a descriptor.
    pub fn plan(&self, problem: &LtProblem) -> Result<LtPlan, Error> {
        self.plan_with_bias(problem, None)
    }

    /// Creates the descriptors of a problem whose epilogue reads a bias. The bias must outlive the
    /// launches of the plan.
    ///
    /// # Errors
    /// [`Error::Driver`] if the library refuses a descriptor. [`Error::Refused`] if the bias is
    /// missing, or if it is too short.
    pub fn plan_with_bias(
        &self,
        problem: &LtProblem,
        bias: Option<Region<'_>>,
    ) -> Result<LtPlan, Error> {
        let length = problem.column_major().d.rows;
        let needed = problem.d.element.matrix_bytes(length);
        let given = bias.as_ref().map_or(0, Region::bytes) as u64;
        if problem.epilogue.has_bias() && given < needed {
            let bias = Operand::Epilogue(EpilogueOperand::BiasN);
            return Err(Refusal::too_short(bias, given as usize, needed, Because::None).into());
        }
        LtPlan::new(self.table, problem, bias.map_or(0, |bias| bias.address()))
    }

    /// Returns up to `requested` algorithms for `plan` that need at most `workspace_bytes`. The
    /// first one is the library's own choice.
    ///
    /// The buffers are assumed to have the alignment of the plan's problem. The list is empty if
    /// the library does not support the problem.
    ///
    /// # Errors
    /// [`Error::Driver`] if the library returns a status other than success or
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
        // The library frees device memory of the context. If the context cannot be made current,
        // the memory leaks.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the handle came from `cublasLtCreate` of this table and is destroyed once.
            unsafe { (self.table.destroy)(self.handle) };
        }
    }
}
