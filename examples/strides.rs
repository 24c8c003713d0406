//! Matrices that are not packed: a submatrix, a transposed operand, and a C that D replaces.
//!
//! Run the example with `cargo run --release --example strides`.

use falchion::prelude::*;

fn main() -> Result<(), falchion::Error> {
    let gemm = Gemm::<f32>::new();

    // A 4 x 6 row-major matrix: element (i, j) is 10 i + j.
    let whole: Vec<f32> = (0..24).map(|x| (10 * (x / 6) + x % 6) as f32).collect();
    let identity = [1.0f32, 0.0, 0.0, 1.0];

    // A is rows 1 to 2, columns 3 to 4. A begins at element (1, 3). The row pitch is 6 elements.
    let mut d = [0.0f32; 4];
    gemm.run(Arguments::new((2, 2, 2), &whole[9..], &identity, &mut d).lda(6))?;
    assert_eq!(d, [13.0, 14.0, 23.0, 24.0]);

    // A is the transpose of the submatrix, with swapped strides.
    gemm.run(Arguments::new((2, 2, 2), &whole[9..], &identity, &mut d).strides_a(1, 6))?;
    assert_eq!(d, [13.0, 23.0, 14.0, 24.0]);

    // BLAS: D = alpha * A * B + beta * D. The kernel writes 2 of the 3 elements per row of D.
    let mut padded = [1.0f32; 6];
    let arguments = Arguments::new((2, 2, 2), &identity, &identity, &mut padded);
    gemm.run(arguments.alpha(2.0).in_place(10.0).ldd(3))?;
    assert_eq!(padded, [12.0, 10.0, 1.0, 10.0, 12.0, 1.0]);

    println!("{d:?} {padded:?}");
    Ok(())
}
