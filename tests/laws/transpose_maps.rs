//! Laws of a transpose's maps for random valid descriptions. Each law fails if its mechanism is
//! removed.

use crate::harness::{prelude::*, transposes::named};
use falchion::{
    internals::{
        index::laws::Violation::{Missed, Outside, Shared},
        operand::transpose::PieceMap,
    },
    refusal::Refusal,
};
use falchion_lab::ladder::TransposeRung as Rung;
use proptest::{prelude::*, test_runner::Config};

pub fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Strategy for valid descriptions with or without gathered rows.
pub fn legal(gathered: bool) -> impl Strategy<Value = TransposeDesc> {
    let of = move |seed| {
        random_descriptions(32, seed).into_iter().find(|desc| desc.is_gathered() == gathered)
    };
    any::<u64>().prop_filter_map("one of 32", of)
}

/// Law: within each aligned run of `vector` rows, element (i + 1, j) of A's tile, the next one in
/// D's row, directly follows (i, j). The run begins at a multiple of `vector`.
fn runs_whole(smem: &SmemTile, vector: u32) -> bool {
    (0..smem.k).all(|j| {
        (0..smem.mn).step_by(vector as usize).all(|i| {
            let first = smem.at(at(i, j)).unwrap_or(1);
            first.is_multiple_of(vector)
                && (1..vector).all(|more| smem.at(at(i + more, j)) == Some(first + more))
        })
    })
}

/// A grid with its maps: CTA, thread, and step.
struct Grid<'d> {
    desc: &'d TransposeDesc,
    rows: u32,
    columns: u32,
    /// Predicate of the elements (i, j) of A that exist.
    exists: &'d dyn Fn(u32, u32) -> bool,
}

impl Grid<'_> {
    /// Counts the accesses to each element of A by pieces of `height` x `width` elements at
    /// `corner`: pieces of `fetch` are `thread_rows` x `access_a`, and pieces of `write` are
    /// `access_d` x 1.
    fn touches(&self, order: &dyn IndexMap, map: &dyn IndexMap, pieces: Pieces) -> Vec<u32> {
        let mut times = vec![0; (self.rows * self.columns) as usize];
        let across = self.rows.div_ceil(self.desc.rows);
        for block in 0..order.domain().column {
            let Some(tile) = order.at(at(0, block)) else { continue };
            let (row, column) = (tile % across * self.desc.rows, tile / across * self.desc.columns);
            for thread in 0..self.desc.threads {
                for number in (0..map.domain().column).filter_map(|step| map.at(at(thread, step))) {
                    let (i, j) = (pieces.corner)(self.desc, number);
                    for (i, j) in (i..i + pieces.height)
                        .flat_map(|i| (j..j + pieces.width).map(move |j| (row + i, column + j)))
                    {
                        if (self.exists)(i, j) {
                            times[(i * self.columns + j) as usize] += 1;
                        }
                    }
                }
            }
        }
        times
    }

    fn order(&self) -> TileOrder {
        TileOrder {
            kind: self.desc.order,
            rows: self.columns.div_ceil(self.desc.columns),
            columns: self.rows.div_ceil(self.desc.rows),
        }
    }
}

#[derive(Clone, Copy)]
struct Pieces {
    height: u32,
    width: u32,
    corner: fn(&TransposeDesc, u32) -> (u32, u32),
}

fn fetch_pieces(d: &TransposeDesc) -> Pieces {
    let corner = |d: &TransposeDesc, number: u32| {
        let across = d.columns / d.access_a;
        (number / across * d.thread_rows, number % across * d.access_a)
    };
    Pieces { height: d.thread_rows, width: d.access_a, corner }
}

fn write_pieces(d: &TransposeDesc) -> Pieces {
    let corner = |d: &TransposeDesc, number: u32| {
        let across = d.rows / d.access_d;
        (number % across * d.access_d, number / across)
    };
    Pieces { height: d.access_d, width: 1, corner }
}

