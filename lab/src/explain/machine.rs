//! The execution of a problem on a machine: tiles, waves, and passes.

use falchion::{
    Error,
    arch::Machine,
    device::{Explanation, ProblemSize},
    internals::{nest::PredictedTime, operand::Problem, shape::Axis},
    nest::GemmDesc,
    shape::Mn,
    threadblock::WorkKind,
};

/// Returns a fact with the number of launches of a pointer array of `products` GEMMs: its name, and
/// its value.
pub fn launches_of_array(desc: &GemmDesc, products: usize) -> (&'static str, String) {
    let desc = desc.for_array(products);
    let text = if desc.work.mode.is_array() {
        format!(
            "1, after a launch that writes records to the workspace; without a workspace, {products}"
        )
    } else if products < 2 {
        products.to_string()
    } else if desc.streams_k() {
        format!("{products}, one per GEMM, because stream-K divides each GEMM alone")
    } else {
        format!("{products}, one per GEMM, because passes copy its operands")
    };
    ("launches", text)
}

/// Returns facts about the tiles and waves of a problem on a machine, and about the routes of its
/// operands.
///
/// # Errors
/// The errors of [`GemmDesc::check_on`], and the reason if the description cannot compute the
/// problem.
pub fn on_machine(
    desc: &GemmDesc,
    problem: &Problem,
    machine: &Machine,
) -> Result<Vec<(&'static str, String)>, Error> {
    desc.check_on(machine)?;
    let fitted = desc.fitted(problem)?;
    let explanation = fitted.explain()?;
    let tile = desc.tile_of_d(desc.threadblock());
    let framed = problem.enter_unchecked(desc);
    let (m, n) = (framed.m, framed.n);
    let along_k = problem.groups.is_some_and(|groups| groups.axis == Axis::K);
    let (down, across, batch) = match problem.groups.filter(|_| !along_k) {
        None => {
            (m.div_ceil(tile.m.max(1) as usize), n.div_ceil(tile.n.max(1) as usize), problem.batch)
        }
        // The largest possible number, because the group offsets are not read.
        Some(_) => {
            let work = framed.work(
                (WorkKind::DataParallel, desc.swizzle(), 1),
                (tile, Mn::ONE, desc.group_step()),
                1,
                1,
            )?;
            (work.rows as usize, work.columns as usize, 1)
        }
    };
    let tiles = down as f64 * across as f64 * batch as f64;
    let filled = (m as f64 * n as f64)
        / (down as f64 * across as f64 * f64::from(tile.m) * f64::from(tile.n));
    let side_by_side = side_by_side(&explanation, machine);
    let slots = f64::from(side_by_side) * f64::from(machine.multiprocessors);
    let slices = desc.split_k();
    let waves = tiles * f64::from(slices) / slots;
    let busy = waves / waves.ceil();
    let products = match problem.groups {
        Some(_) if along_k => format!(", for each of {} groups", problem.batch),
        Some(_) => format!(" at most, in {} groups", problem.batch),
        None if problem.batch == 1 => String::new(),
        None => format!(", for each of {} GEMMs", problem.batch),
    };
    let way = if desc.cuts_by_cluster() { " in a cluster" } else { "" };
    let products = if slices == 1 {
        products
    } else {
        format!("{products}, with {slices} split-K slices{way}")
    };
    let mut facts = Vec::new();
    let alignments = |desc: &GemmDesc| {
        let pins = desc.user_pins();
        [pins.align_a, pins.align_b, pins.align_c]
            .map(|align| align.map_or(String::new(), |align| align.to_string()))
            .join(", ")
    };
    let (taken, stated) = (alignments(&fitted), alignments(desc));
    if taken != stated {
        let why = format!(
            "{taken} elements of A, B, and D, because of extents and leading dimensions; the description has {stated}"
        );
        facts.push(("accesses", why));
    }
    if tiles > 0.0 {
        facts.push((
            "tiles of D",
            format!(
                "{down} x {across} of {} x {}{products}; D fills {}",
                tile.m,
                tile.n,
                percent(filled)
            ),
        ));
        facts.push((
            "waves",
            format!(
                "{waves:.2}: {} multiprocessors with {side_by_side} {} each; {} of {} {} is used",
                machine.multiprocessors,
                if side_by_side == 1 { "thread block" } else { "thread blocks" },
                percent(busy),
                waves.ceil(),
                if waves <= 1.0 { "wave" } else { "waves" }
            ),
        ));
    }
    if desc.streams_k() && tiles > 0.0 {
        let cluster = desc.cluster();
        let tiles_k = framed.k.div_ceil(tile.k.max(1) as usize) as u32;
        let resident = (machine.multiprocessors / (cluster.m * cluster.n).max(1) * side_by_side)
            .min(desc.most_streams());
        let work = framed.work(
            (WorkKind::StreamK, desc.swizzle(), 1),
            (tile, cluster, 1),
            tiles_k,
            resident,
        )?;
        let (streams, k_tiles) =
            (work.streams(), u64::from(work.streams().tiles) * u64::from(tiles_k));
        let each = k_tiles as f64 / f64::from(work.clusters.max(1));
        let of = work.rectangles();
        let workers = if desc.has_producer() { "clusters" } else { "thread blocks" };
        facts.push((
            "stream-K",
            format!(
                "{} of {of} tiles, with {each:.1} k-tiles for each of {} {workers}",
                streams.tiles, work.clusters
            ),
        ));
    }
    if desc.reduces_in_parallel() {
        facts.push((
            "split-K",
            "a second kernel adds the split-K slices, with one thread block per access of a tile's threads; no tickets, no memset".to_owned(),
        ));
    }
    if slices > 1 && desc.cuts_by_cluster() {
        let of = machine.multiprocessors;
        let [whole, cut] = [1, slices].map(|slices| (tiles * f64::from(slices)).min(f64::from(of)));
        let why = format!("{cut} of {of} multiprocessors read A and B ({whole} without split-K)");
        facts.push((
            "split-K",
            format!(
                "each cluster adds its split-K slices in shared memory; no workspace, no memset; {why}"
            ),
        ));
    }
    let routes = desc.routes(problem)?;
    let workspace = match routes.workspace_bytes() {
        0 => String::new(),
        bytes => format!(", with a workspace of {bytes} bytes"),
    };
    facts.push(("operands", format!("{routes}{workspace}")));
    let predicted =
        desc.predicted_time(&size_of(problem), machine).filter(|_| tiles > 0.0 && framed.k > 0);
    facts.extend(predicted.map(|time| ("time", shares(time))));
    Ok(facts)
}

