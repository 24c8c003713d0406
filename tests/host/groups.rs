//! Grouped GEMM on the host: each group equals a separate GEMM, and rows without a group do not
//! change.

use crate::harness::{
    groups::{largest, whole},
    prelude::*,
};
use falchion::device::{Host, Space};

/// Returns the elements from `first` on.
fn slice(kind: ElementKind, bytes: &[u8], first: usize) -> HostSlice<'_> {
    Host::read(kind, &bytes[kind.matrix_bytes(first as u64) as usize..], &())
}

/// Runs a problem on a case's memory, from the given first elements.
pub fn run(
    desc: &GemmDesc,
    mode: Mode,
    case: &Grouped,
    (problem, first, row): (&Problem, [usize; 4], usize),
    d: &mut [u8],
) -> Result<(), Error> {
    let types = desc.user_types();
    let matrices = HostMatrices {
        a: slice(types.a, &case.a, first[0]),
        b: slice(types.b, &case.b, first[1]),
        c: problem.c.map(|_| slice(types.c, &case.c, first[2])),
        d: Host::write(types.c, &mut d[types.c.matrix_bytes(first[3] as u64) as usize..], &()),
        operands: EpilogueOperands::by(|kind| {
            let by_rows = kind.side() == Some(OperandKind::A);
            case.operands
                .get(kind)
                .map(|bytes| slice(types.c, bytes, if by_rows { row } else { 0 }))
        }),
    };
    let groups = problem.groups.map(|groups| {
        Groups::new(groups.axis, HostSlice::new::<i32>(bytemuck::cast_slice(&case.offsets)))
    });
    run_in_mode(desc, mode, HostCall { groups, ..problem.with(matrices) })
}

/// Compares grouped GEMM with separate GEMMs in one mode.
fn compare(desc: &GemmDesc, seed: u64, mode: Mode) {
    let case = Grouped::random(desc, seed);
    let (mut together, mut alone) = (case.d.clone(), case.d.clone());
    run(desc, mode, &case, (&case.problem, [0; 4], 0), &mut together)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    for SeparateGemm { problem, first, row } in case.separate_gemms() {
        run(desc, mode, &case, (&problem, first, row), &mut alone)
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    }
    assert!(together == alone && together != case.d, "{seed}: {desc:?}");
}

#[test]
fn groups_equal_separate_gemms() {
    for kernel_kind in
        [KernelKind::Simt, KernelKind::WgmmaRing, KernelKind::MmaSync, KernelKind::SimtRing]
    {
        let wanted =
            Wanted { kernel_kind, largest_tile: largest(kernel_kind), ..Wanted::default() };
        for seed in 0..12 {
            compare(&whole(description(draw(77, seed), wanted)), draw(78, seed), Mode::Fast);
        }
        for seed in 0..2 {
            compare(
                &whole(description(draw(79, seed), wanted)),
                draw(80, seed),
                Mode::Checked { seed },
            );
        }
    }
}

type Rows = HopperRows<Bf16, f32>;

/// Offsets that decrease or exceed D are refused, and so is a list without groups. D does not
/// change.
#[test]
fn bad_offsets_are_refused() {
    let (a, b) = (vec![Bf16::ONE; 8 * 4], vec![Bf16::ONE; 3 * 4 * 5]);
    let mut d = vec![7.0f32; 8 * 5];
    let mut refused = |offsets: &[u32]| {
        let told =
            Rows::new().run(Arguments::new((8, 5, 4), &a, &b, &mut d).groups(offsets)).message();
        assert!(d.iter().all(|&x| x == 7.0), "{told}");
        told
    };
    let said = refused(&[0, 5, 3, 8]);
    assert_eq!(said, "offset 2 of the groups = 3 is outside 5 to 8; try 5");
    let said = refused(&[0, 5, 9]);
    assert_eq!(said, "offset 2 of the groups = 9 is outside 5 to 8; try 8");
    let said = refused(&[9, 9]);
    assert_eq!(said, "offset 0 of the groups = 9 is outside 0 to 8; try 8");
    let said = refused(&[0, 1, 2, 3, 4]);
    assert_eq!(
        said,
        "length of B = 60 elements is less than 80 elements (4 x 5, leading dimension 5, batch of 4, batch stride 20)"
    );
    let cut = Rows::new().with::<SplitK<2>>();
    let told = cut.run(Arguments::new((8, 5, 4), &a, &b, &mut d).groups(&[0, 8])).message();
    assert_eq!(told, "split_k = 2 is not 1 (grouped GEMM keeps K whole); try 1");
}

