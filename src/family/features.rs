//! What the model of time knows of a kernel, in products of a multiprocessor:
//! [`extents`](super::extents) explains the numbers.

use crate::{
    arch::{Machine, OpKind},
    desc::DecompositionKind,
    numeric::ElementKind,
    shape::at_least_one,
    threadblock::PARTS_AT_ONCE,
};

/// Products in a microsecond of one multiprocessor on Hopper, of its tensor cores or of threads:
/// the unit of the model.
pub(super) const fn products_of_a_microsecond(op: OpKind, element: ElementKind) -> u64 {
    match op {
        OpKind::TensorOp => 4_500_000 * 16 / at_least_one(element.bits()) as u64,
        OpKind::Simt => 300_000,
    }
}

/// What the model has to know of a description.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// How many operands a call transposes to its workspace first: no kernel measured was so much
    /// slower without that it paid (`lab/data/trials.csv`, log `hopper_registers_*`).
    pub transposed: u32,
    /// Time of one step along K of one tile, in products.
    pub each: f64,
    /// The same where rows lie such that TMA asks for more lines than they have; `None` where it
    /// does not copy.
    pub lines: Option<Lines>,
    /// Time of one step that no resident block fills, in products.
    pub latency: f64,
    /// By how much it is longer for a block that has its multiprocessor to itself.
    pub alone: f64,
    /// What a block takes of a multiprocessor, which others share; `None` where blocks are
    /// persistent, one a multiprocessor.
    pub block: Option<BlockResources>,
    /// Time of a tile's begin and end, in products.
    pub not_hidden: f64,
    /// The same of the second tile, and of each one behind it: none, where consumers take tiles
    /// under ping-pong.
    pub further: [f64; 2],
    /// What memory takes to bring A and B; `None` where it is never what limits.
    pub memory: Option<Bandwidth>,
    /// What parts of K cost beside.
    pub exchange: Exchange,
}

/// A step along K of one tile that TMA brings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Time of its products.
    pub products: f64,
    /// Time of what a block brings of A, and of B: its share, where a cluster's blocks share it.
    pub loads: [f64; 2],
}

/// What a block takes of a multiprocessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockResources {
    pub threads: u32,
    /// Of a thread.
    pub registers: u32,
    pub shared_bytes: u32,
}

impl Features {
    /// Time of the products of one step along K of one tile, at least.
    pub(super) fn products(&self) -> f64 {
        self.lines.map_or(self.each, |lines| lines.products)
    }

    /// Time of one step along K of one tile, where each row of A, or of B, begins within a sector
    /// of memory or not.
    pub(super) fn step(&self, within: impl FnOnce() -> [bool; 2]) -> f64 {
        let Some(Lines { products, loads: [a, b] }) = self.lines else { return self.each };
        let twice = |loads: f64, within: bool| if within { 2.0 * loads } else { loads };
        match within() {
            [false, false] => self.each,
            [of_a, of_b] => products.max(twice(a, of_a) + twice(b, of_b)),
        }
    }

    /// Time of the begin and end of so many tiles, one after the other, where memory is what limits
    /// or not.
    pub(super) fn ends(&self, load: f64, by_memory: bool) -> f64 {
        let first = self.not_hidden;
        let [second, each] =
            if by_memory && self.further != [0.0; 2] { [first; 2] } else { self.further };
        first * load.min(1.0) + second * (load - 1.0).clamp(0.0, 1.0) + each * (load - 2.0).max(0.0)
    }

    /// Blocks that share a multiprocessor.
    pub(super) const fn resident(&self, machine: &Machine) -> u32 {
        match self.block {
            Some(BlockResources { threads, registers, shared_bytes }) => {
                at_least_one(machine.resident_blocks(threads, registers, shared_bytes))
            }
            None => 1,
        }
    }
}

/// What memory takes to bring an element of A or B, in products of a multiprocessor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    /// From device memory, to one of all multiprocessors.
    pub first: f64,
    /// To one multiprocessor, whichever memory has it: what it has under way fills no more
    /// bandwidth than that.
    pub own: f64,
    /// What it waits longer for one that nobody else has brought before.
    pub longer: f64,
    /// From the second-level cache, where it was brought before.
    pub again: f64,
    /// Elements that the second-level cache keeps of what is written; others go to device memory as
    /// fast as they come from it.
    pub kept: f64,
}

