//! A block's shared memory and what it knows of its own: stages, staging buffers, barriers, registers.

use super::{
    barrier::{Barrier, Meeting},
    payload::{Payload, ShareName, SliceName},
};
use crate::{
    operand::OperandKind,
    plan::RingProgram,
    threadblock::{
        Region,
        pipeline::{REGISTERS, WARPS},
    },
};

/// A share of a stage.
pub(super) struct Share<D> {
    /// What it holds, or will hold when what is under way has landed.
    pub name: Option<ShareName>,
    /// The contents.
    pub data: Option<D>,
    /// Whether a copy is under way to it.
    pub written: bool,
    /// Warps of the block with products under way that read it, a bit each.
    pub reading: u32,
    /// Warps that have yet to begin to.
    pub unread: u32,
}

/// A warp's part of a staging buffer.
pub(super) struct Part<S> {
    pub name: SliceName,
    pub data: S,
    /// Whether asynchronous copies see it.
    pub visible: bool,
}

/// A staging buffer.
pub(super) struct Staging<S, C> {
    pub parts: [Option<Part<S>>; WARPS as usize],
    /// Stores under way that read it.
    pub reading: u32,
    /// The slice of C that has landed there, and whether one is under way.
    pub source: Option<(SliceName, C)>,
    pub incoming: bool,
}

/// A block.
pub(super) struct Block<P: Payload> {
    /// Full barriers of the stages, then the empty ones, then those of the consumers' turns, then those of C; none before they are set
    /// up.
    pub barriers: [Vec<Barrier>; 4],
    /// Whether asynchronous copies and other blocks see them.
    pub fenced: bool,
    /// Stages, operands, shares.
    pub stages: Vec<[Vec<Share<P::Share>>; 2]>,
    /// Warpgroups, buffers.
    pub staging: Vec<Vec<Staging<P::Slice, P::Source>>>,
    /// All warps.
    pub meeting: Meeting,
    /// Each warpgroup's.
    pub meetings: Vec<Meeting>,
    /// Registers that no thread has.
    pub free_registers: u32,
    /// Warps that have not ended.
    pub running: u32,
}

impl<P: Payload> Block<P> {
    pub fn new(program: &RingProgram) -> Self {
        let ring = &program.ring;
        let share = || Share { name: None, data: None, written: false, reading: 0, unread: 0 };
        let staging = || Staging { parts: Default::default(), reading: 0, source: None, incoming: false };
        let warps = (1 + ring.consumers) * WARPS;
        Self {
            barriers: Default::default(),
            fenced: false,
            stages: (0..ring.stages)
                .map(|_| OperandKind::BOTH.map(|operand| (0..ring.shares(operand)).map(|_| share()).collect()))
                .collect(),
            staging: (0..ring.consumers).map(|_| (0..ring.staging_buffers).map(|_| staging()).collect()).collect(),
            meeting: Meeting::new(warps),
            meetings: (0..ring.consumers).map(|_| Meeting::new(WARPS)).collect(),
            free_registers: REGISTERS - ring.threads() * ring.launch_registers(),
            running: warps,
        }
    }

    /// A barrier of a region of them.
    pub fn barrier(&mut self, region: Region, i: u32) -> Option<&mut Barrier> {
        let kind = match region {
            Region::Empty => 1,
            Region::Turn => 2,
            Region::Source => 3,
            _ => 0,
        };
        self.barriers[kind].get_mut(i as usize)
    }

    /// Every warp that multiplies stages of a tile of D, a bit each.
    pub fn readers(program: &RingProgram, tile: u32) -> u32 {
        let first = if program.ring.in_turns { tile % program.ring.consumers * WARPS } else { 0 };
        ((1 << (program.ring.readers() * WARPS)) - 1) << first
    }
}
