//! Results of single instructions on an H200 with an accumulator of 0, from
//! `tests/data/h200_steps.jsonl`. Each line holds a row of A, a column of B, and an element of D as
//! `f32` bits.

use falchion::numeric::ElementKind;

/// Line of the record.
pub struct Recorded {
    pub kind: ElementKind,
    pub a: Vec<f32>,
    pub b: Vec<f32>,
    pub d: f32,
}

/// Returns all lines.
pub fn recorded() -> Vec<Recorded> {
    let number = |hex: &serde_json::Value| {
        f32::from_bits(u32::from_str_radix(hex.as_str().expect("bits"), 16).expect("hex"))
    };
    let read = |line: &str| {
        let step: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let numbers =
            |name: &str| step[name].as_array().expect("numbers").iter().map(number).collect();
        let kind = ElementKind::from_name(step["type"].as_str().expect("a type")).expect("a type");
        Recorded { kind, a: numbers("a"), b: numbers("b"), d: number(&step["d"]) }
    };
    include_str!("../data/h200_steps.jsonl").lines().map(read).collect()
}
