//! A two-layer perceptron with bias and activation fused into the GEMMs.
//!
//! Run the example with `cargo run --release --example mlp`. With device slices, the same code
//! runs on a GPU.

use falchion::{
    epilogue::{Acc, Add, BiasN, Relu},
    prelude::*,
};

/// An `f32` layer with row-major activations and weights.
type Layer = Gemm<f32>;

fn main() -> Result<(), falchion::Error> {
    let (batch, inputs, hidden, outputs) = (4, 3, 8, 2);
    let x: Vec<f32> = (0..batch * inputs).map(|i| i as f32 - 5.0).collect();
    let w1 = vec![0.5f32; inputs * hidden];
    let w2 = vec![0.25f32; hidden * outputs];
    let (bias1, bias2) = (vec![1.0f32; hidden], [10.0f32, 20.0]);

    // The epilogue is an expression over the accumulator: relu(acc + bias) and acc + bias.
    let first = Layer::new().epilogue::<Relu<Add<Acc, BiasN>>>();
    let second = Layer::new().epilogue::<Add<Acc, BiasN>>();

    let mut h = vec![0.0f32; batch * hidden];
    let mut y = vec![0.0f32; batch * outputs];
    first.run(Arguments::new((batch, hidden, inputs), &x, &w1, &mut h).bias_n(&bias1))?;
    second.run(Arguments::new((batch, outputs, hidden), &h, &w2, &mut y).bias_n(&bias2))?;

    println!("{y:?}");
    // Row 0 of x sums to -12, so row 0 of h is 0. Row 3 of h is 8.5, and 8 * 0.25 * 8.5 is 17.
    assert_eq!(y[..2], [10.0, 20.0]);
    assert_eq!(y[6..], [27.0, 37.0]);
    Ok(())
}
