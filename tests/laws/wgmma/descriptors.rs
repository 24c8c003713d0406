//! Matrix descriptors address the elements of a tile, a wrong descriptor is detected, and the
//! k-steps of a tile together compute the GEMM.

use crate::harness::{
    prelude::*,
    wgmma::{bits, products, whole, *},
};
use falchion::warp::wgmma::{FragmentMap, ROWS, STAGE_BYTES, bytes_read};

/// Returns the first element of a tile at `start` that an instruction would read from a wrong
/// address, over all steps and first rows.
fn misread(
    tile: &OperandTile,
    start: u32,
    told: impl Fn(&OperandTile, u32, u32) -> (u64, Along),
    lies: impl Fn(u32, u32) -> Option<u32>,
) -> Option<(u32, u32)> {
    let depth = tile.input().elements_in(32);
    for step in 0..STEPS {
        for first in (0..tile.mn()).step_by(tile.multiple() as usize) {
            let (descriptor, along) = told(tile, first, step);
            for mn in first..tile.mn().min(first + ROWS * 4) {
                for k in 0..depth {
                    let read = bytes_read(descriptor, along, tile.input(), mn - first, k);
                    if read != lies(mn, step * depth + k).map(|lies| start + lies) {
                        return Some((mn, step * depth + k));
                    }
                }
            }
        }
    }
    None
}

fn told(start: u32) -> impl Fn(&OperandTile, u32, u32) -> (u64, Along) {
    move |tile, first, step| {
        let descriptor = tile.descriptor(start, first).expect("a descriptor");
        (
            descriptor
                .advanced(tile.step_bytes(step).expect("a step"))
                .expect("within reach")
                .encode(),
            tile.along(),
        )
    }
}

/// For every tile, start, first row and step, and every (mn, k) that an instruction of up to 256
/// rows reads: `bytes_read(descriptor, mn - first, k) = start + tile(mn, k)`.
#[test]
fn descriptors_read_the_elements_of_the_tile() {
    let tiles = tiles();
    for tile in &tiles {
        for start in [0, tile.swizzle().repeat_bytes(), 0x1_c000] {
            let wrong = misread(tile, start, told(start), |mn, k| tile.byte_offset(mn, k));
            assert_eq!(wrong, None, "{tile:?} at {start:#x}");
        }
    }
    println!("{} tiles at three starts", tiles.len());
}

/// Returns the numbers that the statement of a stage adds to an operand's descriptor, one per step.
/// The first step adds none.
fn added(text: &str, register: &str) -> Vec<u64> {
    let mut steps = vec![0];
    for line in text.lines().filter(|line| line.contains(&format!("add.s64 {register}, %"))) {
        let number = line.rsplit(", ").next().and_then(|rest| rest.split(';').next());
        steps.push(
            number.and_then(|digits| digits.parse().ok()).unwrap_or_else(|| panic!("{line}")),
        );
    }
    steps
}

/// The text of a stage has its instruction four times in one statement, and only the first uses the
/// predicate of `scale_d`. It adds to the 64 bits of a descriptor the difference to those of the
/// step: `bits + added = encode(advanced(step))`.
#[test]
fn the_statement_advances_descriptors_by_the_steps_of_the_tile() {
    let mut count = 0;
    for types in types() {
        for swizzle in SwizzleMode::ALL {
            for mma in products(types, 96, swizzle) {
                let text = mma.header("Mma");
                let mnemonic = format!("\"{} {{", mma.instruction().mnemonic());
                let lines: Vec<_> = text.lines().filter(|line| line.contains(&mnemonic)).collect();
                assert_eq!(
                    (lines.len(), text.matches("asm volatile").count()),
                    (STEPS as usize, 1),
                    "{}",
                    words(&mma)
                );
                let under = |line: &str, predicate| {
                    line.contains(&format!(", {predicate};"))
                        || line.contains(&format!(", {predicate}, "))
                };
                assert!(
                    under(lines[0], "p") && lines[1..].iter().all(|line| under(line, "q")),
                    "{}",
                    words(&mma)
                );
                let mut operands = vec![("b", mma.b())];
                if let OperandA::Shared(tile) = mma.a() {
                    operands.push(("a", tile));
                }
                for (register, tile) in operands {
                    let first = tile.descriptor(0x3_0000, 0).expect("a descriptor");
                    let advanced = |step| {
                        first
                            .advanced(tile.step_bytes(step).expect("a step"))
                            .expect("within reach")
                            .encode()
                    };
                    let told: Vec<_> = added(&text, register)
                        .into_iter()
                        .map(|units| first.encode() + units)
                        .collect();
                    assert_eq!(
                        told,
                        (0..STEPS).map(advanced).collect::<Vec<_>>(),
                        "{register} of {}",
                        words(&mma)
                    );
                }
                count += 1;
            }
        }
    }
    println!("{count} statements");
}

