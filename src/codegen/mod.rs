//! Generated CUDA headers: everything on which Rust and C++ must agree is written once, in Rust.
//!
//! The [`mirrored!`](self) macro makes a Rust struct and its C++ twin, for kernel parameters. A
//! main loop and an MMA write a description as `config.cuh` with the functions of this module. A
//! [`TranslationUnit`] is the complete text that NVRTC reads. There are no `-D` macros, and facts
//! have names instead of positions.

use crate::{
    epilogue::{MOST_OPERANDS, SCALARS, reduction::Reduction},
    layout::index_map::{IndexMap, fingerprint},
    nest::GemmMode,
    shape::{Axis, EpilogueOperand, Mn, Mnk},
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
    /// An operand of an epilogue: C, or a vector or matrix beside it.
    EpilogueOperandParams {
        /// Address of the first element; 0 if the epilogue does not read the operand.
        address: u64,
        /// Elements between neighboring rows.
        row_stride: i64,
        /// Elements between neighboring columns.
        column_stride: i64,
        /// Elements between the matrices of neighboring GEMMs.
        batch_stride: i64,
    }
}

impl EpilogueOperandParams {
    /// An operand that the epilogue does not read.
    pub const NONE: Self = Self { address: 0, row_stride: 0, column_stride: 0, batch_stride: 0 };
}

mirrored! {
    /// An index list, and the lines of its matrix.
    IndexParams {
        /// Address of the list; 0 without a list.
        address: u64,
        /// Number of lines of the matrix.
        extent: u32,
        /// Padding, which is 0.
        reserved: u32,
    }
}

impl IndexParams {
    /// No list.
    pub const NONE: Self = Self { address: 0, extent: 0, reserved: 0 };
}

mirrored! {
    /// The parts of a sum that an epilogue writes, which a second kernel adds.
    SumParams {
        /// Address of the parts; 0 without a sum.
        address: u64,
        /// Values from the parts of one GEMM to those of the next GEMM; 0 if groups of D share
        /// them.
        batch_stride: u64,
        /// Lines that have a sum: rows or columns of D.
        lines: u32,
        /// Parts per line.
        parts: u32,
        /// GEMMs with sums of their own.
        products: u32,
        /// Padding, which is 0.
        reserved: u32,
    }
}

impl SumParams {
    /// No sum.
    pub const NONE: Self =
        Self { address: 0, batch_stride: 0, lines: 0, parts: 0, products: 0, reserved: 0 };
}

mirrored! {
    /// Parameters of a GEMM kernel. With a TMA ring, tensor maps follow them: see
    /// [`TensorGemmParams`].
    GemmParams {
        /// Address of A, which a TMA ring reads through its tensor map instead.
        a: u64,
        /// Address of B, as of A.
        b: u64,
        /// Address of D.
        d: u64,
        /// Leading dimension of A, in elements.
        lda: i64,
        /// Leading dimension of B, in elements.
        ldb: i64,
        /// Leading dimension of D, in elements.
        ldd: i64,
        /// Batch stride of A, in elements.
        stride_a: i64,
        /// Batch stride of B, in elements.
        stride_b: i64,
        /// Batch stride of D, in elements.
        stride_d: i64,
        /// Operands of the epilogue by position. C is operand 0.
        operands: [EpilogueOperandParams; MOST_OPERANDS],
        /// Scalars alpha, beta, and s2 to s7.
        scalars: [f64; SCALARS],
        /// Rows of D.
        m: i32,
        /// Columns of D.
        n: i32,
        /// Length of the dot products; 0 if the epilogue reads no accumulator.
        k: i32,
        /// Number of k-tiles.
        tiles_k: u32,
        /// Number of tiles along M, or of cluster rectangles.
        tiles_m: u32,
        /// Number of tiles along N, or of cluster rectangles.
        tiles_n: u32,
        /// Whether the epilogue reads C.
        reads_source: u32,
        /// Whether alpha is 1, beta is 0, and C is not read, as in most calls.
        unscaled: u32,
        /// Number of GEMMs in the batch.
        batch: u32,
        /// Bit mask of A (bit 0), B, and C. A bit is set if each GEMM has its own matrix.
        own: u32,
        /// Number of split-K slices. With stream-K, the number of streamed tiles.
        split_k: u32,
        /// K-tiles per split-K slice. With stream-K, k-tiles per cluster's span. The first
        /// `longer_slices` slices or spans have one more.
        slice_tiles: u32,
        /// Number of slices or spans with one more k-tile.
        longer_slices: u32,
        /// Tickets per tile, times the consumers that share the tile; 0 if a second kernel reduces
        /// the slices.
        tile_tickets: u32,
        /// K-tiles per term of a decomposed operand; unused otherwise.
        term_blocks: u32,
        /// Padding, which is 0.
        unused: u32,
        /// Addresses of the `DecomposedLine`s of A's rows and B's columns, if they are scaled.
        lines: [u64; 2],
        /// Bytes from the lines of one GEMM's operands to the lines of the next GEMM, for A and B.
        stride_lines: [u64; 2],
        /// Address of the split-K partials; 0 without split-K.
        slots: u64,
        /// Address of the tickets, which are 0 at the launch.
        tickets: u64,
        /// Address of the group offsets, or of the records of an array.
        records: u64,
        /// Index lists of A, B, and D.
        indices: [IndexParams; 3],
        /// Elements between neighboring rows and columns of D, for a D with two strides.
        strides_d: [i64; 2],
        /// Elements between groups of rows and of columns of C, and of D.
        outer_strides: [[i64; 2]; 2],
        /// Rows and columns per group of C, and of D.
        split_extents: [[u32; 2]; 2],
        /// Elements from a gate's column of B to its partner; 0 without a gate.
        gate_stride: i64,
        /// Sums that the epilogue writes, in the order of [`EpilogueOperand::SUMS`].
        sums: [SumParams; EpilogueOperand::SUMS.len()],
    }
}

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
