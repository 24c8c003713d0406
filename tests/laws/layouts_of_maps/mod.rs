//! A map that is affine up to a swizzle states its layout: at each point of the domain, the layout
//! equals the map. Every map that is known to be affine states a layout.

mod simt;
mod tma_ring;

use crate::harness::{prelude::*, random_cases::cases, tensors::copies, transposes};
use falchion::{
    layout::algebra::Map,
    threadblock::{BoxedTile, ClusterTiles},
};
use proptest::prelude::*;

/// Result of the comparison of a map with its layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Layout,
    None,
}

/// Compares a map with its layout. At each point of the domain both give the same offset, or the
/// map omits the point and the layout exceeds the codomain.
pub fn compare(name: &str, map: &dyn IndexMap) -> Result<Answer, TestCaseError> {
    let Some(layout) = map.layout() else { return Ok(Answer::None) };
    let extent = map.domain();
    prop_assert!(
        layout.layout.rank() == 2,
        "{name}: {layout} has a mode for rows and one for columns"
    );
    for point in points(map) {
        let offset = layout.offset([u64::from(point.row), u64::from(point.column)]);
        let offset = offset.map_err(|error| {
            TestCaseError::fail(format!("{name}: {layout} at {point:?} of {extent:?}: {error}"))
        })?;
        let inside = u32::try_from(offset).ok().filter(|&offset| offset < map.codomain());
        prop_assert_eq!(inside, map.at(point), "{}: {} at {:?}", name, layout, point);
    }
    Ok(Answer::Layout)
}

/// Checks a map that is known to be affine up to a swizzle.
pub fn affine(name: &str, map: &dyn IndexMap) -> Result<(), TestCaseError> {
    prop_assert_eq!(compare(name, map)?, Answer::Layout, "{} states no layout", name);
    Ok(())
}

/// Returns whether a swizzle of rows is a swizzle of offsets, because pitches are powers of two.
fn is_laid(tile: &SmemTile) -> bool {
    tile.bits == 0 || tile.pitch().is_power_of_two()
}

fn orders(kind: SwizzleKind, rows: u32, columns: u32, cluster: Mn) -> Result<(), TestCaseError> {
    // A group that is narrower than the others is not affine, and curves are not affine either.
    let regular = match kind {
        SwizzleKind::Horizontal => true,
        SwizzleKind::Identity(group_size) => {
            columns <= group_size || columns.is_multiple_of(group_size)
        }
        SwizzleKind::Grouped(group_size) => rows <= group_size || rows.is_multiple_of(group_size),
        SwizzleKind::Hilbert | SwizzleKind::User(_) => false,
    };
    let wanted = if regular { Answer::Layout } else { Answer::None };
    prop_assert_eq!(compare("order", &TileOrder { kind, rows, columns })?, wanted);
    let work = Work {
        kind: WorkKind::Persistent,
        order: kind,
        cluster,
        rows,
        columns,
        batch: 2,
        tiles_k: 1,
        split_k: 1,
        clusters: 3,
    };
    prop_assert_eq!(compare("tiles of a cluster", &ClusterTiles(work))?, wanted);
    Ok(())
}

