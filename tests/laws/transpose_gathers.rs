//! Laws of the maps of transposes that gather rows of A. Each law fails if its mechanism is
//! removed.

use super::transpose_maps::{cases, legal};
use crate::harness::{prelude::*, transposes::named};
use falchion::{internals::operand::transpose::GatheredTile, refusal::Refusal};
use falchion_lab::ladder::TransposeRung as Rung;
use proptest::prelude::*;

/// Returns the number of lines that a tile needs, and the elements of a line, for any alignment of
/// A's rows within an access and of D's rows within a sector.
fn needed(d: &TransposeDesc) -> (u32, u32) {
    (d.rows + d.write_alignment() - 1, d.columns + d.access_a - 1)
}

proptest! {
    #![proptest_config(cases(256))]

    /// `fetch: threads x steps -> accesses of lines` is a bijection, except that it omits accesses
    /// after the last one. `write` is a bijection. `smem: (line, element) -> shared memory` is
    /// injective into `smem_bytes`, and stores are contiguous and aligned. The tile has exactly the
    /// lines that it needs, and a line has exactly the accesses that it needs.
    #[test]
    fn gathered_lines_hold_the_elements_of_a_tile(d in legal(true)) {
        prop_assert_eq!(laws::bijective(&d.fetch()), Ok(()));
        prop_assert_eq!(laws::bijective(&d.write()), Ok(()));
        prop_assert_eq!(d.write().codomain() * d.access_d, d.rows * d.columns);
        let smem = d.gathered();
        prop_assert_eq!(laws::injective(&smem), Ok(()));
        prop_assert_eq!(smem.codomain() * d.element_bytes, d.smem_bytes());
        prop_assert!(d.access_a.is_multiple_of(d.stored()));
        for first in (0..smem.lines).flat_map(|line| (0..smem.pitch).step_by(d.stored() as usize).map(move |i| at(line, i))) {
            let place = smem.at(first).expect("a place");
            prop_assert!(place.is_multiple_of(d.stored()));
            prop_assert!((1..d.stored()).all(|i| smem.at(at(first.row, first.column + i)) == Some(place + i)));
        }
        let (lines, elements) = needed(&d);
        prop_assert!(lines == smem.lines && elements <= smem.pitch);
        // With one access less, the last elements of some row have no address.
        prop_assert!(d.access_a == 1 || elements > smem.pitch - d.access_a);
    }

    /// All pieces of D of a thread have the same alignment within a sector, for any leading
    /// dimension: `line(thread, step) = line(thread, 0) (mod sector)`. The pieces of a thread are
    /// in one column.
    #[test]
    fn gathered_pieces_of_a_thread_have_one_alignment(d in legal(true)) {
        let write = d.write();
        for (thread, step) in (0..d.threads).flat_map(|thread| (0..write.steps()).map(move |step| (thread, step))) {
            let ((first, place), (line, piece)) = (write.place(thread, 0), write.place(thread, step));
            prop_assert_eq!((line % d.write_alignment(), piece), (first % d.write_alignment(), place));
        }
    }
}

/// If the number of threads is not a multiple of a tile's rows, a thread gathers lines with
/// different alignments. `check` refuses such descriptions.
#[test]
fn threads_must_be_a_multiple_of_the_gathered_rows() {
    let d = TransposeDesc {
        staging: Staging::Gathered,
        access_d: 4,
        access_a: 4,
        rows: 64,
        ..Rung::Padded.desc(Combine::Move, 4)
    };
    assert_eq!(d.check(), Ok(()));
    let fewer = TransposeDesc { threads: 32, ..d };
    let write = fewer.write();
    assert!(
        (0..write.steps())
            .any(|step| !(write.place(0, step).0 - write.place(0, 0).0).is_multiple_of(d.access_d))
    );
    assert!(matches!(
        fewer.check(),
        Err(Refusal { rule: Rule::Multiple, field: Field::ThreadsOfABlock, .. })
    ));
}

/// Lanes gather from lines that are one group apart. Without the skew between groups, they access
/// one bank.
#[test]
fn gathers_conflict_only_without_the_skew() {
    let problem = Problem::packed_transpose(1021, 1019);
    for desc in named().into_iter().filter(|desc| desc.is_gathered() && desc.element_bytes < 4) {
        let program = TransposeProgram::new(&desc);
        let plain = GatheredTile { skew: 0, ..desc.gathered() };
        let without = TransposeProgram { smem: std::sync::Arc::new(plain), ..program.clone() };
        let [with, without] = [program, without]
            .map(|program| count_transpose(&program, &problem).expect("it counts").loads);
        println!(
            "{desc}: {} of {} wavefronts, without a skew {}",
            with.wavefronts, with.ideal, without.wavefronts
        );
        assert!(
            with.accesses == without.accesses && with.wavefronts * 2 < without.wavefronts,
            "{desc}: {with:?} {without:?}"
        );
    }
}
