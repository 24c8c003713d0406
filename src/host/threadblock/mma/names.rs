//! Names of matrix elements, and the names that each thread multiplies.
//!
//! The maps of a program are evaluated in the order of the data: copies write a k-tile to a stage,
//! loads fill fragments from the stage, and instructions read the fragments. The same maps serve
//! every k-tile and every stage, so one k-tile suffices.

use crate::{
    host::threadblock::mma::fragments::Fragments, layout::index_map::at, schedule::Fault,
    shape::OperandKind, threadblock::mma::program::Program,
};

/// The coordinate of an element in an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Name {
    /// Index along M or N.
    pub mn: u32,
    /// Index along K.
    pub k: u32,
}

/// The elements of one operand that each thread multiplies in a k-tile.
pub struct ThreadNames {
    /// Names per thread.
    each: usize,
    names: Vec<Name>,
}

impl ThreadNames {
    /// Evaluates the maps of an operand.
    ///
    /// # Errors
    /// [`Fault::LeftOut`] if a map leaves out a point. [`Fault::OutOfBounds`],
    /// [`Fault::WriteOverWrite`], or [`Fault::Uninitialized`] if a copy or a load accesses a wrong
    /// place of the stage.
    pub fn new(program: &Program, operand: OperandKind) -> Result<Self, Fault> {
        let (Program { base, maps, .. }, side) = (program, operand.index());
        let (stage, fragments) = (Stage::new(program, operand)?, Fragments::new(program, operand));
        let (threads, k_blocks) = (base.tiles.threads(), base.k_blocks());
        // The fragments of a k-block, thread by thread.
        let held = |k_block: u32| {
            let mut held = Vec::with_capacity((threads * fragments.elements) as usize);
            for thread in 0..threads {
                let left_out = Fault::LeftOut { map: "depth", row: thread, column: k_block };
                let first = maps.depth.at(at(thread, k_block)).ok_or(left_out)?;
                for element in 0..fragments.elements {
                    let (mn, k) = fragments.coordinate(thread, element)?;
                    held.push(stage.read(thread, Name { mn, k: first + k })?);
                }
            }
            Ok(held)
        };
        let held: Vec<Vec<Name>> = (0..k_blocks).map(held).collect::<Result<_, Fault>>()?;
        let each = (base.operands[side].thread_mn() * base.step() * k_blocks) as usize;
        let mut names = Vec::with_capacity(threads as usize * each);
        for thread in 0..threads {
            for held in &held {
                names.extend(fragments.read_by(base, thread).map(|(holder, element)| {
                    held[(holder * fragments.elements + element) as usize]
                }));
            }
        }
        Ok(Self { each, names })
    }

    /// Returns the names that a thread multiplies, fragment by fragment in their order.
    pub fn get(&self, thread: u32) -> &[Name] {
        &self.names[thread as usize * self.each..][..self.each]
    }
}

/// A k-tile of an operand in a stage of shared memory.
struct Stage<'p> {
    program: &'p Program,
    operand: OperandKind,
    /// The name of the element in each place, and the thread that copied it.
    places: Vec<Option<(Name, u32)>>,
}

impl<'p> Stage<'p> {
    /// Copies a k-tile to the stage.
    fn new(program: &'p Program, operand: OperandKind) -> Result<Self, Fault> {
        let base = &program.base;
        let (facts, copy) = (base.operand(operand), &program.maps.copy[operand.index()]);
        let places = facts.stage_bytes() / facts.element.bytes_of(1).max(1);
        let mut stage = Self { program, operand, places: vec![None; places as usize] };
        let map = facts.thread_map();
        for thread in 0..base.tiles.threads() {
            for access in 0..map.accesses() {
                let Some(number) = copy.at(at(thread, access)) else { continue };
                let vector = (number / map.contiguous, number % map.contiguous);
                for i in 0..facts.access {
                    let (mn, k) = facts.coordinate(vector, i);
                    let (name, place) = (Name { mn, k }, stage.place(thread, Name { mn, k })?);
                    if let Some((_, by)) = stage.places[place].replace((name, thread)) {
                        let byte = stage.byte(place);
                        return Err(Fault::WriteOverWrite { thread, byte, by });
                    }
                }
            }
        }
        Ok(stage)
    }

    /// Returns the byte of shared memory at which a place of the first stage begins.
    fn byte(&self, place: usize) -> u64 {
        let base = &self.program.base;
        let first = match self.operand {
            OperandKind::A => 0,
            OperandKind::B => base.operands[0].stage_bytes(),
        };
        u64::from(first) + place as u64 * u64::from(base.operand(self.operand).element.bytes_of(1))
    }

    /// Returns the place of an element.
    fn place(&self, thread: u32, name: Name) -> Result<usize, Fault> {
        let left_out = Fault::LeftOut { map: "smem", row: name.mn, column: name.k };
        let smem = &self.program.maps.smem[self.operand.index()];
        let place = smem.at(at(name.mn, name.k)).ok_or(left_out)? as usize;
        let size = self.program.base.operand(self.operand).stage_bytes().into();
        let out_of_bounds = Fault::OutOfBounds { thread, byte: self.byte(place), size };
        if place < self.places.len() { Ok(place) } else { Err(out_of_bounds) }
    }

    /// Reads the place of an element, and returns the name there.
    fn read(&self, thread: u32, name: Name) -> Result<Name, Fault> {
        let place = self.place(thread, name)?;
        let uninitialized = Fault::Uninitialized { thread, byte: self.byte(place) };
        self.places[place].map(|(name, _)| name).ok_or(uninitialized)
    }
}