proptest! {
    #![proptest_config(cases(256))]

    /// `fetch: threads x steps -> pieces of A's tile` is a bijection, and so is `write` to the
    /// pieces of D's tile.
    #[test]
    fn one_thread_moves_each_piece_in_one_step(d in legal(false)) {
        prop_assert_eq!(laws::bijective(&d.fetch()), Ok(()));
        if !d.is_gathered() {
            prop_assert_eq!(d.fetch().codomain() * d.thread_rows * d.access_a, d.rows * d.columns);
        }
        if d.is_staged() {
            prop_assert_eq!(laws::bijective(&d.write()), Ok(()));
            prop_assert_eq!(d.write().codomain() * d.access_d, d.rows * d.columns);
        }
    }

    /// `smem: A's tile -> shared memory` is injective into `smem_bytes`, and a bijection without
    /// padding. The elements of one access are contiguous and aligned.
    #[test]
    fn each_element_has_its_own_shared_memory_address(d in legal(false)) {
        let smem = d.smem();
        prop_assert_eq!(laws::injective(&smem), Ok(()));
        if smem.padding == 0 {
            prop_assert_eq!(laws::bijective(&smem), Ok(()));
        }
        if d.is_staged() {
            prop_assert_eq!(smem.codomain() * d.element_bytes, d.smem_bytes());
            prop_assert!(runs_whole(&smem, d.thread_rows));
            prop_assert!(runs_whole(&smem, d.access_d));
        }
    }

    /// For every R x C: `|{ (block, thread, step) : its piece of A holds (i, j) }| = 1` for all i <
    /// R, j < C. The same holds for the pieces of D.
    #[test]
    fn each_matrix_element_is_read_once_and_written_once(d in legal(false), down in 0u32..40, across in 0u32..40) {
        // Whole accesses, up to two tiles and a partial one.
        let (rows, columns) = (down * 16 % (2 * d.rows + 17), across * 16 % (2 * d.columns + 17));
        let exists = |i, j| i < rows && j < columns;
        let grid = Grid { desc: &d, rows, columns, exists: &exists };
        // Gathered lines begin at aligned elements of D's rows, not at the start of A's tile.
        if !d.is_gathered() {
            prop_assert!(grid.touches(&grid.order(), &d.fetch(), fetch_pieces(&d)).iter().all(|&times| times == 1));
        }
        if d.is_staged() {
            prop_assert!(grid.touches(&grid.order(), &d.write(), write_pieces(&d)).iter().all(|&times| times == 1));
        }
    }
}

/// A map that a test defines.
struct As<F>(Coord, u32, F);

impl<F: Fn(u32, u32) -> Option<u32> + Send + Sync> IndexMap for As<F> {
    fn domain(&self) -> Coord {
        self.0
    }
    fn codomain(&self) -> u32 {
        self.1
    }
    fn at(&self, point: Coord) -> Option<u32> {
        (self.2)(point.row, point.column)
    }
}

#[test]
fn the_laws_of_pieces_fail_without_their_mechanisms() {
    let d = Rung::Padded.desc(Combine::Move, 4);
    let PieceMap { threads, lines, pieces, .. } = d.fetch();
    let steps = d.fetch().steps();
    let law = |steps, f: fn(u32, u32) -> u32| {
        let value = move |thread, step| Some(f(thread, step));
        laws::bijective(&As(at(threads, steps), lines * pieces, value))
    };
    assert_eq!(law(steps, |thread, step| thread + step * 256), Ok(()));
    // With one step too few (a quotient rounded down), with threads one line apart, and with
    // overlapping steps.
    assert!(matches!(law(steps - 1, |thread, step| thread + step * 256), Err(Missed { .. })));
    assert!(matches!(law(steps, |thread, step| thread + step * 255), Err(Shared { .. })));
    assert!(matches!(law(steps, |thread, step| thread * 32 + step), Err(Outside { .. })));
    // The lines of one direction with the pieces of the other.
    let mixed =
        law(steps, |thread, step| (thread + step * 256) / 32 * 32 + (thread + step * 256) / 32);
    assert!(matches!(mixed, Err(Shared { .. })));
}

