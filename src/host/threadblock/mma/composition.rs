//! The composed program: which element of A and of B each multiplication reads.
//!
//! The index maps of a CTA are evaluated on names instead of numbers: the copies to shared memory
//! first, then the loads of all fragments ([`names`](super::names)). The result gives, for each
//! warp and k, the row of A in each of its rows and the column of B in each of its columns. These
//! are the warp's two [`Panel`]s. If the warps form a grid, with one panel of A per row and one
//! panel of B per column, they merge into one larger product. A wrong map makes a wrong
//! composition.

use crate::{
    arch::WARP,
    host::{
        threadblock::mma::{
            names::{Name, ThreadNames},
            vectors::whole,
        },
        warp::microkernel::ROWS,
    },
    layout::index_map::{at, laws},
    schedule::Fault,
    shape::{Mnk, OperandKind},
    threadblock::mma::program::Program,
};

/// The elements of one operand that a product multiplies, and the destinations of its accumulators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Panel {
    /// The row of the CTA's tile that each row of the product is stored to; for B, the columns.
    pub stored: Vec<u32>,
    /// The element of a k-tile in each slot, k-block by k-block.
    pub elements: Vec<Name>,
}

impl Panel {
    /// Returns the number of rows, or for B of columns, of the product.
    pub fn slots(&self) -> usize {
        self.stored.len()
    }

    /// Returns the number of k-blocks per k-tile.
    pub fn depth(&self) -> usize {
        self.elements.len() / self.slots().max(1)
    }

    /// Returns whether each slot `i` is stored to row or column `i`.
    fn is_in_order(&self) -> bool {
        (0..).zip(&self.stored).all(|(slot, &stored)| slot == stored)
    }

    /// Returns the first element if the panel is a rectangle of the tile, with slots along M or N
    /// and k-blocks along K.
    fn rectangle(&self) -> Option<Name> {
        let first = *self.elements.first()?;
        let slots = self.slots() as u32;
        let expected =
            (0..).map(|i: u32| Name { mn: first.mn + i % slots, k: first.k + i / slots });
        self.elements.iter().copied().zip(expected).all(|(a, b)| a == b).then_some(first)
    }

    /// Merges the slots of several panels of equal depth, sorted by the row or column that they are
    /// stored to.
    fn joined(panels: &[&Self]) -> Self {
        let mut places: Vec<(u32, &Self, usize)> = Vec::new();
        for panel in panels {
            places.extend(
                panel.stored.iter().enumerate().map(|(slot, &stored)| (stored, *panel, slot)),
            );
        }
        places.sort_by_key(|place| place.0);
        let depth = panels.first().map_or(0, |panel| panel.depth());
        let mut elements = Vec::with_capacity(depth * places.len());
        for group in 0..depth {
            elements.extend(
                places.iter().map(|(_, panel, slot)| panel.elements[group * panel.slots() + slot]),
            );
        }
        Self { stored: places.iter().map(|place| place.0).collect(), elements }
    }
}

/// One product of a CTA: the share of one warp, or of a grid of warps.
#[derive(Clone, Debug)]
pub struct Share {
    /// The panels of A and B.
    pub panels: [Panel; 2],
    /// The first element of each panel that is a rectangle of its tile.
    pub rectangles: [Option<Name>; 2],
    /// Index of the warp slice.
    pub warp_slice: u32,
    /// Whether both panels are stored in the order of their slots.
    in_order: bool,
}

impl Share {
    fn new(panels: [Panel; 2], warp_slice: u32) -> Self {
        let rectangles = panels.each_ref().map(Panel::rectangle);
        let in_order = panels.iter().all(Panel::is_in_order);
        Self { panels, rectangles, warp_slice, in_order }
    }
}

/// The composition of one CTA.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The products, in the order of the warp slices.
    pub shares: Vec<Share>,
}

