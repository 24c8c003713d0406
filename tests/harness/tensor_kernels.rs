//! Kernels with single TMA copies, for the compiler and for a device. Their synchronization belongs
//! to the tests. Kernels of the library use the synchronization of `kernels/schedule.cuh`.

use super::tensors::{POISON, packed};
use crate::harness::prelude::*;
use falchion::internals::{codegen::TensorMap, sys::nvrtc::Program};
use std::fmt::Write;

falchion::mirrored! {
    /// Launch parameters of a test of single TMA copies.
    TensorCopyParams {
        /// Source tensor of loads.
        load: TensorMap,
        /// Destination tensor of stores.
        store: TensorMap,
        /// Address of the bytes for shared memory before the copy.
        input: u64,
        /// Address of the output: shared memory after the copy, CTA by CTA.
        output: u64,
        /// Corner of the box that is loaded.
        load_corner: [i32; 3],
        /// Corner of the box that is stored.
        store_corner: [i32; 3],
        /// Offset of the tile in shared memory.
        tile: u32,
        /// Bytes of the box.
        box_bytes: u32,
        /// Bytes of shared memory that the kernel fills before the copy and returns after it.
        window: u32,
        /// Ranks of the cluster that receive the load.
        mask: u32,
        /// Makes the size a multiple of the maps' alignment.
        reserved: [u32; 2],
    }
}

/// Shared memory of the kernels in bytes. It is aligned to 1024, where every swizzle pattern
/// begins.
pub const MEMORY_BYTES: usize = 40 * 1024;

/// Threads per CTA.
pub const THREADS: u32 = 128;

/// Entry points of the kernels with one CTA, for two and for three dimensions.
pub const ENTRIES: [[&str; 2]; 3] =
    [["load2", "load3"], ["store2", "store3"], ["round2", "round3"]];

/// Entry point for clusters of two CTAs.
pub const MULTICAST: &str = "multicast2";

const KERNEL: &str = r#"
#include "threadblock/tensor_copy.cuh"

namespace test {

using threadblock::Corner;

__device__ __forceinline__ unsigned shared_address(void const* at) { return unsigned(__cvta_generic_to_shared(at)); }

__device__ __forceinline__ void open(unsigned full) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void expect(unsigned full, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait(unsigned full) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(full) : "memory");
}

// Makes ordinary stores visible to TMA.
__device__ __forceinline__ void to_tma() { asm volatile("fence.proxy.async;" ::: "memory"); }

__device__ __forceinline__ void drain() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ unsigned rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <int Rank>
__device__ __forceinline__ Corner<Rank> box_corner(int const (&at)[3]) {
  Corner<Rank> corner;
  for (int i = 0; i < Rank; ++i) corner.at[i] = at[i];
  return corner;
}

enum class Way { Load, Store, Round };

// Fills shared memory, copies one box, and writes all of shared memory to global memory.
template <int Rank, Way W>
__device__ __forceinline__ void copy(TensorCopyParams const& p, unsigned char* memory, unsigned long long* barrier) {
  unsigned const tile = shared_address(memory) + p.tile, full = shared_address(barrier);
  for (unsigned i = threadIdx.x; i < p.window; i += blockDim.x) memory[i] = reinterpret_cast<unsigned char const*>(p.input)[i];
  if (threadIdx.x == 0) {
    threadblock::prefetch(p.load);
    open(full);
  }
  to_tma();
  __syncthreads();
  if constexpr (W != Way::Store) {
    if (threadIdx.x == 0) {
      expect(full, p.box_bytes);
      if constexpr (W == Way::Load)
        threadblock::load(tile, p.load, box_corner<Rank>(p.load_corner), full);
      else
        threadblock::load(tile, p.load, box_corner<Rank>(p.load_corner), full, threadblock::evict_first());
    }
    wait(full);
  }
  if constexpr (W != Way::Load) {
    if (threadIdx.x == 0) {
      to_tma();
      if constexpr (W == Way::Store)
        threadblock::store(p.store, box_corner<Rank>(p.store_corner), tile);
      else
        threadblock::store(p.store, box_corner<Rank>(p.store_corner), tile, threadblock::evict_last());
      drain();
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < p.window; i += blockDim.x) reinterpret_cast<unsigned char*>(p.output)[i] = memory[i];
}

// The first CTA of a cluster loads for the ranks of the mask. Each CTA writes its shared memory to
// global memory.
template <int Rank>
__device__ __forceinline__ void multicast(TensorCopyParams const& p, unsigned char* memory, unsigned long long* barrier) {
  unsigned const tile = shared_address(memory) + p.tile, full = shared_address(barrier);
  bool const receives = p.mask >> rank() & 1;
  for (unsigned i = threadIdx.x; i < p.window; i += blockDim.x) memory[i] = reinterpret_cast<unsigned char const*>(p.input)[i];
  if (threadIdx.x == 0) {
    open(full);
    if (receives) expect(full, p.box_bytes);
  }
  to_tma();
  __syncthreads();
  meet();
  if (rank() == 0 && threadIdx.x == 0) {
    if (p.reserved[0])
      threadblock::load_multicast(tile, p.load, box_corner<Rank>(p.load_corner), full, (unsigned short)p.mask, threadblock::evict_last());
    else
      threadblock::load_multicast(tile, p.load, box_corner<Rank>(p.load_corner), full, (unsigned short)p.mask);
  }
  if (receives) wait(full);
  __syncthreads();
  meet();
  for (unsigned i = threadIdx.x; i < p.window; i += blockDim.x)
    reinterpret_cast<unsigned char*>(p.output)[(unsigned long long)blockIdx.x * p.window + i] = memory[i];
}

}  // namespace test
"#;

