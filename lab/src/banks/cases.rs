//! The accesses that test the rule of bank conflicts: in tests on every machine, and with
//! `scripts/banks.sh` on a device.
//!
//! The sources are three documents that teach GEMM by example (`book/src/banks.md` names them).
//! Their accesses are here with their true counts.

use crate::banks::{Direction, LANES, NotAnAccess, WarpAccess};
use crate::verify::draw;

/// An access with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The name, which says what the case shows.
    pub name: String,
    /// The access.
    pub access: WarpAccess,
}

/// Bytes of shared memory that all cases stay within.
pub const SPAN_BYTES: u32 = 16 * 1024;

/// Number of random accesses of each width.
const DRAWS: u64 = 24;

/// A set of active lanes, one bit per lane.
type Mask = u32;

/// The cases so far.
struct Cases {
    found: Vec<Case>,
}

impl Cases {
    /// Adds the access in which lane `l` touches the `unit(l)`-th vector of `bytes` bytes, for the
    /// lanes of `mask`.
    fn add(
        &mut self,
        name: &str,
        direction: Direction,
        bytes: u32,
        mask: Mask,
        unit: impl Fn(u64) -> u64,
    ) -> Result<(), NotAnAccess> {
        let lanes = (0..LANES as u64)
            .map(|lane| (mask >> lane & 1 == 1).then(|| unit(lane) * u64::from(bytes)));
        let access = WarpAccess::new(direction, bytes, lanes)?;
        self.found.push(Case { name: name.to_owned(), access });
        Ok(())
    }

    fn load(
        &mut self,
        name: &str,
        bytes: u32,
        unit: impl Fn(u64) -> u64,
    ) -> Result<(), NotAnAccess> {
        self.add(name, Direction::Load, bytes, ALL, unit)
    }

    fn store(
        &mut self,
        name: &str,
        bytes: u32,
        unit: impl Fn(u64) -> u64,
    ) -> Result<(), NotAnAccess> {
        self.add(name, Direction::Store, bytes, ALL, unit)
    }
}

const ALL: Mask = Mask::MAX;

/// Masks of partly active warps, with their names.
const PARTLY: [(&str, Mask); 9] = [
    ("lanes 0-15", 0x0000_ffff),
    ("lanes 16-31", 0xffff_0000),
    ("lanes 0-7", 0x0000_00ff),
    ("lanes 0-7 and 16-23", 0x00ff_00ff),
    ("even lanes", 0x5555_5555),
    ("lanes 0, 1 of four", 0x3333_3333),
    ("all but lane 1", 0xffff_fffd),
    ("all but lanes 1 and 30", 0xbfff_fffd),
    ("one lane", 0x0000_2000),
];

/// Returns all cases.
///
/// # Errors
/// None. A test checks that every case is valid.
pub fn cases() -> Result<Vec<Case>, NotAnAccess> {
    let mut cases = Cases { found: Vec::new() };
    sources(&mut cases)?;
    strides(&mut cases)?;
    partners(&mut cases)?;
    partly(&mut cases)?;
    random(&mut cases)?;
    Ok(cases.found)
}

