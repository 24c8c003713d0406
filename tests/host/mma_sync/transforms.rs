//! User transforms in registers of `mma.sync` kernels.

use super::super::{transform_refusals::refused, transforms::*};
use crate::harness::{
    on_tensor_cores::ORDERS,
    prelude::*,
    product::computed,
    transforms::{Scaled, transform_words},
};
use falchion::numeric::register_transform;

#[test]
fn the_lab_verifies_transformed_operands() {
    let words = transform_words::<Scaled<f32, Bf16>>();
    let others = [("emulation", "bf16x1"), ("transform_a", &*words)];
    lab_verifies(TENSOR_OP[1], &[("transform_a", &words), ("transform_b", &words)], &others);
}

/// The rounding of bf16x1 is the transform of f32 to bf16 that returns its argument.
#[test]
fn a_transform_of_a_stands_beside_an_emulation_of_b() {
    transform!(Same "same": f32 => Bf16, "x", |x| x);
    let words = transform_words::<Same>();
    let (m, n, k) = SIZES;
    let (a, b) = rounding_operands((m, n, k), |x| x);
    let knobs = knobs_of(OpKind::TensorOp, MULTISTAGE_OR_OTHER[0]);
    let d = |more: &[(&str, &str)], orders| {
        let knobs = [&knobs[..], &[("emulation", "bf16x1")], more].concat();
        let desc = small(TENSOR_OP[0], ElementKind::F32, orders, &knobs);
        bits(&computed::<f32, f32>(&desc, &desc, Mode::Fast, SIZES, ([&a, &b], f32::NAN)))
    };
    for orders in [ORDERS[0], ORDERS[3]] {
        let wanted = d(&[], orders);
        for name in ["transform_a", "transform_b"] {
            assert!(d(&[(name, &words)], orders) == wanted, "{name} {orders:?}");
        }
    }
}

#[test]
fn a_transform_beside_two_terms_is_refused() {
    transform!(Truncated "truncated": f32 => Tf32, "x", |x| x);
    let one_term = transform_words::<Truncated>();
    let said = refused(TENSOR_OP[0], "f32", &[("transform_a", &one_term)]);
    assert!(said.contains("multiplied type of A = 1 term differs from 2 terms"), "{said}");
}

#[cfg(feature = "serde")]
#[test]
fn a_description_with_transforms_comes_back_from_json() {
    let id = register_transform::<Scaled<f32, Bf16>>();
    let words = id.to_string();
    let transformed = small(
        TENSOR_OP[1],
        ElementKind::F32,
        [Order::Row, Order::Row, Order::Col],
        &[("emulation", "bf16x1"), ("transform_a", &words)],
    );
    let text = transformed.to_json().expect("a text");
    assert!(
        text.contains(&format!(
            r#""a":{{"stored":"f32:row","multiplied":"{id}"}},"b":{{"stored":"f32:row","multiplied":"bf16x1"}},"#
        )),
        "{text}"
    );
    assert!(!text.contains("emulation") && !text.contains("\"transform_a\""), "{text}");
    assert_eq!(GemmDesc::from_json(&text).expect("what was written"), transformed);
    let plain = small(TENSOR_OP[1], ElementKind::Bf16, ORDERS[0], &[]);
    let text = plain.to_json().expect("a text");
    assert!(text.contains(r#""a":"bf16:row","b":"bf16:col""#), "{text}");
    assert_eq!(GemmDesc::from_json(&text).expect("what was written"), plain);
    let as_object =
        text.replace(r#""a":"bf16:row""#, r#""a":{"stored":"bf16:row","multiplied":"stored"}"#);
    assert_eq!(GemmDesc::from_json(&as_object).expect("an object"), plain);
    let addressing = Addressing { gathers: [true, false], scatters: Some(Axis::M), strided: true };
    let addressed = transformed.for_addressing(addressing.enter(transformed.frame));
    let words = addressed.to_json().expect("a text");
    let of_a = format!(r#""a":{{"stored":"f32:row","multiplied":"{id}","indexed":true}}"#);
    assert!(words.contains(&of_a), "{words}");
    assert!(words.contains(r#""scattered":"M","strided":true"#), "{words}");
    assert_eq!(GemmDesc::from_json(&words).expect("what was written"), addressed);
    for (from, to, says) in [
        (
            r#""a":"bf16:row""#,
            r#""a":{"stored":"bf16:row","multiplied":"tf32x4"}"#,
            "`tf32x4` is not stored, an emulation",
        ),
        (r#""a":"bf16:row""#, r#""a":{"stored":"bf16:row"}"#, "missing field `multiplied`"),
        (
            r#""a":"bf16:row""#,
            r#""a":{"stored":"bf16:row","multiplied":"stored","access":1}"#,
            "unknown field `access`",
        ),
        (r#""a":"bf16:row""#, r#""a":7"#, "invalid type"),
        (
            r#""mainloop""#,
            r#""emulation":"none","mainloop""#,
            "unknown field `emulation`: the field `multiplied` of an operand",
        ),
    ] {
        assert!(text.contains(from), "{text}");
        let said = GemmDesc::from_json(&text.replacen(from, to, 1)).map(drop).message();
        assert!(said.contains(says), "{said}");
    }
}
