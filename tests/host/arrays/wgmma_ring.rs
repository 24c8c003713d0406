//! Pointer arrays of kernels with a TMA ring and `wgmma`.

use super::*;
/// Arrays of warp-specialized kernels. In the checked machine, an array is one launch: with and
/// without split-K, in a workspace or in a cluster, and with stores by TMA and by threads.
#[test]
fn warp_specialized_arrays_have_the_bits_of_separate_calls() {
    type Hopper<LC> = HopperK<Bf16, f32, LC>;
    type Bytes = KMajor<i8, i32, RowMajor, i32, TensorOp, Sm90>;
    let rows = Hopper::<RowMajor>::DESC;
    assert_eq!((rows.check(), rows.for_array(7).work.mode), (Ok(()), GemmMode::Array));
    compare::<Bf16, f32>(&rows, (70, 7, 66), 7);
    compare::<Bf16, f32>(&rows.cut(2), (5, 70, 200), 9);
    compare::<Bf16, f32>(&but!(rows, align_c: 1), (5, 9, 40), 8);
    compare::<Bf16, f32>(
        &Hopper::<ColMajor>::new().epilogue::<WithVectors>().desc(),
        (9, 66, 3),
        7,
    );
    compare::<i8, i32>(&Bytes::DESC, (3, 131, 33), 8);
    let machine = ArchKind::Sm90.machine();
    let of_clusters =
        Hopper::<RowMajor>::new().desc_for(&ProblemSize::new((16, 2112, 7168)), &machine);
    assert!(of_clusters.cuts_by_cluster());
    compare::<Bf16, f32>(&of_clusters, (7, 130, 200), 3);
}

/// A pass decomposes the operands of emulated f32.
#[test]
fn arrays_with_a_pass_are_refused() {
    let mut emulated = HopperK::<f32, f32>::DESC;
    assert_eq!(emulated.for_array(9), emulated);
    emulated.work.mode = GemmMode::Array;
    let said = emulated.check().message();
    assert_eq!(said, "mode = array is not supported by kernels with a pass; try gemm");
}

/// Wrong positions and addresses of a GEMM are found.
#[test]
fn mutated_records_are_found() {
    type Hopper = HopperK<Bf16, f32>;
    for desc in [Hopper::DESC, but!(Hopper::DESC, align_c: 1), Hopper::DESC.cut(2)] {
        let desc = desc.for_array(7);
        let program = WarpSpecializedProgram::new(&desc).expect("a kernel");
        let of = Products::<Bf16, f32>::new(&desc, (5, 7, 140), 7, From::Own);
        let run = |program: &WarpSpecializedProgram| {
            let mut d = of.d.clone();
            run_in_mode(&Array(program), CHECKED, of.calls(&mut d)).map(|()| bytes(&d))
        };
        let further: Misplace = |map, _| {
            mutate(map, |map, x| Some(map.at(x)? + u32::from(x.column > 3)));
        };
        every_misplacement_is_found(
            (&program, 7),
            |program| (&mut program.records, &mut program.units),
            ("positions are one word too far", further),
            run,
        );
    }
}
