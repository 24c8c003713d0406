//! The elements that the fragments of each thread hold, as index maps determine them.

use crate::{
    arch::WARP,
    layout::index_map::at,
    schedule::Fault,
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program},
    warp::{mma_sync::MATRICES, simt::maps::FragmentMap},
};

/// The fragments of an operand in all threads of a CTA.
#[derive(Clone, Debug)]
pub struct Fragments {
    operand: OperandKind,
    /// Elements of the fragment of one thread.
    pub elements: u32,
    /// Whether `ldmatrix` loads the fragments.
    by_rows: bool,
    /// For each element of each thread, (mn, k) in a k-block; `None` if a map leaves it out.
    coordinates: Vec<Option<(u32, u32)>>,
    /// For warp-level instructions: the lane and the fragment element that hold (row or column of
    /// the warp's tile, k of a k-block).
    holders: Option<Vec<(u32, u32)>>,
}

impl Fragments {
    /// Returns the fragments that the maps of a program describe.
    pub fn new(program: &Program, operand: OperandKind) -> Self {
        let base = &program.base;
        Self {
            operand,
            elements: base.fragment_elements(operand),
            by_rows: program.maps.rows[operand.index()].is_some(),
            coordinates: coordinates(program, operand),
            holders: holders(base, operand),
        }
    }

    /// Returns (mn, k) in a k-block of an element of a thread.
    ///
    /// # Errors
    /// [`Fault::LeftOut`] if a map leaves the element out.
    pub fn coordinate(
        &self,
        base: &MmaBase,
        thread: u32,
        element: u32,
    ) -> Result<(u32, u32), Fault> {
        let left_out = || match self.by_rows {
            true => Fault::LeftOut { map: "rows", row: thread, column: load_of(base, element) },
            false => Fault::LeftOut { map: "fragment", row: thread, column: element },
        };
        let coordinate = self.coordinates.get((thread * self.elements + element) as usize);
        coordinate.copied().flatten().ok_or_else(left_out)
    }

    /// Returns whether an instruction of the whole warp reads the fragments.
    pub fn is_warp_wide(&self) -> bool {
        self.holders.is_some()
    }

    /// Returns the thread and the fragment element that hold each row of A, or column of B, of the
    /// accumulators of a thread, for each k of a k-block.
    pub fn read_by(
        &self,
        base: &MmaBase,
        thread: u32,
    ) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let (facts, step) = (base.operand(self.operand), base.step());
        let map = FragmentMap::new(base.tiles, self.operand);
        let first = thread / WARP * WARP;
        let extent = facts.thread_mn();
        (0..step).flat_map(move |k| (0..extent).map(move |i| (k, i))).map(move |(k, i)| {
            let Some(holders) = &self.holders else { return (thread, i) };
            let row = map.mn(thread, i) % facts.warp_mn;
            let (lane, element) = holders[(row * step + k) as usize];
            (first + lane, element)
        })
    }
}

/// Returns the matrix load that fills a fragment element.
fn load_of(base: &MmaBase, element: u32) -> u32 {
    element / base.instruction().map_or(1, |instruction| instruction.per_word()) / MATRICES
}

/// Returns the lane and the fragment element that hold (mn, k) of a warp's tile, row by row; `None`
/// without a warp-level instruction.
fn holders(base: &MmaBase, operand: OperandKind) -> Option<Vec<(u32, u32)>> {
    let instruction = base.instruction()?;
    let step = instruction.shape().k;
    let (extent, per_word) = (instruction.extent(operand), instruction.per_word());
    let (own, elements) = (instruction.words(operand) * per_word, base.fragment_elements(operand));
    let mut held = vec![(0, 0); (base.operand(operand).warp_mn * step) as usize];
    for lane in 0..WARP {
        for element in 0..elements {
            let (mn, k) = instruction.coordinate(
                operand,
                lane,
                (element % own / per_word, element % per_word),
            );
            held[((element / own * extent + mn) * step + k) as usize] = (lane, element);
        }
    }
    Some(held)
}

/// Returns the (mn, k) in a k-block of each fragment element of each thread, thread by thread;
/// `None` if a map leaves it out.
fn coordinates(program: &Program, operand: OperandKind) -> Vec<Option<(u32, u32)>> {
    let (Program { maps, base, .. }, side) = (program, operand.index());
    let (step, elements) = (base.step(), base.fragment_elements(operand));
    let per_word = base.instruction().map_or(1, |instruction| instruction.per_word());
    let of_offset = |offset: u32| (offset / step, offset % step);
    let rows = maps.rows[side].as_ref().zip(base.matrix_loads(operand));
    let coordinate = |(thread, element): (u32, u32)| match &rows {
        None => maps.fragment[side].at(at(thread, element)).map(of_offset),
        Some((rows, loads)) => {
            let (from, within) = loads.source(thread, (element / per_word, element % per_word));
            let (mn, k) = of_offset(rows.at(at(from, load_of(base, element)))?);
            Some(if loads.transposed() { (mn + within, k) } else { (mn, k + within) })
        }
    };
    let threads = 0..base.tiles.threads();
    threads.flat_map(|thread| (0..elements).map(move |i| (thread, i))).map(coordinate).collect()
}
