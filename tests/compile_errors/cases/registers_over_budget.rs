//! More blocks a multiprocessor than its registers serve.

use falchion::prelude::*;

/// The tile is spelled out, so that the sentence does not depend on the defaults.
type Tile = With<With<Auto, Warp<GemmShape<32, 64, 8>>>, Threadblock<GemmShape<128, 128, 8>>>;
type Crowded = With<Tile, BlocksPerSm<4>>;
const _: GemmDesc =
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Crowded>::checked();

fn main() {}
