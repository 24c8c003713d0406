//! `falchion gemm` reads flags and files, computes a GEMM, and reports the result.

mod explain;
mod files;
mod lists;
pub mod report;
mod scalars;

use crate::{
    args::{GemmArgs, LaterArgs, Verification},
    cuda::Place,
    failure::Failure,
    npy,
    output::OutputFile,
    progress::{during, measured, timed},
};
use explain::Subject;
pub use explain::{description, layout_rows};
use falchion::{
    arch::ArchKind,
    epilogue::{EpilogueDesc, SCALARS},
    internals::{
        host::progress::BLOCKS,
        nest::{Origin, ProblemSize, Request, Resolved, Target},
        operand::{GateColumns, Problem, Source},
        shape::Axis,
    },
    layout::{MatrixType, Order},
    nest::GemmDesc,
};
use falchion_check::Mode;
use falchion_lab::{owned::HostProduct, verify::COMPARED};
use files::Files;
use lists::Lists;
use report::Report;
pub use report::{at, require_verified, speed, verified};
use std::path::Path;

/// Runs the command.
pub fn run(args: &GemmArgs, json: bool) -> Result<(), Failure> {
    refuse_later(&args.later)?;
    let place = Place::open_for_run(args.on, args.checked)?;
    let gpu = args.gpu.unwrap_or_else(|| place.gpu());
    let mut files = Files::open(args)?;
    let lists = Lists::open(args)?;
    let resolved = resolve_args(args, &files, &place)?;
    let scalars = scalars::from_args(args, &resolved.desc)?;
    let desc = resolved.desc.for_scalars(&scalars);
    let epilogue = desc.epilogue.leave(desc.frame);
    // With an explicit beta of 0, the command accepts C but does not read C, as in BLAS.
    let reads_c = epilogue.reads(&scalars).source() || (args.beta == Some(0.0) && has_c(&epilogue));
    if args.c_file.is_some() && !reads_c {
        return Err(Failure::refused(format!(
            "the epilogue {epilogue} does not read the C of --c-file; {}",
            if has_c(&epilogue) { "set --beta 1" } else { "remove --c-file" }
        )));
    }
    files.open_operands(args, &epilogue)?;
    let mut subject =
        Subject { resolved: &resolved, desc: &desc, problem: None, pointers: args.pointers };
    if args.explain && files.is_empty() && [args.rows(), args.n, args.depth()] == [None; 3] {
        return subject.print_alone(json);
    }
    if args.gates.is_some() && !epilogue.is_gated() {
        return Err(Failure::refused(format!(
            "the epilogue {epilogue} has no gate; remove --gates"
        )));
    }
    let extents = files.extents(args, &lists, epilogue.columns_per_output())?;
    let problem = Problem::new(&desc, extents, [args.lda, args.ldb, args.ldc], scalars)
        .with_gate_columns(args.gates.unwrap_or(GateColumns::Halves));
    let batched = Problem { batch: args.products(), ..problem };
    let problem = files.shared(match args.groups() {
        Some((axis, groups)) => batched.grouped_along(axis, groups.len()),
        None => batched,
    });
    let problem = lists.apply(problem, (&desc, args, &files));
    subject.problem = Some((&problem, gpu));
    if args.explain && !(args.run || args.verify.is_some() || args.out.is_some() || args.checked) {
        return subject.print_alone(json);
    }
    files.require_all(&epilogue, &scalars)?;
    let operands = files::operand_flags(args)
        .filter_map(|(flag, given, _)| Some((flag, Path::new(given.split_once('=')?.1))));
    let matrices =
        [("--a-file", &args.a_file), ("--b-file", &args.b_file), ("--c-file", &args.c_file)];
    let matrices = matrices.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let target = args
        .out
        .as_deref()
        .map(|out| OutputFile::beside(out, matrices.chain(operands)))
        .transpose()?;
    let mut product = match args.groups() {
        groups if !lists.is_empty() => {
            let scatters = lists.length(2).is_some();
            let mut product = HostProduct::poisoned_with_lists(&desc, &problem, (groups, lists.0))?;
            if scatters {
                product.d.try_fill(Order::Row, |_, _| Ok::<_, Failure>(0.0))?;
            }
            product
        }
        Some((axis, lengths)) => HostProduct::poisoned_groups(&desc, &problem, axis, lengths)?,
        None => HostProduct::poisoned(&desc, &problem)?.as_array(args.pointers),
    };
    during("reading operands", || fill_operands(&mut product, &desc, files, args.seed))?;

    let of_array = || desc.for_array(problem.batch);
    let kernel = place.kernel(args.on, |device| {
        device.prepare(&if args.pointers { of_array() } else { problem.kernel_of(desc) })
    })?;
    let mode = if args.checked { Mode::Checked { seed: args.seed } } else { Mode::Fast };
    let seconds = measured("computing", &BLOCKS, || match &kernel {
        Some(kernel) => kernel.run(&mut product),
        None => {
            let (done, seconds) = timed(|| product.run(&desc, mode));
            Ok(done.map(|()| seconds)?)
        }
    })?;
    let verify = |which| match which {
        Verification::Enough => product.verify(&desc),
        Verification::All => product.verify_all(&desc),
    };
    let verdict =
        args.verify.map(|which| measured("verifying", &COMPARED, || verify(which))).transpose()?;
    if let Some(target) = target {
        during("writing", || npy::write(target, &product.d))?;
    }
    // Each matrix of a pointer array has its own allocation, aligned to 16 bytes.
    let one = if args.pointers { Problem { batch: 1, ..problem } } else { problem };
    let routes = kernel.is_some().then(|| desc.routes(&one)).transpose()?;
    let report =
        Report { subject, extents, args, on: on(kernel.is_some()), routes, seconds, verdict };
    report.print(json)?;
    verdict.map_or(Ok(()), require_verified)
}

