//! Requirements of mutants on a ring program.

use crate::harness::prelude::*;

/// Replaces each step of a section by the steps that `f` returns.
pub fn replace(
    program: &mut RingProgram,
    role: Role,
    section: Section,
    f: impl Fn(RoleStep) -> Vec<RoleStep>,
) {
    let steps = program.roles.of_mut(role).steps_mut(section);
    *steps = steps.iter().flat_map(|step| f(*step)).collect();
}

/// Requirement of a mutant: the program must have this property.
#[derive(Clone, Copy, PartialEq)]
pub enum Needs {
    Nothing,
    Cluster,
    TwoReaders,
    Turns,
    Registers,
    Parts,
    SeveralParts,
    Warpgroups,
    Threads,
    Source,
    Fragments,
    TwoSets,
    Split,
    Gathers,
}

impl Needs {
    pub fn has(self, program: &RingProgram) -> bool {
        match self {
            Self::Nothing => true,
            Self::Cluster => program.ring.multicast.is_some(),
            Self::TwoReaders => program.ring.readers() == 2,
            Self::Turns => program.ring.pingpong,
            Self::Parts => program.promoted_parts > 0,
            Self::SeveralParts => program.promoted_parts > 1,
            Self::Warpgroups => !program.by_threads,
            Self::Threads => program.by_threads,
            Self::Source => program.ring.source,
            Self::Fragments => program.fragment_sets > 0,
            Self::Split => program.split_k && program.ring.parts.is_none(),
            Self::Gathers => program.ring.parts.is_some(),
            Self::TwoSets => program.fragment_sets > 1,
            Self::Registers => !program.roles.producer.opening.is_empty(),
        }
    }
}
