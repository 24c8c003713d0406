//! Refusals of user transforms that SIMT kernels apply.

use super::super::transforms::{small, transform};
use crate::harness::{on_tensor_cores::ORDERS, prelude::*, product::try_compute};

#[test]
fn a_transform_that_is_not_registered_is_refused() {
    let id = "transform_00000000000000aa:f32:f32";
    let desc =
        small((OpKind::Simt, ArchKind::Sm80), ElementKind::F32, ORDERS[0], &[("transform_b", id)]);
    assert_eq!(desc.check(), Ok(()), "the compiler cannot know what a process registers");
    let sentence =
        format!("transform_b = {id} is not registered; call numeric::register_transform first");
    assert_eq!(desc.plan().map(drop).map_err(|refusal| refusal.to_string()), Err(sentence.clone()));
    for mode in [Mode::Fast, Mode::Checked { seed: 1 }] {
        let (a, b, d) = ([1.0f32], [1.0f32], 7.0f32);
        let result = try_compute::<f32, f32>(&desc, &desc, mode, (1, 1, 1), ([&a, &b], d));
        assert_eq!(result.map(drop).message(), sentence);
    }
    // A column-major D swaps the operands of the kernel, and the sentence names the user's.
    let orders = [Order::Row, Order::Row, Order::Col];
    let swapped =
        small((OpKind::Simt, ArchKind::Sm80), ElementKind::F32, orders, &[("transform_b", id)]);
    let result =
        try_compute::<f32, f32>(&swapped, &swapped, Mode::Fast, (1, 1, 1), ([&[1.0], &[1.0]], 7.0));
    assert_eq!(result.map(drop).message(), sentence);
}

#[test]
fn a_transform_that_does_not_map_0_to_0_is_refused() {
    transform!(Shifted "shifted": f32 => f32, "x + 1.0f", |x| x + 1.0);
    let gemm = Gemm::<f32>::new().with::<TransformA<Shifted>>();
    let mut d = [7.0];
    assert_eq!(
        gemm.run(Arguments::new((1, 1, 1), &[1.0], &[1.0], &mut d)).message(),
        "transform_a = shifted is not supported by k-tiles (padded with zeros, which it maps to 1); use a transform that maps 0 to 0"
    );
    assert_eq!(d, [7.0], "a refused call does not write D");
}
