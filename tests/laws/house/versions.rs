//! CUDA versions: the library, the laboratory, and the command line have the same features and the
//! same default, and `build.rs` knows all of them.

use super::root;
use std::{collections::BTreeSet, fs};

/// Manifests with a feature per version.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "lab/Cargo.toml", "cli/Cargo.toml"];

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// Returns the versions of a manifest: its keys `cuda-` followed by a number.
fn features(manifest: &str) -> BTreeSet<&str> {
    let keys = manifest.lines().filter_map(|line| line.split_once(" = ").map(|(key, _)| key));
    keys.filter(|key| key.starts_with("cuda-1")).collect()
}

/// Returns the versions in `build.rs`. The recommended version is one of them.
fn refused(script: &str) -> BTreeSet<&str> {
    script.split(['"', '\\']).filter(|word| word.starts_with("cuda-1")).collect()
}

#[test]
fn versions_are_the_same_everywhere() {
    let (script, library) = (text("build.rs"), text(MANIFESTS[0]));
    for manifest in MANIFESTS.map(text) {
        assert_eq!(features(&manifest), refused(&script));
        let default = |text: &str| {
            text.lines().find(|line| line.starts_with("default = ")).map(str::to_owned)
        };
        assert_eq!(default(&manifest), default(&library));
    }
    assert!(features(&library).len() > 10);
}

#[test]
fn a_version_missing_on_one_side_is_found() {
    assert_ne!(features("cuda-12080 = [\"cuda\"]\ncuda = []"), refused("(\"cuda-12090\")"));
    assert_eq!(features("cuda-12080 = [\"cuda\"]\ncuda = []"), refused("(\"cuda-12080\")"));
}
