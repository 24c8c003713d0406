//! Saturating integer sums: the device saturates as the host does, which implements PTX's
//! `.satfinite`.

use super::run::device;
use crate::harness::prelude::*;
use falchion::nest::{Saturate, SplitK};

type Products =
    KMajor<i8, i32, RowMajor, i32, TensorOp, Sm90, With<With<Auto, Saturate>, SplitK<1>>>;
type Wrapping = KMajor<i8, i32, RowMajor, i32, TensorOp, Sm90, With<Auto, SplitK<1>>>;

/// Sums that leave the range, stay outside, and return. The steps are smaller than the products of
/// one instruction, so a sum that saturates more often than once per instruction differs.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn saturating_sums_have_the_bits_of_the_host() {
    let (m, n, k) = (48, 40, 160_000);
    let element = |at: usize, side: usize| {
        let (mn, k) = (at / k, at % k);
        match (side, k < 140_000) {
            (0, true) => [-128, 127, -127][mn % 3],
            // Products of both signs within an instruction.
            (0, false) => [127, -128, ((k * (mn + 3)) % 251) as i8][mn % 3],
            _ => [-128, 127, -126, 126, (k % 127) as i8][mn % 5],
        }
    };
    let (a, b): (Vec<i8>, Vec<i8>) = (
        (0..m * k).map(|at| element(at, 0)).collect(),
        (0..n * k).map(|at| element(at, 1)).collect(),
    );
    let [mut host, mut wrapped] = [vec![0; m * n], vec![0; m * n]];
    Products::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut host))
        .expect("the host computes it");
    Wrapping::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut wrapped))
        .expect("the host computes it");
    assert!(host.iter().zip(&wrapped).filter(|(x, y)| x != y).count() > m * n / 3);
    let (_context, stream) = device();
    let copied = |x: &[i8]| stream.clone_htod(x).expect("device memory");
    let (a, b, mut d) =
        (copied(&a), copied(&b), stream.alloc_zeros::<i32>(m * n).expect("device memory"));
    Products::new().run(Arguments::new((m, n, k), &a, &b, &mut d)).expect("the device computes it");
    assert_eq!(stream.clone_dtoh(&d).expect("D is copied back"), host);
}
