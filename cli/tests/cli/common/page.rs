//! Commands of a documentation page, and their printed output.

use super::falchion;

/// A command of a page without `falchion`, and its output lines.
pub type Printed = (Vec<String>, Vec<&'static str>);

/// Words of a command line, without single quotes.
pub fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Commands in the console blocks of a page, with their output lines.
pub fn commands(page: &'static str) -> Vec<Printed> {
    let blocks = page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut commands: Vec<Printed> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match line.strip_prefix("$ falchion ") {
            Some(command) => commands.push((words(command), Vec::new())),
            None => commands.last_mut().unwrap().1.push(line),
        }
    }
    commands
}

/// Runs a command of a page, which must print the lines of the page and nothing else. Refusals are
/// on stderr. In the page, … matches any text, such as a time.
pub fn prints_its_lines((args, expected): &Printed) {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = falchion(&args);
    let refused = expected[0].starts_with("falchion: ");
    let (said, silent) =
        if refused { (&output.stderr, &output.stdout) } else { (&output.stdout, &output.stderr) };
    let said = String::from_utf8_lossy(said).into_owned();
    assert_eq!(said.lines().count(), expected.len(), "{args:?}: {said}");
    for (line, wanted) in said.lines().zip(expected) {
        let matches = match wanted.split_once('…') {
            Some((start, end)) => line.starts_with(start) && line.ends_with(end),
            None => line == *wanted,
        };
        assert!(matches, "{args:?}: {line}, not {wanted}");
    }
    assert!(silent.is_empty(), "{args:?}");
    assert_eq!(output.status.code(), Some(if refused { 2 } else { 0 }), "{args:?}");
}
