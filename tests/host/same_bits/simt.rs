//! SIMT kernels.

use super::*;

/// Two accumulators per register do not change the bits, for problems at the edges of CUTLASS's f16
/// tiles.
#[test]
fn tiles_of_f16_accumulators_give_the_same_bits() {
    tiles_of_halves(ArchKind::Sm90).par_iter().enumerate().for_each(|(i, desc)| {
        fast_and_checked(desc, (0, draw(0x4a1f, i as u64)));
    });
}

pairs! {
    fast_and_checked_give_the_same_bits: 0x5a3e_b175,
        Wanted { largest_tile: MOST_WORK as u32 / 4, ..Wanted::default() }, 700, 4,
        (2800, 1200, 1), |all| with_vectors(all, Coverage::from_descriptions(all).missing());
}