impl Composition {
    /// Evaluates the maps of one CTA of `program` on names.
    ///
    /// # Errors
    /// The first fault of a map.
    pub fn compose(program: &Program) -> Result<Self, Fault> {
        let tiles = &program.base.tiles;
        let names = [
            ThreadNames::new(program, OperandKind::A)?,
            ThreadNames::new(program, OperandKind::B)?,
        ];
        stored_once(program)?;
        whole(program)?;
        let mut shares = Vec::new();
        for warp_slice in 0..tiles.warps().k {
            let warps =
                (0..tiles.threads() / WARP).filter(|&warp| tiles.warp_place(warp).2 == warp_slice);
            let shares_of_warps: Vec<Share> = warps
                .map(|warp| Ok(Share::new(panels_of(program, &names, warp)?, warp_slice)))
                .collect::<Result<_, Fault>>()?;
            match joined(&shares_of_warps) {
                Some(share) => shares.push(share),
                None => shares.extend(shares_of_warps),
            }
        }
        Ok(Self { shares })
    }

    /// Returns a composition with the whole tile of a CTA as one product: rows and columns in
    /// order, k ascending.
    pub fn single_gemm(block: Mnk) -> Self {
        let panel = |extent: u32| Panel {
            stored: (0..extent).collect(),
            elements: (0..block.k)
                .flat_map(|k| (0..extent).map(move |mn| Name { mn, k }))
                .collect(),
        };
        Self { shares: vec![Share::new([panel(block.m), panel(block.n)], 0)] }
    }

    /// Returns the [clipped] block of a GEMM with its composition. The accumulators of D stay the
    /// same. `None` if the block is not clipped, or if it is not one product whose rows, columns,
    /// and k are in order.
    pub fn clipped(&self, block: Mnk, (m, n, k): (usize, usize, usize)) -> Option<(Self, Mnk)> {
        let [share] = &*self.shares else { return None };
        let slots = share.panels.each_ref().map(Panel::slots);
        let in_order = share.in_order
            && share.rectangles == [Some(Name::default()); 2]
            && slots == [block.m as usize, block.n as usize]
            && share.panels[0].depth() == block.k as usize;
        let clipped = clipped(block, (m, n, k));
        (in_order && clipped != block).then(|| (Self::single_gemm(clipped), clipped))
    }

    /// Returns whether each warp slice is one product whose rows and columns are stored in order.
    pub fn is_whole(&self, warp_slices: u32) -> bool {
        self.shares.len() == warp_slices as usize && self.shares.iter().all(|share| share.in_order)
    }
}

/// Multiply-adds of the largest GEMM that one block computes. Distributing smaller blocks to
/// threads takes longer.
const ONE_BLOCK: usize = 1 << 17;

/// Returns a block without the rows and columns beyond the D of a GEMM, rounded up to sections of
/// panels. One block covers a small D.
pub(in crate::host) fn clipped(block: Mnk, (m, n, k): (usize, usize, usize)) -> Mnk {
    let [down, across] = [m, n].map(|extent| extent.div_ceil(ROWS).saturating_mul(ROWS));
    let one = down.saturating_mul(across).saturating_mul(k.max(ROWS)) <= ONE_BLOCK;
    let [m, n] = [(block.m, down), (block.n, across)]
        .map(|(own, all)| if one { all as u32 } else { (own as usize).min(all) as u32 });
    Mnk { m, n, ..block }
}

