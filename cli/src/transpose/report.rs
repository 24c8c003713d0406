//! Output of `falchion transpose`.

use crate::{
    args::TransposeArgs,
    failure::Failure,
    gemm::{at, layout_rows},
    output, print,
};
use falchion::{
    internals::pass::transpose::{Choice, Combine, TransposeDesc, TransposeProblem},
    numeric::ElementKind,
};
use falchion_lab::{
    explain::{TransposeExplanation, explain_transpose},
    owned::HostTranspose,
    verify::transpose::TransposeVerdict,
};
use serde_json::{Value, json};

/// A computed transpose.
pub struct Report<'r> {
    /// The matrices and the problem.
    pub transpose: &'r HostTranspose,
    /// `host` or `cuda`.
    pub on: &'static str,
    /// Seconds of the computation.
    pub seconds: f64,
    /// The result of verification, if requested.
    pub verdict: Option<&'r TransposeVerdict>,
}

impl Report<'_> {
    /// Prints the report as one object or as text.
    pub fn print(&self, args: &TransposeArgs, json: bool) -> Result<(), Failure> {
        let &Self { transpose, on, seconds, verdict } = self;
        let (problem, desc, kind) = (transpose.problem(), transpose.desc(), transpose.d.kind());
        let explanation = || {
            explain_transpose(&transpose.choice(), transpose.combine(), kind.bytes_of(1), problem)
        };
        let explanation = args.explain.then(explanation).transpose()?;
        // `None` if the clock measured no time.
        let rate = (seconds > 0.0).then(|| transpose.traffic_bytes() / seconds / 1e9);
        if json {
            let mut object = json!({
                "on": on, "rows": problem.rows, "cols": problem.columns, "batch": problem.batch, "type": kind.name(),
                "seconds": seconds, "gbytes_per_second": rate,
                "verified": verdict.map(TransposeVerdict::is_right),
                "elements_checked": verdict.map(|verdict| verdict.elements),
                "error_over_bound": verdict.and_then(|verdict| verdict.error_over_bound),
                "config": desc.to_string(),
                "description": require_json(serde_json::to_value(desc))?,
            });
            if let Some(explanation) = &explanation {
                object["explanation"] = require_json(serde_json::to_value(explanation))?;
            }
            print::line(&object.to_string());
            return Ok(());
        }
        if let Some(explanation) = &explanation {
            print_explanation(explanation);
            print::line("");
        }
        let batch =
            if problem.batch == 1 { String::new() } else { format!("{} times ", problem.batch) };
        print::line(&format!(
            "{batch}{} x {} {kind} transposed: {}",
            problem.rows,
            problem.columns,
            at(on, seconds, rate, "GB/s")
        ));
        if let Some(verdict) = verdict.filter(|verdict| verdict.is_right()) {
            print::line(&format!("{}: {verdict}", print::good("verified")));
        }
        if let Some(out) = &args.out {
            print::line(&format!("wrote D to {}", output::name(out)));
        }
        Ok(())
    }
}

/// Returns an error if the verification failed.
pub fn require_verified(verdict: &TransposeVerdict) -> Result<(), Failure> {
    if verdict.is_right() {
        Ok(())
    } else {
        Err(Failure::Unverified(format!("the verification failed: {verdict}")))
    }
}

fn require_json(value: serde_json::Result<Value>) -> Result<Value, Failure> {
    value
        .map_err(|error| Failure::refused(format!("the answer cannot be written as JSON: {error}")))
}

/// Prints the explanation without computing the transpose.
pub fn explanation(
    choice: Choice,
    combine: Combine,
    kind: ElementKind,
    problem: &TransposeProblem,
    json: bool,
) -> Result<(), Failure> {
    let explanation = explain_transpose(&choice, combine, kind.bytes_of(1), problem)?;
    if json {
        let desc: TransposeDesc = choice.desc(combine, kind.bytes_of(1), problem);
        print::line(&json!({ "description": require_json(serde_json::to_value(desc))?, "explanation": require_json(serde_json::to_value(&explanation))? }).to_string());
    } else {
        print_explanation(&explanation);
    }
    Ok(())
}

fn print_explanation(explanation: &TransposeExplanation) {
    print::line("chosen:");
    print::table(
        explanation.choices.iter().map(|choice| {
            vec![choice.what.to_owned(), choice.value.clone(), choice.because.clone()]
        }),
    );
    print::line("\nlayouts:");
    print::table(layout_rows(&explanation.layouts));
    print::line("\nschedule:");
    for line in &explanation.schedule {
        print::line(&format!(" {line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::{Error, internals::host::Mode, layout::Order};

    #[test]
    fn wrong_transposes_fail_verification() {
        let problem = TransposeProblem::packed(5, 4);
        let mut transpose =
            HostTranspose::poisoned(ElementKind::I32, Choice::Auto, &problem).unwrap();
        transpose.draw(1).unwrap();
        transpose.run(Mode::Fast).unwrap();
        assert!(require_verified(&transpose.verify().unwrap()).is_ok());
        transpose.d.try_fill(Order::Row, |_, _| Ok::<_, Error>(77.0)).unwrap();
        let Err(Failure::Unverified(sentence)) = require_verified(&transpose.verify().unwrap())
        else {
            panic!("no random element is 77")
        };
        assert!(
            sentence.starts_with("the verification failed: element (0, 0) of D 0 is "),
            "{sentence}"
        );
    }
}
