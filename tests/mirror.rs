//! One component, one stem, two languages: no orphan among the kernels, no twin that is missing, and what kernels must not
//! spell themselves.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Kernels without a Rust twin of the same stem. Each needs a reason.
const KERNELS_ALONE: [&str; 0] = [];

/// Synchronization, and the kernels that alone may spell it.
const SYNCHRONIZATION: [&str; 8] =
    ["__syncthreads", "wait_group", "mbarrier", "fence", "commit_group", "bar.sync", "barrier.cluster", "setmaxnreg"];
const SYNCHRONIZES: [&str; 2] = ["schedule.cuh", "schedule/roles.cuh"];

/// The copies of the copy engine: a load completes on a barrier, and its mnemonic says on which kind, in this one qualifier. The
/// file may spell it and no more: the barriers themselves are the schedule's.
const COPIES: &str = "threadblock/tensor_copy.cuh";

/// The qualifier.
const COMPLETION: &str = ".tile.mbarrier::complete_tx::bytes";

/// Names of element types and layouts, in both languages, as words of a conditional or of a file name.
const TYPES: [&str; 27] = [
    "f64",
    "f32",
    "tf32",
    "f16",
    "bf16",
    "e4m3",
    "e5m2",
    "i8",
    "u8",
    "i32",
    "double",
    "float",
    "half",
    "bfloat16",
    "fp8",
    "int8",
    "uint8",
    "int32",
    "rowmajor",
    "colmajor",
    "row_major",
    "col_major",
    "column_major",
    "nn",
    "nt",
    "tn",
    "tt",
];

/// The files below a folder with an extension, by their path within it.
fn files(folder: &Path, extension: &str) -> BTreeMap<String, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let name = path.strip_prefix(folder).expect("below").to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read_to_string(&path).expect("text"));
            }
        }
    }
    found
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The code of a C++ file, without its comments.
fn code(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    code.push_str(rest);
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

fn names_a_type(words: &[String]) -> Option<&String> {
    words.iter().find(|word| TYPES.contains(&word.as_str()))
}

/// Kernels whose stem has no Rust file.
fn orphans(kernels: &BTreeMap<String, String>, sources: &BTreeMap<String, String>) -> Vec<String> {
    let has_twin = |kernel: &str| {
        let stem = kernel.trim_end_matches(".cuh");
        sources.contains_key(&format!("{stem}.rs")) || sources.contains_key(&format!("{stem}/mod.rs"))
    };
    kernels.keys().filter(|kernel| !has_twin(kernel) && !KERNELS_ALONE.contains(&kernel.as_str())).cloned().collect()
}

/// The twins that a component's module doc names: every `kernels/...cuh` after `Twin:`.
fn named_twins(source: &str) -> Vec<String> {
    let doc = source.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join(" ");
    let Some((_, after)) = doc.split_once("Twin:") else { return Vec::new() };
    let quoted = after.split('`').skip(1).step_by(2);
    quoted.filter_map(|name| name.strip_prefix("kernels/")).filter(|name| name.ends_with(".cuh")).map(str::to_owned).collect()
}

/// (component, twin that it names and that is not there).
fn missing(kernels: &BTreeMap<String, String>, sources: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let named = sources.iter().flat_map(|(name, text)| named_twins(text).into_iter().map(move |twin| (name.clone(), twin)));
    named.filter(|(_, twin)| !kernels.contains_key(twin)).collect()
}

/// (kernel, what it spells): synchronization outside of the schedule, and conditionals on types or layouts.
fn trespasses(kernels: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, text) in kernels {
        let code = code(text);
        if !SYNCHRONIZES.contains(&name.as_str()) {
            let code = if name == COPIES { code.replace(COMPLETION, "") } else { code.clone() };
            let spelled = SYNCHRONIZATION.iter().filter(|step| code.contains(**step));
            found.extend(spelled.map(|step| (name.clone(), (*step).to_owned())));
        }
        for line in
            code.lines().filter(|line| ["#if", "#elif"].iter().any(|word| line.trim_start().replace("# ", "#").starts_with(word)))
        {
            if names_a_type(&words(line)).is_some() {
                found.push((name.clone(), line.trim().to_owned()));
            }
        }
        let parts: Vec<_> = words(name.trim_end_matches(".cuh"))
            .iter()
            .flat_map(|word| word.split('_').map(str::to_owned).collect::<Vec<_>>())
            .collect();
        if let Some(word) = names_a_type(&parts) {
            found.push((name.clone(), format!("is named after {word}")));
        }
    }
    found
}

