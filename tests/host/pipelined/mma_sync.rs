//! `mma.sync` kernels with the pipelined main loop, the only one of Turing.

use super::super::{
    batches::compare,
    mma_sync::{
        ORDERS, cutlass_list::lines_are_exact, defaults_conform, drop_steps,
        load_a_before_products, subject, swap_points,
    },
    transforms::*,
};
use crate::harness::{
    on_tensor_cores,
    prelude::*,
    product::{computed, small},
    transforms::{Magnitude, Scaled, transform_words},
};

/// `mma.sync` kernels of Turing, which copy through registers: MN-major operands by transposed
/// `ldmatrix`, and bytes one by one.
#[test]
fn mma_sync_batches_of_turing_have_the_bits_of_separate_gemms() {
    type Transposed = MnMajor<F16, f32, ColMajor, f32, TensorOp, Sm75>;
    type BytesApart = MnMajor<u8, i32, RowMajor, i32, TensorOp, Sm75>;
    compare::<F16, F16, f32>(&small(Transposed::DESC), (9, 67, 35));
    compare::<u8, u8, i32>(&small(BytesApart::DESC), (66, 3, 17));
}

#[test]
fn defaults_of_turing_conform() {
    defaults_conform(ArchKind::Sm75, 6);
}

#[test]
fn cutlass_configurations_of_turing_are_exact() {
    lines_are_exact(121, |arch| arch == ArchKind::Sm75, &[], 2);
}

/// Returns programs of f16 with one k-block, and of bytes one by one, with sliced K.
fn subjects() -> Vec<(String, Program)> {
    let halves = element_types(ElementKind::F16, ElementKind::F32, ElementKind::F16);
    let bytes = element_types(ElementKind::I8, ElementKind::I32, ElementKind::I32);
    let (ampere, pipelined) = (ArchKind::Sm80, (MainloopKind::Pipelined, 2));
    [
        ("f16 in registers", halves, ampere, ORDERS[3], ["32x32x32", "32x16x16"], pipelined),
        ("bytes", bytes, ampere, ORDERS[3], ["32x32x64", "16x32x64"], pipelined),
    ]
    .map(subject)
    .into()
}

#[test]
fn every_dropped_step_of_mma_sync_is_found() {
    drop_steps(&subjects(), 26);
}

#[test]
fn a_tile_with_one_k_block_loads_a_after_its_products() {
    load_a_before_products(subjects().swap_remove(0));
}

#[test]
fn every_map_of_mma_sync_with_two_swapped_points_is_found() {
    swap_points(&subjects());
}

/// Random kernels have enough registers for narrow copies. The widest tiles with few warps do not,
/// so narrower accesses need smaller tiles.
#[test]
fn workspace_holds_the_partials_of_a_kernel_with_smaller_tiles() {
    let pins = [("threadblock", "128x256x64"), ("split_k", "2")];
    let types = ["bf16:row", "bf16:col", "bf16:row"];
    let wide = described(types, (OpKind::TensorOp, ArchKind::Sm80), &pins);
    let narrow = wide.narrowed([1; 3]);
    assert_ne!(narrow.threadblock(), wide.threadblock());
    for (m, n) in [(128, 256), (12_800, 25_600), (1000, 70_001)] {
        let problem = Problem::new(&narrow, (m, n, 4096), [None; 3], [1.0; 8]);
        let taken = Partials::for_launch(&narrow, &problem, 1).0.bytes();
        assert!(taken > 0 && taken <= Partials::new(&wide, (m, n), 1).bytes(), "{m}x{n}: {taken}");
    }
}

// Transforms of operands. These kernels, or those with which they are compared, copy 16-bit
// elements one by one, so they need this main loop.