/// A problem without groups has no result, like an empty batch, so D does not change.
#[test]
fn no_groups_do_not_write_d() {
    let (a, b) = ([Bf16::ONE; 32], [Bf16::ONE; 20]);
    for offsets in [&[][..], &[0], &[3]] {
        let mut d = [7.0f32; 40];
        Rows::new()
            .run(Arguments::new((8, 5, 4), &a, &b, &mut d).groups(offsets))
            .expect("nothing");
        Rows::new()
            .run(Arguments::new((8, 5, 4), &a, &b, &mut d).groups_by_value(offsets))
            .expect("nothing");
        assert_eq!(d, [7.0; 40]);
    }
}

/// If the call states the number of groups, it needs one offset more than groups, with 32 bits
/// each.
#[test]
fn the_number_of_offsets_is_groups_plus_one() {
    let desc = Rows::new().desc();
    let (a, b, mut d) = ([Bf16::ONE; 32], [Bf16::ONE; 60], [7.0f32; 40]);
    let mut said = |offsets: HostSlice<'_>, groups: usize| {
        let problem = Problem::new(&desc, (8, 5, 4), [None; 3], [1.0; 8]).grouped(groups);
        let problem = Problem { scalars: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], ..problem };
        let groups = problem.groups.map(|groups| Groups::new(groups.axis, offsets));
        let call = HostCall { groups, ..problem.with(slices::<Bf16, Bf16, f32>(&a, &b, &mut d)) };
        run_in_mode(&desc, Mode::Fast, call).map_err(|error| error.to_string())
    };
    let offsets = [0i32, 2, 2, 8];
    assert_eq!(said(HostSlice::new::<i32>(&offsets), 3), Ok(()));
    let told = said(HostSlice::new::<i32>(&offsets[..3]), 3).expect_err("three offsets");
    assert_eq!(told, "number of groups = 3 is outside 0 to 2; try 2");
}

/// Offsets by value, and offsets with checking enabled, give the bits and the refusals of a slice,
/// for all containers of operands.
#[test]
fn offsets_by_value_and_checked_offsets_give_the_same_bits() {
    let number = |i: usize| Bf16::from_f32(i as f32);
    let (a, b): (Vec<_>, Vec<_>) =
        ((0..32).map(number).collect(), (0..60).map(|i| number(i % 7)).collect());
    let ran = |given: usize, offsets: &[u32]| {
        let mut d = vec![7.0f32; 8 * 5];
        let arguments = Arguments::new((8, 5, 4), &a, &b, &mut d);
        let arguments = match given {
            0 => arguments.groups(offsets),
            1 => arguments.groups_by_value(offsets),
            _ => arguments.groups_checked(offsets),
        };
        assert_eq!(
            Rows::new()
                .workspace_size(&arguments)
                .map_err(|error| error.to_string())
                .unwrap_or_default(),
            0
        );
        Rows::new().run(arguments).map_err(|error| error.to_string()).map(|()| d)
    };
    for offsets in [&[0, 2, 2, 8][..], &[1, 3, 3, 5], &[8; 4], &[0, 8], &[], &[3]] {
        let ran = [0, 1, 2].map(|given| ran(given, offsets));
        assert!(ran[0].is_ok() && ran.iter().all(|one| *one == ran[0]), "{offsets:?}: {ran:?}");
    }
    for offsets in [&[0, 5, 3, 8][..], &[0, 5, 9], &[9, 9], &[0, 1, 2, 3, 4]] {
        let told = [0, 1, 2].map(|given| ran(given, offsets).expect_err("bad offsets"));
        assert!(told.iter().all(|one| *one == told[0]), "{offsets:?}: {told:?}");
    }
}

/// One B for all groups, K = 0, and empty groups.
#[test]
fn groups_may_share_b_and_be_empty() {
    let (a, b) = (vec![Bf16::ONE; 6 * 4], vec![Bf16::from_f32(2.0); 4 * 3]);
    let mut d = vec![7.0f32; 6 * 3];
    Rows::new()
        .run(Arguments::new((6, 3, 4), &a, &b, &mut d).groups(&[1, 3, 3, 5]).batch_stride_b(0))
        .expect("shared");
    let want: Vec<f32> = (0..18).map(|i| if (3..15).contains(&i) { 8.0 } else { 7.0 }).collect();
    assert_eq!(d, want);
    Rows::new()
        .run(Arguments::new((6, 3, 0), &a, &b, &mut d).groups(&[0, 2, 6]).batch_stride_b(0))
        .expect("no K");
    assert_eq!(d, [0.0; 18]);
    Rows::new()
        .run(Arguments::new((6, 3, 4), &a, &b, &mut d).groups(&[6, 6, 6]).batch_stride_b(0))
        .expect("empty");
    assert_eq!(d, [0.0; 18]);
}

/// Groups consist of the user's rows, for both orders of D.
#[test]
fn groups_consist_of_the_users_rows() {
    assert_eq!(HopperColumns::<Bf16, f32>::DESC.for_groups(Axis::M).work.mode.name(), "grouped-n");
    assert_eq!(Rows::DESC.for_groups(Axis::M).work.mode.name(), "grouped-m");
}