fn kinds(group_size: u32) -> [SwizzleKind; 4] {
    [
        SwizzleKind::Horizontal,
        SwizzleKind::Identity(group_size),
        SwizzleKind::Grouped(group_size),
        SwizzleKind::Hilbert,
    ]
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn tma_boxes_equal_their_layouts(copy in copies()) {
        let tile = copy.tile();
        let begins = tile.address().is_multiple_of(tile.map().swizzle.repeat_bytes());
        prop_assert_eq!(compare("box", tile)?, if begins { Answer::Layout } else { Answer::None });
    }

    #[test]
    fn tile_orders_equal_their_layouts(rows in 1u32..20, columns in 1u32..20, group_size in 1u32..12, m in 1u32..3, n in 1u32..3) {
        for kind in kinds(group_size) {
            orders(kind, rows, columns, Mn { m, n })?;
        }
    }

    #[test]
    fn transpose_maps_equal_their_layouts(seed in any::<u64>()) {
        for desc in transposes::random_descriptions(4, seed) {
            check_transpose(&desc)?;
        }
    }

    /// Swizzles and paddings of any tile, including those that no description has.
    #[test]
    fn shared_memory_tiles_equal_their_layouts(
        (mn, k, padding) in (1u32..70, 1u32..70, 0u32..5), (bits, base, shift) in (0u32..4, 0u32..4, 0u32..4), (boxes, k_runs) in (1u32..4, any::<bool>())
    ) {
        let along = if k_runs { Along::K } else { Along::Mn };
        let one = SmemTile { along, mn, k, padding, bits, base, shift };
        // A swizzle that leaves its row is invalid for a tile.
        prop_assume!(one.row().is_multiple_of(1 << (bits + base)));
        let laid = compare("tile", &one)?;
        prop_assert_eq!(laid == Answer::Layout, bits == 0 || (one.pitch().is_power_of_two() && one.row().trailing_zeros() + shift >= base + bits));
        compare("boxes", &BoxedTile { one, mn: mn * boxes })?;
        // Boxes of 64 rows begin at the start of the swizzle pattern.
        let one = SmemTile { mn: 64, k: 64, padding: 0, ..one };
        affine("whole boxes", &BoxedTile { one, mn: 64 * boxes })?;
    }

    #[test]
    fn lane_maps_equal_their_layout(m in 0u32..=5, point in 0u32..32, quads in any::<bool>()) {
        let lanes = LaneArrangement { m: 1 << m, n: WARP >> m, quads };
        let (row, column) = lanes.place(point);
        let layout = lanes.layout().expect("lanes have a layout");
        prop_assert_eq!(layout.offset([u64::from(point), 0]).ok(), Some(u64::from(row * lanes.n + column)), "{}", layout);
    }
}

fn check_transpose(
    desc: &falchion::internals::operand::transpose::TransposeDesc,
) -> Result<(), TestCaseError> {
    let smem = desc.smem();
    prop_assert_eq!(compare("staging", &smem)? == Answer::Layout, is_laid(&smem));
    if desc.is_gathered() {
        affine("gathered tile", &desc.gathered())?;
    }
    affine("reads of A", &desc.fetch())?;
    let (write, name) = (desc.write(), "writes of D");
    let whole = write.threads * write.steps() == write.lines * write.pieces;
    if write.lanes == Lanes::Along
        || (whole
            && (write.lines.max(write.threads)).is_multiple_of(write.lines.min(write.threads)))
    {
        affine(name, &write)?;
    }
    compare(name, &write).map(|_| ())
}

/// Every transpose of the defaults and of the ladder.
#[test]
fn maps_of_shipped_transposes_equal_their_layouts() {
    for desc in transposes::named() {
        check_transpose(&desc).unwrap_or_else(|error| panic!("{desc:?}: {error}"));
    }
}

/// The repack pass for each width of a tile's rows, and the decompose pass for both orders.
#[test]
fn pass_maps_equal_their_layouts() -> Result<(), TestCaseError> {
    for (log_pieces, between) in (0..=REPACK.tile().ilog2()).flat_map(|log| [(log, 0), (log, 3)]) {
        affine("repack", &RepackMap::new(REPACK, log_pieces, between))?;
    }
    affine("realignment", &Realignment)?;
    for emulation in EmulationKind::MODES {
        for along_k in [false, true] {
            affine("decompose", &DecomposeDesc { emulation }.pieces(along_k))?;
        }
        let blocks = EmulationBlocks { emulation, frame: Frame::USER, blocks: 7 };
        prop_assert!(blocks.layout().is_none());
    }
    affine(
        "blocks",
        &EmulationBlocks { emulation: EmulationKind::None, frame: Frame::USER, blocks: 7 },
    )
}

