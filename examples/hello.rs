//! The smallest GEMM: D = A * B on the CPU, with packed row-major matrices.
//!
//! Run the example with `cargo run --release --example hello`.

fn main() -> Result<(), falchion::Error> {
    // A is 2 x 3, B is 3 x 2, and D is 2 x 2.
    let a = [[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let b = [[1.0f32, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let mut d = [[0.0f32; 2]; 2];

    falchion::gemm(&a, &b, &mut d)?;

    println!("{d:?}");
    assert_eq!(d, [[4.0, 5.0], [10.0, 11.0]]);
    Ok(())
}
