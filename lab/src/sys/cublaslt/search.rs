//! Where cuBLASLt is looked for.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// The names the library goes by, newest first.
const NAMES: [&str; 2] = ["libcublasLt.so.13", "libcublasLt.so.12"];

/// Files to try, in order, each once and absolute; at the end the plain names, for the loader's own path.
///
/// `FALCHION_CUBLASLT` (a file or a folder), `LD_LIBRARY_PATH`, `CUDA_HOME` and `CUDA_PATH`, `/usr/local/cuda*`, NVIDIA's Python
/// wheels (`nvidia/cu13/lib`, `nvidia/cublas/lib`) of the active environment, the user and the system.
#[must_use]
pub fn search() -> Vec<PathBuf> {
    search_in(&|name| env::var_os(name), Path::new("/"))
}

fn search_in(variable: &dyn Fn(&str) -> Option<OsString>, root: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut files = Vec::new();
    if let Some(named) = variable("FALCHION_CUBLASLT").map(PathBuf::from) {
        // What the user names is tried even when it is not there, so that the error says so.
        if named.is_dir() { folders.push(named) } else { files.push(named) }
    }
    folders.extend(variable("LD_LIBRARY_PATH").iter().flat_map(env::split_paths));
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|name| variable(name)).map(PathBuf::from);
    for toolkit in homes.chain(newest_first(&root.join("usr/local"), "cuda")) {
        folders.push(toolkit.join("lib64"));
        folders.push(toolkit.join("targets/x86_64-linux/lib"));
    }
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| variable(name)).map(PathBuf::from);
    let user = variable("HOME").map(|home| Path::new(&home).join(".local"));
    for prefix in environments.chain(user).chain([root.join("usr/local"), root.join("usr")]) {
        for python in newest_first(&prefix.join("lib"), "python3") {
            for (packages, wheel) in
                ["site-packages", "dist-packages"].into_iter().flat_map(|p| ["cu13/lib", "cublas/lib"].map(|w| (p, w)))
            {
                folders.push(python.join(packages).join("nvidia").join(wheel));
            }
        }
    }
    for folder in folders.iter().filter(|folder| folder.is_absolute()) {
        files.extend(NAMES.iter().map(|name| folder.join(name)).filter(|file| file.is_file()));
    }
    files.extend(NAMES.iter().map(PathBuf::from));
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    files
}

/// The entries of `folder` whose names begin with `prefix`, the highest version first.
fn newest_first(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = name.to_str()?.strip_prefix(prefix)?.trim_start_matches(['-', '.']);
            Some((version.split('.').map(|part| part.parse().unwrap_or(0)).collect(), entry.path()))
        })
        .collect();
    found.sort_by(|left, right| right.cmp(left));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(root: &Path, file: &str) -> PathBuf {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, b"").unwrap();
        path
    }

    #[test]
    fn places_come_in_order_and_the_loader_last() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let wheel = place(root, "usr/lib/python3.12/dist-packages/nvidia/cu13/lib/libcublasLt.so.13");
        let old = place(root, "usr/local/cuda-12.9/lib64/libcublasLt.so.12");
        let new = place(root, "usr/local/cuda-13.1/targets/x86_64-linux/lib/libcublasLt.so.13");
        let path = place(root, "own/libcublasLt.so.12");
        let environment = place(root, "venv/lib/python3.9/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
        let own = root.join("own");
        let found = search_in(
            &|name| match name {
                "LD_LIBRARY_PATH" => Some(env::join_paths([own.clone(), "relative".into(), own.clone()]).unwrap()),
                "VIRTUAL_ENV" => Some(root.join("venv").into()),
                _ => None,
            },
            root,
        );
        assert_eq!(found, [path, new, old, environment, wheel, NAMES[0].into(), NAMES[1].into()]);
    }

    #[test]
    fn what_the_user_names_is_first_even_when_missing() {
        let root = tempfile::tempdir().unwrap();
        let named = |value: PathBuf| {
            search_in(&|name| (name == "FALCHION_CUBLASLT").then(|| value.clone().into()), root.path()).remove(0)
        };
        assert_eq!(named("/nowhere/libcublasLt.so.13".into()), Path::new("/nowhere/libcublasLt.so.13"));
        let file = place(root.path(), "folder/libcublasLt.so.13");
        assert_eq!(named(root.path().join("folder")), file);
    }
}
