//! Stream-K of SIMT kernels.

use super::*;

/// Sums that round have the same bits in both modes, also in a batch. Each tile has its own slices.
#[test]
fn both_modes_add_stream_k_slices_in_the_same_order() {
    let call = |desc: &GemmDesc, (extents, batch), [a, b]: [&[f32]; 2], d: &mut [f32], mode| {
        let problem = Problem { batch, ..Problem::new(desc, extents, [None; 3], PLAIN) };
        let call = problem.with(slices::<f32, f32, f32>(a, b, d));
        run_in_mode(&program(desc, 5), mode, call).expect("a product");
    };
    let ring = sliced_in(WarpMmaKind::Simt, MULTISTAGE_OR_OTHER[0]);
    let double = sliced_in(WarpMmaKind::Simt, THROUGH_REGISTERS[0]);
    for (desc, batch) in [(double, 1), (ring, 1), (ring.for_batch(3), 3)] {
        for extents @ (m, n, k) in [(130, 190, 500), (64, 64, 700), (200, 300, 33)] {
            let (a, b): (Vec<f32>, Vec<f32>) = (
                (0..batch * m * k).map(rounding).collect(),
                (0..batch * k * n).map(|i| rounding(3 * i + 1)).collect(),
            );
            let [checked, fast] = [CHECKED, Mode::Fast].map(|mode| {
                let mut d = vec![f32::NAN; batch * m * n];
                call(&desc, (extents, batch), [&a, &b], &mut d, mode);
                d
            });
            assert!(
                checked.iter().all(|x| x.is_finite()) && checked == fast,
                "{extents:?} of {desc:?}"
            );
            // Without stream-K, D has other bits, except at k = 33.
            let whole = but!(desc, decomposition: DecompositionKind::SplitK);
            let mut d = vec![f32::NAN; batch * m * n];
            call(&whole, (extents, batch), [&a, &b], &mut d, Mode::Fast);
            assert!((d == fast) == (k == 33), "{extents:?} of {desc:?}");
        }
    }
}
