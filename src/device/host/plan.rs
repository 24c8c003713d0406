//! A program, composed: which element of A and of B each multiplication reads.
//!
//! One block is run on names instead of numbers, through the very copies, layouts and fragments of the checked mode. What
//! comes out says, for each warp and k, which row of A stands in each of its rows and which column of B in each of its
//! columns. Warps that share their rows share a [`Panel`]. A wrong map makes a wrong plan.

use super::{
    Fault, Program,
    block::{Block, Value},
    vectors::whole,
};
use crate::{
    desc::OperandKind,
    index::{at, laws},
    threadblock::thread_map::WARP,
    warp::mma_simt::warp_place,
};

/// An element of an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Name {
    /// Which tile along K.
    pub tile: u32,
    /// Along M or N.
    pub mn: u32,
    /// Along K.
    pub k: u32,
}

/// What a thread multiplied: for each product, the names in its rows and in its columns.
pub(super) struct Trace {
    rows: Vec<Name>,
    columns: Vec<Name>,
}

impl Value for Name {
    type Sums = Trace;
    fn sums(_: u32, _: u32) -> Trace {
        Trace { rows: Vec::new(), columns: Vec::new() }
    }
    fn multiply_add(trace: &mut Trace, (i, j, _): (u32, u32, u32), a: Self, b: Self) {
        if j == 0 {
            trace.rows.push(a);
        }
        if i == 0 {
            trace.columns.push(b);
        }
    }
    fn sum(_: &Trace, _: u32) -> Self {
        Self::default()
    }
    fn add(_: &mut Trace, _: u32, _: Self) {}
}

/// The elements of one operand that some warps multiply, k by k.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Panel {
    /// Rows of a warp's product, or columns.
    pub slots: usize,
    /// The element in each slot, k-group by k-group, of tile 0.
    pub elements: Vec<Name>,
}

/// One warp's share of a block.
#[derive(Clone, Debug)]
pub struct WarpPlan {
    /// Which panel of A, and of B.
    pub panels: [usize; 2],
    /// Slice of K.
    pub slice: u32,

    /// Row of the block's tile that each row of the product is stored to.
    pub rows: Vec<u32>,
    /// Column of each column.
    pub columns: Vec<u32>,
}

/// A block, composed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The panels of A, and of B.
    pub panels: [Vec<Panel>; 2],
    /// The warps, slice by slice.
    pub warps: Vec<WarpPlan>,
}

impl Plan {
    /// Runs one block of `program` on names.
    pub fn of(program: &Program) -> Result<Self, Fault> {
        let d = &program.desc;
        let name = |_: OperandKind, tile: u32, mn: u32, k: u32| Name { tile, mn, k };
        // Two tiles: enough to see that every tile takes the same way.
        let block = Block::run(program, &name, 2, 0)?;
        stored_once(program)?;
        whole(program)?;
        let warp_count = d.threads() / WARP;
        let mut plan = Self { panels: [Vec::new(), Vec::new()], warps: Vec::new() };
        for warp in 0..warp_count {
            let fault = Fault::NotAnOuterProduct { warp };
            let lanes: Vec<&Trace> = (0..WARP).map(|lane| &block.threads[(warp * WARP + lane) as usize].sums).collect();
            let arrangement = d.lanes();
            let collector = warp % (d.threads_per_slice() / WARP);
            let mut gather = |operand: OperandKind| -> Result<(usize, Vec<u32>), Fault> {
                let per_lane = d.operand(operand).thread_mn() as usize;
                let side = |lane: u32| match operand {
                    OperandKind::A => &lanes[lane as usize].rows,
                    OperandKind::B => &lanes[lane as usize].columns,
                };
                // One lane for each row, or column, of the grid of lanes; all others hold what one of these holds.
                let own =
                    |lane: u32| if operand == OperandKind::A { arrangement.place(lane).0 } else { arrangement.place(lane).1 };
                let mut leads: Vec<u32> = (0..WARP).collect();
                leads.sort_by_key(|&lane| (own(lane), lane));
                leads.dedup_by_key(|lane| own(*lane));
                if (0..WARP).any(|lane| side(lane) != side(leads[own(lane) as usize])) {
                    return Err(fault);
                }
                let mut elements = Vec::new();
                for step in 0..2 * d.warp.k as usize {
                    for &lane in &leads {
                        elements.extend_from_slice(side(lane).get(step * per_lane..(step + 1) * per_lane).ok_or(fault)?);
                    }
                }
                let slots = leads.len() * per_lane;
                let (first, second) = elements.split_at(slots * d.warp.k as usize);
                if !first.iter().zip(second).all(|(a, b)| a.tile == 0 && *b == Name { tile: 1, ..*a }) {
                    return Err(fault);
                }
                let columns = d.operand(OperandKind::B).thread_mn();
                let mut stored = Vec::new();
                for &lane in &leads {
                    for i in 0..per_lane as u32 {
                        let index = if operand == OperandKind::A { i * columns } else { i };
                        let offset = program.maps.accumulator.at(at(collector * WARP + lane, index)).ok_or(fault)?;
                        let tile_columns = d.threadblock.n;
                        stored.push(if operand == OperandKind::A { offset / tile_columns } else { offset % tile_columns });
                    }
                }
                let panel = Panel { slots, elements: first.to_vec() };
                let known = &mut plan.panels[operand.index()];
                let index = known.iter().position(|p| *p == panel).unwrap_or_else(|| {
                    known.push(panel);
                    known.len() - 1
                });
                Ok((index, stored))
            };
            let (a, rows) = gather(OperandKind::A)?;
            let (b, columns) = gather(OperandKind::B)?;
            plan.warps.push(WarpPlan { panels: [a, b], slice: warp_place(d, warp).2, rows, columns });
        }
        Ok(plan)
    }
}

/// Whether the threads of a slice store each element of the tile once, and deposit it once.
pub(super) fn stored_once(program: &Program) -> Result<(), Fault> {
    let columns = program.desc.threadblock.n;
    let place = |offset: u32| (offset / columns, offset % columns);
    if program.desc.warps().k > 1
        && let Err(laws::Violation::Shared { second, .. }) = laws::injective(program.maps.deposit.as_ref())
    {
        return Err(Fault::DepositedTwice { thread: second.row, accumulator: second.column });
    }
    match laws::bijective(program.maps.accumulator.as_ref()) {
        Ok(()) => Ok(()),
        Err(laws::Violation::Missed { offset }) => {
            let (row, column) = place(offset);
            Err(Fault::NeverStored { row, column })
        }
        Err(laws::Violation::Shared { offset, .. } | laws::Violation::Outside { offset, .. }) => {
            let (row, column) = place(offset);
            Err(Fault::StoredTwice { row, column })
        }
        Err(laws::Violation::Apart { point }) => Err(Fault::StoredTwice { row: point.row, column: point.column }),
    }
}
