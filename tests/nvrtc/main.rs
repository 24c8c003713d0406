//! Kernels under NVRTC. Each test needs the library and no GPU: `FALCHION_NVRTC=<folder> cargo test
//! --test nvrtc -- --ignored`.

#[macro_use]
#[path = "../harness/mod.rs"]
mod harness;

mod cute_gemm;
mod f32_accurate;
mod gate;
mod grids;
mod kernels;
mod ladder;
mod library;
mod records;
mod repack;
mod sass;
mod tensor_map;
mod tma_ring;
mod transpose;
mod wgmma;
