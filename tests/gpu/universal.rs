//! Run-time operators on a device: integers are exact on the units that the device has for the
//! types, with a workspace, without one, and with a prepared kernel.

use crate::{harness::prelude::*, run::device};
use bytemuck::Pod;
use falchion::{cuda::DeviceMemory, layout::Layout};

/// Sizes with odd rows, aligned rows, a small M, more than a wave of tiles, and rows shorter than a
/// sector.
const EXTENTS: [(usize, usize, usize); 5] =
    [(300, 200, 100), (67, 129, 255), (1, 512, 1024), (2304, 2304, 96), (1000, 1000, 72)];

/// Returns the elements of a matrix: small integers.
fn whole(length: usize, seed: usize) -> Vec<i32> {
    (0..length).map(|i| ((i * 7 + seed * 13 + i / 11) % 5) as i32 - 2).collect()
}

/// Conversions to an element of A or B, and from an element of D.
type Conversions<A, C> = (fn(f32) -> A, fn(C) -> f32);

/// Checks GEMMs of some element types. `of` creates an element of A or B, and `to` converts an
/// element of D.
fn exact<A, LB, C>(stream: &Arc<CudaStream>, (of, to): Conversions<A, C>, poison: C, op: OpKind)
where
    A: MathType<Storage = A> + Pod + DeviceRepr,
    LB: Layout,
    C: MathType<Storage = C> + Pod + DeviceRepr,
{
    let gemm = GemmUniversal::<A, RowMajor, A, LB, C, RowMajor>::new();
    let machine = machine_of(stream.context()).expect("a machine");
    assert_eq!(gemm.on(Some(&machine)).expect("units").desc().op(), op);
    let prepared = gemm.prepare(stream.context()).expect("kernels");
    for (m, n, k) in EXTENTS {
        let (a, b) = (whole(m * k, 1), whole(k * n, 2));
        // The exact result of the host.
        let mut wanted = vec![f32::NAN; m * n];
        let [a32, b32] = [&a, &b].map(|of| of.iter().map(|&x| x as f32).collect::<Vec<_>>());
        let host = GemmUniversal::<f32, RowMajor, f32, LB, f32, RowMajor>::new();
        host.run(Arguments::new((m, n, k), &a32, &b32, &mut wanted)).expect("a GEMM on the host");
        let elements = |x: &[f32]| {
            stream.clone_htod(&x.iter().map(|&x| of(x)).collect::<Vec<A>>()).expect("device memory")
        };
        let (a, b) = (elements(&a32), elements(&b32));
        let poisoned = vec![poison; m * n];
        let mut d = stream.clone_htod(&poisoned).expect("device memory");
        let bytes = gemm.workspace_size(&Arguments::new((m, n, k), &a, &b, &mut d)).expect("a size")
            as usize;
        let mut workspace = stream.clone_htod(&vec![0xffu8; bytes.max(1)]).expect("device memory");
        for how in ["without a workspace", "with one", "prepared"] {
            stream.memcpy_htod(&poisoned, &mut d).expect("device memory");
            let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
            let ran = match how {
                "without a workspace" => gemm.run(arguments),
                "with one" => gemm.run(arguments.workspace(&mut workspace)),
                _ => prepared.run(arguments.workspace(&mut workspace)),
            };
            // fp8 rows that TMA cannot read must be copied, because Hopper has no `mma.sync` for
            // fp8.
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
            assert_eq!(at, None, "{m}x{n}x{k} {how}, {bytes} bytes");
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of compute capability 9.0"]
fn native_operators_are_exact() {
    let (_context, stream) = device();
    let stream = &stream;
    exact::<f32, RowMajor, f32>(stream, (|x| x, |x| x), f32::NAN, OpKind::Simt);
    exact::<f64, ColMajor, f64>(stream, (f64::from, |x| x as f32), f64::NAN, OpKind::TensorOp);
    exact::<Bf16, ColMajor, f32>(stream, (Bf16::from_f32, |x| x), f32::NAN, OpKind::TensorOp);
    exact::<F16, RowMajor, f32>(stream, (F16::from_f32, |x| x), f32::NAN, OpKind::TensorOp);
    exact::<E4m3, ColMajor, f32>(stream, (E4m3::from_f32, |x| x), f32::NAN, OpKind::TensorOp);
    exact::<i8, ColMajor, i32>(stream, (|x| x as i8, |x| x as f32), i32::MIN, OpKind::TensorOp);
}

/// A one-line GEMM on a device.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn one_line_computes_a_gemm_on_a_device() {
    let (_context, stream) = device();
    let (m, n, k) = (300, 200, 100);
    let copied = |x: &[f32]| stream.clone_htod(x).expect("device memory");
    let (a, b, mut d) =
        (copied(&vec![1.0; m * k]), copied(&vec![2.0; k * n]), copied(&vec![f32::NAN; m * n]));
    let (x, y) = (MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)));
    falchion::gemm(x, y, MatMut::new(&mut d, (m, n))).expect("a product");
    assert!(stream.clone_dtoh(&d).expect("D").iter().all(|&x| x == 200.0));
}

