//! Random epilogue trees of depth up to 6, with every node that an epilogue's compute type has.

use super::prelude::*;

/// Largest depth of a tree.
const DEPTH: usize = 6;

/// Returns a random valid tree for an epilogue of `compute`.
pub fn tree(random: &mut Random, compute: ComputeKind) -> EpilogueDesc {
    loop {
        let types = operand_types(random, compute);
        let mut trees = Trees { types, compute, random, named: 0, written: Vec::new() };
        let tree = if trees.random.once_in(3) { trees.block() } else { trees.sum(DEPTH) };
        let valid = tree.check().is_ok() && tree.not_computed_in(compute).is_none();
        if valid && tree.has_accumulator() {
            return tree;
        }
    }
}

/// Returns an element type for each operand but C: D's type, or one that the compute type reads.
fn operand_types(
    random: &mut Random,
    compute: ComputeKind,
) -> [Option<ElementKind>; EpilogueOperand::COUNT] {
    let readable = [ElementKind::F32, ElementKind::Bf16, ElementKind::F16, ElementKind::I8];
    core::array::from_fn(|operand| {
        let reduction = EpilogueOperand::ALL[operand].is_reduction();
        let own = compute == ComputeKind::F32 && operand > 0 && !reduction && random.once_in(2);
        own.then(|| random.pick(&readable))
    })
}

struct Trees<'r> {
    random: &'r mut Random,
    compute: ComputeKind,
    types: [Option<ElementKind>; EpilogueOperand::COUNT],
    /// Number of named values.
    named: u8,
    /// Operands that the tree writes.
    written: Vec<EpilogueOperand>,
}

impl Trees<'_> {
    /// Returns one or two named values and an expression of them.
    fn block(&mut self) -> EpilogueDesc {
        let value = self.sum(DEPTH / 2).then(Op::Let(self.named));
        self.named += 1;
        let more = self.named < 2 && self.random.once_in(2);
        let body = if more { self.block() } else { self.sum(DEPTH / 2) };
        value.join(body, Op::Then)
    }

    fn sum(&mut self, depth: usize) -> EpilogueDesc {
        if depth == 1 || self.random.once_in(4) {
            return self.leaf();
        }
        if self.random.once_in(6) {
            let scalar = self.random.below(3) as u8;
            let x = self.sum(depth - 1);
            return EpilogueDesc::leaf(Op::Scalar(scalar)).join(x, Op::Scale);
        }
        if self.random.once_in(16) {
            let [first, second, ..] = EpilogueOperand::AUXILIARY;
            let matrices = [first, second];
            let operand = self.random.pick(&[&matrices[..], &EpilogueOperand::REDUCTIONS].concat());
            // A reduction would turn an epilogue of integers into one of f32.
            let computes = self.compute != ComputeKind::I32 || operand.is_matrix();
            if computes && !self.written.contains(&operand) {
                self.written.push(operand);
                return self.sum(depth - 1).then(Op::Write(operand, self.types[operand.index()]));
            }
        }
        let known: Vec<_> =
            MathFunction::ALL.iter().filter(|one| one.computes_in(self.compute)).collect();
        let function = *known[self.random.below(known.len())];
        let x = self.sum(depth - 1);
        match function.arity() {
            1 => x.then(Op::Math(function)),
            _ => x.join(self.sum(depth - 1), Op::Math(function)),
        }
    }

    fn leaf(&mut self) -> EpilogueDesc {
        EpilogueDesc::leaf(match self.random.below(6) {
            0 | 1 => Op::Accumulator,
            2 if self.named > 0 => Op::Local(self.random.below(self.named as usize) as u8),
            2 | 3 => {
                let mut operand = self.random.pick(&EpilogueOperand::ALL);
                if operand.is_reduction() || self.written.contains(&operand) {
                    operand = EpilogueOperand::Source;
                }
                Op::Operand(operand, self.types[operand.index()])
            }
            4 => Op::Scalar(self.random.below(3) as u8),
            _ if self.compute == ComputeKind::I32 => Op::integer(self.random.below(7) as i32 - 3),
            _ => Op::Constant(
                Real::new(self.random.below(33) as f64 / 8.0 - 2.0).unwrap_or(Real::ZERO),
            ),
        })
    }
}
