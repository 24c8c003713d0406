//! The generated header `config.cuh`: the facts of a GEMM kernel for the C++ templates.

use crate::{
    epilogue,
    nest::{GemmDesc, plan::Geometry},
    shape::Axis,
    thread::mma::packed,
    threadblock::{SLICES_AT_ONCE, SwizzleKind, WorkKind, registered_swizzle, row_index::scatter},
    warp::{ThreadTiles, exchange::BlockedToStriped},
};
use core::fmt::Write;

/// Returns `config.cuh`, which includes the headers `includes`. The struct `Config` has `members`
/// in addition to the operands, the types of the accumulators and of C, and the epilogue.
pub(crate) fn config_header(
    desc: &GemmDesc,
    (includes, declarations): (&[&str], &str),
    members: &str,
) -> String {
    let includes: String = includes.iter().map(|name| format!("#include \"{name}\"\n")).collect();
    format!(
        "#pragma once\n{includes}{declarations}{}{}#line 1 \"config.cuh\"\nstruct Config {{\n  using A = OperandA;\n  using B = OperandB;\n  using Accumulator = {};\n  using C = {};\n  using Epilogue = ::Epilogue;\n{members}}};\n",
        order_header(desc.swizzle()),
        epilogue_header(desc),
        desc.output.accumulator.cuda(),
        desc.output.element.cuda(),
    )
}

/// Returns the order of tiles for `kernels/threadblock/swizzle.cuh`. The text of a user's order is
/// empty if the process does not have the order, which plans refuse.
pub(crate) fn order_header(order: SwizzleKind) -> String {
    let (ordering, group_size) = order.spelled();
    let mut text = "#include \"threadblock/swizzle.cuh\"\n".to_owned();
    let mut user = String::new();
    if let Some((id, swizzle)) = order.user().and_then(|id| Some((id, registered_swizzle(id)?))) {
        let (struct_name, name) = (id.cuda_name(), printable(swizzle.name));
        let _ = writeln!(
            text,
            "struct {struct_name} {{\n  static __device__ __forceinline__ constexpr threadblock::Tile of(unsigned block, unsigned rows, unsigned columns) {{\n#line 1 \"swizzle {name}\"\n{}\n#line 1 \"config.cuh\"\n  }}\n}};",
            swizzle.cuda
        );
        user = format!("  using User = ::{struct_name};\n");
    }
    let _ = writeln!(
        text,
        "struct Order {{\n  static constexpr threadblock::Ordering kOrdering = threadblock::Ordering::{ordering};\n  static constexpr int kGroupSize = {group_size};\n{user}}};"
    );
    text
}

/// Returns a name without the characters that would end a string in C++.
pub(crate) fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect()
}

/// Returns the facts of `Config` about work units: their order, division, mode, records, and
/// split-K.
pub(crate) fn work_facts(desc: &GemmDesc, geometry: &Geometry) -> String {
    let (kind, mode) = (geometry.work.cuda(), desc.work.mode);
    let (batched, array, positions) = (mode.several(), mode.is_array(), desc.has_positions());
    let (ragged, group_step) = (mode.groups().map_or("None", Axis::name), geometry.group_step);
    let (split_k, scatter, strided) = (desc.has_slices(), scatter(desc), desc.output.strided);
    // Split-K slices that the CTAs of a cluster compute.
    let of_cluster = match geometry.work {
        WorkKind::SplitKCluster => geometry.cluster,
        _ => 1,
    };
    let (gated, warp_n, columns) =
        (desc.epilogue.is_gated(), desc.warp().n, desc.tile_of_d(geometry.tile).n);
    let gates = format!(
        "  static constexpr bool kGated = {gated};\n  static constexpr int kGateWarp = {warp_n}, kColumnsOfD = {columns};\n"
    );
    gates
        + &format!(
            "  using Order = ::Order;\n  static constexpr threadblock::WorkKind kWork = {kind};\n  static constexpr bool kBatched = {batched};\n  static constexpr bool kArray = {array};\n  static constexpr bool kPositions = {positions};\n  static constexpr threadblock::Ragged kRagged = threadblock::Ragged::{ragged};\n  static constexpr unsigned kGroupStep = {group_step};\n  static constexpr bool kSplitK = {split_k};\n  static constexpr int kSlicesAtOnce = {SLICES_AT_ONCE};\n  static constexpr unsigned kClusterK = {of_cluster};\n  static constexpr threadblock::Scatter kScatter = {scatter};\n  static constexpr bool kStrided = {strided};\n"
        )
}

/// Returns the epilogue: the user's functions, and the struct `Epilogue`.
fn epilogue_header(desc: &GemmDesc) -> String {
    let mut text = format!(
        "#line 1 \"epilogue.cuh\"\n{}",
        epilogue::functions(&desc.epilogue, desc.output.compute)
    );
    let _ = writeln!(
        text,
        "struct Epilogue {{\n  using Compute = {};\n  using C = {};\n  static constexpr bool kReadsAlphaBetaOrC = {};\n  static constexpr bool kReadsAlpha = {};\n{}}};",
        desc.output.compute.cuda(),
        desc.output.element.cuda(),
        desc.epilogue.reads_alpha_beta_or_c(),
        desc.epilogue.reads_alpha(),
        epilogue::members(
            &desc.epilogue,
            (desc.output.compute, desc.output.element),
            desc.output.indexed.map(|_| scatter(desc)).as_deref()
        )
    );
    text
}

/// Returns the facts of kernels in which each thread multiplies and stores its own tile.
pub(crate) fn facts_of_threads(desc: &GemmDesc, tiles: &ThreadTiles) -> [(&'static str, u32); 10] {
    let (warps, lanes, output) = (tiles.warps(), tiles.lanes, desc.output);
    [
        ("kWarpK", tiles.warp.k),
        ("kWarpsM", warps.m),
        ("kWarpsN", warps.n),
        ("kWarpsK", warps.k),
        ("kLanesM", lanes.m),
        ("kLanesN", lanes.n),
        ("kThreadsPerWarpSlice", tiles.threads_per_warp_slice()),
        ("kPacked", packed(output.accumulator, tiles.thread())),
        ("kStoreAccess", tiles.store_access(output.access)),
        ("kExchanges", BlockedToStriped::for_kernel(desc, tiles).is_some().into()),
    ]
}
