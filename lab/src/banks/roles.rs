//! The accesses to shared memory that threads of a warp-specialized kernel make: fragments out of a
//! stage, the epilogue's to the staging buffers. What TMA writes and reads, and what matrix
//! descriptors read, no thread accesses.
//!
//! Accesses are those of the kernels' text, at the addresses of the host's maps:
//! `kernels/warp/mma_warpgroup/registers.cuh`, `kernels/threadblock/mma_warp_specialized/simt.cuh`
//! and `kernels/epilogue/tensor_store.cuh`. Stages and staging buffers begin at multiples of 1024
//! bytes, so that an offset has the bank of its address.

use super::{
    Direction, LANES, NotAnAccess, WarpAccess,
    steps::{SharedStep, Steps},
};
use crate::{Error, counters::Purpose};
use falchion::{
    arch::WARP,
    desc::WarpSpecializedDesc,
    epilogue::tensor_store::StagingMap,
    internals::{
        index::{IndexMap, at},
        operand::OperandKind,
    },
    refusal::Operand,
    threadblock::{ConsumerMma, WarpSpecialized},
    warp::{
        mma_simt::{FragmentMap, ThreadTiles},
        mma_warpgroup::{FragmentLoad, ROWS, STEPS, THREADS},
    },
};

/// Columns that a warp's lanes hold two by two.
const OCTET: u32 = 8;

/// Warps of a consumer.
const WARPS: u32 = THREADS / WARP;

/// What one lane touches: the first byte, if it takes part.
type Lanes = [Option<u64>; LANES];

/// The accesses of a kernel's threads: loads for one k-tile, and what the epilogue does for one
/// tile of D.
pub(super) fn of_warp_specialized(
    d: &WarpSpecializedDesc,
    components: &WarpSpecialized,
) -> Result<Vec<SharedStep>, Error> {
    let mut steps = Steps::default();
    let counted = match &components.mma {
        ConsumerMma::Threads(tiles) => fragments_of_threads(d, components, tiles, &mut steps),
        ConsumerMma::Registers(_, load) => fragments_of_a(d, components, load, &mut steps)
            .and_then(|()| epilogue(d, components, &mut steps)),
        ConsumerMma::Warpgroup(_) => epilogue(d, components, &mut steps),
    };
    counted.map_err(|apart| Error::Measurement { because: apart.to_string() })?;
    Ok(steps.in_order())
}

/// The operand as the user names it.
const fn user(d: &WarpSpecializedDesc, operand: OperandKind) -> Operand {
    Operand::of(operand.leave(d.frame))
}

fn lanes(address: impl Fn(u32) -> Option<u32>) -> Lanes {
    core::array::from_fn(|lane| address(lane as u32).map(u64::from))
}

/// `f32` on the CUDA cores: each k of a stage, 16 bytes at a time, by every warp.
fn fragments_of_threads(
    d: &WarpSpecializedDesc,
    components: &WarpSpecialized,
    tiles: &ThreadTiles,
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    for operand in OperandKind::BOTH {
        let (stage, fragment) = (components.boxed_tile(operand), FragmentMap::of(*tiles, operand));
        let (element, run) = (d.class.operand(operand).element, tiles.interleave[operand.index()]);
        for (warp, k) in
            (0..tiles.threads() / WARP).flat_map(|warp| (0..tiles.warp.k).map(move |k| (warp, k)))
        {
            for i in (0..fragment.domain().column).step_by(run as usize) {
                let of = lanes(|lane| {
                    Some(element.bytes_of(stage.at(at(fragment.mn(warp * WARP + lane, i), k))?))
                });
                let access = WarpAccess::new(Direction::Load, element.bytes_of(run), of)?;
                steps.add(Purpose::Load, Some(user(d, operand)), access);
            }
        }
    }
    Ok(())
}

