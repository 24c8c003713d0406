//! Faults of warp-specialized programs. The checked machine reports each fault, or D has other bits
//! than in the fast mode.

use crate::harness::{prelude::*, tma_ring::subject::programs};
use falchion_check::mutation::{
    Findings,
    tma_ring::tile_faults::{TILE_FAULTS, TileNeeds, ring_faults_of_tiles},
};

/// Applies the faults of tiles, and then of rings, for which a program has the property. Returns
/// the number of these faults, and the findings.
pub(crate) fn find_faults(all: &[(&'static str, GemmDesc)]) -> [(usize, Findings); 2] {
    let runs: BTreeMap<&str, Subject> =
        all.iter().map(|(name, desc)| (*name, Subject::new(desc))).collect();
    let (programs, find) = (programs(all), |name: &str, mutant: &_| runs[name].find(mutant));
    let has = |needs: TileNeeds| programs.iter().any(|(_, program)| needs.has(program));
    assert_eq!(TILE_FAULTS.len(), 74);
    let of_tiles: Vec<_> = TILE_FAULTS.iter().filter(|fault| has(fault.1)).copied().collect();
    let mut of_rings = ring_faults_of_tiles();
    of_rings.retain(|fault| has(fault.1));
    let tiles = apply_each(&programs, &of_tiles, TileNeeds::has, |p| p, find);
    let rings = apply_each(&programs, &of_rings, TileNeeds::has, |p| &mut p.ring, find);
    [(of_tiles.len(), tiles), (of_rings.len(), rings)]
}
