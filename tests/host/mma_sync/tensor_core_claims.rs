//! Verdicts on the host model's tensor-core sums: correct results are accepted, and errors beyond
//! the instruction's bound are rejected.

use crate::harness::{prelude::*, tensor_steps};
use falchion::numeric::{
    self,
    ElementKind::{Bf16, E4m3, E5m2, Tf32, *},
};
use falchion_lab::verify::check;

const M: usize = 6;
const N: usize = 5;

/// Returns a description with the given types, as a source of its rules for sums. It need not be a
/// kernel.
fn described(types: Combined, arch: ArchKind) -> GemmDesc {
    let halves = element_types(F16, F32, F16);
    let knobs = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm80, halves);
    let knobs = knobs.expect("f16 is in the table")[0];
    let orders = [Order::Row, Order::Col, Order::Row];
    GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, knobs)
}

/// Random operands, and a D that is not computed yet.
struct RandomCase {
    desc: GemmDesc,
    problem: Problem,
    a: HostBuffer,
    b: HostBuffer,
    d: HostBuffer,
}

impl RandomCase {
    fn random(types: Combined, arch: ArchKind, k: usize, fill: Fill) -> Result<Self, Error> {
        let desc = described(types, arch);
        let matrix = |order, leading, length| View::new(Elements::new(length), order, leading);
        let problem = problem_of(
            (M, N, k),
            [
                matrix(Order::Row, k, M * k),
                matrix(Order::Col, k, k * N),
                matrix(Order::Row, N, M * N),
            ],
        );
        let buffer = |kind, length| HostBuffer::poisoned(kind, length);
        let (mut a, mut b, d) =
            (buffer(types.a, M * k)?, buffer(types.b, k * N)?, buffer(types.c, M * N)?);
        let from: Distribution = fill.operands(types, k);
        from.fill(1, a.slice_mut(0..M * k)?, &problem.a, (M, k))?;
        from.fill(2, b.slice_mut(0..k * N)?, &problem.b, (k, N))?;
        Ok(Self { desc, problem, a, b, d })
    }

    /// Returns the factors of one element of D.
    fn factors(&self, row: usize, column: usize) -> Result<(Vec<f32>, Vec<f32>), Error> {
        let k = self.problem.k;
        let line = |buffer: &HostBuffer, at: usize| -> Result<Vec<f32>, Error> {
            (at * k..(at + 1) * k).map(|place| Ok(buffer.get(place)? as f32)).collect()
        };
        Ok((line(&self.a, row)?, line(&self.b, column)?))
    }

    /// Computes D with the sums of `sum`.
    fn compute(&mut self, sum: impl Fn(&[f32], &[f32]) -> f64) -> Result<(), Error> {
        for row in 0..M {
            for column in 0..N {
                let (a, b) = self.factors(row, column)?;
                self.d.set(row * N + column, sum(&a, &b))?;
            }
        }
        Ok(())
    }

    fn verdict(&self) -> Result<Verdict, Error> {
        let (a, b, d): (HostSlice<'_>, _, _) = (
            self.a.slice(0..M * self.problem.k)?,
            self.b.slice(0..N * self.problem.k)?,
            self.d.slice(0..M * N)?,
        );
        self.judge(a, b, d)
    }

    fn judge(&self, a: HostSlice, b: HostSlice, d: HostSlice) -> Result<Verdict, Error> {
        let (desc, problem, operands) = (&self.desc, &self.problem, EpilogueOperands::NONE);
        check(&Claim { desc, problem, a, b, c: None, d, operands })
    }
}

/// Every floating-point combination on every architecture that supports it: random sums of the
/// model are accepted, and a sum with an error beyond the bound is rejected.
#[test]
fn tensor_core_sums_are_accepted_and_larger_errors_are_rejected() -> Result<(), Error> {
    for &types in TENSOR_OP_COMBINATIONS {
        for arch in ArchKind::ALL {
            let Some(row) = Instruction::for_types(types, arch) else { continue };
            for k in [1, 31, 100, 515] {
                let mut case = RandomCase::random(types, arch, k, Fill::Random)?;
                case.compute(|a, b| f64::from(row.sum(a, b)))?;
                let verdict = case.verdict()?;
                assert!(verdict.is_right(), "{types:?} {arch} {k}: {verdict}");
                if types.a.is_fp8() {
                    case.compute(|a, b| f64::from(row.promoted_every(128).sum(a, b)))?;
                    assert!(case.verdict()?.is_right(), "{types:?} {arch} {k}");
                }
                // An error of several bounds, for a K with a narrow bound.
                if k == 100 && types.c == F32 {
                    let error = if types.a.is_fp8() { 4.0 } else { 1e-2 };
                    case.compute(|a, b| f64::from(row.sum(a, b)) + error)?;
                    assert!(!case.verdict()?.is_right(), "{types:?} {arch}");
                }
            }
        }
    }
    Ok(())
}

