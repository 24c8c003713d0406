//! The knob `l2_promotion`: its tensor maps, its texts, its refusals, and its leaves.

use crate::harness::{descriptions::tma_ring, prelude::*};
use falchion::layout::Order::{Col, Row};

const KIND: L2PromotionKind = L2PromotionKind::Bytes256;

/// Returns a kernel for each MMA that a TMA ring feeds, with operands that the kernel reads in
/// place.
fn rings() -> Vec<GemmDesc> {
    vec![
        tma_ring::wgmma::plain([Row, Col, Row]),
        tma_ring::simt::plain([Col, Row, Row], (128, 256, 16), (32, 128), (8, 16)),
        tma_ring::mma_sync::plain([Row, Col, Row], (128, 128), (64, 32), 4),
    ]
}

fn promoted(desc: GemmDesc, kind: L2PromotionKind) -> GemmDesc {
    desc.with(Pins { l2_promotion: Some(kind), ..Pins::NONE })
}

/// Returns the L2 promotions of the tensor maps of A, B, C, and D.
pub fn mapped(desc: &GemmDesc) -> [Option<L2PromotionKind>; 4] {
    let (orders, [m, n, k]) = (desc.orders(), [256, 256, 256]);
    let view = |order, rows, columns| {
        let memory = Elements { address: 1 << 32, ..Elements::ALL };
        View::packed(memory, order, (rows, columns), None)
    };
    let [a, b, d] = [view(orders.a, m, k), view(orders.b, k, n), view(orders.c, m, n)];
    let (c, scalars) = (Source::Matrix(d), scalars(1.0, 1.0));
    let problem = Problem { c, scalars, ..problem_of((m, n, k), [a, b, d]) };
    let problem = problem.enter(desc).expect("a problem");
    let plan = desc.plan().expect("a kernel");
    let launch = plan.launch(&problem, &desc.geometry(), 132).expect("a launch");
    launch.tensors.map(|tensor| Some(tensor?.desc.l2_promotion))
}

#[test]
fn maps_of_a_and_b_have_the_l2_promotion_and_maps_of_c_and_d_the_default() {
    for desc in rings() {
        for kind in L2PromotionKind::ALL {
            let [a, b, c, d] = mapped(&promoted(desc, kind));
            assert_eq!([a, b], [Some(kind); 2], "{desc}");
            for other in [c, d].into_iter().flatten() {
                assert_eq!(other, L2PromotionKind::Bytes128, "{desc}");
            }
        }
        assert_eq!(desc.pins().l2_promotion, Some(L2PromotionKind::Bytes128), "{desc}");
    }
}

#[test]
fn l2_promotion_changes_no_source() {
    for desc in rings() {
        let source = |desc: &GemmDesc| {
            let unit = desc.plan().expect("a kernel").unit(true);
            (unit.source, unit.config)
        };
        for kind in L2PromotionKind::ALL {
            assert_eq!(source(&promoted(desc, kind)), source(&desc), "{desc}");
        }
    }
}

#[test]
fn json_and_names_omit_only_the_default_l2_promotion() {
    for desc in rings() {
        let (json, name) = (desc.to_json().expect("JSON"), desc.to_string());
        assert!(!json.contains("l2_promotion") && !name.contains("l2_promotion"), "{json} {name}");
        assert_eq!(GemmDesc::from_json(&json).expect("a description"), desc);
        for (kind, value) in L2PromotionKind::ALL.into_iter().zip(["\"none\"", "64", "128", "256"])
        {
            let field = format!("\"l2_promotion\":{value},");
            let with_field = json.replacen("\"spills\"", &format!("{field}\"spills\""), 1);
            let other = promoted(desc, kind);
            assert_eq!(GemmDesc::from_json(&with_field).expect("a description"), other);
            let is_default = kind == L2PromotionKind::Bytes128;
            let json = other.to_json().expect("JSON");
            assert_eq!(json.contains(&field), !is_default, "{json}");
            assert_eq!(GemmDesc::from_json(&json).expect("a description"), other);
            let suffix = format!(" l2_promotion {}", value.trim_matches('"'));
            assert_eq!(other.to_string().contains(&suffix), !is_default, "{other}");
        }
    }
}

#[test]
fn an_unknown_l2_promotion_is_refused_with_the_valid_words() {
    let found = request(["bf16:row", "bf16:col", "bf16:row"], &[("l2_promotion", "32")]);
    let sentence = found.resolve(ArchKind::Sm90).expect_err("no such value").to_string();
    assert!(sentence.ends_with("the value must be one of none, 64, 128, 256"), "{sentence}");
}

/// The refusal names the main loop of the default table.
#[test]
fn main_loops_without_tma_refuse_l2_promotion_by_name() {
    // Types, the main loop, and the MMA that it feeds.
    for (types, mainloop, _) in [
        ("f32:row", MainloopKind::SingleStage, WarpMmaKind::Simt),
        ("f32:row", MainloopKind::Pipelined, WarpMmaKind::Simt),
        ("f32:row", MainloopKind::Multistage, WarpMmaKind::Simt),
        ("bf16:row", MainloopKind::Multistage, WarpMmaKind::MmaSync),
    ] {
        for kind in L2PromotionKind::ALL {
            let pins = [("mainloop", mainloop.name()), ("l2_promotion", kind.name())];
            let sentence = request([types; 3], &pins).resolve(ArchKind::Sm90).message();
            let first = MULTISTAGE_OR_OTHER[0];
            assert_eq!(
                sentence,
                format!(
                    "l2_promotion is not a knob of the {first} main loop; try mainloop = warpspecialized"
                )
            );
        }
    }
}

/// The kernel of a request without a main loop is the one that has the knob.
#[test]
fn l2_promotion_selects_the_ring() {
    for (types, mma) in [("f32:row", WarpMmaKind::Simt), ("bf16:row", WarpMmaKind::Wgmma)] {
        let found = request([types; 3], &[("l2_promotion", KIND.name())]).resolve(ArchKind::Sm90);
        let desc = found.expect("a kernel").desc;
        assert_eq!((desc.mainloop.kind(), desc.mma.kind()), (MainloopKind::TmaRing, mma));
        assert_eq!(desc.pins().l2_promotion, Some(KIND));
    }
}
