//! The layout algebra: what CuTe documents, laws, and every small layout.

mod documented;
