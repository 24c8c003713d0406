//! Tests of requests for `f32` that pin the TMA ring.

use crate::{arch::ArchKind, nest::Request};

/// If a main loop is pinned, the refusal names the knob that the main loop lacks.
#[test]
fn a_knob_of_another_main_loop_is_refused_by_its_name() {
    for (name, words) in
        [("smem_a", "mn+4"), ("unroll", "2"), ("blocks_per_sm", "1"), ("interleave", "4")]
    {
        let knobs = vec![
            ("mainloop".to_owned(), "warpspecialized".to_owned()),
            (name.to_owned(), words.to_owned()),
        ];
        let said = Request { knobs, ..Request::default() }
            .resolve(ArchKind::Sm90)
            .unwrap_err()
            .to_string();
        assert!(
            said.starts_with(&format!("{name} is not a knob of the warpspecialized main loop")),
            "{said}"
        );
    }
}
