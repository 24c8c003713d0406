//! The ring and its roles on a device: stages, phases, ranks, and subtiles are correct over many
//! tiles.
//!
//! `cargo test --test gpu ring -- --ignored --nocapture`

use crate::harness::{
    prelude::*,
    tma_ring::kernel::{compile, *},
};
use cudarc::driver::sys;

/// Launch parameters of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct Arguments {
    a: u64,
    b: u64,
    d: u64,
    tiles: u32,
    k_tiles: u32,
}

#[allow(unsafe_code, reason = "cudarc requires an unsafe impl for kernel parameters")]
// SAFETY: plain numbers, in the order and sizes of the kernel's struct.
unsafe impl DeviceRepr for Arguments {}

const BLOCKS: u32 = 132;
/// Accumulators of a subtile: 128 threads with 8 each.
const SLICE: usize = 1024;
/// Depth of a k-tile.
const DEPTH: f32 = 64.0;

/// Returns the value of constant `i` of A or of B.
fn value(i: u32, b: bool) -> f32 {
    (if b { i * 3 % 11 } else { i % 13 }) as f32 - 5.0
}

/// Returns the constants of all stages in bf16, which is the upper half of f32.
fn constants(bytes: u32, b: bool) -> Vec<u16> {
    (0..CONSTANTS)
        .flat_map(|i| vec![(value(i, b).to_bits() >> 16) as u16; bytes as usize / 2])
        .collect()
}

/// Returns the value of each element of a CTA's tile of D.
fn wanted(ring: &Pipeline, block: u32, tile: u32, k_tiles: u32) -> f32 {
    let owner = |operand| if ring.shares(operand) > 1 { block / ring.blocks() } else { block };
    let (a, b) = (owner(OperandKind::A), owner(OperandKind::B) + 1);
    (0..k_tiles)
        .map(|k| DEPTH * value(constant(a, tile, k), false) * value(constant(b, tile, k), true))
        .sum()
}

#[allow(unsafe_code, reason = "a launch")]
fn run(context: &Arc<CudaContext>, ring: &Pipeline, pending: u8, works: &[(u32, u32)]) {
    let options = options(pending);
    let stream = context.default_stream();
    let module =
        context.load_module(Ptx::from_binary(compile(ring, &options).image)).expect("a module");
    let function = module.load_function("ring").expect("a kernel");
    let shared = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    function.set_attribute(shared, ring.shared_bytes() as i32).expect("shared memory");
    let a = stream.clone_htod(&constants(ring.stage_bytes[0], false)).expect("device memory");
    let b = stream.clone_htod(&constants(ring.stage_bytes[1], true)).expect("device memory");
    for &(tiles, k_tiles) in works {
        let length = (BLOCKS * tiles * ring.consumers * SLICES) as usize * SLICE;
        let mut d = stream.clone_htod(&vec![f32::NAN; length]).expect("device memory");
        {
            let (a, _a) = a.device_ptr(&stream);
            let (b, _b) = b.device_ptr(&stream);
            let (d, _d) = d.device_ptr_mut(&stream);
            let arguments = Arguments { a, b, d, tiles, k_tiles };
            let launch = LaunchConfig {
                grid_dim: (BLOCKS, 1, 1),
                block_dim: (ring.threads(), 1, 1),
                shared_mem_bytes: ring.shared_bytes(),
            };
            // SAFETY: the kernel reads the constants, and writes each subtile of D once. Both
            // buffers have the lengths that the kernel uses.
            unsafe { stream.launch_builder(&function).arg(&arguments).launch(launch) }
                .expect("a launch");
        }
        let found = stream.clone_dtoh(&d).expect("a copy");
        for (i, part) in (0..).zip(found.chunks_exact((ring.consumers * SLICES) as usize * SLICE)) {
            let (block, tile) = (i / tiles, i % tiles);
            let wanted = wanted(ring, block, tile, k_tiles);
            if let Some(at) = part.iter().position(|sum| *sum != wanted) {
                panic!(
                    "{ring:?}, {pending} pending, block {block}, tile {tile} of {tiles}, {k_tiles} along K: {} at {at}, wanted {wanted}",
                    part[at]
                );
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_ring_is_correct_on_a_device() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let works = [(1, 0), (1, 1), (3, 0), (2, 1), (5, 3), (4, 7), (1, 20), (5, 20), (40, 5)];
    let (mut kernels, start) = (0, Instant::now());
    for stages in 2..=7 {
        for pending in [0, 1] {
            for shared in [None, Some(OperandKind::A), Some(OperandKind::B)] {
                let multicast = shared.map(|operand| SharedOperand { operand, blocks: 2 });
                run(&context, &ring(stages, multicast), pending, &works);
                kernels += 1;
            }
        }
    }
    println!(
        "{kernels} kernels, {} launches, {:.1} s",
        kernels * works.len(),
        start.elapsed().as_secs_f64()
    );
}
