//! `falchion transpose` reads flags and files, computes a transpose, and reports the result.

mod files;
mod ladder;
mod report;

use crate::{
    args::TransposeArgs,
    cuda::Place,
    failure::Failure,
    gemm::on,
    npy,
    output::OutputFile,
    progress::{during, timed},
    request::description_text,
};
use falchion::{
    internals::operand::{
        Problem, Source,
        transpose::{Choice, TransposeDesc},
    },
    numeric::ElementKind,
};
use falchion_check::Mode;
use falchion_lab::owned::HostProduct;
use files::Files;
use report::Report;

/// Runs the command.
pub fn run(args: &TransposeArgs, json: bool) -> Result<(), Failure> {
    if args.ladder {
        return ladder::run(args, json);
    }
    let place = Place::open_for_run(args.on, args.checked)?;
    let files = Files::open(args)?;
    let element = files.element(args)?;
    let choice = choice(args, element)?;
    let beta = args.beta.unwrap_or(0.0);
    let (leading, scalars) = ([args.lda, args.ldc, args.ldd], [args.alpha, beta]);
    if args.explain && files.is_empty() && [args.rows, args.cols] == [None; 2] {
        let problem = Problem::transpose((0, 0), args.batch, leading, scalars);
        return report::explanation(choice, element, &problem, json);
    }
    let extents = files.extents(args)?;
    let problem = files.shared(Problem::transpose(extents, args.batch, leading, scalars));
    if args.explain && !(args.run || args.verify || args.out.is_some() || args.checked) {
        choice.desc(element, &problem).enter(problem)?;
        return report::explanation(choice, element, &problem, json);
    }
    files.require_all(args)?;
    let inputs = [("--a-file", &args.a_file), ("--c-file", &args.c_file)];
    let inputs = inputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let target = args.out.as_deref().map(|out| OutputFile::beside(out, inputs)).transpose()?;
    let desc = choice.desc(element, &problem);
    let mut transpose = HostProduct::poisoned_transpose(element, &desc, &problem)?;
    during("reading operands", || {
        transpose.draw_transpose(args.seed)?;
        if let Some(file) = files.a {
            file.read_into(&mut transpose.a)?;
        }
        if let (Some(file), Source::Matrix(c)) = (files.c, &mut transpose.c) {
            file.read_into(c)?;
        }
        Ok::<_, Failure>(())
    })?;

    let kernel = place.kernel(args.on, |device| device.prepare_transpose(&desc))?;
    let mode = if args.checked { Mode::Checked { seed: args.seed } } else { Mode::Fast };
    let seconds = during("computing", || match &kernel {
        Some(kernel) => kernel.run(choice, &mut transpose),
        None => {
            let (done, seconds) = timed(|| transpose.run_transpose(&desc, mode));
            Ok(done.map(|()| seconds)?)
        }
    })?;
    let verdict =
        args.verify.then(|| during("verifying", || transpose.verify_transpose())).transpose()?;
    if let Some(target) = target {
        during("writing", || npy::write(target, &transpose.d))?;
    }
    let report = Report {
        transpose: &transpose,
        choice,
        on: on(kernel.is_some()),
        seconds,
        verdict: verdict.as_ref(),
    };
    report.print(args, json)?;
    verdict.as_ref().map_or(Ok(()), report::require_verified)
}

/// The kernel that the flags select.
fn choice(args: &TransposeArgs, element: ElementKind) -> Result<Choice, Failure> {
    Ok(match (args.rung, args.desc.as_deref()) {
        (Some(rung), _) => rung.choice(element.bytes_of(1)),
        (None, Some(given)) => Choice::Desc(TransposeDesc::from_json(&description_text(given)?)?),
        (None, None) => Choice::Auto,
    })
}
