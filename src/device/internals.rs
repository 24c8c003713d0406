//! Names that the crates `falchion-check` and `falchion-lab`, the command line, and the tests need.
//! They are not part of the public interface, and they may change at any time. A test of the
//! repository finds a name without user.

/// Syntax trees of layout expressions. The lab evaluates expressions.
pub use crate::layout::algebra::parse::{Fault, Kind, Node, parse, pointed};

/// Kernels from other sources, and their geometry. The lab times its own kernels.
#[cfg(feature = "cuda")]
pub use crate::{cuda::loaded::Loaded, nest::plan::Geometry};

/// Rounding and exponents of number formats. The lab computes references.
pub use crate::numeric::{convert::round_to_odd, fused_sum::least_exponent};

/// Arithmetic of accumulators and of instructions.
pub mod numeric {
    /// The checked machine adds accumulators.
    pub use crate::numeric::{
        rows::Number,
        tensor_sum::{Panel, accumulate},
    };
}

/// The refusal of a number outside of its range. The lab refuses its own fields.
pub use crate::refusal::rules::within;

/// The epilogue on the host. The lab compares it with references.
pub use crate::epilogue::evaluate::{Rows, evaluate};

/// The assertion that a map and its CUDA twin agree, for the kernels of the lab.
pub use crate::codegen::fingerprint_assertion;

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
    pub use crate::host::{Array, progress};

    /// The checked machine enters and stores calls as the host executor does.
    pub mod shared {
        pub use crate::host::shared::{
            Blocks, Fragments, Matrix, Operands, Product, Tiling, combined, each_launch, finished,
            has_roles, in_frame_of, matrix_of, product_of, stored_once, tiling, units_once,
            unknown, vectors, work,
        };
        /// Operands of warp-specialized kernels.
        pub mod ring {
            pub use crate::host::shared::{
                emulation::{EmulationProgram, Scales},
                tma_ring::{clusters, run_decomposed, tiling, work},
            };
        }
    }
}

/// Index maps. The lab draws them, and tests check their laws.
pub mod index {
    pub use crate::layout::index_map::{
        Coord, IndexMap, Map, Tabled, at, fingerprint, laws, points,
    };
}

/// Names of operands and their axes. The lab and the tests iterate over them.
pub mod shape {
    pub use crate::shape::{Axis, EpilogueOperand, EpilogueOperands, Frame, OperandKind};
}

/// Calls, views of their operands, routes, and passes.
pub mod operand {
    /// The command line and the lab build and run problems whose types are run-time values.
    pub use crate::operand::{
        AxisSplit, Call, DecomposedLayout, Elements, GateColumns, Groups, HostCall, HostMatrices,
        HostSlice, HostSliceMut, IndexList, Indices, Matrices, Problem, Routes, Source, UpMatrix,
        View, fitting,
    };
    /// Tests check the layout of the workspace.
    pub use crate::operand::{DEPTH, ListReader, WORKSPACE_ALIGNMENT, Way};
    /// Tests execute passes one by one.
    pub use crate::operand::{
        DecomposeDesc, DecomposeStep, GatherDesc, PIECE, PIECES, Pass, PassBatch, REPACK,
        Realignment, RecordsDesc, RepackCopy, RepackDesc, RepackMap, RepackShapes, TILE,
    };
    /// The command line describes passes.
    pub use crate::operand::{PassDesc, repack};

    /// Transposes.
    pub mod transpose {
        /// The command line and the lab build transposes.
        pub use crate::operand::transpose::{
            Choice, Combine, GatheredTile, Lanes, Staging, TransposeDesc, TransposeProgram,
        };
        /// Tests compile configurations.
        pub use crate::operand::transpose::{Configuration, PieceMap, translation_unit};
    }
}

/// The loop nest: the selection of a kernel, explanations, and programs.
pub mod nest {
    /// The lab times kernels.
    pub use crate::nest::plan::Geometry;
    /// The command line resolves requests; the lab explores and explains.
    pub use crate::nest::*;
    /// Tests change programs and expect a fault.
    pub use crate::threadblock::mma::program::Maps;
    /// The lab counts the accesses of a program.
    pub use crate::threadblock::mma::program::Program;
    /// Tests check the layout of partials and of launches.
    pub use crate::threadblock::{Launch, Partials, TmaTensor};
    /// The checked machine copies operands, and runs rings of warps.
    pub use crate::threadblock::{
        mma::accesses, tensor_map::STRIDE_ALIGNMENT, tma_ring::pipeline::REGISTERS,
    };
    pub use crate::warp::warpgroup::WARPS;
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
    /// The checked machine names the warp of a step.
    pub use crate::schedule::{Roles, Who};
    /// The lab explains schedules.
    pub use crate::schedule::{Schedule, ScheduleKind, Section, Step};
}

/// The safe layer over the driver, NVRTC, and the operating system.
pub mod sys {
    /// The checked machine sets the floating-point mode of its thread.
    pub use crate::sys::float_mode::DefaultFloatMode;
    /// The lab computes references with the host's vectors.
    pub use crate::sys::simd;
    /// The command line reports the libraries; the lab launches its own kernels.
    #[cfg(feature = "cuda")]
    pub use crate::sys::{driver, environment, library, nvrtc, tensor_map};
}

/// Steps of single threads.
pub mod thread {
    /// Tests compare the words of packed multiply-adds with the host.
    pub use crate::thread::mma;
    /// The checked machine transposes the registers of a thread.
    pub use crate::thread::transpose::take_column;
}
