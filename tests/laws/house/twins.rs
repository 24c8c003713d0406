//! Twins: each kernel file has a Rust file with the same stem, and each named twin exists. Kernels
//! contain no synchronization and no conditionals on types of their own.

use super::{files, root};
use crate::harness::prelude::*;

/// Folders of kernels, and of their Rust twins.
const TREES: [(&str, &str); 3] =
    [("kernels/", "src/"), ("layout/kernels/", "layout/src/"), ("lab/kernels/", "lab/src/")];

/// Kernels without a Rust twin of the same stem. Each needs a reason.
const KERNELS_ALONE: [&str; 0] = [];

/// Synchronization instructions, which only the kernels in `SYNCHRONIZES` may contain.
const SYNCHRONIZATION: [&str; 9] = [
    "griddepcontrol",
    "__syncthreads",
    "wait_group",
    "mbarrier",
    "fence",
    "commit_group",
    "bar.sync",
    "barrier.cluster",
    "setmaxnreg",
];
const SYNCHRONIZES: [&str; 2] = ["kernels/schedule.cuh", "kernels/schedule/roles.cuh"];

/// File of the TMA copies. Its loads name the barrier that they complete on by one qualifier. The
/// file may contain this qualifier and no other synchronization.
const COPIES: &str = "kernels/threadblock/tensor_copy.cuh";

/// Qualifiers of a load's completion.
const COMPLETIONS: [&str; 2] = [
    ".tile.mbarrier::complete_tx::bytes",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes",
];

/// Names of element types and layouts in both languages, as words of a conditional or of a file
/// name.
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

/// Returns the kernels of both trees, and their Rust sources.
fn trees() -> [BTreeMap<String, String>; 2] {
    [
        files(&TREES.map(|(kernels, _)| kernels), "cuh"),
        files(&TREES.map(|(_, sources)| sources), "rs"),
    ]
}

/// Returns C++ code without comments.
fn code(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    code.push_str(rest);
    code.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

fn names_a_type(words: &[String]) -> Option<&String> {
    words.iter().find(|word| TYPES.contains(&word.as_str()))
}

/// Returns the kernels whose stem has no Rust file.
fn orphans(kernels: &BTreeMap<String, String>, sources: &BTreeMap<String, String>) -> Vec<String> {
    let has_twin = |kernel: &str| {
        let tree = TREES
            .iter()
            .find_map(|(kernels, sources)| Some((sources, kernel.strip_prefix(kernels)?)));
        let (folder, name) = tree.expect("the kernel is in one of the trees");
        let stem = format!("{folder}{}", name.trim_end_matches(".cuh"));
        sources.contains_key(&format!("{stem}.rs"))
            || sources.contains_key(&format!("{stem}/mod.rs"))
    };
    kernels
        .keys()
        .filter(|kernel| !has_twin(kernel) && !KERNELS_ALONE.contains(&kernel.as_str()))
        .cloned()
        .collect()
}

/// Returns the kernels that a component's module doc names after `Twin:`.
fn named_twins(source: &str) -> Vec<String> {
    let doc =
        source.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join(" ");
    let Some((_, after)) = doc.split_once("Twin:") else { return Vec::new() };
    let quoted = after.split('`').skip(1).step_by(2);
    let of_a_tree = |name: &&str| {
        name.ends_with(".cuh") && TREES.iter().any(|(kernels, _)| name.starts_with(kernels))
    };
    quoted.filter(of_a_tree).map(str::to_owned).collect()
}

/// Returns pairs of a component and a named twin that does not exist.
fn missing(
    kernels: &BTreeMap<String, String>,
    sources: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let named = sources.iter().flat_map(|(name, text)| {
        named_twins(text).into_iter().map(move |twin| (name.clone(), twin))
    });
    named.filter(|(_, twin)| !kernels.contains_key(twin)).collect()
}

/// Returns the kernels that no component names.
fn unnamed<'k>(
    kernels: &'k BTreeMap<String, String>,
    sources: &BTreeMap<String, String>,
) -> Vec<&'k String> {
    let named: BTreeSet<_> = sources.values().flat_map(|text| named_twins(text)).collect();
    kernels.keys().filter(|kernel| !named.contains(*kernel)).collect()
}

/// Returns the Rust files and folders that the first line of a kernel names.
fn named_on_top(kernel: &str) -> Vec<&str> {
    let words = kernel.lines().next().unwrap_or_default().split_whitespace();
    let paths = words.filter(|word| TREES.iter().any(|(_, sources)| word.starts_with(sources)));
    paths.map(|path| path.trim_end_matches([':', '.', ',', ';'])).collect()
}

