//! Records of the GEMMs of a pointer array.
//!
//! The matrices of a pointer array lie anywhere in memory. Each GEMM of the array therefore has a
//! record in the workspace: the addresses of A, B, C, and D, and their tensor maps if TMA moves
//! them. A [pass](crate::internals::pass::Records) writes the records, and the kernel reads them.
//!
//! Twin: `kernels/threadblock/records.cuh`.

use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
};

/// Matrices per GEMM: A, B, C, and D.
pub const MATRICES_OF_PRODUCT: u32 = 4;

/// Size of a tensor map in 8-byte words. Tensor maps begin at multiples of 128 bytes.
const MAP_WORDS: u32 = 16;

/// Map from (GEMM, piece) to the index of an 8-byte word in the records of `products` GEMMs.
///
/// Pieces 0 to 3 are the addresses of A, B, C, and D, one word each. Pieces 4 to 7 are their tensor
/// maps, 16 words each. Only records for TMA have tensor maps.
#[derive(Clone, Copy, Debug)]
pub struct ProductRecords {
    /// Number of GEMMs.
    pub products: u32,
    /// Whether the records contain tensor maps.
    pub mapped: bool,
}

impl ProductRecords {
    /// Returns the records of more GEMMs than a launch on the host computes.
    pub(crate) const fn on_host(mapped: bool) -> Self {
        Self { products: 1 << 20, mapped }
    }

    /// Number of pieces of a record.
    const fn pieces(&self) -> u32 {
        if self.mapped { 2 * MATRICES_OF_PRODUCT } else { MATRICES_OF_PRODUCT }
    }

    /// Size of a record in 8-byte words.
    const fn words(&self) -> u32 {
        if self.mapped { (1 + MATRICES_OF_PRODUCT) * MAP_WORDS } else { MATRICES_OF_PRODUCT }
    }

    /// Returns the size of the records of `products` GEMMs in bytes.
    pub const fn bytes(products: usize, mapped: bool) -> u64 {
        let words = Self { products: 1, mapped }.words();
        (products as u64).saturating_mul(words as u64 * size_of::<u64>() as u64)
    }
}

impl IndexMap for ProductRecords {
    fn domain(&self) -> Coord {
        at(self.products, self.pieces())
    }

    fn codomain(&self) -> u32 {
        self.products * self.words()
    }

    fn at(&self, Coord { row, column }: Coord) -> Option<u32> {
        let of_piece = match column.checked_sub(MATRICES_OF_PRODUCT) {
            None => column,
            Some(matrix) => (1 + matrix) * MAP_WORDS,
        };
        (row < self.products && column < self.pieces()).then_some(row * self.words() + of_piece)
    }

    fn layout(&self) -> Option<Composed> {
        let (products, words) = (self.products, self.words());
        (!self.mapped)
            .then(|| affine(self.domain(), &[(products, words)], &[(MATRICES_OF_PRODUCT, 1)]))?
    }
}