/// A map with the layout of another map.
struct Mutated<'m>(&'m dyn IndexMap, Option<Composed>);

impl IndexMap for Mutated<'_> {
    fn domain(&self) -> Coord {
        self.0.domain()
    }
    fn codomain(&self) -> u32 {
        self.0.codomain()
    }
    fn at(&self, point: Coord) -> Option<u32> {
        self.0.at(point)
    }
    fn layout(&self) -> Option<Composed> {
        self.1.clone()
    }
}

/// The law fails for a layout without its swizzle, with another swizzle, with a wrong stride, with
/// a smaller extent, and without a layout.
#[test]
fn a_mutated_layout_breaks_the_law() {
    let tile = SmemTile { along: Along::K, mn: 64, k: 64, padding: 0, bits: 3, base: 3, shift: 0 };
    let swizzled = |swizzle: [u32; 3], layout: &str| {
        let [bits, base, shift] = swizzle;
        let swizzle = Swizzle::new(bits, base, shift).expect("a swizzle");
        Composed::from(layout.parse::<Layout>().expect("a layout")).swizzled(swizzle).ok()
    };
    affine("right", &Mutated(&tile, swizzled([3, 3, 3], "(64,64):(64,1)")))
        .expect("the tile's layout");
    for wrong in [
        swizzled([0, 3, 3], "(64,64):(64,1)"),
        swizzled([3, 3, 4], "(64,64):(64,1)"),
        swizzled([2, 3, 3], "(64,64):(64,1)"),
        swizzled([3, 3, 3], "((32,2),64):((64,2049),1)"),
        swizzled([3, 3, 3], "(63,64):(64,1)"),
        None,
    ] {
        let said = wrong.as_ref().map_or("none".to_owned(), ToString::to_string);
        affine("mutated", &Mutated(&tile, wrong)).expect_err(&said);
    }
}

/// The map of a layout states that layout. A table, curves, and narrow last groups have no layout.
#[test]
fn maps_without_a_layout_have_none() -> Result<(), TestCaseError> {
    let layout =
        Map::new(&"(4,(2,3)):(2,(1,8))".parse::<Layout>().expect("a layout")).expect("a map");
    affine("a layout's", &layout)?;
    prop_assert!(Tabled::new(&layout).layout().is_none());
    orders(SwizzleKind::Identity(4), 5, 10, Mn::ONE)?;
    orders(SwizzleKind::Hilbert, 8, 8, Mn::ONE)?;
    Ok(())
}

/// Layouts of shared-memory atoms, lanes, and tile orders print in CuTe's notation.
#[test]
fn layouts_print_in_cute_notation() {
    let said = |map: &dyn IndexMap| map.layout().expect("a layout").to_string();
    let atom = SmemTile { along: Along::K, mn: 8, k: 64, padding: 0, bits: 3, base: 3, shift: 0 };
    assert_eq!(said(&atom), "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
    let bytes = TensorMapDesc {
        box_dims: [128, 8, 1, 1, 1],
        ..crate::harness::tensors::packed(
            falchion::numeric::ElementKind::E4m3,
            &[512, 512],
            &[128, 8],
            0,
            SwizzleMode::Bytes128,
        )
    };
    assert_eq!(
        said(&SharedBox::new(&bytes, 0).expect("a tile")),
        "Sw<3,4,3> o _0 o (_8,_128):(_128,_1)"
    );
    let lanes = LaneArrangement { m: 4, n: 8, quads: false };
    // Bits 0 and 2 of a lane select the row, and bits 1, 3, and 4 the column.
    assert_eq!(
        lanes.layout().expect("lanes").to_string(),
        "((_2,_2,_2,_4),_1):((_8,_1,_16,_2),_0)"
    );
    assert_eq!(
        said(&TileOrder { kind: SwizzleKind::Identity(2), rows: 3, columns: 4 }),
        "(_1,(_2,_3,_2)):(_0,(_1,_4,_2))"
    );
}
