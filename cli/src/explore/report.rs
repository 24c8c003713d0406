//! Output of `falchion explore`.

use super::{ExploreArgs, object};
use crate::{cuda, failure::Failure, print};
use falchion::{
    device::ProblemSize,
    nest::{GemmDesc, Pins},
    shape::Mnk,
};
use falchion_lab::explore::{
    Census, Space,
    record::Entry,
    sample,
    standing::{Summary, table},
    trials::Compiled,
};
use serde_json::json;
use std::collections::HashSet;

/// Number of valid kernels in the sample of a dry run.
const SAMPLE: usize = 5;
/// Maximum number of values in the full list of an axis.
const MOST_SHOWN: usize = 8;

/// Prints a search space: its axes, a sample of its kernels, the kernels with the shortest
/// predicted times, and the reasons of refusals.
pub fn dry_run(
    args: &ExploreArgs,
    space: &Space,
    census: &Census,
    json: bool,
) -> Result<(), Failure> {
    let axes = axes(space);
    let drawn: Vec<GemmDesc> =
        sample(&census.legal, SAMPLE, args.seed).into_iter().map(|point| space.at(point)).collect();
    let predicted: Vec<_> = args
        .sizes()
        .into_iter()
        .map(|size| (size, predicted(space, census, size, args.best)))
        .collect();
    if json {
        let names = |descs: &[GemmDesc]| descs.iter().map(name).collect::<Vec<_>>();
        let best = |ranked: &[(GemmDesc, f64)]| -> Vec<_> {
            ranked
                .iter()
                .map(|(desc, times)| json!({ "kernel": name(desc), "predicted_time": times }))
                .collect()
        };
        let problems: Vec<_> =
            predicted.iter().map(|(size, ranked)| json!({ "size": size.to_string(), "predicted_best": best(ranked) })).collect();
        object(&json!({
            "points": census.points, "legal": census.legal.len(), "refused": census.refused, "axes": axes,
            "sample": names(&drawn), "problems": problems,
        }));
        return Ok(());
    }
    print::line(&counts(census));
    print::line("\naxes:");
    print::table(axes);
    print::line("\na sample of the kernels:");
    drawn.iter().for_each(|desc| print::line(&format!(" {}", name(desc))));
    for (size, ranked) in predicted {
        print::line(&format!("\n{size}: kernels by predicted time, relative to the shortest time"));
        print::table(ranked.iter().map(|(desc, times)| vec![format!("{times:.3}"), name(desc)]));
    }
    print::line("\nrefused:");
    print::table(
        census.refused.iter().map(|reason| vec![reason.count.to_string(), reason.form.clone()]),
    );
    Ok(())
}

/// The knobs with more than one value: the flag, the number of values, the values, and the main
/// loops that have them.
fn axes(space: &Space) -> Vec<Vec<String>> {
    let mut axes: Vec<(&str, &[String], Vec<String>)> = Vec::new();
    for (name, flag, _) in Pins::TABLE {
        for subspace in space.subspaces() {
            let swapped = if subspace.base().is_of_columns() { " (swap-AB)" } else { "" };
            let mainloop = subspace.list("mainloop").join(", ") + swapped;
            let values = subspace.list(name);
            match axes.iter_mut().find(|axis| axis.0 == *flag && axis.1 == values) {
                Some(axis) => axis.2.push(mainloop),
                None if values.len() > 1 => axes.push((flag, values, vec![mainloop])),
                None => {}
            }
        }
    }
    let row = |(flag, values, mainloops): (&str, &[String], Vec<String>)| {
        let shown = match values {
            [first, second, third, .., last] if values.len() > MOST_SHOWN => {
                format!("{first}, {second}, {third}, .. {last}")
            }
            all => all.join(", "),
        };
        vec![flag.to_owned(), values.len().to_string(), shown, mainloops.join(", ")]
    };
    axes.into_iter().map(row).collect()
}

