//! Sizes: files are short, and unsafe code is in two folders.

use super::{files, library_code};

/// Maximum number of lines of a file.
const MOST_LINES: usize = 400;

/// Files above the limit with their reasons. `wrapped` files had at most 400 lines at 130 columns.
const LARGE: &[(&str, &str)] = &[
    ("check/src/machine/one_schedule.rs", "wrapped"),
    ("check/src/machine/tma_ring/mod.rs", "wrapped"),
    ("cli/src/args.rs", "wrapped"),
    ("cli/tests/cli/gemm.rs", "wrapped"),
    ("cli/tests/cli/hostile.rs", "wrapped"),
    ("cli/tests/cli/npy.rs", "wrapped"),
    ("cli/tests/cli/transpose.rs", "wrapped"),
    ("lab/src/bench/suite.rs", "wrapped"),
    ("lab/src/bench/suite_tests.rs", "wrapped"),
    ("lab/src/owned/product.rs", "wrapped"),
    ("src/nest/request.rs", "wrapped"),
    ("src/sys/nvrtc.rs", "wrapped"),
    ("src/threadblock/tma_ring/pipeline.rs", "wrapped"),
    ("src/threadblock/work.rs", "wrapped"),
    ("tests/gpu/arrays.rs", "wrapped"),
    ("tests/gpu/run.rs", "wrapped"),
    ("tests/host/transpose_mutants.rs", "wrapped"),
    ("tests/laws/transpose_refusals.rs", "wrapped"),
    ("kernels/epilogue/tensor_store.cuh", "wrapped"),
    ("kernels/operand/transpose.cuh", "wrapped"),
    ("kernels/threadblock/work.cuh", "wrapped"),
];

/// Upper bound of the median file length in lines.
const MEDIAN_LINES: usize = 150;

/// Folders for unsafe code.
const UNSAFE: [&str; 2] = ["src/sys/", "lab/src/sys/"];

#[test]
fn files_are_short() {
    let rust = files(
        &[
            "src",
            "layout/src",
            "check/src",
            "lab/src",
            "cli/src",
            "tests",
            "lab/tests",
            "cli/tests",
        ],
        "rs",
    );
    let kernels = files(&["kernels", "layout/kernels", "lab/kernels"], "cuh");
    let lines = |text: &String| text.lines().count();
    let large: Vec<_> = rust
        .iter()
        .chain(&kernels)
        .filter(|(_, text)| lines(text) > MOST_LINES)
        .map(|(name, _)| name)
        .collect();
    let listed: Vec<_> = LARGE.iter().map(|(name, _)| *name).collect();
    assert_eq!(large, listed);
    let mut sizes: Vec<_> = files(&["src"], "rs").values().map(lines).collect();
    sizes.sort_unstable();
    assert!(
        sizes[sizes.len() / 2] < MEDIAN_LINES,
        "the median file of src/ has {} lines",
        sizes[sizes.len() / 2]
    );
}

#[test]
fn unsafe_code_lies_in_sys() {
    let sources = files(&["src", "layout/src", "check/src", "lab/src", "cli/src"], "rs");
    let code = |text: &String| library_code(text);
    let spells = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    };
    let outside: Vec<_> = sources
        .iter()
        .filter(|(name, text)| {
            !UNSAFE.iter().any(|folder| name.starts_with(folder)) && spells(&code(text))
        })
        .map(|(name, _)| name)
        .collect();
    assert_eq!(outside, [""; 0]);
}

/// Maximum number of columns of a comment or a Markdown line.
const COLUMNS: usize = 100;

/// Returns lines wider than [`COLUMNS`] that can be wrapped: comments and Markdown paragraphs.
/// Tables, links, pictures, and code cannot be wrapped.
fn wide_lines(name: &str, text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let markdown = name.ends_with(".md");
        let prose = match markdown {
            true => Some(line),
            false => {
                line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']))
            }
        };
        let Some(prose) = prose.map(str::trim_start) else {
            in_code = false;
            continue;
        };
        if prose.starts_with("```") || prose.starts_with("~~~") {
            in_code = !in_code;
        }
        let breakable = !in_code && !prose.starts_with(['|', '<', '[', '!', '#']);
        if breakable && line.chars().count() > COLUMNS && prose.contains(' ') {
            found.push(format!("{name}:{}", number + 1));
        }
    }
    found
}

#[test]
fn comments_and_markdown_wrap_at_100_columns() {
    let folders = [
        "src", "layout", "kernels", "check", "lab", "cli", "tests", "peers", "examples", "docs",
        "book",
    ];
    let mut wide = Vec::new();
    for extension in ["rs", "cuh", "md"] {
        for (name, text) in files(&folders, extension) {
            wide.extend(wide_lines(&name, &text));
        }
    }
    for page in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        let text = std::fs::read_to_string(super::root().join(page)).expect(page);
        wide.extend(wide_lines(page, &text));
    }
    assert_eq!(wide, [""; 0]);
}

#[test]
fn a_wide_comment_is_found() {
    let wide = "word ".repeat(30);
    assert_eq!(wide_lines("a.rs", &format!("let x = 1;\n/// {wide}")), ["a.rs:2"]);
    assert_eq!(wide_lines("a.md", &format!("```\n{}\n```\n| {}", wide, wide)), [""; 0]);
}
