//! The warp-specialized family for Hopper: a producer warpgroup feeds consumers by TMA. Consumers
//! are warpgroups on tensor cores, or threads on CUDA cores for true `f32`.
//!
//! Twin: `kernels/threadblock/tma_ring/kernel.cuh`.

use crate::{
    arch::OpKind,
    call::{Launch, OperandNeed, Problem},
    codegen::TranslationUnit,
    epilogue::reduction::Reduction,
    nest::{
        DecompositionKind, GemmDesc,
        features::{Bandwidth, Exchange, Features, Lines, Reduced, products_of_a_microsecond},
        plan::{Geometry, Plan},
    },
    numeric::sum_of,
    operand::OperandKind,
    refusal::Refusal,
    schedule::ScheduleKind,
    shape::at_least_one,
    smem::Along,
    threadblock::{
        ClusterSlices, WarpSpecialized, WorkKind,
        mma::program::HostProgram,
        tma_ring::{
            explain::WarpSpecializedExplanation, pipeline::WARPS, program::WarpSpecializedProgram,
            registers::TOGETHER,
        },
    },
};
use std::sync::Arc;

/// A description and its components.
struct WarpSpecializedPlan {
    desc: GemmDesc,
    components: WarpSpecialized,
}

impl Plan for WarpSpecializedPlan {
    fn launch(
        &self,
        problem: &Problem,
        geometry: &Geometry,
        resident: u32,
    ) -> Result<Launch, Refusal> {
        super::launch::launch(
            &self.desc.multiplied(),
            &self.components,
            problem,
            (geometry, resident),
        )
    }

    fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        super::unit::translation_unit(&self.desc, &self.components, with_fingerprints)
    }

    fn program(&self) -> Result<HostProgram, Refusal> {
        self.desc.ring_program().map(Box::new).map(HostProgram::Roles)
    }
}

impl GemmDesc {
    pub(crate) fn needs_ring(&self) -> [OperandNeed; 2] {
        let emulation = self.emulation();
        OperandKind::BOTH.map(|operand| match emulation.decomposes() {
            true => OperandNeed::Terms(emulation),
            false => OperandNeed::Rows { along: WarpSpecialized::along(self, operand) },
        })
    }

    pub(crate) fn planned_ring(self) -> Result<Arc<dyn Plan>, Refusal> {
        Ok(Arc::new(WarpSpecializedPlan { desc: self, components: WarpSpecialized::new(&self)? }))
    }

    pub(crate) fn explained_ring(&self) -> Result<WarpSpecializedExplanation, Refusal> {
        Ok(WarpSpecializedExplanation::new(self, &WarpSpecialized::new(self)?))
    }

    /// Returns the host program.
    ///
    /// # Errors
    /// A [`Refusal`](crate::Refusal) of the main loop, the instruction, or the tiles.
    pub fn ring_program(&self) -> Result<WarpSpecializedProgram, Refusal> {
        Ok(WarpSpecializedProgram::new([*self, self.multiplied()], WarpSpecialized::new(self)?))
    }

    pub(crate) const fn geometry_ring(&self) -> Geometry {
        let (threads, shared_bytes) = match self.components() {
            Some(components) => (components.ring.threads(), components.ring.shared_bytes()),
            None => (0, 0),
        };
        let cluster = match self.work_ring() {
            WorkKind::SplitKCluster => self.work.split_k,
            _ => self.mainloop.cluster().count(),
        };
        Geometry {
            tile: self.threadblock(),
            cluster,
            work: self.work_ring(),
            group_step: self.group_step_ring(),
            threads,
            shared_bytes,
            reduction: self.reduction_ring(),
        }
    }

    /// Returns the kernel that reduces split-K partials, if the module has one.
    const fn reduction_ring(&self) -> Option<Reduction> {
        match self.components() {
            Some(components) if self.has_reduction() => {
                let octets = self.sharing() * (components.numbers() / TOGETHER);
                Some(Reduction { blocks: octets, threads: WARPS * 32 })
            }
            _ => None,
        }
    }

    /// Returns the division of work units among clusters.
    pub(crate) const fn work_ring(&self) -> WorkKind {
        match self.work.decomposition {
            DecompositionKind::StreamK => WorkKind::StreamK,
            DecompositionKind::SplitKCluster if self.work.split_k > 1 => WorkKind::SplitKCluster,
            _ => WorkKind::Persistent,
        }
    }

    /// Returns the split-K slices that a cluster computes, with `accumulators` accumulators per
    /// thread.
    pub(crate) const fn cluster_slices(&self, accumulators: u32) -> Option<ClusterSlices> {
        match self.work_ring() {
            WorkKind::SplitKCluster => {
                let words = accumulators.saturating_mul(WARPS * 32);
                Some(ClusterSlices {
                    blocks: self.work.split_k,
                    bytes: sum_of(self.output.accumulator).bytes_of(words),
                })
            }
            _ => None,
        }
    }

    /// Returns the alignment of the first tile of a group, in rows or columns of D. TMA reads units
    /// of 16 bytes.
    pub(crate) const fn group_step_ring(&self) -> u32 {
        let Some(axis) = self.work.mode.groups() else { return 1 };
        let operand = OperandKind::along(axis);
        if WarpSpecialized::along(self, operand).is(Along::K) {
            1
        } else {
            self.operand(operand).stored.elements_in(16)
        }
    }

    /// Returns the number of operands that a call first transposes into its workspace.
    pub(crate) const fn transposed(&self) -> u32 {
        self.reads_transposed(OperandKind::A) as u32 + self.reads_transposed(OperandKind::B) as u32
    }

