//! The kernels of a suite's problems, and the problems that have none.

use super::{SuiteProblem, measure::types, suite::Accumulate};
use crate::{Error, explain::size_of};
use falchion::{
    arch::{ArchKind, OpRequest},
    cuda::{cache::Cache, compile_to_disk, kernel_unit, pass_unit},
    internals::{
        codegen::TranslationUnit,
        nest::{ProblemSize, Request},
        operand::PassDesc,
    },
    nest::{GemmDesc, PromotionKind},
};

/// Runs `prepare` on a problem's description, or returns the message if the problem's knobs are
/// refused.
pub(super) fn prepared<T>(
    problem: &SuiteProblem,
    arch: ArchKind,
    prepare: impl FnOnce(&GemmDesc) -> Result<T, falchion::Error>,
) -> Result<Result<T, String>, Error> {
    use falchion::Error as Reason;
    match description(problem, arch).and_then(|desc| Ok(prepare(&desc)?)) {
        Ok(prepared) => Ok(Ok(prepared)),
        Err(Error::Falchion(
            reason @ (Reason::Refused(_) | Reason::Unresolved(_) | Reason::KnobText { .. }),
        )) => Ok(Err(reason.to_string())),
        Err(other) => Err(other),
    }
}

/// Returns the description that computes a problem by default: the default configuration for an
/// architecture tag, with the problem's knobs.
///
/// # Errors
/// - [`falchion::Error::Refused`] if no kernel computes the problem.
/// - [`falchion::Error::KnobText`] if a knob has an unknown name or value.
pub fn description(problem: &SuiteProblem, arch: ArchKind) -> Result<GemmDesc, Error> {
    let op: OpRequest = problem.op.as_deref().map(str::parse).transpose()?.unwrap_or_default();
    let types = types(problem)?;
    let mut knobs: Vec<_> =
        problem.knobs.iter().map(|(name, words)| (name.clone(), words.clone())).collect();
    let mut ask = |name: &str, words: &str| knobs.push((name.to_owned(), words.to_owned()));
    if problem.accumulate == Some(Accumulate::Slow) && types.a.is_fp8() {
        ask("promotion", PromotionKind::Stage.name());
    }
    if let Some(emulation) = problem.emulation {
        ask("emulation", emulation.name());
    }
    if let Some(epilogue) = &problem.epilogue {
        ask("epilogue", epilogue);
    }
    let [a, b, c] = [problem.a, problem.b, problem.c].map(Some);
    let (accumulator, op) = (Some(types.accumulator), op.kind());
    let launched = problem.launched();
    let size = size_of(&launched);
    let request =
        Request { a, b, c, accumulator, op, arch: Some(arch), knobs, ..Request::default() };
    if problem.pointers {
        // A kernel launches as many GEMMs of a pointer array as it can.
        let desc = request.resolve_for(arch, size, None)?.desc;
        let size = ProblemSize { batch: 1, ..size }.for_array(&desc, launched.batch);
        return Ok(request.resolve_for(arch, size, None)?.desc.for_array(launched.batch));
    }
    Ok(launched.kernel_of(request.resolve_for(arch, size, None)?.desc))
}

/// Refused problems: their line in the suite, from 1, and the reason.
type Refused = Vec<(usize, String)>;

/// The compiled kernels of a suite, and the problems whose knobs are refused.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compiled {
    /// Number of kernels in the cache.
    pub kernels: usize,
    /// The error if a kernel could not be written to the cache. The remaining kernels were not
    /// compiled.
    pub unwritten: Option<String>,
    /// The refused problems.
    pub refused: Refused,
}

/// Compiles the kernels of problems into the process's cache, for devices of compute capability
/// `sm`. This includes the kernels with narrower accesses that replace the default if leading
/// dimensions or extents require them. No device is needed.
///
/// # Errors
/// The errors of [`compile_to_disk`] except [`falchion::Error::Io`], which is stored in
/// [`Compiled`].
pub fn compile_all(problems: &[SuiteProblem], sm: u32) -> Result<Compiled, Error> {
    let (descs, refused) = kernels_of(problems, sm)?;
    let mut compiled = Compiled { refused, ..Compiled::default() };
    for desc in &descs {
        let passes = PassDesc::before(desc);
        let units = [kernel_unit(desc)?].into_iter().chain(passes.iter().map(pass_unit));
        match written(units, sm)? {
            None => compiled.kernels += 1,
            unwritten => return Ok(Compiled { unwritten, ..compiled }),
        }
    }
    Ok(compiled)
}

