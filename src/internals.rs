//! Names that the lab crate, the command line, and the tests need. They are not part of the public
//! interface, and they may change at any time. A test of the repository finds a name without user.

/// Syntax trees of layout expressions. The lab evaluates expressions.
pub use crate::layout::algebra::parse::{Fault, Kind, Node, parse, pointed};

/// Kernels from other sources, and their geometry. The lab times its own kernels.
#[cfg(feature = "cuda")]
pub use crate::{cuda::loaded::Loaded, nest::plan::Geometry};

/// Rounding and exponents of number formats. The lab computes references.
pub use crate::numeric::{convert::round_to_odd, fused_sum::least_exponent};

/// The refusal of a number outside of its range. The lab refuses its own fields.
pub use crate::refusal::rules::within;

/// The epilogue on the host. The lab compares it with references.
pub use crate::epilogue::evaluate::{Rows, evaluate};

/// The assertion that a map and its CUDA twin agree, for the kernels of the lab.
pub use crate::codegen::fingerprint_assertion;

/// Calls: problems, operands, batches, groups, and the workspace.
pub mod call {
    /// The command line and the lab build and run problems whose types are run-time values.
    pub use crate::call::{
        Call, DecomposedLayout, Elements, Groups, HostCall, HostMatrices, HostSlice, HostSliceMut,
        Matrices, Problem, Routes, Source, View, fitting,
    };
    /// Tests check the layout of the workspace and of launches.
    pub use crate::call::{
        DEPTH, Host, Launch, Partials, ReadOffsets, Space, TmaTensor, WORKSPACE_ALIGNMENT, Way,
    };
}

/// Translation units, and the structs of their parameters.
pub mod codegen {
    /// The lab compiles its own kernels.
    pub use crate::codegen::{ENTRY, Spelled, TranslationUnit};
    /// Tests compare the structs of both languages.
    pub use crate::codegen::{GemmParams, KERNELS, RepackParams, TensorGemmParams, TensorMap};
}

/// The host executor.
pub mod host {
    /// The command line and the lab run and time the host executor.
    pub use crate::host::{Array, Mode, progress};
    /// Tests execute programs that no description has.
    pub use crate::host::{HostKernel, warp::accumulators::Accumulators};

    /// The checked machine.
    pub mod machine {
        /// The lab counts accesses.
        pub use crate::host::machine::{
            Access, Observer, Purpose, Tile, Touched, observe, transpose_tile, whole_pieces,
        };
        /// Tests run mutants of the ring's roles.
        pub use crate::host::machine::{Bytes, ClusterWork, Payload, Staged, Tally, run};
    }
}

/// Index maps. The lab draws them, and tests check their laws.
pub mod index {
    pub use crate::layout::index_map::{
        Coord, IndexMap, Map, Tabled, at, fingerprint, laws, points,
    };
}

/// Operands and their axes. The lab and the tests iterate over them.
pub mod operand {
    pub use crate::operand::{Axis, EpilogueOperand, EpilogueOperands, Frame, OperandKind};
}

/// Passes over operands before and after a kernel.
pub mod pass {
    /// The command line describes passes.
    pub use crate::pass::PassDesc;
    /// Tests execute passes one by one.
    pub use crate::pass::{
        DecomposeDesc, DecomposeStep, PIECE, PIECES, Pass, PassBatch, REPACK, Realignment,
        RecordsDesc, RepackCopy, RepackDesc, RepackMap, RepackShapes, TILE, repack,
    };

    /// Transposes.
    pub mod transpose {
        /// The command line and the lab build transposes.
        pub use crate::pass::transpose::{
            Choice, Combine, GatheredTile, Lanes, Staging, TransposeDesc, TransposeProgram,
        };
        /// Tests compile configurations.
        pub use crate::pass::transpose::{Configuration, PieceMap, translation_unit};
    }
}

/// The loop nest: the selection of a kernel, explanations, and programs of the host executor.
pub mod nest {
    /// The lab times kernels.
    pub use crate::nest::plan::Geometry;
    /// The command line resolves requests; the lab explores and explains.
    pub use crate::nest::*;
    /// The lab counts the accesses of a program.
    pub use crate::threadblock::mma::program::Program;
    /// Tests change programs and expect a fault.
    pub use crate::threadblock::{
        mma::program::{HostProgram, Maps},
        tma_ring::{
            program::{EmulationProgram, ThreadMaps, WarpSpecializedProgram},
            ring_program::RingProgram,
        },
    };
    /// The lab prints explanations.
    pub use crate::{
        threadblock::tma_ring::explain::{BoxesExplanation, WarpSpecializedExplanation},
        warp::{
            mma_sync::explain::MmaSyncExplanation,
            simt::explain::{OperandExplanation, SimtExplanation},
        },
    };
}

/// Schedules of main loops.
pub mod schedule {
    /// Tests change schedules and expect a fault.
    pub use crate::schedule::{Fault, Role, RoleStep, ShareName, Spelled, SubtileName, WarpName};
    /// The lab explains schedules.
    pub use crate::schedule::{Schedule, ScheduleKind, Section, Step};
}

/// The safe layer over the driver, NVRTC, and the operating system.
pub mod sys {
    /// The lab computes references with the host's vectors.
    pub use crate::sys::simd;
    /// The command line reports the libraries; the lab launches its own kernels.
    #[cfg(feature = "cuda")]
    pub use crate::sys::{driver, environment, library, nvrtc, tensor_map};
}

/// Words of packed multiply-adds. Tests compare them with the host.
pub mod thread {
    pub use crate::thread::mma;
}
