//! Grouped GEMM for a mixture of experts: each group of rows of A uses its own B.
//!
//! Run the example with `cargo run --release --example moe`.

use falchion::prelude::*;

fn main() -> Result<(), falchion::Error> {
    // The six tokens are in the order of their experts. Expert 1 has no tokens.
    let (tokens, features, hidden) = (6, 4, 3);
    let offsets = [0u32, 2, 2, 6];
    let experts = offsets.len() - 1;

    let x = vec![1.0f32; tokens * features];
    // The weights of expert e are all e + 1. The matrices are contiguous.
    let weights: Vec<f32> =
        (0..experts).flat_map(|expert| vec![expert as f32 + 1.0; features * hidden]).collect();
    let mut y = vec![0.0f32; tokens * hidden];

    // Expert e multiplies rows offsets[e] to offsets[e + 1] of x by its weights. A GPU reads
    // offsets from a device slice, which an earlier kernel may write.
    let gemm = Gemm::<f32>::new();
    gemm.grouped(Arguments::new((tokens, hidden, features), &x, &weights, &mut y), &offsets)?;

    for (token, row) in y.chunks(hidden).enumerate() {
        println!("token {token}: {row:?}");
    }
    assert_eq!(y[..6], [4.0; 6]);
    assert_eq!(y[6..], [12.0; 12]);
    Ok(())
}
