//! The search for shared libraries, and its report.
//!
//! The search follows the order of [`candidates`]: the place that Falchion's variable names, the
//! loader's path, the CUDA toolkit, Python wheels, and last the bare name. Files are opened by
//! absolute path, so the file that was found is the file that is loaded.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Error, sys::environment::Environment};

/// A library to search for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Plain name, for example `libnvrtc`.
    pub library: &'static str,
    /// File names of the library, best first.
    pub files: &'static [&'static str],
    /// Prefix of the files in the same folder that must be loaded first, for example
    /// `libnvrtc-builtins.so`.
    pub companion: Option<&'static str>,
    /// Variable with the file or folder of the library. If it is set, nothing else is searched.
    pub variable: &'static str,
    /// Folders of the library in Python wheels, below `site-packages/nvidia`.
    pub wheels: &'static [&'static str],
    /// Sentence that tells what to install or to set if the library is not found.
    pub remedy: &'static str,
}

/// A place where a library may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// A folder that may hold one of the wanted files.
    Folder(PathBuf),
    /// A bare name, which the loader resolves.
    Name(&'static str),
    /// A place that does not exist: an unset variable, or a pattern without a match. It is kept for
    /// the error message.
    Nothing(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Folder(path) => path.display().fmt(f),
            Self::Name(name) => f.write_str(name),
            Self::Nothing(what) => f.write_str(what),
        }
    }
}

/// Returns all places to search, in order.
///
/// If the variable `wanted.variable` is set, only its place is searched.
pub fn candidates(environment: &Environment, wanted: &Wanted) -> Vec<Place> {
    if let Some(value) = environment.variable(wanted.variable) {
        let path = std::path::absolute(value).unwrap_or_else(|_| PathBuf::from(value));
        return vec![if path.is_dir() { Place::Folder(path) } else { Place::File(path) }];
    }
    let mut places = vec![unset(wanted.variable)];
    match environment.folders("LD_LIBRARY_PATH") {
        none if none.is_empty() => places.push(unset("LD_LIBRARY_PATH")),
        folders => places.extend(folders.into_iter().map(Place::Folder)),
    }
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        match environment.variable(name) {
            None => places.push(unset(name)),
            Some(home) => {
                places.extend(
                    ["lib64", "lib", "targets/x86_64-linux/lib"]
                        .map(|lib| Place::Folder(Path::new(home).join(lib))),
                );
            }
        }
    }
    toolkits(environment, &mut places);
    wheels(environment, wanted, &mut places);
    places.extend(wanted.files.iter().map(|name| Place::Name(name)));
    places
}

fn unset(variable: &str) -> Place {
    Place::Nothing(format!("{variable} (not set)"))
}

/// Adds `/usr/local/cuda`, then `/usr/local/cuda-*` from the newest version down.
fn toolkits(environment: &Environment, places: &mut Vec<Place>) {
    let local = environment.root().join("usr/local");
    let mut versions = children(&local, "cuda-");
    versions.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
    let none = versions.is_empty();
    for toolkit in std::iter::once(local.join("cuda")).chain(versions) {
        places.push(Place::Folder(toolkit.join("lib64")));
        places.extend(
            children(&toolkit.join("targets"), "")
                .into_iter()
                .map(|target| Place::Folder(target.join("lib"))),
        );
    }
    if none {
        places.push(Place::Nothing(format!("{} (none)", local.join("cuda-*").display())));
    }
}

/// Returns the numbers in a folder's name, so that `cuda-12.10` is newer than `cuda-12.9`.
fn version(folder: &Path) -> Vec<u32> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Adds `nvidia/...` in the `site-packages` and `dist-packages` of the virtual environment, conda,
/// the user, the system, and `/opt`.
fn wheels(environment: &Environment, wanted: &Wanted, places: &mut Vec<Place>) {
    let opt = environment.root().join("opt");
    // Each group is a name for the error message, and the prefixes that it stands for.
    let mut groups = Vec::new();
    for (variable, below) in [("VIRTUAL_ENV", ""), ("CONDA_PREFIX", ""), ("HOME", ".local")] {
        match environment.variable(variable) {
            None => places.push(unset(variable)),
            Some(folder) => {
                let prefix = Path::new(folder).join(below);
                groups.push((prefix.clone(), vec![prefix]));
            }
        }
    }
    groups.extend(
        ["usr/local", "usr", "opt"]
            .map(|folder| environment.root().join(folder))
            .map(|prefix| (prefix.clone(), vec![prefix])),
    );
    groups.push((opt.join("*"), children(&opt, "")));
    for (name, prefixes) in groups {
        let before = places.len();
        let libs = prefixes.iter().flat_map(|prefix| ["lib", "lib64"].map(|lib| prefix.join(lib)));
        for python in libs.flat_map(|lib| children(&lib, "python")) {
            for packages in ["site-packages", "dist-packages"]
                .map(|packages| python.join(packages).join("nvidia"))
            {
                if packages.is_dir() {
                    places.extend(
                        wanted.wheels.iter().map(|wheel| Place::Folder(packages.join(wheel))),
                    );
                }
            }
        }
        if places.len() == before {
            let pattern = name.join("lib*/python*/*-packages/nvidia");
            places.push(Place::Nothing(format!("{} (none)", pattern.display())));
        }
    }
}