/// Elements that no instruction reads have no address.
#[test]
fn no_bytes_are_read_beyond_an_instruction() {
    let all = u64::MAX ^ 7 << 49;
    let read = |mn, k| bytes_read(all, Along::K, ElementKind::Tf32, mn, k);
    assert!(read(255, 7).is_some());
    assert_eq!((read(256, 0), read(0, 8), read(u32::MAX, u32::MAX)), (None, None, None));
    assert_eq!(bytes_read(u64::MAX, Along::K, ElementKind::Tf32, 0, 0), None, "a base offset");
    let tile = tiles()[0];
    assert_eq!(
        (
            tile.byte_offset(tile.mn(), 0),
            tile.byte_offset(0, tile.k()),
            tile.byte_offset(u32::MAX, 0)
        ),
        (None, None, None)
    );
}

/// A changed field of a descriptor, or a changed byte of a tile, changes the elements that are
/// read. Bytes that are not read may have any value.
#[test]
fn a_wrong_descriptor_is_found() {
    type Change = fn(MatrixDescriptor) -> Result<MatrixDescriptor, Refusal>;
    fn with(
        d: MatrixDescriptor,
        leading: u32,
        stride: u32,
        swizzle: SwizzleMode,
    ) -> Result<MatrixDescriptor, Refusal> {
        MatrixDescriptor::new(d.start(), leading, stride, swizzle)
    }
    let changes: [(&str, Change); 12] = [
        ("stride one chunk more", |d| with(d, d.leading(), d.stride() + 16, d.swizzle())),
        ("stride one chunk less", |d| with(d, d.leading(), d.stride() - 16, d.swizzle())),
        ("stride 0", |d| with(d, d.leading(), 0, d.swizzle())),
        ("stride doubled", |d| with(d, d.leading(), d.stride() * 2, d.swizzle())),
        ("swizzle none", |d| with(d, d.leading(), d.stride(), SwizzleMode::None)),
        ("swizzle of 32 bytes", |d| with(d, d.leading(), d.stride(), SwizzleMode::Bytes32)),
        ("swizzle of 64 bytes", |d| with(d, d.leading(), d.stride(), SwizzleMode::Bytes64)),
        ("swizzle of 128 bytes", |d| with(d, d.leading(), d.stride(), SwizzleMode::Bytes128)),
        ("start one chunk on", |d| d.advanced(16)),
        ("start one row on", |d| d.advanced(d.swizzle().row_bytes())),
        ("start one atom on", |d| d.advanced(d.swizzle().repeat_bytes())),
        ("leading and stride exchanged", |d| with(d, d.stride(), d.leading(), d.swizzle())),
    ];
    let mut seen = 0;
    for tile in tiles().into_iter().filter(|tile| tile.mn() == 128) {
        let start = 0x4000;
        let lies = |mn, k| tile.byte_offset(mn, k);
        let changed = |change: Change| {
            misread(
                &tile,
                start,
                |tile, first, step| {
                    let (bits, along) = told(start)(tile, first, step);
                    (change(MatrixDescriptor::decode(bits)).expect("a descriptor").encode(), along)
                },
                lies,
            )
        };
        for (name, change) in changes {
            let same = change(MatrixDescriptor::decode(told(start)(&tile, 0, 0).0))
                == Ok(MatrixDescriptor::decode(told(start)(&tile, 0, 0).0));
            if !same {
                assert!(changed(change).is_some(), "{tile:?}: {name} is not seen");
                seen += 1;
            }
        }
        // For K-major tiles, the leading byte offset is read only without a swizzle. For MN-major
        // tiles, it is always read.
        let leading = changed(|d| with(d, d.leading() + 16, d.stride(), d.swizzle()));
        assert_eq!(
            leading.is_some(),
            tile.along() == Along::Mn || tile.swizzle() == SwizzleMode::None,
            "{tile:?}: leading offset"
        );
        let other = if tile.along() == Along::K { Along::Mn } else { Along::K };
        let transposed = misread(
            &tile,
            start,
            |tile, first, step| (told(start)(tile, first, step).0, other),
            lies,
        );
        assert!(transposed.is_some(), "{tile:?}: the other way is not seen");
        let halted = misread(&tile, start, |tile, first, _| told(start)(tile, first, 0), lies);
        assert!(halted.is_some(), "{tile:?}: steps that do not advance are not seen");
        seen += 2;
        if tile.swizzle() != SwizzleMode::None {
            let plain = SmemTile { bits: 0, ..tile.tma_box() };
            let unswizzled = |mn: u32, k: u32| {
                let number = mn / plain.mn * (tile.k() / plain.k) + k / plain.k;
                Some(
                    (number * plain.elements() + plain.offset(mn % plain.mn, k % plain.k))
                        * tile.input().bytes_of(1),
                )
            };
            assert!(
                misread(&tile, start, told(start), unswizzled).is_some(),
                "{tile:?}: a tile without its swizzle is not seen"
            );
            let off = |mn, k| tile.byte_offset(mn, k).map(|byte| byte ^ 16);
            assert!(
                misread(&tile, start, told(start), off).is_some(),
                "{tile:?}: a swizzle off by one chunk is not seen"
            );
            seen += 2;
        }
    }
    println!("{seen} changes seen");
    assert!(seen > 400);
}

