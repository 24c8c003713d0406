//! User transforms in registers: D equals the D of the kernel without transforms on transformed
//! matrices, bit by bit, in both modes. A kernel that cannot apply a transform refuses it.

use crate::harness::{
    on_tensor_cores::{self, Data, ORDERS, draws, judge},
    prelude::*,
    product::computed,
    transforms::transform_words,
};

/// Declares a transform of a test: its name, types, CUDA text, and host function.
macro_rules! transform {
    ($Name:ident $name:literal: $stored:ty => $multiplied:ty, $cuda:literal, $host:expr) => {
        struct $Name;
        impl Transform for $Name {
            const NAME: &'static str = $name;
            type Stored = $stored;
            type Multiplied = $multiplied;
            const CUDA: &'static str = $cuda;
            fn host(x: f32) -> f32 {
                let host: fn(f32) -> f32 = $host;
                host(x)
            }
        }
    };
}
pub(super) use transform;

pub(super) const SIZES: (usize, usize, usize) = (35, 41, 70);

/// Conversions between `f32` and an element type.
pub(super) struct Numbers<E: MathType> {
    from_f32: fn(f32) -> E::Storage,
    to_f32: fn(E::Storage) -> f32,
}

pub(super) const F32: Numbers<f32> = Numbers { from_f32: |x| x, to_f32: |x| x };
/// Elements that tensor cores read without loss.
pub(super) const TF32: Numbers<Tf32> = Numbers { from_f32: Tf32::as_read, to_f32: |x| x };
pub(super) const F16_: Numbers<F16> = Numbers { from_f32: F16::from_f32, to_f32: F16::to_f32 };
pub(super) const BF16: Numbers<Bf16> = Numbers { from_f32: Bf16::from_f32, to_f32: Bf16::to_f32 };

/// Small tiles for units and a main loop.
pub(super) fn knobs_of(op: OpKind, mainloop: MainloopKind) -> Vec<(&'static str, &'static str)> {
    let stages = match mainloop.fixed_stages() {
        Some(1) => "1",
        Some(_) => "2",
        None => "3",
    };
    let tiles: [_; 2] = match op {
        OpKind::TensorOp => [("threadblock", "32x32x32"), ("warp", "16x32x16")],
        OpKind::Simt => [("threadblock", "32x32x16"), ("warp", "16x32x8")],
    };
    let align = [("align_a", "1"), ("align_b", "1"), ("align_c", "1")];
    [&tiles[..], &[("stages", stages), ("mainloop", mainloop.name())], &align].concat()
}

/// Returns a description for matrices of types `ab` with D of type f32.
pub(crate) fn small(
    (op, arch): (OpKind, ArchKind),
    ab: ElementKind,
    orders: [Order; 3],
    knobs: &[(&str, &str)],
) -> GemmDesc {
    let types = [ab, ab, ElementKind::F32];
    let types: Vec<_> = types
        .into_iter()
        .zip(orders)
        .map(|(element, order)| format!("{element}:{order}"))
        .collect();
    described([&types[0], &types[1], &types[2]], (op, arch), knobs)
}

/// Checks the transform `T` of one operand or both against the kernel that multiplies `X` as
/// stored.
pub(super) fn checked<T: Transform, X: MathType>(
    units: (OpKind, ArchKind),
    (mainloop, transformed): (MainloopKind, [bool; 2]),
    (orders, more): ([Order; 3], &[(&str, &str)]),
    (stored, multiplied): (&Numbers<T::Stored>, &Numbers<X>),
) {
    let words = transform_words::<T>();
    let mut knobs = [&knobs_of(units.0, mainloop)[..], more].concat();
    let names = ["transform_a", "transform_b"];
    let pins = names.into_iter().zip(transformed).filter(|(_, transformed)| *transformed);
    knobs.extend(pins.map(|(name, _)| (name, &*words)));
    let desc = small(units, <T::Stored as MathType>::KIND, orders, &knobs);
    assert_eq!(desc.user_pins().transform_a.is_some(), transformed[0], "{desc}");
    assert_eq!(desc.user_pins().transform_b.is_some(), transformed[1], "{desc}");
    // The instruction determines the order of additions, and the main loop does not. Narrow copies
    // of 16-bit elements need this main loop.
    let instruction = desc.instruction().to_string();
    let own = knobs_of(units.0, THROUGH_REGISTERS[0]);
    let mut own = [&own[..], &[("instruction", &instruction)], more].concat();
    own.retain(|(name, _)| units.0 == OpKind::TensorOp || *name != "instruction");
    let plain = small(units, X::KIND, orders, &own);
    let (m, n, k) = SIZES;
    let numbers = |seed: usize, count: usize| -> Vec<_> {
        (0..count).map(|i| (stored.from_f32)(rounding(i * 3 + seed))).collect()
    };
    let (a, b) = (numbers(1, m * k), numbers(2, n * k));
    let after = |x: &[<T::Stored as MathType>::Storage], transformed: bool| -> Vec<X::Storage> {
        let one = |x| (stored.to_f32)(x);
        x.iter()
            .map(|&x| (multiplied.from_f32)(if transformed { T::host(one(x)) } else { one(x) }))
            .collect()
    };
    let (x, y) = (after(&a, transformed[0]), after(&b, transformed[1]));
    let wanted = computed::<X, f32>(&plain, &plain, Mode::Fast, SIZES, ([&x, &y], f32::NAN));
    assert!(wanted.iter().all(|x| x.is_finite()) && wanted.iter().any(|x| x.abs() > 0.0));
    for mode in [Mode::Fast, Mode::Checked { seed: 7 }] {
        let d = computed::<T::Stored, f32>(&desc, &desc, mode, SIZES, ([&a, &b], f32::NAN));
        assert!(bits(&d) == bits(&wanted), "{mode:?} {transformed:?} {orders:?} {desc}");
    }
}

pub(super) const BOTH: [bool; 2] = [true, true];
pub(super) const EACH: [[bool; 2]; 3] = [BOTH, [true, false], [false, true]];
pub(crate) const TENSOR_OP: [(OpKind, ArchKind); 2] =
    [(OpKind::TensorOp, ArchKind::Sm80), (OpKind::TensorOp, ArchKind::Sm90)];

/// Divisions of K among CTAs.
pub(super) const DIVISIONS: [&[(&str, &str)]; 3] = [
    &[("split_k", "3")],
    &[("split_k", "2"), ("decomposition", "splitkparallel")],
    &[("decomposition", "streamk")],
];

/// Checks that the verdict of the lab transforms the elements of its reference. A verdict for
/// `others` instead of `pins` finds a wrong result.
pub(super) fn lab_verifies(
    units: (OpKind, ArchKind),
    pins: &[(&str, &str)],
    others: &[(&str, &str)],
) {
    let [m, n, k] = [20, 24, 70];
    let knobs = [&knobs_of(units.0, MULTISTAGE_OR_OTHER[0])[..], pins].concat();
    let (a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
    let desc = small(units, ElementKind::F32, ORDERS[0], &knobs);
    let sizes = [m, n, k];
    let mut d = on_tensor_cores::computed(&desc, Mode::Fast, sizes, (&a, &b)).expect("D");
    let verdict = judge(&desc, sizes, (&a, &b), &d);
    assert!(verdict.is_right(), "{desc}: {verdict}");
    let other = small(units, ElementKind::F32, ORDERS[0], others);
    assert!(!judge(&other, sizes, (&a, &b), &d).is_right(), "another transform");
    d[5] *= 1.0 + 1e-3;
    assert!(!judge(&desc, sizes, (&a, &b), &d).is_right(), "{desc}");
}
