//! Maps and schedules that tests mutate.
#![allow(dead_code, reason = "each test binary uses a part")]

use crate::harness::prelude::*;
use falchion::internals::{
    index::Map,
    schedule::{Roles, Schedule, Spelled},
};

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

/// A sentence without numbers, and without the letters T, W, and B that replace numbers in the
/// book.
pub fn without_numbers(sentence: &str) -> String {
    let is_number = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit()) || ["T", "W", "W's", "B"].contains(&word)
    };
    sentence.split_whitespace().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a schedule without one of its steps.
pub fn without<S: Spelled>(schedule: &Schedule<S>, section: Section, index: usize) -> Schedule<S> {
    let mut mutant = schedule.clone();
    mutant.steps_mut(section).remove(index);
    mutant
}

/// Returns the schedules of a kernel without one step of one role.
pub fn role_without(roles: &Roles, role: Role, section: Section, index: usize) -> Roles {
    let mut mutant = roles.clone();
    *mutant.of_mut(role) = without(roles.of(role), section, index);
    mutant
}
