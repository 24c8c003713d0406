//! Plan and launch properties of a kernel with a TMA ring.

use crate::{
    codegen::TranslationUnit,
    epilogue::reduction::Reduction,
    nest::{
        DecompositionKind, GemmDesc,
        plan::{Geometry, Plan},
    },
    numeric::sum_of,
    operand::{OperandNeed, Problem},
    refusal::Refusal,
    shape::{Axis, OperandKind},
    threadblock::{
        ClusterSlices, Launch, WarpSpecialized, WorkKind, smem::Along,
        tma_ring::explain::WarpSpecializedExplanation,
    },
    warp::warpgroup::WARPS,
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
        if !self.has_reduction() {
            return None;
        }
        match self.components() {
            Some(components) => Some(Reduction::of_octets(self.sharing(), components.numbers())),
            None => None,
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

    /// Returns the alignment of the first tile of a group along the axis of the groups. TMA reads
    /// units of 16 bytes.
    pub(crate) const fn group_step_ring(&self) -> u32 {
        match self.work.mode.groups() {
            None => 1,
            Some(Axis::K) => {
                let [a, b] = [
                    self.group_step_of(OperandKind::A, Along::K),
                    self.group_step_of(OperandKind::B, Along::K),
                ];
                if a > b { a } else { b }
            }
            Some(axis) => self.group_step_of(OperandKind::along(axis), Along::Mn),
        }
    }

    /// Returns the elements of 16 bytes if the kernel reads an operand along `along`, and 1
    /// otherwise.
    const fn group_step_of(&self, operand: OperandKind, along: Along) -> u32 {
        if WarpSpecialized::along(self, operand).is(along) {
            self.operand(operand).stored.elements_in(16)
        } else {
            1
        }
    }
}
