//! The accuracy of an `f32` GEMM: the largest `|D - AB| / (|A||B|)` of all elements, for Falchion
//! and for cuBLAS's SGEMM.
//!
//! `AB` and `|A||B|` come from cuBLAS's DGEMM on the same numbers in device memory. Their error is
//! below `K 2^-53` of `|A||B|`.

use super::suite::SuiteProblem;
use crate::{
    Error,
    sys::{
        cublas::{Cublas, GemmMatrix, GemmProblem},
        cublaslt::Region,
    },
    verify::HostBuffer,
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::internals::sys::driver::driver;
use rayon::prelude::*;
use std::sync::Arc;

/// The largest errors, relative to `|A||B|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Errors {
    /// Error of Falchion's D.
    pub ours: f64,
    /// Error of cuBLAS's SGEMM.
    pub sgemm: f64,
}

/// Returns the largest `|d - reference| / magnitude`. NaN counts as infinite. If all magnitudes are
/// 0, the error is 0.
fn largest(d: &[f32], reference: &[f64], magnitude: &[f64]) -> f64 {
    let share = |((&d, &reference), &magnitude): ((&f32, &f64), &f64)| match (f64::from(d)
        - reference)
        .abs()
        / magnitude
    {
        _ if magnitude == 0.0 => 0.0,
        share if share.is_nan() => f64::INFINITY,
        share => share,
    };
    d.par_iter().zip(reference).zip(magnitude).map(share).reduce(|| 0.0, f64::max)
}

/// Returns a suite's problem as a cuBLAS problem.
fn matrices<'a>(
    problem: &SuiteProblem,
    a: Region<'a>,
    b: Region<'a>,
    d: Region<'a>,
) -> GemmProblem<'a> {
    GemmProblem {
        extents: (problem.m, problem.n, problem.k),
        a: GemmMatrix { region: a, order: problem.a.order, leading: problem.lda() },
        b: GemmMatrix { region: b, order: problem.b.order, leading: problem.ldb() },
        d: GemmMatrix { region: d, order: problem.c.order, leading: problem.ldc() },
    }
}

/// Returns the errors of a D in device memory, which is the product of A and B, and of SGEMM. `a`
/// and `b` are the operands on the host.
pub(super) fn errors(
    stream: &Arc<CudaStream>,
    problem: &SuiteProblem,
    [a, b]: [&HostBuffer; 2],
    [a_f32, b_f32]: &[CudaSlice<u8>; 2],
    ours: &CudaSlice<u8>,
) -> Result<Errors, Error> {
    let cublas = Cublas::open(stream)?;
    let doubles = |buffer: &HostBuffer, of: fn(f64) -> f64| -> Result<CudaSlice<f64>, Error> {
        let numbers: Vec<f64> =
            buffer.whole()?.elements::<f32>()?.par_iter().map(|&x| of(f64::from(x))).collect();
        Ok(stream.clone_htod(&numbers).map_err(driver("cuMemcpyHtoDAsync"))?)
    };
    let length = ours.len() / size_of::<f32>();
    let product = |of: fn(f64) -> f64| -> Result<Vec<f64>, Error> {
        let (a, b) = (doubles(a, of)?, doubles(b, of)?);
        let d = stream.alloc_zeros::<f64>(length).map_err(driver("cuMemAllocAsync"))?;
        cublas.gemm(
            &matrices(
                problem,
                Region::from_slice(&a),
                Region::from_slice(&b),
                Region::from_slice(&d),
            ),
            8,
        )?;
        let product = stream.clone_dtoh(&d).map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        Ok(product)
    };
    let (reference, magnitude) = (product(|x| x)?, product(f64::abs)?);
    let sgemm = stream.alloc_zeros::<u8>(ours.len()).map_err(driver("cuMemAllocAsync"))?;
    cublas.gemm(
        &matrices(
            problem,
            Region::from_slice(a_f32),
            Region::from_slice(b_f32),
            Region::from_slice(&sgemm),
        ),
        4,
    )?;
    let error = |d: &CudaSlice<u8>| -> Result<f64, Error> {
        let bytes = stream.clone_dtoh(d).map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        let numbers: Vec<f32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        Ok(largest(&numbers, &reference, &magnitude))
    };
    Ok(Errors { ours: error(ours)?, sgemm: error(&sgemm)? })
}

#[cfg(test)]
mod tests {
    use super::largest;

    /// Checks that NaN gives an infinite error, and that the error without any magnitude is 0.
    #[test]
    fn the_largest_share_is_found() {
        assert_eq!(largest(&[1.0, 2.5, -3.0], &[1.0, 2.0, -3.25], &[4.0, 8.0, 1.0]), 0.25);
        assert_eq!(largest(&[f32::NAN, 1.0], &[1.0, 1.0], &[1.0, 1.0]), f64::INFINITY);
        assert_eq!(largest(&[0.0], &[0.0], &[0.0]), 0.0);
        assert_eq!(largest(&[], &[], &[]), 0.0);
    }
}
