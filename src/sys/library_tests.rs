//! Tests of the search, over temporary file systems.

use std::fs;

use super::*;

const ABSENT: Wanted = Wanted {
    library: "libabsent",
    files: &["libfalchion-absent.so.13", "libfalchion-absent.so.12", "libfalchion-absent.so"],
    companion: Some("libfalchion-absent-builtins.so"),
    variable: "FALCHION_ABSENT",
    wheels: &["cu13/lib", "cuda_absent/lib"],
    remedy: "Set FALCHION_ABSENT to its folder.",
};

fn root() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn refusal(environment: &Environment) -> (Vec<String>, String, String) {
    match Library::find(&ABSENT, environment) {
        Err(error @ Error::Library { .. }) => {
            let sentence = error.to_string();
            let Error::Library { tried, because, .. } = error else { unreachable!() };
            (tried, because, sentence)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_empty_environment_is_refused_naming_every_place() {
    let root = root();
    let environment = Environment::empty(root.path());
    let (tried, because, sentence) = refusal(&environment);
    let places = candidates(&environment, &ABSENT);
    assert_eq!(tried.len(), places.len());
    assert!(places.iter().all(|place| sentence.contains(&place.to_string())), "{sentence}");
    for named in [
        "libabsent could not be loaded",
        "FALCHION_ABSENT (not set)",
        "LD_LIBRARY_PATH (not set)",
        "CUDA_HOME (not set)",
        "CUDA_PATH (not set)",
        "/usr/local/cuda/lib64 (no such folder)",
        "/usr/local/cuda-* (none)",
        "VIRTUAL_ENV (not set)",
        "CONDA_PREFIX (not set)",
        "/usr/lib*/python*/*-packages/nvidia (none)",
        "HOME (not set)",
        "/opt/lib*/python*/*-packages/nvidia (none)",
        "/opt/*/lib*/python*/*-packages/nvidia (none)",
        "libfalchion-absent.so.13 (",
        "libfalchion-absent.so.12 (",
        "libfalchion-absent.so (",
        "Set FALCHION_ABSENT to its folder.",
    ] {
        assert!(sentence.contains(named), "no {named:?} in: {sentence}");
    }
    assert!(because.contains("libfalchion-absent.so"), "the loader's own words: {because}");
}

#[test]
fn places_come_in_order() {
    let root = root();
    let at = |path: &str| root.path().join(path);
    for folder in [
        "usr/local/cuda/targets/x86_64-linux",
        "usr/local/cuda-12.9",
        "usr/local/cuda-12.10/targets/sbsa-linux",
        "usr/local/cuda-13.0",
        "home/.local/lib/python3.12/site-packages/nvidia",
        "venv/lib/python3.11/site-packages/nvidia",
        "usr/lib/python3/dist-packages/nvidia",
        "opt/conda/lib/python3.10/site-packages/nvidia",
    ] {
        fs::create_dir_all(at(folder)).expect("a folder");
    }
    let environment = Environment::empty(root.path())
        .with("LD_LIBRARY_PATH", "/l1:/l2")
        .with("CUDA_HOME", "/home-cuda")
        .with("HOME", at("home"))
        .with("VIRTUAL_ENV", at("venv"));
    let folders: Vec<_> = candidates(&environment, &ABSENT)
        .into_iter()
        .filter_map(|place| match place {
            Place::Folder(path) => Some(path),
            _ => None,
        })
        .collect();
    let wheels = |prefix: &str| {
        [at(prefix).join("nvidia/cu13/lib"), at(prefix).join("nvidia/cuda_absent/lib")]
    };
    let mut expected: Vec<PathBuf> =
        ["/l1", "/l2", "/home-cuda/lib64", "/home-cuda/lib", "/home-cuda/targets/x86_64-linux/lib"]
            .map(PathBuf::from)
            .into();
    expected.extend(
        [
            "usr/local/cuda/lib64",
            "usr/local/cuda/targets/x86_64-linux/lib",
            "usr/local/cuda-13.0/lib64",
            "usr/local/cuda-12.10/lib64",
            "usr/local/cuda-12.10/targets/sbsa-linux/lib",
            "usr/local/cuda-12.9/lib64",
        ]
        .map(at),
    );
    expected.extend(wheels("venv/lib/python3.11/site-packages"));
    expected.extend(wheels("home/.local/lib/python3.12/site-packages"));
    expected.extend(wheels("usr/lib/python3/dist-packages"));
    expected.extend(wheels("opt/conda/lib/python3.10/site-packages"));
    assert_eq!(folders, expected);
    let names =
        candidates(&environment, &ABSENT).split_off(candidates(&environment, &ABSENT).len() - 3);
    assert_eq!(names, ABSENT.files.iter().map(|name| Place::Name(name)).collect::<Vec<_>>());
}

#[test]
fn a_named_place_that_does_not_work_ends_the_search() {
    let root = root();
    fs::create_dir_all(root.path().join("usr/local/cuda/lib64")).expect("a folder");
    let missing = root.path().join("nowhere");
    let (tried, because, sentence) =
        refusal(&Environment::empty(root.path()).with("FALCHION_ABSENT", &missing));
    assert_eq!(tried, [format!("{} (no such file or folder)", missing.display())]);
    assert!(because.starts_with("FALCHION_ABSENT names what does not load"), "{because}");
    assert!(sentence.contains("FALCHION_ABSENT"));
    let folder = root.path().join("usr/local/cuda/lib64");
    let (tried, ..) = refusal(&Environment::empty(root.path()).with("FALCHION_ABSENT", &folder));
    assert_eq!(tried.len(), 1);
    assert!(
        tried[0].contains("no libfalchion-absent.so.13, no libfalchion-absent.so.12"),
        "{tried:?}"
    );
}

#[test]
fn a_file_that_is_no_library_is_named_with_the_loaders_words() {
    let root = root();
    let folder = root.path().join("lib");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(ABSENT.files[0]), b"not an ELF file at all").expect("a file");
    let (tried, _, _) = refusal(&Environment::empty(root.path()).with("LD_LIBRARY_PATH", &folder));
    assert!(
        tried[1].contains(&*folder.to_string_lossy())
            && tried[1].contains("libfalchion-absent.so.13"),
        "{tried:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_is_loaded_by_absolute_path_and_a_missing_function_is_a_sentence() {
    const MATH: Wanted = Wanted { library: "libm", files: &["libm.so.6"], ..ABSENT };
    let library = Library::find(&MATH, &Environment::empty("/")).expect("the C library's own libm");
    assert_eq!(library.path(), Path::new("libm.so.6"));
    // SAFETY: C: `double floor(double)`.
    let floor =
        unsafe { library.function::<unsafe extern "C" fn(f64) -> f64>(c"floor") }.expect("floor");
    // SAFETY: as above.
    assert_eq!(unsafe { floor(2.5) }, 2.0);
    // SAFETY: never called.
    let missing = unsafe { library.function::<unsafe extern "C" fn()>(c"falchion_absent") };
    let sentence = missing.expect_err("no such function").to_string();
    assert!(sentence.contains("it has no falchion_absent"), "{sentence}");
}
