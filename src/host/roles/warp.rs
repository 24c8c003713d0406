//! One warp: where it is in its schedules, and what it has under way.

use super::{
    fragments::{FragmentSet, Reads},
    payload::{Payload, WarpName},
};
use crate::{
    schedule::{Role, RoleStep, Roles, Section},
    threadblock::pipeline::WARPS,
};
use std::collections::VecDeque;

/// Which list of steps a warp is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Setup,
    In(Section),
    Done,
}

/// A warp.
pub(super) struct Warp<P: Payload> {
    pub role: Role,
    pub name: WarpName,
    place: Place,
    index: usize,
    /// Times that the body has been performed for the current tile of D.
    trips: u32,
    /// Which of the block's tiles of D.
    pub tile: u32,
    /// From one of its tiles of D to the next: 1, or as many as there are consumers that take turns.
    stride: u32,
    /// Turns that it has waited for.
    pub round: u32,
    /// The number of the tile along K, through all tiles of D.
    pub t: u64,
    /// Tiles along K of the current tile of D that are behind.
    pub k: u32,
    /// Times that C has come to it.
    pub fetched: u32,
    /// Stages that a `Drain` has found empty.
    pub drained: u32,
    /// The meeting that it waits for.
    pub meeting: Option<u64>,
    /// Registers of each of its threads.
    pub registers: u32,
    /// Whether accumulators were touched since they were last in order with products.
    pub touched: bool,
    /// What products read which belong to no group yet; groups under way.
    pub products: Vec<Reads>,
    pub groups: VecDeque<Vec<Reads>>,
    /// A in registers.
    pub fragments: Vec<FragmentSet<P::Share>>,
    /// Which tile of D the accumulators are of, and how many products they hold.
    pub summed: (u32, u32),
    pub sums: P::Sums,
    /// Of which tile of D and along K the lanes hold the first fragments.
    pub loaded: Option<(u32, u32)>,
    /// Of which they hold the last, which are not multiplied yet.
    pub begun: Option<(u32, u32)>,
    /// Which part of the current stage the partial sums are of, until they are promoted.
    pub held: Option<u8>,
    pub partial: P::Sums,
    /// Parts of the current stage that products have begun to read.
    pub parts: Vec<u8>,
    /// How many of them are promoted.
    pub promoted: u32,
    /// Buffers that stores read which belong to no group yet; groups under way.
    pub stores: Vec<u32>,
    pub store_groups: VecDeque<Vec<u32>>,
}

impl<P: Payload> Warp<P> {
    pub fn new(role: Role, name: WarpName, (registers, fragment_sets): (u32, u32), (tile, stride): (u32, u32)) -> Self {
        Self {
            role,
            name,
            place: Place::Setup,
            index: 0,
            trips: 0,
            tile,
            stride,
            round: 0,
            t: 0,
            k: 0,
            fetched: 0,
            drained: 0,
            meeting: None,
            registers,
            touched: true,
            products: Vec::new(),
            groups: VecDeque::new(),
            fragments: (0..fragment_sets).map(|_| FragmentSet { of: None, data: Vec::new(), reading: 0 }).collect(),
            summed: (u32::MAX, 0),
            sums: P::Sums::default(),
            loaded: None,
            begun: None,
            held: None,
            partial: P::Sums::default(),
            parts: Vec::new(),
            promoted: 0,
            stores: Vec::new(),
            store_groups: VecDeque::new(),
        }
    }

    pub fn is_done(&self) -> bool {
        self.place == Place::Done
    }

    /// Whether this is the warp of its warpgroup that acts for the others.
    pub fn leads(&self) -> bool {
        self.name.warp == 0
    }

    /// A bit among the block's warps that multiply.
    pub fn bit(&self) -> u32 {
        1 << (self.name.warpgroup * WARPS + self.name.warp)
    }

    /// The step at which the warp is; empty lists and lists that are over are passed by.
    pub fn step(&mut self, roles: &Roles, tiles: u32, k_tiles: u32) -> Option<RoleStep> {
        loop {
            let steps = match self.place {
                Place::Setup => &roles.setup.opening[..],
                Place::In(section) => roles.of(self.role).steps(section),
                Place::Done => return None,
            };
            if let Some(step) = steps.get(self.index) {
                return Some(*step);
            }
            self.index = 0;
            self.place = self.after(tiles, k_tiles);
        }
    }

    /// The step is performed.
    pub fn performed(&mut self) {
        self.index += 1;
    }

    /// The list that follows.
    fn after(&mut self, tiles: u32, k_tiles: u32) -> Place {
        let Place::In(section) = self.place else { return Place::In(Section::Opening) };
        let next_tile = match section {
            // Of the producer, one thread goes on.
            Section::Opening if self.role == Role::Producer && !self.leads() => return Place::Done,
            Section::Opening => self.tile < tiles,
            Section::Prologue => return self.body(k_tiles),
            Section::Body => {
                self.trips += 1;
                return self.body(k_tiles);
            }
            Section::Epilogue => {
                (self.tile, self.k, self.trips) = (self.tile + self.stride, 0, 0);
                self.tile < tiles
            }
            Section::Closing => return Place::Done,
        };
        Place::In(if next_tile { Section::Prologue } else { Section::Closing })
    }

    fn body(&self, k_tiles: u32) -> Place {
        Place::In(if self.trips < k_tiles { Section::Body } else { Section::Epilogue })
    }
}
