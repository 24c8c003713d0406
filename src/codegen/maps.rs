//! What a pass that makes tensor maps is launched with, and where it brings them.

use super::{Addresses, ArrayParams, TensorMap, array, fingerprint_assertion};
use crate::threadblock::ProductRecords;

/// Products that a launch makes the maps of, of which there are few: as many as 4096 bytes of
/// parameters hold addresses of behind what all have.
pub const MOST_RECORDS: u32 = 110;

/// The same of parameters of 32764 bytes, which drivers of CUDA 12.1 take.
pub const MOST_RECORDS_AT_ALL: u32 = 1004;

mirrored! {
    /// What a pass that makes tensor maps is launched with, before the addresses of each product.
    /// In C++ the maps' declaration comes before it.
    MapsParams align 64 {
        /// Maps of A, B, C and D at any address; of no meaning where TMA does not move them.
        templates: [TensorMap; 4],
        /// Address of the first product's record.
        records: u64,
        /// Of A, B, C and D, a bit each, the lowest A's: whether TMA moves it.
        moved: u32,
        /// Makes the size a multiple of the maps' alignment.
        reserved: [u32; 13],
    }
}

/// Bytes of the struct with addresses of so many products.
const fn bytes(most: u32) -> usize {
    size_of::<MapsParams>() + most as usize * array::OF_ADDRESSES
}

/// Whole structs, and as many products as there is room for.
const _: () = assert!(
    bytes(MOST_RECORDS) == array::MOST_BYTES && bytes(MOST_RECORDS_AT_ALL).is_multiple_of(64)
);
const _: () = assert!(
    bytes(MOST_RECORDS_AT_ALL) <= array::MOST_BYTES_AT_ALL
        && bytes(MOST_RECORDS_AT_ALL + 2) > array::MOST_BYTES_AT_ALL
);

impl MapsParams {
    /// The struct with addresses of `most` products, in C++ behind this one's.
    pub(crate) fn with_addresses(most: u32) -> String {
        ArrayParams::declared("MapsOfProducts : MapsParams", most, "", bytes(most))
    }

    /// Its bytes, of products of which there are `most` at most: what is beyond is left out.
    pub fn of(&self, most: u32, products: &[Addresses]) -> Vec<u8> {
        let addresses = products.iter().take(most as usize).flat_map(bytemuck::bytes_of);
        let mut all: Vec<_> = bytemuck::bytes_of(self).iter().chain(addresses).copied().collect();
        all.resize(bytes(most), 0);
        all
    }
}

/// The fingerprint of where pieces of records lie.
pub(crate) fn records_fingerprint() -> String {
    let twin = format!("threadblock::ProductRecords<{MOST_RECORDS}>");
    fingerprint_assertion(&twin, "records", &ProductRecords { products: MOST_RECORDS })
}