#[test]
fn mma_sync_multiplies_f32_as_narrower_types() {
    for units in TENSOR_OP {
        for mainloop in [MainloopKind::Pipelined, MainloopKind::Multistage] {
            for orders in on_tensor_cores::ORDERS {
                let how = ((mainloop, BOTH), (orders, &[][..]));
                checked::<Scaled<f32, Bf16>, _>(units, how.0, how.1, (&F32, &BF16));
                checked::<Scaled<f32, F16>, _>(units, how.0, how.1, (&F32, &F16_));
                checked::<Scaled<f32, Tf32>, _>(units, how.0, how.1, (&F32, &TF32));
            }
        }
    }
}

#[test]
fn mma_sync_transforms_elements_of_one_type() {
    for (units, transformed) in TENSOR_OP.into_iter().flat_map(|units| EACH.map(|of| (units, of))) {
        for orders in
            [on_tensor_cores::ORDERS[0], on_tensor_cores::ORDERS[3], on_tensor_cores::ORDERS[4]]
        {
            let how = ((MainloopKind::Pipelined, transformed), (orders, &[][..]));
            checked::<Scaled<Bf16, Bf16>, _>(units, how.0, how.1, (&BF16, &BF16));
            checked::<Magnitude<F16, F16>, _>(units, how.0, how.1, (&F16_, &F16_));
            checked::<Scaled<Tf32, Tf32>, _>(units, how.0, how.1, (&TF32, &TF32));
        }
    }
}

#[test]
fn instructions_of_each_depth_multiply_transformed_elements() {
    for (depth, units) in
        [("16x8x8", TENSOR_OP[0]), ("16x8x16", TENSOR_OP[0]), ("16x8x8", TENSOR_OP[1])]
    {
        let how = (
            (MainloopKind::Pipelined, BOTH),
            (on_tensor_cores::ORDERS[0], &[("instruction", depth)][..]),
        );
        checked::<Scaled<f32, Bf16>, _>(units, how.0, how.1, (&F32, &BF16));
        checked::<Magnitude<f32, F16>, _>(units, how.0, how.1, (&F32, &F16_));
    }
    let how = (
        (MULTISTAGE_OR_OTHER[0], BOTH),
        (on_tensor_cores::ORDERS[1], &[("instruction", "16x8x4")][..]),
    );
    checked::<Magnitude<f32, Tf32>, _>(TENSOR_OP[0], how.0, how.1, (&F32, &TF32));
}

/// The result is rounded to f16 before the products, as f16 accumulators need.
#[test]
fn f16_accumulators_add_transformed_elements() {
    let (arch, words) = (ArchKind::Sm80, transform_words::<Scaled<F16, F16>>());
    let kernel = |pins: &[(&str, &str)]| {
        let f16 = ElementKind::F16;
        let tiles = knobs_of(OpKind::TensorOp, MainloopKind::Pipelined);
        let knobs = [&tiles[..], pins].concat();
        let types = element_types(f16, f16, f16);
        let request = request_of(OpKind::TensorOp, types, on_tensor_cores::ORDERS[0], &knobs);
        let request = Request { arch: Some(arch), ..request };
        GemmOperation::from_request(&request).expect("a kernel").desc()
    };
    let [plain, desc] = [kernel(&[]), kernel(&[("transform_b", &words)])];
    let (a, b) = rounding_operands(SIZES, F16::from_f32);
    let scaled: Vec<_> = b.iter().map(|x| F16::from_f32(0.3 * x.to_f32())).collect();
    let nan = F16::NAN;
    let wanted = computed::<F16, F16>(&plain, &plain, Mode::Fast, SIZES, ([&a, &scaled], nan));
    for mode in [Mode::Fast, Mode::Checked { seed: 3 }] {
        let d = computed::<F16, F16>(&desc, &desc, mode, SIZES, ([&a, &b], nan));
        assert!(d == wanted && d.iter().all(|x| x.is_finite()), "{mode:?}");
    }
}

#[test]
fn divisions_of_k_multiply_transformed_elements() {
    for more in DIVISIONS {
        let how = ((MULTISTAGE_OR_OTHER[0], BOTH), (on_tensor_cores::ORDERS[4], more));
        checked::<Scaled<f32, Bf16>, _>(TENSOR_OP[1], how.0, how.1, (&F32, &BF16));
    }
}