impl GemmArgs {
    /// Axis of the groups and lines per group, from `--group-rows` or `--group-k`.
    pub fn groups(&self) -> Option<(Axis, &[usize])> {
        let rows = self.group_rows.as_deref().map(|rows| (Axis::M, rows));
        rows.or(self.group_k.as_deref().map(|depths| (Axis::K, depths)))
    }

    /// Flag that sets the groups along an axis.
    pub fn flag_of_groups(axis: Axis) -> &'static str {
        if axis == Axis::K { "--group-k" } else { "--group-rows" }
    }

    /// Sum of the lines of all groups along `axis`; `None` without such groups.
    pub fn lines_of_groups(&self, axis: Axis) -> Option<usize> {
        let (_, lengths) = self.groups().filter(|(along, _)| *along == axis)?;
        Some(lengths.iter().fold(0, |all: usize, length| all.saturating_add(*length)))
    }

    /// Rows of A and D, from `--m` or the sum of `--group-rows`.
    pub fn rows(&self) -> Option<usize> {
        self.lines_of_groups(Axis::M).or(self.m)
    }

    /// Columns of A and rows of B, from `--k` or the sum of `--group-k`.
    pub fn depth(&self) -> Option<usize> {
        self.lines_of_groups(Axis::K).or(self.k)
    }

    /// Number of GEMMs: the batch size or the number of groups.
    pub fn products(&self) -> usize {
        self.groups().map_or(self.batch, |(_, lengths)| lengths.len())
    }

    /// Number of matrices D. All groups of rows share one D.
    pub fn outputs(&self) -> usize {
        if self.group_rows.is_some() { 1 } else { self.products() }
    }
}

/// Whether the epilogue has an operand C.
fn has_c(epilogue: &EpilogueDesc) -> bool {
    epilogue.has_source()
}

