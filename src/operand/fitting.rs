//! Selection of the kernel for a problem: the kernel of the description, or one with narrower
//! accesses.

use crate::{
    nest::GemmDesc,
    operand::{Elements, OperandNeed, Problem, View},
    shape::{Axis, OperandKind},
    thread::access::dividing,
};

/// Returns the description with the widest accesses that the addresses, leading dimensions, and
/// sizes of a problem allow. The problem has the operands in the form that the kernel reads.
pub fn fitting(desc: &GemmDesc, problem: &Problem) -> GemmDesc {
    desc.narrowed(accesses((desc, desc.needs()), problem))
}

/// Returns the maximum numbers of elements per access of A, B, and D for a problem, which has the
/// operands in the form that the kernel reads. `u32::MAX` means no limit.
pub(crate) fn accesses(
    (desc, needs): (&GemmDesc, [OperandNeed; 2]),
    problem: &Problem,
) -> [u32; 3] {
    let addressing = problem.addressing(desc.frame.d_order());
    let access = |operand: OperandKind| {
        let (view, input) = (problem.operand(operand), desc.operand(operand));
        // TMA does not use narrower accesses.
        let OperandNeed::Accesses(access) = needs[operand.index()] else { return u32::MAX };
        // The memory of an element type is aligned to the element, as cudarc's slices are.
        let first = input.stored.matrix_elements(view.memory.address);
        let (contiguous, _) = problem.lines(operand, input.layout);
        let next = problem.batch_stride(view);
        // Neighboring lines of an index list are apart in memory.
        let gathered = addressing.gathers[operand.index()] && !desc.k_contiguous(operand);
        // A group may begin at any k, so an access of several elements may cross its end.
        let along_k = input.layout.along_k(operand)
            && problem.groups.is_some_and(|groups| groups.axis == Axis::K);
        let apart = u64::from(gathered || along_k);
        // Both matrices of a gate have one layout.
        let up = problem.up.matrix().filter(|_| operand == OperandKind::B);
        let up = up.map_or(0, |up| input.stored.matrix_elements(up.memory.address));
        let leading = view.leading(input.layout) as u64;
        let limits = [first, leading, contiguous as u64, next, apart, up];
        let fits = dividing(access, &limits);
        if fits < access { fits } else { u32::MAX }
    };
    let output = desc.output;
    let [_, _, align_c] = desc.alignments();
    let limits = |view: View<Elements>| {
        let (first, next) =
            (output.element.matrix_elements(view.memory.address), problem.batch_stride(&view));
        [first, view.leading(desc.frame.d_order()) as u64, next]
    };
    let align_c = dividing(align_c, &limits(problem.d));
    let align_c = dividing(align_c, &problem.read_source().map_or([0; 3], limits));
    // A group may begin at any row or column. If D is contiguous along the groups, an access of
    // several elements may cross the end of a group.
    let along = if desc.frame.d_order().is_row() { Axis::N } else { Axis::M };
    let apart = u64::from(problem.groups.is_some_and(|groups| groups.axis == along));
    let single = addressing.strided || addressing.scatters == Some(along);
    let length = desc.frame.d_order().packed(problem.m, problem.n) as u64;
    let align_c = dividing(align_c, &[length, apart, u64::from(single)]);
    [access(OperandKind::A), access(OperandKind::B), align_c]
}
