//! Edits of maps and of lists of steps.

use falchion::internals::{
    index::{Coord, IndexMap, Map, at},
    schedule::{RoleStep, Schedule, Section, Spelled},
};
use std::sync::Arc;

/// Map with another formula.
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

/// Map with rows and columns exchanged, so that a law about rows reads columns.
pub struct Transposed<'m>(pub &'m dyn IndexMap);

impl IndexMap for Transposed<'_> {
    fn domain(&self) -> Coord {
        at(self.0.domain().column, self.0.domain().row)
    }
    fn codomain(&self) -> u32 {
        self.0.codomain()
    }
    fn at(&self, point: Coord) -> Option<u32> {
        self.0.at(at(point.column, point.row))
    }
}

/// Returns a map with another formula. Domain and codomain stay.
pub fn mutant(
    map: &Map,
    f: impl Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync + 'static,
) -> Map {
    Arc::new(Mutant(map.clone(), f))
}

/// Replaces the formula of a map.
pub fn mutate(
    map: &mut Map,
    f: impl Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync + 'static,
) {
    *map = mutant(map, f);
}

/// Reads a map at another point.
pub fn redirect(map: &mut Map, f: impl Fn(u32, u32) -> (u32, u32) + Send + Sync + 'static) {
    mutate(map, move |map, point| {
        let (row, column) = f(point.row, point.column);
        map.at(at(row, column))
    });
}

/// Changes the values of a map.
pub fn revalue(map: &mut Map, f: impl Fn(u32) -> u32 + Send + Sync + 'static) {
    mutate(map, move |map, point| map.at(point).map(&f));
}

/// Changes the stages of a ring position.
pub fn stage(map: &mut Map, f: impl Fn(u32) -> u32 + Send + Sync + 'static) {
    mutate(map, move |map, p| Some(if p.row == 0 { f(map.at(p)?) } else { map.at(p)? }));
}

/// Changes the phases of a ring position.
pub fn phase(map: &mut Map, f: impl Fn(u32) -> u32 + Send + Sync + 'static) {
    mutate(map, move |map, p| Some(if p.row == 1 { f(map.at(p)?) } else { map.at(p)? }));
}

/// Edits of a list of steps. `like` stands for all steps of its kind, with any arguments.
pub trait Edit<S> {
    /// Removes the steps of a kind.
    fn drop_like(&mut self, like: S);
    /// Replaces each step of a kind by other steps.
    fn replace_like(&mut self, like: S, by: &[S]);
    /// Repeats each step of a kind.
    fn repeat_like(&mut self, like: S);
    /// Removes the steps of a kind, and inserts `step` at an index.
    ///
    /// # Panics
    /// If fewer steps than `index` are left.
    fn move_to(&mut self, index: usize, step: S);
    /// Removes the steps of a kind, and inserts `step` before the first step of another kind.
    ///
    /// # Panics
    /// If no step of the other kind exists.
    fn move_before(&mut self, step: S, like: S);
    /// Returns the index of the first step of a kind.
    ///
    /// # Panics
    /// If no step of the kind exists.
    fn first_like(&self, like: S) -> usize;
}

impl<S: Spelled> Edit<S> for Vec<S> {
    fn drop_like(&mut self, like: S) {
        self.retain(|step| step.name() != like.name());
    }

    fn replace_like(&mut self, like: S, by: &[S]) {
        let replaced =
            |step: &S| if step.name() == like.name() { by.to_vec() } else { vec![*step] };
        *self = self.iter().flat_map(replaced).collect();
    }

    fn repeat_like(&mut self, like: S) {
        let count = |step: &S| 1 + usize::from(step.name() == like.name());
        *self = self.iter().flat_map(|step| vec![*step; count(step)]).collect();
    }

    fn move_to(&mut self, index: usize, step: S) {
        self.drop_like(step);
        self.insert(index, step);
    }

    fn move_before(&mut self, step: S, like: S) {
        self.drop_like(step);
        self.insert(self.first_like(like), step);
    }

    fn first_like(&self, like: S) -> usize {
        self.iter().position(|step| step.name() == like.name()).expect("a step of this kind")
    }
}

/// Weakens the steps of a kind: a wait leaves one more operation in flight, or a release is one
/// tile later.
///
/// # Panics
/// If a step of the kind has no count.
pub fn weaken(steps: &mut [RoleStep], like: RoleStep) {
    let all = steps.iter_mut().filter(|step| step.name() == like.name());
    all.for_each(|step| *step = weaker(*step).expect("a step with a count"));
}

/// Returns a wait that leaves one more operation in flight, or a release that is one tile later.
pub fn weaker(step: RoleStep) -> Option<RoleStep> {
    use RoleStep::{AwaitProducts, AwaitStores, Release};
    match step {
        AwaitProducts { pending } => Some(AwaitProducts { pending: pending + 1 }),
        AwaitStores { pending } => Some(AwaitStores { pending: pending + 1 }),
        Release { behind } => Some(Release { behind: behind + 1 }),
        _ => None,
    }
}

/// Returns a schedule without one of its steps.
///
/// # Panics
/// If the step does not exist.
pub fn without<S: Spelled>(schedule: &Schedule<S>, section: Section, index: usize) -> Schedule<S> {
    let mut mutant = schedule.clone();
    mutant.steps_mut(section).remove(index);
    mutant
}
