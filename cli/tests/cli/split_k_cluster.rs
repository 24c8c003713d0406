//! Parts of K that the blocks of a cluster have, on the command line.

use crate::{
    common::{done, refused},
    gemm::verified,
};

/// Parts of K that a cluster's blocks have are verified, said, and take no workspace.
#[test]
fn splits_of_clusters_are_verified() {
    let sm90 = ["--a", "bf16:row", "--b", "bf16:col", "--c", "f32:row", "--op", "tensorop", "--arch", "sm90"];
    let split = [&sm90[..], &["--decomposition", "splitkcluster", "--split-k", "2"]].concat();
    verified(&[&["--m", "100", "--n", "200", "--k", "640", "--checked"], &split[..]].concat());
    let said = done(&[&["gemm", "--explain", "--m", "16", "--n", "4096", "--k", "4096", "--for", "h200"], &split[..]].concat());
    assert!(said.contains("64 x 1 of 64 x 16, each in 2 parts of K, a cluster's block each"), "{said}");
    assert!(said.contains(" 8192 for parts of other blocks, ") && !said.contains("in a workspace"), "{said}");
    let given = [&["gemm", "--m", "64", "--n", "64", "--k", "640", "--cluster", "2x1"], &split[..]].concat();
    let sentence = refused(&given);
    assert!(sentence.contains("cluster M beside decomposition splitkcluster = 2"), "{sentence}");
}