/// The main loop and the name of a kernel.
fn name(desc: &GemmDesc) -> String {
    format!("{} {desc}", desc.mainloop.kind().name())
}

/// The kernels with the shortest predicted times, and these times relative to the shortest.
fn predicted(space: &Space, census: &Census, size: Mnk, most: usize) -> Vec<(GemmDesc, f64)> {
    let size = ProblemSize::new((size.m as usize, size.n as usize, size.k as usize));
    let machine = space.base().arch.machine();
    let mut ranked: Vec<_> = census
        .legal
        .iter()
        .map(|&point| (space.at(point).predicted(&size, &machine), point))
        .collect();
    ranked.sort_unstable();
    let first = ranked.first().map_or(1.0, |((_, time), _)| *time as f64);
    // Many knobs do not change the predicted time. This function sorts kernels with equal times by
    // the number of knobs that differ from the default. The list has each kernel name once.
    let mut named = HashSet::new();
    let mut ends = ranked.iter().filter(|(_, point)| named.insert(name(&space.at(*point))));
    let last = ends.nth(most.saturating_sub(1)).or(ranked.last()).map(|(time, _)| *time);
    let default = space.base().user_pins().words();
    let changed = |desc: &GemmDesc| {
        desc.user_pins().words().iter().zip(&default).filter(|(one, other)| one != other).count()
    };
    let near = ranked.into_iter().take_while(|(time, _)| Some(*time) <= last);
    let mut near: Vec<_> =
        near.map(|(time, point)| (time, changed(&space.at(point)), point)).collect();
    near.sort_unstable();
    let mut seen = HashSet::new();
    let described =
        near.into_iter().map(|((_, time), _, point)| (space.at(point), time as f64 / first));
    described.filter(|(desc, _)| seen.insert(name(desc))).take(most).collect()
}

/// The numbers of points, kernels, and refusals in one line.
fn counts(census: &Census) -> String {
    let refused = census.points - census.legal.len() as u64;
    let of = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    format!(
        "{}: {}, {refused} refused",
        of(census.points, "point"),
        of(census.legal.len() as u64, "kernel")
    )
}

/// Prints the result of `--compile`.
pub fn print_compiled(compiled: &Compiled, sm: u32, json: bool) -> Result<(), Failure> {
    if json {
        object(&json!(compiled));
        return cuda::cache_written(compiled.unwritten.as_deref());
    }
    let Compiled { kernels, spilled, compile_failed, unwritten } = compiled;
    print::line(&format!(
        "the cache has {kernels} kernels for sm_{sm}; {spilled} other kernels spill registers, and {compile_failed} kernels do not compile"
    ));
    cuda::cache_written(unwritten.as_deref())
}

/// Prints the results of the trials.
pub fn print_standings(
    census: &Census,
    entries: &[Entry],
    sizes: &[Mnk],
    most: usize,
    json: bool,
) -> Result<(), Failure> {
    let summaries: Vec<Summary> =
        sizes.iter().map(|&size| Summary::from_entries(entries, size, most)).collect();
    if json {
        object(
            &json!({ "points": census.points, "legal": census.legal.len(), "problems": summaries }),
        );
        return Ok(());
    }
    print::line(&counts(census));
    for summary in summaries {
        let of = summary.outcomes;
        print::line(&format!(
            "{}: {} timed, {} wrong, {} spilled, {} not compiled",
            summary.size, of.timed, of.wrong, of.spilled, of.compile_failed
        ));
        print::table(table(&summary.best));
        if let (Some(name), Some(us)) = (&summary.reference, summary.reference_us) {
            let noisy = if summary.noisy == Some(true) { "; the ratio is noisy" } else { "" };
            print::line(&format!(
                "ratio: speed relative to {name} ({us:.1} us){noisy}; ~ marks kernels without a final measurement"
            ));
        }
    }
    Ok(())
}
