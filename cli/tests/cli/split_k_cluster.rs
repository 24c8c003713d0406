//! Split-K across the CTAs of a cluster.

use crate::{
    common::{done, refused},
    gemm::verified,
};

/// Cluster split-K is verified, explained, and needs no workspace.
#[test]
fn cluster_split_k_is_verified() {
    let sm90 = [
        "--a", "bf16:row", "--b", "bf16:col", "--c", "f32:row", "--op", "tensorop", "--arch",
        "sm90",
    ];
    let split = [&sm90[..], &["--decomposition", "splitkcluster", "--split-k", "2"]].concat();
    verified(&[&["--m", "100", "--n", "200", "--k", "640", "--checked"], &split[..]].concat());
    let said = done(
        &[
            &["gemm", "--explain", "--m", "16", "--n", "4096", "--k", "4096", "--for", "h200"],
            &split[..],
        ]
        .concat(),
    );
    assert!(said.contains("64 x 1 of 64 x 16, with 2 split-K slices in a cluster"), "{said}");
    assert!(
        said.contains(" 8192 for partials of the cluster's other CTAs, ")
            && !said.contains("with a workspace"),
        "{said}"
    );
    assert!(
        said.contains(
            "no workspace, no memset; 128 of 132 multiprocessors read A and B (64 without split-K)"
        ),
        "{said}"
    );
    let given = [&["gemm", "--m", "64", "--n", "64", "--k", "640", "--cluster", "2x1"], &split[..]]
        .concat();
    let sentence = refused(&given);
    assert!(sentence.contains("cluster M = 2 is not 1 (splitkcluster)"), "{sentence}");
}

/// The problem size selects cluster split-K, on the host as on a device. A flag for the
/// decomposition, the split-K slices, or the cluster replaces it.
#[test]
fn problem_size_selects_cluster_split_k() {
    let sm90 = [
        "--a", "bf16:row", "--b", "bf16:col", "--c", "bf16:row", "--op", "tensorop", "--arch",
        "sm90",
    ];
    let few = [&["--m", "16", "--n", "2112", "--k", "7168"], &sm90[..]].concat();
    let explained =
        |pins: &[&str]| done(&[&["gemm", "--explain", "--for", "h200"], &few[..], pins].concat());
    let said = explained(&[]);
    assert!(said.contains("33 x 1 of 64 x 16, with 2 split-K slices in a cluster"), "{said}");
    assert!(
        said.contains("no workspace, no memset; 66 of 132 multiprocessors")
            && !said.contains("with a workspace"),
        "{said}"
    );
    let line =
        |flag: &str| said.lines().find(|line| line.contains(flag)).unwrap_or_default().to_owned();
    assert!(
        line("--decomposition").contains("splitkcluster")
            && line("--decomposition").contains("selected for this size"),
        "{said}"
    );
    for pins in [
        &["--split-k", "4"][..],
        &["--decomposition", "splitk"],
        &["--decomposition", "dataparallel"],
        &["--decomposition", "streamk"],
        &["--cluster", "1x1"],
    ] {
        let said = explained(pins);
        assert!(!said.contains("splitkcluster"), "{pins:?}: {said}");
    }
    assert!(
        explained(&["--decomposition", "splitkcluster"])
            .contains("with 2 split-K slices in a cluster")
    );
    verified(&few);
}
