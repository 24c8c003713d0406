//! Where the addresses and the maps of a product's matrices lie: among those that a launch of an
//! array takes, or in memory.
//!
//! The matrices of an array lie anywhere, so each product has four addresses of its own: of A, B, C
//! and D. They ride in the launch's parameters, which the driver copies: a captured graph holds
//! them, and nothing is read that a caller might free before it runs. What TMA moves has a tensor
//! map beside its address, in the same order. Of many products both lie in the workspace, in a
//! record of each product, which a [pass](crate::internals::pass::MapsDesc) makes.
//!
//! Twin: `kernels/threadblock/addresses.cuh`.

use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
};

/// Products of an array that a launch takes: as many as 4096 bytes of parameters hold the addresses
/// of, beside what every kernel takes.
pub const MOST_PRODUCTS: u32 = 119;

/// The same of 32764 bytes, which drivers of CUDA 12.1 take. A call of more is several launches.
pub const MOST_PRODUCTS_AT_ALL: u32 = 1015;

/// The same of a kernel that TMA feeds, whose products have a map of 128 bytes for each matrix,
/// too.
pub const MOST_MAPPED: u32 = 6;

/// Matrices of a product, each with an address: A, B, C and D.
pub const MATRICES_OF_PRODUCT: u32 = 4;

/// (product, matrix) to the number of its address, in so many products times
/// [`MATRICES_OF_PRODUCT`].
#[derive(Clone, Copy, Debug)]
pub struct ProductAddresses {
    /// How many.
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

/// Words of a tensor map, of eight bytes each; records are of whole lines of as many bytes, at
/// which maps begin.
const MAP_WORDS: u32 = 16;

/// Words of a product's record: its maps, and a line with its addresses.
const RECORD_WORDS: u32 = (MATRICES_OF_PRODUCT + 1) * MAP_WORDS;

/// (product, piece) to the number of a word of eight bytes, in the records of so many products.
/// Pieces are the tensor maps of A, B, C and D, of 16 words each, and then their addresses.
#[derive(Clone, Copy, Debug)]
pub struct ProductRecords {
    /// How many.
    pub products: u32,
}

impl ProductRecords {
    /// Bytes of so many products' records.
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
