//! A warp tile that does not divide the threadblock tile.

use falchion::prelude::*;

type Uneven = WithWarp<Auto, GemmShape<48, 64, 8>>;

fn main() {
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Uneven>::new();
}
