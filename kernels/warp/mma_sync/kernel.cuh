// Twin of src/warp/mma_sync/kernel.rs: the index maps of `mma.sync` kernels.
#pragma once
#include "threadblock/mma/kernel.cuh"
#include "warp/mma_sync.cuh"

// Index maps of the operands that the warps read, with the names of src/threadblock/mma/program.rs.
namespace maps {
using fragment_a = warp::OperandFragment<Config, Config::A, true>;
using fragment_b = warp::OperandFragment<Config, Config::B, false>;
using rows_a = warp::MatrixLoads<Config, Config::A, true>;
using rows_b = warp::MatrixLoads<Config, Config::B, false>;
using reads_a = warp::FragmentReads<Config, Config::A, true>;
using reads_b = warp::FragmentReads<Config, Config::B, false>;
using depth = warp::StepMap<Config>;
using accumulator = warp::MmaTensorOp<Config>::AccumulatorMap;
}  // namespace maps
