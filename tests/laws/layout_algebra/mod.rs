//! Laws of the layout algebra: CuTe's documented examples, random layouts, and every small layout.

mod bounds;
mod composition_laws;
mod documented;
mod every_small;
mod offsets;
mod random_layouts;
mod speed;
mod tiling_laws;