#[test]
fn the_laws_of_shared_memory_fail_without_their_mechanisms() {
    let tile = SmemTile { along: Along::Mn, mn: 32, k: 32, padding: 1, bits: 0, base: 0, shift: 0 };
    assert_eq!(laws::injective(&tile), Ok(()));
    let pitch = |pitch: u32| As(at(32, 32), 33 * 32, move |i, j| Some(j * pitch + i));
    assert_eq!(laws::injective(&pitch(33)), Ok(()));
    assert!(matches!(laws::injective(&pitch(31)), Err(Shared { .. })));
    assert!(matches!(laws::injective(&pitch(34)), Err(Outside { .. })));
    // A swizzle of more chunks than a column has, which `check` refuses.
    let beyond = SmemTile { mn: 48, padding: 0, bits: 3, base: 2, ..tile };
    assert!(laws::injective(&beyond).is_err());
    let desc = TransposeDesc { rows: 48, threads: 96, ..Rung::Padded.desc(Combine::Move, 4) };
    let refused =
        TransposeDesc { staging: Staging::Swizzled { bits: 3, base: 2, shift: 0 }, ..desc }.check();
    assert!(
        matches!(
            refused,
            Err(Refusal {
                field: Field::SwizzleBlock(_),
                value: Value::Elements(32),
                limit: Value::Elements(48),
                ..
            })
        ),
        "{refused:?}"
    );
    // Padding by one splits vectors, and so does a swizzle that is finer than vectors. `check`
    // refuses both.
    assert!(runs_whole(&SmemTile { padding: 4, ..tile }, 4) && !runs_whole(&tile, 4));
    assert!(!runs_whole(&SmemTile { padding: 0, bits: 3, base: 1, ..tile }, 4));
    let four = TransposeDesc {
        thread_rows: 4,
        access_d: 4,
        threads: 128,
        ..Rung::Padded.desc(Combine::Move, 4)
    };
    let refused = four.check().expect_err("vectors apart");
    assert_eq!(refused, Refusal::access_apart(Field::ThreadRows, 4, 1));
    assert_eq!(TransposeDesc { staging: Staging::Padded(4), ..four }.check(), Ok(()));
}

#[test]
fn coverage_fails_without_its_mechanisms() {
    let d = Rung::Coalesced.desc(Combine::Move, 4);
    let (rows, columns) = (80, 48);
    let covered = |exists: &dyn Fn(u32, u32) -> bool,
                   order: Option<&dyn IndexMap>,
                   map: &dyn IndexMap| {
        let grid = Grid { desc: &d, rows, columns, exists };
        let own = grid.order();
        grid.touches(order.unwrap_or(&own), map, fetch_pieces(&d)).iter().all(|&times| times == 1)
    };
    let exists = |i: u32, j: u32| i < rows && j < columns;
    assert!(covered(&exists, None, &d.fetch()));
    // Predicates that are one too strict, or that use the other extent.
    assert!(!covered(&|i, j| i + 1 < rows && j < columns, None, &d.fetch()));
    assert!(!covered(&|i, j| i < columns && j < columns, None, &d.fetch()));
    // Tile orders whose extents are swapped, that end early, or that repeat tiles.
    let (down, across) = (columns.div_ceil(32), rows.div_ceil(32));
    assert_eq!((down, across), (2, 3));
    let order = |f: fn(u32) -> Option<u32>| {
        As(at(1, down * across), down * across, move |_, block| f(block))
    };
    assert!(covered(&exists, Some(&order(Some)), &d.fetch()));
    assert!(!covered(&exists, Some(&order(|block| Some(block / 2 + block % 2 * 2))), &d.fetch()));
    assert!(!covered(&exists, Some(&order(|block| (block < 5).then_some(block))), &d.fetch()));
    assert!(!covered(&exists, Some(&order(|block| Some(block / 2 * 2))), &d.fetch()));
    // Threads that copy one piece too few.
    let fetch = d.fetch();
    let fewer = As(at(d.threads, fetch.steps() - 1), fetch.codomain(), move |thread, step| {
        fetch.at(at(thread, step))
    });
    assert!(!covered(&exists, None, &fewer));
    assert_eq!(
        laws::bijective(&TileOrder { kind: SwizzleKind::Identity(4), rows: 5, columns: 3 }),
        Ok(())
    );
}

/// Returns the stores and loads of a tile.
fn shared(desc: &TransposeDesc) -> [SharedAccesses; 2] {
    let whole = Problem::packed_transpose(desc.rows as usize, desc.columns as usize);
    let counters = count_transpose(&TransposeProgram::new(desc), &whole).expect("it counts");
    [counters.stores, counters.loads]
}

