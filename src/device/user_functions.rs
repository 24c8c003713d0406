//! Comparison of user functions on the host and on a device.

use crate::{
    Error,
    cuda::Cuda,
    device::{Arguments, Gemm},
    epilogue::{Apply, Aux, Function},
    sys::driver::driver,
};
use cudarc::driver::CudaStream;
use std::sync::Arc;

impl Cuda {
    /// Compares the CUDA text of a user function with its host function, for inputs of any bits.
    /// Returns the first input whose results differ in a bit, with the result of the host and the
    /// result of the device. NaN results are equal.
    ///
    /// # Errors
    /// [`Error::Compile`] if NVRTC does not compile the text; the errors of `Gemm::run` and of the
    /// driver.
    pub fn first_difference<F: Function>(
        stream: &Arc<CudaStream>,
        inputs: &[f32],
    ) -> Result<Option<(f32, [f32; 2])>, Error> {
        let gemm = Gemm::<f32>::new().epilogue::<Apply<F, Aux<1, f32>>>();
        let extents = (inputs.len(), 1, 0);
        let mut of_host = vec![0.0; inputs.len()];
        gemm.run(Arguments::new(extents, inputs, inputs, &mut of_host).aux::<1>(inputs))?;
        if inputs.is_empty() {
            return Ok(None);
        }
        let x = stream.clone_htod(inputs).map_err(driver("cuMemcpyHtoDAsync"))?;
        let mut d = stream.alloc_zeros::<f32>(inputs.len()).map_err(driver("cuMemAllocAsync"))?;
        gemm.run(Arguments::new(extents, &x, &x, &mut d).aux::<1>(&x))?;
        let of_device = stream.clone_dtoh(&d).map_err(driver("cuMemcpyDtoHAsync"))?;
        let results = of_host.into_iter().zip(of_device).map(|(host, device)| [host, device]);
        let differs = |[host, device]: [f32; 2]| {
            host.to_bits() != device.to_bits() && !(host.is_nan() && device.is_nan())
        };
        Ok(inputs.iter().copied().zip(results).find(|(_, results)| differs(*results)))
    }
}
