//! One warp: its position in its schedules, and its operations in progress.

use super::{Bytes, ClusterWork};
use crate::{
    accumulators::Accumulators,
    machine::{
        scheduler::{Cursor, Progress},
        sync::Clock,
    },
    program::RingProgram,
};
use core::ops::Range;
use falchion::{
    internals::schedule::{Fault, Role, RoleStep, Roles, Section, Who},
    threadblock::Region,
};
use std::collections::VecDeque;

/// A set of registers with A of a k-tile, which products read while they are in progress.
#[derive(Clone, Default)]
pub(super) struct FragmentSet {
    /// The tile of D and the k-tile that the set holds.
    pub of: Option<(u32, u32)>,
    /// The shares that were read.
    pub data: Vec<Bytes>,
    /// Products in progress that read the set.
    pub reading: u32,
}

/// The sources that a product reads until it is waited for.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    /// The stage.
    pub stage: u32,
    /// The fragment set, if A comes from registers.
    pub set: Option<usize>,
}

/// The state of a warp.
#[derive(Default)]
pub(super) struct Warp {
    pub who: Who,
    /// Position in the setup schedule, which every warp performs before the schedule of its role.
    setup: Cursor,
    pub progress: Progress,
    pub has_left: bool,
    /// The barrier of its CTA and the parity that the warp last failed to pass.
    pub blocked: Option<((Region, u32), u32)>,
    /// Turns that the warp has waited for.
    pub round: u32,
    /// Number of the current k-tile, counted through all tiles of D.
    pub t: u64,
    /// Number of times that the warp has received C.
    pub fetched: u32,
    /// Number of completed waits for partial accumulators, or for the permission to send its own.
    pub exchanged: u32,
    /// Whether all threads of the producer continue after the opening, because they gather lines.
    gathers: bool,
    /// Cells of lines that the warp has copied, and at whose barrier it has not arrived yet.
    pub lines: Vec<usize>,
    /// Lines that the warp has copied, and that have not landed yet.
    pub lines_under_way: u32,
    /// The tile of D and the k-tile whose gathered lines the warp has made visible to products.
    pub fenced_lines: Option<(u32, u32)>,
    /// Stages that the current `Drain` has found empty.
    pub drained: u32,
    /// Barriers that the warp has passed in the current `ReduceSlices`.
    pub met: u32,
    /// The last unit of work whose slice the warp contributed.
    pub brought: Option<u32>,
    /// Registers per thread.
    pub registers: u32,
    /// Whether the accumulators are ordered with products: no other instruction touched them after
    /// the last fence.
    pub fenced: bool,
    /// Reads of products without a group, and the groups in progress.
    pub products: Vec<Reads>,
    pub groups: VecDeque<Vec<Reads>>,
    /// The fragment sets of A in registers.
    pub fragments: Vec<FragmentSet>,
    /// The tile of D of the accumulators, and the number of its k-tiles that they hold.
    pub summed: (u32, u32),
    pub accumulators: Accumulators,
    /// The tile of D and the k-tile of which the warp has cleared its part last.
    pub cleared: Option<(u32, u32)>,
    /// The tile of D and the k-tile that all warps have cleared last.
    pub met_cleared: Option<(u32, u32)>,
    /// The tile of D and the k-tile whose first fragments the lanes hold.
    pub loaded: Option<(u32, u32)>,
    /// The tile of D and the k-tile whose last fragments the lanes hold. These are not multiplied
    /// yet.
    pub begun: Option<(u32, u32)>,
    /// The instruction tile of the current stage that the partial accumulators hold, until they are
    /// promoted.
    pub held: Option<u8>,
    pub partial: Accumulators,
    /// Instruction tiles of the current stage that products have begun to read.
    pub tiles: Vec<u8>,
    /// Number of promoted instruction tiles of the current stage.
    pub promoted: u32,
    /// Staging cells that stores without a group read, and the groups in progress.
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
            gathers: ring.gathers(),
            fragments: vec![FragmentSet::default(); program.fragment_sets as usize],
            ..Self::default()
        }
    }

    /// Returns whether this is the leading warp of its warpgroup.
    pub fn leads(&self) -> bool {
        self.who.name.warp == 0
    }

    /// Returns whether this warp initializes the barriers of its CTA.
    pub fn sets_up(&self) -> bool {
        self.who.role == Role::Producer && self.leads()
    }

    /// Returns the current unit of work of the CTA, and the current k-tile of the unit.
    pub fn at(&self) -> (u32, u32) {
        (self.progress.cursor.tile, self.progress.cursor.k)
    }

    /// Returns the k-tiles of the current unit that the accumulators hold.
    pub fn multiplied(&self) -> u32 {
        if self.summed.0 == self.progress.cursor.tile { self.summed.1 } else { 0 }
    }

    /// Returns whether products that the warp has not waited for are in progress.
    pub fn multiplies(&self) -> bool {
        !self.products.is_empty() || self.groups.iter().any(|group| !group.is_empty())
    }

    /// Returns the current step of the warp.
    pub fn step(&mut self, roles: &Roles, work: ClusterWork<'_>) -> Option<RoleStep> {
        if let Some(step) = self.setup.step(&roles.setup, &[]) {
            return Some(step);
        }
        let step = self.progress.cursor.step(roles.schedule(self.who.role), work.k_tiles)?;
        // After the opening, only one thread of the producer continues, unless it gathers lines.
        let helps = self.who.role == Role::Producer && !self.leads() && !self.gathers;
        (!helps || self.progress.cursor.section() == Some(Section::Opening)).then_some(step)
    }

    /// Advances past a performed step.
    pub fn performed(&mut self) {
        let cursor = if self.setup.section().is_some() {
            &mut self.setup
        } else {
            &mut self.progress.cursor
        };
        cursor.performed();
    }

    /// Assigns the partial accumulators to an instruction tile. Returns whether it is the last of
    /// the stage's `tiles` tiles.
    pub fn begins_tile(&mut self, tile: u8, tiles: u32) -> Result<bool, Fault> {
        let who = self.who;
        if let Some(lost) = self.held {
            return Err(Fault::TileOverwritten { who, tile, lost });
        }
        if self.tiles.contains(&tile) {
            return Err(Fault::TileAgain { who, tile });
        }
        self.tiles.push(tile);
        self.held = Some(tile);
        Ok(self.tiles.len() == tiles as usize)
    }
}