/// A from registers: of each instruction's 64 rows and each step, one `ldmatrix.x4.trans` of 8-bit
/// elements, or two accesses of 8 bytes of 32-bit ones. Consumers side by side along N load the
/// same rows.
fn fragments_of_a(
    d: &WarpSpecializedDesc,
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

/// What the consumers of a tile of D do with their subtiles: C out of the staging buffer where it
/// comes through that, D into it, and D out of it where threads store.
fn epilogue(
    d: &WarpSpecializedDesc,
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

/// Elements that a thread stores at once, where D's rows are not aligned for TMA.
const fn stored_by_threads(d: &WarpSpecializedDesc) -> Option<u32> {
    if d.class.output.element.bytes_of(d.knobs.align_c) < 16 { Some(d.knobs.align_c) } else { None }
}

/// The accesses of a subtile between registers and the staging buffer, and how many bytes a lane:
/// `stmatrix` and `ldmatrix` of 16-bit elements, two octets of columns at once, transposed of a
/// column-major D, of which the last octet may be alone; two neighbours of a row of other elements,
/// and of a column of a column-major D where A comes from registers; else elements one by one.
fn staging_stores(components: &WarpSpecialized) -> Vec<(u32, Lanes)> {
    let (map, rows, columns) =
        (StagingMap::of(components), components.fragment_rows(), components.subtile_columns);
    let (element, octets) = (map.element_bytes(), columns / OCTET);
    let (by_rows, in_columns) =
        (components.layout_c.is_row(), components.fragment_load().is_some());
    let mut found = Vec::new();
    let mut add = |warp: u32, bytes: u32, place: &dyn Fn(u32) -> (u32, u32)| {
        let of = |lane| {
            let (lane_of, column) = place(lane);
            let (thread, lower) = (warp * WARP + lane_of % WARP, lane_of / WARP);
            map.at(at(rows.row(thread, lower), column))
        };
        found.push((bytes, lanes(of)));
    };
    // A place is the lane whose row it is, beyond the 32 lanes for its lower one, and a column.
    // Lanes beyond the last column take no part.
    for warp in 0..WARPS {
        if !by_rows && in_columns {
            for (i, octet) in (0..2).flat_map(|i| (0..octets).map(move |octet| (i, octet))) {
                add(warp, 2 * element, &|lane| (lane, octet * OCTET + lane % 4 * 2 + i));
            }
        } else if element == 2 {
            for octet in (0..octets).step_by(2) {
                // Lane l points at row, or column, l mod 8 of matrix l / 8: upper and lower rows of
                // an octet, then those of the next.
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

/// The accesses with which threads read a subtile that they store, and how many bytes a lane: each
/// thread has the same columns of every so many rows; of a column-major D, the same rows of every
/// so many columns.
fn stores(components: &WarpSpecialized, elements: u32) -> (u32, Vec<Lanes>) {
    let (map, columns) = (StagingMap::of(components), components.subtile_columns);
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
    // Of few columns a warp may be beyond the last row.
    let taking_part = |of: &Lanes| of.iter().any(Option::is_some);
    (elements * map.element_bytes(), accesses.map(of).filter(taking_part).collect())
}

/// What is read and written without an access of a thread, in words.
pub(super) fn without_threads(
    d: &WarpSpecializedDesc,
    components: &WarpSpecialized,
) -> Vec<String> {
    let by_registers = components.fragment_load().is_some();
    let mut said = Vec::new();
    // In the user's order.
    for operand in OperandKind::BOTH.map(|operand| operand.leave(d.frame)) {
        let name = user(d, operand).name();
        said.push(match components.mma {
            ConsumerMma::Threads(_) => format!("{name}: TMA writes its tile, and the threads' loads of it are counted"),
            _ if by_registers && matches!(operand, OperandKind::A) => {
                format!("{name}: TMA writes its tile, and the loads of it to registers are counted")
            }
            _ => format!("{name}: TMA writes its tile, and wgmma reads it by matrix descriptors: no thread accesses it"),
        });
    }
    if components.threads().is_some() {
        said.push(
            "C and D: threads read and write them in global memory, from registers".to_owned(),
        );
        return said;
    }
    if components.ring.source {
        said.push(
            "C: TMA writes it to the staging buffers, for an epilogue that reads it; the threads' loads of it are counted"
                .to_owned(),
        );
    } else if d.class.output.epilogue.has_source() {
        said.push("C: threads read it in global memory".to_owned());
    }
    said.push(match stored_by_threads(d) {
        None => "D: TMA stores it from the staging buffers: no thread reads them".to_owned(),
        Some(_) => {
            "D: threads store it from the staging buffers, and their loads are counted".to_owned()
        }
    });
    said
}
