//! What a cubin, or PTX, is known by.

use std::fmt;

use sha2::{Digest, Sha256};

use super::entry::FORMAT;
use crate::sys::nvrtc::{ImageKind, Program};

/// SHA-256 over everything that decides a cubin: the source, the headers, their names, the options,
/// the architecture, NVRTC's version and the version of the entry's format. No path and no date: a
/// cache folder may be moved.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    hash: [u8; 32],
    kind: ImageKind,
}

impl Key {
    /// The key of `program` as the given version of NVRTC compiles it.
    pub fn new(program: &Program, nvrtc: (i32, i32)) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"falchion cubin");
        hash.update(FORMAT.to_le_bytes());
        hash.update(nvrtc.0.to_le_bytes());
        hash.update(nvrtc.1.to_le_bytes());
        // Each text behind its length, each list behind its count: no two programs spell the same
        // bytes.
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

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.hash
    }

    /// What lies behind it.
    pub fn kind(&self) -> ImageKind {
        self.kind
    }
}

impl fmt::Display for Key {
    /// 64 lower-case hexadecimal digits.
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
    fn whatever_decides_the_cubin_changes_the_key() {
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
        // A byte moved over a border.
        changed(&|p| (p.name, p.source) = ("k.cus".into(), "ource".into()));
        changed(&|p| p.headers[0] = ("a.cuhf".into(), "irst".into()));
        changed(&|p| p.headers = vec![("a.cuh".into(), "firstb.cuhsecond".into())]);
        // A header for an option.
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
        // From another implementation of SHA-256 over the same bytes. Another value makes every
        // cache cold, and wants a new format.
        let expected = "89bb8e6e13aaaa5b96f076a129a1696fcfda266cf642c003cd6d86638661e9c2";
        assert_eq!(Key::new(&program(), (13, 0)).to_string(), expected);
    }
}