/// Returns pairs of a kernel and a source in its first line that does not exist. The source is
/// empty if the first line names none.
fn missing_sources(
    kernels: &BTreeMap<String, String>,
    exists: impl Fn(&str) -> bool,
) -> Vec<(&String, &str)> {
    let mut found = Vec::new();
    for (name, text) in kernels {
        let named = named_on_top(text);
        found.extend(named.is_empty().then_some((name, "")));
        found.extend(named.into_iter().filter(|path| !exists(path)).map(|path| (name, path)));
    }
    found
}

/// Returns pairs of a kernel and a forbidden text: synchronization outside of the schedule, or a
/// conditional on a type or a layout.
fn forbidden_texts(kernels: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, text) in kernels {
        let code = code(text);
        if !SYNCHRONIZES.contains(&name.as_str()) {
            let code = if name == COPIES {
                COMPLETIONS
                    .iter()
                    .fold(code.clone(), |code, completion| code.replace(completion, ""))
            } else {
                code.clone()
            };
            let spelled = SYNCHRONIZATION.iter().filter(|step| code.contains(**step));
            found.extend(spelled.map(|step| (name.clone(), (*step).to_owned())));
        }
        for line in code.lines().filter(|line| {
            ["#if", "#elif"]
                .iter()
                .any(|word| line.trim_start().replace("# ", "#").starts_with(word))
        }) {
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
    let [kernels, sources] = trees();
    assert!(
        SYNCHRONIZES.iter().all(|name| kernels.contains_key(*name)),
        "a kernel of SYNCHRONIZES does not exist"
    );
    assert_eq!(orphans(&kernels, &sources), [""; 0]);
    assert!(
        KERNELS_ALONE.iter().all(|name| kernels.contains_key(*name)),
        "a kernel of KERNELS_ALONE does not exist"
    );
    println!("{} kernels, {} components", kernels.len(), sources.len());
}

#[test]
fn every_component_that_names_a_twin_has_it() {
    let [kernels, sources] = trees();
    assert_eq!(missing(&kernels, &sources), []);
    assert_eq!(unnamed(&kernels, &sources), [""; 0]);
    assert!(
        TREES.iter().all(|(tree, _)| kernels.keys().any(|kernel| kernel.starts_with(tree))),
        "a tree is empty"
    );
}

#[test]
fn twins_of_kernels_exist() {
    let [kernels, _] = trees();
    assert_eq!(missing_sources(&kernels, |path| root().join(path).exists()), []);
}

#[test]
fn only_schedules_synchronize_and_no_conditional_names_a_type() {
    assert_eq!(forbidden_texts(&trees()[0]), []);
}

#[test]
fn main_loops_of_descriptions_are_cuda_structs() {
    let (threadblock, unroll) = (Mnk::new(8, 8, 8), UnrollKind::Full);
    let twins = [
        Mainloop::SingleStage(SingleStageKnobs { threadblock, unroll }),
        Mainloop::Pipelined(PipelinedKnobs { threadblock }),
        Mainloop::Multistage(MultistageKnobs { threadblock, stages: 2 }),
    ]
    .map(|mainloop| mainloop.cuda());
    let kernels = files(&["kernels/threadblock"], "cuh");
    let is_struct = |[header, twin]: &[&str; 2]| {
        let name = twin.strip_prefix("threadblock::").expect("a name in its namespace");
        kernels[&format!("kernels/{header}")].contains(&format!("struct {name} "))
    };
    assert!(twins.iter().all(is_struct), "{twins:?}");
}

#[test]
fn an_orphan_a_missing_twin_and_a_forbidden_text_are_found() {
    let tree = |files: &[(&str, &str)]| {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    let copy =
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0];";
    let kernels: BTreeMap<_, _> = tree(&[
        ("kernels/schedule.cuh", "// Twin of src/schedule.rs: all\n__syncthreads(); // mbarrier"),
        (
            "kernels/schedule/roles.cuh",
            "// Twin of src/schedule/roles.rs.\nsetmaxnreg; mbarrier; fence",
        ),
        (
            "kernels/schedule/other.cuh",
            "// Twin of src/schedule/gone.rs, src/schedule.rs\nbar.sync 1, 128;",
        ),
        (
            "kernels/warp/mma.cuh",
            "// Twin of src/warp/mma: no fence, no __syncthreads\n#if defined(__CUDA_ARCH__)\n/* wait_group\n#if FLOAT */",
        ),
        (
            "kernels/warp/mma_f16.cuh",
            "// none\n  __syncthreads();\n# if ROW_MAJOR == 1\n#elif ELEMENT_IS(bf16)\n#endif",
        ),
        ("kernels/lonely.cuh", "// src/schedule.rs\n#ifdef NARROW\n#endif"),
        ("lab/kernels/schedule.cuh", "// src/schedule.rs\nmbarrier"),
        (COPIES, &format!("// src/schedule.rs\n{copy} mbarrier.init")),
        ("kernels/threadblock/mma.cuh", &format!("// src/schedule.rs\n{copy}")),
    ]);
    let sources: BTreeMap<_, _> = tree(&[
        ("src/schedule/roles.rs", "//! Twin: `kernels/schedule/roles.cuh`."),
        (
            "src/schedule/other.rs",
            "//! Twin: `kernels/schedule/other.cuh`, `kernels/threadblock/mma.cuh`.",
        ),
        ("src/schedule.rs", "//! Steps.\n//!\n//! Twin: `kernels/schedule.cuh`.\n"),
        (
            "src/warp/mma/mod.rs",
            "//! Twin: `kernels/warp/mma.cuh`, and for halves\n//! `kernels/warp/mma_f16.cuh`.\n",
        ),
        (
            "src/threadblock/tensor_copy.rs",
            "//! Twin: `kernels/threadblock/tensor_copy.cuh`, `lab/kernels/gone.cuh`.",
        ),
        ("src/threadblock/mma/mod.rs", "//! Twin: `kernels/lonely.cuh`"),
        (
            "src/warp/mma_f16.rs",
            "//! Twin: `kernels/warp/gone.cuh`.\nfn f() {}\n// Twin: `kernels/not_a_doc.cuh`\n",
        ),
    ]);
    assert_eq!(orphans(&kernels, &sources), ["kernels/lonely.cuh", "lab/kernels/schedule.cuh"]);
    let missing = missing(&kernels, &sources)
        .into_iter()
        .map(|(name, twin)| format!("{name}: {twin}"))
        .collect::<Vec<_>>();
    assert_eq!(
        missing,
        [
            "src/threadblock/tensor_copy.rs: lab/kernels/gone.cuh",
            "src/warp/mma_f16.rs: kernels/warp/gone.cuh"
        ]
    );
    assert_eq!(unnamed(&kernels, &sources), ["lab/kernels/schedule.cuh"]);
    let exists = |path: &str| path == "src/warp/mma" || sources.contains_key(path);
    let missing_sources = missing_sources(&kernels, exists)
        .into_iter()
        .map(|(name, path)| format!("{name}: {path}"))
        .collect::<Vec<_>>();
    assert_eq!(
        missing_sources,
        ["kernels/schedule/other.cuh: src/schedule/gone.rs", "kernels/warp/mma_f16.cuh: "]
    );
    let found: Vec<_> = forbidden_texts(&kernels)
        .into_iter()
        .map(|(name, what)| format!("{name}: {what}"))
        .collect();
    assert_eq!(
        found,
        [
            "kernels/schedule/other.cuh: bar.sync",
            "kernels/threadblock/mma.cuh: mbarrier",
            "kernels/threadblock/tensor_copy.cuh: mbarrier",
            "kernels/warp/mma_f16.cuh: __syncthreads",
            "kernels/warp/mma_f16.cuh: # if ROW_MAJOR == 1",
            "kernels/warp/mma_f16.cuh: #elif ELEMENT_IS(bf16)",
            "kernels/warp/mma_f16.cuh: is named after f16",
            "lab/kernels/schedule.cuh: mbarrier",
        ]
    );
}

/// Returns the names of a C++ or Rust enumeration without comments, arguments, and blanks.
fn enumerators(text: &str, head: &str) -> Vec<String> {
    let body =
        &text[text.find(head).unwrap_or_else(|| panic!("`{head}` is in the text")) + head.len()..];
    let (mut names, mut depth) = (Vec::new(), 1);
    for line in body.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        for word in line.split_inclusive(['{', '}', ',']) {
            let name = word.trim().trim_end_matches(['{', '}', ',']).trim();
            if depth == 1 && !name.is_empty() {
                names.push(name.to_owned());
            }
            depth += i32::from(word.ends_with('{')) - i32::from(word.ends_with('}'));
            if depth == 0 {
                return names;
            }
        }
    }
    panic!("`{head}` has no end")
}

/// Steps have the same kinds in the same order in both languages.
#[test]
fn steps_have_the_same_kinds_in_both_languages() {
    for (rust, step, kernel, least) in [
        ("src/schedule/step.rs", "pub enum Step {", "kernels/schedule.cuh", 13),
        ("src/schedule/roles.rs", "pub enum RoleStep {", "kernels/schedule/roles.cuh", 30),
    ] {
        let read = |file: &str| fs::read_to_string(root().join(file)).expect(file);
        let head = format!(
            "enum class {}Kind {{",
            step.trim_start_matches("pub enum ").trim_end_matches(" {")
        );
        let (ours, theirs) = (enumerators(&read(rust), step), enumerators(&read(kernel), &head));
        assert_eq!(ours, theirs, "{rust} and {kernel}");
        assert!(ours.len() >= least, "{ours:?}");
    }
}
