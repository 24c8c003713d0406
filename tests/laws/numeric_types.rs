//! Element types of tensor cores: every code of the 8-bit types, every binary16 converted to them,
//! and the bits that tf32 drops. Each conversion is compared with the definition of the type, not
//! with another conversion.

use crate::harness::prelude::*;
use falchion::numeric::Narrow;

/// Definition of an 8-bit type: numbers of exponent and fraction bits, whether exponents of all
/// ones are numbers, and its conversions.
struct Fp8 {
    kind: ElementKind,
    exponent_bits: u32,
    finite_top: bool,
    widen: fn(u8) -> f32,
    from_f32: fn(f32) -> u8,
    from_f64: fn(f64) -> u8,
}

const TYPES: [Fp8; 2] = [
    Fp8 {
        kind: ElementKind::E4m3,
        exponent_bits: 4,
        finite_top: true,
        widen: |bits| E4m3::from_bits(bits).widen(),
        from_f32: |x| Narrow::<E4m3>::narrow(x).to_bits(),
        from_f64: |x| Narrow::<E4m3>::narrow(x).to_bits(),
    },
    Fp8 {
        kind: ElementKind::E5m2,
        exponent_bits: 5,
        finite_top: false,
        widen: |bits| E5m2::from_bits(bits).widen(),
        from_f32: |x| Narrow::<E5m2>::narrow(x).to_bits(),
        from_f64: |x| Narrow::<E5m2>::narrow(x).to_bits(),
    },
];

