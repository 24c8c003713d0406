//! Names that most tests use.
#![allow(unused_imports, reason = "each test binary uses its part")]

pub use crate::harness::{
    advice::{advised, refused_as},
    case::{Buffers, Placed, Runner, judge_one},
    changed::{Changed, unit_of, with_units},
    completions::tiles_of_halves,
    conformance::wgmma_ring,
    decompositions::{eight_by_eight, on_clusters},
    descriptions::{
        ARCHS, KernelKind, MULTISTAGE_OR_OTHER, ONE_SCHEDULE, THROUGH_REGISTERS, Wanted,
        coverage::{Coverage, with_vectors},
        description, first_tensor_cores, multiplied, op_of, with_stream_k,
    },
    functions::{HalvedInBoth, NearSquare},
    gemms::{HopperColumns, HopperK, HopperMn, HopperRows, KMajor, MnMajor, SmallTile},
    groups::{Grouped, SeparateGemm},
    multicast::Multicast,
    on_host::{OnHost, slices},
    on_tensor_cores::{ORDERS, check_all_layouts, draws},
    problems::{Guarded, guarded},
    product::{
        PLAIN, Refused, WithVectors, bits, default_of, described, element_types, finite, knobs,
        matrices, problem_of, request, request_of, rounding, rounding_operands, scalars,
    },
    random::Random,
    random_cases::{default_f32, follow_advice},
    same_bits::{MOST_WORK, Pairs},
    sample,
    tma_ring::programs::promoting,
    tma_ring::subject::Subject,
    transposes::{TransposeCase, Transposer, any_extents, random_descriptions},
    vectors::vectors_whole,
    wgmma::probe::lay::{fragment_bytes, tile_bytes},
    wgmma::products,
    whole::numbers,
    without_numbers,
};
pub use falchion::{
    Error, Refusal,
    arch::{ArchKind, Machine, OpKind, WARP},
    device::{Arguments, Explanation, Gemm, GemmOperation, GemmUniversal, ProblemSize, Request},
    epilogue::{
        Acc, Add, Alpha, Apply, Beta, BiasM, BiasN, EpilogueDesc, F64Function, Function,
        LinearCombination, LinearCombinationRelu, MathFunction, Multiply, Node, NodeId, Op, Real,
        Relu, ScaleN, Scaled,
        tensor_store::{StagedMap, StagingMap},
        tile_store::PartialsMap,
    },
    internals::{
        codegen::{GemmParams, KERNELS, TensorGemmParams, TranslationUnit},
        host::Array,
        index::{Coord, IndexMap, Map, Tabled, at, fingerprint, laws, points},
        nest::{
            Geometry, Partials, Program,
            defaults::{default_description, default_gemm_configurations},
        },
        operand::{
            DecomposeDesc, DecomposedLayout, Elements, Groups, HostCall, HostMatrices, HostSlice,
            HostSliceMut, IndexList, Indices, PassBatch, PassDesc, Problem, REPACK, Realignment,
            RecordsDesc, RepackCopy, RepackMap, RepackShapes, Routes, Source, UpMatrix, View,
            transpose::{Choice, Combine, Lanes, Staging, TransposeDesc, TransposeProgram},
        },
        schedule::{Role, RoleStep, Schedule, ScheduleKind, Section, Spelled, Step},
        shape::{Axis, EpilogueOperand, EpilogueOperands, OperandKind},
    },
    layout::{
        ColMajor, MatrixType,
        Order::{self, Col, Row},
        RowMajor,
        algebra::{Composed, Coordinate, Int, IntTuple, Layout, LayoutError, Swizzle, Tiler},
    },
    nest::{
        AOperandKind, Addressing, Auto, COMBINATIONS, DecompositionKind, EpilogueTree, Frame,
        GemmDesc, GemmMode, Knobs, Limits, OperandDesc, Pins, PromoteEachStage, PromotionKind,
        SaturateKind, SpillKind, TENSOR_OP_COMBINATIONS, TransformA, TransformB, TransformBoth,
        With, WorkDesc,
    },
    numeric::{
        Bf16, Combined, ComputeKind, E4m3, E5m2, ElementKind, EmulationKind, F16, Instruction,
        MathType, Multiplied, Tf32, Transform, TransformId, Widen,
        emulation::{EmulationBlocks, LineFacts, shift_of},
    },
    prelude::*,
    refusal::{Because, Field, Operand, Rule, Value},
    shape::{Mn, Mnk},
    threadblock::{
        Along, L2PromotionKind, MOST_STREAMS, Mainloop, MainloopKind, MultistageKnobs, Pipeline,
        PipelineLayout, PipelinedKnobs, RingPosition, RoleOptions, SharedBox, SharedOperand,
        SingleStageKnobs, SmemLayout, SmemTile, Streams, SwizzleKind, SwizzleMode, TensorCopy,
        TensorMapDesc, TensorMatrix, TileOrder, TmaRingKnobs, Unit, Units, WarpSpecialized, Work,
        WorkKind,
    },
    warp::{
        InterleaveKind, LaneArrangement, MmaSyncKnobs, SimtKnobs, UnrollKind, WarpMma, WarpMmaKind,
        WgmmaKnobs,
        mma_sync::WarpInstruction,
        warpgroup::FragmentRows,
        wgmma::{
            AOperand, CHUNK_BYTES, FragmentLoad, MatrixDescriptor, MmaWarpgroup, OperandA,
            OperandTile, STEPS,
        },
    },
};
pub use falchion_check::{
    CheckedKernel, Mode,
    machine::{ClusterWork, Payload},
    mutation::{
        Transposed, apply_each, mutant, mutate, mutate_edges, redirect, revalue, swap_each,
        weaken_each, without, without_first,
    },
    program::{HostProgram, RingProgram, WarpSpecializedProgram},
    run_in_mode,
};
pub use falchion_lab::{
    banks::{Direction, WarpAccess, wavefronts},
    counters::{SharedAccesses, count_transpose},
    ladder::TransposeRung,
    layout::cute_gemm::CuteGemm,
    owned::HostProduct,
    verify::{Claim, Distribution, Fill, HostBuffer, Verdict, bound::Accumulation, draw},
};
pub use rayon::prelude::*;
pub use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, atomic::AtomicUsize},
    thread,
    time::{Duration, Instant},
};

#[cfg(unix)]
pub use std::os::unix::{
    fs::{PermissionsExt, symlink},
    net::UnixListener,
};

#[cfg(feature = "cuda")]
pub use crate::harness::{
    on_cuda::OnCuda,
    tensor_checks::{check_load, check_multicast, check_round, check_store},
    tensor_device::Device,
    tensor_kernels::{MULTICAST, untouched},
    twins::a_wrong_fingerprint_is_named,
    wgmma::probe::kernel::WarpgroupProbe,
};
#[cfg(feature = "cuda")]
pub use cudarc::{
    driver::{
        CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, LaunchConfig,
        PushKernelArg,
        sys::{CUgraphInstantiate_flags, CUstreamCaptureMode},
    },
    nvrtc::Ptx,
};
#[cfg(feature = "cuda")]
pub use falchion::{
    cuda::{
        CodeTarget, Cuda, CudaCall, CudaKernel, CudaMatrices, DeviceMatrix,
        cache::{Cache, CacheDir, Key},
        compile, machine_of, open,
        report::Report,
    },
    internals::sys::{
        driver::Grid,
        nvrtc::{Compiled, ImageKind, Nvrtc},
    },
};
#[cfg(feature = "cuda")]
pub use falchion_lab::{
    bench::{EventTimer, Session, Settings},
    owned::resident::Resident,
};
