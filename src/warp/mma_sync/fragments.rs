//! The fragments and the arithmetic of an `mma.sync` kernel without a producer.

use crate::{
    layout::index_map::Map,
    numeric::{Combined, Instruction, emulation::RegisterTerms},
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program, smem::Along},
    warp::{
        MmaSyncKnobs, TiledMma,
        mma_sync::{FragmentMap, MatrixLoads, WarpInstruction, WordLoad},
        tiled_mma::tabled,
    },
};

impl MmaBase {
    /// Returns the instruction of a warp, or `None` for another MMA than `mma.sync`.
    pub const fn instruction(&self) -> Option<WarpInstruction> {
        match self.mma {
            TiledMma::MmaSync(_, instruction) => Some(instruction),
            _ => None,
        }
    }

    /// Returns the fragment map of an operand for one k-block, or `None` for another MMA than
    /// `mma.sync`.
    pub const fn fragment(&self, operand: OperandKind) -> Option<FragmentMap> {
        match self.instruction() {
            Some(instruction) => Some(FragmentMap::new(self.tiles, instruction, operand)),
            None => None,
        }
    }

    /// Returns the warp-wide matrix loads (`ldmatrix`) of an operand, or `None` if each thread
    /// loads its own elements.
    pub const fn matrix_loads(&self, operand: OperandKind) -> Option<MatrixLoads> {
        let facts = self.operand(operand);
        match self.fragment(operand) {
            Some(fragment) => {
                MatrixLoads::new(fragment, WordLoad::for_element(facts.element, facts.smem.along))
            }
            None => None,
        }
    }
}

impl MmaSyncKnobs {
    /// Returns the number of elements of an operand that a thread holds per k-block.
    pub(crate) const fn fragment_elements(
        base: &MmaBase,
        instruction: &WarpInstruction,
        operand: OperandKind,
    ) -> u32 {
        FragmentMap::new(base.tiles, *instruction, operand).elements()
    }

    /// Returns the elements per shared-memory access of a fragment load, and whether these elements
    /// are contiguous along K.
    pub(crate) const fn fragment_access(base: &MmaBase, operand: OperandKind) -> (u32, bool) {
        match base.matrix_loads(operand) {
            Some(loads) => (loads.row_elements(), base.operand(operand).smem.along.is(Along::K)),
            None => (1, false),
        }
    }

    /// Returns the number of fragments of B that a thread holds: one, each word of which is
    /// reloaded after the products that read it. For f64, it is two: the instruction reads its
    /// operands when it begins, so such a reload would wait for it.
    pub(crate) const fn fragments_of_b(base: &MmaBase, instruction: &WarpInstruction) -> u32 {
        if base.k_blocks() == 1 || instruction.input(OperandKind::B).bits() < 64 { 1 } else { 2 }
    }

    /// Returns the map of an operand's fragments as a table.
    pub(crate) fn fragment_map(
        base: &MmaBase,
        instruction: &WarpInstruction,
        operand: OperandKind,
    ) -> Map {
        tabled(&FragmentMap::new(base.tiles, *instruction, operand))
    }

    /// Returns the map of the rows that `ldmatrix` reads of an operand as a table.
    pub(crate) fn row_map(base: &MmaBase, operand: OperandKind) -> Option<Map> {
        base.matrix_loads(operand).map(|loads| tabled(&loads))
    }

    /// Returns the arithmetic of the instruction and the terms into which it decomposes fragments.
    pub(crate) fn arithmetic(
        program: &Program,
        of_warp: &WarpInstruction,
    ) -> Option<(Instruction, RegisterTerms)> {
        let Program { desc, base, .. } = program;
        let [a, b] = OperandKind::BOTH.map(|operand| of_warp.factor(operand));
        let instruction = Instruction::for_types(Combined { a, b, ..desc.types() }, desc.arch)?;
        Some((
            instruction.with_terms(of_warp.math().emulation(), base.step(), base.tiles.warp.k),
            of_warp.terms(),
        ))
    }
}
