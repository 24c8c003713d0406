//! Laws of SIMT kernels.

mod arrays;
mod batches;
mod completions;
mod epilogue_functions;
mod epilogue_vectors;
mod index_maps;
mod json;
mod public_surface;
pub(super) mod refusals;
mod request_refusals;
mod routes;
