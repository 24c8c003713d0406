//! The facts of a kernel for the cost model. Times are in multiply-adds of a multiprocessor.
//! [`cost_model`](crate::nest::cost_model) explains the constants.

use crate::{
    arch::{Machine, OpKind},
    nest::DecompositionKind,
    numeric::ElementKind,
    shape::at_least_one,
    threadblock::SLICES_AT_ONCE,
};

/// Returns the multiply-adds per microsecond of one Hopper multiprocessor, on its tensor cores or
/// CUDA cores. This rate defines the unit of the cost model.
pub(crate) const fn products_of_a_microsecond(op: OpKind, element: ElementKind) -> u64 {
    match op {
        OpKind::TensorOp => 4_500_000 * 16 / at_least_one(element.bits()) as u64,
        OpKind::Simt => 300_000,
    }
}

/// The facts of a description for the cost model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// Number of operands that a call first transposes into its workspace. No measured kernel
    /// without a transpose was slow enough for a transpose to pay (`lab/data/trials.csv`, log
    /// `hopper_registers_*`).
    pub transposed: u32,
    /// Time per k of one tile.
    pub each: f64,
    /// Time per k if lines take longer to load: rows are misaligned and TMA touches more lines than
    /// they have, or threads gather lines. `None` without TMA.
    pub lines: Option<Lines>,
    /// Time per k that no other resident CTA hides.
    pub latency: f64,
    /// Additional latency of a CTA without another resident CTA.
    pub alone: f64,
    /// Resources of a CTA on a multiprocessor that CTAs share. `None` if CTAs are persistent, one
    /// per multiprocessor.
    pub block: Option<BlockResources>,
    /// Time of a tile's prologue and epilogue.
    pub not_hidden: f64,
    /// Time of the prologue and epilogue of the second tile, and of each further tile. Zero with
    /// ping-pong consumers.
    pub further: [f64; 2],
    /// Time to load A and B; `None` if memory never limits.
    pub memory: Option<Bandwidth>,
    /// Time to reduce split-K partials.
    pub exchange: Exchange,
}

/// Time per k of a tile that TMA loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// Time of the multiply-adds.
    pub products: f64,
    /// Time of a CTA's loads of A, and of B. If the CTAs of a cluster share an operand, each loads
    /// a share.
    pub loads: [f64; 2],
}

/// Resources that a CTA uses on its multiprocessor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockResources {
    pub threads: u32,
    /// Registers per thread.
    pub registers: u32,
    pub shared_bytes: u32,
}

impl Features {
    /// Returns a lower bound of the time per k of one tile, from its multiply-adds.
    pub(crate) fn products(&self) -> f64 {
        self.lines.map_or(self.each, |lines| lines.products)
    }

    /// Returns the time per k of one tile. `slower` returns the factors by which lines of A, and of
    /// B, take longer to load than lines of aligned rows.
    pub(crate) fn step(&self, slower: impl FnOnce() -> [f64; 2]) -> f64 {
        let Some(Lines { products, loads: [a, b] }) = self.lines else { return self.each };
        match slower() {
            [1.0, 1.0] => self.each,
            [of_a, of_b] => products.max(a * of_a + b * of_b),
        }
    }

    /// Returns the time of prologues and epilogues of `load` consecutive tiles. If memory limits,
    /// each tile costs as much as the first, except with ping-pong.
    pub(crate) fn ends(&self, load: f64, by_memory: bool) -> f64 {
        let first = self.not_hidden;
        let [second, each] =
            if by_memory && self.further != [0.0; 2] { [first; 2] } else { self.further };
        first * load.min(1.0) + second * (load - 1.0).clamp(0.0, 1.0) + each * (load - 2.0).max(0.0)
    }

    /// Returns the number of CTAs that share a multiprocessor.
    pub(crate) const fn resident(&self, machine: &Machine) -> u32 {
        match self.block {
            Some(BlockResources { threads, registers, shared_bytes }) => {
                at_least_one(machine.resident_blocks(threads, registers, shared_bytes))
            }
            None => 1,
        }
    }
}

/// Times to load an element of A or B, in multiply-adds of a multiprocessor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    /// Time from device memory, with all multiprocessors loading.
    pub first: f64,
    /// Time from any memory to one multiprocessor. Its loads in flight cannot use more bandwidth.
    pub own: f64,
    /// Additional time for an element that no other multiprocessor has loaded before.
    pub longer: f64,
    /// Time from the L2 cache, for an element that was loaded before.
    pub again: f64,
    /// Elements of the output that the L2 cache holds. Further elements go to device memory at the
    /// rate of loads.
    pub kept: f64,
}