impl Bandwidth {
    /// Time of so many elements, of which each of so many units loads some.
    pub(super) fn cost(&self, elements: f64, of_unit: f64, units: f64) -> f64 {
        let again = (of_unit * units - elements).max(0.0) * self.again;
        let bandwidth = elements * self.first + again;
        bandwidth.max(of_unit * self.own + elements * self.longer / units.max(1.0))
    }
}

/// What it takes to add parts of K, in products.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exchange {
    /// Through slots of the workspace.
    Workspace {
        /// Clearing tickets, and drawing them.
        begun: f64,
        /// A tile's accumulators, to a slot.
        stored: f64,
        /// Adding the slots of a level.
        added: f64,
        /// Bringing one of them to the multiprocessor that adds.
        brought: f64,
        /// The second kernel, where one adds in the place of the blocks.
        apart: Reduced,
    },
    /// Through the shared memory of the first of a cluster's blocks.
    Cluster {
        /// Setting the cluster's barriers up.
        met: f64,
        /// Waiting for one of a tile's blocks.
        awaited: f64,
        /// Its accumulators, to the first, which adds them.
        sent: f64,
    },
}

/// What the second kernel of parallel split-K takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduced {
    /// Its begin and end; [`f64::MAX`] where there is none.
    pub launched: f64,
    /// Each level of parts that a thread adds, one after the other.
    pub added: f64,
    /// A slot, which all multiprocessors read together.
    pub brought: f64,
}

impl Reduced {
    /// That of slots of so many bytes, of which the second-level cache takes in and gives back so
    /// many in a microsecond, where a multiprocessor has so many products in it, and the launch
    /// takes so many microseconds.
    pub const fn of(slot: u64, (launched, bytes): (f64, f64), microsecond: f64) -> Self {
        const LEVEL: f64 = 0.25;
        Self {
            launched: launched * microsecond,
            added: LEVEL * microsecond,
            brought: slot as f64 / bytes * microsecond,
        }
    }

    /// That of kernels which have no such second one.
    pub const NONE: Self = Self { launched: f64::MAX, added: 0.0, brought: 0.0 };
}

impl Exchange {
    /// That of kernels whose K is whole.
    pub const NONE: Self =
        Self::Workspace { begun: 0.0, stored: 0.0, added: 0.0, brought: 0.0, apart: Reduced::NONE };

    /// That of kernels whose K cannot be cut.
    pub const NEVER: Self = Self::Workspace {
        begun: f64::MAX,
        stored: 0.0,
        added: 0.0,
        brought: 0.0,
        apart: Reduced::NONE,
    };

    /// Time of streams: a block ends a tile that another one began, and begins one that another
    /// goes on with.
    pub(super) fn of_streams(&self) -> f64 {
        match *self {
            Self::Workspace { begun, stored, added, brought, .. } => {
                begun + 2.0 * (stored + added + brought)
            }
            Self::Cluster { .. } => f64::MAX,
        }
    }

    /// Time of so many parts of so many tiles, which are divided so, where a multiprocessor has
    /// `load` units.
    pub(super) fn cost(
        &self,
        (mut parts, way): (u32, DecompositionKind),
        load: f64,
        tiles: f64,
    ) -> f64 {
        if parts < 2 {
            return 0.0;
        }
        match *self {
            Self::Workspace { stored, apart: Reduced { launched, added, brought }, .. }
                if matches!(way, DecompositionKind::SplitKParallel) =>
            {
                launched
                    + load * stored
                    + f64::from(parts.div_ceil(PARTS_AT_ONCE)) * added
                    + tiles * f64::from(parts) * brought
            }
            Self::Workspace { begun, stored, added, brought, .. } => {
                let mut adding = 0.0;
                while parts > 1 {
                    adding += added + f64::from(parts.min(PARTS_AT_ONCE)) * brought;
                    parts = parts.div_ceil(PARTS_AT_ONCE);
                }
                begun + load * stored + adding
            }
            Self::Cluster { met, awaited, sent } => {
                met + load * (f64::from(parts) * awaited + f64::from(parts - 1) * sent)
            }
        }
    }
}
