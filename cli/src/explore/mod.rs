//! `falchion explore` counts a search space, fills the kernel cache, or finds the fastest kernels.

mod args;
mod report;

use crate::{
    bench::commit,
    cuda,
    failure::Failure,
    print,
    progress::{Steps, during},
    text,
};
pub use args::ExploreArgs;
use falchion::{
    arch::{ArchKind, Machine},
    nest::GemmDesc,
    shape::Mnk,
};
use falchion_lab::explore::{
    Census, Space,
    device::{NvrtcToDisk, fits},
    log::Log,
    record::{Entry, Header},
    sample,
    trials::{Book, Plan, compile_only},
};
use std::{path::Path, thread};

/// Runs the command.
pub fn run(args: &ExploreArgs, json: bool) -> Result<(), Failure> {
    let sizes = args.sizes();
    if args.dry_run {
        let (space, census) = count_space(args, ArchKind::Sm90, None, &sizes)?;
        return report::dry_run(args, &space, &census, json);
    }
    if let Some(sm) = args.compile {
        cuda::cache_to_fill()?;
        let arch = ArchKind::newest_of(sm).unwrap_or(ArchKind::Sm70);
        let (space, census) = count_space(args, arch, None, &sizes)?;
        let candidates = candidates(args, &space, &census)?;
        let steps = Steps::new(candidates.len());
        let compiled = compile_only(&candidates, &NvrtcToDisk { sm }, jobs(args), &mut |count| {
            steps.done(count)
        })?;
        drop(steps);
        return report::print_compiled(&compiled, sm, json);
    }
    if sizes.is_empty() {
        return Err(Failure::refused(
            "explore needs a problem; add --size MxNxK, or count kernels with --dry-run",
        ));
    }
    let device = cuda::open(0).map_err(|failure| match failure {
        Failure::Refused(because) => Failure::refused(format!(
            "explore needs a GPU, except with --dry-run or --compile SM: {because}"
        )),
        other => other,
    })?;
    on_device(args, &device, &sizes, json)
}

/// Runs the trials on a device.
fn on_device(
    args: &ExploreArgs,
    device: &cuda::Device,
    sizes: &[Mnk],
    json: bool,
) -> Result<(), Failure> {
    let gpu = device.trials(args.peers.iter().any(|peer| peer == "cublaslt"))?;
    let (space, census) = count_space(args, device.newest, Some(gpu.machine()), sizes)?;
    let plan = Plan {
        candidates: candidates(args, &space, &census)?,
        finalists: args.finalists,
        jobs: jobs(args),
    };
    let header = Header::new(space.base(), sizes, gpu.circumstances(space.base(), commit())?);
    let (mut log, entries) = match &args.log {
        Some(path) => Log::open(path, &header).map(|(log, entries)| (Some(log), entries))?,
        None => (None, Vec::new()),
    };
    let left: usize = sizes.iter().map(|&size| plan.left(&entries, size).len()).sum();
    let (steps, mut count) = (Steps::new(left), 0);
    let mut keep = |entry: &Entry| {
        count += usize::from(matches!(entry, Entry::Trial(_)));
        steps.done(count);
        log.as_mut().map_or(Ok(()), |log| log.keep(entry))
    };
    let mut book = Book::new(entries, &mut keep);
    device.timed(|session| {
        sizes
            .iter()
            .try_for_each(|&size| gpu.explore((space.base(), size), &plan, session, &mut book))
    })?;
    let entries = book.entries().to_vec();
    drop(steps);
    report::print_standings(&census, &entries, sizes, args.best, json)
}

/// The search space of the flags, and its census. Without a machine, the census uses the limits of
/// the architecture.
fn count_space(
    args: &ExploreArgs,
    newest: ArchKind,
    machine: Option<&Machine>,
    sizes: &[Mnk],
) -> Result<(Space, Census), Failure> {
    let request = args.class.request()?;
    let mut space = match &args.space {
        Some(text) if text.trim_start().starts_with(['[', '{']) => {
            Space::from_json(&request.resolve(newest)?.desc, text)?
        }
        Some(path) => Space::from_json(
            &request.resolve(newest)?.desc,
            &text::read("the space", Path::new(path))?,
        )?,
        None => Space::asked_for(&request, newest, &args.knobs.0, sizes)?,
    };
    let base = *space.base();
    for (name, texts) in &args.knobs.0 {
        space.narrow(name, texts)?;
    }
    let machine = machine.copied().unwrap_or_else(|| base.arch.machine());
    let check = |desc: &GemmDesc| -> Result<(), falchion_lab::Error> {
        desc.check_on(&machine)?;
        sizes.iter().try_for_each(|&size| fits(desc, size))
    };
    let census = during("counting the space", || Census::new(&space, &check))?;
    Ok((space, census))
}

/// The descriptions to try.
fn candidates(
    args: &ExploreArgs,
    space: &Space,
    census: &Census,
) -> Result<Vec<GemmDesc>, Failure> {
    if args.trials == Some(0) {
        return Err(Failure::refused(
            "--trials must be at least 1; use --dry-run to count without trials",
        ));
    }
    if let (true, Some(reason)) = (census.legal.is_empty(), census.refused.first()) {
        let points = census.points;
        return Err(Failure::refused(format!(
            "none of the {points} points of the space is a kernel; {}",
            reason.first
        )));
    }
    let points = sample(&census.legal, args.trials.unwrap_or(usize::MAX), args.seed);
    Ok(points.into_iter().map(|point| space.at(point)).collect())
}

/// Number of threads that compile.
fn jobs(args: &ExploreArgs) -> usize {
    args.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Prints a JSON object.
fn object(value: &serde_json::Value) {
    print::line(&value.to_string());
}
