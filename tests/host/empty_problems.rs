//! Empty problems: K = 0, an empty batch, alpha = 0, and no rows. D has the defined value for any
//! operands, and no call fails halfway.

use crate::harness::prelude::*;

type Rows = HopperRows<Bf16, f32>;

/// Batches and grouped GEMMs with K = 0 or alpha = 0: A and B may be empty, or too short for the
/// second matrix.
#[test]
fn operands_that_are_not_read_may_be_empty() {
    let c: Vec<f32> = (0..18).map(|i| i as f32).collect();
    let doubled: Vec<f32> = c.iter().map(|x| 2.0 * x).collect();
    for length in [0, 1, 10] {
        let (a, b) = (vec![Bf16::NAN; length], vec![Bf16::NAN; length]);
        let mut d = vec![7.0f32; 18];
        Rows::new().run(Arguments::new((2, 3, 0), &a, &b, &mut d).batch(3)).expect("no K");
        assert_eq!(d, [0.0; 18]);
        let arguments =
            Arguments::new((2, 3, 5), &a, &b, &mut d).batch(3).alpha(0.0).source(2.0, &c);
        Rows::new().run(arguments).expect("alpha is 0");
        assert_eq!(d, doubled);
        let groups = [0u32, 1, 1, 6];
        Rows::new().run(Arguments::new((6, 3, 0), &a, &b, &mut d).groups(&groups)).expect("no K");
        assert_eq!(d, [0.0; 18]);
        let arguments =
            Arguments::new((6, 3, 5), &a, &b, &mut d).groups(&groups).alpha(0.0).source(2.0, &c);
        Rows::new().run(arguments).expect("alpha is 0");
        assert_eq!(d, doubled);
        // Their leading dimensions are not read either.
        let arguments = Arguments::new((6, 3, 5), &a, &b, &mut d)
            .groups(&groups)
            .alpha(0.0)
            .lda(usize::MAX / 2)
            .ldb(usize::MAX);
        Rows::new().run(arguments.source(1.0, &c)).expect("alpha is 0");
        assert_eq!(d, c);
    }
    let types = ["bf16:row", "bf16:row", "f32:row"];
    let by_values = Request { arch: Some(ArchKind::Sm90), ..request(types, &[]) };
    let by_values = GemmOperation::from_request(&by_values).unwrap();
    let (bytes, mut d) = (Vec::<u8>::new(), vec![7.0f32; 6]);
    let [a, b] = [(); 2].map(|()| AnySlice::from_bytes(ElementKind::Bf16, &bytes));
    by_values.run(Arguments::new((2, 3, 0), a, b, AnySliceMut::new::<f32>(&mut d))).expect("no K");
    assert_eq!(d, [0.0; 6]);
}

/// An empty batch computes nothing, in both modes, for every kind of kernel and every decomposition
/// of K.
#[test]
fn an_empty_batch_computes_nothing() {
    let [f32s, halves] = [["f32:row"; 3], ["bf16:row", "bf16:col", "f32:row"]];
    type Row<'a> = (KernelKind, [&'a str; 3], WarpMmaKind, &'a str, &'a [(&'a str, &'a str)]);
    let ring = &[("mainloop", "warpspecialized"), ("schedule", "cooperative")];
    let rows: &[Row<'_>] = &[
        (KernelKind::Simt, f32s, WarpMmaKind::Simt, "sm80", &[]),
        (KernelKind::Simt, f32s, WarpMmaKind::Simt, "sm80", &[("decomposition", "streamk")]),
        (KernelKind::SimtRing, f32s, WarpMmaKind::Simt, "sm90", ring),
        (KernelKind::MmaSync, halves, WarpMmaKind::MmaSync, "sm80", &[]),
        (KernelKind::WgmmaRing, halves, WarpMmaKind::Wgmma, "sm90", &[("schedule", "pingpong")]),
        (
            KernelKind::WgmmaRing,
            halves,
            WarpMmaKind::Wgmma,
            "sm90",
            &[("decomposition", "streamk")],
        ),
        (KernelKind::WgmmaRing, f32s, WarpMmaKind::Wgmma, "sm90", &[("emulation", "bf16x3")]),
        (KernelKind::WgmmaRing, f32s, WarpMmaKind::Wgmma, "sm90", &[("emulation", "f16x3")]),
    ];
    for &(_, types, mma, arch, knobs) in rows {
        let units = (op_of(mma), arch.parse().expect("an architecture"));
        let desc = described(types, units, knobs);
        for mode in [Mode::Fast, Mode::Checked { seed: 3 }] {
            for extents in [(4, 4, 4), (200_000, 3, 200_000)] {
                let problem =
                    Problem { batch: 0, ..Problem::new(&desc, extents, [None; 3], PLAIN) };
                let matrices = match desc.user_types().a {
                    ElementKind::Bf16 => slices::<Bf16, Bf16, f32>(&[], &[], &mut []),
                    _ => slices::<f32, f32, f32>(&[], &[], &mut []),
                };
                run_in_mode(&desc, mode, problem.with(matrices))
                    .unwrap_or_else(|error| panic!("{error}: {desc:?}"));
            }
        }
    }
}

/// Offsets are checked even if D is empty, and grouped GEMM does not support a batch.
#[test]
fn offsets_of_an_empty_d_are_checked() {
    let (a, b, mut d) = (vec![Bf16::ONE; 40], vec![Bf16::ONE; 60], Vec::<f32>::new());
    for (extents, offsets) in
        [((0, 3, 5), [0u32, 9, 1]), ((2, 0, 5), [3, 1, 0]), ((0, 0, 0), [0, 0, 1])]
    {
        for given in 0..3 {
            let arguments = Arguments::new(extents, &a, &b, &mut d);
            let arguments = match given {
                0 => arguments.groups(&offsets),
                1 => arguments.groups_by_value(&offsets),
                _ => arguments.groups_checked(&offsets),
            };
            let told = Rows::new().run(arguments).message();
            assert!(
                told.contains("of the groups = ")
                    && (told.contains(" is outside ") || told.contains(" is not ")),
                "{told}"
            );
        }
    }
    let mut d = vec![7.0f32; 6];
    for batch in [0, 3] {
        let arguments = Arguments::new((2, 3, 5), &a, &b, &mut d).groups(&[0, 1, 2]).batch(batch);
        let told = Rows::new().can_implement(&arguments).message();
        assert!(told.starts_with("batch is not supported by grouped GEMM"), "{told}");
        assert_eq!(Rows::new().run(arguments).message(), told);
    }
    Rows::new()
        .run(Arguments::new((2, 3, 5), &a, &b, &mut d).groups(&[0, 1, 2]).batch(1))
        .expect("groups");
    assert_eq!(d, [5.0; 6]);
}
