//! Conversions to cuBLAS's constants, and from its status codes to errors.

use cudarc::cublaslt::sys::{
    cublasComputeType_t::{self as Compute, *},
    cublasStatus_t::{self as Status, *},
    cudaDataType_t::{self as DataType, *},
};
use falchion::{Error, numeric::ElementKind};

/// The status of a library call: a number of [`Status`], or of a newer library.
pub(in crate::sys) type Answer = u32;

/// Returns the library's constant for an element type. tf32 is stored as f32.
pub(super) const fn data_type(kind: ElementKind) -> DataType {
    match kind {
        ElementKind::F32 | ElementKind::Tf32 => CUDA_R_32F,
        ElementKind::F64 => CUDA_R_64F,
        ElementKind::F16 => CUDA_R_16F,
        ElementKind::Bf16 => CUDA_R_16BF,
        ElementKind::E4m3 => CUDA_R_8F_E4M3,
        ElementKind::E5m2 => CUDA_R_8F_E5M2,
        ElementKind::I8 => CUDA_R_8I,
        ElementKind::U8 => CUDA_R_8U,
        ElementKind::I32 => CUDA_R_32I,
    }
}

/// Returns the scalar type for a compute type. For integers, it is the type for an i32 result.
#[must_use]
pub const fn scale(compute: Compute) -> ElementKind {
    match compute {
        CUBLAS_COMPUTE_16F | CUBLAS_COMPUTE_16F_PEDANTIC => ElementKind::F16,
        CUBLAS_COMPUTE_64F | CUBLAS_COMPUTE_64F_PEDANTIC => ElementKind::F64,
        CUBLAS_COMPUTE_32I | CUBLAS_COMPUTE_32I_PEDANTIC => ElementKind::I32,
        _ => ElementKind::F32,
    }
}

/// Returns an error unless `answer` is success.
pub(in crate::sys) fn check(call: &'static str, answer: Answer) -> Result<(), Error> {
    if answer == CUBLAS_STATUS_SUCCESS as Answer {
        return Ok(());
    }
    let name = STATUSES
        .into_iter()
        .find(|status| *status as Answer == answer)
        .map(|status| format!("{status:?}"));
    let name = name.unwrap_or_else(|| "a status cublas_api.h does not name".to_owned());
    Err(Error::Driver { call, code: answer as i32, name })
}

/// All statuses except success.
const STATUSES: [Status; 9] = [
    CUBLAS_STATUS_NOT_INITIALIZED,
    CUBLAS_STATUS_ALLOC_FAILED,
    CUBLAS_STATUS_INVALID_VALUE,
    CUBLAS_STATUS_ARCH_MISMATCH,
    CUBLAS_STATUS_MAPPING_ERROR,
    CUBLAS_STATUS_EXECUTION_FAILED,
    CUBLAS_STATUS_INTERNAL_ERROR,
    CUBLAS_STATUS_NOT_SUPPORTED,
    CUBLAS_STATUS_LICENSE_ERROR,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_a_message() {
        assert!(check("cublasLtMatmul", 0).is_ok());
        let text = |answer| check("cublasLtMatmul", answer).unwrap_err().to_string();
        assert_eq!(text(15), "cublasLtMatmul returned 15 (CUBLAS_STATUS_NOT_SUPPORTED)");
        assert_eq!(text(99), "cublasLtMatmul returned 99 (a status cublas_api.h does not name)");
    }

    #[test]
    fn scalars_follow_the_compute_type() {
        assert_eq!(scale(CUBLAS_COMPUTE_32F_FAST_TF32), ElementKind::F32);
        assert_eq!(
            (scale(CUBLAS_COMPUTE_32I), scale(CUBLAS_COMPUTE_64F)),
            (ElementKind::I32, ElementKind::F64)
        );
    }
}
