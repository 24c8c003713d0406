//! Tensor maps, encoded by the driver.

use crate::{
    Error,
    codegen::TensorMap,
    numeric::ElementKind,
    sys::driver::{driver, offers},
    threadblock::{L2PromotionKind, SwizzleMode, TensorMapDesc},
};
use cudarc::driver::sys;
use std::{ffi::c_void, mem::MaybeUninit, sync::OnceLock};

/// Encodes a tensor description for a device address. This is host work only: nothing is read at
/// the address, and nothing is enqueued.
///
/// # Errors
/// [`Error::Refused`] if [`TensorMapDesc::check_at`] rejects the description. [`Error::Library`]
/// without a driver, or with a driver older than CUDA 12. [`Error::Driver`] if the driver fails.
pub fn encode(desc: &TensorMapDesc, address: u64) -> Result<TensorMap, Error> {
    static OFFERED: OnceLock<()> = OnceLock::new();
    desc.check_at(address)?;
    if OFFERED.get().is_none() {
        offers("cuTensorMapEncodeTiled")?;
        let _ = OFFERED.set(());
    }
    let steps = [1u32; 5];
    // The driver's own type is aligned more strictly than a kernel parameter must be.
    let mut map = MaybeUninit::<sys::CUtensorMap>::uninit();
    // SAFETY: the driver has the function. `map` has the size of its result; the arrays have five
    // elements, and the rank, which was checked, is at most five; the address is only stored.
    unsafe {
        sys::cuTensorMapEncodeTiled(
            map.as_mut_ptr(),
            data_type(desc.element),
            desc.rank,
            address as usize as *mut c_void,
            desc.dims.as_ptr(),
            desc.strides_bytes.as_ptr(),
            desc.box_dims.as_ptr(),
            steps.as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle(desc.swizzle),
            l2_promotion(desc.l2_promotion),
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    }
    .result()
    .map_err(driver("cuTensorMapEncodeTiled"))?;
    // SAFETY: the driver has reported success, so it has written the map.
    Ok(TensorMap { word: unsafe { map.assume_init() }.opaque })
}

/// Returns TMA's name of a type. TMA computes only with tf32, for which it rounds binary32.
const fn data_type(element: ElementKind) -> sys::CUtensorMapDataType {
    match element {
        ElementKind::F64 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        ElementKind::F32 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        ElementKind::Tf32 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        ElementKind::F16 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        ElementKind::Bf16 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        ElementKind::E4m3 | ElementKind::E5m2 | ElementKind::I8 | ElementKind::U8 => {
            sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8
        }
        ElementKind::I32 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
    }
}

const fn swizzle(swizzle: SwizzleMode) -> sys::CUtensorMapSwizzle {
    match swizzle {
        SwizzleMode::None => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        SwizzleMode::Bytes32 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        SwizzleMode::Bytes64 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        SwizzleMode::Bytes128 => sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}

const fn l2_promotion(promotion: L2PromotionKind) -> sys::CUtensorMapL2promotion {
    match promotion {
        L2PromotionKind::None => sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2PromotionKind::Bytes64 => sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2PromotionKind::Bytes128 => {
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B
        }
        L2PromotionKind::Bytes256 => {
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of `CUtensorMapL2promotion` in `cuda.h`.
    #[test]
    fn l2_promotions_have_the_numbers_of_the_driver() {
        let numbers = L2PromotionKind::ALL.map(|kind| (kind.name(), l2_promotion(kind) as u32));
        assert_eq!(numbers, [("none", 0), ("64", 1), ("128", 2), ("256", 3)]);
    }
}
