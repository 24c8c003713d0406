//! What a kernel of arrays is launched with: what every kernel takes, and behind that the addresses of each product.

use super::{GemmParams, fingerprint_assertion};
use crate::{
    call::Params,
    threadblock::{MATRICES_OF_PRODUCT, MOST_PRODUCTS, ProductAddresses},
};

/// Bytes of a kernel's parameters, at most.
const MOST_BYTES: usize = 4096;

/// Bytes of a product's addresses.
const OF_PRODUCT: usize = MATRICES_OF_PRODUCT as usize * size_of::<u64>();

/// Bytes of the struct.
const BYTES: usize = size_of::<GemmParams>() + MOST_PRODUCTS as usize * OF_PRODUCT;

/// As many products as there is room for, and no more.
const _: () = assert!(BYTES <= MOST_BYTES && BYTES + OF_PRODUCT > MOST_BYTES);

/// Addresses of a product's A, B, C and D; 0 of a C that is not read.
pub type Addresses = [u64; MATRICES_OF_PRODUCT as usize];

/// The bytes of the struct that a kernel of arrays takes.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct ArrayParams(pub [u8; BYTES]);

impl ArrayParams {
    /// Those of a launch and its products, of which there are [`MOST_PRODUCTS`] at most: what is beyond is left out.
    pub fn of(params: &Params, products: &[Addresses]) -> Self {
        let mut bytes = [0; BYTES];
        let (all, addresses) = bytes.split_at_mut(size_of::<GemmParams>());
        all.copy_from_slice(&params.0[..size_of::<GemmParams>()]);
        let (addresses, _) = addresses.as_chunks_mut::<{ size_of::<u64>() }>();
        addresses.iter_mut().zip(products.as_flattened()).for_each(|(to, address)| *to = address.to_ne_bytes());
        Self(bytes)
    }

    /// The C++ twin, behind that of [`GemmParams`].
    pub(crate) fn declaration() -> String {
        format!(
            "struct ArrayParams : GemmParams {{\n  // Addresses of each product's A, B, C and D.\n  unsigned long long addresses[{}];\n}};\nstatic_assert(sizeof(ArrayParams) == {BYTES}, \"ArrayParams: the Rust struct and the CUDA struct differ\");\n",
            MOST_PRODUCTS * MATRICES_OF_PRODUCT
        )
    }

    /// The fingerprint of where addresses lie.
    pub(crate) fn fingerprint() -> String {
        fingerprint_assertion(&format!("threadblock::ProductAddresses<{MOST_PRODUCTS}>"), "addresses", &ProductAddresses)
    }
}
