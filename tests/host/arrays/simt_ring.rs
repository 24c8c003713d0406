//! Pointer arrays of TMA-fed SIMT kernels.

use super::*;

#[test]
fn tma_fed_simt_arrays_have_the_bits_of_separate_calls() {
    type Threads = MnMajor<f32, f32, RowMajor, f32, Simt, Sm90, With<Auto, MmaWarpSpecialized>>;
    assert_eq!(Threads::DESC.for_array(7).work.mode, GemmMode::Array);
    compare::<f32, f32>(&Threads::DESC, (5, 9, 40), 7);
}
