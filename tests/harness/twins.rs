//! Whether NVRTC refuses what is not the twin of a Rust map.

use falchion::{
    cuda::{
        cache::{Cache, CacheDir},
        compile,
    },
    internals::codegen::TranslationUnit,
};

/// One digit of a fingerprint changed, and the compiler says which map differs. Remembers nothing
/// of other runs.
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
