//! GEMMs with types as run-time values, on a device.

use crate::harness::prelude::*;

/// Typed slices, bytes, and a prepared kernel give the host's result. An operand of another type is
/// refused, and so are bytes that are not aligned to the element type.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_operation_has_the_bits_of_the_host_on_a_device() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let (m, n, k) = (130, 67, 35);
    let numbers = |count: usize| -> Vec<f32> {
        (0..count).map(|i| ((i * 7 + i / 11) % 9) as f32 - 4.0).collect()
    };
    let (a, b, mut want) = (numbers(m * k), numbers(k * n), vec![f32::NAN; m * n]);
    let of = MatrixType::row(ElementKind::F32);
    let (abc, op) = (Some(of), Some(OpKind::Simt));
    let request = Request { a: abc, b: abc, c: abc, op, ..Request::default() };
    let operation = GemmOperation::from_request(&request).expect("a kernel");
    let host = Arguments::new(
        (m, n, k),
        AnySlice::new::<f32>(&a),
        AnySlice::new::<f32>(&b),
        AnySliceMut::new::<f32>(&mut want),
    );
    operation.run(host).expect("the host computes it");

    // B begins at byte 4 of its allocation.
    let shifted: Vec<u8> =
        [0; 4].into_iter().chain(b.iter().flat_map(|x| x.to_ne_bytes())).collect();
    let (a, b): (CudaSlice<f32>, CudaSlice<u8>) =
        (stream.clone_htod(&a).unwrap(), stream.clone_htod(&shifted).unwrap());
    let kernel = operation.prepare(&context).expect("a kernel");
    for prepared in [false, true] {
        let mut d = stream.clone_htod(&vec![f32::NAN; m * n]).unwrap();
        let (of_a, view) = (AnySlice::new::<f32>(&a), b.slice(4..));
        let of_b = AnySlice::from_bytes(ElementKind::F32, &view);
        let arguments = Arguments::new((m, n, k), of_a, of_b, AnySliceMut::new::<f32>(&mut d));
        assert_eq!(operation.workspace_size(&arguments), Ok(0));
        if prepared { kernel.run(arguments) } else { operation.run(arguments) }.expect("a product");
        assert_eq!(stream.clone_dtoh(&d).unwrap(), want, "prepared: {prepared}");
    }

    let mut d = stream.clone_htod(&vec![0xffu8; 8 * m * n]).unwrap();
    let refused = |kind, begin: usize, d: &mut CudaSlice<u8>| {
        let view = b.slice(begin..);
        let of_b = AnySlice::from_bytes(ElementKind::F32, &view);
        let arguments = Arguments::new(
            (m, n, k - 1),
            AnySlice::new::<f32>(&a),
            of_b,
            AnySliceMut::from_bytes(kind, d),
        );
        operation.run(arguments).message()
    };
    let amid = "address of B is not a multiple of 4 bytes (remainder 2; f32)";
    assert_eq!(refused(ElementKind::F32, 2, &mut d), amid);
    let wide = "element type of D = f64 is not f32";
    assert_eq!(refused(ElementKind::F64, 4, &mut d), wide);
    assert!(stream.clone_dtoh(&d).unwrap().iter().all(|byte| *byte == 0xff));
}
