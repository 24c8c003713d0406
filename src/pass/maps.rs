//! The tensor-map pass: writes the tensor maps of the GEMMs of an array to the memory where the
//! GEMM kernel reads them. All maps of a matrix differ only in their address, so each matrix has
//! one template.
//!
//! Templates and addresses are kernel parameters. The kernel therefore reads no memory of the
//! caller, and a captured graph holds them. A warp replaces the address in a copy of the template
//! and stores the map to memory. The TMA-fed GEMM kernel acquires it there (PTX ISA:
//! `tensormap.replace`, `tensormap.cp_fenceproxy`, and `fence.proxy.tensormap`; they need sm_90a
//! and NVRTC 12.3 or newer).
//!
//! Twin: `kernels/pass/maps.cuh`.

use super::unit_of;
use crate::{
    arch::WARP,
    call::{Grid, Launch},
    codegen::{
        Addresses, MOST_RECORDS, MOST_RECORDS_AT_ALL, MapsParams, TensorMap, TranslationUnit,
        records_fingerprint,
    },
    threadblock::{MATRICES_OF_PRODUCT, ProductRecords},
};

/// The kernel of a tensor-map pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MapsDesc {
    /// GEMMs per launch, whose addresses the parameters hold.
    most: u32,
}

/// Threads per CTA: one warp for each matrix of a GEMM.
const THREADS: u32 = WARP * MATRICES_OF_PRODUCT;

impl MapsDesc {
    /// The kernel for few GEMMs and the kernel for many, whose larger parameters take longer to
    /// transfer.
    pub const ALL: [Self; 2] = [Self { most: MOST_RECORDS }, Self { most: MOST_RECORDS_AT_ALL }];

    /// Returns the kernel for an array of `products` GEMMs.
    pub const fn for_gemms(products: usize) -> Self {
        Self::ALL[(products > MOST_RECORDS as usize) as usize]
    }

    /// Returns the source of the kernel.
    pub fn translation_unit(&self, with_fingerprints: bool) -> TranslationUnit {
        let (map, params, behind) = (
            TensorMap::declaration(),
            MapsParams::declaration(),
            MapsParams::with_addresses(self.most),
        );
        let config = format!(
            "#pragma once\n{map}{params}{behind}struct Config {{\n  static constexpr int kThreads = {THREADS};\n}};\n"
        );
        let fingerprints = if with_fingerprints { records_fingerprint() } else { String::new() };
        unit_of("maps", ("MapsOfProducts", "1"), config, &fingerprints)
    }

    /// Returns the launches that write the records of `products` at address `records`, which is a
    /// multiple of 128. The parameters limit the number of GEMMs per launch. `templates` holds a
    /// template for each matrix that TMA moves.
    pub fn launches(
        &self,
        templates: [Option<TensorMap>; MATRICES_OF_PRODUCT as usize],
        products: &[Addresses],
        records: u64,
    ) -> Vec<(Launch, Vec<u8>)> {
        let most = self.most as usize;
        let moved = templates
            .iter()
            .rev()
            .fold(0, |bits, template| bits << 1 | u32::from(template.is_some()));
        let templates = templates.map(|template| template.unwrap_or(TensorMap { word: [0; 16] }));
        let launch = |(number, some): (usize, &[Addresses])| {
            let records = records + ProductRecords::bytes(number * most);
            let params = MapsParams { templates, records, moved, reserved: [0; 13] };
            (
                Launch::new(Grid::with_blocks(some.len() as u32, THREADS, 0), &0u32),
                params.to_bytes(self.most, some),
            )
        };
        products.chunks(most).enumerate().map(launch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{IndexMap, at};

    /// Checks that all launches together write each record once, at its place, and nothing after
    /// the last record. A record is the addresses of a GEMM and its maps.
    #[test]
    fn launches_make_each_record_at_its_place() {
        for count in [0, 1, 7, 110, 111, 300, 1004, 1005, 3000] {
            let products: Vec<Addresses> = (0..count as u64)
                .map(|i| [0, 1, 2, 3].map(|matrix| 4 * i + matrix + 1000))
                .collect();
            let (first, map) = (1u64 << 40, |word| Some(TensorMap { word: [word; 16] }));
            let launches = MapsDesc::for_gemms(count).launches(
                [map(1), map(2), None, map(4)],
                &products,
                first,
            );
            assert_eq!(launches.len(), count.div_ceil(1004));
            let places = ProductRecords { products: count.max(1) as u32 };
            let mut words = vec![None; places.codomain() as usize];
            for (launch, params) in &launches {
                let (params, addresses) = params.split_at(size_of::<MapsParams>());
                let (params, addresses): (MapsParams, &[u64]) =
                    (bytemuck::pod_read_unaligned(params), bytemuck::cast_slice(addresses));
                assert_eq!((launch.grid.threads, params.moved), (128, 0b1011));
                let own = ProductRecords { products: launch.grid.clusters };
                let begin = (params.records - first) / 8;
                for (product, piece) in (0..launch.grid.clusters)
                    .flat_map(|product| (0..8).map(move |piece| (product, piece)))
                {
                    let matrix = piece as usize % 4;
                    let address = addresses[4 * product as usize + matrix];
                    if piece < 4 && params.moved >> matrix & 1 == 0 {
                        continue;
                    }
                    let place =
                        begin as usize + own.at(at(product, piece)).expect("a place") as usize;
                    assert!((first + 8 * place as u64).is_multiple_of(if piece < 4 {
                        128
                    } else {
                        8
                    }));
                    let length = if piece < 4 { 16 } else { 1 };
                    for word in &mut words[place..place + length] {
                        assert_eq!(
                            word.replace((piece, address)),
                            None,
                            "{count}: product {product}, piece {piece}"
                        );
                    }
                }
            }
            for (number, addresses) in (0..).zip(&products) {
                for piece in (0..8).filter(|&piece| piece != 2) {
                    let place = places.at(at(number, piece)).expect("a place") as usize;
                    assert_eq!(
                        words[place],
                        Some((piece, addresses[piece as usize % 4])),
                        "{count}: product {number}"
                    );
                }
            }
        }
    }
}
