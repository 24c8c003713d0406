//! Parameters of array kernels: the parameters of the family, followed by the addresses of each
//! GEMM. With TMA, the tensor maps of each GEMM follow, or the address of records in global
//! memory.

use super::{GemmParams, TensorGemmParams, TensorMap, fingerprint_assertion};
use crate::{
    call::Params,
    threadblock::{
        MATRICES_OF_PRODUCT, MOST_MAPPED, MOST_PRODUCTS, MOST_PRODUCTS_AT_ALL, ProductAddresses,
    },
};
use core::fmt::Write;

/// Maximum bytes of kernel parameters on any driver, and on drivers of CUDA 12.1 and newer.
pub(super) const MOST_BYTES: usize = 4096;
pub(super) const MOST_BYTES_AT_ALL: usize = 32764;

/// Matrices per GEMM.
const MATRICES: usize = MATRICES_OF_PRODUCT as usize;

/// Bytes of the addresses of a GEMM, and of its tensor maps.
pub(super) const OF_ADDRESSES: usize = MATRICES * size_of::<u64>();
const OF_MAPS: usize = MATRICES * size_of::<TensorMap>();

/// Bytes of the struct for `products` GEMMs, and of the struct with tensor maps before it is padded
/// to its alignment.
const fn bytes(products: u32) -> usize {
    size_of::<GemmParams>() + products as usize * OF_ADDRESSES
}
const MAPPED_BYTES: usize =
    size_of::<TensorGemmParams>() + MOST_MAPPED as usize * (OF_MAPS + OF_ADDRESSES);

/// The maximum counts of GEMMs fill the parameters: one more GEMM does not fit.
const _: () = assert!(bytes(MOST_PRODUCTS) <= MOST_BYTES && bytes(MOST_PRODUCTS + 1) > MOST_BYTES);
const _: () = assert!(
    bytes(MOST_PRODUCTS_AT_ALL) <= MOST_BYTES_AT_ALL
        && bytes(MOST_PRODUCTS_AT_ALL + 1) > MOST_BYTES_AT_ALL
);
const _: () = assert!(
    MAPPED_BYTES.next_multiple_of(64) <= MOST_BYTES
        && MAPPED_BYTES + OF_MAPS + OF_ADDRESSES > MOST_BYTES
);

/// Addresses of A, B, C, and D of one GEMM; 0 for a C that the epilogue does not read.
pub type Addresses = [u64; MATRICES];

/// Bytes of the parameters of an array kernel, padded with zeros.
#[derive(Clone, Debug)]
pub struct ArrayParams(pub Vec<u8>);

impl ArrayParams {
    /// Returns the parameters of a launch and its GEMMs, for a kernel that accepts at most `most`
    /// of them. Further GEMMs are ignored.
    pub fn with_addresses(params: &Params, products: &[Addresses], most: u32) -> Self {
        let products = &products[..products.len().min(most as usize)];
        Self::behind(&params.0[..size_of::<GemmParams>()], &[], products, bytes(most))
    }

    /// Returns the parameters of a TMA kernel with at most [`MOST_MAPPED`] GEMMs.
    pub fn with_maps(params: &Params, products: &[([TensorMap; MATRICES], Addresses)]) -> Self {
        let mut maps = [TensorMap { word: [0; 16] }; MATRICES * MOST_MAPPED as usize];
        let mut addresses = [[0; MATRICES]; MOST_MAPPED as usize];
        for (number, (of_product, at)) in products.iter().take(MOST_MAPPED as usize).enumerate() {
            maps[MATRICES * number..][..MATRICES].copy_from_slice(of_product);
            addresses[number] = *at;
        }
        Self::behind(
            &params.0[..size_of::<TensorGemmParams>()],
            bytemuck::cast_slice(&maps),
            &addresses,
            MOST_BYTES,
        )
    }

    /// Returns the parameters of a kernel whose tensor maps and addresses lie in global memory,
    /// beginning at address `records`.
    pub fn with_records(params: &Params, records: u64) -> Self {
        Self::behind(
            &params.0[..size_of::<TensorGemmParams>()],
            bytemuck::bytes_of(&records),
            &[],
            MOST_BYTES,
        )
    }

    fn behind(first: &[u8], then: &[u8], addresses: &[Addresses], bytes: usize) -> Self {
        let mut all = [first, then, bytemuck::cast_slice(addresses)].concat();
        all.resize(bytes, 0);
        Self(all)
    }

    /// Returns the C++ struct for at most `most` GEMMs, which extends [`GemmParams`].
    pub(crate) fn declaration(most: u32) -> String {
        Self::declared("ArrayParams : GemmParams", most, "", bytes(most))
    }

    /// Returns the C++ struct with tensor maps, which extends [`TensorGemmParams`].
    pub(crate) fn mapped_declaration() -> String {
        let maps =
            format!("  // Their maps.\n  TensorMap maps[{}];\n", MOST_MAPPED * MATRICES_OF_PRODUCT);
        Self::declared(
            "TensorArrayParams : TensorGemmParams",
            MOST_MAPPED,
            &maps,
            MAPPED_BYTES.next_multiple_of(64),
        )
    }

    /// Returns the C++ struct with the address of records, which extends [`TensorGemmParams`].
    pub(crate) fn records_declaration() -> String {
        let (name, bytes) =
            ("TensorRecordParams", size_of::<TensorGemmParams>() + align_of::<TensorGemmParams>());
        format!(
            "struct {name} : TensorGemmParams {{\n  // Address of the products' maps and addresses.\n  unsigned long long records;\n}};\nstatic_assert(sizeof({name}) == {bytes}, \"{name}: the Rust struct and the CUDA struct differ\");\n"
        )
    }

    pub(super) fn declared(heading: &str, products: u32, maps: &str, bytes: usize) -> String {
        let name = heading.split(' ').next().unwrap_or_default();
        let mut text =
            format!("struct {heading} {{\n{maps}  // Addresses of each product's A, B, C and D.\n");
        let _ = writeln!(
            text,
            "  unsigned long long addresses[{}];\n}};",
            products * MATRICES_OF_PRODUCT
        );
        let _ = writeln!(
            text,
            "static_assert(sizeof({name}) == {bytes}, \"{name}: the Rust struct and the CUDA struct differ\");"
        );
        text
    }

    /// Returns the fingerprint assertion of the layout of addresses and tensor maps.
    pub(crate) fn fingerprint(products: u32) -> String {
        fingerprint_assertion(
            &format!("threadblock::ProductAddresses<{products}>"),
            "addresses",
            &ProductAddresses { products },
        )
    }
}
