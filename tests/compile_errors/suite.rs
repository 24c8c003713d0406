//! Programs with invalid types must not compile, and the compiler must print the library's message.
//!
//! Each case is a program in `cases/`, with the compiler's output next to it. A case pins an
//! invalid description with a `const`, so the compiler's first arrow points at the case.
//! `checked()` does the same for a description that a program computes.

use std::{collections::BTreeSet, fs, path::Path};

/// Messages that the compiler must print for a case.
const SENTENCES: [(&str, &str); 18] = [
    ("wrong_slice_type", "A cannot be `&Vec<f64>`"),
    ("wrong_slice_type", "B cannot be `&[f64]`"),
    ("wrong_slice_type", "C cannot be `&Vec<f64>`"),
    ("wrong_slice_type", "D cannot be `&mut Vec<f64>`"),
    ("wrong_slice_type", "an operand of the epilogue cannot be `&[&str; 2]`"),
    ("mixed_memory", "B cannot be `&Vec<f32>`"),
    ("mixed_memory", "D cannot be `&mut CudaSlice<f32>`"),
    (
        "uneven_tiles",
        "the threadblock tile must be a multiple of the warp tile, and the warp tile of the instruction",
    ),
    (
        "no_default_configuration",
        "no kernel multiplies i32 by i32 accumulating in i32 into i32 on tensor cores; try op = simt",
    ),
    (
        "mixed_element_types",
        "no kernel multiplies f32 by f16 accumulating in f32 into f32; try f32 by f32",
    ),
    ("unmultiplied_pair", "A holds `f32`, and B holds `falchion::numeric::F16`"),
    ("older_architecture", "on tensor cores (sm70); try arch = sm75"),
    ("not_a_leaf", "leaves pin a knob, Stages<4> for one, or a loop nest"),
    (
        "shared_memory_over_budget",
        "shared memory of a block = 133120 bytes exceeds 82944 bytes (16 stages of 8320; sm_80 with",
    ),
    (
        "registers_over_budget",
        "registers per thread = 126 exceeds 64 (256 threads per block, 4 blocks per multiprocessor)",
    ),
    (
        "resources_over_budget_everywhere",
        "registers per thread = 506 exceeds 255 (256 threads per block, 1 block per multiprocessor)",
    ),
    (
        "pipelined_with_four_stages",
        "mainloop = multistage is not supported by sm70 (asynchronous copies need sm80)",
    ),
    ("wrong_alignment", "align_a = 3 is not one of 1, 2, 4; try 4"),
];

#[test]
fn invalid_types_do_not_compile() {
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}

#[test]
fn every_case_prints_its_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    for (case, sentence) in SENTENCES {
        let text = fs::read_to_string(folder.join(case).with_extension("stderr")).expect(case);
        assert!(text.contains(sentence), "{case} lacks {sentence:?}:\n{text}");
        let source = fs::read_to_string(folder.join(case).with_extension("rs")).expect(case);
        let first =
            text.lines().find_map(|line| line.trim_start().strip_prefix("--> ")).expect("an arrow");
        let here = first.starts_with("cases/");
        assert!(here || !source.contains("checked()"), "{case} points at {first}");
    }
    let cases = fs::read_dir(&folder).expect("the cases").filter_map(Result::ok);
    let cases = cases
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .count();
    let named: BTreeSet<_> = SENTENCES.iter().map(|(case, _)| case).collect();
    assert_eq!(cases, named.len());
}
