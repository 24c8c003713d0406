//! The accesses of consumers with `wgmma`: loads of A to registers, and those of the epilogue.

use super::{
    super::{Direction, NotAnAccess, WarpAccess, steps::Steps},
    Lanes, lanes, stored_by_threads, user,
};
use crate::counters::Purpose;
use falchion::{
    arch::WARP,
    epilogue::tensor_store::StagingMap,
    internals::{
        index::{IndexMap, at},
        shape::OperandKind,
    },
    nest::GemmDesc,
    refusal::Operand,
    threadblock::WarpSpecialized,
    warp::wgmma::{FragmentLoad, ROWS, STEPS, THREADS},
};

/// Columns that the lanes of a warp hold in pairs.
const OCTET: u32 = 8;

/// Warps per consumer.
const WARPS: u32 = THREADS / WARP;

/// Adds all accesses of the consumers.
pub(super) fn accesses(
    d: &GemmDesc,
    components: &WarpSpecialized,
    load: Option<&FragmentLoad>,
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    if let Some(load) = load {
        fragments_of_a(d, components, load, steps)?;
    }
    epilogue(d, components, steps)
}

/// Describes the reads of an operand.
pub(super) const fn reads(operand: OperandKind, a_from_registers: bool) -> &'static str {
    match operand {
        OperandKind::A if a_from_registers => "the loads of it to registers are counted",
        _ => "wgmma reads it by matrix descriptors: no thread accesses it",
    }
}

/// Adds the loads of A into registers. For each instruction's 64 rows and each step, there is one
/// `ldmatrix.x4.trans` for 8-bit elements, or two accesses of 8 bytes for 32-bit ones. Consumers
/// that are adjacent along N load the same rows.
fn fragments_of_a(
    d: &GemmDesc,
    components: &WarpSpecialized,
    load: &FragmentLoad,
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    let (accesses, bytes) = if load.tile.input().bits() == 8 { (1, 16) } else { (2, 8) };
    for first in
        (0..components.consumers.n).flat_map(|_| (0..load.tile.mn()).step_by(ROWS as usize))
    {
        for (warp, step) in (0..WARPS).flat_map(|warp| (0..STEPS).map(move |step| (warp, step))) {
            for access in 0..accesses {
                let of = lanes(|lane| load.address(warp * WARP + lane, first, step, access));
                steps.add(
                    Purpose::Load,
                    Some(user(d, OperandKind::A)),
                    WarpAccess::new(Direction::Load, bytes, of)?,
                );
            }
        }
    }
    Ok(())
}

/// Adds the accesses of the consumers to the subtiles of a tile of D. They load C from the staging
/// buffer if it comes through the buffer, and store D to the buffer. If threads store D, they also
/// load it from the buffer.
fn epilogue(
    d: &GemmDesc,
    components: &WarpSpecialized,
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    let subtiles =
        components.consumers.m * components.consumers.n * u32::from(components.options.subtiles);
    let staged = staging_stores(components);
    let threads = stored_by_threads(d).map(|elements| stores(components, elements));
    for _ in 0..subtiles {
        for &(bytes, of) in &staged {
            if components.ring.source {
                steps.add(
                    Purpose::EpilogueLoad,
                    Some(Operand::C),
                    WarpAccess::new(Direction::Load, bytes, of)?,
                );
            }
            steps.add(
                Purpose::EpilogueStore,
                Some(Operand::D),
                WarpAccess::new(Direction::Store, bytes, of)?,
            );
        }
        let (bytes, accesses) =
            threads.as_ref().map_or((0, &[][..]), |(bytes, accesses)| (*bytes, accesses));
        for &of in accesses {
            steps.add(
                Purpose::EpilogueLoad,
                Some(Operand::D),
                WarpAccess::new(Direction::Load, bytes, of)?,
            );
        }
    }
    Ok(())
}

