//! The environment of the process, as a value.
//!
//! The search for libraries and the location of cached cubins are functions of an [`Environment`].
//! Tests pass their own value, so that no test changes the variables of the process under another
//! test.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// Environment variables, the root of the file system, and the user's cache folder.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    root: PathBuf,
    cache_home: Option<PathBuf>,
}

impl Environment {
    /// Returns the current environment of this process.
    pub fn current() -> Self {
        let cache_home = etcetera::base_strategy::choose_native_strategy()
            .ok()
            .map(|strategy| strategy.cache_dir());
        Self { variables: std::env::vars_os().collect(), root: PathBuf::from("/"), cache_home }
    }

    /// Returns an environment without variables and without a cache folder. `root` stands for `/`,
    /// so `/usr/local/cuda` is searched in `root/usr/local/cuda`.
    pub fn empty(root: impl Into<PathBuf>) -> Self {
        Self { variables: BTreeMap::new(), root: root.into(), cache_home: None }
    }

    /// Sets a variable.
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets the folder for caches of applications.
    #[cfg(test)]
    pub fn with_cache_home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_home = Some(folder.into());
        self
    }

    /// Returns the value of a variable. An empty variable counts as unset.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns the folders in a variable that lists them, such as `LD_LIBRARY_PATH`. An empty item
    /// stands for the current folder. It is skipped, because libraries are never loaded from the
    /// current folder.
    pub fn folders(&self, name: &str) -> Vec<PathBuf> {
        let Some(value) = self.variable(name) else { return Vec::new() };
        std::env::split_paths(value).filter(|folder| !folder.as_os_str().is_empty()).collect()
    }

    /// Returns the root of the file system.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder for caches of applications, for example `~/.cache`.
    pub fn cache_home(&self) -> Option<&Path> {
        self.cache_home.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_set_to_nothing_is_not_set() {
        let environment = Environment::empty("/").with("A", "").with("B", "b");
        assert_eq!(environment.variable("A"), None);
        assert_eq!(environment.variable("B"), Some(OsStr::new("b")));
        assert_eq!(environment.variable("C"), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_current_folder_is_never_searched() {
        let environment = Environment::empty("/").with("LD_LIBRARY_PATH", ":/a::/b:");
        assert_eq!(environment.folders("LD_LIBRARY_PATH"), [Path::new("/a"), Path::new("/b")]);
    }

    #[test]
    fn the_current_environment_is_this_process() {
        assert_eq!(Environment::current().variable("PATH"), std::env::var_os("PATH").as_deref());
    }
}
