//! `falchion gemm`: flags and files in, a product and what is to be said of it out.

mod explain;
mod files;
pub mod report;

use crate::{
    args::{GemmArgs, LaterArgs},
    cuda::Place,
    failure::Failure,
    npy::NpyTarget,
    progress::{during, timed},
};
pub use explain::{description, layout_rows};
use falchion::{
    desc::GemmDesc,
    epilogue::SCALARS,
    internals::{
        call::{Problem, Source},
        family::{Request, Resolved},
        host::Mode,
    },
};
use falchion_lab::owned::HostProduct;
use files::Files;
use report::Report;
pub use report::{at, judged, speed, verified};

/// Runs the command.
pub fn run(args: &GemmArgs, json: bool) -> Result<(), Failure> {
    refuse_later(&args.later)?;
    let place = Place::of_run(args.on, args.checked)?;
    let extents = args.m.zip(args.n).zip(args.k).map(|((m, n), k)| (m, n, k));
    let request = Request { extents, batch: args.batch, ..args.kernel.request()? };
    let resolved = request.resolve(place.arch())?;
    let mut scalars = [0.0; SCALARS];
    (scalars[0], scalars[1]) = (args.alpha, args.beta);
    let desc = resolved.desc.for_scalars(&scalars);

    let files = Files::open(args, &desc.class.output.epilogue.framed(desc.frame))?;
    if args.explain && files.none() && [args.m, args.n, args.k] == [None; 3] {
        return explain::alone(&resolved, &desc, json);
    }
    let extents = files.extents(args)?;
    let target = args.out.as_deref().map(NpyTarget::create).transpose()?;
    let problem = Problem::of(&desc, extents, [args.lda, args.ldb, args.ldc], scalars);
    let problem = files.shared(Problem { batch: args.batch, ..problem });
    let mut product = HostProduct::poisoned(&desc, &problem)?;
    during("reading operands", || operands(&mut product, &desc, files, args.seed))?;

    let kernel = place.kernel(args.on, |device| device.prepare(&desc.for_batch(args.batch)))?;
    let mode = if args.checked { Mode::Checked { seed: args.seed } } else { Mode::Fast };
    let seconds = during("computing", || match &kernel {
        Some(kernel) => kernel.run(&mut product),
        None => {
            let (done, seconds) = timed(|| product.run(&desc, mode));
            Ok(done.map(|()| seconds)?)
        }
    })?;
    let verdict = args.verify.then(|| during("verifying", || product.verify(&desc))).transpose()?;
    if let Some(target) = target {
        during("writing", || target.write(&product.d))?;
    }
    // Operands are copied to allocations of their own, which begin at multiples of 16 bytes.
    let routes = kernel.is_some().then(|| desc.routes(&problem)).transpose()?;
    let report = Report {
        resolved: &resolved,
        desc: &desc,
        extents,
        batch: args.batch,
        on: on(kernel.is_some()),
        routes,
        seconds,
        verdict,
    };
    report.print(args, json)?;
    verdict.map_or(Ok(()), judged)
}

/// Where something was computed, in one word.
pub fn on(device: bool) -> &'static str {
    if device { "cuda" } else { "host" }
}

/// Operands from files, and from the seed where there is no file.
fn operands(product: &mut HostProduct, desc: &GemmDesc, files: Files, seed: u64) -> Result<(), Failure> {
    let Files { a, b, c, mut vectors } = files;
    let [from, source] = product.distributions(desc);
    let mut matrices = vec![(a, &mut product.a, from), (b, &mut product.b, from)];
    if let Source::Matrix(matrix) = &mut product.c {
        matrices.push((c, matrix, source));
    }
    matrices.extend(product.vectors.iter_mut().map(|(kind, vector)| (vectors.slot(kind).take(), vector, source)));
    for (stream, (file, matrix, from)) in (0..).zip(matrices) {
        match file {
            Some(file) => file.read_into(matrix)?,
            None => matrix.draw(from, seed.wrapping_mul(3).wrapping_add(stream))?,
        }
    }
    Ok(())
}

/// The product of a resolved request with operands from a seed: what the bare command and the doctor run.
pub fn drawn(resolved: &Resolved, extents: (usize, usize, usize), seed: u64) -> Result<HostProduct, Failure> {
    let mut scalars = [0.0; SCALARS];
    scalars[0] = 1.0;
    let problem = Problem::of(&resolved.desc, extents, [None; 3], scalars);
    let mut product = HostProduct::poisoned(&resolved.desc, &problem)?;
    operands(&mut product, &resolved.desc, Files::default(), seed)?;
    Ok(product)
}

/// What does not exist yet is refused by name.
fn refuse_later(later: &LaterArgs) -> Result<(), Failure> {
    let LaterArgs { split_k, order } = later;
    for (given, sentence) in [
        (
            split_k,
            "--split-k does not exist yet: one block adds up all of K, in slices of its own where --threadblock is deeper than --warp",
        ),
        (order, "--order does not exist yet: --swizzle chooses the order of tiles"),
    ] {
        if given.is_some() {
            return Err(Failure::refused(sentence));
        }
    }
    Ok(())
}
