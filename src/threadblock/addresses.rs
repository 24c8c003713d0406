//! Addresses and tensor maps of the matrices of a pointer-array GEMM.
//!
//! The matrices of a pointer array lie anywhere in memory. Each GEMM of the array therefore has
//! four addresses: A, B, C, and D. The launch parameters hold the addresses, and the driver copies
//! the parameters. A captured graph therefore stays valid after the caller frees its address array.
//!
//! If TMA moves a matrix, its tensor map lies next to its address, in the same order. If an array
//! has too many GEMMs for the launch parameters, the workspace holds one record per GEMM with the
//! maps and the addresses. A [pass](crate::internals::pass::MapsDesc) writes the records.
//!
//! Twin: `kernels/threadblock/addresses.cuh`.

use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
};

/// Maximum number of GEMMs per pointer-array launch with 4096 bytes of launch parameters. The limit
/// counts the addresses and the parameters that every kernel has.
pub const MOST_PRODUCTS: u32 = 119;

/// Maximum number of GEMMs per pointer-array launch with 32764 bytes of launch parameters, which
/// needs a CUDA 12.1 driver. A call with more GEMMs makes several launches.
pub const MOST_PRODUCTS_AT_ALL: u32 = 1015;

/// Maximum number of GEMMs per launch for TMA kernels. Each matrix adds a tensor map of 128 bytes.
pub const MOST_MAPPED: u32 = 6;

/// Matrices per GEMM, each with an address: A, B, C, and D.
pub const MATRICES_OF_PRODUCT: u32 = 4;

/// Map from (GEMM, matrix) to the index of an address, for `products` GEMMs of
/// [`MATRICES_OF_PRODUCT`] matrices each.
#[derive(Clone, Copy, Debug)]
pub struct ProductAddresses {
    /// Number of GEMMs.
    pub products: u32,
}

impl IndexMap for ProductAddresses {
    fn domain(&self) -> Coord {
        at(self.products, MATRICES_OF_PRODUCT)
    }

    fn codomain(&self) -> u32 {
        self.products * MATRICES_OF_PRODUCT
    }

    fn at(&self, Coord { row, column }: Coord) -> Option<u32> {
        (row < self.products && column < MATRICES_OF_PRODUCT)
            .then_some(row * MATRICES_OF_PRODUCT + column)
    }

    fn layout(&self) -> Option<Composed> {
        affine(self.domain(), &[(self.products, MATRICES_OF_PRODUCT)], &[(MATRICES_OF_PRODUCT, 1)])
    }
}

/// Size of a tensor map in 8-byte words. Records are a whole number of 128-byte lines, because
/// tensor maps need that alignment.
const MAP_WORDS: u32 = 16;

/// Size of a record in 8-byte words: four tensor maps, and one line with the addresses.
const RECORD_WORDS: u32 = (MATRICES_OF_PRODUCT + 1) * MAP_WORDS;

/// Map from (GEMM, piece) to the index of an 8-byte word in the records of `products` GEMMs. Pieces
/// 0 to 3 are the tensor maps of A, B, C, and D, 16 words each. Pieces 4 to 7 are their addresses.
#[derive(Clone, Copy, Debug)]
pub struct ProductRecords {
    /// Number of GEMMs.
    pub products: u32,
}

impl ProductRecords {
    /// Returns the size of the records of `products` GEMMs in bytes.
    pub const fn bytes(products: usize) -> u64 {
        (products as u64).saturating_mul(RECORD_WORDS as u64 * size_of::<u64>() as u64)
    }
}

impl IndexMap for ProductRecords {
    fn domain(&self) -> Coord {
        at(self.products, 2 * MATRICES_OF_PRODUCT)
    }

    fn codomain(&self) -> u32 {
        self.products * RECORD_WORDS
    }

    fn at(&self, Coord { row, column }: Coord) -> Option<u32> {
        let of_piece = match column.checked_sub(MATRICES_OF_PRODUCT) {
            None => column * MAP_WORDS,
            Some(matrix) => MATRICES_OF_PRODUCT * MAP_WORDS + matrix,
        };
        (row < self.products && column < 2 * MATRICES_OF_PRODUCT)
            .then_some(row * RECORD_WORDS + of_piece)
    }
}
