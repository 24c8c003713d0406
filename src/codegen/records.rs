//! Parameters of the pass that writes records: a header, tensor maps, and words that fill the
//! parameters.

use super::{TensorMap, fingerprint_assertion};
use crate::threadblock::{MATRICES_OF_PRODUCT, ProductRecords};

/// Addresses of A, B, C, and D of one GEMM; 0 for a C that the epilogue does not read.
pub type Addresses = [u64; MATRICES_OF_PRODUCT as usize];

/// Tensor maps of A, B, C, and D; `None` for a matrix that TMA does not move.
pub type Templates = [Option<TensorMap>; MATRICES_OF_PRODUCT as usize];

/// Maximum bytes of kernel parameters on any driver.
const PARAMETER_BYTES: usize = 4096;

/// Maximum bytes of kernel parameters with the driver of CUDA 12.1 and newer, rounded down to the
/// alignment of tensor maps.
const LONG_PARAMETER_BYTES: usize = 32764 / ALIGNMENT * ALIGNMENT;

/// Alignment of tensor maps in parameters.
const ALIGNMENT: usize = align_of::<TensorMap>();

mirrored! {
    /// First parameters of the pass that writes records.
    RecordsHeader {
        /// Address of the first record.
        destination: u64,
        /// Number of words.
        words: u32,
        /// Bit mask of the matrices that TMA moves. Bit 0 is A, then B, C, and D.
        moved: u32,
    }
}

/// Layout of the parameters of the pass that writes records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecordsParams {
    /// Whether the parameters contain a tensor map per matrix, and the records too.
    pub mapped: bool,
    /// Whether the parameters are long. Drivers older than CUDA 12.1 do not accept them.
    pub long: bool,
}

impl RecordsParams {
    /// Size of the parameters in bytes.
    pub const fn bytes(&self) -> usize {
        if self.long { LONG_PARAMETER_BYTES } else { PARAMETER_BYTES }
    }

    /// Offset in bytes of the first word.
    pub const fn first_word(&self) -> usize {
        let maps = MATRICES_OF_PRODUCT as usize * size_of::<TensorMap>();
        if self.mapped { ALIGNMENT + maps } else { size_of::<RecordsHeader>() }
    }

    /// Maximum number of 8-byte words. Words of a GEMM are not divided among launches.
    pub const fn most_words(&self) -> usize {
        let words = (self.bytes() - self.first_word()) / size_of::<u64>();
        words - words % MATRICES_OF_PRODUCT as usize
    }

    /// Returns the C++ struct. The words fill the parameters, so the assertion of the size also
    /// checks the offset of the words.
    pub(crate) fn declaration(&self) -> String {
        let maps = if self.mapped {
            format!(
                "  // Tensor maps with any address.\n  TensorMap templates[{MATRICES_OF_PRODUCT}];\n"
            )
        } else {
            String::new()
        };
        let words = (self.bytes() - self.first_word()) / size_of::<u64>();
        format!(
            "{}{}struct RecordsParams : RecordsHeader {{\n{maps}  // Addresses of each GEMM's matrices, or group offsets.\n  unsigned long long word[{words}];\n}};\nstatic_assert(sizeof(RecordsParams) == {}, \"RecordsParams: the Rust struct and the CUDA struct differ\");\n",
            TensorMap::declaration(),
            RecordsHeader::declaration(),
            self.bytes(),
        )
    }

    /// Returns the bytes of the parameters. Words beyond [`most_words`](Self::most_words) are
    /// ignored.
    pub fn to_bytes(
        &self,
        header: &RecordsHeader,
        templates: &Templates,
        words: &[u64],
    ) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.bytes());
        all.extend_from_slice(bytemuck::bytes_of(header));
        if self.mapped {
            all.resize(ALIGNMENT, 0);
            for template in templates {
                let map = template.unwrap_or(TensorMap { word: [0; 16] });
                all.extend_from_slice(bytemuck::bytes_of(&map));
            }
        }
        let words = &words[..words.len().min(self.most_words())];
        all.extend_from_slice(bytemuck::cast_slice(words));
        all.resize(self.bytes(), 0);
        all
    }
}

/// Number of GEMMs at which the layout of records has a fingerprint.
const COUNT: u32 = 7;

/// Returns the fingerprint assertion of the layout of records.
pub(crate) fn records_fingerprint(mapped: bool) -> String {
    let twin = format!("threadblock::ProductRecords<{COUNT}, {mapped}>");
    fingerprint_assertion(&twin, "records", &ProductRecords { products: COUNT, mapped })
}
