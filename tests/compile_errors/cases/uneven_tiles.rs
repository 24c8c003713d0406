//! A warp tile that does not divide the threadblock tile.

use falchion::prelude::*;

type Uneven = With<Auto, MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<48, 64, 8>>, 4>>;

fn main() {
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Uneven>::new();
}