/// Adds the accesses of the sources' kernels, with the sources' thread numbers. Two-dimensional
/// blocks are 16 wide.
fn sources(to: &mut Cases) -> Result<(), NotAnAccess> {
    to.load("tuning notes: column of [32][32]", 4, |l| l * 32)?;
    to.load("tuning notes: column of [32][33]", 4, |l| l * 33)?;
    to.store("tuning notes: row of [32][33]", 4, |l| 33 + l)?;
    to.load("tuning notes: shared_A[ty][k] of [64][64]", 4, |l| l / 16 * 64)?;
    to.load("tuning notes: shared_B[k][tx] of [64][64]", 4, |l| l % 16)?;
    to.store("tuning notes: shared_A[ty][4 tx] of [64][64], word by word", 4, |l| {
        l / 16 * 64 + l % 16 * 4
    })?;
    to.store("tuning notes: shared_A[ty][4 tx] of [64][65], word by word", 4, |l| {
        l / 16 * 65 + l % 16 * 4
    })?;
    to.store("tuning notes: shared_A[ty][4 tx] of [64][64], as float4", 16, |l| {
        l / 16 * 16 + l % 16
    })?;
    to.load("CuTe walk-through: A by its formula, 8 (tid mod 8)", 4, |l| l % 8 * 8)?;
    to.load("CuTe walk-through: A by its printed layout, tid mod 8", 4, |l| l % 8)?;
    to.load("CuTe walk-through: B by its formula, 8 (tid / 8)", 4, |l| l / 8 * 8)?;
    to.load("CuTe walk-through: B by its printed layout, tid / 8", 4, |l| l / 8)?;
    to.store("CuTe walk-through: tAsA, one row a thread", 4, |l| l)?;
    for (padding, name) in [(0, "unpadded"), (1, "padded")] {
        let (a, b) = (16 + padding, 32 + padding);
        to.load(&format!("SGEMM ladder, {name}: sA[tidy][k]"), 4, |l| l / 16 * 2 * a)?;
        to.load(&format!("SGEMM ladder, {name}: sB[k][tidx]"), 4, |l| l % 16 * 2)?;
        to.store(&format!("SGEMM ladder, {name}: sA[tidy][threadIdx.x]"), 4, |l| {
            l / 16 * 2 * a + l % 16
        })?;
        to.store(&format!("SGEMM ladder, {name}: sB[threadIdx.y][tidx]"), 4, |l| {
            l / 16 * b + l % 16 * 2
        })?;
    }
    to.load("SGEMM ladder: sB[k][tidx] of [16][32] as float2", 8, |l| l % 16)
}

/// Adds strides, sub-words, padding, and swizzles.
fn strides(to: &mut Cases) -> Result<(), NotAnAccess> {
    for stride in [0, 1, 2, 3, 4, 8, 16, 32, 33] {
        to.load(&format!("stride {stride}"), 4, |l| l * stride)?;
        to.store(&format!("stride {stride}"), 4, |l| l * stride)?;
    }
    for bytes in [1, 2] {
        to.load("neighbours", bytes, |l| l)?;
        to.load("a word apart each", bytes, |l| l * 4 / u64::from(bytes))?;
        to.load("32 words apart", bytes, |l| l * 128 / u64::from(bytes))?;
        to.store("neighbours", bytes, |l| l)?;
        to.store("equal", bytes, |_| 5)?;
    }
    for bytes in [8, 16] {
        for stride in [0, 1, 2, 3, 4, 5, 8, 16] {
            to.load(&format!("stride {stride}"), bytes, |l| l * stride)?;
            to.store(&format!("stride {stride}"), bytes, |l| l * stride)?;
        }
        to.load("backwards", bytes, |l| 31 - l)?;
        to.load("lanes dealt out over the phases", bytes, |l| l % 4 * 8 + l / 4)?;
    }
    // A column of a tile with rows of 32 words, swizzled by the row: single words, and chunks of
    // four words.
    to.load("column of 32 words, swizzle(5,0,5)", 4, |l| l * 32 + l)?;
    to.load("column of 32 words, swizzle(3,2,5)", 4, |l| l * 32 + l % 8 * 4)?;
    to.load("column of 16-byte chunks, rows of 128 bytes", 16, |l| l * 8)?;
    to.load("column of 16-byte chunks, swizzle(3,4,3) of bytes", 16, |l| l * 8 + l % 8)?;
    to.load("column of 16-byte chunks, rows of 144 bytes", 16, |l| l * 9)?;
    to.load("column of 8-byte chunks, rows of 128 bytes", 8, |l| l * 16)?;
    to.load("column of 8-byte chunks, rows of 136 bytes", 8, |l| l * 17)
}