/// Returns the accesses between registers and the staging buffer for a subtile, with their bytes
/// per lane.
///
/// - Elements of 16 bits use `stmatrix` and `ldmatrix` on two octets of columns at once, transposed
///   for a column-major D. The last octet may be single.
/// - Other elements use two consecutive elements of a row. For a column-major D with A from
///   registers, they use two consecutive elements of a column.
/// - All remaining cases use single elements.
fn staging_stores(components: &WarpSpecialized) -> Vec<(u32, Lanes)> {
    let (map, rows, columns) =
        (StagingMap::new(components), components.fragment_rows(), components.subtile_columns);
    let (element, octets) = (map.element_bytes(), columns / OCTET);
    let (by_rows, in_columns) =
        (components.layout_c.is_row(), components.mma.fragment_load().is_some());
    let mut found = Vec::new();
    let mut add = |warp: u32, bytes: u32, place: &dyn Fn(u32) -> (u32, u32)| {
        let of = |lane| {
            let (lane_of, column) = place(lane);
            let (thread, lower) = (warp * WARP + lane_of % WARP, lane_of / WARP);
            map.at(at(rows.row(thread, lower), column))
        };
        found.push((bytes, lanes(of)));
    };
    // A place is a column and the lane that has the row, plus 32 for the lower row of the lane.
    // Lanes beyond the last column are inactive.
    for warp in 0..WARPS {
        if !by_rows && in_columns {
            for (i, octet) in (0..2).flat_map(|i| (0..octets).map(move |octet| (i, octet))) {
                add(warp, 2 * element, &|lane| (lane, octet * OCTET + lane % 4 * 2 + i));
            }
        } else if element == 2 {
            for octet in (0..octets).step_by(2) {
                // Lane l addresses row, or column, l mod 8 of matrix l / 8. The matrices are the
                // upper and lower rows of an octet, then those of the next octet.
                add(warp, 16, &|lane| match by_rows {
                    true => (lane % 8 * 4 + lane / 8 % 2 * WARP, (octet + lane / 16) * OCTET),
                    false => (lane / 8 % 2 * WARP, (octet + lane / 16) * OCTET + lane % 8),
                });
            }
        } else {
            for (octet, lower) in
                (0..octets).flat_map(|octet| (0..2).map(move |lower| (octet, lower)))
            {
                let column = |lane: u32| octet * OCTET + lane % 4 * 2;
                match by_rows {
                    true => add(warp, 2 * element, &|lane| (lane + lower * WARP, column(lane))),
                    false => (0..2).for_each(|i| {
                        add(warp, element, &|lane| (lane + lower * WARP, column(lane) + i))
                    }),
                }
            }
        }
    }
    found
}

/// Returns the accesses with which threads load a subtile that they store, and the bytes per lane.
/// Each thread has the same columns in rows at a constant distance. For a column-major D, it has
/// the same rows in columns at a constant distance.
fn stores(components: &WarpSpecialized, elements: u32) -> (u32, Vec<Lanes>) {
    let (map, columns) = (StagingMap::new(components), components.subtile_columns);
    let by_rows = components.layout_c.is_row();
    let (along, across) = if by_rows { (columns, ROWS) } else { (ROWS, columns) };
    let a_line = along / elements;
    let accesses = (0..across)
        .step_by((THREADS / a_line) as usize)
        .flat_map(|first| (0..WARPS).map(move |warp| (first, warp)));
    let of = |(first, warp): (u32, u32)| {
        lanes(|lane| {
            let thread = warp * WARP + lane;
            let (line, within) = (first + thread / a_line, thread % a_line * elements);
            let place = if by_rows { at(line, within) } else { at(within, line) };
            map.at(place)
        })
    };
    // With few columns, a warp may be beyond the last row.
    let taking_part = |of: &Lanes| of.iter().any(Option::is_some);
    (elements * map.element_bytes(), accesses.map(of).filter(taking_part).collect())
}
