//! Suites of transposes: JSON lines with one problem each.
//!
//! ```text
//! {"op":"transpose","rows":8192,"columns":8192,"type":"f32"}
//! ```
//!
//! A suite has one kind of problem. Its first line determines whether it has transposes or GEMMs.

use crate::ladder::TransposeRung;
use crate::{Error, bench::suite::parse_lines};
use falchion::{
    internals::operand::{
        Elements, Problem, View,
        transpose::{Choice, Combine, TransposeDesc},
    },
    numeric::ElementKind,
};
use serde::{Deserialize, Serialize};

/// The operation of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A transpose.
    Transpose,
}

/// One transpose of a row-major `rows` x `columns` matrix A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteTranspose {
    /// `transpose`. A [`Line`](crate::bench::Line) has its own `op`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Operation>,
    /// Rows of A.
    pub rows: usize,
    /// Columns of A.
    pub columns: usize,
    /// Name of the element type.
    #[serde(rename = "type")]
    pub element: String,
    /// A's leading dimension, in elements. If absent, `columns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lda: Option<usize>,
    /// Leading dimension of C and D. If absent, `rows`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ldd: Option<usize>,
    /// Factor of A's transpose. If absent, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Factor of C. If absent, there is no C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// A rung of the ladder that replaces the resolver's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<TransposeRung>,
    /// A description that replaces the resolver's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desc: Option<TransposeDesc>,
    /// Seed of the random elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl SuiteTranspose {
    /// Returns `D = Aᵀ` of packed matrices with the resolver's choice.
    pub fn new((rows, columns): (usize, usize), kind: ElementKind) -> Self {
        Self {
            op: Some(Operation::Transpose),
            rows,
            columns,
            element: kind.name().to_owned(),
            lda: None,
            ldd: None,
            alpha: None,
            beta: None,
            rung: None,
            desc: None,
            seed: None,
        }
    }

    /// Returns the element type.
    ///
    /// # Errors
    /// A sentence if the name is unknown.
    pub fn kind(&self) -> Result<ElementKind, String> {
        self.element.parse::<ElementKind>().map_err(|because| format!("`type` {because}"))
    }

    /// Returns the selection of the kernel.
    pub fn choice(&self) -> Choice {
        match (self.desc, self.rung) {
            (Some(desc), _) => Choice::Desc(desc),
            // An unknown type has been refused before.
            (None, Some(rung)) => rung.choice(self.kind().map_or(1, |kind| kind.bytes_of(1))),
            (None, None) => Choice::Auto,
        }
    }

    /// Returns the scalars alpha and beta.
    pub fn scalars(&self) -> [f64; 2] {
        [self.alpha.unwrap_or(1.0), self.beta.unwrap_or(0.0)]
    }

    /// Returns the problem, whose matrices have separate memory.
    pub fn problem(&self) -> Problem {
        let leading = [self.lda, self.ldd, self.ldd];
        let problem = Problem::transpose((self.rows, self.columns), 1, leading, self.scalars());
        let own = |view: View<Elements>| Elements::new(view.batch_stride);
        problem.with_transposed(own(problem.a), problem.c.map(own), own(problem.d))
    }

    /// Checks the line. An error is a sentence.
    fn check(&self) -> Result<(), String> {
        let kind = self.kind()?;
        if self.op.is_none() {
            return Err("`op` is missing; a suite of transposes has `transpose`".to_owned());
        }
        if self.rows == 0 || self.columns == 0 {
            return Err("an extent is 0; nothing would be measured".to_owned());
        }
        let problem = self.problem();
        let combine = Combine::for_scalars(kind, &problem.scalars);
        if self.scalars() != [1.0, 0.0] && combine == Combine::Move {
            return Err(format!("`alpha` and `beta` need f32 or f64, but `type` is {kind}"));
        }
        if self.desc.is_some() && self.rung.is_some() {
            return Err("`desc` and `rung` both select the kernel".to_owned());
        }
        let desc = self.choice().desc(kind, &problem);
        let entered = desc.check().and_then(|()| desc.enter(problem));
        entered.map(drop).map_err(|refusal| refusal.to_string())
    }
}

/// Returns whether a suite contains transposes.
#[must_use]
pub fn is_of_transposes(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let value = first.and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    value.is_some_and(|value| value.get("op").and_then(|op| op.as_str()) == Some("transpose"))
}

/// Parses a suite. Blank lines are skipped. `name` is for error messages.
///
/// # Errors
/// [`Error::Suite`] with the line number if a line is not a transpose, or if there are no
/// transposes.
pub fn parse(name: &str, text: &str) -> Result<Vec<SuiteTranspose>, Error> {
    parse_lines(name, text, SuiteTranspose::check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::internals::operand::Source;

    #[test]
    fn suites_of_transposes_are_recognized() {
        assert!(is_of_transposes("\n{\"op\":\"transpose\",\"rows\":1}"));
        for text in ["", "not json", "{\"op\":\"simt\",\"m\":1}", "{\"m\":1}"] {
            assert!(!is_of_transposes(text), "{text}");
        }
    }

    #[test]
    fn a_line_reads_back_and_counts_its_bytes() {
        let line = r#"{"op":"transpose","rows":30,"columns":20,"type":"f64","lda":21,"beta":0.5,"rung":"padded"}"#;
        let suite = parse("test", line).unwrap().remove(0);
        assert_eq!(serde_json::to_string(&suite).unwrap(), line);
        let problem = suite.problem();
        assert_eq!(problem.transpose_bytes(ElementKind::F64), 3.0 * 600.0 * 8.0);
        assert_eq!(
            (
                problem.a.strides,
                problem.a.memory.length,
                problem.d.strides,
                problem.d.memory.length
            ),
            ([1, 21], 630, [30, 1], 600)
        );
        assert_eq!(problem.c, Source::Matrix(problem.d));
    }

    #[test]
    fn invalid_lines_are_refused() {
        for (line, part) in [
            (r#"{"op":"transpose","rows":0,"columns":2,"type":"f32"}"#, "an extent is 0"),
            (r#"{"op":"transpose","rows":2,"columns":2,"type":"f33"}"#, "`type`"),
            (
                r#"{"op":"transpose","rows":2,"columns":2,"type":"i8","alpha":2.0}"#,
                "f32 or f64, but `type` is i8",
            ),
            (
                r#"{"op":"transpose","rows":2,"columns":2,"type":"i8","lda":1}"#,
                "leading dimension of A = 1",
            ),
            (
                r#"{"op":"transpose","rows":2,"columns":2,"type":"i8","ldb":1}"#,
                "unknown field `ldb`",
            ),
            (r#"{"rows":2,"columns":2,"type":"i8"}"#, "`op` is missing"),
            (
                r#"{"op":"transpose","rows":2,"columns":2,"type":"i8","rung":"top"}"#,
                "unknown variant `top`",
            ),
        ] {
            let text = parse("test", line).unwrap_err().to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
