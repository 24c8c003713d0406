//! Cache of compiled kernels: in memory for this process, and on disk for later processes.
//!
//! The disk cache only saves time; none of its faults fails a call. An entry that is damaged,
//! foreign, unreadable, or not a regular file of the user is compiled again and, if possible,
//! replaced. A folder that cannot be read, written, or trusted is not used.
//!
//! **Compilation.** Threads that need the same key wait for the first of them. Processes use a lock
//! on a file, which the system releases when its holder ends. After [`Cache::with_lock_wait`] (120
//! s by default), a process compiles without the lock. Different keys compile at the same time.
//!
//! **Trust.** Cubins are code. On Unix, the folder is created with mode 0700. A folder is not used
//! if another user owns it, or if its group or all users may write to it; the same applies to each
//! file. Parent folders are not checked. A checksum detects damage, but does not make an entry of
//! another user safe. On other systems, permissions are not checked.
//!
//! **Size.** The cache never removes an entry. The folder may be moved, copied, and deleted at any
//! time.

mod entry;
mod folder;
mod key;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;

pub use entry::Entry;
pub use key::Key;

use crate::{
    Error,
    sys::{environment::Environment, nvrtc::Compiled},
};
use folder::{Folder, Found};

/// Disk location of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheDir {
    /// No disk cache.
    Off,
    /// Folder, created at its first use.
    At(PathBuf),
}

impl CacheDir {
    /// Returns the folder in `FALCHION_CACHE_DIR`, or no disk cache if the variable is `off`.
    /// Without the variable, returns `falchion` in the user's cache folder, if there is one.
    pub fn from_environment(environment: &Environment) -> Self {
        match environment.variable("FALCHION_CACHE_DIR") {
            Some(word) if word == "off" => Self::Off,
            // An absolute path does not change with the current folder of the process.
            Some(path) => Self::At(std::path::absolute(path).unwrap_or_else(|_| path.into())),
            None => {
                environment.cache_home().map_or(Self::Off, |home| Self::At(home.join("falchion")))
            }
        }
    }

    /// Checks that the folder can hold compiled kernels. A [`Cache`] does not report an unusable
    /// folder. Creates a missing folder.
    ///
    /// # Errors
    /// [`Error::Io`] with the message of the system, or with the reason why the folder is not
    /// trusted.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Off => Ok(()),
            Self::At(path) => Folder::open(path)?.check(),
        }
    }
}

/// Memory of one key, which is locked during a lookup or a compilation.
type Slot = Arc<Mutex<Option<Arc<Entry>>>>;

/// Cache of compiled kernels by [`Key`].
#[derive(Debug)]
pub struct Cache {
    dir: CacheDir,
    lock_wait: Duration,
    slots: Mutex<HashMap<Key, Slot>>,
    swept: Once,
    compilations: AtomicU64,
    memory_hits: AtomicU64,
    disk_hits: AtomicU64,
    rejections: AtomicU64,
    /// Error of the last failed write.
    write_error: Mutex<Option<String>>,
}

impl Cache {
    /// Creates an empty cache over `dir`. Accesses no file.
    pub fn new(dir: CacheDir) -> Self {
        Self {
            dir,
            lock_wait: Duration::from_secs(120),
            slots: Mutex::default(),
            swept: Once::new(),
            compilations: AtomicU64::new(0),
            memory_hits: AtomicU64::new(0),
            disk_hits: AtomicU64::new(0),
            rejections: AtomicU64::new(0),
            write_error: Mutex::default(),
        }
    }

