//! Refusals, completions, and the default of SIMT kernels with the multistage main loop.

mod pipelined;

use crate::{
    completions::each,
    harness::{completions::classes, prelude::*, random_cases},
    refusals::{ROWS, are_refused},
};

/// Returns a changed description with a ring of asynchronous copies.
fn ring(change: impl FnOnce(&mut Changed)) -> Changed {
    let mut d = Changed::new(random_cases::ring(ROWS));
    change(&mut d);
    d
}

/// Returns the default with other types, copied asynchronously.
fn ring_of(kind: ElementKind, orders: [Order; 3], align: u32) -> GemmDesc {
    let accumulator = if kind.is_integer() { ElementKind::I32 } else { ElementKind::F32 };
    let types = element_types(kind, accumulator, kind);
    let d = default_of(OpKind::Simt, ArchKind::Sm80, types, orders);
    but!(d, mainloop: MainloopKind::Multistage, stages: 3, align_a: align, align_b: align)
}

#[test]
fn too_many_stages_and_split_copies_are_refused() {
    let (columns, i8) = ([Order::Col, Order::Row, Order::Row], ElementKind::I8);
    #[rustfmt::skip]
    are_refused(vec![
        (ring(|d| d.stages = 17), "stages = 17 is outside 2 to 16; try 16", true),
        (Changed::new(but!(ring_of(i8, columns, 8), smem_a: SmemLayout::Padded { along: Along::Mn, padding: 4 })), "asynchronous copy of A = 8 elements exceeds 4 elements (adjacent elements in shared memory); try align_a = 4", true),
        (ring(|d| d.stages = 9), "shared memory of a block = 149760 bytes exceeds 82944 bytes (9 stages of 16640; sm_80 with 2 blocks per multiprocessor); try stages = 4", true),
    ]);
}

#[test]
fn a_machine_with_less_shared_memory_is_named() {
    let small = random_cases::ring(ROWS).check_on(&ArchKind::Sm86.machine()).message();
    assert_eq!(
        small,
        "shared memory of a block = 66560 bytes exceeds 50176 bytes (4 stages of 16640; sm_86 with 2 blocks per multiprocessor); try stages = 3"
    );
}

#[test]
fn every_number_of_stages_completes() {
    for base in classes(OpKind::Simt) {
        (3..=16).for_each(|stages: u32| each(&base, "stages", &stages.to_string()));
    }
}

/// The default of `f32`.
#[test]
fn an_operator_is_named_after_its_configuration() {
    let gemm = Gemm::<f32, RowMajor, f32, ColMajor, f32, RowMajor>::new();
    assert_eq!(gemm.desc().to_string(), "256x128x8_64x64x8_s4_b1_1");
}
