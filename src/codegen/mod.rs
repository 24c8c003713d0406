//! What both languages have to agree on, written once and generated for the other.
//!
//! The [`mirrored!`](self) table makes a Rust struct and its C++ twin, for parameters that cross at
//! launch. A family's room spells its description as `config.cuh` with what is here; a
//! [`TranslationUnit`] is all the text that NVRTC sees. No `-D` macros, no positional text.

use crate::{
    desc::{Class, GemmMode},
    epilogue::{self, reduction::Reduction},
    index::{IndexMap, Map, fingerprint},
    numeric::ElementKind,
    operand::{Axis, VectorKind},
    shape::{Mn, Mnk},
    thread::mma::packed,
    threadblock::{
        GroupTiles, PARTS_AT_ONCE, PartsOfK, StreamedParts, Streams, SwizzleKind, TileOrder, Work,
        WorkKind, lines_of_rectangle,
    },
    warp::{exchange::BlockedToStriped, mma_simt::ThreadTiles},
};
use core::fmt::Write;

/// A type that both languages can hold.
#[doc(hidden)]
pub trait Spelled {
    /// A C++ declaration of `name`.
    fn declaration(name: &str) -> String;
}

macro_rules! spelled {
    ($($ty:ty: $cuda:literal,)*) => {
        $(impl Spelled for $ty {
            fn declaration(name: &str) -> String {
                format!("{} {name}", $cuda)
            }
        })*
    };
}

spelled! { u64: "unsigned long long", i64: "long long", u32: "unsigned", i32: "int", f64: "double", }

impl<T: Spelled, const N: usize> Spelled for [T; N] {
    fn declaration(name: &str) -> String {
        format!("{}[{N}]", T::declaration(name))
    }
}

