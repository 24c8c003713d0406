//! The layout algebra: what CuTe documents, laws, and every small layout.

mod bounds;
mod composition_laws;
mod documented;
mod every_small;
mod offsets;
mod random_layouts;
mod speed;
mod tiling_laws;
