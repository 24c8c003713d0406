//! Writes the generated parts of the documentation from `docs/performance/*.jsonl`: the page of
//! every suite, the overview, the README's speed table, and the README's pictures.
//!
//! `cargo run --release -p falchion-lab --example pages`

use falchion_lab::{
    bench::{
        page::page,
        transpose::{self, TransposeLine},
    },
    pages,
};
use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let performance = root.join("docs/performance");
    let results = pages::results(|suite| {
        let path = performance.join(suite).with_extension("jsonl");
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    })?;
    for result in &results {
        let name = result.suite.name;
        let text = page(name, &pages::bench_command(name), &result.lines);
        fs::write(performance.join(name).with_extension("md"), text)?;
    }
    let lines = fs::read_to_string(performance.join("transpose.jsonl"))?;
    let lines: Vec<TransposeLine> =
        lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let text = transpose::page::page("transpose", &pages::bench_command("transpose"), &lines);
    fs::write(performance.join("transpose.md"), text)?;
    fs::write(performance.join("README.md"), pages::overview(&results))?;
    for palette in &pages::PALETTES {
        let picture = |name: &str| root.join(format!("docs/pictures/{name}-{}.svg", palette.name));
        fs::write(picture("speed"), pages::speed(&results, palette))?;
        fs::write(picture("hierarchy"), pages::hierarchy(palette))?;
    }
    let readme = fs::read_to_string(root.join("README.md"))?;
    fs::write(root.join("README.md"), pages::with_table(&readme, &results)?)?;
    Ok(())
}
