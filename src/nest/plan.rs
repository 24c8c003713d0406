//! Plans: the results that follow from a checked description, computed once and cached with its
//! kernel.
//!
//! A plan contains the source to compile, and the launch of a problem.

use crate::{
    codegen::TranslationUnit,
    epilogue::{
        reduction::Reduction,
        sums::{SUM_THREADS, SumParts},
    },
    nest::GemmDesc,
    operand::Problem,
    refusal::Refusal,
    shape::Mnk,
    threadblock::{Grid, Launch, WorkKind},
};

/// A checked description with its derived components. Kernels with and without a
/// producer implement it.
pub trait Plan: Send + Sync {
    /// Returns the launch of a problem, whose operands are already as the kernel reads them.
    ///
    /// `geometry` is the kernel's geometry. `resident` is the number of its clusters that the
    /// device holds at once.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles, and the errors of tensor maps.
    fn launch(
        &self,
        problem: &Problem,
        geometry: &Geometry,
        resident: u32,
    ) -> Result<Launch, Refusal>;
    /// Returns the text to compile. Fingerprints are for test builds: they cost compile time but no
    /// run time.
    fn unit(&self, with_fingerprints: bool) -> TranslationUnit;
}

/// The properties of a kernel that determine its launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Tile of D that one CTA computes, and its depth along K per step.
    pub tile: Mnk,
    /// CTAs per cluster.
    pub cluster: u32,
    /// Division of the work units among clusters.
    pub work: WorkKind,
    /// Alignment of the first tile of a group along the axis of the groups. It is the vector width
    /// of an operand if vectors run along that axis, and 1 otherwise.
    pub group_step: u32,
    /// Threads per CTA.
    pub threads: u32,
    /// Dynamic shared memory per CTA, in bytes.
    pub shared_bytes: u32,
    /// The reduction kernel, if the module has one.
    pub reduction: Option<Reduction>,
}

impl Geometry {
    /// Returns the grid of the reduction kernel for `tiles` tiles, or `None` if the description
    /// does not use that kernel.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub(crate) fn reduction_of(
        &self,
        desc: &GemmDesc,
        problem: &Problem,
        tiles: u64,
    ) -> Result<Option<Grid>, Refusal> {
        if desc.epilogue.has_sums() {
            let all = SumParts::for_outputs(desc, (problem.m, problem.n), problem.outputs());
            let blocks = all.map(|parts| parts.blocks()).sum();
            return Grid::with_tiles(blocks, SUM_THREADS, 0).map(Some);
        }
        let grid = |Reduction { blocks, threads }| {
            Grid::with_tiles(tiles.saturating_mul(u64::from(blocks)), threads, 0)
        };
        self.reduction.filter(|_| desc.reduces_in_parallel()).map(grid).transpose()
    }
}