    /// Returns the cache of the process. Its first use reads the location from the environment.
    pub fn global() -> &'static Self {
        static GLOBAL: OnceLock<Cache> = OnceLock::new();
        GLOBAL.get_or_init(|| Self::new(CacheDir::from_environment(&Environment::current())))
    }

    /// Sets the time to wait for another process that compiles the same key.
    pub fn with_lock_wait(self, lock_wait: Duration) -> Self {
        Self { lock_wait, ..self }
    }

    /// Returns the disk location.
    pub fn dir(&self) -> &CacheDir {
        &self.dir
    }

    /// Returns the entry of `key` from memory, from disk, or from `compile`. `compile` must not
    /// request the same key.
    ///
    /// # Errors
    /// The error of `compile`. A failure is not cached, so the next call compiles again.
    pub fn get_or_compile(
        &self,
        key: &Key,
        compile: impl FnOnce() -> Result<Compiled, Error>,
    ) -> Result<Arc<Entry>, Error> {
        let slot = Arc::clone(unpoisoned(&self.slots).entry(*key).or_default());
        let mut slot = unpoisoned(&slot);
        if let Some(entry) = &*slot {
            self.memory_hits.fetch_add(1, Relaxed);
            return Ok(Arc::clone(entry));
        }
        let entry = Arc::new(self.beyond_memory(key, compile)?);
        *slot = Some(Arc::clone(&entry));
        Ok(entry)
    }

    fn beyond_memory(
        &self,
        key: &Key,
        compile: impl FnOnce() -> Result<Compiled, Error>,
    ) -> Result<Entry, Error> {
        let folder = match &self.dir {
            CacheDir::Off => None,
            CacheDir::At(path) => Folder::open(path).ok(),
        };
        let Some(folder) = folder else {
            return self.compiled(compile);
        };
        if let Found::Entry(entry) = folder.load(key) {
            self.disk_hits.fetch_add(1, Relaxed);
            return Ok(entry);
        }
        let _lock = folder.lock(key, self.lock_wait);
        // The previous holder of the lock may have compiled the entry.
        match folder.load(key) {
            Found::Entry(entry) => {
                self.disk_hits.fetch_add(1, Relaxed);
                return Ok(entry);
            }
            Found::Odd => {
                self.rejections.fetch_add(1, Relaxed);
            }
            Found::Nothing => {}
        }
        let entry = self.compiled(compile)?;
        if let Some(bytes) = entry.encode(key) {
            // The compiled kernel is usable even if the write fails.
            if let Err(error) = folder.save(key, &bytes) {
                *unpoisoned(&self.write_error) = Some(error.to_string());
            }
            self.swept.call_once(|| folder.sweep());
        }
        Ok(entry)
    }

    /// Checks that the entry of `key` is on disk, so that another process finds it.
    ///
    /// # Errors
    /// [`Error::Io`] with the folder and the reason: the folder cannot be used, or the entry could
    /// not be written.
    pub fn check_on_disk(&self, key: &Key) -> Result<(), Error> {
        let CacheDir::At(path) = &self.dir else {
            return Err(Error::Io { path: PathBuf::new(), because: "the cache is off".into() });
        };
        if let Found::Entry(_) = Folder::open(path)?.load(key) {
            return Ok(());
        }
        let because = unpoisoned(&self.write_error)
            .clone()
            .unwrap_or_else(|| "the compiled kernel is not in this folder".to_owned());
        Err(Error::Io { path: path.clone(), because })
    }

    fn compiled(&self, compile: impl FnOnce() -> Result<Compiled, Error>) -> Result<Entry, Error> {
        self.compilations.fetch_add(1, Relaxed);
        compile().map(Entry::from)
    }

    /// Returns the number of compilations, with failures.
    pub fn compilations(&self) -> u64 {
        self.compilations.load(Relaxed)
    }

    /// Returns the number of lookups that found the entry in memory, after waiting for another
    /// thread if necessary.
    pub fn memory_hits(&self) -> u64 {
        self.memory_hits.load(Relaxed)
    }

    /// Returns the number of entries that were read from disk.
    pub fn disk_hits(&self) -> u64 {
        self.disk_hits.load(Relaxed)
    }

    /// Returns the number of files on disk that were not valid entries.
    pub fn rejections(&self) -> u64 {
        self.rejections.load(Relaxed)
    }
}

/// Locks a mutex and ignores poisoning. A panic in `compile` leaves its slot empty, which is a
/// valid state.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_before_the_users_folder() {
        let none = Environment::empty("/");
        let home = none.clone().with_cache_home("/home/u/.cache");
        assert_eq!(CacheDir::from_environment(&none), CacheDir::Off);
        assert_eq!(
            CacheDir::from_environment(&home),
            CacheDir::At("/home/u/.cache/falchion".into())
        );
        assert_eq!(
            CacheDir::from_environment(&home.clone().with("FALCHION_CACHE_DIR", "")),
            CacheDir::At("/home/u/.cache/falchion".into())
        );
        assert_eq!(
            CacheDir::from_environment(&home.clone().with("FALCHION_CACHE_DIR", "off")),
            CacheDir::Off
        );
        assert_eq!(
            CacheDir::from_environment(&home.with("FALCHION_CACHE_DIR", "/elsewhere")),
            CacheDir::At("/elsewhere".into())
        );
    }

    #[test]
    fn a_relative_folder_does_not_move_with_the_process() {
        let CacheDir::At(path) =
            CacheDir::from_environment(&Environment::empty("/").with("FALCHION_CACHE_DIR", "here"))
        else {
            panic!("off")
        };
        assert!(path.is_absolute() && path.ends_with("here"), "{}", path.display());
    }
}
