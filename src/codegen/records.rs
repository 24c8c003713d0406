//! Parameters of the pass that writes records: a header, and words that fill the parameters.

use super::fingerprint_assertion;
use crate::threadblock::ProductRecords;

/// Maximum bytes of kernel parameters on any driver.
const PARAMETER_BYTES: usize = 4096;

/// Maximum bytes of kernel parameters with the driver of CUDA 12.1 and newer, rounded down to whole
/// words.
const LONG_PARAMETER_BYTES: usize = 32764 / size_of::<u64>() * size_of::<u64>();

mirrored! {
    /// First parameters of the pass that writes records.
    RecordsHeader {
        /// Address of the first word.
        destination: u64,
        /// Number of words.
        words: u64,
    }
}

/// Layout of the parameters of the pass that writes records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecordsParams {
    /// Whether the parameters are long. Drivers older than CUDA 12.1 do not accept them.
    pub long: bool,
}

impl RecordsParams {
    /// Size of the parameters in bytes.
    pub const fn bytes(&self) -> usize {
        if self.long { LONG_PARAMETER_BYTES } else { PARAMETER_BYTES }
    }

    /// Maximum number of 8-byte words.
    pub const fn most_words(&self) -> usize {
        (self.bytes() - size_of::<RecordsHeader>()) / size_of::<u64>()
    }

    /// Returns the C++ struct. The words fill the parameters, so the assertion of the size also
    /// checks the offset of the words.
    pub(crate) fn declaration(&self) -> String {
        format!(
            "{}struct RecordsParams : RecordsHeader {{\n  // Records of an array, or group offsets.\n  unsigned long long word[{}];\n}};\nstatic_assert(sizeof(RecordsParams) == {}, \"RecordsParams: the Rust struct and the CUDA struct differ\");\n",
            RecordsHeader::declaration(),
            self.most_words(),
            self.bytes(),
        )
    }

    #[cfg(any(feature = "cuda", test))]
    /// Returns the bytes of the parameters. Words beyond [`most_words`](Self::most_words) are
    /// ignored.
    pub fn to_bytes(self, header: &RecordsHeader, words: &[u64]) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.bytes());
        all.extend_from_slice(bytemuck::bytes_of(header));
        let words = &words[..words.len().min(self.most_words())];
        all.extend_from_slice(bytemuck::cast_slice(words));
        all.resize(self.bytes(), 0);
        all
    }
}

/// Number of GEMMs at which the layout of records has a fingerprint.
const COUNT: u32 = 7;

/// Returns the fingerprint assertion of the layout of records.
pub(crate) fn records_fingerprint(positions: bool) -> String {
    let twin = format!("threadblock::ProductRecords<{COUNT}, {positions}>");
    fingerprint_assertion(&twin, "records", &ProductRecords { products: COUNT, positions })
}