/// Returns the panels of one warp.
fn panels_of(program: &Program, names: &[ThreadNames; 2], warp: u32) -> Result<[Panel; 2], Fault> {
    let tiles = &program.base.tiles;
    let fault = Fault::NotAnOuterProduct { warp };
    let [rows, columns] = tiles.thread();
    let collector = warp % (tiles.threads_per_warp_slice() / WARP);
    let tile_columns = tiles.block.n;
    let stored_at = |lane: u32, i: u32, j: u32| {
        let offset = program
            .maps
            .accumulator
            .at(at(collector * WARP + lane, i * columns + j))
            .ok_or(fault)?;
        Ok((offset / tile_columns, offset % tile_columns))
    };
    let arrangement = tiles.lanes;
    let panel = |operand: OperandKind| -> Result<Panel, Fault> {
        let per_lane = if operand == OperandKind::A { rows } else { columns };
        let side = |lane: u32| names[operand.index()].get(warp * WARP + lane);
        let own = |lane: u32| match operand {
            OperandKind::A => arrangement.place(lane).0,
            OperandKind::B => arrangement.place(lane).1,
        };
        // One lane represents each row, or column, of the grid of lanes. All other lanes of that
        // row or column must hold the same fragment.
        let mut leads: Vec<u32> = (0..WARP).collect();
        leads.sort_by_key(|&lane| (own(lane), lane));
        leads.dedup_by_key(|lane| own(*lane));
        if (0..WARP).any(|lane| side(lane) != side(leads[own(lane) as usize])) {
            return Err(fault);
        }
        let mut stored = Vec::new();
        for &lane in &leads {
            for i in 0..per_lane {
                stored.push(match operand {
                    OperandKind::A => stored_at(lane, i, 0)?.0,
                    OperandKind::B => stored_at(lane, 0, i)?.1,
                });
            }
        }
        let per_lane = per_lane as usize;
        let mut elements = Vec::new();
        for step in 0..tiles.warp.k as usize {
            for &lane in &leads {
                let names = side(lane).get(step * per_lane..(step + 1) * per_lane).ok_or(fault)?;
                elements.extend(names);
            }
        }
        Ok(Panel { stored, elements })
    };
    let panels = [panel(OperandKind::A)?, panel(OperandKind::B)?];
    // The row and the column of an accumulator must determine where it is stored.
    for lane in 0..WARP {
        let (lane_m, lane_n) = arrangement.place(lane);
        for i in 0..rows {
            for j in 0..columns {
                let place = (lane_m * rows + i, lane_n * columns + j);
                if stored_at(lane, i, j)?
                    != (panels[0].stored[place.0 as usize], panels[1].stored[place.1 as usize])
                {
                    return Err(fault);
                }
            }
        }
    }
    Ok(panels)
}

/// Merges the products of some warps into one product if the warps form a grid.
fn joined(warps: &[Share]) -> Option<Share> {
    let mut distinct: [Vec<&Panel>; 2] = Default::default();
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for warp in warps {
        pairs.push([0, 1].map(|side: usize| {
            let (known, panel) = (&mut distinct[side], &warp.panels[side]);
            known.iter().position(|other| *other == panel).unwrap_or_else(|| {
                known.push(panel);
                known.len() - 1
            })
        }));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let whole = pairs.len() == warps.len() && pairs.len() == distinct[0].len() * distinct[1].len();
    let warp_slice = warps.first()?.warp_slice;
    whole.then(|| Share::new(distinct.map(|panels| Panel::joined(&panels)), warp_slice))
}

/// Checks that the threads of a warp slice store each element of the tile once, and each partial
/// accumulator to its own place.
pub fn stored_once(program: &Program) -> Result<(), Fault> {
    let columns = program.base.tiles.block.n;
    let place = |offset: u32| (offset / columns, offset % columns);
    if program.base.tiles.warps().k > 1 {
        match laws::injective(program.maps.partials.as_ref()) {
            Err(laws::Violation::Shared { second, .. }) => {
                return Err(Fault::PartialStoredTwice {
                    thread: second.row,
                    accumulator: second.column,
                });
            }
            Err(laws::Violation::Outside { point, offset }) => {
                let bytes = u64::from(program.base.accumulator.bytes_of(1));
                return Err(Fault::OutOfBounds {
                    thread: point.row,
                    byte: u64::from(offset) * bytes,
                    size: program.base.partials_bytes().into(),
                });
            }
            _ => {}
        }
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
    }
}
