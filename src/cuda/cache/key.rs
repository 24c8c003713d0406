//! Keys of compiled kernels.

use std::fmt;

use sha2::{Digest, Sha256};

use super::entry::FORMAT;
use crate::sys::nvrtc::{ImageKind, Program};

/// SHA-256 of everything that determines a compiled kernel: the source, the names and the texts of
/// the headers, the options, the architecture, the version of NVRTC, and the version of the entry
/// format. The key contains no path and no date, so a cache folder may be moved.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    hash: [u8; 32],
    kind: ImageKind,
}

impl Key {
    /// Returns the key of `program` for a version of NVRTC.
    pub fn new(program: &Program, nvrtc: (i32, i32)) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"falchion cubin");
        hash.update(FORMAT.to_le_bytes());
        hash.update(nvrtc.0.to_le_bytes());
        hash.update(nvrtc.1.to_le_bytes());
        // Each text follows its length, and each list follows its count, so different programs hash
        // different bytes.
        let mut text = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        text(&program.arch);
        text(&program.name);
        text(&program.source);
        text(&program.headers.len().to_string());
        for (name, header) in &program.headers {
            text(name);
            text(header);
        }
        text(&program.options.len().to_string());
        program.options.iter().for_each(|option| text(option));
        Self { hash: hash.finalize().into(), kind: program.kind() }
    }

    /// Returns the bytes of the hash.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.hash
    }

    /// Returns the kind of the compiled image.
    pub fn kind(&self) -> ImageKind {
        self.kind
    }
}

impl fmt::Display for Key {
    /// Writes 64 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn program() -> Program {
        Program {
            name: "k.cu".into(),
            source: "source".into(),
            headers: vec![("a.cuh".into(), "first".into()), ("b.cuh".into(), "second".into())],
            arch: "sm_90a".into(),
            options: vec!["-G".into(), "-lineinfo".into()],
        }
    }

    #[test]
    fn every_input_of_a_cubin_changes_its_key() {
        let mut others: Vec<(Program, (i32, i32))> =
            vec![(program(), (13, 0)), (program(), (13, 1)), (program(), (12, 0))];
        let mut changed = |change: &dyn Fn(&mut Program)| {
            let mut other = program();
            change(&mut other);
            others.push((other, (13, 0)));
        };
        changed(&|p| p.name.push('x'));
        changed(&|p| p.source.push('x'));
        changed(&|p| p.arch = "sm_90".into());
        changed(&|p| p.arch = "compute_90a".into());
        changed(&|p| p.headers[0].0.push('x'));
        changed(&|p| p.headers[1].1.to_mut().push('x'));
        changed(&|p| p.headers.swap(0, 1));
        changed(&|p| drop(p.headers.pop()));
        changed(&|p| drop(p.options.pop()));
        changed(&|p| p.options.push(String::new()));
        changed(&|p| p.options = vec!["-G-lineinfo".into()]);
        // One byte moves to the neighboring text.
        changed(&|p| (p.name, p.source) = ("k.cus".into(), "ource".into()));
        changed(&|p| p.headers[0] = ("a.cuhf".into(), "irst".into()));
        changed(&|p| p.headers = vec![("a.cuh".into(), "firstb.cuhsecond".into())]);
        // A header becomes two options.
        changed(&|p| {
            p.headers.truncate(1);
            p.options.splice(0..0, ["b.cuh".into(), "second".into()]);
        });
        let keys: HashSet<Key> =
            others.iter().map(|(program, version)| Key::new(program, *version)).collect();
        assert_eq!(keys.len(), others.len());
    }

    #[test]
    fn a_key_is_the_same_in_every_run() {
        // Another SHA-256 implementation computed this value from the same bytes. A change of the
        // value invalidates every cache, and requires a new format version.
        let expected = "89bb8e6e13aaaa5b96f076a129a1696fcfda266cf642c003cd6d86638661e9c2";
        assert_eq!(Key::new(&program(), (13, 0)).to_string(), expected);
    }
}
