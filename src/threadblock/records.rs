//! Records of the GEMMs of a pointer array.
//!
//! The matrices of a pointer array lie anywhere in memory. Each GEMM of the array therefore has a
//! record in the workspace: the addresses of A, B, C, and D. If TMA moves matrices, the record also
//! has their positions, because one tensor map serves all GEMMs. The third dimension of the map
//! is the position: the number of steps from the lowest address of the operand. A
//! [pass](crate::internals::operand::RecordsDesc) writes the records, and the kernel reads them.
//!
//! Twin: `kernels/threadblock/records.cuh`.

use crate::layout::{
    algebra::Composed,
    index_map::{Coord, IndexMap, affine, at},
};

/// Matrices per GEMM: A, B, C, and D.
pub const MATRICES_OF_PRODUCT: u32 = 4;

/// Map from (GEMM, piece) to the index of a 4-byte word in the records of `products` GEMMs.
///
/// Pieces 0 to 3 are the addresses of A, B, C, and D, two words each. Pieces 4 to 7 are their
/// positions, one word each. Only records for TMA have positions.
#[derive(Clone, Copy, Debug)]
pub struct ProductRecords {
    /// Number of GEMMs.
    pub products: u32,
    /// Whether the records contain positions.
    pub positions: bool,
}

impl ProductRecords {
    /// Returns the records of more GEMMs than a launch on the host computes.
    pub const fn on_host(positions: bool) -> Self {
        Self { products: 1 << 20, positions }
    }

    /// Number of pieces of a record.
    const fn pieces(&self) -> u32 {
        if self.positions { 2 * MATRICES_OF_PRODUCT } else { MATRICES_OF_PRODUCT }
    }

    /// Size of a record in 4-byte words.
    pub const fn words(&self) -> u32 {
        let addresses = 2 * MATRICES_OF_PRODUCT;
        if self.positions { addresses + MATRICES_OF_PRODUCT } else { addresses }
    }

    /// Returns the size of the records of `products` GEMMs in bytes.
    pub const fn bytes(products: usize, positions: bool) -> u64 {
        let words = Self { products: 1, positions }.words();
        (products as u64).saturating_mul(words as u64 * size_of::<u32>() as u64)
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
        let piece =
            if column < MATRICES_OF_PRODUCT { 2 * column } else { MATRICES_OF_PRODUCT + column };
        (row < self.products && column < self.pieces()).then_some(row * self.words() + piece)
    }

    fn layout(&self) -> Option<Composed> {
        let (products, words) = (self.products, self.words());
        (!self.positions)
            .then(|| affine(self.domain(), &[(products, words)], &[(MATRICES_OF_PRODUCT, 2)]))?
    }
}