/// Resolves the flags. If no flag sets the types of A and B, the files set the types.
fn resolve_args(args: &GemmArgs, files: &Files, place: &Place) -> Result<Resolved, Failure> {
    let leading = [args.lda, args.ldb];
    let gathers = [&args.gather_a, &args.gather_b].map(|list| list.is_some());
    let request = args.kernel.request()?;
    // B has the extents of the kernel.
    let each = request.columns_per_output();
    let extents = args.rows().zip(args.n).zip(args.depth());
    let extents = extents.map(|((m, n), k)| (m, n.saturating_mul(each), k));
    let size = extents.map(|(m, n, k)| match args.groups() {
        Some((axis, groups)) => {
            let size = ProblemSize::for_groups_along(axis, (m, n, k), groups.len());
            ProblemSize { leading, gathers, ..size }
        }
        None => ProblemSize { batch: args.batch, leading, gathers, ..ProblemSize::new((m, n, k)) },
    });
    let (target, machine) = match args.gpu {
        Some((_, machine)) => {
            let newest = ArchKind::newest_of(machine.sm).unwrap_or(ArchKind::Sm70);
            (Target::Gpu(newest), Some(machine))
        }
        None => (place.target(), None),
    };
    let resolve = |request: &Request| match size {
        // The description determines the records of a pointer array, so the size of a launch
        // depends on a first resolution.
        Some(size) if args.pointers => {
            let first = request.resolve_for(target, size, machine.as_ref())?;
            request.resolve_for(target, size.for_array(&first.desc, args.batch), machine.as_ref())
        }
        Some(size) => request.resolve_for(target, size, machine.as_ref()),
        None => request.resolve(target),
    };
    let said = [request.a, request.b].iter().any(Option::is_some) || request.description.is_some();
    let elements = if said { [None; 2] } else { files.elements() };
    if elements != [None; 2] {
        let [a, b] = elements
            .map(|element| element.map(|element| MatrixType { element, order: Order::Row }));
        let mut resolved = resolve(&Request { a, b, ..request }).map_err(|error| {
            let flags = if a.is_some() { "--a f32:row" } else { "--b f32:row" };
            Failure::refused(format!(
                "{}: {error}; to convert the numbers, add a flag such as {flags}",
                files.types()
            ))
        })?;
        for (flag, element) in ["--a", "--b"].into_iter().zip(elements) {
            let choice =
                resolved.choices.iter_mut().find(|choice| element.is_some() && choice.flag == flag);
            choice.into_iter().for_each(|choice| choice.from = Origin::File);
        }
        return Ok(resolved);
    }
    Ok(resolve(&request)?)
}

/// Name of the device in reports: `cuda` or `host`.
pub fn on(device: bool) -> &'static str {
    if device { "cuda" } else { "host" }
}

/// Fills operands from files. Operands without a file are random numbers from the seed.
fn fill_operands(
    product: &mut HostProduct,
    desc: &GemmDesc,
    files: Files,
    seed: u64,
) -> Result<(), Failure> {
    let Files { a, b, c, mut operands } = files;
    let [from, source] = product.distributions(desc);
    let mut matrices = vec![(a, &mut product.a, from), (b, &mut product.b, from)];
    if let Source::Matrix(matrix) = &mut product.c {
        matrices.push((c, matrix, source));
    }
    matrices.extend(
        product
            .operands
            .iter_mut()
            .map(|(operand, held)| (operands.slot(operand).take(), held, source)),
    );
    for (stream, (file, matrix, from)) in (0..).zip(matrices) {
        match file {
            Some(file) => file.read_into(matrix)?,
            None => matrix.draw(from, seed.wrapping_mul(3).wrapping_add(stream))?,
        }
    }
    Ok(())
}

/// A GEMM with random operands from a seed, for the bare command and the doctor.
pub fn random_product(
    resolved: &Resolved,
    extents: (usize, usize, usize),
    seed: u64,
) -> Result<HostProduct, Failure> {
    let mut scalars = [0.0; SCALARS];
    scalars[0] = 1.0;
    let problem = Problem::new(&resolved.desc, extents, [None; 3], scalars);
    let mut product = HostProduct::poisoned(&resolved.desc, &problem)?;
    fill_operands(&mut product, &resolved.desc, Files::default(), seed)?;
    Ok(product)
}

/// Refuses flags of other programs by name.
fn refuse_later(later: &LaterArgs) -> Result<(), Failure> {
    match later.order {
        Some(_) => {
            Err(Failure::refused("--order does not exist; --swizzle selects the order of tiles"))
        }
        None => Ok(()),
    }
}
