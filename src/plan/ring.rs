//! A ring, unfolded: its numbers, its maps and its schedules.

use crate::{
    index::{Map, Tabled, at},
    operand::OperandKind,
    schedule::Roles,
    threadblock::{Pipeline, RingPosition, RoleOptions, pipeline::WARPS},
};
use std::sync::Arc;

/// What the machine runs. Tests change one thing and watch.
#[derive(Clone)]
pub struct RingProgram {
    /// How many stages, consumers, buffers and blocks there are.
    pub ring: Pipeline,
    /// What each role does.
    pub roles: Roles,
    /// Arrivals that full barriers are set up for.
    pub full_arrivals: u32,
    /// Arrivals that empty barriers are set up for.
    pub empty_arrivals: u32,
    /// Bytes that the producer announces at a full barrier.
    pub expect_bytes: u32,
    /// Bytes of C that a consumer announces at its source barrier.
    pub source_bytes: u32,
    /// Bytes of partial accumulators that a consumer of another block of the cluster sends to the
    /// first.
    pub part_bytes: u32,
    /// Bytes of them that a consumer of the first announces at its landed barrier.
    pub landing_bytes: u32,
    /// Bytes that land of one copy of A, and of B.
    pub copy_bytes: [u32; 2],
    /// [`RingPosition`], as the producer has it.
    pub producer_position: Map,
    /// [`RingPosition`], as consumers have it.
    pub consumer_position: Map,
    /// (rank, i) to the rank of the block at whose empty barrier a warp's arrival `i` arrives.
    pub released: Map,
    /// (rank, i) to the rank of the block in which a shared copy's `i`-th destination lies.
    pub destinations: Map,
    /// (0, rank) to the share of the shared operand that a block copies.
    pub share: Map,
    /// Parts in which a consumer multiplies a stage where each stage is promoted; 0 where none is.
    pub promoted_parts: u32,
    /// Sets of registers to which a warp brings A in turn; 0 where products read A in shared
    /// memory.
    pub fragment_sets: u32,
    /// Subtiles in which a consumer stores its part of a tile of D; where threads store, a warp's
    /// part is one.
    pub subtiles: u32,
    /// Whether units are parts of K, which are added before a tile of D is stored.
    pub split_k: bool,
    /// Whether threads multiply and store.
    pub by_threads: bool,
    /// Whether the producer's maps, and consumers', lie in memory, so that they are to be acquired
    /// for each unit.
    pub acquires: [bool; 2],
    /// Registers that a thread of a consumer needs to multiply; 0 where it is content with what the
    /// launch gave.
    pub consumer_registers: u32,
}

impl RingProgram {
    /// The program of a ring and the schedules over it.
    pub fn of(ring: Pipeline, options: &RoleOptions) -> Self {
        let (blocks, sharing) = (ring.blocks(), ring.sharing());
        let position: Map = Arc::new(Tabled::of(&RingPosition { stages: ring.stages }));
        // (row, column) to the column: each rank of a cluster in turn; where nothing is shared, the
        // block alone.
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
            part_bytes: ring.parts.map_or(0, |parts| parts.bytes),
            landing_bytes: ring.landing_bytes(),
            copy_bytes: OperandKind::BOTH.map(|operand| ring.copy_bytes(operand)),
            producer_position: position.clone(),
            consumer_position: position,
            released: ranks(blocks),
            destinations: ranks(blocks),
            share: ranks(1),
            promoted_parts: options.promoted_parts.map_or(0, u32::from),
            fragment_sets: options.fragment_sets(),
            subtiles: if options.by_threads { WARPS } else { u32::from(options.subtiles) },
            split_k: options.split_k,
            by_threads: options.by_threads,
            acquires: options.acquires,
            consumer_registers: options.registers.map_or(0, |[_, consumer]| u32::from(consumer)),
        }
    }
}
