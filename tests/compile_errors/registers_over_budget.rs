//! More blocks a multiprocessor than its registers serve.

use falchion::prelude::*;

type Crowded = With<Auto, BlocksPerSm<4>>;
const _: GemmDesc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Crowded>::DESC;

fn main() {}
