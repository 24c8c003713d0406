//! The CuTe GEMM on a device. Integers equal the GEMM. Random data are within the a-priori bound,
//! and have the bits of fused multiply-adds in the order of k. No byte outside of C is written.

use crate::harness::prelude::*;
use falchion_lab::{layout::cute_gemm::CuteGemmKernel, verify};

/// Guard elements before and after each matrix.
const GUARD: usize = 64;

struct OnDevice(Arc<CudaStream>);

impl OnDevice {
    fn new() -> Self {
        let context = open(0).expect("this test runs on an NVIDIA GPU");
        Self(context.new_stream().expect("a stream"))
    }

    fn prepare(&self, gemm: &CuteGemm, element: ElementKind) -> CuteGemmKernel {
        let kernel = CuteGemmKernel::prepare(self.0.context(), gemm, element).expect("a kernel");
        assert!(
            kernel.report().is_clean() && kernel.report().registers > 0,
            "{gemm:?}: {:?}",
            kernel.report()
        );
        kernel
    }

    /// Runs the kernel and returns C. The elements before and after each matrix are `outside`, and
    /// those around C must not change.
    fn run<E: MathType<Storage: PartialEq>>(
        &self,
        kernel: &CuteGemmKernel,
        a: &[E::Storage],
        b: &[E::Storage],
        c: &[E::Storage],
        outside: E::Storage,
    ) -> Result<Vec<E::Storage>, Error> {
        let guarded =
            |matrix: &[E::Storage]| [&[outside; GUARD][..], matrix, &[outside; GUARD]].concat();
        let (a, b, mut d) = (guarded(a), guarded(b), guarded(c));
        let matrices = slices::<E, E, E>(&a, &b, &mut d);
        let mut resident = Resident::new(&self.0, &matrices)?;
        resident.run_cute_gemm(kernel, [GUARD; 3])?;
        resident.download(matrices.d)?;
        assert_eq!(
            bytes_of::<E>(&d[..GUARD]),
            bytes_of::<E>(&[outside; GUARD]),
            "an element before C was written"
        );
        assert_eq!(
            bytes_of::<E>(&d[GUARD + c.len()..]),
            bytes_of::<E>(&[outside; GUARD]),
            "an element after C was written"
        );
        Ok(d[GUARD..GUARD + c.len()].to_vec())
    }
}

/// Returns the bytes of elements. NaN does not equal itself, but its bits do.
fn bytes_of<E: MathType>(elements: &[E::Storage]) -> Vec<u8> {
    HostSlice::new::<E>(elements).bytes().to_vec()
}

/// Returns the problem of the source document, and smaller problems with different CTA and thread
/// tiles.
fn problems() -> [CuteGemm; 4] {
    [
        (Mnk::new(1024, 1024, 8192), Mnk::new(64, 64, 16), (8, 8)),
        (Mnk::new(320, 192, 48), Mnk::new(64, 64, 16), (8, 8)),
        (Mnk::new(256, 128, 40), Mnk::new(128, 64, 8), (16, 8)),
        (Mnk::new(40, 12, 9), Mnk::new(8, 4, 3), (4, 2)),
    ]
    .map(|(problem, tile, thread)| CuteGemm::new(problem, tile, thread).expect("tiles that divide"))
}

