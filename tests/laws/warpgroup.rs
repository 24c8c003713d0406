//! The product of a warpgroup under law: which instructions there are, where operands lie, who holds what.

use crate::harness::{
    vectors::vectors_whole,
    warpgroups::{tile, tiles, types},
};
use falchion::{
    internals::index::{Coord, IndexMap, at, laws, points},
    layout::algebra,
    numeric::ElementKind,
    threadblock::{Along, SmemTile},
    warp::mma_warpgroup::{
        AOperand, AccumulatorMap, CHUNK_BYTES, CORE_ROWS, FragmentMap, Instruction, MatrixDescriptor, MmaWarpgroup, NotWgmma,
        OperandA, OperandTile, Swizzle, WgmmaAccumulator, WgmmaInput,
    },
};
use falchion_lab::{
    banks::{Direction, WarpAccess, wavefronts},
    warpgroup::holders,
};
use std::collections::BTreeSet;

const K: AOperand = AOperand::Shared(Along::K);

/// A map read the other way: (column, row).
struct Turned<'a>(&'a dyn IndexMap);

impl IndexMap for Turned<'_> {
    fn domain(&self) -> Coord {
        at(self.0.domain().column, self.0.domain().row)
    }

    fn codomain(&self) -> u32 {
        self.0.codomain()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        self.0.at(at(point.column, point.row))
    }
}

// --- instructions --------------------------------------------------------------------------------------------------------

/// Over all types, accumulators, ways and `n` to 300: an instruction exists exactly where the table of the PTX ISA has it,
/// written out here once more as sets.
#[test]
fn the_table_is_ptx_s() {
    let floats: BTreeSet<u32> = (1..=32).map(|i| 8 * i).collect();
    let integers: BTreeSet<u32> = [8, 24].into_iter().chain((1..=16).map(|i| 16 * i)).collect();
    assert_eq!((floats.len(), integers.len()), (32, 18));
    let rows: Vec<_> = types();
    let sources = [K, AOperand::Shared(Along::Mn), AOperand::Registers];
    let mut legal = 0;
    for a in WgmmaInput::ALL {
        for b in WgmmaInput::ALL {
            for accumulator in [WgmmaAccumulator::F32, WgmmaAccumulator::F16, WgmmaAccumulator::S32] {
                for (source, along) in sources.into_iter().flat_map(|source| [(source, Along::K), (source, Along::Mn)]) {
                    let turns = along == Along::Mn || source == AOperand::Shared(Along::Mn);
                    let widths = if a == WgmmaInput::S8 || a == WgmmaInput::U8 { &integers } else { &floats };
                    for n in 0..300 {
                        let wanted = rows.contains(&(a, b, accumulator)) && widths.contains(&n) && (!turns || a.bytes() == 2);
                        let got = Instruction::new((a, b), accumulator, n, source, along);
                        assert_eq!(got.is_ok(), wanted, "{a} {b} {accumulator:?} n{n} {source:?} {along:?}: {got:?}");
                        legal += u32::from(wanted);
                    }
                }
            }
        }
    }
    println!("{legal} instructions");
    assert_eq!(legal, 3 * 32 * 6 + 9 * 32 * 2 + 4 * 18 * 2);
}