    /// Returns the facts for the cost model. `src/nest/cost_model.rs` explains the constants.
    pub(crate) const fn features_ring(&self) -> Features {
        const LOADS: u64 = 60;
        const OF_LINES: u64 = 68;
        const NOT_HIDDEN: u64 = 2900;
        // A second tile that consumers share. Further prologues and epilogues leave their power to
        // multiply-adds, so they cost less.
        const SECOND: u64 = 4700;
        const FURTHER: u64 = 300;
        // A tile of a TMA-fed SIMT kernel, for any thread tile.
        const OF_THREADS: u64 = 44;
        // The prologue and epilogue of a smaller tile take as long as those of 128 x 64.
        const LEAST: u64 = 128 * 64;
        let (m, n) = (self.threadblock().m as u64, self.threadblock().n as u64);
        // Relative to an instruction of 64 x 128. Wider instructions spend less time on
        // shared-memory reads.
        let wide = at_least_one(self.instruction().n) as u64;
        let (cluster, tensor_op) = (self.mainloop.cluster(), matches!(self.op(), OpKind::TensorOp));
        let [rows, columns] = [at_least_one(cluster.m) as u64, at_least_one(cluster.n) as u64];
        let (alone, loads) = match tensor_op {
            true => (m * n * (138 * wide + 640) / (143 * wide), LOADS * (m + n)),
            false => (m * n * 145 / 100, 0),
        };
        // For 32 bits, a prologue and epilogue take as long as for 16, so they count as half as
        // many multiply-adds.
        let fewer = if self.operands[0].stored.bits() > 16 { 2 } else { 1 };
        let [not_hidden, second, further] = if tensor_op {
            [NOT_HIDDEN / fewer, SECOND / fewer, FURTHER / fewer]
        } else {
            [OF_THREADS; 3]
        };
        let memory = Bandwidth {
            first: 2.0,
            own: LOADS as f64,
            longer: 40.0,
            // With split-K in a cluster, the CTAs reread elements at the same time.
            again: if self.cuts_by_cluster() { 0.55 } else { 0.4 },
            kept: 50e6 * 8.0 / self.operands[0].stored.bits() as f64,
        };
        let pingpong = matches!(self.schedule(), ScheduleKind::Pingpong);
        // CTAs of a cluster wait for each other.
        let products = if rows * columns > 1 { alone * 17 / 16 } else { alone };
        // Consumers that share a tile run its prologue and epilogue concurrently.
        let share = m * n / at_least_one(self.sharing()) as u64;
        let lines = Lines {
            products: products as f64,
            loads: [(OF_LINES * m / columns) as f64, (OF_LINES * n / rows) as f64],
        };
        Features {
            lines: if tensor_op { Some(lines) } else { None },
            // For TMA-fed SIMT kernels, a transpose counts as time instead.
            transposed: if tensor_op { self.transposed() } else { 0 },
            each: (if products > loads { products } else { loads }) as f64,
            latency: 0.0,
            alone: 0.0,
            block: None,
            not_hidden: (not_hidden * if share > LEAST { share } else { LEAST }) as f64,
            further: if pingpong {
                [0.0; 2]
            } else {
                [(second * share) as f64, (further * share) as f64]
            },
            memory: if tensor_op { Some(memory) } else { None },
            exchange: self.slice_exchange(),
        }
    }

    /// Returns the times of the reduction. The constants are in hundredths of a microsecond. Rounds
    /// of loads wait for the L2 cache.
    const fn slice_exchange(&self) -> Exchange {
        const BEGUN: f64 = 250.0;
        const STORED: f64 = 15.0;
        const COUNTED: f64 = 80.0;
        const ROUND: f64 = 25.0;
        // Bytes per microsecond that a multiprocessor loads from the L2 cache.
        const BYTES: f64 = 140_000.0;
        // With the reduction kernel, all CTAs load their slices at the same time.
        const APART: (f64, f64) = (0.5, 1_450_000.0);
        // With a cluster: its barriers, the wait for each CTA of a tile, and the bytes per
        // microsecond that its first CTA receives.
        const MET: f64 = 35.0;
        const AWAITED: f64 = 10.0;
        const SENT: f64 = 45_000.0;
        let Some(components) = self.components() else { return Exchange::NONE };
        let products = products_of_a_microsecond(self.op(), self.multiplied().operands[0].stored)
            as f64
            / 100.0;
        let tile = self.threadblock();
        let slot = sum_of(self.output.accumulator).bytes_of(tile.m.saturating_mul(tile.n)) as f64;
        let moved = slot * 100.0 * products;
        if self.cuts_by_cluster() {
            return Exchange::Cluster {
                met: MET * products,
                awaited: AWAITED * products,
                sent: moved / SENT,
            };
        }
        let rounds = match components.vectors_ahead() {
            // No registers remain to load partials ahead. The kernel supports split-K, but the
            // model excludes it.
            0 => return Exchange::NEVER,
            vectors => components.numbers().div_ceil(TOGETHER * vectors),
        };
        let added = (COUNTED + ROUND * rounds as f64) * products;
        let apart = if self.may_reduce() {
            Reduced::new(slot as u64, APART, 100.0 * products)
        } else {
            Reduced::NONE
        };
        Exchange::Workspace {
            begun: BEGUN * products,
            stored: (STORED + STORED / 32.0 * components.numbers() as f64) * products,
            added,
            brought: moved / BYTES,
            apart,
        }
    }
}
