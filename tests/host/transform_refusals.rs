//! Refusals of user transforms, and their texts in JSON and flags.

use crate::harness::{
    prelude::*,
    transforms::{Magnitude, Scaled, transform_words},
};

/// Returns the sentence of a request that is refused.
pub fn refused(units: (OpKind, ArchKind), ab: &str, knobs: &[(&str, &str)]) -> String {
    let d = if ab == "f64" { "f64:row" } else { "f32:row" };
    let types = [&format!("{ab}:row"), &format!("{ab}:row"), d];
    let request = Request { op: Some(units.0), arch: Some(units.1), ..request(types, knobs) };
    GemmOperation::from_request(&request).map(drop).message()
}

#[test]
fn transforms_of_other_types_are_refused() {
    let of_f32 = transform_words::<Magnitude<f32, f32>>();
    let to_bf16 = transform_words::<Magnitude<f32, Bf16>>();
    let to_f16 = transform_words::<Magnitude<f32, F16>>();
    let wider = transform_words::<Magnitude<Bf16, Tf32>>();
    type Row<'a> = (WarpMmaKind, &'a str, &'a [(&'a str, &'a str)], &'a str);
    let rows: &[Row<'_>] = &[
        (
            WarpMmaKind::Simt,
            "f16",
            &[("transform_a", &*of_f32)],
            "is not supported by f16 (the transform has another stored type)",
        ),
        (
            WarpMmaKind::MmaSync,
            "bf16",
            &[("transform_b", &*to_bf16)],
            "is not supported by bf16 (the transform has another stored type)",
        ),
        (
            WarpMmaKind::Simt,
            "f32",
            &[("transform_a", &*to_bf16)],
            "is not supported by SIMT kernels (they multiply transformed elements as f32",
        ),
        (WarpMmaKind::Simt, "f64", &[("transform_a", &*of_f32)], "is not supported by f64"),
        (
            WarpMmaKind::MmaSync,
            "f32",
            &[("transform_a", &*of_f32), ("transform_b", &*of_f32)],
            "is not supported by mma.sync kernels (they transform f32, tf32, f16, and bf16",
        ),
        (
            WarpMmaKind::MmaSync,
            "bf16",
            &[("transform_a", &*wider)],
            "is not supported by mma.sync kernels",
        ),
        (
            WarpMmaKind::MmaSync,
            "f32",
            &[("transform_a", &*to_bf16), ("transform_b", &*to_f16)],
            "multiplied type of A = bf16 differs from f16",
        ),
        (
            WarpMmaKind::MmaSync,
            "f32",
            &[("transform_b", &*to_bf16)],
            "multiplied type of A = tf32 differs from bf16",
        ),
    ];
    for &(mma, ab, knobs, says) in rows {
        let said = refused((op_of(mma), ArchKind::Sm80), ab, knobs);
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn an_identifier_depends_on_name_types_and_text() {
    let ids = [
        TransformId::new::<Scaled<f32, Bf16>>(),
        TransformId::new::<Scaled<f32, F16>>(),
        TransformId::new::<Scaled<Bf16, Bf16>>(),
        TransformId::new::<Magnitude<f32, Bf16>>(),
    ];
    let hashes: HashSet<_> = ids.iter().map(|id| id.hash).collect();
    assert_eq!(hashes.len(), ids.len());
    for id in ids {
        let mut pins = Pins::NONE;
        pins.set("transform_a", &id.to_string()).expect("its own text");
        assert_eq!(pins.transform_a, Some(id));
    }
    for text in [
        "",
        "transform_",
        "transform_12:f32:f32",
        "transform_00000000000000aa",
        "transform_00000000000000aa:f32",
        "transform_00000000000000aa:f32:f33",
        "transform_00000000000000aa:f32:f32:f32",
        "transform_+0000000000000aa:f32:f32",
    ] {
        let said = Pins::NONE.clone().set("transform_a", text).message();
        assert!(said.contains("identifier of a transform"), "{text}: {said}");
    }
}
