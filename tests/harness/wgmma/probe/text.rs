//! The smallest kernel around one stage, for the inspection of one product on a device.
//!
//! It copies tiles to shared memory byte by byte, multiplies them a given number of times, and
//! stores the accumulators through their map. It has the synchronization of a main loop's schedule
//! in its source.

use crate::harness::prelude::*;
use core::fmt::Write;
use falchion::{
    internals::fingerprint_assertion,
    warp::wgmma::{FRAGMENT_REGISTERS, FragmentMap, THREADS},
};

falchion::mirrored! {
    /// The parameters of a probe of a warpgroup's product.
    WarpgroupProbeParams {
        /// Address of A's tile, if it has one, followed by B's tile.
        tiles: u64,
        /// Address of A's registers, thread by thread; 0 if A is in shared memory.
        fragments: u64,
        /// Address of the output D, row by row.
        d: u64,
        /// Number of times that the product is added.
        rounds: u32,
        /// Makes the size a multiple of 8 bytes.
        reserved: u32,
    }
}

/// Name of the entry point.
const PROBE_ENTRY: &str = "warpgroup_probe";

/// Bytes of the largest atom. Every tile may begin at its multiples.
const ATOM_BYTES: u32 = SwizzleMode::Bytes128.repeat_bytes();

/// The body, in which `Mma` is the stage. The initial accumulators are NaN or an unlikely number,
/// and must have no effect.
const BODY: &str = r#"  extern __shared__ unsigned char unaligned[];
  unsigned const start = (static_cast<unsigned>(__cvta_generic_to_shared(unaligned)) + kAtom - 1) / kAtom * kAtom;
  unsigned char* const shared = unaligned + (start - static_cast<unsigned>(__cvta_generic_to_shared(unaligned)));
  int const thread = threadIdx.x;
  for (int i = thread; i < kTiles / 16; i += Mma::kThreads)
    reinterpret_cast<uint4*>(shared)[i] = reinterpret_cast<uint4 const*>(params.tiles)[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  Mma::Accumulator d[Mma::kRegisters];
#pragma unroll
  for (int i = 0; i < Mma::kRegisters; ++i) d[i] = poison(d[i]);
#pragma unroll 1
  for (unsigned round = 0; round < params.rounds; ++round) {
    warp::keep(d);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    Mma::multiply(d, a, warp::descriptor<Mma::B>(start + kStartB), round != 0);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    warp::keep(d);
  }
"#;

/// The source of a probe, and the sizes of its tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeText {
    /// The source.
    pub unit: TranslationUnit,
    /// Bytes of A's tile, or 0 if A comes from registers. B's tile follows it.
    pub bytes_a: u32,
    /// Bytes of all threads' registers of A, or 0 if A comes from shared memory.
    pub fragment_bytes: u32,
    /// Bytes of both tiles.
    pub tile_bytes: u32,
    /// Dynamic shared memory of a launch: the tiles, and padding to the alignment of an atom.
    pub shared_bytes: u32,
}

impl ProbeText {
    /// Returns the kernel of a stage. Fingerprints compare the maps of
    /// `kernels/warp/wgmma.cuh` with the maps here while NVRTC compiles.
    pub fn new(mma: &MmaWarpgroup, with_fingerprints: bool) -> Self {
        let (bytes_a, fragment_bytes, a) = match mma.a() {
            OperandA::Shared(tile) => {
                (tile.bytes(), 0, "  auto const a = warp::descriptor<Mma::A>(start);\n".to_owned())
            }
            OperandA::Registers(_) => {
                (0, THREADS * FRAGMENT_REGISTERS * STEPS * 4, LOAD_FRAGMENT.to_owned())
            }
        };
        let tile_bytes = bytes_a + mma.b().bytes();
        let (values, store) = match mma.instruction().accumulator() {
            ElementKind::F16 => ("unsigned short", "(unsigned short)(d[i / 2] >> i % 2 * 16)"),
            ElementKind::I32 => ("int", "d[i]"),
            _ => ("float", "d[i]"),
        };
        let config =
            format!("#pragma once\n{}{}", WarpgroupProbeParams::declaration(), mma.header("Mma"));
        let mut source = "#include \"config.cuh\"\n#include \"warp/wgmma.cuh\"\n".to_owned();
        source.push_str("__device__ __forceinline__ float poison(float) { return __int_as_float(0x7fffffff); }\n");
        source.push_str(
            "template <class T> __device__ __forceinline__ T poison(T) { return T(0x7fffffff); }\n",
        );
        let _ = writeln!(
            source,
            "constexpr int kTiles = {tile_bytes}, kStartB = {bytes_a}, kAtom = {ATOM_BYTES};"
        );
        if with_fingerprints {
            source.push_str(&fingerprints(mma));
        }
        let body = BODY.replacen("  Mma::Accumulator d", &format!("{a}  Mma::Accumulator d"), 1);
        let _ = writeln!(
            source,
            "extern \"C\" __global__ void __launch_bounds__(Mma::kThreads) {PROBE_ENTRY}(const __grid_constant__ WarpgroupProbeParams params) {{\n{body}  using Map = warp::AccumulatorMap<Mma::kN>;\n#pragma unroll\n  for (int i = 0; i < Map::kColumns; ++i) reinterpret_cast<{values}*>(params.d)[Map::at(thread, i)] = {store};\n}}"
        );
        Self {
            unit: TranslationUnit {
                entry: PROBE_ENTRY,
                second: None,
                waits: false,
                source,
                config,
                headers: &[],
            },
            bytes_a,
            fragment_bytes,
            tile_bytes,
            shared_bytes: tile_bytes + ATOM_BYTES,
        }
    }
}

/// Returns the assertions of the maps' fingerprints and of the descriptors in both languages.
fn fingerprints(mma: &MmaWarpgroup) -> String {
    let accumulators = mma.accumulators();
    let fragment = FragmentMap { input: mma.instruction().a() };
    let mut maps: Vec<(String, &dyn IndexMap)> = vec![
        (format!("warp::AccumulatorMap<{}>", accumulators.n()), &accumulators),
        (format!("warp::WarpgroupFragmentMap<{}>", fragment.input.bytes_of(1)), &fragment),
    ];
    let b = mma.b();
    let mut tiles = vec![("Mma::B", b)];
    if let OperandA::Shared(a) = mma.a() {
        tiles.push(("Mma::A", a));
    }
    maps.extend(
        tiles
            .iter()
            .map(|(name, tile)| (format!("warp::OperandTile<{name}>"), tile as &dyn IndexMap)),
    );
    let mut text: String =
        maps.iter().map(|(twin, map)| fingerprint_assertion(twin, twin, *map)).collect();
    for (name, tile) in tiles {
        for (start, mn) in [(0, 0), (0x1_8400, tile.mn() - tile.multiple())] {
            let descriptor = tile.descriptor(start, mn).map_or(0, |descriptor| descriptor.encode());
            let _ = writeln!(
                text,
                "static_assert(warp::descriptor<{name}, {mn}>({start}u) == {descriptor:#x}ull, \"{name}: the Rust descriptor and the CUDA descriptor differ\");"
            );
        }
    }
    text
}

const LOAD_FRAGMENT: &str = "  unsigned a[Mma::kFragmentRegisters];
#pragma unroll
  for (int i = 0; i < Mma::kFragmentRegisters; ++i)
    a[i] = reinterpret_cast<unsigned const*>(params.fragments)[thread * Mma::kFragmentRegisters + i];
";
