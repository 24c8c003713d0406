//! The layout algebra: what CuTe documents, laws, and every small layout.

mod bounds;
mod composition_laws;
mod documented;
mod drawn;
mod every_small;
mod speed;
mod tiling_laws;
