//! Ragged groups as problems for cuBLASLt, one call per group.

use super::{SuiteProblem, peer::lt_problem};
use crate::sys::cublaslt::{ALIGNMENT_BYTES, LtProblem, LtSet};
use core::ops::Range;
use falchion::{internals::shape::Axis, layout::MatrixType};

/// A nonempty group, as a problem for the peer.
#[derive(Debug)]
pub(super) struct LtGroup {
    /// The group alone.
    pub problem: LtProblem,
    /// Bytes from the first A, B, and D to those of the group.
    pub first: [usize; 3],
    /// Bytes from the first A and B to operands of the same size and alignment: those of other
    /// groups, or of ranges of K with the same length.
    pub alike: Vec<[usize; 2]>,
}

impl LtGroup {
    /// Returns the group's buffers, with A and B at the offsets `a` and `b`.
    pub fn set<'r>(&self, all: &LtSet<'r>, [a, b]: [usize; 2]) -> LtSet<'r> {
        let [_, _, d] = self.first;
        LtSet { a: all.a.from(a), b: all.b.from(b), c: all.c.from(d), d: all.d.from(d) }
    }
}

/// Returns the nonempty groups; `None` if groups are equal, if they have an epilogue, or if the
/// peer does not support them.
pub(super) fn lt_groups(problem: &SuiteProblem) -> Option<Vec<LtGroup>> {
    let (axis, lengths) = problem.ragged().filter(|_| problem.epilogue.is_none())?;
    let call = problem.problem();
    let one = |(number, lines): (usize, Range<usize>)| {
        let [a, b, d] = match axis {
            Axis::K => [
                call.a.offset(0, lines.start),
                call.b.offset(lines.start, 0),
                number * call.d.batch_stride,
            ],
            _ => [
                call.a.offset(lines.start, 0),
                number * call.b.batch_stride,
                call.d.offset(lines.start, 0),
            ],
        };
        let bytes = |operand: MatrixType, elements: usize| {
            operand.element.matrix_bytes(elements as u64) as usize
        };
        let first = [bytes(problem.a, a), bytes(problem.b, b), bytes(problem.c, d)];
        let [a, b, d] = first;
        let alignment =
            [a, b, d, d].map(|first| 1 << (first | ALIGNMENT_BYTES as usize).trailing_zeros());
        let plain = SuiteProblem {
            group_rows: None,
            group_k: None,
            lda: Some(problem.lda()),
            ldb: Some(problem.ldb()),
            ..problem.clone()
        };
        let (alone, parts) = match axis {
            Axis::K => (SuiteProblem { k: lines.len(), ..plain }, problem.k / lines.len()),
            _ => (SuiteProblem { m: lines.len(), ..plain }, lengths.len()),
        };
        let part = |number: usize| match axis {
            Axis::K => {
                let depth = number * lines.len();
                [
                    bytes(problem.a, call.a.offset(0, depth)),
                    bytes(problem.b, call.b.offset(depth, 0)),
                ]
            }
            _ => [a, bytes(problem.b, number * call.b.batch_stride)],
        };
        let is_alike = |offsets: &[usize; 2]| {
            offsets
                .iter()
                .zip(&alignment)
                .all(|(offset, alignment)| offset.is_multiple_of(*alignment as usize))
        };
        let alike = (0..parts).map(part).filter(is_alike).collect();
        Some(LtGroup { problem: LtProblem { alignment, ..lt_problem(&alone)? }, first, alike })
    };
    let lines = lengths.iter().scan(0, |end, length| {
        let first = *end;
        *end += length;
        Some(first..*end)
    });
    lines.enumerate().filter(|(_, lines)| !lines.is_empty()).map(one).collect()
}

/// Returns the buffers of each group in each set.
pub(super) fn sets_of<'r>(groups: &[LtGroup], all: &[LtSet<'r>]) -> Vec<Vec<LtSet<'r>>> {
    let of_group = |group: &LtGroup| {
        let [a, b, _] = group.first;
        all.iter().map(|set| group.set(set, [a, b])).collect::<Vec<_>>()
    };
    groups.iter().map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::parse;

    fn groups(line: &str) -> Option<Vec<LtGroup>> {
        lt_groups(&parse("test", line).expect("a problem")[0])
    }

    /// Checks that each group with rows has a call with its addresses and its alignment.
    #[test]
    fn the_peer_is_called_for_each_nonempty_group() {
        let line = r#"{"m":10,"n":24,"k":16,"a":"bf16:row","b":"bf16:col","c":"f32:row","group_rows":[3,0,7],"alpha":2.0}"#;
        let all = groups(line).expect("the peer has words for them");
        let told: Vec<_> = all
            .iter()
            .map(|group| (group.problem.m, group.first, group.problem.alignment))
            .collect();
        let b = 24 * 16 * 2;
        assert_eq!(told, [(3, [0; 3], [256; 4]), (7, [3 * 32, 2 * b, 3 * 96], [32, 256, 32, 32])]);
        assert_eq!(all[0].alike, [[0, 0], [0, b], [0, 2 * b]]);
        for LtGroup { problem, .. } in &all {
            assert_eq!((problem.n, problem.k, problem.batch, problem.alpha), (24, 16, 1, 2.0));
            assert_eq!((problem.a.ld, problem.b.ld, problem.d.ld), (16, 16, 24));
        }
        let odd =
            groups(&line.replace(r#""k":16"#, r#""k":15"#)).expect("the peer has words for them");
        assert_eq!(odd[1].problem.alignment, [2, 32, 32, 32]);
        assert!(groups(&line.replace(r#","alpha":2.0"#, r#","epilogue":"relu(acc)""#)).is_none());
        assert!(groups(&line.replace("[3,0,7]", "null")).is_none());
    }

    /// Groups along K share the leading dimensions of A and B, and each has its own D.
    #[test]
    fn the_peer_is_called_for_each_group_along_k() {
        let line = r#"{"m":16,"n":24,"k":64,"a":"bf16:col","b":"bf16:row","c":"f32:row","group_k":[16,0,48]}"#;
        let all = groups(line).expect("the peer has words for them");
        let told: Vec<_> = all
            .iter()
            .map(|LtGroup { problem, first, .. }| (problem.m, problem.k, *first))
            .collect();
        let (part, d) = (|depth: usize| [depth * 16 * 2, depth * 24 * 2], 16 * 24 * 4);
        let [a, b] = part(16);
        assert_eq!(told, [(16, 16, [0; 3]), (16, 48, [a, b, 2 * d])]);
        assert_eq!((all[1].problem.a.ld, all[1].problem.b.ld), (16, 24));
        assert_eq!(all[0].alike, [0, 16, 32, 48].map(part));
        let rows = line.replace("bf16:col", "bf16:row");
        assert_eq!(groups(&rows).expect("the peer has words for them")[1].problem.a.ld, 64);
    }
}
