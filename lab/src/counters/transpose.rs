//! Memory accesses of a transpose. The counts come from accesses of the checked machine, not from
//! formulas.
//!
//! CTAs are alike if the same part of their tiles exists, and if their matrices begin at the same
//! offset in a line of 128 bytes. One CTA of each group of like CTAs runs on the machine,
//! thread by thread. Every access of every warp is counted and multiplied by the size of the group.

use super::{Gathered, GlobalAccesses, SharedAccesses, watched::direction};
use crate::{
    Error,
    banks::{LINE_BYTES, WarpAccess},
};
use falchion::{
    internals::operand::{
        Elements, Problem, View,
        transpose::{TransposeDesc, TransposeProgram},
    },
    layout::Order,
};
use falchion_check::machine::{
    Access, Observer, Purpose, Tile, Touched, transpose_tile, whole_pieces,
};
use std::collections::BTreeMap;

/// The memory accesses of transposes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct TransposeCounters {
    /// Reads of A.
    pub a: GlobalAccesses,
    /// Reads of C.
    pub c: GlobalAccesses,
    /// Writes to D.
    pub d: GlobalAccesses,
    /// Stores to shared memory.
    pub stores: SharedAccesses,
    /// Loads from shared memory.
    pub loads: SharedAccesses,
}

/// Counts the accesses of a batch of transposes whose A, C, and D each begin at a multiple of 128
/// bytes.
///
/// ```
/// use falchion::internals::operand::{Problem, transpose::{Combine, TransposeProgram}};
/// use falchion_lab::ladder::TransposeRung;
/// use falchion_lab::counters::count_transpose;
///
/// // 32 x 32 elements of 4 bytes down the columns of `[32][32]`, and of `[32][33]`.
/// let count = |rung: TransposeRung| {
///     count_transpose(&TransposeProgram::new(&rung.desc(Combine::Move, 4)), &Problem::packed_transpose(32, 32))
/// };
/// assert_eq!(count(TransposeRung::Coalesced)?.stores.wavefronts, 32 * 32);
/// assert_eq!(count(TransposeRung::Padded)?.stores.wavefronts, 32);
/// # Ok::<(), falchion_lab::Error>(())
/// ```
///
/// # Errors
/// - [`falchion::Error::Refused`] if the description or the problem is invalid.
/// - [`falchion::Error::Fault`] if the host executor finds a fault in the program.
/// - [`Error::Measurement`] if an address is not a multiple of the access size.
pub fn count_transpose(
    program: &TransposeProgram,
    problem: &Problem,
) -> Result<TransposeCounters, Error> {
    let desc = &program.desc;
    desc.check()?;
    let problem = &desc.enter(*problem)?;
    whole_pieces(program).map_err(falchion::Error::from)?;
    let mut counters = TransposeCounters::default();
    if problem.is_empty() {
        return Ok(counters);
    }
    let likeness = Likeness { desc, problem };
    let work = desc.work(problem)?;
    let matrices = alike(problem.batch as u64, |matrix| likeness.matrix(matrix));
    let columns = alike(work.rows.into(), |tile| likeness.columns(tile));
    for (rows, &of_rows) in &alike(work.columns.into(), |tile| likeness.rows(tile)) {
        for (columns, &of_columns) in &columns {
            for (matrix, &of_matrices) in &matrices {
                // A grid has fewer than 2^31 CTAs, and a CTA has fewer than 2^20 accesses.
                count_block(
                    program,
                    &likeness,
                    [matrix, rows, columns],
                    (&mut counters, of_rows * of_columns * of_matrices),
                )?;
            }
        }
    }
    Ok(counters)
}

/// The position of a matrix, a row of tiles, or a column of tiles. `before` and `left` are the
/// elements that exist before and after its beginning, up to a few beyond the tile. `past` holds
/// the offsets of A, C, and D in a line, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    left: i64,
    before: i64,
    past: [u64; 3],
}

/// Groups the numbers below `count` by their place, and returns the size of each group.
fn alike(count: u64, place: impl Fn(u64) -> Place) -> BTreeMap<Place, u64> {
    let mut places = BTreeMap::new();
    for number in 0..count {
        *places.entry(place(number)).or_insert(0) += 1;
    }
    places
}

/// Elements beyond a tile that an access can touch: at most one sector of single bytes.
const BEYOND: i64 = 32;

struct Likeness<'p> {
    desc: &'p TransposeDesc,
    problem: &'p Problem,
}

impl Likeness<'_> {
    fn past(&self, elements: [u64; 3]) -> [u64; 3] {
        // Sizes have been checked: a matrix has fewer than 2^63 bytes, so every element has an
        // address.
        elements
            .map(|elements| elements.wrapping_mul(u64::from(self.desc.element_bytes)) % LINE_BYTES)
    }

    fn each_matrix(&self, matrix: impl Fn(&View<Elements>) -> usize) -> [u64; 3] {
        let Problem { a, d, .. } = self.problem;
        [Some(a.transposed()), self.problem.read_source(), Some(*d)]
            .map(|laid| laid.map_or(0, |laid| matrix(&laid) as u64))
    }

    fn matrix(&self, number: u64) -> Place {
        let past = self.past(
            self.each_matrix(|laid| laid.batch_stride).map(|stride| stride.wrapping_mul(number)),
        );
        Place { left: 0, before: 0, past }
    }

    /// Returns the place of the rows of A, which are columns of C and D, of a row of tiles.
    fn rows(&self, tile: u64) -> Place {
        let first = tile * u64::from(self.desc.rows);
        let lda = self.problem.a.leading(Order::Col) as u64;
        let past = self.past([first.wrapping_mul(lda), first, first]);
        place(first as usize, self.problem.n, self.desc.rows, past)
    }

    /// Returns the place of the columns of A, which are rows of C and D, of a column of tiles.
    fn columns(&self, tile: u64) -> Place {
        let first = tile * u64::from(self.desc.columns);
        let [_, c, d] = self
            .each_matrix(|laid| laid.leading(Order::Row))
            .map(|leading| first.wrapping_mul(leading));
        place(first as usize, self.problem.m, self.desc.columns, self.past([first, c, d]))
    }
}