#[test]
fn every_kernel_has_a_rust_twin() {
    let (kernels, sources) = (files(&root().join("kernels"), "cuh"), files(&root().join("src"), "rs"));
    assert!(SYNCHRONIZES.iter().all(|name| kernels.contains_key(*name)), "a kernel that may synchronize is gone");
    assert_eq!(orphans(&kernels, &sources), [""; 0]);
    assert!(KERNELS_ALONE.iter().all(|name| kernels.contains_key(*name)), "the list of exceptions names a file that is gone");
    println!("{} kernels, {} components", kernels.len(), sources.len());
}

#[test]
fn every_component_that_names_a_twin_has_it() {
    let (kernels, sources) = (files(&root().join("kernels"), "cuh"), files(&root().join("src"), "rs"));
    assert_eq!(missing(&kernels, &sources), []);
    let named: Vec<_> = sources.values().flat_map(|text| named_twins(text)).collect();
    let unnamed: Vec<_> = kernels.keys().filter(|kernel| !named.contains(kernel)).collect();
    println!("{} twins named; kernels that no component names: {unnamed:?}", named.len());
    assert!(named.len() >= 10);
}

#[test]
fn synchronization_is_spelled_in_the_schedule_and_no_conditional_knows_a_type() {
    assert_eq!(trespasses(&files(&root().join("kernels"), "cuh")), []);
}

#[test]
fn the_twins_that_descriptions_name_are_files() {
    use falchion::{arch::ArchKind, desc::GemmDesc, prelude::*, threadblock::MainloopKind};
    const DESC: GemmDesc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::DESC;
    let mut twins: Vec<_> =
        MainloopKind::ALL.into_iter().filter_map(|kind| kind.behaviour()).map(|mainloop| mainloop.twin()).collect();
    twins.push(DESC.warp_mma().twin());
    assert_eq!(DESC.arch, ArchKind::Sm80);
    assert!(twins.iter().all(|twin| root().join("kernels").join(twin).is_file()), "{twins:?}");
}

#[test]
fn an_orphan_a_missing_twin_and_a_trespass_are_found() {
    let tree = |files: &[(&str, &str)]| files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let kernels: BTreeMap<_, _> = tree(&[
        ("schedule.cuh", "__syncthreads(); // mbarrier"),
        ("schedule/roles.cuh", "setmaxnreg; mbarrier; fence"),
        ("schedule/other.cuh", "bar.sync 1, 128;"),
        ("warp/mma.cuh", "// no fence here, no __syncthreads either\n#if defined(__CUDA_ARCH__)\n/* wait_group\n#if FLOAT */"),
        ("warp/mma_f16.cuh", "  __syncthreads();\n# if ROW_MAJOR == 1\n#elif ELEMENT_IS(bf16)\n#endif"),
        ("lonely.cuh", "#ifdef NARROW\n#endif"),
        (COPIES, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0]; mbarrier.init"),
        ("threadblock/mma.cuh", "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0];"),
    ]);
    let sources: BTreeMap<_, _> = tree(&[
        ("schedule/roles.rs", ""),
        ("schedule/other.rs", ""),
        ("schedule.rs", "//! Steps.\n//!\n//! Twin: `kernels/schedule.cuh`.\n"),
        ("warp/mma/mod.rs", "//! Twin: `kernels/warp/mma.cuh`, and for halves\n//! `kernels/warp/mma_f16.cuh`.\n"),
        ("threadblock/tensor_copy.rs", "//! Twin: `kernels/threadblock/tensor_copy.cuh`."),
        ("threadblock/mma.rs", ""),
        ("warp/mma_f16.rs", "//! Twin: `kernels/warp/gone.cuh`.\nfn f() {}\n// Twin: `kernels/not_a_doc.cuh`\n"),
    ]);
    assert_eq!(orphans(&kernels, &sources), ["lonely.cuh"]);
    assert_eq!(missing(&kernels, &sources), [("warp/mma_f16.rs".to_owned(), "warp/gone.cuh".to_owned())]);
    let found: Vec<_> = trespasses(&kernels).into_iter().map(|(name, what)| format!("{name}: {what}")).collect();
    assert_eq!(
        found,
        [
            "schedule/other.cuh: bar.sync",
            "threadblock/mma.cuh: mbarrier",
            "threadblock/tensor_copy.cuh: mbarrier",
            "warp/mma_f16.cuh: __syncthreads",
            "warp/mma_f16.cuh: # if ROW_MAJOR == 1",
            "warp/mma_f16.cuh: #elif ELEMENT_IS(bf16)",
            "warp/mma_f16.cuh: is named after f16",
        ]
    );
}
