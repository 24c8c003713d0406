//! User transforms of operands on a device: D has the host's bits.

use crate::harness::{
    prelude::*,
    product::computed,
    transforms::{Magnitude, Scaled, transform_words},
};

/// Returns D of packed matrices on a device. D contains NaN before the run.
pub(super) fn on_device<A: MathType>(
    stream: &Arc<CudaStream>,
    desc: &GemmDesc,
    extents: (usize, usize, usize),
    [a, b]: [&[A::Storage]; 2],
) -> Vec<f32> {
    let upload =
        |x: &[A::Storage]| stream.clone_htod(bytemuck::cast_slice::<_, u8>(x)).expect("room");
    let (a, b) = (upload(a), upload(b));
    let mut d = stream.clone_htod(&vec![0xffu8; 4 * extents.0 * extents.1]).expect("room");
    let problem = Problem::new(desc, extents, [None; 3], PLAIN);
    let kernel = CudaKernel::prepare(stream.context(), desc).expect("a kernel");
    let bytes = desc.routes(&problem).expect("a kernel").workspace_bytes() as usize;
    let mut workspace = stream.clone_htod(&vec![0xffu8; bytes.max(1)]).expect("room");
    {
        let read = |x| DeviceMatrix::read_bytes(A::KIND, x, stream);
        let matrices = CudaMatrices {
            a: read(&a),
            b: read(&b),
            c: Source::None,
            d: DeviceMatrix::write_bytes(ElementKind::F32, &mut d, stream),
            operands: Default::default(),
        };
        let workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut workspace, stream));
        kernel.run(stream, CudaCall { workspace, ..problem.with(matrices) }).expect("a product");
        stream.synchronize().expect("the device is well");
    }
    let bytes = stream.clone_dtoh(&d).expect("D comes back");
    bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
}

/// Compares the host and the device for a transform of A, of B, or of both.
fn compared<T: Transform>(
    stream: &Arc<CudaStream>,
    (op, arch, mainloop): (OpKind, ArchKind, &str),
    from: fn(f32) -> <T::Stored as MathType>::Storage,
) -> usize {
    let (words, ab) = (transform_words::<T>(), <T::Stored as MathType>::KIND);
    // Tensor cores multiply no f32, so both operands have a transform.
    let both = op == OpKind::TensorOp && ab == ElementKind::F32;
    let pins: &[&[&str]] = match both {
        true => &[&["transform_a", "transform_b"]],
        false => &[&["transform_a"], &["transform_b"], &["transform_a", "transform_b"]],
    };
    let layouts = [["row", "col", "row"], ["row", "row", "col"], ["col", "row", "row"]];
    let mut count = 0;
    for (names, layouts) in pins.iter().flat_map(|names| layouts.map(|layouts| (names, layouts))) {
        let mut knobs =
            vec![("mainloop", mainloop), ("align_a", "1"), ("align_b", "1"), ("align_c", "1")];
        if ab.bits() < 32 && mainloop.starts_with("multi") {
            knobs[1..3].copy_from_slice(&[("align_a", "2"), ("align_b", "2")]);
        }
        knobs.extend(names.iter().map(|&name| (name, &*words)));
        let [a, b] = [layouts[0], layouts[1]].map(|order| format!("{ab}:{order}"));
        let desc = described([&a, &b, &format!("f32:{}", layouts[2])], (op, arch), &knobs);
        // Extents are even, as 16-bit elements need for asynchronous copies.
        for extents in [(2, 2, 2), (70, 34, 98), (258, 130, 64), (130, 254, 514)] {
            let (a, b) = rounding_operands(extents, from);
            let host =
                computed::<T::Stored, f32>(&desc, &desc, Mode::Fast, extents, ([&a, &b], f32::NAN));
            let device = on_device::<T::Stored>(stream, &desc, extents, [&a, &b]);
            let apart = bits(&device).iter().zip(bits(&host)).filter(|(x, y)| **x != *y).count();
            assert_eq!(apart, 0, "elements that differ: {extents:?} {desc}");
            count += 1;
        }
    }
    count
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn transformed_operands_have_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let mut count = 0;
    for mainloop in ["singlestage", "pipelined", "multistage"] {
        let simt = (OpKind::Simt, ArchKind::Sm80, mainloop);
        count += compared::<Scaled<f32, f32>>(&stream, simt, |x| x);
        count += compared::<Magnitude<f32, f32>>(&stream, simt, |x| x);
        if !mainloop.starts_with("multi") {
            count += compared::<Scaled<Bf16, f32>>(&stream, simt, Bf16::from_f32);
        }
    }
    for mainloop in ["pipelined", "multistage"] {
        let tensor = (OpKind::TensorOp, ArchKind::Sm90, mainloop);
        count += compared::<Scaled<f32, Bf16>>(&stream, tensor, |x| x);
        count += compared::<Scaled<f32, F16>>(&stream, tensor, |x| x);
        count += compared::<Magnitude<f32, Tf32>>(&stream, tensor, |x| x);
        count += compared::<Scaled<Tf32, Tf32>>(&stream, tensor, |x| x);
        count += compared::<Scaled<Bf16, Bf16>>(&stream, tensor, Bf16::from_f32);
        count += compared::<Magnitude<F16, F16>>(&stream, tensor, F16::from_f32);
    }
    println!("{count} products compared");
    assert_eq!(count, 8 * 36 + 2 * (3 * 12 + 3 * 36));
}
