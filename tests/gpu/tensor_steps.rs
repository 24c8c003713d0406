//! Steps of a device's tensor cores have the host's bits: steps recorded on an H200, and random
//! numbers down to the smallest ones. Each step starts from the device's previous sum.

use crate::harness::{prelude::*, tensor_steps::recorded, wgmma};

/// Rows of A and columns of B of a product.
const MN: usize = 64;
/// Steps of a stage.
const STEPS: usize = 4;

/// Element type with its instructions on the host and on the device, and the bits of a number.
#[derive(Clone, Copy)]
struct Kind {
    element: ElementKind,
    input: ElementKind,
    bits: fn(f32) -> u32,
}

const KINDS: [Kind; 5] = [
    Kind {
        element: ElementKind::Bf16,
        input: ElementKind::Bf16,
        bits: |x| Bf16::from_f32(x).to_bits() as u32,
    },
    Kind {
        element: ElementKind::F16,
        input: ElementKind::F16,
        bits: |x| F16::from_f32(x).to_bits() as u32,
    },
    Kind { element: ElementKind::Tf32, input: ElementKind::Tf32, bits: f32::to_bits },
    Kind {
        element: ElementKind::E4m3,
        input: ElementKind::E4m3,
        bits: |x| E4m3::from_f64(x as f64).to_bits() as u32,
    },
    Kind {
        element: ElementKind::E5m2,
        input: ElementKind::E5m2,
        bits: |x| E5m2::from_f64(x as f64).to_bits() as u32,
    },
];

impl Kind {
    /// Returns the nearest number of the type. For tf32, this is the number that the device reads.
    fn rounded(self, x: f32) -> f32 {
        let bits = (self.bits)(x);
        match self.element {
            ElementKind::Bf16 => Bf16::from_bits(bits as u16).to_f32(),
            ElementKind::F16 => F16::from_bits(bits as u16).to_f32(),
            ElementKind::E4m3 => E4m3::from_bits(bits as u8).to_f32(),
            ElementKind::E5m2 => E5m2::from_bits(bits as u8).to_f32(),
            _ => f32::from_bits(bits & !0x1fff),
        }
    }
}

/// A 64 x 64 product of one stage.
struct Stage {
    probe: WarpgroupProbe,
    mma: MmaWarpgroup,
    kind: Kind,
    host: Instruction,
}

impl Stage {
    fn new(kind: Kind) -> Self {
        let tile = wgmma::tile(kind.input, Along::K, SwizzleMode::Bytes128, MN as u32);
        let mma = MmaWarpgroup::new(OperandA::Shared(tile), tile, ElementKind::F32, MN as u32)
            .expect("a product");
        let probe =
            WarpgroupProbe::prepare(&open(0).expect("this test runs on an NVIDIA GPU"), &mma)
                .expect("a kernel");
        let types = element_types(kind.element, ElementKind::F32, ElementKind::F32);
        Self {
            probe,
            mma,
            kind,
            host: Instruction::for_types(types, ArchKind::Sm90).expect("an instruction of Hopper"),
        }
    }

    /// Returns the depth of one step.
    fn depth(&self) -> usize {
        self.mma.b().k() as usize / STEPS
    }

