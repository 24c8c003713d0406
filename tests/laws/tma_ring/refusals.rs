//! Refusals of warp-specialized kernels: each message names the field, the value, and the limit,
//! and the suggested value is valid.

use crate::harness::{prelude::*, random_cases::*, tma_ring::programs::check_options};
use proptest::{prelude::*, sample::select};

/// Checks each sentence, and whether its advice is valid.
pub fn check_refusals(table: Vec<(Changed, &str, bool)>) {
    for (desc, wanted, nearest) in table {
        let (refusal, advice) = refused_as(&desc, (wanted, nearest));
        let sentence = refusal.to_string();
        if let Some(advice) = advice {
            assert_ne!(
                advice.check(),
                Err(refusal),
                "the advice is refused for the same: {sentence}"
            );
        }
    }
}

fn legal() -> impl Strategy<Value = GemmDesc> {
    let kinds = vec![KernelKind::WgmmaRing, KernelKind::SimtRing];
    (any::<u64>(), select(kinds)).no_shrink().prop_map(move |(seed, kernel_kind)| {
        description(seed, Wanted { kernel_kind, ..Wanted::default() })
    })
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn advice_ends_at_a_kernel_or_at_a_refusal_without_advice(d in legal(), spoils in proptest::collection::vec((0..NUMBERS, number()), 1..4)) {
        follow_advice(spoils.into_iter().fold(d, |d, (field, x)| spoiled(d, field, x)), advised)?;
    }

    /// Numbers and types of any kind give a refusal or a kernel, and never a panic.
    #[test]
    fn invalid_descriptions_do_not_panic(
        d in legal(),
        spoils in proptest::collection::vec((0..NUMBERS, number()), 1..6),
        kinds in proptest::option::of([select(ElementKind::ALL.to_vec()), select(ElementKind::ALL.to_vec()), select(ElementKind::ALL.to_vec())]),
    ) {
        let mut d = spoils.into_iter().fold(d, |d, (field, x)| spoiled(d, field, x));
        if let Some([ab, accumulator, c]) = kinds {
            (d.operands[0].stored, d.operands[1].stored, d.output.accumulator, d.output.element) = (ab, ab, accumulator, c);
        }
        let _ = (d.threads(), d.smem_bytes(), d.components());
        match d.check() {
            Ok(()) => {
                let components = d.components().expect("it checks");
                check_options(&components.ring, &components.options);
                prop_assert!(falchion_lab::explain::facts(&d.explain().expect("it checks")).len() > 5);
            }
            Err(refusal) => prop_assert!(refusal.to_string().len() > 20),
        }
    }
}