/// Computes C from random operands on the device, with a poisoned C, and checks every element.
fn verified<E: MathType<Storage: PartialEq>>(
    device: &OnDevice,
    gemm: &CuteGemm,
    fill: Fill,
    outside: E::Storage,
) -> Verdict {
    let (desc, mut product) = gemm.product(E::KIND).expect("a product");
    let operands = fill.operands(desc.user_types(), product.a.extents().1);
    product.a.draw(operands, 1).expect("A");
    product.b.draw(operands, 2).expect("B");
    let problem = product.problem();
    let HostMatrices { a, b, d, .. } = product.matrices().expect("matrices");
    let (elements_a, elements_b) = (a.elements::<E>().expect("A"), b.elements::<E>().expect("B"));
    let poisoned = d.elements::<E>().expect("C");
    let kernel = device.prepare(gemm, E::KIND);
    let c = device.run::<E>(&kernel, elements_a, elements_b, poisoned, outside).expect("it runs");
    let claim = Claim {
        desc: &desc,
        problem: &problem,
        a,
        b,
        c: None,
        d: HostSlice::new::<E>(&c),
        operands: Default::default(),
    };
    let verdict = verify::check(&claim).expect("a claim");
    println!("{gemm:?} {fill:?}: {verdict}");
    assert_eq!(verdict.elements_checked, c.len());
    verdict
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn integers_are_exact() {
    let device = OnDevice::new();
    for gemm in problems() {
        let verdict = verified::<f32>(&device, &gemm, Fill::Integers, f32::NAN);
        assert!(verdict.is_right() && verdict.is_exact(), "{gemm:?}: {verdict}");
    }
    for gemm in [&problems()[1], &problems()[3]] {
        let doubles = verified::<f64>(&device, gemm, Fill::Integers, f64::NAN);
        let integers = verified::<i32>(&device, gemm, Fill::Integers, i32::MIN + 1);
        assert!(doubles.is_right() && doubles.is_exact(), "{gemm:?}: {doubles}");
        assert!(integers.is_right() && integers.is_exact(), "{gemm:?}: {integers}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn random_numbers_are_within_the_bound() {
    let device = OnDevice::new();
    for gemm in problems() {
        let verdict = verified::<f32>(&device, &gemm, Fill::Random, f32::NAN);
        assert!(verdict.is_right() && verdict.elements_undecided == 0, "{gemm:?}: {verdict}");
    }
}

/// Bit for bit, `C(m, n)` is `fma(A(m, k), B(n, k), .)` for k = 0, 1, .. from 0. Integers also
/// equal the result of the host with the same layouts.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn products_are_added_in_the_order_of_k() {
    let device = OnDevice::new();
    let (m, n, k) = (320, 192, 48);
    let gemm = problems()[1];
    let kernel = device.prepare(&gemm, ElementKind::F32);
    let draw = |seed, count| {
        (0..count)
            .map(|i| (verify::draw(seed, i as u64) >> 40) as f32 / 1e7 - 0.7)
            .collect::<Vec<_>>()
    };
    let (a, b) = (draw(1, m * k), draw(2, n * k));
    let c = device.run::<f32>(&kernel, &a, &b, &vec![f32::NAN; m * n], f32::NAN).expect("it runs");
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let expected = (0..k).fold(0.0f32, |sum, l| a[i + l * m].mul_add(b[j + l * n], sum));
        assert_eq!(c[i + j * m].to_bits(), expected.to_bits(), "({i}, {j})");
    }
    let whole = |matrix: &[f32]| matrix.iter().map(|x| (x * 8.0).round()).collect::<Vec<_>>();
    let (a, b, mut host) = (whole(&a), whole(&b), vec![f32::NAN; m * n]);
    gemm.run(&a, &b, &mut host).expect("the host");
    assert_eq!(
        device.run::<f32>(&kernel, &a, &b, &vec![f32::NAN; m * n], f32::NAN).expect("it runs"),
        host
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn short_matrices_are_refused_and_c_is_unchanged() {
    let device = OnDevice::new();
    let (m, n, k) = (40, 12, 9);
    let kernel = device.prepare(&problems()[3], ElementKind::F32);
    let (a, b, c) = (vec![1.0f32; m * k], vec![1.0f32; n * k], vec![7.0f32; m * n]);
    assert_eq!(
        device.run::<f32>(&kernel, &a, &b, &c, f32::NAN).expect("it runs"),
        vec![k as f32; m * n]
    );
    // The view lacks more elements than a guard zone has. Otherwise the guard would complete the
    // matrix.
    let short = device.run::<f32>(&kernel, &a[GUARD + 1..], &b, &c, f32::NAN);
    let needed = (m * k) as u64;
    let wanted = Refusal::too_short(Operand::A, m * k - 1, needed, Because::None);
    assert!(matches!(&short, Err(Error::Refused(refusal)) if **refusal == wanted), "{short:?}");
    let other = device.run::<i32>(&kernel, &[1; 360], &[1; 108], &[7; 480], 0);
    let wanted = Refusal::element_type(Operand::A, ElementKind::I32, ElementKind::F32);
    assert!(matches!(&other, Err(Error::Refused(refusal)) if **refusal == wanted), "{other:?}");
}