    /// Returns `D(m, n)` row by row for rows of A and columns of B. Missing rows, columns, and
    /// elements are zeros.
    fn answer(&self, a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<f32> {
        let of = |rows: &[Vec<f32>], mn: u32, k: u32| {
            let number =
                rows.get(mn as usize).and_then(|row| row.get(k as usize)).copied().unwrap_or(0.0);
            (self.kind.bits)(number)
        };
        let tile = self.mma.b();
        let d = self
            .probe
            .run(&tile_bytes(&tile, |m, k| of(a, m, k)), &tile_bytes(&tile, |n, k| of(b, n, k)), 1)
            .expect("a run of the probe");
        d.into_iter().map(|x| x as f32).collect()
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn recorded_steps_are_reproduced() {
    let lines = recorded();
    let mut compared = 0;
    for kind in KINDS {
        let of_kind: Vec<_> = lines.iter().filter(|line| line.kind == kind.element).collect();
        if of_kind.is_empty() {
            continue;
        }
        let stage = Stage::new(kind);
        for some in of_kind.chunks(MN) {
            let (a, b): (Vec<_>, Vec<_>) =
                some.iter().map(|line| (line.a.clone(), line.b.clone())).unzip();
            let d = stage.answer(&a, &b);
            for (at, line) in some.iter().enumerate() {
                assert_eq!(
                    d[at * MN + at].to_bits(),
                    line.d.to_bits(),
                    "{}: {:?} and {:?}",
                    line.kind,
                    line.a,
                    line.b
                );
                compared += 1;
            }
        }
    }
    println!("{compared} answers");
    assert_eq!(compared, lines.len());
}

/// Returns rows of `depth` numbers in `binades` binades from `2^top` down, rounded to the type.
/// Some numbers are 0.
fn random_rows(seed: u64, depth: usize, (top, binades): (i32, u64), kind: Kind) -> Vec<Vec<f32>> {
    let one = |index: u64| {
        let bits = draw(seed, index);
        let significand = 1.0 + (bits >> 40) as f64 / f64::from(1 << 24);
        let size = significand * 2f64.powi(top - ((bits >> 8 & 0xffff) % binades) as i32);
        let x = if bits.is_multiple_of(23) { 0.0 } else { size };
        kind.rounded(if bits & 1 == 0 { x } else { -x } as f32)
    };
    (0..MN).map(|row| (0..depth).map(|k| one((row * depth + k) as u64)).collect()).collect()
}

/// For each type, several exponent ranges, and each step: starting from the device's sum of the
/// previous steps, the host's step has the device's bits.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn random_steps_have_the_bits_of_the_host() {
    let (mut compared, mut least, mut wrong) = (0, 0, Vec::new());
    for kind in KINDS {
        let stage = Stage::new(kind);
        let ranges: &[[(i32, u64); 2]] = match kind.element {
            ElementKind::Bf16 | ElementKind::Tf32 => &[
                [(3, 6), (3, 6)],
                [(-60, 75), (-60, 75)],
                [(-55, 12), (-58, 12)],
                [(-120, 20), (0, 20)],
                [(-60, 30), (-56, 12)],
                [(-58, 22), (-58, 22)],
                [(-66, 4), (-66, 30)],
            ],
            ElementKind::F16 => &[[(3, 6), (3, 6)], [(-5, 20), (-5, 20)], [(-12, 12), (8, 8)]],
            _ => &[[(3, 6), (3, 6)], [(-3, 8), (-3, 8)]],
        };
        let depth = stage.depth();
        for (number, &[of_a, of_b]) in ranges.iter().enumerate() {
            for round in 0..4 {
                let seed = 1000 + 100 * number as u64 + 2 * round;
                let a = random_rows(seed, STEPS * depth, of_a, kind);
                let b = random_rows(seed + 1, STEPS * depth, of_b, kind);
                let mut before = vec![0f32; MN * MN];
                for step in 0..STEPS {
                    let first = |rows: &[Vec<f32>]| {
                        rows.iter()
                            .map(|row| row[..(step + 1) * depth].to_vec())
                            .collect::<Vec<_>>()
                    };
                    let after = stage.answer(&first(&a), &first(&b));
                    for (at, (&was, &is)) in before.iter().zip(&after).enumerate() {
                        let part = |rows: &[Vec<f32>], row: usize| {
                            rows[row][step * depth..(step + 1) * depth].to_vec()
                        };
                        let (x, y) = (part(&a, at / MN), part(&b, at % MN));
                        let host = stage.host.step(was, &x, &y);
                        compared += 1;
                        least += usize::from(is.is_subnormal());
                        if host.to_bits() != is.to_bits() {
                            let hex = |row: &[f32]| {
                                row.iter()
                                    .map(|x| format!("{:08x}", x.to_bits()))
                                    .collect::<Vec<_>>()
                            };
                            let line = serde_json::json!({"type": kind.element.name(), "c": format!("{:08x}", was.to_bits()), "a": hex(&x),
                                "b": hex(&y), "d": format!("{:08x}", is.to_bits()), "host": format!("{:08x}", host.to_bits())});
                            wrong.push(line.to_string());
                        }
                    }
                    before = after;
                }
            }
        }
    }
    println!("{compared} steps, {least} sums below the normal numbers, {} apart", wrong.len());
    wrong.iter().step_by(wrong.len() / 40 + 1).for_each(|line| println!("{line}"));
    assert!(wrong.is_empty() && least > 1000, "{} of {compared} steps", wrong.len());
}
