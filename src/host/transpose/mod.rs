//! Transposes on the CPU: copies all strips of D in parallel, in blocks that fit into the cache.

pub mod element;
mod fast;
mod run;
