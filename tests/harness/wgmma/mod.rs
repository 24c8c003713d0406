//! `wgmma` instructions for the tests of their maps, and integers as the bits of each input type.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod probe;

use crate::harness::prelude::*;

/// Input types of `wgmma` in the PTX ISA.
pub const INPUTS: [ElementKind; 7] = [
    ElementKind::Tf32,
    ElementKind::F16,
    ElementKind::Bf16,
    ElementKind::E4m3,
    ElementKind::E5m2,
    ElementKind::I8,
    ElementKind::U8,
];

/// Returns the pairs of input types with each of their accumulator types.
pub fn types() -> Vec<(ElementKind, ElementKind, ElementKind)> {
    use ElementKind as D;
    use ElementKind as T;
    let mut types = vec![
        (T::F16, T::F16, D::F32),
        (T::F16, T::F16, D::F16),
        (T::Bf16, T::Bf16, D::F32),
        (T::Tf32, T::Tf32, D::F32),
    ];
    for (group, accumulators) in
        [([T::E4m3, T::E5m2], &[D::F32, D::F16][..]), ([T::I8, T::U8], &[D::I32])]
    {
        for a in group {
            types.extend(group.iter().flat_map(|&b| accumulators.iter().map(move |&d| (a, b, d))));
        }
    }
    types
}

/// Returns the contiguous axes that an operand of a type may have.
pub fn ways(input: ElementKind) -> &'static [Along] {
    if input.bytes_of(1) == 2 { &[Along::K, Along::Mn] } else { &[Along::K] }
}

/// Returns the smallest tile with at least `mn` rows or columns.
pub fn tile(input: ElementKind, along: Along, swizzle: SwizzleMode, mn: u32) -> OperandTile {
    let row = swizzle.row_bytes() / input.bytes_of(1);
    let multiple = if along == Along::K { 8 } else { row };
    OperandTile::new(input, along, swizzle, mn.next_multiple_of(multiple))
        .expect("the size is a multiple")
}

/// Returns tiles of every type, axis, and swizzle: the smallest, odd numbers of atoms, and the
/// tiles of large CTAs.
pub fn tiles() -> Vec<OperandTile> {
    let mut tiles = BTreeSet::new();
    for (of_input, input) in INPUTS.into_iter().enumerate() {
        for &along in ways(input) {
            for (number, swizzle) in SwizzleMode::ALL.into_iter().enumerate() {
                for mn in [8, 24, 64, 96, 128, 192, 256, 320] {
                    let tile = tile(input, along, swizzle, mn);
                    tiles.insert((of_input, along.is(Along::K), number, tile.mn()));
                }
            }
        }
    }
    let along = |k| if k { Along::K } else { Along::Mn };
    let made = tiles
        .into_iter()
        .map(|(input, k, number, mn)| tile(INPUTS[input], along(k), SwizzleMode::ALL[number], mn));
    made.collect()
}

/// Returns every instruction with `n` columns for a row of [`types`] and one swizzle. A comes from
/// registers or from shared memory, and operands in shared memory have all their axes.
pub fn products(
    (a, b, accumulator): (ElementKind, ElementKind, ElementKind),
    n: u32,
    swizzle: SwizzleMode,
) -> Vec<MmaWarpgroup> {
    let shared = ways(a).iter().map(|&along| OperandA::Shared(tile(a, along, swizzle, 64)));
    let sources: Vec<_> = shared.chain([OperandA::Registers(a)]).collect();
    let tiles = ways(b).iter().map(|&along| tile(b, along, swizzle, n));
    let product = |(a, b)| MmaWarpgroup::new(a, b, accumulator, n).expect("the instruction exists");
    tiles
        .flat_map(|b| sources.iter().map(move |&a| (a, b)).collect::<Vec<_>>())
        .map(product)
        .collect()
}

/// Returns the bits of an integer as an element, in the low bytes. Every type except `u8`
/// represents -4 to 4.
pub fn bits(input: ElementKind, x: i32) -> u32 {
    match input {
        ElementKind::F16 => F16::from_f32(x as f32).to_bits().into(),
        ElementKind::Bf16 => Bf16::from_f32(x as f32).to_bits().into(),
        ElementKind::Tf32 => (x as f32).to_bits(),
        ElementKind::E4m3 => small(x, 3, 7),
        // The upper half holds the next f16 element.
        ElementKind::E5m2 => u32::from(F16::from_f32(x as f32).to_bits() >> 8),
        ElementKind::I8 => u32::from(x as i8 as u8),
        _ => u32::from(u8::try_from(x).expect("not below 0")),
    }
}

/// Returns sign, exponent, and fraction of a small integer: `x = s * 2^e * (1 + f / 2^fraction)`.
fn small(x: i32, fraction: u32, bias: u32) -> u32 {
    if x == 0 {
        return 0;
    }
    let (sign, magnitude) = (u32::from(x < 0), x.unsigned_abs());
    let exponent = magnitude.ilog2();
    let rest = (magnitude - (1 << exponent)) << fraction >> exponent;
    sign << 7 | (exponent + bias) << fraction | rest
}

/// Returns an integer for element (mn, k) of an operand: -3 to 3, or 0 to 6 for `u8`. No tile size
/// is a period of the sequence.
pub fn whole(input: ElementKind, seed: u32, mn: u32, k: u32) -> i32 {
    let mixed = (mn.wrapping_mul(2_654_435_761)
        ^ k.wrapping_mul(2_246_822_519)
        ^ seed.wrapping_mul(3_266_489_917))
    .wrapping_mul(668_265_263);
    let x = (mixed >> 16) as i32 % 7;
    if input == ElementKind::U8 { x } else { x - 3 }
}

/// Returns `sum over k of A(m, k) B(n, k)` of [`whole`] numbers with seeds 1 and 2, row by row.
pub fn wanted(mma: &MmaWarpgroup) -> Vec<i32> {
    let (i, depth) = (mma.instruction(), mma.b().k());
    let sum = |m, n| (0..depth).map(|k| whole(i.a(), 1, m, k) * whole(i.b(), 2, n, k)).sum();
    (0..64).flat_map(|m| (0..i.n()).map(move |n| (m, n))).map(|(m, n)| sum(m, n)).collect()
}

/// Returns the instruction as text.
pub fn words(mma: &MmaWarpgroup) -> String {
    let a = match mma.a() {
        OperandA::Shared(tile) => format!("A {} along {:?}", tile.swizzle(), tile.along()),
        OperandA::Registers(_) => "A in registers".to_owned(),
    };
    format!(
        "{}, {a}, B {} along {:?}",
        mma.instruction().mnemonic(),
        mma.b().swizzle(),
        mma.b().along()
    )
}
