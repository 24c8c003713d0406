//! Checks that NVRTC rejects a map that differs from its Rust twin.

use crate::harness::prelude::*;

/// Changes one digit of a fingerprint, and checks that the compiler names the map. Keeps no state
/// between runs.
pub fn a_wrong_fingerprint_is_named(unit: &TranslationUnit, (twin, name): (&str, &str)) {
    let before = format!("fingerprint<{twin}>() == ");
    let digit = unit.source.find(&before).expect("a fingerprint") + before.len();
    let mut wrong = unit.clone();
    let other = if unit.source.as_bytes()[digit] == b'1' { "2" } else { "1" };
    wrong.source.replace_range(digit..=digit, other);
    let error = compile(&Cache::new(CacheDir::Off), &wrong, 90)
        .expect_err("the fingerprint is wrong")
        .to_string();
    assert!(error.contains(&format!("{name}: the Rust map and the CUDA map differ")), "{error}");
}
