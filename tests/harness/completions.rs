//! Descriptions that are completed from one pinned knob: all values of a knob that may be valid.

use super::{case::Tally, conformance::judge_both, problems, random_cases::orders};
use crate::harness::prelude::*;
use falchion::internals::nest::Resolved;

/// JSON name of a knob, and its value.
pub type Pinned = (&'static str, String);

/// Returns the request for the class of a description with pinned knobs.
pub fn request(desc: &GemmDesc, pins: &[Pinned]) -> Request {
    let (types, orders) = (desc.user_types(), desc.orders());
    let matrix = |element, order| Some(MatrixType { element, order });
    Request {
        a: matrix(types.a, orders.a),
        b: matrix(types.b, orders.b),
        c: matrix(types.c, orders.c),
        accumulator: Some(types.accumulator),
        op: Some(desc.op()),
        arch: Some(desc.arch),
        knobs: pins.iter().map(|(name, words)| ((*name).to_owned(), words.clone())).collect(),
        ..Request::default()
    }
}

/// Completes pinned knobs, and checks that the description has them.
pub fn completed(desc: &GemmDesc, pins: &[Pinned]) -> Result<GemmDesc, String> {
    let Resolved { desc, .. } =
        request(desc, pins).resolve(ArchKind::Sm90).map_err(|error| error.to_string())?;
    let words = desc.user_pins().words();
    for (name, value) in pins {
        let at = Pins::TABLE.iter().position(|row| row.0 == *name).expect("a knob");
        assert_eq!(words[at].as_ref(), Some(value), "{name}");
    }
    Ok(desc)
}

/// Returns the type combinations of an operation that have a kernel on sm90. In a whole tree, these
/// are all combinations.
pub fn combinations_on_hopper(op: OpKind) -> Vec<Combined> {
    let has_kernel =
        |types: &&Combined| default_gemm_configurations(op, ArchKind::Sm90, **types).is_ok();
    Combined::all_of(op).iter().filter(has_kernel).copied().collect()
}

/// Returns the default descriptions of all type combinations of an operation on sm90, with K-major
/// operands and with operands that are contiguous along M and N.
pub fn classes(op: OpKind) -> impl Iterator<Item = GemmDesc> {
    let orders = [[Order::Row, Order::Col, Order::Row], [Order::Col, Order::Row, Order::Col]];
    let of = move |types: &Combined, orders| default_of(op, ArchKind::Sm90, *types, orders);
    multiplied(op).into_iter().flat_map(move |types| orders.map(|orders| of(&types, orders)))
}

/// Returns descriptions with CUTLASS's threadblock and warp tiles for `f16` accumulators, in every
/// layout. Adds the default from sm_80 on, and its double along K.
pub fn tiles_of_halves(arch: ArchKind) -> Vec<GemmDesc> {
    let tiles = [
        ("32x256x8", "32x128x8"),
        ("256x32x8", "128x32x8"),
        ("128x256x8", "64x64x8"),
        ("256x128x8", "64x64x8"),
        ("64x256x8", "64x64x8"),
        ("256x64x8", "64x64x8"),
        ("128x128x8", "32x64x8"),
        ("128x128x32", "32x128x32"),
        ("128x128x16", "32x128x16"),
    ];
    let half = ElementKind::F16;
    let base = |orders| default_of(OpKind::Simt, arch, element_types(half, half, half), orders);
    let of = |desc: GemmDesc| {
        tiles.map(|(threadblock, warp)| {
            let pins = [("threadblock", threadblock.to_owned()), ("warp", warp.to_owned())];
            completed(&desc, &pins).unwrap_or_else(|sentence| {
                panic!("{arch} {threadblock} {warp} {:?}: {sentence}", desc.orders())
            })
        })
    };
    orders().map(base).flat_map(of).collect()
}

/// Returns the tiles with these sizes along M, N, and K.
pub fn tiles(m: &[u32], n: &[u32], k: &[u32]) -> Vec<Mnk> {
    m.iter()
        .flat_map(|&m| n.iter().flat_map(move |&n| k.iter().map(move |&k| Mnk { m, n, k })))
        .collect()
}

/// Returns every knob that the explorer varies with each of its values, and some more values.
pub fn single_knobs(desc: &GemmDesc) -> Vec<Pinned> {
    let k = desc.threadblock().k;
    let (threadblocks, warps) = match desc.op() {
        OpKind::TensorOp => {
            let columns = [64, 128, 192, 256];
            (tiles(&[64, 128, 192, 256], &columns, &[k]), tiles(&[64, 128], &columns, &[k]))
        }
        OpKind::Simt => {
            let (sides, warps) = ([32, 64, 128, 256], [16, 32, 64, 128]);
            (tiles(&sides, &sides, &[k, 32]), tiles(&warps, &warps, &[k]))
        }
    };
    let clusters = ["1x1", "2x1", "1x2", "4x1", "1x4", "3x1", "1x5", "8x1"].map(str::to_owned);
    let problem = |tiles: Vec<Mnk>| tiles.into_iter().map(|tile| tile.to_string()).collect();
    let lists: [(&'static str, Vec<String>); 8] = [
        ("threadblock", problem(threadblocks)),
        ("warp", problem(warps)),
        ("stages", (1..=16).map(|stages: u32| stages.to_string()).collect()),
        ("cluster", clusters.to_vec()),
        ("pending", (0..4).map(|groups: u32| groups.to_string()).collect()),
        ("l2_promotion", L2PromotionKind::ALL.iter().map(|kind| kind.name().to_owned()).collect()),
        ("schedule", ScheduleKind::ALL.iter().map(|kind| kind.name().to_owned()).collect()),
        ("mainloop", MainloopKind::ALL.iter().map(|kind| kind.name().to_owned()).collect()),
    ];
    lists
        .into_iter()
        .flat_map(|(name, values)| values.into_iter().map(move |value| (name, value)))
        .collect()
}

/// Returns the completed descriptions of all single knobs, without duplicates.
pub fn change_single_knobs(desc: &GemmDesc) -> Vec<GemmDesc> {
    let mut all: Vec<_> =
        single_knobs(desc).into_iter().filter_map(|pin| completed(desc, &[pin]).ok()).collect();
    let mut seen = HashSet::new();
    all.retain(|desc| seen.insert(*desc));
    all
}

/// Returns the completed descriptions of every single knob and class of an operation.
pub fn completions_of_single_knobs(op: OpKind) -> Vec<GemmDesc> {
    sample(classes(op).flat_map(|base| change_single_knobs(&base)).collect())
}

/// Runs the completed descriptions of every single knob and class of an operation. Each has its own
/// problem, with integers and then with random data. Panics at the first wrong result.
/// `FALCHION_SAMPLE` selects a part of the descriptions.
pub fn conform(runner: &dyn Runner, op: OpKind, most_work: u64) -> Tally {
    conform_all(runner, &completions_of_single_knobs(op), most_work)
}

/// Runs descriptions as [`conform`] does.
pub fn conform_all(runner: &dyn Runner, all: &[GemmDesc], most_work: u64) -> Tally {
    let wanted = problems::Wanted { most_work, aligned: runner.needs_alignment() };
    let one = |(seed, desc): (u64, &GemmDesc)| {
        judge_both(runner, desc, &guarded(seed, desc, wanted), (seed, seed))
    };
    let all = (0u64..).zip(all).collect::<Vec<_>>();
    all.into_par_iter().map(one).reduce(Tally::default, Tally::and)
}