/// Returns the folders in `folder` whose names begin with `prefix`, sorted by name. The list is
/// empty if `folder` cannot be read.
fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let named =
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut folders: Vec<_> =
        named.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// A shared library, loaded for the life of the process.
#[derive(Debug)]
pub struct Library {
    handle: &'static libloading::Library,
    path: PathBuf,
    wanted: Wanted,
}

impl Library {
    /// Loads the first library of the [`candidates`] that can be loaded.
    ///
    /// # Errors
    /// [`Error::Library`] with every place and its failure, if none can be loaded.
    pub fn find(wanted: &Wanted, environment: &Environment) -> Result<Self, Error> {
        let mut tried = Vec::new();
        let mut because = String::new();
        for place in candidates(environment, wanted) {
            because = match place.open(wanted) {
                Ok((handle, path)) => {
                    return Ok(Self { handle: Box::leak(Box::new(handle)), path, wanted: *wanted });
                }
                Err(why) => why,
            };
            tried.push(match &place {
                Place::Nothing(what) => what.clone(),
                place => format!("{place} ({because})"),
            });
        }
        if environment.variable(wanted.variable).is_some() {
            because = format!("{} names what does not load: {because}", wanted.variable);
        }
        Err(Error::Library { library: wanted.library, tried, because, remedy: wanted.remedy })
    }

    /// Returns the path of the loaded file, or the bare name if the loader resolved it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the function `name` as `F`.
    ///
    /// # Safety
    /// `F` must be the `unsafe extern "C" fn` type that the library declares `name` with.
    ///
    /// # Errors
    /// [`Error::Library`] if the library has no such function, because it is too old.
    pub unsafe fn function<F: Copy>(&self, name: &'static CStr) -> Result<F, Error> {
        // SAFETY: the caller vouches for the type. The pointer may outlive the symbol: the library
        // is never unloaded.
        let found = unsafe { self.handle.get::<F>(name) };
        found.map(|symbol| *symbol).map_err(|error| Error::Library {
            library: self.wanted.library,
            tried: vec![self.path.display().to_string()],
            because: format!("it has no {}: {}", name.to_string_lossy(), because(&error)),
            remedy: self.wanted.remedy,
        })
    }
}

impl Place {
    fn open(&self, wanted: &Wanted) -> Result<(libloading::Library, PathBuf), String> {
        match self {
            Self::Nothing(what) => Err(what.clone()),
            Self::Name(name) => Ok((load(OsStr::new(name), false)?, PathBuf::from(name))),
            Self::File(path) if !path.is_file() => Err("no such file or folder".into()),
            Self::File(path) => with_companions(path, wanted).map(|handle| (handle, path.clone())),
            Self::Folder(folder) if !folder.is_dir() => Err("no such folder".into()),
            Self::Folder(folder) => {
                let mut why = format!("no {}", wanted.files.join(", no "));
                for path in
                    wanted.files.iter().map(|name| folder.join(name)).filter(|path| path.is_file())
                {
                    match with_companions(&path, wanted) {
                        Ok(handle) => return Ok((handle, path)),
                        Err(message) => why = message,
                    }
                }
                Err(why)
            }
        }
    }
}

/// Loads the companions, then the library. A companion that fails to load is not an error here,
/// because not every version has one. The library itself reports what it misses.
fn with_companions(path: &Path, wanted: &Wanted) -> Result<libloading::Library, String> {
    let major = |file: &Path| {
        version(Path::new(file.to_string_lossy().rsplit(".so").next().unwrap_or_default()))
            .first()
            .copied()
    };
    if let (Some(prefix), Some(folder)) = (wanted.companion, path.parent()) {
        let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
        for companion in entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        {
            let companion = companion.path();
            // Several versions may share a folder; each belongs to the library of its own major
            // version.
            if major(&companion).zip(major(path)).is_none_or(|(first, second)| first == second)
                && let Ok(handle) = load(companion.as_os_str(), true)
            {
                std::mem::forget(handle);
            }
        }
    }
    load(path.as_os_str(), false)
}

#[cfg(unix)]
fn load(name: &OsStr, global: bool) -> Result<libloading::Library, String> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
    let flags = RTLD_NOW | if global { RTLD_GLOBAL } else { RTLD_LOCAL };
    // SAFETY: loading runs the library's initializers. The names are those of NVIDIA's libraries,
    // and a place is either the system's or one that the user's own variables name. This code
    // cannot guard against the initializer of another library under such a name.
    unsafe { Library::open(Some(name), flags) }.map(Into::into).map_err(|error| because(&error))
}

#[cfg(not(unix))]
fn load(name: &OsStr, _global: bool) -> Result<libloading::Library, String> {
    // SAFETY: as above.
    unsafe { libloading::Library::new(name) }.map_err(|error| because(&error))
}

/// Returns the message of the loader, which libloading keeps in the source of the error.
fn because(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
