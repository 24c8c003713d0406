//! Laws of a warpgroup's product: its instructions, the layout of its operands, and the fragments
//! of its threads.

mod descriptors;
pub mod fragments;
mod layouts;

use crate::harness::{prelude::*, wgmma::*};
use falchion::{
    layout::algebra,
    warp::wgmma::{AccumulatorMap, CORE_ROWS, FragmentMap, Instruction, is_input},
};
use falchion_lab::warpgroup::holders;

const K: AOperand = AOperand::Shared(Along::K);

// Instructions

/// For all types, accumulators, axes, and `n` up to 300: an instruction exists exactly if the table
/// of the PTX ISA has it. The test repeats this table as sets.
#[test]
fn the_table_of_instructions_equals_ptx() {
    let floats: BTreeSet<u32> = (1..=32).map(|i| 8 * i).collect();
    let integers: BTreeSet<u32> = [8, 24].into_iter().chain((1..=16).map(|i| 16 * i)).collect();
    assert_eq!((floats.len(), integers.len()), (32, 18));
    let rows: Vec<_> = types();
    let sources = [K, AOperand::Shared(Along::Mn), AOperand::Registers];
    let mut legal = 0;
    for a in INPUTS {
        for b in INPUTS {
            for accumulator in [ElementKind::F32, ElementKind::F16, ElementKind::I32] {
                for (source, along) in
                    sources.into_iter().flat_map(|source| [(source, Along::K), (source, Along::Mn)])
                {
                    let transposes = along == Along::Mn || source == AOperand::Shared(Along::Mn);
                    let widths = if a == ElementKind::I8 || a == ElementKind::U8 {
                        &integers
                    } else {
                        &floats
                    };
                    for n in 0..300 {
                        let wanted = rows.contains(&(a, b, accumulator))
                            && widths.contains(&n)
                            && (!transposes || a.bits() == 16);
                        let got = Instruction::new((a, b), accumulator, n, source, along);
                        assert_eq!(
                            got.is_some(),
                            wanted,
                            "{a} {b} {accumulator} n{n} {source:?} {along:?}: {got:?}"
                        );
                        legal += u32::from(wanted);
                    }
                }
            }
        }
    }
    println!("{legal} instructions");
    assert_eq!(legal, 3 * 32 * 6 + 9 * 32 * 2 + 4 * 18 * 2);
}

/// Tiles, stages, and descriptors that do not exist, each with a similar one that does.
#[test]
fn descriptors_cover_only_bytes_that_are_read() {
    use ElementKind as D;
    use ElementKind as T;
    let rows = |mn| OperandTile::new(T::Bf16, Along::Mn, SwizzleMode::Bytes128, mn).is_some();
    assert_eq!([64, 96, 128, 2048].map(rows), [true, false, true, true]);
    assert_eq!([0, 2112, u32::MAX].map(rows), [false; 3]);
    assert_eq!(
        [T::I8, T::F16]
            .map(|input| OperandTile::new(input, Along::Mn, SwizzleMode::Bytes128, 128).is_some()),
        [false, true]
    );

    let (small, large) = (
        tile(T::F16, Along::K, SwizzleMode::Bytes128, 32),
        tile(T::F16, Along::K, SwizzleMode::Bytes128, 128),
    );
    let stage = |a, n| MmaWarpgroup::new(OperandA::Shared(a), small, D::F32, n).is_some();
    assert_eq!(
        (stage(small, 32), stage(large, 40), stage(large, 32)),
        (false, false, true),
        "rows of A, columns of B"
    );
    let there_is = |(start, mn)| large.descriptor(start, mn).is_some();
    assert_eq!(
        [(0x1200, 0), (0, 12), (0, 128), (0x4_0000, 0), (0xffff_fc00, 0)].map(there_is),
        [false; 5]
    );
    assert_eq!([(0x1000, 0), (0, 8), (0, 120), (0x3_fc00, 0)].map(there_is), [true; 4]);
    assert_eq!(
        (large.step_bytes(3), large.step_bytes(4), large.step_bytes(u32::MAX)),
        (Some(96), None, None)
    );
    let say = |start| MatrixDescriptor::new(start, 16, 16, SwizzleMode::None).message();
    assert_eq!(say(8), "bytes of a matrix descriptor = 8 is not a multiple of 16; try 16");
    assert_eq!(
        say(1 << 18),
        "bytes of a matrix descriptor = 262144 is outside 0 to 262128; try 262128"
    );
}