/// Stores down a column of `[n][32]` access one bank. A pitch with an odd number of words, or
/// chunks swizzled by the column number, distribute them over all banks: `wavefronts = ideal`.
/// Without them, the number of wavefronts is 32 and 8 times as large.
#[test]
fn stores_conflict_only_without_padding_or_swizzle() {
    let padded = Rung::Padded.desc(Combine::Move, 4);
    let [stores, loads] = shared(&padded);
    assert_eq!([stores.wavefronts, loads.wavefronts], [stores.ideal, loads.ideal]);
    for (padding, times) in
        [(0, 32), (1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (31, 1), (32, 32), (33, 1)]
    {
        let [stores, _] = shared(&TransposeDesc { staging: Staging::Padded(padding), ..padded });
        assert_eq!(stores.wavefronts, times * stores.ideal, "padding {padding}");
    }
    for (bits, times) in [(1, 16), (2, 8), (3, 4), (4, 2), (5, 1)] {
        let [stores, loads] = shared(&TransposeDesc {
            staging: Staging::Swizzled { bits, base: 0, shift: 0 },
            ..padded
        });
        assert_eq!(stores.wavefronts, times * stores.ideal, "{bits} bits");
        assert_eq!(loads.wavefronts, loads.ideal, "{bits} bits");
    }
    // Accesses of 16 bytes, for each element width.
    for (bytes, thread_rows) in [(2, 8), (4, 4), (8, 2)] {
        let wide = |staging| {
            let desc = Rung::Coalesced.desc(Combine::Move, bytes);
            let columns = if bytes == 8 { 32 } else { 64 };
            let (rows, access) = (64, thread_rows);
            TransposeDesc {
                rows,
                columns,
                threads: 64,
                access_a: access,
                thread_rows,
                access_d: access,
                staging,
                blocks_per_sm: 1,
                ..desc
            }
        };
        let (base, shift) = (u32::trailing_zeros(thread_rows), u32::trailing_zeros(thread_rows));
        let [with, loads] = shared(&wide(Staging::Swizzled { bits: 3, base, shift }));
        let [without, _] = shared(&wide(Staging::Padded(0)));
        assert_eq!(
            [with.wavefronts, loads.wavefronts, without.wavefronts],
            [with.ideal, loads.ideal, 8 * without.ideal],
            "{bytes}"
        );
        // A swizzle of bits that all lanes of a phase share has no effect.
        let [idle, _] = shared(&wide(Staging::Swizzled { bits: 3, base, shift: shift + 3 }));
        assert!(idle.wavefronts > with.wavefronts, "{bytes}: {idle:?}");
    }
}

/// The resolver's choice takes at most twice the minimum number of wavefronts, and more without its
/// padding or swizzle.
#[test]
fn resolved_tiles_take_at_most_twice_the_minimum_wavefronts() {
    let mut tiles = 0;
    for desc in named().into_iter().filter(|desc| matches!(desc.staging, Staging::Swizzled { .. }))
    {
        let [stores, loads] = shared(&desc);
        let [without, _] = shared(&TransposeDesc { staging: Staging::Padded(0), ..desc });
        assert!(
            stores.wavefronts <= 2 * stores.ideal && loads.wavefronts <= 2 * loads.ideal,
            "{desc}: {stores:?} {loads:?}"
        );
        assert!(stores.wavefronts < without.wavefronts, "{desc}");
        tiles += 1;
    }
    assert!(tiles >= 16, "{tiles}");
}

/// The rungs `naive` and `tiled` write across D's rows, and the others along them. A warp accesses
/// 32 sectors in the first case, and the minimum number in the second.
#[test]
fn only_lanes_along_d_coalesce() {
    let of = |lanes| {
        let desc = TransposeDesc { lanes, ..Rung::Padded.desc(Combine::Move, 4) };
        count_transpose(&TransposeProgram::new(&desc), &Problem::packed_transpose(64, 64))
            .expect("it counts")
            .d
            .sectors
    };
    assert_eq!([of(Lanes::Along), of(Lanes::Across)], [64 * 64 / 8, 64 * 64]);
}