/// Compiles units into the folder of the process's cache. Returns the reason if a cubin could not
/// be written there.
pub(super) fn written(
    units: impl IntoIterator<Item = TranslationUnit>,
    sm: u32,
) -> Result<Option<String>, Error> {
    for unit in units {
        match compile_to_disk(Cache::global(), &unit, sm) {
            Ok(_) => {}
            Err(error @ falchion::Error::Io { .. }) => return Ok(Some(error.to_string())),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(None)
}

/// Returns the descriptions of these kernels, and the refused problems.
fn kernels_of(problems: &[SuiteProblem], sm: u32) -> Result<(Vec<GemmDesc>, Refused), Error> {
    let newest = ArchKind::newest_of(sm).unwrap_or(ArchKind::Sm70);
    let (mut descs, mut refused) = (Vec::new(), Vec::new());
    for (at, problem) in (1..).zip(problems) {
        match prepared(problem, newest, |desc| Ok(desc.check().map(|()| *desc)?))? {
            Ok(desc) => {
                // The measurement refuses a problem that the kernel cannot compute.
                let runs = desc.fitted(&problem.launched()).unwrap_or(desc);
                for kernel in [desc, runs] {
                    if !descs.contains(&kernel) {
                        descs.push(kernel);
                    }
                }
            }
            Err(sentence) => refused.push((at, sentence)),
        }
    }
    Ok((descs, refused))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::parse;
    use falchion::arch::OpKind;
    use std::collections::BTreeSet;

    /// Checks that 63 and 62 columns need other kernels than 64, because D is stored one or two
    /// elements at a time.
    #[test]
    fn suite_kernels_include_narrower_ones() {
        let row = |n: usize| {
            format!(r#"{{"m":64,"n":{n},"k":64,"a":"f32:row","b":"f32:row","c":"f32:row"}}"#)
        };
        let problems = parse("test", &[row(64), row(63), row(62)].join("\n")).unwrap();
        let (kernels, refused) = kernels_of(&problems, 80).unwrap();
        let access = |desc: &GemmDesc| desc.alignments()[2];
        let (wide, narrow): (Vec<_>, Vec<_>) = kernels.iter().partition(|desc| access(desc) > 2);
        assert!(refused.is_empty() && !wide.is_empty(), "{kernels:?}");
        assert_eq!(narrow.into_iter().map(access).collect::<BTreeSet<_>>(), [1, 2].into());
    }

    /// Checks that an unknown knob, an invalid value, and an invalid description are reported, and
    /// that the other problems are compiled.
    #[test]
    fn refused_knobs_are_reported_and_the_suite_continues() {
        let row = |knobs: &str| {
            format!(
                r#"{{"m":64,"n":64,"k":64,"a":"f32:row","b":"f32:col","c":"f32:row","knobs":{{{knobs}}}}}"#
            )
        };
        let suite = [r#""stages":"many""#, r#""stages":"99""#, r#""threadblock":"100x128x8""#]
            .map(row)
            .join("\n");
        let problems = parse("test", &suite).unwrap();
        let Compiled { kernels, refused, .. } = compile_all(&problems, 80).unwrap();
        assert_eq!(
            (kernels, refused.iter().map(|(at, _)| *at).collect::<Vec<_>>()),
            (0, vec![1, 2, 3])
        );
        for ((_, said), part) in
            refused.iter().zip(["stages cannot be `many`", "stages = 99", "threadblock M = 100"])
        {
            assert!(said.contains(part), "{said}");
        }
        let fine = &parse("test", &row("")).unwrap()[0];
        assert_eq!(prepared(fine, ArchKind::Sm80, |desc| Ok(desc.stages() > 0)).unwrap(), Ok(true));
        let failed = prepared(fine, ArchKind::Sm80, |_| {
            Err::<(), _>(falchion::Error::Description { because: "no".to_owned() })
        });
        assert!(failed.is_err(), "an error other than a refused knob ends the suite");
    }

    #[test]
    fn problems_without_op_use_the_fastest_units_for_their_types() {
        for (element, op, wanted) in [
            ("bf16", "", OpKind::TensorOp),
            ("f32", "", OpKind::Simt),
            ("bf16", r#","op":"simt""#, OpKind::Simt),
        ] {
            let line = format!(
                r#"{{"m":512,"n":512,"k":512,"a":"{element}:row","b":"{element}:row","c":"{element}:row"{op}}}"#
            );
            let problem = &parse("test", &line).unwrap()[0];
            assert_eq!(description(problem, ArchKind::Sm90).unwrap().op(), wanted, "{line}");
        }
    }
}
