//! Batches on a device: D has the bits of the host for any batch strides, and memory outside of D
//! does not change.

use crate::harness::prelude::*;

/// Runs a batch on the host and on the device, in buffers longer than the matrices, and compares D.
/// Returns the size of the workspace in bytes.
macro_rules! compare {
    ($stream:expr, $Gemm:ty, $A:ty, $B:ty, $C:ty, $extents:expr, $x:ident => $changed:expr) => {{
        let (stream, extents @ (m, n, k)): (&Arc<CudaStream>, _) = ($stream, $extents);
        let (of_a, of_b): (Vec<$A>, Vec<$B>) =
            (numbers(1, 5 * m * k + 99), numbers(2, 5 * k * n + 99));
        let before: Vec<$C> = numbers(3, 7 * m * n + 999);
        let mut want = before.clone();
        let $x = Arguments::new(extents, &of_a, &of_b, &mut want);
        <$Gemm>::new().run($changed).expect("the host");
        assert!(want != before);
        let (a, b, mut d) = (
            stream.clone_htod(&of_a).unwrap(),
            stream.clone_htod(&of_b).unwrap(),
            stream.clone_htod(&before).unwrap(),
        );
        let $x = Arguments::new(extents, &a, &b, &mut d);
        let bytes = <$Gemm>::new().workspace_size(&$changed).expect("a size");
        let mut workspace = stream.alloc_zeros::<u8>(bytes as usize).unwrap();
        let $x = Arguments::new(extents, &a, &b, &mut d).workspace(&mut workspace);
        <$Gemm>::new().run($changed).expect("the device");
        assert!(stream.clone_dtoh(&d).unwrap() == want, "{extents:?}");
        bytes
    }};
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_simt_batch_has_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    type Columns = Gemm<i8, ColMajor, i8, RowMajor, i32, ColMajor, i32, Simt>;
    for extents in [(128, 64, 32), (130, 67, 33), (1, 5, 7)] {
        let (m, n, k) = extents;
        compare!(&stream, Rows, f32, f32, f32, extents, x => x.batch(4).in_place(2.0));
        // Strides that are not aligned for wide accesses, and one B for all GEMMs.
        compare!(&stream, Rows, f32, f32, f32, extents, x => x.batch(3).batch_stride_a(m * k + 1).batch_stride_b(0).batch_stride_d(m * n + 3));
        // The rows of all Ds are interleaved.
        compare!(&stream, Rows, f32, f32, f32, extents, x => x.batch(5).ldd(5 * n + 1).batch_stride_d(n).batch_stride_a(0));
        compare!(&stream, Columns, i8, i8, i32, extents, x => x.batch(4).batch_stride_b(k * n + 1).in_place(-1.0));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_hopper_batch_has_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Rows = HopperK<Bf16, Bf16>;
    // The schedule selects TMA-fed kernels, which cannot read every address in place.
    type RowsByTma = HopperK<Bf16, Bf16, RowMajor, With<Auto, PingpongSchedule>>;
    type Columns = HopperMn<Bf16, f32, ColMajor>;
    type Emulated = HopperK<f32, f32>;
    type Scaled = HopperK<f32, f32, RowMajor, With<Auto, falchion::nest::F16x3>>;
    for extents in [(256, 128, 64), (130, 67, 33)] {
        let (m, n, k) = extents;
        compare!(&stream, Rows, Bf16, Bf16, Bf16, extents, x => x.batch(4));
        let direct = compare!(&stream, RowsByTma, Bf16, Bf16, Bf16, extents, x => x.batch(4));
        assert_eq!(direct == 0, k % 8 == 0, "{extents:?}");
        // TMA can read the first A but not the second, so a pass repacks all of them.
        let repacked = compare!(&stream, RowsByTma, Bf16, Bf16, Bf16, extents, x => x.batch(3).batch_stride_a(m * k + 1).batch_stride_b(0).batch_stride_d(m * n + 1));
        assert!(repacked > 0, "{extents:?}");
        compare!(&stream, Columns, Bf16, Bf16, f32, extents, x => x.batch(5).in_place(1.0));
        // The rows of all Ds are interleaved, so TMA's third stride is smaller than its second.
        compare!(&stream, Rows, Bf16, Bf16, Bf16, extents, x => x.batch(5).ldd(5 * n).batch_stride_d(n).batch_stride_a(0).in_place(-1.0));
        // f16x3 scales the rows of each GEMM separately.
        compare!(&stream, Scaled, f32, f32, f32, extents, x => x.batch(3).batch_stride_b(0));
        compare!(&stream, Emulated, f32, f32, f32, extents, x => x.batch(3).batch_stride_a(0));
    }
}

/// Integers have the host's bits on every generation of tensor cores.
#[test]
#[ignore = "needs an NVIDIA GPU of Ampere or newer"]
fn an_mma_sync_batch_has_the_bits_of_the_host() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    type Halves = KMajor<F16, f32, RowMajor, f32, TensorOp, Sm80>;
    type Transposed = MnMajor<Bf16, f32, ColMajor, f32, TensorOp, Sm80>;
    type Bytes = MnMajor<i8, i32, ColMajor, i32, TensorOp, Sm80>;
    type Doubles = Gemm<f64, RowMajor, f64, RowMajor, f64, RowMajor, f64, TensorOp, Sm80>;
    for extents in [(256, 128, 64), (130, 67, 33), (1, 5, 7)] {
        let (m, n, k) = extents;
        compare!(&stream, Halves, F16, F16, f32, extents, x => x.batch(4).in_place(2.0));
        // Strides that are not aligned for wide accesses, and one B for all GEMMs.
        compare!(&stream, Halves, F16, F16, f32, extents, x => x.batch(3).batch_stride_a(m * k + 1).batch_stride_b(0).batch_stride_d(m * n + 3));
        compare!(&stream, Transposed, Bf16, Bf16, f32, extents, x => x.batch(5).in_place(1.0));
        compare!(&stream, Bytes, i8, i8, i32, extents, x => x.batch(4).batch_stride_b(k * n + 1).in_place(-1.0));
        // The rows of all Ds are interleaved.
        compare!(&stream, Doubles, f64, f64, f64, extents, x => x.batch(5).ldd(5 * n + 1).batch_stride_d(n).batch_stride_a(0));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_batch_beyond_its_memory_is_refused() {
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let (a, mut d) =
        (stream.alloc_zeros::<f32>(3 * 64).unwrap(), stream.alloc_zeros::<f32>(3 * 64).unwrap());
    type Rows = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    let refused =
        Rows::new().run(Arguments::new((8, 8, 8), &a, &a, &mut d).batch(4)).expect_err("three");
    assert!(
        refused.to_string().starts_with("length of D = 192 elements is less than "),
        "{refused}"
    );
    Rows::new().run(Arguments::new((8, 8, 8), &a, &a, &mut d).batch(3)).expect("three");
}

/// If a row of any GEMM cannot be scaled, the refusal equals the host's, and D does not change.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn an_unscalable_row_is_refused_in_any_gemm_of_a_batch() {
    type Scaled = HopperK<f32, f32, RowMajor, With<Auto, falchion::nest::F16x3>>;
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let extents @ (m, n, k) = (70, 40, 65);
    let (a, b): (Vec<f32>, Vec<f32>) = (numbers(1, 3 * m * k), numbers(2, 3 * k * n));
    for (product, shared) in [(0, false), (1, true), (2, false), (2, true)] {
        let mut a = a.clone();
        a[product * m * k + 3 * k + 1] = f32::INFINITY;
        let mut want = vec![7.0f32; 3 * m * n];
        let of_b = if shared { 0 } else { k * n };
        let told = Scaled::new()
            .run(Arguments::new(extents, &a, &b, &mut want).batch(3).batch_stride_b(of_b))
            .expect_err("the host");
        let (a, b) = (stream.clone_htod(&a).unwrap(), stream.clone_htod(&b).unwrap());
        let mut d = stream.clone_htod(&vec![7.0f32; 3 * m * n]).unwrap();
        let bytes = Scaled::new()
            .workspace_size(&Arguments::new(extents, &a, &b, &mut d).batch(3).batch_stride_b(of_b))
            .unwrap();
        let mut workspace = stream.alloc_zeros::<u8>(bytes as usize).unwrap();
        let arguments = Arguments::new(extents, &a, &b, &mut d)
            .batch(3)
            .batch_stride_b(of_b)
            .workspace(&mut workspace);
        let refused = Scaled::new().run(arguments).expect_err("the device");
        assert_eq!(refused.to_string(), told.to_string(), "product {product}");
        assert!(
            refused.to_string().starts_with(&format!(
                "a number of A is not finite (row 3 of A of GEMM {product})"
            )),
            "{refused}"
        );
        assert!(stream.clone_dtoh(&d).unwrap().iter().all(|&x| x == 7.0), "D has changed");
    }
}

/// Vectors of the epilogue apply to each GEMM of a batch, for both orders of D.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn vectors_apply_to_each_gemm_of_a_batch() {
    type Both = Relu<Add<Multiply<Add<Acc, BiasM>, ScaleN>, BiasN>>;
    let stream = open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream");
    let extents @ (m, n, k) = (130, 70, 33);
    macro_rules! compare {
        ($D:ty) => {{
            let gemm =
                Gemm::<f32, RowMajor, f32, ColMajor, f32, $D, f32, Simt>::new().epilogue::<Both>();
            macro_rules! run {
                ($a:expr, $b:expr, $d:expr, $of_m:expr, $of_n:expr) => {{
                    let x = Arguments::new(extents, $a, $b, $d).batch(2);
                    gemm.run(x.bias_m($of_m).bias_n($of_n).scale_n($of_n)).unwrap();
                }};
            }
            let (a, b, of_m, of_n) =
                (numbers(1, 2 * m * k), numbers(2, 2 * k * n), numbers(3, m), numbers(4, n));
            let mut want = vec![0.0f32; 2 * m * n];
            run!(&a, &b, &mut want, &of_m, &of_n);
            let [a, b, of_m, of_n] =
                [a, b, of_m, of_n].map(|x: Vec<f32>| stream.clone_htod(&x).unwrap());
            let mut d = stream.alloc_zeros::<f32>(2 * m * n).unwrap();
            run!(&a, &b, &mut d, &of_m, &of_n);
            assert!(stream.clone_dtoh(&d).unwrap() == want && want.iter().any(|&x| x > 0.0));
        }};
    }
    compare!(RowMajor);
    compare!(ColMajor);
}
