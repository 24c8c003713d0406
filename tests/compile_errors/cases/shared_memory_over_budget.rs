//! More stages than fit into shared memory.

use falchion::prelude::*;

/// The tile is spelled out, so that the sentence does not depend on the defaults.
type Tile = With<With<Auto, Warp<GemmShape<32, 64, 8>>>, Threadblock<GemmShape<128, 128, 8>>>;
type Deep = With<With<Tile, BlocksPerSm<2>>, Stages<16>>;
const _: GemmDesc =
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Deep>::checked();

fn main() {}
