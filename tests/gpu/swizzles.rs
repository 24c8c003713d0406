//! Users' orders of tiles on a device: D has the host's bits.

use super::transforms::on_device;
use crate::harness::{
    prelude::*,
    product::computed,
    swizzles::{Snake, kernels, swizzle_words},
};

const EXTENTS: (usize, usize, usize) = (1100, 900, 264);

fn compared<A: MathType>(stream: &Arc<CudaStream>, desc: &GemmDesc, from: fn(f32) -> A::Storage) {
    let (a, b) = rounding_operands(EXTENTS, from);
    let host = computed::<A, f32>(desc, desc, Mode::Fast, EXTENTS, ([&a, &b], f32::NAN));
    let device = on_device::<A>(stream, desc, EXTENTS, [&a, &b]);
    let apart = bits(&device).iter().zip(bits(&host)).filter(|(x, y)| **x != *y).count();
    assert_eq!(apart, 0, "elements that differ: {desc}");
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn d_in_a_users_order_has_the_hosts_bits() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    for desc in kernels(Some(&swizzle_words::<Snake>())) {
        // Stream-K divides tiles among the clusters of a device, which differ from the host's.
        if desc.streams_k() {
            continue;
        }
        // `mma.sync` rounds as on the device only for its own architecture.
        let desc = match desc.mma.kind() {
            WarpMmaKind::MmaSync => described(
                ["bf16:row", "bf16:col", "f32:row"],
                (OpKind::TensorOp, ArchKind::Sm90),
                &[("mainloop", "multistage"), ("swizzle", &swizzle_words::<Snake>())],
            ),
            _ => desc,
        };
        match desc.operands[0].stored {
            ElementKind::F32 => compared::<f32>(&stream, &desc, |x| x),
            _ => compared::<Bf16>(&stream, &desc, Bf16::from_f32),
        }
    }
}