/// Adds wide accesses in which some or all lanes (i, i^1) or (i, i^2) share addresses.
fn partners(to: &mut Cases) -> Result<(), NotAnAccess> {
    let agree = |l: u64, mask: u64| l & !mask;
    for bytes in [8, 16] {
        for direction in [Direction::Load, Direction::Store] {
            let mut add =
                |name: &str, unit: &dyn Fn(u64) -> u64| to.add(name, direction, bytes, ALL, unit);
            add("(i, i^1) equal", &|l| l >> 1)?;
            add("(i, i^2) equal", &|l| l >> 2 << 1 | l & 1)?;
            add("(i, i^4) equal", &|l| l >> 3 << 2 | l & 3)?;
            add("(i, i^16) equal", &|l| l % 16)?;
            add("(i, i^8) equal", &|l| l >> 4 << 3 | l & 7)?;
            add("(i, i^3) equal", &|l| (l ^ (l >> 1 & 1)) & !2)?;
            add("(i, i^1) and (i, i^2) equal", &|l| l >> 2)?;
            add("(i, i^1) equal but for the last pair", &|l| if l >= 30 { l } else { l >> 1 })?;
            add("(i, i^2) equal but for lane 5", &|l| if l == 5 { 40 } else { agree(l, 2) })?;
            add("(i, i^1) equal below lane 16", &|l| if l < 16 { l >> 1 } else { l })?;
            add("(i, i^1) equal from lane 16 on", &|l| if l < 16 { l } else { l >> 1 })?;
            add("(i, i^1) equal below lane 8", &|l| if l < 8 { l >> 1 } else { l })?;
            add("(i, i^1) equal in lanes 0-7 and 16-23", &|l| {
                if l & 8 == 0 { agree(l, 1) } else { l }
            })?;
            add("(i, i^1) equal below lane 16, (i, i^2) above", &|l| {
                if l < 16 { agree(l, 1) } else { agree(l, 2) }
            })?;
            add("(i, i^1) equal, on the banks of one phase", &|l| l >> 1 << 2)?;
            add("(i, i^1) equal, all on one bank", &|l| (l >> 1) * 16)?;
            add("(i, i^2) equal, all on one bank", &|l| (l >> 2 << 1 | l & 1) * 16)?;
            add("(i, i^1) equal, half as many banks as words", &|l| (l >> 1) * 2)?;
            add("two words, (i, i^1) apart and (i, i^2) apart", &|l| (l ^ l >> 1) & 1)?;
            add("lanes 0-15 and 16-31 on each other's banks, (i, i^1) equal", &|l| {
                l / 16 * 32 + l % 16 / 2
            })?;
            add("eight lanes a row of 2, as a warp reads A", &|l| {
                l >> 1 & 1 | (l >> 3 & 1) << 1 | (l >> 4) << 2
            })?;
            add("eight lanes a row of 2, as a warp reads B", &|l| l & 1 | (l >> 2 & 1) << 1)?;
        }
    }
    Ok(())
}

/// Adds partly active warps.
fn partly(to: &mut Cases) -> Result<(), NotAnAccess> {
    for (who, mask) in PARTLY {
        for bytes in [4, 8, 16] {
            for direction in [Direction::Load, Direction::Store] {
                to.add(&format!("{who}: neighbours"), direction, bytes, mask, |l| l)?;
            }
            to.add(&format!("{who}: one bank"), Direction::Load, bytes, mask, |l| l * 32)?;
            if bytes > 4 {
                to.add(&format!("{who}: (i, i^1) equal"), Direction::Load, bytes, mask, |l| {
                    l >> 1
                })?;
                to.add(&format!("{who}: (i, i^2) equal"), Direction::Load, bytes, mask, |l| {
                    l >> 2 << 1 | l & 1
                })?;
            }
        }
    }
    Ok(())
}

/// Adds random addresses: from a large range, and from a range so small that lanes share some.
/// Every third access has inactive lanes.
fn random(to: &mut Cases) -> Result<(), NotAnAccess> {
    for bytes in [4u32, 8, 16] {
        for number in 0..DRAWS {
            let seed = u64::from(bytes) << 32 | number;
            let vectors =
                if number % 2 == 0 { u64::from(SPAN_BYTES / bytes) } else { u64::from(96 / bytes) };
            let mask = if number % 3 == 2 { draw(seed, 99) as Mask | 1 } else { ALL };
            let direction = if number % 4 == 3 { Direction::Store } else { Direction::Load };
            to.add(&format!("random {number}"), direction, bytes, mask, |l| {
                draw(seed, l) % vectors
            })?;
            // Random addresses that partners share.
            let shared = 1 + number % 2;
            let name = format!("random {number}, (i, i^{shared}) equal");
            if bytes > 4 {
                to.add(&name, Direction::Load, bytes, mask, |l| {
                    draw(seed, l & !shared) % u64::from(SPAN_BYTES / bytes)
                })?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_an_access_within_the_span() {
        let cases = cases().unwrap();
        let end = |case: &Case| {
            case.access.lanes().iter().flatten().max().unwrap() + u64::from(case.access.bytes())
        };
        assert!(
            cases.iter().all(|case| end(case) <= u64::from(SPAN_BYTES)),
            "{:?}",
            cases.iter().find(|c| end(c) > u64::from(SPAN_BYTES))
        );
        println!("{} cases", cases.len());
    }
}
