//! What follows from a description, made once and kept with its kernel: what is compiled, what a
//! block takes, and what the host runs.

mod program;
mod ring;
mod roles;

pub(crate) use program::MOST_READS;
pub use program::{HostProgram, Maps, Program};
pub use ring::RingProgram;
pub(crate) use roles::instruction_mn;
pub use roles::{EmulationProgram, OperandMaps, SubtileMaps, ThreadMaps, WarpSpecializedProgram};

use crate::{
    call::{Grid, Launch, Problem},
    codegen::TranslationUnit,
    desc::GemmDesc,
    epilogue::reduction::Reduction,
    refusal::Refusal,
    shape::Mnk,
    threadblock::WorkKind,
};

/// A description that has been checked, with what follows from it. Each family has its own.
pub trait Plan: Send + Sync {
    /// What a problem, operands of which are where the kernel reads them, is launched with, of a
    /// kernel of this geometry, of which the device holds so many clusters at once.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`]; those of tensor maps.
    fn launch(
        &self,
        problem: &Problem,
        geometry: &Geometry,
        resident: u32,
    ) -> Result<Launch, Refusal>;
    /// The text that is compiled. Fingerprints are for test builds; they cost compile time and no
    /// run time.
    fn unit(&self, with_fingerprints: bool) -> TranslationUnit;
    /// What the host runs.
    ///
    /// # Errors
    /// Those of the description's components.
    fn program(&self) -> Result<HostProgram, Refusal>;
}

/// What a launch has to know of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// What a block computes, and how much of K it takes at a time.
    pub tile: Mnk,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// How units of work are divided among clusters.
    pub work: WorkKind,
    /// Lines of D that tiles of groups begin at multiples of: what a vector has along them, where
    /// operands lie so.
    pub group_step: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory that is asked for at the launch, in bytes.
    pub shared_bytes: u32,
    /// The second kernel, where there is one.
    pub reduction: Option<Reduction>,
}

impl Geometry {
    /// The grid of the second kernel, of so many tiles, where it adds what the description's kernel
    /// stores.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`].
    pub(crate) fn reduction_of(
        &self,
        desc: &GemmDesc,
        tiles: u64,
    ) -> Result<Option<Grid>, Refusal> {
        let grid = |Reduction { blocks, threads }| {
            Grid::of_tiles(tiles.saturating_mul(u64::from(blocks)), threads, 0)
        };
        self.reduction.filter(|_| desc.reduces_in_parallel()).map(grid).transpose()
    }
}