#[test]
fn element_kinds_are_inputs_by_their_width() {
    let inputs: Vec<_> = ElementKind::ALL.into_iter().filter(|&kind| is_input(kind)).collect();
    assert_eq!(inputs, INPUTS.into_iter().collect::<Vec<_>>());
    assert!(inputs.iter().all(|input| input.elements_in(32) * input.bytes_of(1) == 32));
}

// Tiles

/// Each tile is a bijection from (mn, k) to its elements, and each chunk of 16 bytes along its
/// contiguous index is whole.
#[test]
fn tiles_are_bijective_with_whole_chunks() {
    let tiles = tiles();
    for tile in &tiles {
        laws::bijective(tile).unwrap_or_else(|violation| panic!("{tile:?}: {violation}"));
        let chunk = CHUNK_BYTES / tile.input().bytes_of(1);
        let whole = match tile.along() {
            Along::K => vectors_whole(tile, chunk),
            Along::Mn => vectors_whole(&Transposed(tile), chunk),
        };
        whole.unwrap_or_else(|violation| panic!("{tile:?}: {violation}"));
    }
    println!("{} tiles", tiles.len());
    let bf16 = tile(ElementKind::Bf16, Along::K, SwizzleMode::Bytes128, 64);
    let finer = SmemTile { base: 2, ..bf16.tma_box() };
    vectors_whole(&finer, 8).expect_err("a swizzle of 8 bytes tears chunks of 16");
}

/// TMA writes a box `{S bytes, rows}` with the linear byte `x` at `Sw<log2(S / 16), 4, 3>(x)`. CuTe
/// assigns this swizzle to `CU_TENSOR_MAP_SWIZZLE_128B`, `64B`, and `32B`. Boxes follow each other
/// along the contiguous index.
#[test]
fn tiles_equal_the_boxes_that_tma_writes() -> Result<(), algebra::LayoutError> {
    for tile in tiles() {
        let row_bytes = tile.swizzle().row_bytes();
        let swizzle = algebra::Swizzle::new((row_bytes / 16).ilog2(), 4, 3)?;
        let rows = if tile.along() == Along::K { tile.mn() } else { tile.k() };
        for point in points(&tile) {
            let (contiguous, row) = if tile.along() == Along::K {
                (point.column, point.row)
            } else {
                (point.row, point.column)
            };
            let byte = contiguous * tile.input().bytes_of(1);
            let (number, within) = (byte / row_bytes, row * row_bytes + byte % row_bytes);
            let written = number * rows * row_bytes + swizzle.at(within.into()) as u32;
            assert_eq!(
                tile.byte_offset(point.row, point.column),
                Some(written),
                "{tile:?} {point:?}"
            );
        }
    }
    Ok(())
}

/// Returns the maximum number of wavefronts for the eight chunks of a core matrix in a box.
fn worst_core_matrix(one: &SmemTile, element_bytes: u32) -> u32 {
    let (rows, row) = if one.along == Along::K { (one.mn, one.k) } else { (one.k, one.mn) };
    let chunk = CHUNK_BYTES / element_bytes;
    let of = |first: u32, chunk_at: u32| {
        let address = |row: u32| {
            let (mn, k) = if one.along == Along::K { (row, chunk_at) } else { (chunk_at, row) };
            Some(u64::from(one.offset(mn, k) * element_bytes))
        };
        let access =
            WarpAccess::new(Direction::Load, CHUNK_BYTES, (first..first + CORE_ROWS).map(address));
        wavefronts(&access.expect("an access")).wavefronts
    };
    let firsts = (0..rows).step_by(CORE_ROWS as usize);
    firsts
        .flat_map(|first| (0..row).step_by(chunk as usize).map(move |at| (first, at)))
        .map(|(first, at)| of(first, at))
        .max()
        .unwrap_or(0)
}

