//! Pointer arrays on a device: GEMMs of one size whose matrices have unrelated addresses.

use super::{
    call_launches::CallLaunches,
    kernel::{CudaKernel, Prepared},
    loaded::packed,
    memory::ProductMemory,
    operands::{CudaCall, DeviceMatrix},
    workspace,
};
use crate::{
    Error,
    nest::GemmDesc,
    operand::{Call, Problem, Routes, accesses, records::Records},
    sys::driver,
};
use cudarc::driver::CudaStream;
use std::sync::{Arc, LazyLock};

/// Minimum driver version for the long parameters of the pass that writes records.
const DRIVER_OF_LONG_PARAMETERS: (i32, i32) = (12, 1);

impl CudaKernel {
    /// Enqueues a pointer array on `stream`. Each GEMM is a call as in [`run`](Self::run). The
    /// calls differ only in the memory of their matrices. The first call holds the workspace.
    ///
    /// If the kernel reads both operands in place and the [workspace](GemmDesc::workspace_of) has
    /// space for the records, one launch computes all GEMMs. Otherwise each GEMM is one launch.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and refusals of unlike GEMMs and of overlapping Ds. A
    /// refused array enqueues nothing, except if a pass finds rows that it cannot scale.
    pub fn run_array(
        &self,
        stream: &Arc<CudaStream>,
        calls: Vec<CudaCall<'_>>,
    ) -> Result<(), Error> {
        let (ready, _calls) = self.array_launches(stream, calls)?;
        let enqueued = ready.iter().try_for_each(|ready| ready.enqueue(stream));
        enqueued.map_err(|error| error.leave(self.0.desc.frame))
    }

    /// Prepares the launches of an array, and returns them with its calls in the kernel's frame.
    pub(super) fn array_launches<'a>(
        &self,
        stream: &Arc<CudaStream>,
        calls: Vec<CudaCall<'a>>,
    ) -> Result<(Vec<CallLaunches>, Vec<CudaCall<'a>>), Error> {
        let Some(first) = calls.first() else { return Ok(Default::default()) };
        let desc = self.0.desc.for_scalars(&first.scalars);
        let calls =
            calls.into_iter().map(|call| call.enter(&desc)).collect::<Result<Vec<_>, _>>()?;
        Call::check_array(&calls)?;
        let ready = self.entered_array_launches(stream, &desc, &calls);
        Ok((ready.map_err(|error| error.leave(desc.frame))?, calls))
    }

    /// Prepares the launches of an array whose calls have entered the frame of `desc`.
    fn entered_array_launches(
        &self,
        stream: &Arc<CudaStream>,
        desc: &GemmDesc,
        calls: &[CudaCall<'_>],
    ) -> Result<Vec<CallLaunches>, Error> {
        let memory = |call| ProductMemory::new(&desc.epilogue, call);
        let memory: Vec<_> = calls.iter().map(memory).collect();
        ProductMemory::check_array(stream.context().cu_ctx() as usize, &memory)?;
        let problems: Vec<_> = calls.iter().map(Call::problem).collect();
        let given =
            calls.first().and_then(|call| call.workspace.as_ref()).map_or(0, DeviceMatrix::bytes);
        let (desc, routes) = self.array_routes(desc, &problems, given);
        let Some(all) = Problem::from_array(&problems, &desc).filter(|all| all.m > 0 && all.n > 0)
        else {
            return Ok(Vec::new());
        };
        let Some(largest) = routes.iter().max_by_key(|routes| routes.workspace_bytes()) else {
            return Ok(Vec::new());
        };
        let first =
            workspace::begin(largest, &calls[0], memory.iter().flat_map(ProductMemory::extents))?;
        if !desc.work.mode.is_array() {
            let of_each = problems.iter().zip(&routes).map(|(problem, routes)| {
                self.gemm_launches(stream, &desc, (problem, routes, first))
            });
            return of_each.collect();
        }
        let accesses = accesses((&desc, self.0.needs), &all);
        let addressing = all.addressing(desc.frame.d_order());
        let kernel = self.narrowed(stream, &desc, (desc.work.mode, addressing, accesses))?;
        let Prepared { plan, geometry, resident, .. } = &*kernel.0;
        let ready = |products: &[Problem]| {
            let all = Problem::from_array(products, &desc).unwrap_or(all);
            let routed = largest.problem(&desc, &all, first);
            let launch = packed(plan.launch(&routed, geometry, *resident)?)?;
            let records = Records::for_array(&Problem::record_words(products, &desc));
            CallLaunches::new(kernel.clone(), launch).with_records(
                stream,
                &records,
                largest.records(first),
            )
        };
        Problem::array_launches(&problems, kernel.desc()).into_iter().map(ready).collect()
    }

    /// Selects the kernel of an array for a workspace of `given` bytes, and returns its description
    /// and its routes.
    fn array_routes(
        &self,
        desc: &GemmDesc,
        problems: &[Problem],
        given: u64,
    ) -> (GemmDesc, Vec<Routes>) {
        let routes = |desc: GemmDesc| (desc, Routes::for_array(&desc, problems));
        let together = routes(desc.for_array(problems.len()));
        match &together.1[..] {
            [all] if all.workspace_bytes() <= given && supports_arrays() => together,
            _ => routes(desc.for_array(1)),
        }
    }
}

/// Returns whether the driver supports the kernels of arrays.
pub(super) fn supports_arrays() -> bool {
    static SUPPORTS: LazyLock<bool> = LazyLock::new(|| {
        driver::version().is_ok_and(|version| version >= DRIVER_OF_LONG_PARAMETERS)
    });
    *SUPPORTS
}
