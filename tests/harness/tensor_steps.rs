//! What an H200 answered to one instruction whose accumulator was 0: `tests/data/h200_steps.jsonl`,
//! one lane's row of A, column of B and element of D a line, as `f32` bits.

use falchion::numeric::ElementKind;

/// A line.
pub struct Recorded {
    pub kind: ElementKind,
    pub a: Vec<f32>,
    pub b: Vec<f32>,
    pub d: f32,
}

/// Every line.
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
