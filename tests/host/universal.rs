//! `GemmUniversal` on each machine: its units and instructions, and results on the host that equal
//! those of a `Gemm` with the same types.

use crate::harness::prelude::*;

/// Returns the machine of an architecture, with another compute capability.
fn machine(arch: ArchKind, sm: u32) -> Machine {
    Machine { sm, ..arch.machine() }
}

/// Checks units and architecture on machines of each compute capability.
macro_rules! on_each {
    ($($gemm:ty),*) => {
        [$({
            let gemm = <$gemm>::new();
            [70, 75, 80, 86, 89, 90, 100, 120].map(|sm| {
                let arch = ArchKind::newest_of(sm).expect("a tag");
                let desc = gemm.on(Some(&machine(arch, sm))).map(|operation| operation.desc());
                desc.map(|desc| (desc.op(), desc.arch)).map_err(|refusal| refusal.to_string())
            })
        }),*]
    };
}

#[test]
fn each_machine_selects_its_units_and_instructions() {
    use ArchKind::*;
    use OpKind::*;
    type Universal<A, B = A, C = A> = GemmUniversal<A, RowMajor, B, ColMajor, C, RowMajor>;
    let [f32, f64, f16, i32, tf32] = on_each![Universal<f32>, Universal<f64>, Universal<F16>, Universal<i32>, Universal<Tf32, Tf32, f32>];
    let archs = [Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, Sm89, Sm89];
    // True f32, and types that no tensor core multiplies, use CUDA cores everywhere.
    assert_eq!(f32, archs.map(|arch| Ok((Simt, arch))));
    assert_eq!(i32, archs.map(|arch| Ok((Simt, arch))));
    let is_on_tensor_cores =
        |element, arch| first_tensor_cores(element).is_some_and(|first| arch >= first);
    for (units, element) in [(f16, ElementKind::F16), (f64, ElementKind::F64)] {
        let op = |arch| if is_on_tensor_cores(element, arch) { TensorOp } else { Simt };
        assert_eq!(units, archs.map(|arch| Ok((op(arch), arch))));
    }
    // Types that only tensor cores multiply are refused on machines without them.
    let first = first_tensor_cores(ElementKind::Tf32).expect("tensor cores");
    for (units, arch) in tf32.into_iter().zip(archs) {
        let refused = format!(
            "no kernel multiplies tf32 by tf32 accumulating in f32 into f32 on tensor cores ({arch}); try arch = {first}"
        );
        let has = is_on_tensor_cores(ElementKind::Tf32, arch);
        assert_eq!(units, if has { Ok((TensorOp, arch)) } else { Err(refused) });
    }
}

/// An operator resolves each architecture once. Another epilogue is another operator.
#[test]
fn native_operators_keep_their_configurations() {
    let gemm = GemmUniversal::<Bf16, RowMajor, Bf16, ColMajor, f32, ColMajor>::new();
    let on = |sm| machine(ArchKind::Sm90, sm);
    let [one, same, other] = [90, 90, 89].map(|sm| gemm.on(Some(&on(sm))).expect("an operation"));
    assert_eq!([same.desc(), other.desc()].map(|desc| desc == one.desc()), [true, false]);
    let relu = gemm.epilogue::<Relu<Scaled<Alpha, Acc>>>().on(Some(&on(90))).expect("an operation");
    assert_ne!(relu.desc().epilogue, one.desc().epilogue);
    // A problem selects the configuration that it selects for the `Gemm` with those units.
    let size = ProblemSize::new((1000, 1000, 1000));
    let hopper = HopperK::<Bf16, f32, ColMajor>::new();
    let wanted = hopper.desc_for(&size, &on(90));
    assert_eq!([one.desc_for(&size, &on(90)), gemm.desc_for(&size, &on(90))], [wanted; 2]);
}

/// On the host, bits equal those of the `Gemm` of the same types, with the SIMT description.
#[test]
fn host_results_equal_those_of_a_typed_gemm() {
    let (m, n, k) = (37, 29, 53);
    let number = |i: usize| ((i * 7919 % 1009) as f32 - 500.0) / 97.0;
    let (a, b): (Vec<f32>, Vec<f32>) =
        ((0..m * k).map(number).collect(), (0..k * n).map(|i| number(3 * i + 1)).collect());
    let [mut one, mut other, mut wanted] =
        [const { Vec::new() }; 3].map(|_: Vec<f32>| vec![f32::NAN; m * n]);
    let (x, y) = (MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)));
    falchion::gemm(x, y, MatMut::new(&mut one, (m, n))).expect("a product");
    GemmUniversal::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut other))
        .expect("a product");
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut wanted))
        .expect("a product");
    assert!(one == wanted && other == wanted && wanted.iter().all(|x| x.is_finite()));
}

/// Batches, groups, and refusals: a slice that is too short is named.
#[test]
fn native_operators_support_batches_and_groups() {
    let gemm = GemmUniversal::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let (a, b, mut d) = (vec![1.0f32; 24], vec![2.0f32; 40], vec![f32::NAN; 30]);
    gemm.batched(Arguments::new((3, 5, 4), &a, &b, &mut d), 2).expect("a batch");
    assert_eq!(d, [8.0; 30]);
    d.fill(f32::NAN);
    gemm.grouped(Arguments::new((6, 5, 4), &a, &b, &mut d), &[0u32, 2, 6]).expect("groups");
    assert_eq!(d, [8.0; 30]);
    let mut short = vec![0.0f32; 29];
    let (x, y) = (MatRef::new(&a, (6, 4)), MatRef::new(&b[..20], (4, 5)));
    let said = falchion::gemm(x, y, MatMut::new(&mut short, (6, 5))).message();
    assert_eq!(
        said,
        "length of D = 29 elements is less than 30 elements (6 x 5, leading dimension 5)"
    );
    assert_eq!(gemm.workspace_size(&Arguments::new((6, 5, 4), &a, &b, &mut d)).expect("bytes"), 0);
}

#[test]
fn an_operator_converts_only_to_its_element_types() {
    let f32 = MatrixType::row(ElementKind::F32);
    let operation = GemmOperation::new(f32, f32, f32).expect("a kernel");
    assert!(operation.typed::<f32, f32, f32>().is_ok());
    let refused = operation.typed::<f32, f64, f32>().expect_err("B has f32 elements");
    let (given, wanted) = (ElementKind::F64, ElementKind::F32);
    assert_eq!(refused, Refusal::element_type(Operand::B, given, wanted));
}
