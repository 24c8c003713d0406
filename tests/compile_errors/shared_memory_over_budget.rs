//! More stages than fit into shared memory.

use falchion::prelude::*;

type Deep = WithStages<Auto, 9>;
const _: GemmDesc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Deep>::DESC;

fn main() {}
