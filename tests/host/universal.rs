//! `GemmUniversal` on each machine: its units and instructions, and results on the host that equal
//! those of a `Gemm` with the same types.

use crate::harness::prelude::*;

/// Returns the machine of an architecture, with another compute capability.
pub(super) fn machine(arch: ArchKind, sm: u32) -> Machine {
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
pub(super) use on_each;

pub(super) type Universal<A, B = A, C = A> = GemmUniversal<A, RowMajor, B, ColMajor, C, RowMajor>;

/// Newest architecture tags of the machines of [`on_each`].
pub(super) const ARCHS: [ArchKind; 8] = {
    use ArchKind::*;
    [Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, Sm89, Sm89]
};

pub(super) fn is_on_tensor_cores(element: ElementKind, arch: ArchKind) -> bool {
    first_tensor_cores(element).is_some_and(|first| arch >= first)
}

/// Types that only tensor cores multiply are refused on machines without them.
#[test]
fn each_machine_selects_its_instructions_of_tensor_cores() {
    let [tf32] = on_each![Universal<Tf32, Tf32, f32>];
    let first = first_tensor_cores(ElementKind::Tf32).expect("tensor cores");
    for (units, arch) in tf32.into_iter().zip(ARCHS) {
        let refused = format!(
            "no kernel multiplies tf32 by tf32 accumulating in f32 into f32 on tensor cores ({arch}); try arch = {first}"
        );
        let has = is_on_tensor_cores(ElementKind::Tf32, arch);
        assert_eq!(units, if has { Ok((OpKind::TensorOp, arch)) } else { Err(refused) });
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