/// Integers are compared with `==` for every combination, also if random data decide nothing. An
/// error of one unit is rejected.
#[test]
fn integers_decide_every_type_combination() -> Result<(), Error> {
    for &types in TENSOR_OP_COMBINATIONS {
        for k in [64, 1000, 5000] {
            let mut case = RandomCase::random(types, ArchKind::Sm90, k, Fill::Integers)?;
            match Instruction::for_types(types, ArchKind::Sm90) {
                Some(row) => case.compute(|a, b| f64::from(row.sum(a, b)))?,
                None => {
                    case.compute(|a, b| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum())?
                }
            }
            let verdict = case.verdict()?;
            assert!(verdict.is_right() && verdict.is_exact(), "{types:?} {k}: {verdict}");
            let was = case.d.get(7)?;
            // Toward 0, because a type may end at the sum.
            case.d.set(7, if was.abs() < 8.0 { was + 1.0 } else { was - was / 8.0 })?;
            let verdict = case.verdict()?;
            assert_eq!((verdict.elements_wrong, verdict.is_exact()), (1, true), "{types:?} {k}");
        }
    }
    Ok(())
}

/// Tensor cores truncate f32 numbers to tf32. The bound permits this for f32 factors, but not for
/// factors that are tf32 numbers.
#[test]
fn the_tf32_bound_allows_truncation_of_long_fractions() -> Result<(), Error> {
    let types = element_types(Tf32, F32, F32);
    let row = Instruction::for_types(types, ArchKind::Sm90).expect("Hopper has it");
    let one = |x: f64, claimed: f64| -> Result<Verdict, Error> {
        let mut case = RandomCase::random(types, ArchKind::Sm90, 1, Fill::Random)?;
        // The values in a user's slice. `set` would round them to tf32.
        let raw = vec![x as f32; M];
        case.b = HostBuffer::poisoned(Tf32, N)?;
        (0..N).try_for_each(|place| case.b.set(place, 1.0))?;
        case.compute(|_, _| claimed)?;
        let a = HostSlice::new::<numeric::Tf32>(&raw);
        let (b, d) = (case.b.slice(0..N)?, case.d.slice(0..M * N)?);
        case.judge(a, b, d)
    };
    let x = 1.0 + 1.75 * 2f64.powi(-11);
    let read = f64::from(row.sum(&[x as f32], &[1.0]));
    assert_eq!((read, f64::from(numeric::Tf32::as_read(x as f32))), (1.0, 1.0));
    assert!(one(x, read)?.is_right(), "truncated, as wgmma does");
    assert!(
        one(x, f64::from(numeric::Tf32::nearest(x as f32)))?.is_right(),
        "rounded, as a copy to tf32 does"
    );
    assert!(one(x, x)?.is_right(), "kept");
    assert!(!one(x, x - 2f64.powi(-8))?.is_right(), "off by four units");
    // A tf32 number: nothing is truncated, and the bound does not permit it.
    let exact = 1.0 + 2f64.powi(-10);
    assert!(one(exact, exact)?.is_right() && !one(exact, 1.0)?.is_right());
    // An integer with more than 11 bits is not compared with `==`.
    let verdict = one(4097.0, 4096.0)?;
    assert!(verdict.is_right() && verdict.elements_exact == 0, "{verdict}");
    assert!(!one(4096.0, 4092.0)?.is_right());
    Ok(())
}

/// fp8 sums without promotion decide nothing if `n u >= 1/2`. The verdict then asks for integers.
#[test]
fn long_fp8_sums_are_decided_by_integers() -> Result<(), Error> {
    let types = Combined { a: E4m3, b: E5m2, accumulator: F32, c: Bf16 };
    let mut case = RandomCase::random(types, ArchKind::Sm90, 4096, Fill::Random)?;
    case.compute(|_, _| 1.0)?;
    let verdict = case.verdict()?;
    assert_eq!((verdict.elements_undecided, verdict.is_right()), (M * N, false));
    assert!(verdict.to_string().contains("use small whole numbers"), "{verdict}");
    Ok(())
}

/// Results of single H200 instructions with an accumulator of 0: bf16 and tf32 factors down to the
/// smallest, products far below the smallest `f32`, and sums that are truncated to 0. The host's
/// step has the same bits. (`tests/gpu/tensor_steps.rs` asks a device again.)
#[test]
fn recorded_h200_steps_have_the_bits_of_the_host() {
    let (mut compared, mut least) = (0, 0);
    for line in tensor_steps::recorded() {
        let types = element_types(line.kind, F32, F32);
        let instruction = Instruction::for_types(types, ArchKind::Sm90).expect("Hopper has it");
        let found = instruction.step(0.0, &line.a, &line.b);
        assert_eq!(
            found.to_bits(),
            line.d.to_bits(),
            "{}: {:?} and {:?}",
            line.kind,
            line.a,
            line.b
        );
        compared += 1;
        least += usize::from(line.d.is_subnormal());
    }
    assert!(compared >= 80 && least >= 20, "{compared} steps, {least} subnormal sums");
}