/// Declares structs that cross at launch, each a Rust struct with its C++ twin.
#[doc(hidden)]
#[macro_export]
macro_rules! mirrored {
    ($(#[doc = $doc:literal])* $Name:ident $(align $align:literal)? { $($(#[doc = $field_doc:literal])* $field:ident: $ty:ty,)* }) => {
        $(#[doc = $doc])*
        #[repr(C $(, align($align))?)]
        #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $Name {
            $($(#[doc = $field_doc])* pub $field: $ty,)*
        }

        impl $Name {
            /// The C++ twin. `Pod` says that there is no padding, and the assertion that C++ adds
            /// none.
            pub fn declaration() -> String {
                use ::core::fmt::Write as _;
                let mut text = concat!("struct ", $("alignas(", $align, ") ",)? stringify!($Name), " {\n").to_owned();
                $(
                    $(text.push_str(concat!("  //", $field_doc, "\n"));)*
                    let _ = writeln!(text, "  {};", <$ty as $crate::internals::codegen::Spelled>::declaration(stringify!($field)));
                )*
                let _ = writeln!(
                    text,
                    "}};\nstatic_assert(sizeof({name}) == {} && alignof({name}) == {}, \"{name}: the Rust struct and the CUDA struct differ\");",
                    size_of::<$Name>(),
                    align_of::<$Name>(),
                    name = stringify!($Name)
                );
                text
            }
        }

        impl $crate::internals::codegen::Spelled for $Name {
            fn declaration(name: &str) -> String {
                format!("{} {name}", stringify!($Name))
            }
        }
    };
}

mod array;
mod decompose;
mod kernels;
mod maps;
mod offsets;
mod repack;
mod tensors;
mod unit;

pub use array::{Addresses, ArrayParams};
pub use decompose::{DecomposeParams, DecomposedLine};
pub(crate) use decompose::{emulation_fingerprints, emulation_header, register_fingerprints};
pub use kernels::KERNELS;
pub(crate) use maps::records_fingerprint;
pub use maps::{MOST_RECORDS, MOST_RECORDS_AT_ALL, MapsParams};
pub use offsets::{MOST_OFFSETS, OffsetsParams};
pub use repack::{RepackCopyParams, RepackParams};
pub use tensors::{TensorGemmParams, TensorMap};
pub use unit::TranslationUnit;

mirrored! {
    /// What a kernel is launched with.
    GemmParams {
        /// Address of A.
        a: u64,
        /// Address of B.
        b: u64,
        /// Address of C; 0 when it is not read.
        c: u64,
        /// Address of D.
        d: u64,
        /// Leading dimension of A, in elements.
        lda: i64,
        /// Leading dimension of B, in elements.
        ldb: i64,
        /// Leading dimension of C, in elements.
        ldc: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// alpha, beta, s2 .. s7.
        scalars: [f64; 8],
        /// Rows of D.
        m: i32,
        /// Columns of D.
        n: i32,
        /// Length of the dot products; 0 when the epilogue reads no accumulator.
        k: i32,
        /// K-tiles.
        tiles_k: u32,
        /// Tiles down D.
        tiles_m: u32,
        /// Tiles across D.
        tiles_n: u32,
        /// Whether the epilogue reads C.
        reads_source: u32,
        /// Products of the batch.
        batch: u32,
        /// Elements from one A of the batch to the next.
        stride_a: i64,
        /// Elements from one B of the batch to the next.
        stride_b: i64,
        /// Elements from one C of the batch to the next.
        stride_c: i64,
        /// Elements from one D of the batch to the next.
        stride_d: i64,
        /// Addresses of vectors; 0 of one that is not read.
        vectors: [u64; VectorKind::ALL.len()],
        /// Address of the partial accumulators of the parts of K; 0 without split-K.
        slots: u64,
        /// Address of the tiles' tickets, which are 0.
        tickets: u64,
        /// Parts of K; of streams, tiles that are streamed.
        split_k: u32,
        /// K-tiles of each part, or of each cluster's span, but for the first ones, which have one
        /// more.
        part_tiles: u32,
        /// Parts, or spans, that have one k-tile more.
        longer_parts: u32,
        /// Tickets of each tile.
        tile_tickets: u32,
        /// Address of the offsets of groups; 0 without groups.
        offsets: u64,
    }
}

mirrored! {
    /// What a transpose is launched with.
    TransposeParams {
        /// Address of A.
        a: u64,
        /// Address of B; 0 when it is not read.
        b: u64,
        /// Address of D.
        d: u64,
        /// Leading dimension of A, in elements.
        lda: i64,
        /// Leading dimension of B, in elements.
        ldb: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// Elements from one A of the batch to the next.
        stride_a: i64,
        /// Elements from one B of the batch to the next.
        stride_b: i64,
        /// Elements from one D of the batch to the next.
        stride_d: i64,
        /// Scales A's transpose.
        alpha: f64,
        /// Scales B.
        beta: f64,
        /// Rows of A.
        rows: i32,
        /// Columns of A.
        columns: i32,
        /// Tiles down one D.
        tiles_down: u32,
        /// Tiles across one D.
        tiles_across: u32,
        /// Whether A is read.
        reads_a: u32,
        /// Whether B is read.
        reads_b: u32,
    }
}

/// The name of the entry point of products.
pub const ENTRY: &str = "gemm";

/// The name of the entry point that adds parts of K.
pub(crate) const REDUCTION_ENTRY: &str = "reduce";

/// The text of an entry point, within bounds of its launch: it waits for the grids before it, and
/// does `body` with its parameters.
pub(crate) fn entry_point(entry: &str, (bounds, params): (&str, &str), body: &str) -> String {
    format!(
        "extern \"C\" __global__ void __launch_bounds__({bounds}) {entry}(const __grid_constant__ {params} params) {{\n  schedule::wait_for_grids();\n  {body}(params);\n}}\n"
    )
}

/// The same of the one that adds parts of K, by a C++ type that has its `run` and the number of its
/// blocks.
pub(crate) fn reduction_entry_point(
    Reduction { blocks, threads }: Reduction,
    params: &str,
    ty: &str,
) -> String {
    let same = format!(
        "static_assert({ty}::kBlocks == {blocks}u && {ty}::kThreads == {threads}, \"blocks of a tile: the launch and the kernel differ\");\n"
    );
    same + &entry_point(REDUCTION_ENTRY, (&threads.to_string(), params), &format!("{ty}::run"))
}

/// The order of tiles, for `kernels/threadblock/swizzle.cuh`.
pub(crate) fn order_header(order: SwizzleKind) -> String {
    let (ordering, group_size) = order.spelled();
    format!(
        "#include \"threadblock/swizzle.cuh\"\nstruct Order {{\n  static constexpr threadblock::Ordering kOrdering = threadblock::Ordering::{ordering};\n  static constexpr int kGroupSize = {group_size};\n}};\n"
    )
}

/// How a kernel's units of work are ordered and divided, and whether they are of a batch and parts
/// of K, of which a cluster's blocks may have so many, as facts of its `Config`.
pub(crate) fn work_facts(
    kind: WorkKind,
    (mode, group_step): (GemmMode, u32),
    (split_k, of_cluster): (bool, u32),
) -> String {
    let (kind, batched) = (kind.cuda(), mode.several());
    let (ragged, array, mapped) =
        (mode.groups().map_or("None", Axis::name), mode.is_array(), mode.is_mapped());
    format!(
        "  using Order = ::Order;\n  static constexpr threadblock::WorkKind kWork = {kind};\n  static constexpr bool kBatched = {batched};\n  static constexpr bool kArray = {array};\n  static constexpr bool kMapped = {mapped};\n  static constexpr threadblock::Ragged kRagged = threadblock::Ragged::{ragged};\n  static constexpr unsigned kGroupStep = {group_step};\n  static constexpr bool kSplitK = {split_k};\n  static constexpr int kPartsAtOnce = {PARTS_AT_ONCE};\n  static constexpr unsigned kClusterK = {of_cluster};\n"
    )
}

/// The epilogue: the user's functions, and the struct `Epilogue`.
pub(crate) fn epilogue_header(class: &Class) -> String {
    let mut text = format!(
        "#line 1 \"epilogue.cuh\"\n{}",
        epilogue::functions(&class.output.epilogue, class.compute)
    );
    let _ = writeln!(
        text,
        "struct Epilogue {{\n  using Compute = {};\n  using C = {};\n  template <class Params>\n  static __device__ __forceinline__ Compute apply(Compute accumulator, Compute source, const Compute (&scalar)[8], Params const& params, unsigned row, unsigned column) {{\n    return {};\n  }}\n}};",
        class.compute.cuda(),
        class.output.element.cuda(),
        epilogue::expression(&class.output.epilogue, class.compute)
    );
    text
}

/// Facts of kernels whose threads multiply and store, each its own tile.
pub(crate) fn facts_of_threads(
    tiles: &ThreadTiles,
    accumulator: ElementKind,
    store_access: u32,
) -> [(&'static str, u32); 10] {
    let (warps, lanes) = (tiles.warps(), tiles.lanes);
    [
        ("kWarpK", tiles.warp.k),
        ("kWarpsM", warps.m),
        ("kWarpsN", warps.n),
        ("kWarpsK", warps.k),
        ("kLanesM", lanes.m),
        ("kLanesN", lanes.n),
        ("kThreadsPerSlice", tiles.threads_per_slice()),
        ("kPacked", packed(accumulator, tiles.thread())),
        ("kStoreAccess", store_access),
        ("kExchanges", BlockedToStriped::of(tiles, accumulator, store_access).is_some().into()),
    ]
}

/// That the C++ map `twin` has the fingerprint of `map`.
pub fn fingerprint_assertion(twin: &str, name: &str, map: &dyn IndexMap) -> String {
    let wanted = fingerprint(map);
    format!(
        "static_assert(index::fingerprint<{twin}>() == {wanted}u, \"{name}: the Rust map and the CUDA map differ\");\n"
    )
}

/// Tiles down and across whose order has a fingerprint.
pub(crate) const ORDERED: [(u32, u32); 5] = [(1, 1), (5, 3), (3, 7), (4, 19), (18, 35)];

/// K-tiles and parts whose cuts have a fingerprint.
const PARTS: [(u32, u32); 4] = [(0, 3), (5, 5), (13, 4), (1000, 7)];

/// Those of the cuts of K.
pub(crate) fn fingerprints_of_parts() -> String {
    let assertion = |(tiles_k, parts)| {
        fingerprint_assertion(
            &format!("threadblock::PartsOfK<{tiles_k}, {parts}>"),
            "parts",
            &PartsOfK { tiles_k, parts },
        )
    };
    PARTS.map(assertion).concat()
}

/// Tiles, k-tiles of each, clusters, and units of a cluster at most, whose spans have a
/// fingerprint.
const STREAMS: [(u32, u32, u32, u32); 3] = [(3, 7, 5, 2), (7, 3, 5, 3), (5, 16, 4, 3)];

/// Those of the spans of streams.
pub(crate) fn fingerprints_of_streams() -> String {
    let assertion = |(tiles, tiles_k, clusters, units)| {
        let twin = format!("threadblock::StreamedParts<{tiles}, {tiles_k}, {clusters}, {units}>");
        let streams = Streams { tiles, tiles_k, clusters };
        fingerprint_assertion(&twin, "streams", &StreamedParts { streams, units })
    };
    STREAMS.map(assertion).concat()
}

/// Those of the walk over groups, on both sides of a tile's end; none without groups.
pub(crate) fn fingerprints_of_groups(
    (mode, step): (GemmMode, u32),
    tile: Mnk,
    (order, cluster): (SwizzleKind, Mn),
) -> String {
    let Some(axis) = mode.groups() else { return String::new() };
    let lines = lines_of_rectangle(axis, tile, cluster);
    let assertion = |(count, across): (u32, u32)| {
        let kind = WorkKind::DataParallel;
        let work = Work {
            kind,
            order,
            cluster,
            rows: across,
            columns: across,
            batch: 1,
            tiles_k: 1,
            split_k: 1,
            clusters: 1,
        };
        let map = GroupTiles { work, axis, lines, step, count };
        fingerprint_assertion(
            &format!("threadblock::GroupTiles<Config, {count}, {across}>"),
            "groups",
            &map,
        )
    };
    [(1, 3), (6, 2)].map(assertion).concat()
}

/// Those of maps by the names of their twins, and of the order of tiles.
pub(crate) fn fingerprints_of(maps: &[(&'static str, Map)], kind: SwizzleKind) -> String {
    let mut text = String::new();
    for (name, map) in maps {
        text.push_str(&fingerprint_assertion(&format!("maps::{name}"), name, map.as_ref()));
    }
    for (rows, columns) in ORDERED {
        let twin = format!("threadblock::TileOrder<Config::Order, {rows}, {columns}>");
        text.push_str(&fingerprint_assertion(&twin, "order", &TileOrder { kind, rows, columns }));
    }
    text
}
