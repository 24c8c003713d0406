//! Gathered rows of A on a device.

use crate::Error;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    internals::{operand::Problem, sys::driver::driver},
    numeric::ElementKind,
};
use std::sync::Arc;

/// Returns one A per set with row `i` of the set's A at row `rows[i]`. A GEMM that gathers `rows`
/// then has the result of the plain GEMM on the set, which the peer computes. `numbers` is the
/// plain GEMM.
pub(super) fn placed_rows(
    stream: &Arc<CudaStream>,
    rows: &[u32],
    (kind, numbers): (ElementKind, &Problem),
    sets: &[[CudaSlice<u8>; 2]],
) -> Result<Vec<CudaSlice<u8>>, Error> {
    let placed = |[from, _]: &[CudaSlice<u8>; 2]| {
        let read = stream.clone_dtoh(from).map_err(driver("cuMemcpyDtoHAsync"))?;
        Ok(stream
            .clone_htod(&placed_bytes(&read, rows, (kind, numbers)))
            .map_err(driver("cuMemcpyHtoDAsync"))?)
    };
    sets.iter().map(placed).collect()
}

/// Returns the bytes of A with row `i` at row `rows[i]`.
fn placed_bytes(read: &[u8], rows: &[u32], (kind, numbers): (ElementKind, &Problem)) -> Vec<u8> {
    let bytes = |elements: usize| kind.matrix_bytes(elements as u64) as usize;
    let mut placed = read.to_vec();
    for (row, &place) in rows.iter().enumerate() {
        let [from, to] = [row, place as usize].map(|row| bytes(numbers.a.offset(row, 0)));
        let length = bytes(numbers.k);
        placed[to..to + length].copy_from_slice(&read[from..from + length]);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{SuiteProblem, kernels::description, suite::parse};
    use falchion::{arch::ArchKind, internals::shape::Axis};

    /// Each line that gathers A follows the same plain line. The producer gathers its rows in
    /// place. The last line has 64 groups along K, which read A and B in place.
    #[test]
    fn the_suite_of_gathered_rows() {
        let text = include_str!("../../../benches/suites/gathered.jsonl");
        let problems = parse("gathered", text).unwrap();
        let (along_k, pairs) = problems.split_last().expect("problems");
        let (axis, depths) = along_k.ragged().expect("groups");
        assert_eq!((axis, depths.len()), (Axis::K, 64));
        assert!(depths.iter().all(|depth| (64..=1024).contains(depth)));
        let desc = description(along_k, ArchKind::Sm90).unwrap();
        assert_eq!(desc.check(), Ok(()));
        assert_eq!(desc.routes(&along_k.launched()).unwrap().to_string(), "direct");
        assert_eq!(pairs.len(), 12);
        for pair in pairs.chunks_exact(2) {
            let [plain, gathered] = pair else { unreachable!("pairs") };
            assert_eq!(*gathered, SuiteProblem { gather_a: true, ..plain.clone() });
            assert_eq!(gathered.k, 4096);
            let [of_plain, of_gathered] =
                [plain, gathered].map(|problem| description(problem, ArchKind::Sm90).unwrap());
            assert_eq!(of_gathered.check(), Ok(()));
            assert!(!of_plain.operands.iter().any(|operand| operand.indexed));
            assert!(of_gathered.operands.iter().any(|operand| operand.indexed), "{gathered}");
            let routes = of_gathered.routes(&gathered.launched()).unwrap();
            assert_eq!(routes.to_string(), "direct");
            println!("{gathered}: {of_gathered} {}", of_plain.to_json().unwrap_or_default());
        }
    }

    #[test]
    fn gathered_rows_are_those_of_the_plain_gemm() {
        let line = r#"{"m":5,"n":4,"k":2,"a":"bf16:row","b":"bf16:col","c":"bf16:row","lda":3,"gather_a":true}"#;
        let problem = &parse("rows", line).unwrap()[0];
        let rows = problem.rows_of_a().expect("a list");
        let mut sorted = rows.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        assert_ne!(rows, sorted);
        let read: Vec<u8> = (0..28).collect();
        let placed = placed_bytes(&read, &rows, (ElementKind::Bf16, &problem.problem()));
        for (row, &place) in rows.iter().enumerate() {
            assert_eq!(placed[place as usize * 6..][..4], read[row * 6..][..4]);
        }
        let refused = |field: &str| {
            let line = line.replace(r#""k":2"#, &format!(r#""k":2,{field}"#));
            parse("rows", &line).expect_err("refused").to_string()
        };
        let said = "`gather_a` needs a row-major A, and no batch or groups";
        assert!(
            refused(r#""batch":2"#).contains(said) && refused(r#""group_rows":[5]"#).contains(said)
        );
    }
}
