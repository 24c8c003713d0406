//! Output of `falchion transpose`.

use crate::{
    args::TransposeArgs,
    failure::Failure,
    gemm::{at, layout_rows},
    output, print,
};
use falchion::{
    internals::operand::{Problem, transpose::Choice},
    numeric::ElementKind,
};
use falchion_lab::{
    explain::{TransposeExplanation, explain_transpose},
    owned::HostProduct,
    verify::Verdict,
};
use serde_json::{Value, json};

/// A computed transpose.
pub struct Report<'r> {
    /// The matrices and the problem.
    pub transpose: &'r HostProduct,
    /// The selection of the kernel.
    pub choice: Choice,
    /// `host` or `cuda`.
    pub on: &'static str,
    /// Seconds of the computation.
    pub seconds: f64,
    /// The result of verification, if requested.
    pub verdict: Option<&'r Verdict>,
}

impl Report<'_> {
    /// Prints the report as one object or as text.
    pub fn print(&self, args: &TransposeArgs, json: bool) -> Result<(), Failure> {
        let &Self { transpose, choice, on, seconds, verdict } = self;
        let (problem, kind) = (transpose.problem(), transpose.d.kind());
        let desc = choice.desc(kind, &problem);
        let Problem { m: columns, n: rows, batch, .. } = problem;
        let explanation = || explain_transpose(&choice, kind, &problem);
        let explanation = args.explain.then(explanation).transpose()?;
        // `None` if the clock measured no time.
        let rate = (seconds > 0.0).then(|| problem.transpose_bytes(kind) / seconds / 1e9);
        if json {
            let mut object = json!({
                "on": on, "rows": rows, "cols": columns, "batch": batch, "type": kind.name(),
                "seconds": seconds, "gbytes_per_second": rate,
                "verified": verdict.map(Verdict::is_right),
                "elements_checked": verdict.map(|verdict| verdict.elements_checked),
                "error_over_bound": verdict.map(|verdict| verdict.error_over_bound),
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
        let batch = if batch == 1 { String::new() } else { format!("{batch} times ") };
        print::line(&format!(
            "{batch}{rows} x {columns} {kind} transposed: {}",
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
pub fn require_verified(verdict: &Verdict) -> Result<(), Failure> {
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
    kind: ElementKind,
    problem: &Problem,
    json: bool,
) -> Result<(), Failure> {
    let explanation = explain_transpose(&choice, kind, problem)?;
    if json {
        let desc = choice.desc(kind, problem);
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
    use falchion::{Error, layout::Order};
    use falchion_check::Mode;

    #[test]
    fn wrong_transposes_fail_verification() {
        let (kind, problem) = (ElementKind::I32, Problem::packed_transpose(5, 4));
        let desc = Choice::Auto.desc(kind, &problem);
        let mut transpose = HostProduct::poisoned_transpose(kind, &desc, &problem).unwrap();
        transpose.draw_transpose(1).unwrap();
        transpose.run_transpose(&desc, Mode::Fast).unwrap();
        assert!(require_verified(&transpose.verify_transpose().unwrap()).is_ok());
        transpose.d.try_fill(Order::Row, |_, _| Ok::<_, Error>(77.0)).unwrap();
        let Err(Failure::Unverified(sentence)) =
            require_verified(&transpose.verify_transpose().unwrap())
        else {
            panic!("no random element is 77")
        };
        assert!(
            sentence.starts_with("the verification failed: 20 of 20 elements are wrong"),
            "{sentence}"
        );
    }
}
