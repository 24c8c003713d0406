//! One warp: where it is in its schedules, and what it has under way.

use super::{Bytes, ClusterWork};
use crate::{
    host::{
        accumulators::Accumulators,
        machine::{
            scheduler::{Cursor, Progress},
            sync::Clock,
        },
    },
    plan::RingProgram,
    schedule::{Fault, Role, RoleStep, Roles, Section, Who},
    threadblock::Region,
};
use core::ops::Range;
use std::collections::VecDeque;

/// A set of registers: A of a tile, which products read while they are under way.
#[derive(Clone, Default)]
pub(super) struct FragmentSet {
    /// Of which tile of D and along K.
    pub of: Option<(u32, u32)>,
    /// The shares that were read.
    pub data: Vec<Bytes>,
    /// Products under way that read it.
    pub reading: u32,
}

/// What a product reads until it is waited for.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    /// The stage.
    pub stage: u32,
    /// The set of fragments, where A comes from one.
    pub set: Option<usize>,
}

/// A warp.
#[derive(Default)]
pub(super) struct Warp {
    pub who: Who,
    /// In what every warp begins with, and in the schedule of its role.
    setup: Cursor,
    pub progress: Progress,
    pub has_left: bool,
    /// The barrier of its block, and the parity, that it was last seen to wait for.
    pub blocked: Option<((Region, u32), u32)>,
    /// Turns that it has waited for.
    pub round: u32,
    /// The number of the k-tile, through all tiles of D.
    pub t: u64,
    /// Times that C has come to it.
    pub fetched: u32,
    /// Times that partial accumulators came to it, or that it was let send its own.
    pub exchanged: u32,
    /// Stages that a `Drain` has found empty.
    pub drained: u32,
    /// The unit of work whose product's maps it acquired last.
    pub acquired: Option<u32>,
    /// Meetings of a `ReduceParts` that are behind.
    pub met: u32,
    /// The unit of work whose part it brought last.
    pub brought: Option<u32>,
    /// Registers of each of its threads.
    pub registers: u32,
    /// Whether accumulators are in order with products: nothing else touched them since the last
    /// fence.
    pub fenced: bool,
    /// What products read which belong to no group yet; groups under way.
    pub products: Vec<Reads>,
    pub groups: VecDeque<Vec<Reads>>,
    /// A in registers.
    pub fragments: Vec<FragmentSet>,
    /// Which tile of D the accumulators are of, and how many products they hold.
    pub summed: (u32, u32),
    pub accumulators: Accumulators,
    /// Of which tile of D and along K the lanes hold the first fragments.
    pub loaded: Option<(u32, u32)>,
    /// Of which they hold the last, which are not multiplied yet.
    pub begun: Option<(u32, u32)>,
    /// Which part of the current stage the partial accumulators are of, until they are promoted.
    pub held: Option<u8>,
    pub partial: Accumulators,
    /// Parts of the current stage that products have begun to read.
    pub parts: Vec<u8>,
    /// How many of them are promoted.
    pub promoted: u32,
    /// Buffers that stores read which belong to no group yet; groups under way.
    pub stores: Vec<Range<usize>>,
    pub store_groups: VecDeque<Vec<Range<usize>>>,
}

impl Warp {
    pub fn new(who: Who, program: &RingProgram, clock: Clock) -> Self {
        let ring = &program.ring;
        let pingpong = ring.pingpong && who.role == Role::Consumer;
        let (tile, stride) = if pingpong { (who.name.warpgroup, ring.consumers) } else { (0, 1) };
        Self {
            who,
            setup: Cursor::new(0, 1),
            progress: Progress { cursor: Cursor::new(tile, stride), clock, waits: None },
            registers: ring.launch_registers(),
            fragments: vec![FragmentSet::default(); program.fragment_sets as usize],
            ..Self::default()
        }
    }

    /// Whether this is the warp of its warpgroup that acts for the others.
    pub fn leads(&self) -> bool {
        self.who.name.warp == 0
    }

    /// Whether it is the one that sets up its block's barriers.
    pub fn sets_up(&self) -> bool {
        self.who.role == Role::Producer && self.leads()
    }

    /// Which of the block's tiles of D, and which k-tile of it.
    pub fn at(&self) -> (u32, u32) {
        (self.progress.cursor.tile, self.progress.cursor.k)
    }

    /// K-tiles of its tile of D that its accumulators hold.
    pub fn multiplied(&self) -> u32 {
        if self.summed.0 == self.progress.cursor.tile { self.summed.1 } else { 0 }
    }

    /// Whether products are under way that were not waited for.
    pub fn multiplies(&self) -> bool {
        !self.products.is_empty() || self.groups.iter().any(|group| !group.is_empty())
    }

    /// The step at which the warp is.
    pub fn step(&mut self, roles: &Roles, work: ClusterWork<'_>) -> Option<RoleStep> {
        if let Some(step) = self.setup.step(&roles.setup, &[]) {
            return Some(step);
        }
        let step = self.progress.cursor.step(roles.of(self.who.role), work.k_tiles)?;
        // Of the producer, one thread goes on.
        let helps = self.who.role == Role::Producer && !self.leads();
        (!helps || self.progress.cursor.section() == Some(Section::Opening)).then_some(step)
    }

    /// The step is performed.
    pub fn performed(&mut self) {
        let cursor = if self.setup.section().is_some() {
            &mut self.setup
        } else {
            &mut self.progress.cursor
        };
        cursor.performed();
    }

    /// Partial accumulators are of a part from now on. Whether the warp's products then read the
    /// last of so many parts of the stage.
    pub fn begins_part(&mut self, part: u8, parts: u32) -> Result<bool, Fault> {
        let who = self.who;
        if let Some(lost) = self.held {
            return Err(Fault::PartOverwritten { who, part, lost });
        }
        if self.parts.contains(&part) {
            return Err(Fault::PartAgain { who, part });
        }
        self.parts.push(part);
        self.held = Some(part);
        Ok(self.parts.len() == parts as usize)
    }
}
