//! The parts that an MMA supplies to the main loops: components, registers, and C++.

use crate::{
    layout::index_map::Map,
    shape::Mn,
    threadblock::StagedOperand,
    warp::{ThreadTiles, TiledMma},
};

/// The components of a CTA without a producer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MmaComponents {
    /// Tiles of the block, of its warps, and of their threads.
    pub tiles: ThreadTiles,
    /// A and B in shared memory.
    pub operands: [StagedOperand; 2],
    /// The MMA.
    pub mma: TiledMma,
}

/// A consumer of a TMA ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// The MMA.
    pub mma: TiledMma,
    /// Consumers along M and N of the threadblock tile.
    pub consumers: Mn,
    /// Instruction tiles along M and N of a consumer's tile.
    pub repeats: Mn,
    /// Whether threads store D from registers, without staging buffers.
    pub by_threads: bool,
}

/// Registers of a consumer's MMA, per thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConsumerRegisters {
    /// Registers of the accumulators.
    pub accumulators: u32,
    /// Registers of the accumulators of one stage, which are promoted.
    pub partial_accumulators: u32,
    /// Registers of operand fragments.
    pub fragments: u32,
    /// Launch registers that one instruction needs.
    pub instruction: u32,
}

/// A map with its name and the name of its C++ twin.
pub(crate) type MirroredMap = (&'static str, &'static str, Map);

/// The parts of the C++ of a kernel with a TMA ring that depend on the MMA of its consumers.
pub(crate) struct ConsumerText {
    /// C++ template of the consumer, in the namespace `threadblock`.
    pub name: &'static str,
    /// Header of the consumer, if it is not that of the ring.
    pub header: Option<&'static str>,
    /// Header that the generated header includes.
    pub include: &'static str,
    /// C++ structs.
    pub structs: String,
    /// Lines of the structs of A and of B.
    pub operands: [String; 2],
    /// Type aliases in `Config`.
    pub aliases: String,
    /// Facts of `Config`.
    pub facts: Vec<(&'static str, u32)>,
    /// Maps that have a C++ twin.
    pub maps: Vec<MirroredMap>,
}

/// The parts of the C++ of a kernel without a producer that depend on its MMA.
#[derive(Default)]
pub(crate) struct MmaText {
    /// Headers: (include name, text). The first contains the kernel's maps.
    pub headers: &'static [(&'static str, &'static str)],
    /// C++ type with which a warp multiplies.
    pub name: &'static str,
    /// Headers that the generated header includes.
    pub includes: &'static [&'static str],
    /// C++ declarations that precede `Config`.
    pub declarations: String,
    /// Fingerprint assertions in addition to those of the maps.
    pub fingerprints: String,
    /// Facts of each operand: (type and name, value).
    pub operand_facts: [Vec<(&'static str, String)>; 2],
    /// Members of `Config`: (type and name, value).
    pub facts: Vec<(&'static str, String)>,
}
