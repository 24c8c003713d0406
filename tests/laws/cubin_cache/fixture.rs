//! A cache folder with one valid entry, for tests that damage it.

use crate::harness::prelude::*;
use falchion::{cuda::cache::Entry, internals::sys::nvrtc::Program};
use sha2::{Digest, Sha256};
use std::{fs, ops::Range};

/// SplitMix64. A seed determines a trial.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn within(&mut self, range: Range<usize>) -> usize {
        range.start + (self.next() % (range.end - range.start) as u64) as usize
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    /// Returns a possible output of a compiler: 1 to 4 KiB.
    pub fn compiled(&mut self) -> Compiled {
        let length = self.within(1024..4096);
        Compiled {
            image: self.bytes(length),
            log: format!("Used {} registers", self.within(8..256)),
        }
    }

    pub fn key(&mut self) -> Key {
        Key::new(&Program { source: format!("{:x}", self.next()), ..Program::default() }, (13, 0))
    }
}

/// Returns a temporary folder in memory if the system has one, because the tests create hundreds of
/// thousands of files.
pub fn memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// A user that runs no tests.
pub const SOMEBODY: u32 = 65533;

/// Ranges of an entry's fields in its format.
pub const MAGIC: Range<usize> = 0..8;
pub const VERSION: Range<usize> = 8..12;
pub const KEY: Range<usize> = 12..44;
pub const CUBIN_LENGTH: Range<usize> = 44..52;
pub const LOG_LENGTH: Range<usize> = 52..60;
pub const SEAL: Range<usize> = 60..92;
pub const CUBIN: usize = 92;

pub struct Fixture {
    pub random: Random,
    /// Folder of the trial.
    pub home: PathBuf,
    /// Path that the cache is configured with.
    pub folder: PathBuf,
    pub key: Key,
    /// Output of the compiler for the key.
    pub truth: Compiled,
    /// File that stays open during the fault.
    pub held: Option<File>,
}

impl Fixture {
    /// Creates a folder with a valid entry.
    pub fn new(home: &Path, seed: u64) -> Self {
        let mut random = Random(seed);
        let (key, truth) = (random.key(), random.compiled());
        let fixture =
            Self { random, home: home.into(), folder: home.join("cache"), key, truth, held: None };
        assert!(fixture.ask(&fixture.cache()), "a cold cache compiles");
        assert!(fixture.entry().is_file(), "and keeps");
        fixture
    }

    /// Returns a cache without memory, like that of another process.
    pub fn cache(&self) -> Cache {
        Cache::new(CacheDir::At(self.folder.clone())).with_lock_wait(Duration::from_millis(2))
    }

    /// Requests the entry, and returns whether it was compiled. Panics if the call fails, or
    /// returns another cubin.
    pub fn ask(&self, cache: &Cache) -> bool {
        let before = cache.compilations();
        let entry: Arc<Entry> = cache
            .get_or_compile(&self.key, || Ok(self.truth.clone()))
            .expect("a call must not fail because of the disk");
        assert!(*entry == Entry::from(self.truth.clone()), "a wrong cubin");
        cache.compilations() > before
    }

    pub fn entry(&self) -> PathBuf {
        self.folder.join(format!("{}.cubin", self.key))
    }

    pub fn lock(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.key))
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.entry()).expect("the entry")
    }

    pub fn write(&self, bytes: &[u8]) {
        fs::write(self.entry(), bytes).expect("the entry is overwritten");
    }

    pub fn truncate(&mut self, range: Range<usize>) {
        let length = self.random.within(range);
        self.write(&self.bytes()[..length]);
    }

    pub fn flip(&mut self, range: Range<usize>) {
        let mut bytes = self.bytes();
        bytes[self.random.within(range)] ^= 1 << self.random.within(0..8);
        self.write(&bytes);
    }

    /// Changes the entry and writes a correct checksum, so that only the fields reveal the fault.
    pub fn reseal(&mut self, change: impl FnOnce(&mut Vec<u8>, &mut Random)) {
        let mut bytes = self.bytes();
        change(&mut bytes, &mut self.random);
        let seal = Sha256::new()
            .chain_update(&bytes[..SEAL.start])
            .chain_update(&bytes[CUBIN..])
            .finalize();
        bytes[SEAL].copy_from_slice(&seal);
        self.write(&bytes);
    }

    /// Moves the valid entry, and returns the new path.
    pub fn aside(&self) -> PathBuf {
        let aside = self.home.join("aside");
        fs::rename(self.entry(), &aside).expect("the entry, moved");
        aside
    }

    pub fn link(&self, target: impl AsRef<Path>) {
        remove(&self.entry());
        symlink(target, self.entry()).expect("a link");
    }

    pub fn mode(&self, path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// Ends the fault as a user would, who deletes the folder.
    pub fn repair(&mut self) {
        self.held = None;
        self.folder = self.home.join("cache");
        if fs::symlink_metadata(&self.folder).is_ok_and(|lies| lies.is_dir()) {
            self.mode(&self.folder, 0o700);
        }
        remove(&self.folder);
    }
}

pub fn put(bytes: &mut [u8], range: Range<usize>, value: u64) {
    bytes[range].copy_from_slice(&value.to_le_bytes());
}

pub fn get(bytes: &[u8], range: Range<usize>) -> u64 {
    u64::from_le_bytes(bytes[range].try_into().expect("eight bytes"))
}

/// Removes a file or a folder, if it exists.
pub fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(lies) if lies.is_dir() => fs::remove_dir_all(path).expect("a folder, removed"),
        Ok(_) => fs::remove_file(path).expect("a file, removed"),
        Err(_) => {}
    }
}