/// `decode(encode(d)) = d` at the limits of each field.
#[test]
fn descriptors_round_trip() -> Result<(), Refusal> {
    const ENDS: [u32; 4] = [0, 16, 1024, (1 << 18) - 16];
    let mut all = BTreeSet::new();
    let field = |number: usize, place: usize| ENDS[number >> (2 * place) & 3];
    for number in 0..64 {
        let (start, leading, stride) = (field(number, 0), field(number, 1), field(number, 2));
        for swizzle in SwizzleMode::ALL {
            let descriptor = MatrixDescriptor::new(start, leading, stride, swizzle)?;
            assert_eq!(MatrixDescriptor::decode(descriptor.encode()), descriptor);
            all.insert(descriptor.encode());
        }
    }
    assert_eq!(all.len(), 64 * 4, "no two descriptors have the same bits");
    Ok(())
}

/// Returns the product as the hardware computes it: operands are stored by their maps and read
/// through descriptors or from registers, and each sum is at the position of the accumulator map.
/// `skew` is added to B's descriptor.
fn computed(mma: &MmaWarpgroup, skew: u32) -> Vec<i32> {
    let i = mma.instruction();
    let value = |input: ElementKind, bytes: &[u8], seed_range: i32| {
        let found = (-3..=seed_range).find(|&x| {
            !(input == ElementKind::U8 && x < 0)
                && bits(input, x).to_le_bytes()[..bytes.len()] == *bytes
        });
        found.expect("a whole number that was laid")
    };
    let width = i.a().bytes_of(1) as usize;
    let held = match mma.a() {
        OperandA::Shared(tile) => tile_bytes(&tile, |m, k| bits(i.a(), whole(i.a(), 1, m, k))),
        OperandA::Registers(input) => {
            fragment_bytes(&FragmentMap { input }, |m, k| bits(input, whole(input, 1, m, k)))
        }
    };
    let laid = tile_bytes(&mma.b(), |n, k| bits(i.b(), whole(i.b(), 2, n, k)));
    let told = |tile: OperandTile, step, skew| {
        let descriptor = tile
            .descriptor(0, 0)
            .and_then(|d| d.advanced(tile.step_bytes(step)? + skew).ok())
            .expect("a descriptor");
        descriptor.encode()
    };
    let mut d = vec![0; (ROWS * i.n()) as usize];
    for step in 0..STEPS {
        let mut a = vec![0; (ROWS * i.k()) as usize];
        match mma.a() {
            OperandA::Shared(tile) => {
                for (m, k) in (0..ROWS).flat_map(|m| (0..i.k()).map(move |k| (m, k))) {
                    let from = bytes_read(told(tile, step, 0), tile.along(), i.a(), m, k)
                        .expect("an address") as usize;
                    a[(m * i.k() + k) as usize] = value(i.a(), &held[from..from + width], 6);
                }
            }
            OperandA::Registers(input) => {
                let map = FragmentMap { input };
                let each = map.domain().column;
                for point in points(&map) {
                    let from = ((point.row * STEPS + step) * each + point.column) as usize * width;
                    a[map.at(point).expect("held") as usize] =
                        value(input, &held[from..from + width], 6);
                }
            }
        }
        let b = |n, k| {
            let from = bytes_read(told(mma.b(), step, skew), mma.b().along(), i.b(), n, k)
                .expect("an address") as usize
                % laid.len();
            value(i.b(), &laid[from..from + width], 6)
        };
        let columns: Vec<Vec<i32>> =
            (0..i.n()).map(|n| (0..i.k()).map(|k| b(n, k)).collect()).collect();
        let map = mma.accumulators();
        for point in points(&map) {
            let ((m, n), depth) =
                (map.place(point.row, point.column).expect("held"), i.k() as usize);
            let row = &a[m as usize * depth..][..depth];
            d[map.at(point).expect("held") as usize] +=
                row.iter().zip(&columns[n as usize]).map(|(a, b)| a * b).sum::<i32>();
        }
    }
    d
}

/// `D(m, n) = sum over k of A(m, k) B(n, k)` for every type, axis, and swizzle. The result differs
/// if B is read from an address that is 16 bytes off.
#[test]
fn the_parts_of_a_stage_compute_the_product() {
    let mut count = 0;
    for types in types() {
        for swizzle in SwizzleMode::ALL {
            for mma in products(types, 24, swizzle).into_iter().chain(products(types, 80, swizzle))
            {
                let wanted = wanted(&mma);
                assert!(
                    wanted.iter().any(|&x| x != 0)
                        && mma.b().k() * mma.b().input().bytes_of(1) == STAGE_BYTES
                );
                assert_eq!(computed(&mma, 0), wanted, "{}", words(&mma));
                assert_ne!(computed(&mma, CHUNK_BYTES), wanted, "{}", words(&mma));
                count += 1;
            }
        }
    }
    println!("{count} products");
}
