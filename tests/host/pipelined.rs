//! Mutants of programs of the pipelined main loop, and transforms of operands of `mma.sync`. The
//! latter kernels, or those with which they are compared, copy 16-bit elements one by one, so they
//! need this main loop.

mod mma_sync;

use super::{
    mutants::{K_MAJOR, drop_steps, mutate_maps, programs, sliced, streams, swap_steps},
    transforms::*,
};
use crate::harness::{
    on_tensor_cores::ORDERS,
    prelude::*,
    product::computed,
    transforms::{Magnitude, Scaled, transform_words},
};

#[test]
fn mma_sync_multiplies_f32_as_narrower_types() {
    for units in TENSOR_OP {
        for mainloop in [MainloopKind::Pipelined, MainloopKind::Multistage] {
            for orders in ORDERS {
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
        for orders in [ORDERS[0], ORDERS[3], ORDERS[4]] {
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
        let how = ((MainloopKind::Pipelined, BOTH), (ORDERS[0], &[("instruction", depth)][..]));
        checked::<Scaled<f32, Bf16>, _>(units, how.0, how.1, (&F32, &BF16));
        checked::<Magnitude<f32, F16>, _>(units, how.0, how.1, (&F32, &F16_));
    }
    let how = ((MULTISTAGE_OR_OTHER[0], BOTH), (ORDERS[1], &[("instruction", "16x8x4")][..]));
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
        let request = request_of(OpKind::TensorOp, types, ORDERS[0], &knobs);
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
        let how = ((MULTISTAGE_OR_OTHER[0], BOTH), (ORDERS[4], more));
        checked::<Scaled<f32, Bf16>, _>(TENSOR_OP[1], how.0, how.1, (&F32, &BF16));
    }
}

/// Returns the programs that are mutated: the defaults, warp slices, and stream-K.
fn subjects() -> Vec<(String, Program)> {
    let default =
        |arch, ab, acc, c| default_of(OpKind::Simt, arch, element_types(ab, acc, c), K_MAJOR);
    let classic = default_f32(ArchKind::Sm70, K_MAJOR);
    let narrow = but!(classic, align_a: 1, align_b: 1);
    let (f64, i8, i32) = (ElementKind::F64, ElementKind::I8, ElementKind::I32);
    let all = vec![
        ("f32 sm70", classic),
        ("f64 sm80", default(ArchKind::Sm80, f64, f64, f64)),
        ("i8 sm90", default(ArchKind::Sm90, i8, i32, i32)),
        ("2 warp slices", sliced(narrow, 2)),
        ("3 warp slices", sliced(narrow, 3)),
        ("streams", streams(sliced(narrow, 1))),
        ("stream-K, 2 warp slices", streams(sliced(narrow, 2))),
    ];
    assert!(all.iter().all(|(_, desc)| desc.mainloop.kind() == MainloopKind::Pipelined));
    programs(all)
}

#[test]
fn every_dropped_step_is_found() {
    drop_steps(&subjects(), 182);
}

#[test]
fn swapped_steps_are_found_or_commute() {
    swap_steps(&subjects(), 88, 165);
}

#[test]
fn maps_with_wrong_edges_are_found() {
    mutate_maps(&subjects(), 188);
}