/// A raw pointer gives the bits of a slice, and is refused like a slice.
#[test]
#[ignore = "needs an NVIDIA GPU"]
#[allow(unsafe_code, reason = "memory by its address")]
fn a_raw_pointer_behaves_like_a_slice() {
    let (_context, stream) = device();
    let (m, n, k) = (67, 130, 45);
    let floats = |length, seed| whole(length, seed).iter().map(|&x| x as f32).collect::<Vec<_>>();
    let copied = |x: &[f32]| stream.clone_htod(x).expect("device memory");
    let (a, b) = (copied(&floats(m * k, 1)), copied(&floats(k * n, 2)));
    let [mut wanted, d] = [m * n; 2].map(|length| copied(&vec![f32::NAN; length]));
    let (x, y) = (MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)));
    falchion::gemm(x, y, MatMut::new(&mut wanted, (m, n))).expect("a product");
    let at = |slice: &CudaSlice<f32>, first: u64, length| {
        let address = slice.device_ptr(&stream).0 + first;
        // SAFETY: the slices live until the end of this test, and have `length` elements from
        // `first` on, or the call is refused before it reads them.
        unsafe { DeviceMemory::<f32>::from_raw(address, length, &stream) }.expect("an address")
    };
    let (x, y, mut z) = (at(&a, 0, m * k), at(&b, 0, k * n), at(&d, 0, m * n));
    let (x, y) = (MatRef::new(&x, (m, k)), MatRef::new(&y, (k, n)));
    falchion::gemm(x, y, MatMut::new(&mut z, (m, n))).expect("a product");
    let bits = |slice: &CudaSlice<f32>| {
        stream.clone_dtoh(slice).expect("D").iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(&d), bits(&wanted));
    let refused = |x: MatRef<'_, f32, _>, z: &mut DeviceMemory<f32>, begin: &str| {
        let error = falchion::gemm(x, y, MatMut::new(z, (m, n))).expect_err("refused");
        assert!(matches!(error, Error::Refused(_)), "{error}");
        assert!(error.to_string().starts_with(begin), "{error}");
    };
    let before = bits(&d);
    // D overlaps A, A is too short, and an address is not a multiple of the element size.
    let long = copied(&vec![1.0; m * n + m * k]);
    let (overlapped, short, odd) = (at(&long, 0, m * k), at(&a, 0, m * k - 1), at(&a, 2, m * k));
    refused(MatRef::new(&overlapped, (m, k)), &mut at(&long, 8, m * n), "D overlaps A");
    refused(MatRef::new(&short, (m, k)), &mut z, "length of A = 3014 elements");
    refused(MatRef::new(&odd, (m, k)), &mut z, "address of A is not a multiple");
    assert_eq!(bits(&d), before);
    // SAFETY: no call reads this memory.
    let none = |address, length| unsafe { DeviceMemory::<f32>::from_raw(address, length, &stream) };
    assert_eq!(none(0, 5).expect_err("refused"), Refusal::null_pointer(5));
    assert!(none(0, 0).is_ok());
    for (address, length) in [(256, usize::MAX), (256, usize::MAX / 4 + 1), (u64::MAX - 3, 2)] {
        let refusal = none(address, length).expect_err("refused");
        assert!(matches!(refusal, Refusal { field: Field::Matrix, .. }), "{refusal:?}");
    }
}

/// The result of `matmul` on a device is on the device, and equals the host's.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn matmul_on_a_device_returns_a_matrix_on_the_device() {
    let (_context, stream) = device();
    let element = |row: usize, column: usize| ((row * 5 + column * 3) % 7) as f32 - 3.0;
    for (m, n, k) in EXTENTS {
        let (a, b) = (Mat::from_fn((m, k), element), Mat::from_fn((k, n), element));
        let (a, b) = (a.expect("A"), b.expect("B"));
        let on_device = |mat: &Mat<f32>| mat.to_device(&stream).expect("device memory");
        let (x, y) = (on_device(&a), on_device(&b));
        let product = falchion::matmul(&x, &y).expect("a product");
        let wanted = falchion::matmul(&a, &b).expect("a GEMM on the host");
        assert_eq!(product.to_host().expect("D"), wanted, "{m} x {n} x {k}");
        let across = falchion::matmul(y.view().t(), x.view().t()).expect("a product");
        let wanted = falchion::matmul(b.view().t(), a.view().t()).expect("a GEMM on the host");
        assert_eq!(across.to_host().expect("D"), wanted, "{n} x {m} x {k}");
    }
    let empty = Mat::<f32>::zeros((0, 4)).expect("no element").to_device(&stream);
    let product = falchion::matmul(
        &empty.expect("no element"),
        &Mat::<f32>::zeros((4, 3)).expect("B").to_device(&stream).expect("B"),
    );
    assert_eq!(product.expect("no element").to_host().expect("D").shape(), (0, 3));
}

/// D that overlaps an input is refused. A GEMM into a view of D's memory writes only the view.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_view_of_d_writes_its_elements_only() {
    let (_context, stream) = device();
    let (m, n, k) = (33, 65, 17);
    let copied = |x: &[f32]| stream.clone_htod(x).expect("device memory");
    let (a, b) = (copied(&vec![1.0; m * k]), copied(&vec![2.0; k * n]));
    for column_major in [false, true] {
        let mut d = copied(&vec![7.0; (m + 3) * (n + 4)]);
        let whole = if column_major {
            MatMut::new(&mut d, (n + 4, m + 3)).t()
        } else {
            MatMut::new(&mut d, (m + 3, n + 4))
        };
        let middle = whole.rows(2..m + 2).expect("rows").columns(1..=n).expect("columns");
        falchion::gemm(MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)), middle).expect("D");
        let (down, across) = if column_major { (1, m + 3) } else { (n + 4, 1) };
        for (index, x) in stream.clone_dtoh(&d).expect("D").into_iter().enumerate() {
            let (row, column) = (index / down % (m + 3), index / across % (n + 4));
            let inside = (2..m + 2).contains(&row) && (1..=n).contains(&column);
            assert_eq!(x, if inside { 2.0 * k as f32 } else { 7.0 }, "{row} {column}");
        }
    }
}