#[test]
fn what_is_refused_is_said_with_the_nearest() {
    use WgmmaAccumulator as D;
    use WgmmaInput as T;
    let say = |refused: Result<Instruction, NotWgmma>| refused.expect_err("refused").to_string();
    let of = |a, b, d, n| say(Instruction::new((a, b), d, n, K, Along::K));
    let inputs = of(T::F16, T::Bf16, D::F32, 64);
    assert!(inputs.starts_with("a = f16 and b = bf16: ") && inputs.ends_with("try b = f16"), "{inputs}");
    assert_eq!(of(T::Bf16, T::Bf16, D::F16, 64), "accumulator = f16: products of bf16 are added in f32; try f32");
    assert!(of(T::S8, T::U8, D::S32, 40).ends_with("n = 8, 16, 24, 32 and then the multiples of 16 up to 256; try 32"));
    for (n, nearest) in [(0, 8), (1, 8), (13, 16), (300, 256), (u32::MAX, 256)] {
        assert!(of(T::E4m3, T::E5m2, D::F32, n).ends_with(&format!("; try {nearest}")), "{n}");
    }
    let rows = |mn| OperandTile::new(T::Bf16, Along::Mn, Swizzle::Bytes128, mn).expect_err("refused").to_string();
    assert_eq!(rows(96), "mn = 96 of a tile: it is a multiple of 64, from 64 to 2048; try 64");
    assert!(rows(u32::MAX).ends_with("try 2048") && rows(0).ends_with("try 64"));
    let along = OperandTile::new(T::S8, Along::Mn, Swizzle::Bytes128, 128).expect_err("refused").to_string();
    assert_eq!(along, "a tile of s8 is MN-major: only f16 and bf16 may be; try K-major");

    let (small, large) = (tile(T::F16, Along::K, Swizzle::Bytes128, 32), tile(T::F16, Along::K, Swizzle::Bytes128, 128));
    let short = |a, n| MmaWarpgroup::new(OperandA::Shared(a), small, D::F32, n).expect_err("refused").to_string();
    assert_eq!(short(small, 32), "the tile of A has mn = 32, and the instruction reads 64; try 64");
    assert_eq!(short(large, 40), "the tile of B has mn = 32, and the instruction reads 40; try 40");
    let say = |refused: Result<MatrixDescriptor, NotWgmma>| refused.expect_err("refused").to_string();
    assert_eq!(say(large.descriptor(0x1200, 0)), "start = 4608 is not a multiple of 1024; try 4096");
    assert_eq!(say(large.descriptor(0, 12)), "mn = 12 is not a multiple of 8; try 8");
    assert_eq!(say(large.descriptor(0, 128)), "mn = 128 is above 120; try 120");
    assert_eq!(say(large.descriptor(0x4_0000, 0)), "start = 262144 is above 262128; try 262128");
    assert_eq!(say(large.descriptor(0xffff_fc00, 0)), "start = 4294966272 is above 262128; try 262128");
    assert_eq!(
        large.step_bytes(4).expect_err("refused").to_string(),
        "step = 4: the 128-byte swizzled tile has steps 0 to 3; try 3"
    );
    let base = MatrixDescriptor::new(0, 16, 16, Swizzle::None).and_then(|descriptor| descriptor.with_base_offset(8));
    assert_eq!(say(base), "base offset = 8 is above 7; try 7");
}

#[test]
fn element_kinds_are_inputs_by_their_width() {
    let inputs: Vec<_> =
        ElementKind::ALL.into_iter().filter_map(|kind| WgmmaInput::of(kind).map(|input| (kind, input))).collect();
    assert_eq!(inputs.len(), WgmmaInput::ALL.len());
    assert!(inputs.iter().all(|(kind, input)| kind.bytes_of(1) == input.bytes() && input.k() * input.bytes() == 32));
    assert!(inputs.iter().all(|(kind, input)| *input == WgmmaInput::S8 || input.name() == kind.name()));
}

// --- tiles ---------------------------------------------------------------------------------------------------------------

/// Each tile is a bijection from (mn, k) to its elements, and every chunk of 16 bytes along its contiguous index is whole.
#[test]
fn tiles_are_bijective_and_their_chunks_whole() {
    let tiles = tiles();
    for tile in &tiles {
        laws::bijective(tile).unwrap_or_else(|violation| panic!("{tile:?}: {violation}"));
        let chunk = CHUNK_BYTES / tile.input().bytes();
        let whole = match tile.along() {
            Along::K => vectors_whole(tile, chunk),
            Along::Mn => vectors_whole(&Turned(tile), chunk),
        };
        whole.unwrap_or_else(|violation| panic!("{tile:?}: {violation}"));
    }
    println!("{} tiles", tiles.len());
    let bf16 = tile(WgmmaInput::Bf16, Along::K, Swizzle::Bytes128, 64);
    let finer = SmemTile { base: 2, ..bf16.tma_box() };
    vectors_whole(&finer, 8).expect_err("a swizzle of 8 bytes tears chunks of 16");
}

/// TMA writes a box `{S bytes, rows}` at byte `x` of the box, linear, to `Sw<log2(S / 16), 4, 3>(x)`: the swizzle that CuTe gives
/// to `CU_TENSOR_MAP_SWIZZLE_128B`, `64B`, `32B`. Boxes follow each other along the contiguous index.
#[test]
fn tiles_are_what_tma_writes() -> Result<(), algebra::LayoutError> {
    for tile in tiles() {
        let row_bytes = tile.swizzle().row_bytes();
        let swizzle = algebra::Swizzle::new((row_bytes / 16).ilog2(), 4, 3)?;
        let rows = if tile.along() == Along::K { tile.mn() } else { tile.k() };
        for point in points(&tile) {
            let (contiguous, row) = if tile.along() == Along::K { (point.column, point.row) } else { (point.row, point.column) };
            let byte = contiguous * tile.input().bytes();
            let (number, within) = (byte / row_bytes, row * row_bytes + byte % row_bytes);
            let written = number * rows * row_bytes + swizzle.at(within.into()) as u32;
            assert_eq!(tile.byte_offset(point.row, point.column), Some(written), "{tile:?} {point:?}");
        }
    }
    Ok(())
}

