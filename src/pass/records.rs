//! The records pass: writes words from kernel parameters to the workspace, where the GEMM kernel
//! reads them. The words are the addresses of an array, or group offsets that the host has.
//!
//! The kernel reads no memory of the caller, and a captured graph holds the words. For a TMA-fed
//! kernel, the pass also writes the tensor maps of each GEMM. All maps of a matrix differ only in
//! their address, so each matrix has one template. A warp replaces the address in a copy of the
//! template and stores the map to memory. The GEMM kernel acquires it there (PTX ISA:
//! `tensormap.replace`, `tensormap.cp_fenceproxy`, and `fence.proxy.tensormap`; they need sm_90a
//! and NVRTC 12.3 or newer).
//!
//! Twin: `kernels/pass/records.cuh`.

use super::unit_of;
use crate::{
    arch::WARP,
    call::{Grid, Launch},
    codegen::{
        Addresses, RecordsHeader, RecordsParams, Templates, TranslationUnit, records_fingerprint,
    },
    threadblock::{MATRICES_OF_PRODUCT, ProductRecords},
};

/// The kernel of a records pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecordsDesc {
    /// Layout of the parameters.
    params: RecordsParams,
}

/// Threads per CTA: one warp for each matrix of a GEMM, or one thread per word.
const THREADS: u32 = WARP * MATRICES_OF_PRODUCT;

impl RecordsDesc {
    /// The kernel for group offsets.
    pub const OFFSETS: Self = Self { params: RecordsParams { mapped: false, long: false } };

    /// Returns the kernels for arrays: for few GEMMs, and for many, whose longer parameters take
    /// longer to transfer.
    pub const fn for_arrays(mapped: bool) -> [Self; 2] {
        [
            Self { params: RecordsParams { mapped, long: false } },
            Self { params: RecordsParams { mapped, long: true } },
        ]
    }

    /// Returns the source of the kernel.
    pub fn translation_unit(&self, with_fingerprints: bool) -> TranslationUnit {
        let RecordsParams { mapped, .. } = self.params;
        let config = format!(
            "#pragma once\n{}struct Config {{\n  static constexpr int kThreads = {THREADS};\n  static constexpr bool kMapped = {mapped};\n}};\n",
            self.params.declaration()
        );
        let fingerprint =
            if with_fingerprints { records_fingerprint(mapped) } else { String::new() };
        unit_of("records", ("RecordsParams", "1"), config, &fingerprint)
    }

    /// Size of the records of a launch in bytes.
    const fn bytes(&self, words: usize) -> u64 {
        let products = words / MATRICES_OF_PRODUCT as usize;
        let mapped = ProductRecords::bytes(products, true);
        if self.params.mapped { mapped } else { (words * size_of::<u64>()) as u64 }
    }
}

/// A launch of the pass, with its own parameters.
#[derive(Clone, Debug)]
pub struct RecordsLaunch {
    /// The launch; its parameters are only the header.
    pub launch: Launch,
    /// All bytes of the parameters.
    pub params: Vec<u8>,
}

/// The content of the records of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Records {
    /// The kernel that writes the records.
    desc: RecordsDesc,
    /// A tensor map for each matrix that TMA moves, with any address.
    templates: Templates,
    /// Addresses of each GEMM, or pairs of group offsets.
    words: Vec<u64>,
}

impl Records {
    /// Creates the records of an array. `templates` are the tensor maps of a TMA-fed kernel.
    pub fn for_array(products: &[Addresses], templates: Option<Templates>) -> Self {
        let words = products.as_flattened().to_vec();
        let [few, many] = RecordsDesc::for_arrays(templates.is_some());
        let desc = if words.len() > few.params.most_words() { many } else { few };
        Self { desc, templates: templates.unwrap_or_default(), words }
    }

    /// Creates the records of a grouped GEMM.
    pub fn for_groups(offsets: &[u32]) -> Self {
        let word = |pair: &[u32]| {
            let mut both = [0; 2];
            both[..pair.len()].copy_from_slice(pair);
            bytemuck::cast(both)
        };
        let words = offsets.chunks(2).map(word).collect();
        Self { desc: RecordsDesc::OFFSETS, templates: Templates::default(), words }
    }

    /// Returns the kernel that writes the records.
    pub const fn desc(&self) -> RecordsDesc {
        self.desc
    }

