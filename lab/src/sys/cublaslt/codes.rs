//! The numbers of `cublasLt.h`, `cublas_api.h` and `library_types.h` that we use.

use falchion::Error;

/// An element type of a matrix or of the scalars (`cudaDataType_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum LtType {
    /// `CUDA_R_32F`; also how tf32 is stored.
    F32 = 0,
    /// `CUDA_R_64F`.
    F64 = 1,
    /// `CUDA_R_16F`.
    F16 = 2,
    /// `CUDA_R_8I`.
    I8 = 3,
    /// `CUDA_R_8U`.
    U8 = 8,
    /// `CUDA_R_32I`.
    I32 = 10,
    /// `CUDA_R_16BF`.
    Bf16 = 14,
    /// `CUDA_R_8F_E4M3`.
    E4m3 = 28,
    /// `CUDA_R_8F_E5M2`.
    E5m2 = 29,
}

impl LtType {
    /// Bytes of one element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 | Self::U8 | Self::E4m3 | Self::E5m2 => 1,
        }
    }
}

/// The order of a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtOrder {
    /// Element `(i, j)` at `i * ld + j`.
    Row,
    /// Element `(i, j)` at `j * ld + i`.
    Col,
}

/// What products are made and summed in (`cublasComputeType_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum LtCompute {
    /// `CUBLAS_COMPUTE_16F`.
    F16 = 64,
    /// `CUBLAS_COMPUTE_32F`: for f32 operands, true f32 products.
    F32 = 68,
    /// `CUBLAS_COMPUTE_32F_PEDANTIC`.
    F32Pedantic = 69,
    /// `CUBLAS_COMPUTE_64F`.
    F64 = 70,
    /// `CUBLAS_COMPUTE_32I`.
    I32 = 72,
    /// `CUBLAS_COMPUTE_32F_FAST_TF32`: f32 operands are cut to tf32.
    F32FastTf32 = 77,
}

impl LtCompute {
    /// The scalars' type that goes with it; for integers, the one that goes with an i32 result.
    #[must_use]
    pub const fn scale(self) -> LtType {
        match self {
            Self::F16 => LtType::F16,
            Self::F32 | Self::F32Pedantic | Self::F32FastTf32 => LtType::F32,
            Self::F64 => LtType::F64,
            Self::I32 => LtType::I32,
        }
    }
}

/// `CUBLAS_STATUS_SUCCESS`.
pub(super) const SUCCESS: i32 = 0;
/// `CUBLAS_STATUS_NOT_SUPPORTED`.
pub(super) const NOT_SUPPORTED: i32 = 15;

/// `CUBLAS_OP_N` and `CUBLAS_OP_T`, i32 attributes.
pub(super) const OP_N: i32 = 0;
pub(super) const OP_T: i32 = 1;

/// `cublasLtMatmulDescAttributes_t`: i32, i32, i8.
pub(super) const DESC_TRANSA: i32 = 3;
pub(super) const DESC_TRANSB: i32 = 4;
pub(super) const DESC_FAST_ACCUM: i32 = 25;

/// `cublasLtMatrixLayoutAttribute_t`: i32, i32, i64 in elements.
pub(super) const LAYOUT_ORDER: i32 = 1;
pub(super) const LAYOUT_BATCH_COUNT: i32 = 5;
pub(super) const LAYOUT_BATCH_STRIDE: i32 = 6;

/// `CUBLASLT_ORDER_ROW`; the default is column-major.
pub(super) const ORDER_ROW: i32 = 1;

/// `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`, u64. The alignments keep their default, 256 bytes.
pub(super) const PREF_MAX_WORKSPACE_BYTES: i32 = 1;

/// An error unless `status` says success.
pub(in crate::sys) fn check(call: &'static str, status: i32) -> Result<(), Error> {
    if status == SUCCESS {
        return Ok(());
    }
    Err(Error::Driver { call, code: status, name: status_name(status).to_owned() })
}

/// The name of a `cublasStatus_t`.
fn status_name(status: i32) -> &'static str {
    match status {
        SUCCESS => "CUBLAS_STATUS_SUCCESS",
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        NOT_SUPPORTED => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        _ => "a status cublas_api.h does not name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_sentence() {
        assert!(check("cublasLtMatmul", 0).is_ok());
        let text = check("cublasLtMatmul", 15).unwrap_err().to_string();
        assert_eq!(text, "cublasLtMatmul answered 15 (CUBLAS_STATUS_NOT_SUPPORTED)");
    }

    #[test]
    fn scalars_follow_the_compute_type() {
        assert_eq!(LtCompute::F32FastTf32.scale(), LtType::F32);
        assert_eq!((LtCompute::I32.scale(), LtCompute::F64.scale()), (LtType::I32, LtType::F64));
    }
}
