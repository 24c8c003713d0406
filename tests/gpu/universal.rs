//! The operator of the machine at hand on a device: whole numbers are exact, by the units that the
//! device has for the types, with a workspace, without, and prepared.

use crate::run::device;
use bytemuck::Pod;
use cudarc::driver::{CudaStream, DeviceRepr};
use falchion::{
    arch::OpKind,
    cuda::machine_of,
    device::GemmUniversal,
    layout::Layout,
    numeric::{ElementKind, MathType},
    prelude::*,
};
use std::sync::Arc;

/// Odd rows, whole ones, few, more than a wave of tiles, and rows within sectors.
const EXTENTS: [(usize, usize, usize); 5] =
    [(300, 200, 100), (67, 129, 255), (1, 512, 1024), (2304, 2304, 96), (1000, 1000, 72)];

/// The numbers of a matrix, small and whole.
fn whole(length: usize, seed: usize) -> Vec<i32> {
    (0..length).map(|i| ((i * 7 + seed * 13 + i / 11) % 5) as i32 - 2).collect()
}

/// To an element of A and B, and from one of D.
type Conversions<A, C> = (fn(f32) -> A, fn(C) -> f32);

/// Every product of these types: `of` makes an element of a number, and `to` a number of one of D.
fn exact<A, LB, C>(stream: &Arc<CudaStream>, (of, to): Conversions<A, C>, poison: C, op: OpKind)
where
    A: MathType<Storage = A> + Pod + DeviceRepr,
    LB: Layout,
    C: MathType<Storage = C> + Pod + DeviceRepr,
{
    let gemm = GemmUniversal::<A, RowMajor, A, LB, C, RowMajor>::new();
    let machine = machine_of(stream.context()).expect("a machine");
    assert_eq!(gemm.on(Some(&machine)).expect("units").desc().class.op, op);
    let prepared = gemm.prepare(stream.context()).expect("kernels");
    for (m, n, k) in EXTENTS {
        let (a, b) = (whole(m * k, 1), whole(k * n, 2));
        // On the host, exact.
        let mut wanted = vec![f32::NAN; m * n];
        let [a32, b32] = [&a, &b].map(|of| of.iter().map(|&x| x as f32).collect::<Vec<_>>());
        let host = GemmUniversal::<f32, RowMajor, f32, LB, f32, RowMajor>::new();
        host.run(Arguments::new((m, n, k), &a32, &b32, &mut wanted))
            .expect("a product on the host");
        let elements = |x: &[f32]| {
            stream.clone_htod(&x.iter().map(|&x| of(x)).collect::<Vec<A>>()).expect("room")
        };
        let (a, b) = (elements(&a32), elements(&b32));
        let poisoned = vec![poison; m * n];
        let mut d = stream.clone_htod(&poisoned).expect("room");
        let bytes = gemm.workspace_size(&Arguments::new((m, n, k), &a, &b, &mut d)).expect("a size")
            as usize;
        let mut workspace = stream.clone_htod(&vec![0xffu8; bytes.max(1)]).expect("room");
        for how in ["without a workspace", "with one", "prepared"] {
            stream.memcpy_htod(&poisoned, &mut d).expect("room");
            let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
            let ran = match how {
                "without a workspace" => gemm.run(arguments),
                "with one" => gemm.run(arguments.workspace(&mut workspace)),
                _ => prepared.run(arguments.workspace(&mut workspace)),
            };
            // Rows of fp8 that TMA cannot read have to be copied: no `mma.sync` of Hopper's reads
            // them.
            match ran {
                Err(refused)
                    if how == "without a workspace"
                        && bytes > 0
                        && A::KIND == ElementKind::E4m3 =>
                {
                    println!("{m}x{n}x{k} {how}: {refused}");
                    continue;
                }
                ran => ran.unwrap_or_else(|error| panic!("{m}x{n}x{k} {how}: {error}")),
            }
            let found: Vec<f32> = stream.clone_dtoh(&d).expect("D").into_iter().map(to).collect();
            let at = found.iter().zip(&wanted).position(|(one, other)| one != other);
            assert_eq!(at, None, "{m}x{n}x{k} {how}, of {bytes} bytes");
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of compute capability 9.0"]
fn the_operator_of_the_machine_at_hand_is_exact() {
    let (_context, stream) = device();
    let stream = &stream;
    exact::<f32, RowMajor, f32>(stream, (|x| x, |x| x), f32::NAN, OpKind::Simt);
    exact::<f64, ColMajor, f64>(stream, (f64::from, |x| x as f32), f64::NAN, OpKind::TensorOp);
    exact::<Bf16, ColMajor, f32>(stream, (Bf16::from_f32, |x| x), f32::NAN, OpKind::TensorOp);
    exact::<F16, RowMajor, f32>(stream, (F16::from_f32, |x| x), f32::NAN, OpKind::TensorOp);
    exact::<E4m3, ColMajor, f32>(stream, (E4m3::from_f32, |x| x), f32::NAN, OpKind::TensorOp);
    exact::<i8, ColMajor, i32>(stream, (|x| x as i8, |x| x as f32), i32::MIN, OpKind::TensorOp);
}

/// One line, on a device.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn one_line_is_a_product_on_a_device() {
    let (_context, stream) = device();
    let (m, n, k) = (300, 200, 100);
    let copied = |x: &[f32]| stream.clone_htod(x).expect("room on the device");
    let (a, b, mut d) =
        (copied(&vec![1.0; m * k]), copied(&vec![2.0; k * n]), copied(&vec![f32::NAN; m * n]));
    let (x, y) = (MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)));
    falchion::gemm(x, y, MatMut::new(&mut d, (m, n))).expect("a product");
    assert!(stream.clone_dtoh(&d).expect("D").iter().all(|&x| x == 200.0));
}
