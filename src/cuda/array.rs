//! Pointer arrays on a device: GEMMs of one size whose matrices have unrelated addresses.

use super::{
    kernel::{CudaKernel, Prepared},
    loaded::maps,
    memory::ProductMemory,
    operands::{CudaCall, DeviceMatrix},
    pass::CudaPass,
    workspace,
};
use crate::{
    call::{Call, Problem, Routes, accesses},
    codegen::ArrayParams,
    desc::{GemmDesc, GemmMode},
    error::Error,
    pass::{MapsDesc, PassDesc},
    sys::{driver, nvrtc::Nvrtc},
};
use cudarc::driver::CudaStream;
use std::sync::{Arc, LazyLock};

/// Minimum version of NVRTC for kernels that write or acquire tensor maps in global memory, which
/// need PTX ISA 8.3. Long parameters need PTX ISA 8.1, and use the same check.
const OF_NVRTC: (i32, i32) = (12, 3);

/// Minimum driver version for parameters of 32764 bytes.
const OF_DRIVER: (i32, i32) = (12, 1);

impl CudaKernel {
    /// Enqueues a pointer array on `stream`. Each GEMM is a call as in [`run`](Self::run). The
    /// calls differ only in the memory of their matrices. The first call holds the workspace.
    ///
    /// If the kernel reads both operands in place, a launch computes as many GEMMs as its
    /// parameters hold addresses or tensor maps for. If the [workspace](GemmDesc::workspace_of) has
    /// space for tensor maps, one launch computes all GEMMs; a kernel whose maps must be parameters
    /// does not support this. If an operand needs a pass, each GEMM is one launch.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and refusals of unlike GEMMs and of overlapping Ds. A
    /// refused array enqueues nothing, except if a pass finds rows that it cannot scale.
    pub fn run_array(
        &self,
        stream: &Arc<CudaStream>,
        calls: Vec<CudaCall<'_>>,
    ) -> Result<(), Error> {
        let Some(first) = calls.first() else { return Ok(()) };
        let desc = self.0.desc.for_scalars(&first.scalars);
        let calls =
            calls.into_iter().map(|call| call.enter(&desc)).collect::<Result<Vec<_>, _>>()?;
        Call::check_array(&calls)?;
        self.enqueue_array(stream, &desc, &calls).map_err(|error| error.leave(desc.frame))
    }

    /// Enqueues an array whose calls have entered the frame of `desc`.
    fn enqueue_array(
        &self,
        stream: &Arc<CudaStream>,
        desc: &GemmDesc,
        calls: &[CudaCall<'_>],
    ) -> Result<(), Error> {
        let memory: Vec<_> = calls.iter().map(ProductMemory::new).collect();
        ProductMemory::check_array(stream.context().cu_ctx() as usize, &memory)?;
        let problems: Vec<_> = calls.iter().map(Call::problem).collect();
        let given =
            calls.first().and_then(|call| call.workspace.as_ref()).map_or(0, DeviceMatrix::bytes);
        let (desc, routes) = self.array_routes(desc, &problems, given);
        let Some(all) = Problem::from_array(&problems, &desc).filter(|all| all.m > 0 && all.n > 0)
        else {
            return Ok(());
        };
        let Some(largest) = routes.iter().max_by_key(|routes| routes.workspace_bytes()) else {
            return Ok(());
        };
        let first =
            workspace::begin(largest, &calls[0], memory.iter().flat_map(ProductMemory::extents))?;
        if routes.len() == problems.len() {
            let of_each = problems
                .iter()
                .zip(&routes)
                .map(|(problem, routes)| self.ready(stream, &desc, (problem, routes, first), None));
            let each = of_each.collect::<Result<Vec<_>, _>>()?;
            return each.iter().try_for_each(|ready| ready.enqueue(stream));
        }
        let accesses = accesses((&desc, self.0.needs), &all);
        let kernel = self.narrowed(stream, &desc, (desc.class.mode, accesses))?;
        let Prepared { plan, geometry, resident, loaded, .. } = &*kernel.0;
        let (records, makes) = (largest.records(first), MapsDesc::for_gemms(all.batch));
        let pass = desc
            .class
            .mode
            .is_mapped()
            .then(|| CudaPass::for_run(stream, &PassDesc::Maps(makes)))
            .transpose()?;
        let launch = |products: &[Problem]| {
            let routed = largest.problem(&desc, &all.with_products(products.len()), first);
            let launch = plan.launch(&routed, geometry, *resident)?;
            let addresses: Vec<_> = products.iter().map(Problem::matrix_addresses).collect();
            let (made, params) = match desc.class.mode {
                GemmMode::MappedArray => {
                    let templates = maps(&launch, addresses[0])?;
                    let templates = core::array::from_fn(|matrix| {
                        launch.tensors[matrix].map(|_| templates[matrix])
                    });
                    let made = makes.launches(templates, &addresses, records);
                    (made, ArrayParams::with_records(&launch.params, records))
                }
                _ if desc.warp_specialized().is_none() => (
                    Vec::new(),
                    ArrayParams::with_addresses(
                        &launch.params,
                        &addresses,
                        desc.products_of_launch(),
                    ),
                ),
                _ => {
                    let mapped = addresses
                        .iter()
                        .map(|addresses| Ok::<_, Error>((maps(&launch, *addresses)?, *addresses)));
                    (
                        Vec::new(),
                        ArrayParams::with_maps(
                            &launch.params,
                            &mapped.collect::<Result<Vec<_>, _>>()?,
                        ),
                    )
                }
            };
            Ok::<_, Error>((made, launch, params))
        };
        let launches = problems.chunks(all.batch).map(launch).collect::<Result<Vec<_>, _>>()?;
        launches.iter().try_for_each(|(made, launch, params)| {
            if let Some(pass) = &pass {
                pass.enqueue_maps(stream, made)?;
            }
            loaded.launch_with(stream, launch, &params.0)
        })
    }

    /// Selects the kernel of an array for a workspace of `given` bytes, and returns its description
    /// and its routes. Tensor maps are in the workspace if the parameters do not hold all of them.
    fn array_routes(
        &self,
        desc: &GemmDesc,
        problems: &[Problem],
        given: u64,
    ) -> (GemmDesc, Vec<Routes>) {
        let routes = |desc: GemmDesc| (desc, Routes::for_array(&desc, problems));
        let desc = desc.for_array(problems.len());
        if !desc.class.mode.is_of_many() {
            return routes(desc);
        }
        let of_many = routes(desc);
        let enough = !desc.class.mode.is_mapped()
            || matches!(&of_many.1[..], [all] if all.workspace_bytes() <= given);
        if enough && takes_many() { of_many } else { routes(desc.in_mode(GemmMode::Array)) }
    }
}

/// Returns whether NVRTC and the driver support long parameters and tensor maps in global memory.
pub(crate) fn takes_many() -> bool {
    static TAKES: LazyLock<bool> = LazyLock::new(|| {
        Nvrtc::get().is_ok_and(|nvrtc| nvrtc.version() >= OF_NVRTC)
            && driver::version().is_ok_and(|version| version >= OF_DRIVER)
    });
    *TAKES
}
