//! Maps that tests mutate.

use falchion::internals::index::{Coord, IndexMap, Map};
use std::sync::Arc;

/// A map whose points go elsewhere.
struct Mutant<F>(Map, F);

impl<F: Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync> IndexMap for Mutant<F> {
    fn domain(&self) -> Coord {
        self.0.domain()
    }
    fn codomain(&self) -> u32 {
        self.0.codomain()
    }
    fn at(&self, point: Coord) -> Option<u32> {
        (self.1)(&*self.0, point)
    }
}

/// A map with its formula changed; domain and codomain stay.
pub fn mutant(map: &Map, f: impl Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync + 'static) -> Map {
    Arc::new(Mutant(map.clone(), f))
}

/// Changes a map's formula.
pub fn mutate(map: &mut Map, f: impl Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync + 'static) {
    *map = mutant(map, f);
}