fn place(first: usize, extent: usize, tile: u32, past: [u64; 3]) -> Place {
    // Extents are below 2^31.
    let (first, extent) = (first as i64, extent as i64);
    Place { left: (extent - first).min(i64::from(tile) + BEYOND), before: first.min(BEYOND), past }
}

/// Counts one CTA, multiplied by the number of like CTAs.
fn count_block(
    program: &TransposeProgram,
    likeness: &Likeness<'_>,
    [matrix, rows, columns]: [&Place; 3],
    (counters, times): (&mut TransposeCounters, u64),
) -> Result<(), Error> {
    let (desc, problem) = (&program.desc, likeness.problem);
    let [lda, ldc, ldd] = likeness.each_matrix(|laid| laid.leading(Order::Row));
    let laid = |index: usize, leading: u64| Placed {
        first_byte: LINE_BYTES
            + [matrix, rows, columns].map(|place| place.past[index]).iter().sum::<u64>()
                % LINE_BYTES,
        leading,
    };
    let (a, c) = (problem.k > 0, problem.read_source().is_some());
    let (a, c, d) = (a.then(|| laid(0, lda)), c.then(|| laid(1, ldc)), laid(2, ldd));
    let elements = |access: &WarpAccess| {
        access.active() as u64 * u64::from(access.bytes() / desc.element_bytes)
    };
    let mut tell = |what: Target, access: &WarpAccess| match what {
        (Purpose::Fetch, false) => counters.a.add(times, elements(access), access),
        (_, true) => counters.c.add(times, elements(access), access),
        (Purpose::Load, _) => counters.loads.add(times, access),
        (Purpose::Store, _) => counters.stores.add(times, access),
        _ => counters.d.add(times, elements(access), access),
    };
    let mut log = Log { bytes: desc.element_bytes, a, c, d, warps: Gathered::new(&mut tell) };
    let bytes = u64::from(desc.element_bytes);
    let beyond = |laid: Placed, line: i64, access: u32| {
        let first =
            (laid.first_byte / bytes).wrapping_add((line as u64).wrapping_mul(laid.leading));
        (first % u64::from(access)) as u32
    };
    let tile = Tile {
        rows: -rows.before..rows.left,
        columns: -columns.before..columns.left,
        beyond_a: &|row| a.map_or(0, |a| beyond(a, row, desc.access_a)),
        beyond_d: &|column| beyond(d, column.into(), desc.write_alignment()),
        source: &|_, _| 0,
        sink: &mut |_, _, _| {},
    };
    transpose_tile(program, tile, 0, Some(&mut log)).map_err(falchion::Error::from)?;
    log.warps.finish()
}

/// The purpose of an access, and whether it is an access to C.
type Target = (Purpose, bool);

/// A matrix in global memory: the byte at which the tile's part begins, and the elements from one
/// row to the next.
#[derive(Clone, Copy, Debug)]
struct Placed {
    first_byte: u64,
    leading: u64,
}

/// The observer of a CTA, with the positions of the matrices.
struct Log<'t> {
    /// Bytes per element.
    bytes: u32,
    /// A and C if they are read, and D.
    a: Option<Placed>,
    c: Option<Placed>,
    d: Placed,
    warps: Gathered<'t, Target>,
}

impl Observer for Log<'_> {
    fn saw(&mut self, access: &Access) {
        let (row, column, elements) = match (access.touched, access.purpose) {
            (Touched::Shared { byte, bytes }, purpose) => {
                return self.warps.add(access.thread, (purpose, false), access.which, byte, bytes);
            }
            (Touched::Global { row, column, elements }, Purpose::Fetch) => (column, row, elements),
            (Touched::Global { row, column, elements }, _) => (row, column, elements),
        };
        let matrices = match access.purpose {
            Purpose::Fetch => [((Purpose::Fetch, false), self.a), ((Purpose::Fetch, true), None)],
            // C is read at the position at which D is written.
            _ => [((Purpose::Fetch, true), self.c), ((Purpose::Write, false), Some(self.d))],
        };
        // Elements before the tile have addresses before its first byte. The addresses wrap, and
        // banks and lines wrap with them.
        for (what, laid) in matrices.into_iter().filter_map(|(what, laid)| Some((what, laid?))) {
            let elements_before =
                (column as u64).wrapping_mul(laid.leading).wrapping_add(row as u64);
            let address =
                laid.first_byte.wrapping_add(elements_before.wrapping_mul(u64::from(self.bytes)));
            self.warps.add(access.thread, what, access.which, address, elements * self.bytes);
        }
    }

    fn barrier(&mut self) {
        self.warps.meet(|(purpose, _)| direction(purpose));
    }
}
