//! Laws of maps, of the layout algebra, of refusals, and of the source tree. No test runs a GEMM.

#[macro_use]
#[path = "../harness/mod.rs"]
mod harness;

mod arrays;
mod batches;
mod completions;
#[cfg(feature = "cuda")]
mod cubin_cache;
mod emulation_layout;
mod epilogue_vectors;
mod epilogues;
mod group_ranges;
mod groups;
mod house;
mod index_maps;
mod layout_algebra;
mod layouts_of_maps;
mod mma_sync;
mod multistage;
mod numeric_types;
mod pairs;
mod pipelined;
mod public_surface;
mod published_sums;
mod refusals;
mod repack;
mod request_refusals;
mod routes;
mod simt;
mod simt_ring;
mod single_stage;
mod tensor_core_bound;
mod tensor_map;
mod tensor_map_refusals;
mod tma_ring;
mod transpose_garbage;
mod transpose_gathers;
mod transpose_maps;
mod transpose_refusals;
mod unread_arguments;
mod variants;
mod wgmma;
mod work;
