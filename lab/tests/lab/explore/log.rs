//! The log of trials: a truncated log continues, and the log of another run is refused.

use super::{
    base,
    fake::Fake,
    trials::{SIZE, explored, fate, plan},
};
use falchion_lab::explore::{
    log::Log,
    record::{Circumstances, Entry, Header},
};
use std::{fs, path::Path};

fn header() -> Header {
    let circumstances = Circumstances {
        reference: "cublaslt".to_owned(),
        device: "NVIDIA H200 µ".to_owned(),
        driver: "13.0".to_owned(),
        commit: "abc".to_owned(),
    };
    Header::new(&base("f32:row", "f32:row", "f32:row"), &[SIZE], circumstances)
}

/// Writes a log of a small exploration, and returns its entries and its text.
fn written(path: &Path) -> (Vec<Entry>, Vec<u8>) {
    let (entries, _) = explored(&Fake::new(fate), &plan(6), Vec::new()).unwrap();
    let (mut log, none) = Log::open(path, &header()).unwrap();
    assert!(none.is_empty());
    entries.iter().for_each(|entry| log.keep(entry).unwrap());
    drop(log);
    (entries, fs::read(path).unwrap())
}

#[test]
fn a_log_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let (entries, text) = written(&path);
    let (_, read) = Log::open(&path, &header()).unwrap();
    assert_eq!(read, entries);
    assert_eq!(fs::read(&path).unwrap(), text);
    assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), entries.len() + 1);
    let lines: Vec<serde_json::Value> =
        text.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(lines[0]["format"], "falchion explore 1");
    for line in lines.iter().filter(|line| line["kind"] == "trial") {
        assert!(
            ["compile_failed", "spilled", "wrong", "timed"]
                .contains(&line["outcome"].as_str().unwrap())
        );
        let description =
            falchion::nest::GemmDesc::from_json(&line["description"].to_string()).unwrap();
        assert!(description.check().is_ok() && line["size"]["m"] == 512);
    }
}

/// For every byte: a log truncated there contains the trials of its complete lines, unchanged. A
/// run continues and reaches the same set, with each trial once. The file is then a log of all
/// trials with complete lines only.
#[test]
fn a_log_truncated_at_any_byte_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let (entries, text) = written(&path);
    let plan = plan(6);
    for cut in 0..=text.len() {
        fs::write(&path, &text[..cut]).unwrap();
        let whole = text[..cut].iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1);
        let (mut log, read) =
            Log::open(&path, &header()).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(read, entries[..whole], "cut at {cut}");
        assert!(fs::read(&path).unwrap().ends_with(b"\n"), "cut at {cut}");
        let (added, all) = explored(&Fake::new(fate), &plan, read).unwrap();
        added.iter().for_each(|entry| log.keep(entry).unwrap());
        drop(log);
        assert_eq!(all.len(), entries.len(), "cut at {cut}");
        for desc in &plan.candidates {
            let tried = all
                .iter()
                .filter(|entry| matches!(entry, Entry::Trial(trial) if trial.description == *desc))
                .count();
            assert_eq!(tried, 1, "cut at {cut}");
        }
        let (_, again) = Log::open(&path, &header()).unwrap();
        assert_eq!(again, all, "cut at {cut}");
    }
}

fn refused(path: &Path, header: &Header) -> String {
    Log::open(path, header).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_log_of_other_trials_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let (_, text) = written(&path);
    let ours = header();
    for (other, part) in [
        (
            Header { commit: "def".into(), ..ours.clone() },
            "its commit is \"abc\", and this run's is \"def\"",
        ),
        (Header { device: "NVIDIA H100".into(), ..ours.clone() }, "its device is"),
        (Header { driver: "12.8".into(), ..ours.clone() }, "its driver is"),
        (Header { reference: "the default kernel".into(), ..ours.clone() }, "its reference is"),
        (
            Header { a: "f32:col".into(), ..ours.clone() },
            "its a is \"f32:row\", and this run's is \"f32:col\"",
        ),
        (Header { sizes: vec![SIZE, SIZE], ..ours.clone() }, "its sizes is"),
        (Header { arch: "sm90".into(), ..ours.clone() }, "its arch is"),
    ] {
        let sentence = refused(&path, &other);
        assert!(
            sentence.contains("is the log of other trials") && sentence.contains(part),
            "{sentence}"
        );
        assert_eq!(sentence.lines().count(), 1);
    }
    assert_eq!(fs::read(&path).unwrap(), text);
    let broken = |text: &str| {
        fs::write(&path, text).unwrap();
        let sentence = refused(&path, &ours);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "a refused log does not change");
        sentence
    };
    let whole = String::from_utf8(text).unwrap();
    for (text, part) in [
        ("another text file".to_owned(), "does not begin like a log of `falchion explore 1`"),
        ("{\"format\":\"falchion explore 2\"}\n".to_owned(), "does not begin like a log"),
        ("{\"m\":4096}\n".to_owned(), "does not begin like a log"),
        (whole.replacen("\"acc\"", "\"bcc\"", 1), "its acc is null"),
        (whole.replacen(",\"acc\"", "\"acc\"", 1), "whose first line cannot be read"),
        (
            whole.replacen("\"kind\":\"trial\"", "\"kind\":\"tryal\"", 1),
            "an invalid trial in line 2: unknown variant `tryal`",
        ),
        (format!("{whole}\n"), "an invalid trial in line"),
        (
            whole.replacen("\"version\":", "\"version\":1", 1),
            "an invalid trial in line 2: the description cannot be read: its field `version` is 1",
        ),
    ] {
        let sentence = broken(&text);
        assert!(sentence.contains(part), "{sentence}");
    }
    fs::write(&path, [whole.as_bytes(), b"\xff\xfe\n"].concat()).unwrap();
    assert!(refused(&path, &ours).contains("lines that are not UTF-8"));
}

#[test]
fn invalid_logs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path(), &header()).contains("is not a regular file"));
    assert!(
        refused(&folder.path().join("no/log.jsonl"), &header())
            .contains("No such file or directory")
    );
    let path = folder.path().join("log.jsonl");
    let open = Log::open(&path, &header()).unwrap();
    assert!(refused(&path, &header()).contains("is being written by another run"));
    drop(open);
    assert!(Log::open(&path, &header()).is_ok());
}