    /// Returns the launches that write the records to `address`, a multiple of 128. The parameters
    /// limit the number of words per launch.
    pub fn launches(&self, address: u64) -> Vec<RecordsLaunch> {
        let RecordsDesc { params } = self.desc;
        let moved = (self.templates.iter().rev())
            .fold(0, |bits, template| bits << 1 | u32::from(template.is_some()));
        let launch = |(number, words): (usize, &[u64])| {
            let destination = address + self.desc.bytes(number * params.most_words());
            let header = RecordsHeader { destination, words: words.len() as u32, moved };
            let per_block = if params.mapped { MATRICES_OF_PRODUCT } else { THREADS };
            let grid = Grid::with_blocks(header.words.div_ceil(per_block), THREADS, 0);
            let params = params.to_bytes(&header, &self.templates, words);
            RecordsLaunch { launch: Launch::new(grid, &header), params }
        };
        self.words.chunks(params.most_words()).enumerate().map(launch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codegen::TensorMap,
        index::{IndexMap, at},
    };

    /// Checks that all launches together write each piece of each record once, at its place, and
    /// nothing after the last record.
    #[test]
    fn launches_write_each_record_at_its_place() {
        let map = |word| Some(TensorMap { word: [word; 16] });
        for (count, templates) in [0usize, 1, 7, 110, 111, 127, 128, 300, 1001, 1002, 1025, 3000]
            .into_iter()
            .flat_map(|count| [(count, None), (count, Some([map(1), map(2), None, map(4)]))])
        {
            let products: Vec<Addresses> = (0..count as u64)
                .map(|i| [0, 1, 2, 3].map(|matrix| 4 * i + matrix + 1000))
                .collect();
            let (first, mapped) = (1u64 << 40, templates.is_some());
            let records = Records::for_array(&products, templates);
            let places = ProductRecords { products: count.max(1) as u32, mapped };
            let mut words = vec![None; places.codomain() as usize];
            let most = records.desc.params.most_words();
            let launches = records.launches(first);
            assert_eq!(launches.len(), (4 * count).div_ceil(most));
            for RecordsLaunch { launch, params } in &launches {
                assert_eq!((params.len(), launch.grid.threads), (records.desc.params.bytes(), 128));
                let (header, _) = params.split_at(size_of::<RecordsHeader>());
                let RecordsHeader { destination, words: count, moved } =
                    bytemuck::pod_read_unaligned(header);
                let told = &params[records.desc.params.first_word()..];
                let word =
                    |i: u32| u64::from_ne_bytes(told[8 * i as usize..][..8].try_into().unwrap());
                assert_eq!(moved, if mapped { 0b1011 } else { 0 });
                let blocks = if mapped { count / 4 } else { count.div_ceil(128) };
                assert_eq!(launch.grid.clusters, blocks);
                let own = ProductRecords { products: count / 4, mapped };
                let begin = (destination - first) / 8;
                for point in (0..count / 4)
                    .flat_map(|product| (0..8).map(move |piece| at(product, piece)))
                    .filter(|point| point.column < 4 || moved >> (point.column - 4) & 1 == 1)
                {
                    let address = word(4 * point.row + point.column % 4);
                    let place = begin as usize + own.at(point).expect("a place") as usize;
                    let is_map = point.column > 3;
                    assert!((first + 8 * place as u64).is_multiple_of(if is_map {
                        128
                    } else {
                        8
                    }));
                    for word in &mut words[place..place + if is_map { 16 } else { 1 }] {
                        assert_eq!(
                            word.replace((point.column, address)),
                            None,
                            "{count}: {point:?}"
                        );
                    }
                }
            }
            for (number, addresses) in (0..).zip(&products) {
                for piece in (0..if mapped { 8 } else { 4 }).filter(|&piece| piece != 6) {
                    let place = places.at(at(number, piece)).expect("a place") as usize;
                    let wanted = Some((piece, addresses[piece as usize % 4]));
                    assert_eq!(words[place], wanted, "{count}: product {number}");
                }
            }
        }
    }

    /// Checks that all launches together write each offset once, at its place.
    #[test]
    fn launches_write_each_offset_at_its_place() {
        for count in [0, 1, 2, 3, 1019, 1020, 1021, 5000] {
            let offsets: Vec<u32> = (0..count).map(|i| i * i % 1009 + 7).collect();
            let (first, mut written) = (1u64 << 40, vec![0u64; offsets.len().div_ceil(2)]);
            let records = Records::for_groups(&offsets);
            for RecordsLaunch { launch, params } in records.launches(first) {
                let (header, told) = params.split_at(size_of::<RecordsHeader>());
                let header: RecordsHeader = bytemuck::pod_read_unaligned(header);
                let begin = ((header.destination - first) / 8) as usize;
                assert_eq!(launch.grid.clusters, header.words.div_ceil(launch.grid.threads));
                let told: Vec<u64> = bytemuck::pod_collect_to_vec(told);
                let words = header.words as usize;
                written[begin..begin + words].copy_from_slice(&told[..words]);
            }
            let written: &[u32] = bytemuck::cast_slice(&written);
            assert_eq!(written[..offsets.len()], offsets[..]);
        }
    }
}
