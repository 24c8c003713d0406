//! The record: one JSON object a line, in `tests/data/gate.jsonl`.

use super::descriptions::Family;
use falchion::desc::GemmDesc;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Where the record stands.
fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", "gate.jsonl"].iter().collect()
}

/// What is asked of a line: which description, and what a run needs beside it.
#[derive(Clone, Debug)]
pub struct Line {
    fields: Map<String, Value>,
}

impl Line {
    /// A line of a kind, `kernel` or `product`, of a description, which stands under the kind's name in JSON.
    pub fn new(kind: &str, desc: &GemmDesc) -> Self {
        let desc: Value = serde_json::from_str(&desc.to_json().expect("a description has a text")).expect("it is JSON");
        Self { fields: Map::from_iter([(kind.to_owned(), desc)]) }
    }

    /// Whether the line is of this kind.
    pub fn is(&self, kind: &str) -> bool {
        self.fields.contains_key(kind)
    }

    /// The line's description.
    pub fn desc(&self, kind: &str) -> GemmDesc {
        let text = self.fields[kind].to_string();
        GemmDesc::from_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// A field that holds a whole number.
    pub fn number(&self, field: &str) -> u64 {
        self.fields[field].as_u64().unwrap_or_else(|| panic!("`{field}` of {} is no number", self.text()))
    }

    /// The line with other values in the fields of an object.
    pub fn with(mut self, values: Value) -> Self {
        let Value::Object(values) = values else { panic!("{values} is no object") };
        self.fields.extend(values);
        self
    }

    /// The line as it stands in the record.
    pub fn text(&self) -> String {
        Value::Object(self.fields.clone()).to_string()
    }

    fn parse(text: &str) -> Self {
        Self { fields: serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")) }
    }
}

/// The lines of a kind.
pub fn read(kind: &str) -> Vec<Line> {
    let text = std::fs::read_to_string(path()).expect("tests/data/gate.jsonl");
    text.lines().map(Line::parse).filter(|line| line.is(kind)).collect()
}

/// Replaces the lines of a kind by others.
pub fn write(kind: &str, lines: &[Line]) {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    let kept = text.lines().map(Line::parse).filter(|line| !line.is(kind)).map(|line| line.text());
    let text: String = kept.chain(lines.iter().map(Line::text)).map(|line| line + "\n").collect();
    std::fs::write(path(), text).expect("tests/data/gate.jsonl");
}

/// Whether the record is to be written anew: `FALCHION_GATE=write`.
pub fn writes() -> bool {
    std::env::var("FALCHION_GATE").is_ok_and(|word| word == "write")
}

/// 128 bits of SHA-256, as hexadecimal digits.
pub fn digest<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Value {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update((piece.len() as u64).to_le_bytes());
        hash.update(piece);
    }
    json!(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// Compares lines with what came anew, or writes them; panics with the first few that differ.
pub fn hold(kind: &str, anew: &[Line], record: &[Line]) {
    if writes() {
        return write(kind, anew);
    }
    let differ: Vec<_> = anew.iter().zip(record).filter(|(anew, record)| anew.text() != record.text()).collect();
    let first: Vec<_> =
        differ.iter().take(5).map(|(anew, record)| format!("now    {}\nrecord {}", anew.text(), record.text())).collect();
    println!("{} lines of kind `{kind}` held, {} differ", anew.len(), differ.len());
    assert_eq!(anew.len(), record.len());
    assert!(!anew.is_empty(), "nothing was held");
    assert!(differ.is_empty(), "{} of {} differ, among them\n{}", differ.len(), anew.len(), first.join("\n"));
}

/// Drawn descriptions: a family, the first seed, how many are compiled and how many are run on the host.
pub const RANDOM_CASES: [(Family, u64, u64, u64); 3] =
    [(Family::Simt, 61_000, 150, 250), (Family::WarpSpecialized, 62_000, 110, 170), (Family::Threads, 63_000, 40, 80)];

/// Does something to every line, on all cores.
pub fn each(lines: &[Line], anew: impl Fn(&Line) -> Line + Sync) -> Vec<Line> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(index) else { break };
                    let line = anew(line);
                    done.lock().expect("no panic").push((index, line));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no panic");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, line)| line).collect()
}