/// Wavefronts of the eight chunks of a core matrix, for the worst of a box's.
fn worst_core_matrix(one: &SmemTile, element_bytes: u32) -> u32 {
    let (rows, row) = if one.along == Along::K { (one.mn, one.k) } else { (one.k, one.mn) };
    let chunk = CHUNK_BYTES / element_bytes;
    let of = |first: u32, chunk_at: u32| {
        let address = |row: u32| {
            let (mn, k) = if one.along == Along::K { (row, chunk_at) } else { (chunk_at, row) };
            Some(u64::from(one.offset(mn, k) * element_bytes))
        };
        let access = WarpAccess::new(Direction::Load, CHUNK_BYTES, (first..first + CORE_ROWS).map(address));
        wavefronts(&access.expect("an access")).wavefronts
    };
    let firsts = (0..rows).step_by(CORE_ROWS as usize);
    firsts
        .flat_map(|first| (0..row).step_by(chunk as usize).map(move |at| (first, at)))
        .map(|(first, at)| of(first, at))
        .max()
        .unwrap_or(0)
}

/// Eight rows of 16 bytes, what the hardware reads at once, lie on 32 different banks: one wavefront. Without the swizzle they
/// take as many as a row has chunks: 8, 4, 2, 1.
#[test]
fn core_matrices_are_free_of_conflicts_and_without_the_swizzle_are_not() {
    for tile in tiles().into_iter().filter(|tile| tile.mn() <= 64) {
        let (one, bytes) = (tile.tma_box(), tile.input().bytes());
        assert_eq!(worst_core_matrix(&one, bytes), 1, "{tile:?}");
        let plain = SmemTile { bits: 0, ..one };
        assert_eq!(worst_core_matrix(&plain, bytes), tile.swizzle().row_bytes() / 16, "{tile:?} without its swizzle");
    }
}

// --- fragments -----------------------------------------------------------------------------------------------------------

fn accumulators(n: u32) -> AccumulatorMap {
    let bf16 = WgmmaInput::Bf16;
    AccumulatorMap::of(&Instruction::new((bf16, bf16), WgmmaAccumulator::F32, n, K, Along::K).expect("an instruction"))
}

/// Accumulators are a bijection from 128 threads x N / 2 onto 64 x N, and registers of A one from 128 x 16 bytes onto 64 x 32
/// bytes.
#[test]
fn fragments_are_bijective() {
    for n in (8..=256).step_by(8) {
        let map = accumulators(n);
        laws::bijective(&map).unwrap_or_else(|violation| panic!("n = {n}: {violation}"));
        vectors_whole(&map, 2).unwrap_or_else(|violation| panic!("n = {n}: {violation}"));
    }
    for input in WgmmaInput::ALL {
        let map = FragmentMap { input };
        laws::bijective(&map).unwrap_or_else(|violation| panic!("{input}: {violation}"));
        vectors_whole(&map, map.packed()).unwrap_or_else(|violation| panic!("{input}: {violation}"));
    }
}

/// Thread, number, and (row, column).
type Held = (u32, u32, (u32, u32));

/// Places that the PTX ISA's figures print.
#[test]
fn fragments_are_the_figures_of_ptx() {
    let d = accumulators(256);
    for (thread, i, place) in [
        (0, 0, (0, 0)),
        (1, 1, (0, 3)),
        (4, 0, (1, 0)),
        (0, 2, (8, 0)),
        (0, 4, (0, 8)),
        (31, 3, (15, 7)),
        (32, 0, (16, 0)),
        (127, 127, (63, 255)),
    ] {
        assert_eq!(d.place(thread, i), Some(place), "accumulator {i} of thread {thread}");
    }
    let figures: [(WgmmaInput, &[Held]); 3] = [
        (WgmmaInput::F16, &[(0, 1, (0, 1)), (1, 0, (0, 2)), (0, 2, (8, 0)), (0, 4, (0, 8)), (127, 7, (63, 15))]),
        (WgmmaInput::Tf32, &[(1, 0, (0, 1)), (0, 1, (8, 0)), (0, 2, (0, 4)), (127, 3, (63, 7))]),
        (WgmmaInput::E4m3, &[(0, 3, (0, 3)), (1, 0, (0, 4)), (0, 4, (8, 0)), (0, 8, (0, 16)), (127, 15, (63, 31))]),
    ];
    for (input, places) in figures {
        for &(thread, i, place) in places {
            assert_eq!(FragmentMap { input }.place(thread, i), Some(place), "{input}: element {i} of thread {thread}");
        }
    }
    assert_eq!((d.place(128, 0), d.place(0, 128), d.place(u32::MAX, u32::MAX)), (None, None, None));
    assert_eq!(FragmentMap { input: WgmmaInput::S8 }.place(0, 16), None);
    let drawn = holders(&FragmentMap { input: WgmmaInput::Tf32 }, 8);
    assert!(drawn.starts_with("T0:0   T1:0   T2:0   T3:0   T0:2   T1:2   T2:2   T3:2\n"), "{drawn}");
    assert_eq!(drawn.lines().count(), 64);
}
