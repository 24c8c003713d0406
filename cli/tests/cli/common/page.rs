//! The commands of a page of the documentation, and what the page says that they print.

use super::falchion;

/// A command of a page, without `falchion`, and the lines below it.
pub type Printed = (Vec<String>, Vec<&'static str>);

/// The words of a command line, single quotes taken off.
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

/// The commands of a page's blocks of console, each with the lines that it prints.
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

/// Runs a command of a page, which has to print what the page says, on stderr where that is a
/// refusal, and nothing else. Times are a machine's own: what the page has as … may be anything.
pub fn prints_what_it_says((args, expected): &Printed) {
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