/// Asserts the fingerprints of boxes: every swizzle, every element size, and tiles that do and do
/// not begin at the start of a pattern.
fn fingerprints() -> String {
    let mut text = String::new();
    for swizzle in SwizzleMode::ALL {
        for (element, address) in [
            (ElementKind::U8, 0),
            (ElementKind::F16, 384),
            (ElementKind::F32, 128),
            (ElementKind::F64, 1024),
        ] {
            let (rows, columns) = (24, swizzle.span_bytes().unwrap_or(80) / element.bytes_of(1));
            let desc = packed(element, &[512, 512], &[columns, rows], 0, swizzle);
            let tile = SharedBox::new(&desc, address).expect("a tile");
            let _ = writeln!(
                text,
                "static_assert(index::fingerprint<threadblock::SharedBox<{rows}, {columns}, {}, {}, {address}>>() == {}u, \"tile: the Rust map and the CUDA map differ\");",
                element.bytes_of(1),
                swizzle.bits(),
                fingerprint(&tile)
            );
        }
    }
    text
}

/// Returns the program for NVRTC.
pub fn program() -> Program {
    let memory = format!(
        "__shared__ alignas(1024) unsigned char memory[{MEMORY_BYTES}];\n  __shared__ alignas(8) unsigned long long barrier;"
    );
    let mut source = format!(
        "#include \"layout/index_map.cuh\"\n{}{}{KERNEL}",
        TensorMap::declaration(),
        TensorCopyParams::declaration()
    );
    source.push_str(&fingerprints());
    for (way, entries) in ["Load", "Store", "Round"].iter().zip(ENTRIES) {
        for (rank, entry) in (2..).zip(entries) {
            let _ = writeln!(
                source,
                "extern \"C\" __global__ void __launch_bounds__({THREADS}) {entry}(const __grid_constant__ TensorCopyParams params) {{\n  {memory}\n  test::copy<{rank}, test::Way::{way}>(params, memory, &barrier);\n}}"
            );
        }
    }
    for (rank, entry) in [(2, MULTICAST), (3, "multicast3")] {
        let _ = writeln!(
            source,
            "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__({THREADS}) {entry}(const __grid_constant__ TensorCopyParams params) {{\n  {memory}\n  test::multicast<{rank}>(params, memory, &barrier);\n}}"
        );
    }
    Program {
        name: "tensor_copies.cu".to_owned(),
        source,
        headers: KERNELS.iter().map(|&(name, text)| (name.to_owned(), text.into())).collect(),
        arch: "sm_90a".to_owned(),
        options: ["-default-device", "--ptxas-options=-v"].map(str::to_owned).to_vec(),
    }
}

/// Returns shared memory before a copy.
pub fn untouched() -> Vec<u8> {
    vec![POISON; MEMORY_BYTES]
}
