//! Failures of a command, and their exit codes.

use crate::print;
use falchion::{Error, Refusal};
use std::{io::IsTerminal, process::ExitCode};

/// The reason for a failure, as one sentence.
#[derive(Debug)]
pub enum Failure {
    /// The result exceeds its error bound: exit code 1.
    Unverified(String),
    /// The command computed nothing, or could not write the output: exit code 2.
    Refused(String),
}

impl Failure {
    /// A refusal.
    pub fn refused(sentence: impl Into<String>) -> Self {
        Self::Refused(sentence.into())
    }

    /// Prints the sentence on stderr, and returns the exit code. With `--json`, prints an object on
    /// stdout if stdout has no output yet.
    pub fn report(self, json: bool) -> ExitCode {
        let (code, what, sentence) = match self {
            Self::Unverified(sentence) => (1, "unverified", sentence),
            Self::Refused(sentence) => (2, "refused", sentence),
        };
        // A compiler log and an error with a caret need their line breaks.
        let sentence = if sentence.contains('\n') { sentence } else { one_line(&sentence) };
        let sentence = print::visible(&sentence);
        if json && print::nothing() {
            print::line(&serde_json::json!({ what: sentence }).to_string());
        }
        print::error(&format!("{} {sentence}", print::bad("falchion:")));
        ExitCode::from(code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // A compiler log needs its line breaks.
            Error::Compile { .. } => Self::Refused(error.to_string()),
            other => Self::Refused(one_line(&other.with_flags())),
        }
    }
}

impl From<falchion_lab::Error> for Failure {
    fn from(error: falchion_lab::Error) -> Self {
        match error {
            falchion_lab::Error::Falchion(error) => error.into(),
            other => Self::Refused(one_line(&other.to_string())),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Error::from(refusal).into()
    }
}

/// Maximum number of characters of a sentence. A longer sentence loses its middle.
const LONGEST: usize = 1000;

/// Replaces runs of white space by single spaces. Cuts the middle out of a long text.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = line.chars().count();
    if letters <= LONGEST {
        return line;
    }
    let (first, last): (String, String) =
        (line.chars().take(600).collect(), line.chars().skip(letters - 200).collect());
    format!("{first} [.. {} letters ..] {last}", letters - 800)
}

/// Handles clap's messages. Help and version are text on stdout. A mistake is one sentence, with
/// exit code 2.
pub fn usage(error: &clap::Error) -> Result<(), Failure> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        let coloured = print::coloured(std::io::stdout().is_terminal());
        let text = if coloured { error.render().ansi().to_string() } else { text };
        print::line(text.trim_end());
        return Ok(());
    }
    let said = text
        .split("\n\nUsage:")
        .next()
        .unwrap_or_default()
        .split("\n\nFor more information")
        .next()
        .unwrap_or_default();
    let parts: Vec<String> =
        said.split("\n\n").map(one_line).filter(|part| !part.is_empty()).collect();
    let sentence = parts.join("; ");
    Err(Failure::refused(sentence.strip_prefix("error: ").unwrap_or(&sentence)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_their_exit_codes() {
        let code = |failure: Failure| format!("{:?}", failure.report(false));
        assert_eq!(code(Failure::Unverified("off".into())), format!("{:?}", ExitCode::from(1)));
        assert_eq!(code(Failure::refused("no")), format!("{:?}", ExitCode::from(2)));
    }

    #[test]
    fn compiler_logs_keep_their_lines_and_other_errors_have_one() {
        let said = |error: falchion_lab::Error| match Failure::from(error) {
            Failure::Refused(sentence) | Failure::Unverified(sentence) => sentence,
        };
        assert_eq!(
            said(falchion_lab::Error::Measurement { because: "one\n  two".into() }),
            "the measurement failed: one two"
        );
        let compile = Error::Compile { log: "a\nb".into(), node: None, transform: None };
        assert!(said(compile.into()).ends_with("a\nb"));
    }
}
