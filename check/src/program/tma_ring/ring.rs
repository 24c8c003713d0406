//! The program of a ring of stages: its counts, maps, and schedules.

use falchion::{
    internals::{
        index::{Map, Tabled, at},
        nest::WARPS,
        schedule::Roles,
        shape::OperandKind,
    },
    threadblock::{Pipeline, RingPosition, RoleOptions},
};
use std::sync::Arc;

/// The part of a warp-specialized program without data. Tests change one field and observe the
/// effect.
#[derive(Clone)]
pub struct RingProgram {
    /// Numbers of stages, consumers, buffers, and CTAs.
    pub ring: Pipeline,
    /// Schedules of the roles.
    pub roles: Roles,
    /// Arrivals for which full barriers are initialized.
    pub full_arrivals: u32,
    /// Arrivals for which empty barriers are initialized.
    pub empty_arrivals: u32,
    /// Bytes that the producer expects at a full barrier.
    pub expect_bytes: u32,
    /// Bytes of C that a consumer expects at its source barrier.
    pub source_bytes: u32,
    /// Bytes of partial accumulators that a consumer of another CTA sends to the first CTA of the
    /// cluster.
    pub partial_bytes: u32,
    /// Bytes of partial accumulators that a consumer of the first CTA expects at its landed
    /// barrier.
    pub landing_bytes: u32,
    /// Bytes that arrive per copy of A, and of B.
    pub copy_bytes: [u32; 2],
    /// The producer's map [`RingPosition`].
    pub producer_position: Map,
    /// The consumers' map [`RingPosition`].
    pub consumer_position: Map,
    /// (rank, i) to the rank of the CTA whose empty barrier gets arrival `i` of a warp.
    pub released: Map,
    /// (rank, i) to the rank of the CTA that holds destination `i` of a shared copy.
    pub destinations: Map,
    /// (0, rank) to the share of the shared operand that a CTA copies.
    pub share: Map,
    /// Instruction tiles that a consumer promotes per stage; 0 without promotion.
    pub promoted_tiles: u32,
    /// Fragment sets into which a warp loads A, round-robin; 0 if `wgmma` reads A from shared
    /// memory.
    pub fragment_sets: u32,
    /// Subtiles in which a consumer stores its part of a tile of D. If threads store, each warp's
    /// part is one subtile.
    pub subtiles: u32,
    /// Whether work units are split-K slices, which are reduced before a tile of D is stored.
    pub split_k: bool,
    /// Whether work units are groups along K, whose consumers clear elements outside the group.
    pub groups_k: bool,
    /// Whether threads multiply and store, instead of `wgmma` and TMA.
    pub by_threads: bool,
    /// Registers that a consumer thread needs to multiply; 0 if the registers of the launch
    /// suffice.
    pub consumer_registers: u32,
}

impl RingProgram {
    /// Returns the program of a ring and its schedules.
    pub fn new(ring: Pipeline, options: &RoleOptions) -> Self {
        let (blocks, sharing) = (ring.blocks(), ring.sharing());
        let position: Map = Arc::new(Tabled::new(&RingPosition { stages: ring.stages }));
        // (row, column) to a rank: the column if CTAs share copies, else the CTA's own rank.
        let rank = |row, column| Some(if sharing > 1 { column } else { row });
        let ranks = |rows| -> Map {
            Arc::new(Tabled::by(at(rows, sharing), blocks, |point| rank(point.row, point.column)))
        };
        Self {
            ring,
            roles: options.roles(&ring),
            full_arrivals: ring.full_arrivals(),
            empty_arrivals: ring.empty_arrivals(),
            expect_bytes: ring.expect_bytes(),
            source_bytes: ring.source_bytes(),
            partial_bytes: ring.slices.map_or(0, |slices| slices.bytes),
            landing_bytes: ring.landing_bytes(),
            copy_bytes: OperandKind::BOTH.map(|operand| ring.copy_bytes(operand)),
            producer_position: position.clone(),
            consumer_position: position,
            released: ranks(blocks),
            destinations: ranks(blocks),
            share: ranks(1),
            promoted_tiles: options.promoted_tiles.map_or(0, u32::from),
            fragment_sets: options.fragment_sets(),
            subtiles: if options.by_threads { WARPS } else { u32::from(options.subtiles) },
            split_k: options.split_k,
            groups_k: options.groups_k,
            by_threads: options.by_threads,
            consumer_registers: options.registers.map_or(0, |[_, consumer]| u32::from(consumer)),
        }
    }
}
