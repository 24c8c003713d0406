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

/// The workspace has a slot for each stream-K tile and for each of 264
/// CTAs, two per SM, and 39 tickets per tile.
#[test]
fn the_workspace_has_slots_and_tickets() {
    let simt = kernel(
        ["f32:row"; 3],
        OpKind::Simt,
        &[("decomposition", "streamk"), ("threadblock", "128x128x8")],
    );
    let bytes = |m, n| Partials::new(&simt, (m, n), 1).bytes();
    assert_eq!(simt.most_streams(), 2 * 132);
    let of = |tiles: u64| (tiles + 264) * 128 * 128 * 4 + (tiles * 39 * 4).next_multiple_of(256);
    assert_eq!(
        [bytes(128, 128), bytes(12_800, 128), bytes(12_800, 12_800), bytes(0, 9)],
        [of(1), of(100), of(527), 0]
    );
}

#[test]
fn request_for_split_k_in_a_cluster_is_refused() {
    let knobs = knobs(&[("decomposition", "splitkcluster")]);
    let request =
        Request { op: Some(OpKind::Simt), arch: Some(ArchKind::Sm80), knobs, ..Request::default() };
    let refused = GemmOperation::from_request(&request).message();
    let first = MULTISTAGE_OR_OTHER[0];
    assert_eq!(
        refused,
        format!(
            "decomposition = splitkcluster is not supported by the {first} main loop; try splitk; no kernel was found with this decomposition"
        )
    );
}

/// A type can also pin stream-K: the default keeps its kind of kernel and its configuration.
#[test]
fn a_type_can_pin_stream_k() {
    type Default = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80>;
    type Streams =
        Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, With<Auto, StreamK>>;
    assert!(Streams::DESC.streams_k() && !Default::DESC.streams_k());
    assert_eq!(but!(Streams::DESC, decomposition: DecompositionKind::SplitK), Default::DESC);
    let (m, n, k) = (300, 200, 30);
    let (a, b) = (vec![1.0f32; m * k], vec![2.0f32; k * n]);
    let mut d = vec![f32::NAN; m * n];
    Streams::new().run(Arguments::new((m, n, k), &a, &b, &mut d)).expect("a product");
    assert!(d.iter().all(|&element| element == 60.0));
}
