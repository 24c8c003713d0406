//! Generated CUDA headers: everything on which Rust and C++ must agree is written once, in Rust.
//!
//! The [`mirrored!`](self) macro makes a Rust struct and its C++ twin, for kernel parameters. A
//! main loop and an MMA write a description as `config.cuh` with the functions of this module. A
//! [`TranslationUnit`] is the complete text that NVRTC reads. There are no `-D` macros, and facts
//! have names instead of positions.

use crate::{
    epilogue::reduction::Reduction,
    layout::index_map::{IndexMap, fingerprint},
    nest::GemmMode,
    shape::{Axis, Mn, Mnk},
    threadblock::{
        GroupRanges, GroupTiles, KSlices, ORDERED, StreamedSlices, Streams, SwizzleKind, TileOrder,
        Work, WorkKind, lines_of_rectangle,
    },
    warp::MirroredMap,
};

/// A type with the same representation in Rust and C++.
#[doc(hidden)]
pub trait Spelled {
    /// Returns a C++ declaration of `name`.
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

/// Declares structs of kernel parameters: each is a Rust struct with its C++ twin.
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
            /// Returns the C++ twin. `Pod` rejects padding in Rust, and the assertion rejects
            /// padding in C++.
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

mod config;
mod decompose;
pub(crate) mod facts;
mod gather;
mod gemm;
mod gemm_params;
mod kernels;
mod records;
mod repack;
mod tensors;
mod transforms;
mod unit;

pub(crate) use config::{config_header, facts_of_threads, order_header, printable, work_facts};
pub use decompose::{DecomposeParams, DecomposedLine};
pub(crate) use decompose::{emulation_fingerprints, emulation_header, register_fingerprints};
pub use gather::GatherParams;
pub(crate) use gemm::{MainloopFingerprints, MainloopText, gemm_unit};
pub use gemm_params::{EpilogueOperandParams, GemmParams, IndexParams, SumParams};
pub use kernels::KERNELS;
#[cfg(any(feature = "cuda", test))]
pub use records::RecordsHeader;
pub use records::RecordsParams;
pub(crate) use records::records_fingerprint;
pub use repack::{RepackCopyParams, RepackParams};
pub use tensors::{TensorGemmParams, TensorMap};
pub(crate) use transforms::{fragment_transform, transform_name, transform_structs};
pub use unit::TranslationUnit;

mirrored! {
    /// Parameters of a transpose.
    TransposeParams {
        /// Address of A.
        a: u64,
        /// Address of C; 0 if the transpose does not read C.
        c: u64,
        /// Address of D.
        d: u64,
        /// Leading dimension of A, in elements.
        lda: i64,
        /// Leading dimension of C, in elements.
        ldc: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// Batch stride of A, in elements.
        stride_a: i64,
        /// Batch stride of C, in elements.
        stride_c: i64,
        /// Batch stride of D, in elements.
        stride_d: i64,
        /// Factor of the transpose of A.
        alpha: f64,
        /// Factor of C.
        beta: f64,
        /// Rows of A.
        rows: i32,
        /// Columns of A.
        columns: i32,
        /// Number of tiles down one D.
        tiles_down: u32,
        /// Number of tiles across one D.
        tiles_across: u32,
        /// Whether the transpose reads A.
        reads_a: u32,
        /// Whether the transpose reads C.
        reads_c: u32,
    }
}

/// Name of the GEMM entry point.
pub const ENTRY: &str = "gemm";

/// Name of the entry point that reduces split-K partials.
pub(crate) const REDUCTION_ENTRY: &str = "reduce";

/// Returns the text of an entry point with launch bounds. It waits for the preceding grids, and
/// then calls `body` with its parameters.
pub(crate) fn entry_point(entry: &str, (bounds, params): (&str, &str), body: &str) -> String {
    format!(
        "extern \"C\" __global__ void __launch_bounds__({bounds}) {entry}(const __grid_constant__ {params} params) {{\n  schedule::wait_for_grids();\n  {body}(params);\n}}\n"
    )
}

/// Returns the text of the reduction entry point. The C++ type `ty` has its `run` and its launch
/// dimensions.
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

/// Returns the assertion that the C++ map `twin` has the fingerprint of `map`.
pub fn fingerprint_assertion(twin: &str, name: &str, map: &dyn IndexMap) -> String {
    let wanted = fingerprint(map);
    format!(
        "static_assert(index::fingerprint<{twin}>() == {wanted}u, \"{name}: the Rust map and the CUDA map differ\");\n"
    )
}

/// Pairs of (k-tiles, slices) at which the division of K has a fingerprint.
const SLICED: [(u32, u32); 4] = [(0, 3), (5, 5), (13, 4), (1000, 7)];

/// Returns the fingerprint assertions of the split-K division.
pub(crate) fn fingerprints_of_slices() -> String {
    let assertion = |(tiles_k, slices)| {
        fingerprint_assertion(
            &format!("threadblock::KSlices<{tiles_k}, {slices}>"),
            "slices",
            &KSlices { tiles_k, slices },
        )
    };
    SLICED.map(assertion).concat()
}

/// Rows of (tiles, k-tiles per tile, clusters, maximum units per cluster) at which stream-K spans
/// have a fingerprint.
const STREAMS: [(u32, u32, u32, u32); 3] = [(3, 7, 5, 2), (7, 3, 5, 3), (5, 16, 4, 3)];

/// Returns the fingerprint assertions of the stream-K spans.
pub(crate) fn fingerprints_of_streams() -> String {
    let assertion = |(tiles, tiles_k, clusters, units)| {
        let twin = format!("threadblock::StreamedSlices<{tiles}, {tiles_k}, {clusters}, {units}>");
        let streams = Streams { tiles, tiles_k, clusters };
        fingerprint_assertion(&twin, "streams", &StreamedSlices { streams, units })
    };
    STREAMS.map(assertion).concat()
}

/// Returns the fingerprint assertions of the tiles of groups, with group ends on both sides of a
/// tile's end. The text is empty without groups.
pub(crate) fn fingerprints_of_groups(
    (mode, step): (GemmMode, u32),
    tile: Mnk,
    (order, cluster): (SwizzleKind, Mn),
) -> String {
    let Some(axis) = mode.groups() else { return String::new() };
    if matches!(axis, Axis::K) {
        let (groups, tile_k) = (6, tile.k);
        return fingerprint_assertion(
            &format!("threadblock::GroupRanges<Config, {groups}>"),
            "groups",
            &GroupRanges { groups, step, tile_k },
        );
    }
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

/// Returns the fingerprint assertions of the named maps and of the order of tiles.
pub(crate) fn fingerprints_of(maps: &[MirroredMap], kind: SwizzleKind) -> String {
    let mut text = String::new();
    for (name, twin, map) in maps {
        text.push_str(&fingerprint_assertion(twin, name, map.as_ref()));
    }
    for (rows, columns) in ORDERED {
        let twin = format!("threadblock::TileOrder<Config::Order, {rows}, {columns}>");
        text.push_str(&fingerprint_assertion(&twin, "order", &TileOrder { kind, rows, columns }));
    }
    text
}
