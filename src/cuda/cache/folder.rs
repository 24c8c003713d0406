//! Cache folder on disk.
//!
//! - `<key>.cubin` or `<key>.ptx` is an entry.
//! - `<key>.lock` is a file that the compiling process locks.
//! - `.falchion-*.part` is an entry that a process writes.
//!
//! A rename publishes an entry, so other processes never read an incomplete entry. Entries are not
//! flushed to the disk. After a power failure, the checksum detects an incomplete entry.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::{Entry, Key};
use crate::Error;

/// Cache folder that belongs to the user.
pub(super) struct Folder<'a>(&'a Path);

/// Result of a lookup in the folder.
pub(super) enum Found {
    /// Valid entry.
    Entry(Entry),
    /// No file.
    Nothing,
    /// File that is not a valid entry: damaged, foreign, of another format, unreadable, not a
    /// regular file, or not private to the user.
    Odd,
}

/// Exclusive right to compile a key, until it is dropped or the process ends.
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl<'a> Folder<'a> {
    /// Opens the folder at `path`, and creates a missing folder.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be used, or if other users can write to it.
    pub(super) fn open(path: &'a Path) -> Result<Self, Error> {
        let refuse = |because: &str| Err(Error::Io { path: path.into(), because: because.into() });
        let io = |error: io::Error| Error::Io { path: path.into(), because: error.to_string() };
        let link = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                create(path).map_err(io)?;
                fs::symlink_metadata(path).map_err(io)?
            }
            other => other.map_err(io)?,
        };
        let folder = fs::metadata(path).map_err(io)?;
        if !folder.is_dir() {
            return refuse("it is not a folder");
        }
        if !is_own(&folder) {
            return refuse("it belongs to another user, and cubins are code");
        }
        if !is_private(&folder) {
            return refuse("others may write to it, and cubins are code");
        }
        // Such a link could lead to a folder of the user that is not a cache.
        if link.is_symlink() && !is_own(&link) {
            return refuse("it is a link that another user made");
        }
        Ok(Self(path))
    }

    /// Checks that a file can be created in the folder.
    ///
    /// # Errors
    /// [`Error::Io`] with the message of the system.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.temporary()
            .map(drop)
            .map_err(|error| Error::Io { path: self.0.into(), because: error.to_string() })
    }

    /// Reads the entry of `key`.
    pub(super) fn load(&self, key: &Key) -> Found {
        let path = self.at(key, key.kind().name());
        let lies = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Found::Nothing,
            other => other,
        };
        // The check precedes opening the file, because opening a pipe would block.
        let Some(lies) = lies.ok().filter(|lies| lies.is_file() && is_private(lies)) else {
            return Found::Odd;
        };
        let entry = File::open(&path).ok().and_then(|mut file| {
            let opened = file.metadata().ok()?;
            is_same(&lies, &opened).then(|| Entry::read(key, &mut file))?
        });
        entry.map_or(Found::Odd, Found::Entry)
    }

    /// Writes an entry to a temporary file, and renames it. The rename replaces any file, and an
    /// empty folder.
    pub(super) fn save(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let path = self.at(key, key.kind().name());
        let mut temporary = self.temporary()?;
        temporary.write_all(bytes)?;
        match temporary.persist(&path) {
            Ok(_) => Ok(()),
            Err(refused) => {
                fs::remove_dir(&path)?;
                refused.file.persist(&path).map(drop).map_err(|refused| refused.error)
            }
        }
    }

    /// Creates a temporary file for an entry. The file is removed when dropped.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix(".falchion-").suffix(".part").tempfile_in(self.0)
    }

    /// Acquires the lock of `key` within `wait`. Returns `None` if that fails.
    pub(super) fn lock(&self, key: &Key, wait: Duration) -> Option<Lock> {
        let path = self.at(key, "lock");
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let file = open_lock(&path).ok()?;
            match file.try_lock() {
                Ok(()) => {
                    let lock = Lock { file, path: path.clone() };
                    // The previous holder may have removed the file after this process opened it
                    // and before it locked it.
                    if lock.is_in_place() {
                        return Some(lock);
                    }
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(_)) => return None,
            }
            let left = wait.checked_sub(start.elapsed()).filter(|left| !left.is_zero())?;
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Removes temporary files that are older than one hour, which processes left when they ended.
    pub(super) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.0) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
            let ours = name.starts_with(".falchion-") && name.ends_with(".part");
            if ours && age().is_some_and(|age| age > Duration::from_secs(3600)) {
                // A later sweep removes the file if this one fails.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn at(&self, key: &Key, extension: &str) -> PathBuf {
        self.0.join(format!("{key}.{extension}"))
    }
}

impl Lock {
    fn is_in_place(&self) -> bool {
        let (here, held) = (fs::symlink_metadata(&self.path), self.file.metadata());
        matches!((here, held), (Ok(here), Ok(held)) if is_same(&here, &held))
    }
}

impl Drop for Lock {
    /// Removes the file before closing its handle releases the lock. Two processes therefore never
    /// hold the lock of the file at the path.
    fn drop(&mut self) {
        if cfg!(unix) && self.is_in_place() {
            // A remaining file is empty, and the next process locks it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(lies) if lies.is_dir() => fs::remove_dir(path)?,
        Ok(lies) if !lies.is_file() => fs::remove_file(path)?,
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn create(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == crate::sys::user::effective_user()
}

/// Returns whether only the user can write to the file.
#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    is_own(metadata) && std::os::unix::fs::MetadataExt::mode(metadata) & 0o022 == 0
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use super::*;
    use crate::sys::nvrtc::Program;

    /// The holder removes a file that other threads have already opened. A thread that locks the
    /// removed file must detect that.
    #[test]
    fn one_holds_the_lock_though_the_file_comes_and_goes() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("cache");
        let (key, inside, times) =
            (Key::new(&Program::default(), (13, 0)), AtomicU32::new(0), AtomicU32::new(0));
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let folder = Folder::open(&path).expect("a folder");
                    while times.load(SeqCst) < 400 {
                        assert!(start.elapsed() < Duration::from_secs(60), "held {times:?} times");
                        // Without a wait, the threads contend as often as possible.
                        let Some(lock) = folder.lock(&key, Duration::ZERO) else { continue };
                        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two hold it");
                        thread::yield_now();
                        times.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }
}
