//! Parameters of the pass that writes tensor maps and addresses to records in global memory.

use super::{Addresses, ArrayParams, TensorMap, array, fingerprint_assertion};
use crate::threadblock::ProductRecords;

/// Maximum number of GEMMs per launch of the pass with 4096 bytes of parameters.
pub const MOST_RECORDS: u32 = 110;

/// Maximum number of GEMMs per launch with 32764 bytes of parameters, which drivers of CUDA 12.1
/// and newer accept.
pub const MOST_RECORDS_AT_ALL: u32 = 1004;

mirrored! {
    /// Parameters of the pass that makes tensor maps, followed by the addresses of each GEMM. In
    /// C++, the declaration of tensor maps precedes this struct.
    MapsParams align 64 {
        /// Tensor maps of A, B, C, and D with any address. A map is unused if TMA does not move its
        /// matrix.
        templates: [TensorMap; 4],
        /// Address of the record of the first GEMM.
        records: u64,
        /// Bit mask of the matrices that TMA moves. Bit 0 is A, then B, C, and D.
        moved: u32,
        /// Padding to a multiple of the alignment of tensor maps.
        reserved: [u32; 13],
    }
}

/// Returns the bytes of the struct with addresses of `most` GEMMs.
const fn bytes(most: u32) -> usize {
    size_of::<MapsParams>() + most as usize * array::OF_ADDRESSES
}

/// Both structs have whole units of their alignment, and use the available parameters.
const _: () = assert!(
    bytes(MOST_RECORDS) == array::MOST_BYTES && bytes(MOST_RECORDS_AT_ALL).is_multiple_of(64)
);
const _: () = assert!(
    bytes(MOST_RECORDS_AT_ALL) <= array::MOST_BYTES_AT_ALL
        && bytes(MOST_RECORDS_AT_ALL + 2) > array::MOST_BYTES_AT_ALL
);

impl MapsParams {
    /// Returns the declaration of the C++ struct with addresses of `most` GEMMs after this struct.
    pub(crate) fn with_addresses(most: u32) -> String {
        ArrayParams::declared("MapsOfProducts : MapsParams", most, "", bytes(most))
    }

    /// Returns the bytes of the struct with addresses of at most `most` GEMMs. Further addresses
    /// are ignored.
    pub fn to_bytes(&self, most: u32, products: &[Addresses]) -> Vec<u8> {
        let addresses = products.iter().take(most as usize).flat_map(bytemuck::bytes_of);
        let mut all: Vec<_> = bytemuck::bytes_of(self).iter().chain(addresses).copied().collect();
        all.resize(bytes(most), 0);
        all
    }
}

/// Returns the fingerprint assertion of the layout of records.
pub(crate) fn records_fingerprint() -> String {
    let twin = format!("threadblock::ProductRecords<{MOST_RECORDS}>");
    fingerprint_assertion(&twin, "records", &ProductRecords { products: MOST_RECORDS })
}