impl Bandwidth {
    /// Returns the time to load `elements` elements, of which each of `units` units loads
    /// `from_unit`.
    pub(crate) fn cost(&self, elements: f64, of_unit: f64, units: f64) -> f64 {
        let again = (of_unit * units - elements).max(0.0) * self.again;
        let bandwidth = elements * self.first + again;
        bandwidth.max(of_unit * self.own + elements * self.longer / units.max(1.0))
    }
}

/// Times of the reduction of split-K partials, in multiply-adds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exchange {
    /// Reduction in slots of the workspace.
    Workspace {
        /// Time to clear and draw tickets.
        begun: f64,
        /// Time to store a tile's accumulators to a slot.
        stored: f64,
        /// Time to add the slots of a level.
        added: f64,
        /// Time to load one slot into the multiprocessor that reduces.
        brought: f64,
        /// Times of the second kernel, if it reduces instead.
        apart: Reduced,
    },
    /// Reduction in the shared memory of a cluster's first CTA.
    Cluster {
        /// Time to initialize the barriers of the cluster.
        met: f64,
        /// Time to wait for one CTA of a tile.
        awaited: f64,
        /// Time to send the accumulators to the first CTA, which adds them.
        sent: f64,
    },
}

/// Times of the reduction kernel of parallel split-K.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced {
    /// Time of the launch; [`f64::MAX`] if there is no reduction kernel.
    pub launched: f64,
    /// Time of each level of slices that a thread adds one after the other.
    pub added: f64,
    /// Time to read a slot with all multiprocessors.
    pub brought: f64,
}

impl Reduced {
    /// Returns the times for slots of `slot` bytes.
    ///
    /// The launch takes `launched` microseconds. The L2 cache stores and returns `bytes` bytes per
    /// microsecond. A multiprocessor computes `microsecond` multiply-adds per microsecond.
    pub const fn new(slot: u64, (launched, bytes): (f64, f64), microsecond: f64) -> Self {
        const LEVEL: f64 = 0.25;
        Self {
            launched: launched * microsecond,
            added: LEVEL * microsecond,
            brought: slot as f64 / bytes * microsecond,
        }
    }

    /// The times without a reduction kernel.
    pub const NONE: Self = Self { launched: f64::MAX, added: 0.0, brought: 0.0 };
}

impl Exchange {
    /// The times of kernels whose K is not divided.
    pub const NONE: Self =
        Self::Workspace { begun: 0.0, stored: 0.0, added: 0.0, brought: 0.0, apart: Reduced::NONE };

    /// The times of kernels whose K cannot be divided.
    pub const NEVER: Self = Self::Workspace {
        begun: f64::MAX,
        stored: 0.0,
        added: 0.0,
        brought: 0.0,
        apart: Reduced::NONE,
    };

    /// Returns the time of the exchange with stream-K: a CTA completes a tile of another CTA, and
    /// begins a tile that another CTA completes.
    pub(crate) fn stream_k_time(&self) -> f64 {
        match *self {
            Self::Workspace { begun, stored, added, brought, .. } => {
                begun + 2.0 * (stored + added + brought)
            }
            Self::Cluster { .. } => f64::MAX,
        }
    }

    /// Returns the time to reduce `slices` slices of each of `tiles` tiles with a decomposition. A
    /// multiprocessor has `load` units.
    pub(crate) fn cost(
        &self,
        (mut slices, way): (u32, DecompositionKind),
        load: f64,
        tiles: f64,
    ) -> f64 {
        if slices < 2 {
            return 0.0;
        }
        match *self {
            Self::Workspace { stored, apart: Reduced { launched, added, brought }, .. }
                if matches!(way, DecompositionKind::SplitKParallel) =>
            {
                launched
                    + load * stored
                    + f64::from(slices.div_ceil(SLICES_AT_ONCE)) * added
                    + tiles * f64::from(slices) * brought
            }
            Self::Workspace { begun, stored, added, brought, .. } => {
                let mut adding = 0.0;
                while slices > 1 {
                    adding += added + f64::from(slices.min(SLICES_AT_ONCE)) * brought;
                    slices = slices.div_ceil(SLICES_AT_ONCE);
                }
                begun + load * stored + adding
            }
            Self::Cluster { met, awaited, sent } => {
                met + load * (f64::from(slices) * awaited + f64::from(slices - 1) * sent)
            }
        }
    }
}
