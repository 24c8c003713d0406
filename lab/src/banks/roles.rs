//! The accesses of a warp-specialized kernel's threads to shared memory: loads of fragments from a
//! stage, and the epilogue's accesses to the staging buffers. Accesses by TMA and by matrix
//! descriptors do not belong to threads.
//!
//! The accesses are those of the kernels' source, at the addresses of the host's maps:
//! `kernels/warp/wgmma/registers.cuh`, `kernels/warp/simt/consumer.cuh`,
//! `kernels/warp/mma_sync.cuh`, and `kernels/epilogue/tensor_store.cuh`. Stages and staging buffers
//! begin at multiples of 1024 bytes, so the bank of an offset is the bank of its address.

use super::{
    Direction, LANES, NotAnAccess, WarpAccess,
    steps::{SharedStep, Steps},
};
use crate::{Error, counters::Purpose};
use falchion::warp::TiledMma;
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
    warp::{
        ThreadTiles,
        mma_sync::{self, StepMap, WarpInstruction},
        simt::maps::FragmentMap,
        wgmma::{FragmentLoad, ROWS, STEPS, THREADS},
    },
};

/// Columns that the lanes of a warp hold in pairs.
const OCTET: u32 = 8;

/// Warps per consumer.
const WARPS: u32 = THREADS / WARP;

/// The first byte that each lane touches; `None` for inactive lanes.
type Lanes = [Option<u64>; LANES];

/// Returns the accesses of a kernel's threads: loads for one k-tile, and the epilogue's accesses
/// for one tile of D.
pub(super) fn warp_specialized_steps(
    d: &GemmDesc,
    components: &WarpSpecialized,
) -> Result<Vec<SharedStep>, Error> {
    let mut steps = Steps::default();
    let counted = match &components.mma {
        TiledMma::Simt(tiles) => fragments_of_threads(d, components, tiles, &mut steps),
        TiledMma::MmaSync(tiles, instruction) => {
            fragments_of_warps(d, components, (tiles, instruction), &mut steps)
        }
        TiledMma::Wgmma(_, Some(load)) => fragments_of_a(d, components, load, &mut steps)
            .and_then(|()| epilogue(d, components, &mut steps)),
        TiledMma::Wgmma(_, None) => epilogue(d, components, &mut steps),
    };
    counted.map_err(|apart| Error::Measurement { because: apart.to_string() })?;
    Ok(steps.in_order())
}

/// Returns the operand in the user's frame.
const fn user(d: &GemmDesc, operand: OperandKind) -> Operand {
    Operand::from_kind(operand.leave(d.frame))
}

fn lanes(address: impl Fn(u32) -> Option<u32>) -> Lanes {
    core::array::from_fn(|lane| address(lane as u32).map(u64::from))
}

/// Adds the loads of `f32` fragments on CUDA cores: 16 bytes at a time for each k of a stage, by
/// every warp.
fn fragments_of_threads(
    d: &GemmDesc,
    components: &WarpSpecialized,
    tiles: &ThreadTiles,
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    for operand in OperandKind::BOTH {
        let (stage, fragment) = (components.boxed_tile(operand), FragmentMap::new(*tiles, operand));
        let (element, run) = (d.operand(operand).stored, tiles.interleave[operand.index()]);
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

/// Adds the loads of `f64` fragments with `mma.sync`: one element at a time for each k-block of a
/// stage, by every warp.
fn fragments_of_warps(
    d: &GemmDesc,
    components: &WarpSpecialized,
    (tiles, instruction): (&ThreadTiles, &WarpInstruction),
    steps: &mut Steps,
) -> Result<(), NotAnAccess> {
    let depth = StepMap { tiles: *tiles, step: instruction.shape().k };
    for operand in OperandKind::BOTH {
        let (stage, element) = (components.boxed_tile(operand), d.operand(operand).stored);
        let fragment = mma_sync::FragmentMap::new(*tiles, *instruction, operand);
        let blocks = depth.domain().column;
        for (warp, block) in
            (0..tiles.threads() / WARP).flat_map(|warp| (0..blocks).map(move |block| (warp, block)))
        {
            for i in 0..fragment.domain().column {
                let of = lanes(|lane| {
                    let thread = warp * WARP + lane;
                    let (place, k) = (fragment.at(at(thread, i))?, depth.at(at(thread, block))?);
                    let point = at(place / depth.step, k + place % depth.step);
                    Some(element.bytes_of(stage.at(point)?))
                });
                let access = WarpAccess::new(Direction::Load, element.bytes_of(1), of)?;
                steps.add(Purpose::Load, Some(user(d, operand)), access);
            }
        }
    }
    Ok(())
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

/// Returns the elements per store of a thread, if D's rows are not aligned for TMA.
const fn stored_by_threads(d: &GemmDesc) -> Option<u32> {
    if d.output.element.bytes_of(d.output.access) < 16 { Some(d.output.access) } else { None }
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

/// Describes the accesses that do not belong to threads.
pub(super) fn without_threads(d: &GemmDesc, components: &WarpSpecialized) -> Vec<String> {
    let by_registers = components.fragment_load().is_some();
    let mut said = Vec::new();
    // In the user's order.
    for operand in OperandKind::BOTH.map(|operand| operand.leave(d.frame)) {
        let name = user(d, operand).name();
        said.push(match components.mma {
            TiledMma::Simt(_) | TiledMma::MmaSync(..) => format!("{name}: TMA writes its tile, and the threads' loads of it are counted"),
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
    } else if d.epilogue.has_source() {
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
