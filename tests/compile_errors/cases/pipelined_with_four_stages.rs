//! Four stages on an architecture whose main loop has two.

use falchion::prelude::*;

type Four = With<Auto, Stages<4>>;
const _: GemmDesc =
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm70, Four>::checked();

fn main() {}
