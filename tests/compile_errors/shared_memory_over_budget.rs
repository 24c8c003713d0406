//! More stages than fit into shared memory.

use falchion::prelude::*;

/// The tile is spelled out, so that the sentence does not depend on the defaults.
type Tile = WithThreadblock<WithWarp<Auto, GemmShape<32, 64, 8>>, GemmShape<128, 128, 8>>;
type Deep = WithStages<With<Tile, BlocksPerSm<2>>, 16>;
const _: GemmDesc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Deep>::DESC;

fn main() {}