impl Fp8 {
    /// Returns the number of a code, computed from its bits.
    fn value(&self, bits: u8) -> f64 {
        let fraction_bits = 7 - self.exponent_bits;
        let (bias, top) = ((1 << (self.exponent_bits - 1)) - 1, (1 << self.exponent_bits) - 1);
        let (exponent, fraction) =
            (i32::from(bits & 0x7f) >> fraction_bits, bits & ((1 << fraction_bits) - 1));
        let part = f64::from(fraction) / f64::from(1u32 << fraction_bits);
        let magnitude = if exponent == top && !self.finite_top {
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else if self.finite_top && bits & 0x7f == 0x7f {
            f64::NAN
        } else if exponent == 0 {
            part * 2f64.powi(1 - bias)
        } else {
            (1.0 + part) * 2f64.powi(exponent - bias)
        };
        if bits >= 0x80 { -magnitude } else { magnitude }
    }

    /// Returns the codes of non-negative finite numbers from zero on, in ascending order.
    fn finite(&self) -> Vec<(u8, f64)> {
        (0..0x80)
            .map(|bits| (bits, self.value(bits)))
            .filter(|(_, value)| value.is_finite())
            .collect()
    }

    /// Returns the code nearest to a number by searching all codes. Ties go to the even code,
    /// numbers beyond the last code to the last code, and NaN to `0x7f`.
    fn nearest(&self, x: f64) -> u8 {
        if x.is_nan() {
            return 0x7f;
        }
        let sign = if x.is_sign_negative() { 0x80 } else { 0 };
        let codes = self.finite();
        let beyond = codes.last().is_some_and(|last| x.abs() > last.1);
        let far = |value: f64| if beyond { -value } else { (value - x.abs()).abs() };
        let best =
            codes.iter().copied().reduce(|best, next| match far(next.1).total_cmp(&far(best.1)) {
                core::cmp::Ordering::Less => next,
                core::cmp::Ordering::Equal if next.0 & 1 == 0 => next,
                _ => best,
            });
        sign | best.expect("there are numbers").0
    }
}

/// `widen(c)` is the number that the definition gives to code c, for all 256 codes.
/// `narrow(widen(c)) = c`, except for infinities, which saturate, and NaNs, which become one code.
#[test]
fn every_code_widens_to_its_definition_and_narrows_back() {
    for fp8 in TYPES {
        for bits in 0..=u8::MAX {
            let (got, want) = (f64::from((fp8.widen)(bits)), fp8.value(bits));
            assert!(
                got == want && got.is_sign_negative() == want.is_sign_negative()
                    || got.is_nan() && want.is_nan()
            );
            let back = (fp8.from_f32)((fp8.widen)(bits));
            let expected = match want {
                _ if want.is_nan() => 0x7f,
                _ if want.is_infinite() => fp8.nearest(want),
                _ => bits,
            };
            assert_eq!(back, expected, "{} {bits:#x}", fp8.kind);
        }
        let finite = fp8.finite();
        assert!(finite.windows(2).all(|pair| pair[0].1 < pair[1].1));
        let largest = finite.last().expect("there are numbers").1;
        assert_eq!(
            (largest, fp8.kind.bytes_of(1)),
            (if fp8.finite_top { 448.0 } else { 57_344.0 }, 1)
        );
    }
}

/// `narrow(x)` is the nearest code, ties to even, for every binary16 x, converted from f32 and from
/// f64.
#[test]
fn every_half_narrows_to_the_nearest_code() {
    for fp8 in TYPES {
        for bits in 0..=u16::MAX {
            let x = F16::from_bits(bits);
            let want = fp8.nearest(x.to_f64());
            assert_eq!((fp8.from_f32)(x.to_f32()), want, "{} {x}", fp8.kind);
            assert_eq!((fp8.from_f64)(x.to_f64()), want, "{} {x}", fp8.kind);
        }
    }
}

/// Between neighbors a < b, the midpoint goes to the even code. A number that differs from the
/// midpoint by one binary32 step, or by a relative 2^-50, goes to the nearer code. Numbers are
/// therefore rounded once.
#[test]
fn ties_go_to_even_and_numbers_are_rounded_once() {
    for fp8 in TYPES {
        for pair in fp8.finite().windows(2) {
            let ((low, a), (high, b)) = (pair[0], pair[1]);
            let (middle, even) = ((a + b) / 2.0, if low & 1 == 0 { low } else { high });
            let near = middle as f32;
            assert_eq!(f64::from(near), middle);
            for sign in [0u8, 0x80] {
                let (x, flip) = (if sign == 0 { 1.0 } else { -1.0 }, |code: u8| code | sign);
                assert_eq!((fp8.from_f32)(x * near), flip(even));
                assert_eq!((fp8.from_f32)(x * near.next_down()), flip(low));
                assert_eq!((fp8.from_f32)(x * near.next_up()), flip(high));
                let x = f64::from(x);
                assert_eq!((fp8.from_f64)(x * middle * (1.0 - 2f64.powi(-50))), flip(low));
                assert_eq!((fp8.from_f64)(x * middle * (1.0 + 2f64.powi(-50))), flip(high));
            }
        }
        for x in [
            f32::INFINITY,
            f32::MAX,
            f32::NEG_INFINITY,
            f32::NAN,
            -f32::NAN,
            -0.0,
            f32::from_bits(1),
        ] {
            assert_eq!((fp8.from_f32)(x), fp8.nearest(f64::from(x)), "{} {x}", fp8.kind);
        }
    }
}

/// For every number with ten fraction bits, and edge values of the next 13 bits: reading truncates
/// to the number, conversion rounds to the nearest number, ties to even, and a converted number is
/// read unchanged.
#[test]
fn tf32_reads_nineteen_bits_of_an_f32() {
    for upper in 0..1u32 << 19 {
        let read = f32::from_bits(upper << 13);
        for low in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
            let x = f32::from_bits(upper << 13 | low);
            if !x.is_finite() {
                assert_eq!(
                    (Tf32::nearest(x).to_bits(), Tf32::as_read(x).to_bits()),
                    (x.to_bits(), read.to_bits())
                );
                continue;
            }
            assert_eq!(Tf32::as_read(x).to_bits(), read.to_bits());
            // The next number away from zero. After the last number comes infinity.
            let beyond = f32::from_bits((upper + 1) << 13);
            let up = low > 0x1000 || low == 0x1000 && upper & 1 == 1;
            let nearest = Tf32::nearest(x);
            assert_eq!(nearest.to_bits(), if up { beyond } else { read }.to_bits(), "{x:e}");
            assert_eq!(Tf32::as_read(nearest).to_bits(), nearest.to_bits());
        }
    }
}

