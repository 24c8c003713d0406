//! Where the addresses of a product's matrices lie among those that a launch of an array takes.
//!
//! The matrices of an array lie anywhere, so each product has four addresses of its own: of A, B, C and D. They ride in the launch's parameters, which the driver copies: a captured graph holds
//! them, and nothing is read that a caller might free before it runs. What TMA moves has a tensor map beside its address, in the same order.
//!
//! Twin: `kernels/threadblock/addresses.cuh`.

use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
};

/// Products of an array that a launch takes: as many as 4096 bytes of parameters hold the addresses of, beside what every kernel takes. A call of more is several launches.
pub const MOST_PRODUCTS: u32 = 119;

/// The same of a kernel that TMA feeds, whose products have a map of 128 bytes for each matrix, too.
pub const MOST_MAPPED: u32 = 6;

/// Matrices of a product, each with an address: A, B, C and D.
pub const MATRICES_OF_PRODUCT: u32 = 4;

/// (product, matrix) to the number of its address, in [`MOST_PRODUCTS`] times [`MATRICES_OF_PRODUCT`].
#[derive(Clone, Copy, Debug)]
pub struct ProductAddresses;

impl IndexMap for ProductAddresses {
    fn domain(&self) -> Coord {
        at(MOST_PRODUCTS, MATRICES_OF_PRODUCT)
    }

    fn codomain(&self) -> u32 {
        MOST_PRODUCTS * MATRICES_OF_PRODUCT
    }

    fn at(&self, Coord { row, column }: Coord) -> Option<u32> {
        (row < MOST_PRODUCTS && column < MATRICES_OF_PRODUCT).then_some(row * MATRICES_OF_PRODUCT + column)
    }

    fn layout(&self) -> Option<Composed> {
        affine(self.domain(), &[(MOST_PRODUCTS, MATRICES_OF_PRODUCT)], &[(MATRICES_OF_PRODUCT, 1)])
    }
}
