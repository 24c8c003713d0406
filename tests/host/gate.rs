//! The gate: 500 products keep the bits that `tests/data/gate.jsonl` says. `tests/nvrtc/gate` keeps the kernels.

use crate::harness::{
    case::Buffers,
    descriptions::{Wanted, description},
    gate::{self, Line, RANDOM_CASES, digest, each},
    problems::{self, Guarded, guarded},
    same_bits::run,
    sample,
};
use falchion::{Error, desc::GemmDesc, internals::host::Mode};
use falchion_lab::verify::Fill;
use serde_json::json;

/// Products that a drawn problem may have, whole tiles counted.
const MOST_WORK: u64 = 1_000_000;

/// Every product of the record: a description and the seed of its problem.
fn products() -> Vec<Line> {
    let descriptions = RANDOM_CASES.into_iter().flat_map(|(family, first, _, count)| {
        let largest_tile = 2 * MOST_WORK as u32;
        (first..first + count)
            .map(move |seed| (seed, description(seed, Wanted { largest_tile, family, of_the_record: true, ..Wanted::default() })))
    });
    descriptions.map(|(seed, d)| Line::new("product", &d).with(json!({ "seed": seed }))).collect()
}

/// D's buffer, guard zones included, after a product in the fast mode.
fn product(desc: &GemmDesc, guarded: &Guarded, seed: u64) -> Result<Vec<u8>, Error> {
    let d = run(desc, Mode::Fast, guarded, &Buffers::filled(desc, guarded, Fill::Random, seed)?)?;
    // A NaN may carry any payload.
    let mut bytes = d.bytes().to_vec();
    for (place, element) in bytes.chunks_exact_mut(d.kind().bytes_of(1) as usize).enumerate() {
        if d.get(place)?.is_nan() {
            element.fill(0xff);
        }
    }
    Ok(bytes)
}

/// The line, with the bits of its product.
fn multiplied(line: &Line) -> Line {
    let (desc, seed) = (line.desc("product"), line.number("seed"));
    let most_work = if desc.family.mainloop().cuda().is_none() { 6 * MOST_WORK } else { MOST_WORK };
    let guarded = guarded(seed, &desc, problems::Wanted { most_work, aligned: false });
    let bytes = product(&desc, &guarded, seed).unwrap_or_else(|error| panic!("{error}\n{}", line.text()));
    line.clone().with(json!({ "bits": digest([&bytes[..]]) }))
}

#[test]
fn products_have_the_records_bits() {
    let record = if gate::writes() { products() } else { sample(gate::read("product")) };
    gate::hold("product", &each(&record, multiplied), &record);
}

/// The gate can fail: a product of another seed has other bits.
#[test]
fn what_changes_is_seen() {
    let line = &gate::read("product")[0];
    assert_eq!(multiplied(line).text(), line.text());
    let other = line.clone().with(json!({ "seed": line.number("seed") + 1 }));
    assert_ne!(multiplied(&other).text(), line.clone().with(json!({ "seed": line.number("seed") + 1 })).text());
}