/// Random operands are numbers of their type, also for tf32, whose storage holds more bits.
#[test]
fn random_operands_are_numbers_of_their_type() -> Result<(), Error> {
    for kind in [ElementKind::Tf32, ElementKind::E4m3, ElementKind::E5m2] {
        let view = View::new(Elements::new(64 * 64), Order::Row, 64);
        let mut buffer = HostBuffer::poisoned(kind, view.memory.length)?;
        assert!((0..view.memory.length).all(|place| buffer.get(place).is_ok_and(f64::is_nan)));
        Distribution::Random.fill(3, buffer.slice_mut(0..view.memory.length)?, &view, (64, 64))?;
        let mut distinct = BTreeSet::new();
        for place in 0..view.memory.length {
            let x = buffer.get(place)?;
            assert!((-2.0..=2.0).contains(&x), "{kind} {x}");
            assert!(kind != ElementKind::Tf32 || f64::from(Tf32::as_read(x as f32)) == x, "{x}");
            distinct.insert(x.to_bits());
            let mut again = HostBuffer::poisoned(kind, 1)?;
            again.set(0, x)?;
            assert_eq!(again.get(0)?, x);
        }
        assert!(distinct.len() > 50, "{kind} {}", distinct.len());
    }
    Ok(())
}

#[test]
fn type_names_parse_as_they_are_printed() {
    for (name, bytes, cuda) in [("tf32", 4, "tf32"), ("e4m3", 1, "e4m3"), ("e5m2", 1, "e5m2")] {
        let kind: ElementKind = name.parse().expect("a name");
        assert_eq!(
            (kind.name(), kind.to_string(), kind.bytes_of(1), kind.cuda()),
            (name, name.to_owned(), bytes, cuda)
        );
        assert_eq!(
            (kind.accumulator(), kind.is_integer(), kind.is_fp8()),
            (ElementKind::F32, false, bytes == 1)
        );
    }
    let sentence = "e4m2".parse::<ElementKind>().message();
    assert!(
        sentence.contains("`e4m2`") && sentence.contains("tf32, f16, bf16, e4m3, e5m2"),
        "{sentence}"
    );
}

/// The two tables: no duplicates, no fp8 or tf32 on CUDA cores, every pair of 8-bit types on tensor
/// cores, and f32 on both.
#[test]
fn the_table_of_tensor_cores_is_complete() {
    let narrow = |kind: ElementKind| kind == ElementKind::Tf32 || kind.is_fp8();
    assert!(
        COMBINATIONS.iter().all(|row| !narrow(row.a) && !narrow(row.b) && row.is_of(OpKind::Simt))
    );
    let distinct: HashSet<_> = TENSOR_OP_COMBINATIONS.iter().collect();
    assert_eq!((distinct.len(), TENSOR_OP_COMBINATIONS.len()), (38, 38));
    assert!(TENSOR_OP_COMBINATIONS.iter().all(|row| row.is_of(OpKind::TensorOp)));
    let f32s = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);
    assert!(f32s.is_of(OpKind::Simt) && f32s.is_of(OpKind::TensorOp));
    for a in [ElementKind::E4m3, ElementKind::E5m2] {
        for b in [ElementKind::E4m3, ElementKind::E5m2] {
            for c in [ElementKind::F16, ElementKind::Bf16, ElementKind::F32] {
                assert!(
                    Combined { a, b, accumulator: ElementKind::F32, c }.is_of(OpKind::TensorOp)
                );
            }
        }
    }
}
