//! The elements that the fragments of each thread hold, as index maps determine them.

use crate::{
    arch::WARP,
    layout::index_map::at,
    schedule::Fault,
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program},
    warp::{TiledMma, thread_maps::FragmentMap},
};

/// The fragments of an operand in all threads of a CTA.
#[derive(Clone, Debug)]
pub struct Fragments {
    operand: OperandKind,
    /// Elements of the fragment of one thread.
    pub elements: u32,
    /// Fragment elements per `ldmatrix`; `None` if threads load single elements.
    pub(in crate::host) per_load: Option<u32>,
    /// For each element of each thread, (mn, k) in a k-block; `None` if a map leaves it out.
    pub(in crate::host) coordinates: Vec<Option<(u32, u32)>>,
    /// For warp-level instructions: the lane and the fragment element that hold (row or column of
    /// the warp's tile, k of a k-block).
    pub(in crate::host) holders: Option<Vec<(u32, u32)>>,
}

impl Fragments {
    /// Returns the fragments that the maps of a program describe.
    pub fn new(program: &Program, operand: OperandKind) -> Self {
        let base = &program.base;
        let of_threads = Self {
            operand,
            elements: base.fragment_elements(operand),
            per_load: None,
            coordinates: coordinates(program, operand),
            holders: None,
        };
        match &base.mma {
            TiledMma::MmaSync(_, instruction) => {
                of_threads.with_holders(program, operand, instruction)
            }
            _ => of_threads,
        }
    }

    /// Returns (mn, k) in a k-block of an element of a thread.
    ///
    /// # Errors
    /// [`Fault::LeftOut`] if a map leaves the element out.
    pub fn coordinate(&self, thread: u32, element: u32) -> Result<(u32, u32), Fault> {
        let left_out = || match self.per_load {
            Some(elements) => {
                Fault::LeftOut { map: "rows", row: thread, column: element / elements }
            }
            None => Fault::LeftOut { map: "fragment", row: thread, column: element },
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

/// Returns the (mn, k) in a k-block of each fragment element of each thread, thread by thread;
/// `None` if a map leaves it out.
fn coordinates(program: &Program, operand: OperandKind) -> Vec<Option<(u32, u32)>> {
    let Program { maps, base, .. } = program;
    let (step, elements) = (base.step(), base.fragment_elements(operand));
    let fragment = &maps.fragment[operand.index()];
    let coordinate = |(thread, element): (u32, u32)| {
        fragment.at(at(thread, element)).map(|offset| (offset / step, offset % step))
    };
    let threads = 0..base.tiles.threads();
    threads.flat_map(|thread| (0..elements).map(move |i| (thread, i))).map(coordinate).collect()
}
