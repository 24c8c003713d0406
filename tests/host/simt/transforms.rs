//! User transforms in registers of SIMT kernels.

use super::super::transforms::*;
use crate::harness::{
    on_tensor_cores::ORDERS,
    prelude::*,
    transforms::{Magnitude, Scaled, transform_words},
};

#[test]
fn simt_transforms_elements_of_each_main_loop() {
    let units = (OpKind::Simt, ArchKind::Sm80);
    for mainloop in [MainloopKind::SingleStage, MainloopKind::Pipelined, MainloopKind::Multistage] {
        for (orders, transformed) in
            ORDERS.into_iter().flat_map(|orders| EACH.map(|transformed| (orders, transformed)))
        {
            let how = ((mainloop, transformed), (orders, &[][..]));
            checked::<Magnitude<f32, f32>, _>(units, how.0, how.1, (&F32, &F32));
            checked::<Scaled<f32, f32>, _>(units, how.0, how.1, (&F32, &F32));
        }
    }
    for (mainloop, transformed) in
        [(MainloopKind::SingleStage, EACH[1]), (MainloopKind::Pipelined, BOTH)]
    {
        let how = ((mainloop, transformed), (ORDERS[3], &[][..]));
        checked::<Scaled<Bf16, f32>, _>(units, how.0, how.1, (&BF16, &F32));
        checked::<Scaled<F16, f32>, _>(units, how.0, how.1, (&F16_, &F32));
    }
}

#[test]
fn divisions_of_k_multiply_transformed_elements() {
    let simt = (OpKind::Simt, ArchKind::Sm80);
    for more in DIVISIONS {
        let how = ((MULTISTAGE_OR_OTHER[0], [true, false]), (ORDERS[4], more));
        checked::<Scaled<f32, f32>, _>(simt, how.0, how.1, (&F32, &F32));
    }
}

#[test]
fn the_lab_verifies_transformed_operands() {
    let words = transform_words::<Magnitude<f32, f32>>();
    let others = transform_words::<Scaled<f32, f32>>();
    let units = (OpKind::Simt, ArchKind::Sm80);
    lab_verifies(units, &[("transform_b", &words)], &[("transform_a", &others)]);
}

#[test]
fn types_pin_and_register_transforms() {
    transform!(Doubled "doubled": f32 => f32, "x + x", |x| x + x);
    let id = TransformId::new::<Doubled>();
    let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, ColMajor>::new();
    let run = |desc: GemmDesc, result: Result<(), Error>, d: [f32; 2]| {
        result.expect("a product");
        (desc.user_pins().transform_a, desc.user_pins().transform_b, d)
    };
    let (a, b, mut d) = ([1.0, 2.0], [3.0], [0.0; 2]);
    let of_a = gemm.with::<TransformA<Doubled>>();
    let result = of_a.run(Arguments::new((2, 1, 1), &a, &b, &mut d));
    assert_eq!(run(of_a.desc(), result, d), (Some(id), None, [6.0, 12.0]));
    let of_b = gemm.with::<TransformB<Doubled>>();
    let result = of_b.run(Arguments::new((2, 1, 1), &a, &b, &mut d));
    assert_eq!(run(of_b.desc(), result, d), (None, Some(id), [6.0, 12.0]));
    let both = gemm.with::<TransformBoth<Doubled>>();
    let result = both.run(Arguments::new((2, 1, 1), &a, &b, &mut d));
    assert_eq!(run(both.desc(), result, d), (Some(id), Some(id), [12.0, 24.0]));
}
