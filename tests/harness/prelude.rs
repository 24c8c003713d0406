//! Names that most tests use.
#![allow(unused_imports, reason = "each test binary uses its part")]

pub use crate::harness::{
    OfFamily,
    case::{Buffers, Runner},
    changed::unit_of,
    descriptions::{Family, Wanted, description, streamed},
    gemms::{HopperK, HopperMn, KMajor, MnMajor},
    mutated::{mutant, mutate},
    on_host::{OnHost, slices},
    problems::{Guarded, guarded},
    product::{
        PLAIN, Refused, bits, default_of, described, element_types, knobs, matrices, problem_of,
        request, request_of, scalars,
    },
    random::Random,
    sample,
};
pub use falchion::{
    Error, Refusal,
    arch::{ArchKind, Machine, OpKind, WARP},
    desc::{
        AOperandKind, Auto, COMBINATIONS, DecompositionKind, FamilyDesc, GemmDesc, GemmMode, Pins,
        PromotionKind, SaturateKind, SimtDesc, SpillKind, TENSOR_OP_COMBINATIONS, With,
    },
    device::{
        Arguments, Explanation, Gemm, GemmOperation, GemmUniversal, ProblemSize, Request,
        run_on_host,
    },
    epilogue::{
        Acc, Add, Alpha, Apply, Beta, BiasM, BiasN, EpilogueDesc, F64Function, Function,
        LinearCombination, Multiply, Node, NodeId, Op, Relu, Scaled,
    },
    internals::{
        call::{
            Elements, Groups, HostCall, HostMatrices, HostSlice, HostSliceMut, Partials, Problem,
            Routes, Source, View,
        },
        codegen::TranslationUnit,
        family::default_gemm_configuration::{default_description, default_gemm_configurations},
        host::{Array, Mode, machine::ClusterWork},
        index::{Coord, IndexMap, Tabled, at, fingerprint, laws, points},
        operand::{Axis, OperandKind, VectorKind, Vectors},
        pass::{DecomposeDesc, PassDesc, Realignment, RepackMap, RepackShapes},
        plan::{Program, RingProgram, WarpSpecializedProgram},
        schedule::{Role, RoleStep, ScheduleKind, Section, Step},
    },
    layout::{ColMajor, MatrixType, Order, RowMajor},
    numeric::{
        Bf16, Combined, ComputeKind, E4m3, E5m2, ElementKind, EmulationKind, F16, MathType, Tf32,
        Widen,
        emulation::{LineFacts, shift_of},
    },
    prelude::*,
    refusal::{Field, Operand},
    shape::{Mn, Mnk},
    threadblock::{
        Along, MOST_STREAMS, MainloopKind, Pipeline, RoleOptions, SharedBox, SharedOperand,
        SmemLayout, SmemTile, SwizzleKind, SwizzleMode, TensorCopy, TensorMapDesc, TensorMatrix,
        Unit, Work, WorkKind,
    },
    warp::{
        InterleaveKind, UnrollKind,
        mma_tensor_op::WarpInstruction,
        mma_warpgroup::{AOperand, MmaWarpgroup, OperandA, OperandTile, STEPS},
    },
};
pub use falchion_lab::{
    banks::{Direction, WarpAccess, wavefronts},
    layout::cute_gemm::CuteGemm,
    verify::{Claim, Distribution, Fill, HostBuffer, Verdict, bound::Accumulation, draw},
};
pub use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

#[cfg(feature = "cuda")]
pub use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut,
    sys::{CUgraphInstantiate_flags, CUstreamCaptureMode},
};
#[cfg(feature = "cuda")]
pub use falchion::{
    cuda::{
        CudaKernel, DeviceMatrix,
        cache::{Cache, CacheDir, Key},
        machine_of, open,
        report::Report,
    },
    internals::sys::{
        driver::Grid,
        nvrtc::{Compiled, Nvrtc},
    },
};