/// The hardware reads eight rows of 16 bytes at once. They are in 32 different banks, so a read
/// takes one wavefront. Without the swizzle it takes as many as a row has chunks: 8, 4, 2, or 1.
#[test]
fn core_matrices_have_conflicts_only_without_the_swizzle() {
    for tile in tiles().into_iter().filter(|tile| tile.mn() <= 64) {
        let (one, bytes) = (tile.tma_box(), tile.input().bytes_of(1));
        assert_eq!(worst_core_matrix(&one, bytes), 1, "{tile:?}");
        let plain = SmemTile { bits: 0, ..one };
        assert_eq!(
            worst_core_matrix(&plain, bytes),
            tile.swizzle().row_bytes() / 16,
            "{tile:?} without its swizzle"
        );
    }
}

// Fragments

fn accumulators(n: u32) -> AccumulatorMap {
    let bf16 = ElementKind::Bf16;
    AccumulatorMap::new(
        &Instruction::new((bf16, bf16), ElementKind::F32, n, K, Along::K).expect("an instruction"),
    )
}

/// Accumulators are a bijection from 128 threads x N / 2 onto 64 x N. Registers of A are a
/// bijection from 128 x 16 bytes onto 64 x 32 bytes.
#[test]
fn fragments_are_bijective() {
    for n in (8..=256).step_by(8) {
        let map = accumulators(n);
        laws::bijective(&map).unwrap_or_else(|violation| panic!("n = {n}: {violation}"));
        vectors_whole(&map, 2).unwrap_or_else(|violation| panic!("n = {n}: {violation}"));
    }
    for input in INPUTS {
        let map = FragmentMap { input };
        laws::bijective(&map).unwrap_or_else(|violation| panic!("{input}: {violation}"));
        vectors_whole(&map, map.packed())
            .unwrap_or_else(|violation| panic!("{input}: {violation}"));
    }
}

/// Thread, index, and (row, column).
type Held = (u32, u32, (u32, u32));

/// Positions that figures of the PTX ISA show.
#[test]
fn fragments_equal_the_figures_of_ptx() {
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
    let figures: [(ElementKind, &[Held]); 3] = [
        (
            ElementKind::F16,
            &[(0, 1, (0, 1)), (1, 0, (0, 2)), (0, 2, (8, 0)), (0, 4, (0, 8)), (127, 7, (63, 15))],
        ),
        (ElementKind::Tf32, &[(1, 0, (0, 1)), (0, 1, (8, 0)), (0, 2, (0, 4)), (127, 3, (63, 7))]),
        (
            ElementKind::E4m3,
            &[(0, 3, (0, 3)), (1, 0, (0, 4)), (0, 4, (8, 0)), (0, 8, (0, 16)), (127, 15, (63, 31))],
        ),
    ];
    for (input, places) in figures {
        for &(thread, i, place) in places {
            assert_eq!(
                FragmentMap { input }.place(thread, i),
                Some(place),
                "{input}: element {i} of thread {thread}"
            );
        }
    }
    assert_eq!((d.place(128, 0), d.place(0, 128), d.place(u32::MAX, u32::MAX)), (None, None, None));
    assert_eq!(FragmentMap { input: ElementKind::I8 }.place(0, 16), None);
    let drawn = holders(&FragmentMap { input: ElementKind::Tf32 }, 8);
    assert!(
        drawn.starts_with("T0:0   T1:0   T2:0   T3:0   T0:2   T1:2   T2:2   T3:2\n"),
        "{drawn}"
    );
    assert_eq!(drawn.lines().count(), 64);
}
