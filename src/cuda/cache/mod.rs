//! Cubins, compiled once: in memory for the process, on disk for the next.
//!
//! The disk only ever saves time. An entry that is damaged, foreign, unreadable or anything but a
//! plain file of the user's own is compiled again and replaced where that can be done; a folder
//! that cannot be read, written or trusted is as good as none; and no fault of either fails a call.
//!
//! **Once.** Threads that ask for one key wait for the first of them. Processes do the same through
//! a lock on a file, which the system drops with its holder; after [`Cache::with_lock_wait`] (120
//! s) a process compiles without it. Different keys compile at the same time.
//!
//! **Trust.** Cubins are code. On Unix the folder is made for its user alone (0700), and one that
//! another user owns, or that a group or everyone may write to, is not used; nor is such a file.
//! The folders above it are the user's affair. A checksum finds damage; it does not make an entry
//! safe that somebody else wrote. Other systems' permissions are not looked at.
//!
//! **Room.** Nothing is ever thrown out. The folder may be moved, copied and deleted at any time.

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

/// Where cubins are kept between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheDir {
    /// Nowhere.
    Off,
    /// In this folder, made when first needed.
    At(PathBuf),
}

impl CacheDir {
    /// `FALCHION_CACHE_DIR`, of which the word `off` means nowhere; else `falchion` in the user's
    /// cache folder; else nowhere.
    pub fn of(environment: &Environment) -> Self {
        match environment.variable("FALCHION_CACHE_DIR") {
            Some(word) if word == "off" => Self::Off,
            // The folder must not move with the process's current one.
            Some(path) => Self::At(std::path::absolute(path).unwrap_or_else(|_| path.into())),
            None => {
                environment.cache_home().map_or(Self::Off, |home| Self::At(home.join("falchion")))
            }
        }
    }

    /// Whether cubins can be kept here. A [`Cache`] that cannot keep them goes on without a word:
    /// this is for who wants to know. Makes the folder where it is missing.
    ///
    /// # Errors
    /// [`Error::Io`] with the reason: what the system said, or whose the folder is.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Off => Ok(()),
            Self::At(path) => Folder::open(path)?.check(),
        }
    }
}

/// One key's place in memory: locked while it is looked for or compiled.
type Slot = Arc<Mutex<Option<Arc<Entry>>>>;

/// Cubins by [`Key`].
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
    /// Why the last entry could not be written.
    write_error: Mutex<Option<String>>,
}

impl Cache {
    /// An empty memory over `dir`. Touches no file yet.
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

    /// The process's cache, where its environment said when this was first asked.
    pub fn global() -> &'static Self {
        static GLOBAL: OnceLock<Cache> = OnceLock::new();
        GLOBAL.get_or_init(|| Self::new(CacheDir::of(&Environment::current())))
    }

    /// The same, waiting this long for another process that compiles the same key.
    pub fn with_lock_wait(self, lock_wait: Duration) -> Self {
        Self { lock_wait, ..self }
    }

    /// Where it keeps cubins between runs.
    pub fn dir(&self) -> &CacheDir {
        &self.dir
    }

    /// The entry of `key`: from memory, else from disk, else from `compile`, which must not ask for
    /// the same key again.
    ///
    /// # Errors
    /// What `compile` answered, and nothing else. It is not kept: the next call compiles again.
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
        // Whoever held the lock before us may have compiled it.
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
            // The cubin can be used although it was not written.
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

    /// How often something was compiled, or failed to.
    pub fn compilations(&self) -> u64 {
        self.compilations.load(Relaxed)
    }

    /// How often an entry was in memory, or being made by another thread.
    pub fn memory_hits(&self) -> u64 {
        self.memory_hits.load(Relaxed)
    }

    /// How often an entry was read from disk.
    pub fn disk_hits(&self) -> u64 {
        self.disk_hits.load(Relaxed)
    }

    /// How often what lay on disk in an entry's place was not trusted.
    pub fn rejections(&self) -> u64 {
        self.rejections.load(Relaxed)
    }
}

/// A panic in `compile` leaves its slot empty, which is a sound state.
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
        assert_eq!(CacheDir::of(&none), CacheDir::Off);
        assert_eq!(CacheDir::of(&home), CacheDir::At("/home/u/.cache/falchion".into()));
        assert_eq!(
            CacheDir::of(&home.clone().with("FALCHION_CACHE_DIR", "")),
            CacheDir::At("/home/u/.cache/falchion".into())
        );
        assert_eq!(CacheDir::of(&home.clone().with("FALCHION_CACHE_DIR", "off")), CacheDir::Off);
        assert_eq!(
            CacheDir::of(&home.with("FALCHION_CACHE_DIR", "/elsewhere")),
            CacheDir::At("/elsewhere".into())
        );
    }

    #[test]
    fn a_relative_folder_does_not_move_with_the_process() {
        let CacheDir::At(path) =
            CacheDir::of(&Environment::empty("/").with("FALCHION_CACHE_DIR", "here"))
        else {
            panic!("off")
        };
        assert!(path.is_absolute() && path.ends_with("here"), "{}", path.display());
    }
}
