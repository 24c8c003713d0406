//! What the process was started with, as a value.
//!
//! Where a library is looked for and where cubins are kept are functions of an [`Environment`].
//! Tests pass one of their own, so that no test changes the process's variables under another.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The variables, the root of the file system, and the user's cache folder.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    root: PathBuf,
    cache_home: Option<PathBuf>,
}

impl Environment {
    /// That of this process, now.
    pub fn current() -> Self {
        let cache_home = etcetera::base_strategy::choose_native_strategy()
            .ok()
            .map(|strategy| strategy.cache_dir());
        Self { variables: std::env::vars_os().collect(), root: PathBuf::from("/"), cache_home }
    }

    /// No variable set, no cache folder, and `root` for `/`: `/usr/local/cuda` is then looked for
    /// in `root/usr/local/cuda`.
    pub fn empty(root: impl Into<PathBuf>) -> Self {
        Self { variables: BTreeMap::new(), root: root.into(), cache_home: None }
    }

    /// The same with a variable set.
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The same with the folder under which applications keep what can be made again.
    pub fn with_cache_home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_home = Some(folder.into());
        self
    }

    /// A variable's value; one set to nothing counts as not set.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// The folders in a variable that lists them (`LD_LIBRARY_PATH`). An empty item would mean the
    /// current folder, from which nothing is loaded: it is left out.
    pub fn folders(&self, name: &str) -> Vec<PathBuf> {
        let Some(value) = self.variable(name) else { return Vec::new() };
        std::env::split_paths(value).filter(|folder| !folder.as_os_str().is_empty()).collect()
    }

    /// The root of the file system.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder under which applications keep what can be made again, `~/.cache` for one.
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
