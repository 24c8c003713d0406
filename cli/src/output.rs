//! Output files. The bytes of a regular file go to a temporary file in the same folder, and a
//! rename replaces the path. Devices, pipes, and stdout receive the bytes directly.

use crate::{
    failure::Failure,
    interrupt::{strike, unfinished},
    print,
};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// An output file that the command has not written yet.
pub struct OutputFile {
    path: PathBuf,
    to: Option<To>,
}

/// Destination of the bytes.
enum To {
    /// A temporary file in the same folder.
    Temporary(NamedTempFile),
    /// The path itself, if a rename cannot replace it: a device, a pipe, or a file in a folder that
    /// is not writable.
    Through(File),
    /// Stdout, which moves the report to stderr.
    Stdout,
}

/// The path that stands for stdout.
const STDOUT: &str = "-";

impl OutputFile {
    /// Checks that the file is writable. The check precedes the computation.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if is_stdout(path) {
            print::report_to_stderr();
            return Ok(Self { path: path.to_owned(), to: Some(To::Stdout) });
        }
        // A pipe in `/dev/fd` is a link without a target path. This code opens the pipe before the
        // code below follows links.
        if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            let file = File::options().write(true).open(path);
            let file = file.map_err(|error| unwritable(path, error))?;
            return Ok(Self { path: path.to_owned(), to: Some(To::Through(file)) });
        }
        let path = follow_links(path)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.file_name().is_none() || path.is_dir() {
            return Err(unwritable(&path, "the path is a folder"));
        }
        // An existing file must be writable, although a rename replaces the file anyway.
        let there = match fs::metadata(&path) {
            Ok(_) => Some(
                File::options()
                    .write(true)
                    .open(&path)
                    .map_err(|error| unwritable(&path, error))?,
            ),
            Err(_) => None,
        };
        if !folder.is_dir() {
            return Err(unwritable(&path, format!("there is no folder {}", folder.display())));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".falchion-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask applies, as for any new file.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut list = unfinished();
        let file = match (builder.tempfile_in(folder), there) {
            (Ok(file), _) => file,
            // The folder is not writable, but the file is.
            (Err(_), Some(there)) => return Ok(Self { path, to: Some(To::Through(there)) }),
            (Err(error), None) => return Err(unwritable(&path, without_path(error))),
        };
        list.push(file.path().to_owned());
        if let Ok(before) = fs::metadata(&path) {
            // A new file has the permissions of the file that it replaces.
            fs::set_permissions(file.path(), before.permissions())
                .map_err(|error| unwritable(&path, error))?;
        }
        Ok(Self { path, to: Some(To::Temporary(file)) })
    }

    /// Creates the output as [`Self::create`] does. Prints a note, with the flag, for each input
    /// file that the output replaces.
    pub fn beside<'i>(
        path: &Path,
        inputs: impl IntoIterator<Item = (&'i str, &'i Path)>,
    ) -> Result<Self, Failure> {
        let target = Self::create(path)?;
        for (flag, input) in inputs {
            if fs::canonicalize(input).is_ok_and(|input| input == target.path) {
                print::error(&format!(
                    "note: --out replaces {}, the file of {flag}",
                    print::path(input)
                ));
            }
        }
        Ok(target)
    }

    /// Writes the file, and moves it to its path.
    pub fn write(
        mut self,
        bytes: impl FnOnce(&mut dyn Write, &Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self.to.take() {
            Some(To::Temporary(mut file)) => {
                let done = buffered(&mut file, &self.path, bytes);
                let mut list = unfinished();
                strike(&mut list, file.path());
                done?;
                file.persist(&self.path)
                    .map_err(|error| unwritable(&self.path, without_path(error.error)))?;
            }
            Some(To::Through(mut file)) => {
                if file.metadata().is_ok_and(|there| there.is_file()) {
                    file.set_len(0).map_err(|error| unwritable(&self.path, error))?;
                }
                buffered(&mut file, &self.path, bytes)?;
            }
            Some(To::Stdout) => buffered(&mut io::stdout().lock(), &self.path, bytes)?,
            None => {}
        }
        Ok(())
    }

    /// Writes a text.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        self.write(|to, path| {
            to.write_all(text.as_bytes()).map_err(|error| unwritable(path, error))
        })
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(To::Temporary(file)) = self.to.take() {
            let mut list = unfinished();
            strike(&mut list, file.path());
            drop(file);
        }
    }
}

/// Name of the output file in a report: its path, or stdout.
pub fn name(path: &Path) -> String {
    if is_stdout(path) { "stdout".to_owned() } else { print::path(path) }
}

/// Whether the path stands for stdout: `-`, a name of stdout, or the file or pipe behind stdout.
fn is_stdout(path: &Path) -> bool {
    const NAMES: [&str; 4] = [STDOUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    NAMES.iter().any(|name| path == Path::new(name)) || is_file_of_stdout(path)
}

#[cfg(unix)]
fn is_file_of_stdout(path: &Path) -> bool {
    use std::os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    };
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let (Ok(stdout), Ok(there)) = (stdout.and_then(|file| file.metadata()), fs::metadata(path))
    else {
        return false;
    };
    let data = there.is_file() || there.file_type().is_fifo();
    data && (stdout.dev(), stdout.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_file_of_stdout(_: &Path) -> bool {
    false
}

/// Follows links to the output path, which may not exist. The command does not replace links.
fn follow_links(path: &Path) -> Result<PathBuf, Failure> {
    /// Maximum number of links, as in Linux.
    const MOST_LINKS: usize = 40;
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        match (fs::canonicalize(&at), fs::read_link(&at)) {
            (Ok(found), _) => return Ok(found),
            (Err(_), Ok(to)) => at = at.parent().unwrap_or(Path::new("")).join(to),
            (Err(_), Err(_)) => return Ok(at),
        }
    }
    Err(unwritable(path, "the link leads back to itself"))
}

fn buffered(
    to: &mut impl Write,
    path: &Path,
    bytes: impl FnOnce(&mut dyn Write, &Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut to = BufWriter::with_capacity(1 << 18, to);
    bytes(&mut to, path)?;
    to.flush().map_err(|error| unwritable(path, error))
}

/// Writes a text to a file, and replaces an existing file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    OutputFile::create(path)?.text(text)
}

/// The system's error without the name of the temporary file.
fn without_path(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(error, io::Error::from_raw_os_error)
}

/// The error for an output file that is not writable.
pub fn unwritable(path: &Path, because: impl ToString) -> Failure {
    Failure::refused(format!("{} cannot be written: {}", path.display(), because.to_string()))
}
