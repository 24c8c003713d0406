//! The records pass: writes words from kernel parameters to the workspace, where the GEMM kernel
//! reads them. The words are the records of an array, or lists that the host has: group offsets and
//! indices. The pass reads no memory of the caller, and a captured graph holds the words.
//!
//! Twin: `kernels/operand/records.cuh`.

#[cfg(any(feature = "cuda", test))]
use crate::{
    codegen::RecordsHeader,
    threadblock::{Grid, Launch},
};
use crate::{
    codegen::{RecordsParams, TranslationUnit},
    operand::unit_of,
};

/// The kernel of a records pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecordsDesc {
    /// Layout of the parameters.
    params: RecordsParams,
}

/// Threads per CTA. Each thread copies one word.
const THREADS: u32 = 128;

impl RecordsDesc {
    /// The kernel for few words.
    pub const FEW: Self = Self { params: RecordsParams { long: false } };

    /// The kernel for many words, whose longer parameters take longer to transfer.
    pub const MANY: Self = Self { params: RecordsParams { long: true } };

    /// Returns the source of the kernel.
    pub fn translation_unit(&self) -> TranslationUnit {
        let config = format!(
            "#pragma once\n{}struct Config {{\n  static constexpr int kThreads = {THREADS};\n}};\n",
            self.params.declaration()
        );
        unit_of("records", ("RecordsParams", "1"), config, "")
    }
}

#[cfg(any(feature = "cuda", test))]
/// A launch of the pass, with its own parameters.
#[derive(Clone, Debug)]
pub struct RecordsLaunch {
    /// The launch; its parameters are only the header.
    pub launch: Launch,
    /// All bytes of the parameters.
    pub params: Vec<u8>,
}

#[cfg(any(feature = "cuda", test))]
/// The content of the records of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Records {
    /// The kernel that writes the records.
    desc: RecordsDesc,
    /// Words in order.
    words: Vec<u64>,
}

#[cfg(any(feature = "cuda", test))]
impl Records {
    /// Creates records from their 4-byte words. `larger` writes them if they are too many for
    /// [`RecordsDesc::FEW`] in one launch.
    fn new(words: &[u32], larger: RecordsDesc) -> Self {
        let word = |pair: &[u32]| {
            let mut both = [0; 2];
            both[..pair.len()].copy_from_slice(pair);
            bytemuck::cast(both)
        };
        let words = Vec::from_iter(words.chunks(2).map(word));
        let few = words.len() <= RecordsDesc::FEW.params.most_words();
        Self { desc: if few { RecordsDesc::FEW } else { larger }, words }
    }

    /// Creates the records of an array from the 4-byte words of all GEMMs.
    pub fn for_array(words: &[u32]) -> Self {
        Self::new(words, RecordsDesc::MANY)
    }

    /// Creates the records of lists of numbers, which any driver can write.
    pub fn for_lists(numbers: &[u32]) -> Self {
        Self::new(numbers, RecordsDesc::FEW)
    }

    /// Returns the kernel that writes the records.
    #[cfg(feature = "cuda")]
    pub const fn desc(&self) -> RecordsDesc {
        self.desc
    }

    /// Returns the launches that write the records to `address`, a multiple of 8. The parameters
    /// limit the number of words per launch.
    pub fn launches(&self, address: u64) -> Vec<RecordsLaunch> {
        let RecordsDesc { params } = self.desc;
        let mut destination = address;
        let launch = |words: &[u64]| {
            let header = RecordsHeader { destination, words: words.len() as u64 };
            destination += size_of_val(words) as u64;
            let grid = Grid::with_blocks((words.len() as u32).div_ceil(THREADS), THREADS, 0);
            RecordsLaunch {
                launch: Launch::new(grid, &header),
                params: params.to_bytes(&header, words),
            }
        };
        self.words.chunks(params.most_words()).map(launch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All launches together write each word once, at its place.
    #[test]
    fn launches_write_each_word_at_its_place() {
        for (count, few) in [0, 1, 2, 3, 1019, 1020, 1021, 5000, 9001]
            .into_iter()
            .flat_map(|count| [(count, false), (count, true)])
        {
            let content: Vec<u32> = (0..count).map(|i| i * i % 1009 + 7).collect();
            let (first, mut written) = (1u64 << 40, vec![0u64; content.len().div_ceil(2)]);
            let records = if few { Records::for_lists } else { Records::for_array }(&content);
            for RecordsLaunch { launch, params } in records.launches(first) {
                assert_eq!(params.len(), records.desc.params.bytes());
                let (header, told) = params.split_at(size_of::<RecordsHeader>());
                let header: RecordsHeader = bytemuck::pod_read_unaligned(header);
                let (begin, words) =
                    (((header.destination - first) / 8) as usize, header.words as usize);
                assert_eq!(launch.grid.clusters, (words as u32).div_ceil(launch.grid.threads));
                let told: Vec<u64> = bytemuck::pod_collect_to_vec(told);
                assert!(written[begin..begin + words].iter().all(|&word| word == 0), "{count}");
                written[begin..begin + words].copy_from_slice(&told[..words]);
            }
            let written: &[u32] = bytemuck::cast_slice(&written);
            assert_eq!(written[..content.len()], content[..]);
        }
    }
}
