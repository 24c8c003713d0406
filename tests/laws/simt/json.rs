//! Descriptions of SIMT kernels in JSON.

use crate::harness::{prelude::*, random_cases};

fn refused(text: &str) -> String {
    GemmDesc::from_json(text).message()
}

#[test]
fn another_version_an_unknown_field_and_a_missing_one_are_refused() {
    let desc = random_cases::ring([Order::Row; 3]);
    let text = desc.to_json().expect("an expression");
    assert!(
        text.contains("\"version\":5") && text.contains("\"epilogue\":\"alpha * acc + beta * c\""),
        "{text}"
    );
    let says = |from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let said = refused(&text.replacen(from, to, 1));
        assert!(said.contains(part), "{said}");
    };
    says("\"version\":5", "\"version\":3", "`version` is 3, and only version 5 is supported");
    says("\"version\":5", "\"version\":\"1\"", "`version` is \"1\"");
    says("\"version\":5", "\"other\":5", "it has no field `version`");
    says("\"align_a\"", "\"steps\"", "steps cannot be `4`: there is no knob of this name");
    says("\"align_a\":4,", "", "missing field `align_a`");
    says("\"align_a\":4", "\"align_a\":4,\"align_a\":4", "duplicate field `align_a`");
    says("\"align_a\":4", "\"align_a\":4,\"cluster\":\"1x1\"", "unknown field `cluster`");
    says("\"align_a\":4", "\"align_a\":4,\"epilogue\":\"acc\"", "unknown field `epilogue`");
    says("\"arch\":\"sm80\"", "\"arch\":\"sm80\",\"arch\":\"sm80\"", "duplicate field `arch`");
    says("\"arch\":\"sm80\"", "\"arch\":\"sm80\",\"depth\":1", "unknown field `depth`");
    says("\"mma\":{\"simt\"", "\"mma\":{\"sycl\"", "unknown variant `sycl`");
    let one_mma = "expected the knobs of one MMA by its name";
    says("\"mma\":{\"simt\"", "\"mma\":{\"simt\":{},\"simt\"", one_mma);
    says(&text[text.find("\"mma\"").expect("a field")..], "\"mma\":{}}", one_mma);
    says(
        "\"threadblock\":\"128x128x16\"",
        "\"threadblock\":\"128x128\"",
        "threadblock cannot be `128x128`",
    );
    says("\"align_a\":4", "\"align_a\":-4", "align_a cannot be `-4`");
    says("\"align_a\":4", "\"align_a\":4294967296", "align_a cannot be `4294967296`");
    says("\"align_a\":4", "\"align_a\":[4]", "the value must be a text or a number");
    says("\"a\":\"f32:row\"", "\"a\":\"f32\"", "is not of the form");
    says("\"arch\":\"sm80\"", "\"arch\":\"sm81\"", "unknown variant `sm81`");
    says("alpha * acc", "alpha * accu", "`accu` is not known");
    assert!(refused("[]").contains("it is not an object"));
    assert!(refused("{").contains("EOF"));
}

#[test]
fn every_knob_is_a_field_and_every_field_is_in_the_text() {
    let desc = random_cases::ring([Order::Row; 3]);
    let text = desc.to_json().expect("an expression");
    for (field, flag, meaning) in falchion::nest::Pins::TABLE {
        let knobs = desc.pins().words();
        let has = |at: usize| knobs[at].is_some();
        let there = has(Pins::TABLE.iter().position(|row| row.0 == *field).expect("a knob"));
        assert_eq!(text.contains(&format!("\"{field}\":")), there, "{text}: {field}");
        assert!(!meaning.is_empty());
        assert_eq!(*flag, format!("--{}", field.replace('_', "-")));
    }
}
