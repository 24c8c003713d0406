//! The list of generated files.

use super::{PALETTES, hierarchy, overview, overview::bench_command, results, speed, with_table};
use crate::bench::{page::page, record::read_lines, transpose};

/// Every generated file: its path in the repository, and its text. `read` returns the text of a
/// committed file.
///
/// # Errors
/// The errors of `read`, and a line that is not a record, as text.
pub fn files(
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<Vec<(String, String)>, String> {
    let path = |suite: &str, extension| format!("docs/performance/{suite}.{extension}");
    let results = results(|suite| read(&path(suite, "jsonl")))?;
    let mut files = vec![("docs/performance/README.md".to_owned(), overview(&results))];
    for result in &results {
        let name = result.suite.name;
        files.push((path(name, "md"), page(name, &bench_command(name), &result.lines)));
    }
    let name = "transpose";
    let lines = read(&path(name, "jsonl"))?;
    let lines = read_lines(&lines).map_err(|error| format!("{name}: {error}"))?;
    files.push((path(name, "md"), transpose::page::page(name, &bench_command(name), &lines)));
    for palette in &PALETTES {
        let picture = |name: &str| format!("docs/pictures/{name}-{}.svg", palette.name);
        files.push((picture("speed"), speed(&results, palette)));
        files.push((picture("hierarchy"), hierarchy(palette)));
    }
    files.push(("README.md".to_owned(), with_table(&read("README.md")?, &results)?));
    Ok(files)
}
