//! A matrix transpose, and a transpose that scales and adds.
//!
//! Run the example with `cargo run --release --example transpose`. With device slices, the same
//! code runs on a GPU.

use falchion::prelude::*;

fn main() -> Result<(), falchion::Error> {
    // A is 2 x 3, so D is 3 x 2. The element type may be any type of 1, 2, 4, or 8 bytes.
    let a = [1u8, 2, 3, 4, 5, 6];
    let mut d = [0u8; 6];
    Transpose::<u8>::new().run(Arguments::transpose((2, 3), &a, &mut d))?;
    assert_eq!(d, [1, 4, 2, 5, 3, 6]);

    // Transposes of f32 and f64 can scale and add: D = 2 * A^T - D.
    let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut d = [1.0f32; 6];
    let arguments = Arguments::transpose((2, 3), &a, &mut d).alpha(2.0).in_place(-1.0);
    Transpose::<f32>::new().run(arguments)?;
    assert_eq!(d, [1.0, 7.0, 3.0, 9.0, 5.0, 11.0]);

    println!("{d:?}");
    Ok(())
}
