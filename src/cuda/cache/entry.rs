//! Cache entry of a cubin or PTX, and its file format.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `FALCHION` |
//! | 8..12 | version of the format |
//! | 12..44 | key |
//! | 44..52 | length of the image in bytes, at least 1 |
//! | 52..60 | length of the log in bytes |
//! | 60..92 | SHA-256 of bytes 0..60 and of all bytes from 92 on |
//! | 92.. | image, then log (UTF-8), then end of file |
//!
//! Integers are little-endian and unsigned. The checksum detects damage, but no attack: a program
//! that can write the file can also write a valid checksum. The folder must therefore belong to the
//! user.

use std::fmt;
use std::fs::File;
use std::io::Read;

use sha2::{Digest, Sha256};

use super::Key;
use crate::sys::nvrtc::Compiled;

/// Version of the file format and of the content of a [`Key`].
pub(super) const FORMAT: u32 = 1;

const MAGIC: &[u8; 8] = b"FALCHION";
const SEALED: usize = 60;
const HEADER: usize = 92;
/// Maximum length of an image or a log, in bytes. An entry with a greater length is not read.
const LONGEST: u64 = 64 << 20;

/// Compiled program.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Image that the driver loads: machine code or PTX.
    pub image: Vec<u8>,
    /// Log of the compiler.
    pub log: String,
}

impl fmt::Debug for Entry {
    /// Writes the length of the image instead of its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("image_bytes", &self.image.len())
            .field("log", &self.log)
            .finish()
    }
}

impl From<Compiled> for Entry {
    fn from(Compiled { image, log }: Compiled) -> Self {
        Self { image, log }
    }
}

impl Entry {
    /// Returns the content of the file, or `None` if the image is empty, or the image or the log is
    /// too long.
    pub(super) fn encode(&self, key: &Key) -> Option<Vec<u8>> {
        let (image, log) = (self.image.len() as u64, self.log.len() as u64);
        if image == 0 || image > LONGEST || log > LONGEST {
            return None;
        }
        let mut bytes = Vec::with_capacity(HEADER + self.image.len() + self.log.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(key.bytes());
        bytes.extend_from_slice(&image.to_le_bytes());
        bytes.extend_from_slice(&log.to_le_bytes());
        let seal = checksum(&bytes, [self.image.as_slice(), self.log.as_bytes()]);
        bytes.extend_from_slice(&seal);
        bytes.extend_from_slice(&self.image);
        bytes.extend_from_slice(self.log.as_bytes());
        Some(bytes)
    }

    /// Reads the entry of `key`. Returns `None` if the file is damaged, or is not such an entry.
    /// Allocates no more bytes than the file holds.
    pub(super) fn read(key: &Key, file: &mut File) -> Option<Self> {
        let length = file.metadata().ok()?.len();
        let mut header = [0; HEADER];
        file.read_exact(&mut header).ok()?;
        let (image, log) = lengths(key, &header)?;
        // Both lengths are at most `LONGEST`, so the sum does not overflow.
        if length != HEADER as u64 + image + log {
            return None;
        }
        let mut payload = Vec::new();
        payload.try_reserve_exact(usize::try_from(image + log).ok()?).ok()?;
        // Reads one more byte than expected to detect a file that has grown.
        file.take(image + log + 1).read_to_end(&mut payload).ok()?;
        Self::open(&header, payload, usize::try_from(image).ok()?, usize::try_from(log).ok()?)
    }

    fn open(header: &[u8; HEADER], mut payload: Vec<u8>, image: usize, log: usize) -> Option<Self> {
        let (sealed, seal) = header.split_at(SEALED);
        if payload.len() != image + log || seal != checksum(sealed, [payload.as_slice(), &[]]) {
            return None;
        }
        let log = String::from_utf8(payload.split_off(image)).ok()?;
        Some(Self { image: payload, log })
    }
}

/// Returns the lengths of the image and of the log if the header belongs to `key`.
fn lengths(key: &Key, header: &[u8; HEADER]) -> Option<(u64, u64)> {
    let (magic, rest) = header.split_first_chunk::<8>()?;
    let (format, rest) = rest.split_first_chunk::<4>()?;
    let (echo, rest) = rest.split_first_chunk::<32>()?;
    let (image, rest) = rest.split_first_chunk::<8>()?;
    let (log, _) = rest.split_first_chunk::<8>()?;
    let (image, log) = (u64::from_le_bytes(*image), u64::from_le_bytes(*log));
    let ours = magic == MAGIC && u32::from_le_bytes(*format) == FORMAT && echo == key.bytes();
    (ours && image > 0 && image <= LONGEST && log <= LONGEST).then_some((image, log))
}

fn checksum(sealed: &[u8], payload: [&[u8]; 2]) -> [u8; 32] {
    payload
        .iter()
        .fold(Sha256::new().chain_update(sealed), |hash, part| hash.chain_update(part))
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;
    use crate::sys::nvrtc::Program;

    fn key() -> Key {
        Key::new(&Program::default(), (13, 0))
    }

    fn entry() -> Entry {
        Entry { image: b"\x7fELF and so on".to_vec(), log: "ptxas says \u{e9}".into() }
    }

    fn read(bytes: &[u8]) -> Option<Entry> {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("written");
        file.seek(SeekFrom::Start(0)).expect("rewound");
        Entry::read(&key(), &mut file)
    }

    #[test]
    fn written_entries_read_back() {
        for entry in [entry(), Entry { log: String::new(), ..entry() }] {
            assert_eq!(read(&entry.encode(&key()).expect("storable")), Some(entry));
        }
    }

    #[test]
    fn every_bit_counts() {
        let good = entry().encode(&key()).expect("storable");
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&bytes), None, "bit {bit}");
        }
    }

    #[test]
    fn every_length_but_its_own_is_refused() {
        let mut bytes = entry().encode(&key()).expect("storable");
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "{length} bytes");
        }
        bytes.push(0);
        assert_eq!(read(&bytes), None, "one byte more");
    }

    #[test]
    fn no_image_is_never_kept() {
        assert_eq!(Entry { image: Vec::new(), ..entry() }.encode(&key()), None);
    }

    #[test]
    fn entries_with_a_false_length_are_not_read() {
        let good = entry().encode(&key()).expect("storable");
        let claims = |image: u64, log: u64| {
            let mut header: [u8; HEADER] = *good.first_chunk().expect("a header");
            header[44..52].copy_from_slice(&image.to_le_bytes());
            header[52..60].copy_from_slice(&log.to_le_bytes());
            lengths(&key(), &header)
        };
        assert_eq!(claims(LONGEST, LONGEST), Some((LONGEST, LONGEST)));
        assert_eq!(claims(LONGEST + 1, 0), None);
        assert_eq!(claims(1, LONGEST + 1), None);
    }

    #[test]
    fn another_programs_entry_is_refused() {
        let other = Key::new(&Program::default(), (12, 9));
        assert_eq!(read(&entry().encode(&other).expect("storable")), None);
    }
}
