//! Output of `falchion gemm`.

use super::explain::{Subject, description};
use crate::{args::GemmArgs, failure::Failure, output, print};
use falchion::{internals::operand::Routes, layout::MatrixType};
use falchion_lab::verify::Verdict;
use serde_json::json;

/// A computed GEMM.
pub struct Report<'r> {
    /// The kernel and the problem.
    pub subject: Subject<'r>,
    /// M, N, and K.
    pub extents: (usize, usize, usize),
    /// The arguments.
    pub args: &'r GemmArgs,
    /// `host` or `cuda`.
    pub on: &'static str,
    /// The routes of A and B to the kernel, on a device.
    pub routes: Option<Routes>,
    /// Seconds of the computation.
    pub seconds: f64,
    /// The result of verification, if requested.
    pub verdict: Option<Verdict>,
}

impl Report<'_> {
    /// Prints the report as one object or as text.
    pub fn print(&self, json: bool) -> Result<(), Failure> {
        let &Self { ref subject, extents: (m, n, k), args, on, routes, seconds, verdict } = self;
        let batch = args.outputs();
        let Subject { resolved, desc, .. } = *subject;
        // A batch has the work of one GEMM with `batch` times its K. K of groups is the sum.
        let (work, products) = (
            (
                m,
                n.saturating_mul(desc.epilogue.columns_per_output()),
                k.saturating_mul(if args.groups().is_some() { 1 } else { batch }),
            ),
            match args.groups() {
                Some((_, groups)) => format!("{} groups, in total ", groups.len()),
                None if batch == 1 => String::new(),
                None => format!("{batch} GEMMs, each "),
            },
        );
        if json {
            let mut object = json!({
                "on": on, "route": routes.map(|routes| routes.to_string()), "m": m, "n": n, "k": k, "batch": batch, "pointers": args.pointers, "group_rows": args.group_rows, "group_k": args.group_k, "seconds": seconds, "gflops": rate(work, seconds),
                "verified": verdict.map(|verdict| verdict.is_right()),
                "results_checked": verdict.map(|verdict| verdict.results_checked),
                "elements_checked": verdict.map(|verdict| verdict.elements_checked), "elements": m.saturating_mul(n).saturating_mul(batch),
                "error_over_bound": verdict.map(|verdict| verdict.error_over_bound),
                "description": description(desc)?,
            });
            if args.explain {
                object["explanation"] = subject.value()?;
            }
            print::line(&object.to_string());
            return Ok(());
        }
        if args.explain {
            subject.print()?;
            print::line("");
        }
        let types = desc.user_types();
        let [a, b, c] = [
            (types.a, resolved.orders.a),
            (types.b, resolved.orders.b),
            (types.c, resolved.orders.c),
        ]
        .map(|(element, order)| MatrixType { element, order });
        print::line(&format!(
            "{products}{m} x {n} x {k}, {a} times {b} into {c}: {}",
            speed(on, work, seconds)
        ));
        if let Some(routes) = routes.filter(|routes| routes.workspace_bytes() > 0) {
            print::line(&format!(
                "before the GEMM: {routes}, with a workspace of {} bytes",
                routes.workspace_bytes()
            ));
        }
        if let Some(verdict) = verdict.filter(Verdict::is_right) {
            print::line(&verified(verdict, (m, n.saturating_mul(batch))));
        }
        if let Some(out) = &args.out {
            print::line(&format!("wrote D to {}", output::name(out)));
        }
        Ok(())
    }
}

/// The device, the duration, and the speed of a GEMM.
pub fn speed(on: &str, extents: (usize, usize, usize), seconds: f64) -> String {
    at(on, seconds, rate(extents, seconds), "GFLOP/s")
}

/// The device, the duration, and the rate in `unit`. The text omits a rate below 0.1 `unit`.
pub fn at(on: &str, seconds: f64, rate: Option<f64>, unit: &str) -> String {
    let place = if on == "cuda" { "the GPU" } else { "the host" };
    match rate {
        Some(rate) if rate >= 0.1 => format!("{} on {place}, {rate:.1} {unit}", duration(seconds)),
        _ => format!("{} on {place}", duration(seconds)),
    }
}

/// Formats seconds in s, ms, or µs.
fn duration(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-3.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

/// Speed in GFLOP/s. `None` if the clock measured no time.
fn rate((m, n, k): (usize, usize, usize), seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| 2e-9 * m as f64 * n as f64 * k as f64 / seconds)
}

/// A sentence about a verified GEMM with `rows` x `columns` elements: the number of checked
/// elements, and the largest error.
pub fn verified(verdict: Verdict, (rows, columns): (usize, usize)) -> String {
    let Verdict { elements_checked, results_checked, error_over_bound, .. } = verdict;
    let elements_checked = elements_checked - results_checked;
    let elements = rows.saturating_mul(columns);
    let verified = print::good("verified");
    let results = match results_checked {
        0 => String::new(),
        1 => "1 result of the epilogue beside D, ".to_owned(),
        count => format!("{count} results of the epilogue beside D, "),
    };
    let error = format!("{results}and the largest error is {error_over_bound:.3} of its bound");
    if elements_checked == elements {
        return format!("{verified}: {elements} elements, {error}");
    }
    let drawn = elements_checked / columns.max(1);
    format!(
        "{verified}: {elements_checked} of {elements} elements, {drawn} whole rows of {rows}, {error}; --verify all checks all elements"
    )
}

/// Returns an error if the verification failed.
pub fn require_verified(verdict: Verdict) -> Result<(), Failure> {
    if verdict.is_right() {
        Ok(())
    } else {
        Err(Failure::Unverified(format!("the verification failed: {verdict}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::{Error, internals::nest::Request, layout::Order};

    #[test]
    fn wrong_results_fail_verification() {
        let resolved = Request::default().resolve(falchion::arch::ArchKind::Sm80).unwrap();
        let mut product = crate::gemm::random_product(&resolved, (5, 4, 3), 1).unwrap();
        product.run(&resolved.desc, falchion_check::Mode::Fast).unwrap();
        assert!(require_verified(product.verify(&resolved.desc).unwrap()).is_ok());
        for wrong in [1.5, f64::INFINITY, f64::NAN] {
            product.d.try_fill(Order::Row, |_, _| Ok::<_, Error>(wrong)).unwrap();
            let judgement = require_verified(product.verify(&resolved.desc).unwrap());
            let Err(Failure::Unverified(sentence)) = judgement else {
                panic!("{wrong} is within no bound")
            };
            assert!(
                sentence.starts_with(
                    "the verification failed: 20 of 20 elements are wrong: the first, "
                ),
                "{sentence}"
            );
        }
    }
}