/// Returns the size of a problem, which the selection among candidates depends on.
#[must_use]
pub fn size_of(problem: &Problem) -> ProblemSize {
    let Problem { m, n, k, batch, a, b, .. } = *problem;
    let leading = [a, b].map(|view| view.strides.into_iter().max());
    let gathers = problem.indices.operands.map(|list| list.is_some());
    // A kernel with a gate multiplies two columns of B per column of D.
    let n = if problem.up.matrix().is_some() { 2 * n } else { n };
    match problem.groups {
        Some(groups) => {
            let size = ProblemSize::for_groups_along(groups.axis, (m, n, k), batch);
            ProblemSize { leading, gathers, ..size }
        }
        None => ProblemSize { batch, leading, gathers, ..ProblemSize::new((m, n, k)) },
    }
}

/// Describes the shares of a predicted time.
fn shares(predicted: PredictedTime) -> String {
    let share = |time: f64| percent(time / predicted.total());
    let PredictedTime { products, memory, ends, reduction, passes } = predicted;
    let main = match (products < memory, memory > 0.0) {
        (true, _) => {
            format!("memory {} (math would take {})", share(memory), share(products))
        }
        (false, true) => {
            format!("math {} (memory would take {})", share(products), share(memory))
        }
        (false, false) => format!("math {}", share(products)),
    };
    let further = [("split-K reduction", reduction), ("passes", passes)];
    let further = further
        .iter()
        .filter(|(_, time)| *time > 0.0)
        .map(|(what, time)| format!(", {what} {}", share(*time)));
    format!(
        "predicted: {main}; prologue and epilogue {}{}",
        share(ends),
        further.collect::<String>()
    )
}

/// Returns a share in percent. Only an exact whole is shown as 100 %.
fn percent(share: f64) -> String {
    match 100.0 * share {
        below if below < 0.5 => "under 1 %".to_owned(),
        above if (99.5..100.0).contains(&above) => "over 99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// Returns the number of resident CTAs per SM. It is one if a CTA needs more registers than an SM
/// has, because the kernel then spills.
fn side_by_side(explanation: &Explanation, machine: &Machine) -> u32 {
    match explanation {
        Explanation::Simt(facts) => {
            machine.resident_blocks(facts.threads, facts.registers, facts.smem_bytes).max(1)
        }
        Explanation::MmaSync(facts) => {
            machine.resident_blocks(facts.threads, facts.registers, facts.smem_bytes).max(1)
        }
        // A persistent kernel has one CTA per SM.
        Explanation::TmaRing(_) => 1,
    }
}
