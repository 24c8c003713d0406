//! Memory accesses of a GEMM. The counts come from accesses of the checked machine, not from
//! formulas.
//!
//! One CTA runs on the checked machine, thread by thread, and every access of a warp is counted.
//! CTAs are alike if tiles divide the problem and begin at multiples of 32 bytes, so the counts of
//! one CTA are multiplied by the number of CTAs. All k-tiles except the first and the last are
//! alike. With many k-tiles, two runs over a few k-tiles therefore give the counts per additional
//! k-tile:
//!
//! ```text
//! c(T) = c(p) + (T / p - 1) (c(2p) - c(p))         p k-tiles after which addresses are the same again modulo 32 bytes
//! ```
//!
//! The accesses of the epilogue are not counted. Each counted access is one access in the kernel's
//! source; a compiler may merge adjacent ones.

use super::{
    GlobalAccesses, Purpose, SharedAccesses,
    watched::{Strides, walk_block},
};
use crate::{Error, banks::SECTOR_BYTES};
use falchion::internals::{nest::Program, operand::Problem, shape::OperandKind};

/// The memory accesses of a GEMM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct Counters {
    /// Reads of A.
    pub a: GlobalAccesses,
    /// Reads of B.
    pub b: GlobalAccesses,
    /// Stores to shared memory: tiles, and the partials of warp slices. Asynchronous copies are
    /// included.
    pub stores: SharedAccesses,
    /// Loads from shared memory: fragments and accumulators.
    pub loads: SharedAccesses,
    /// Number of multiply-adds.
    pub multiply_adds: u64,
}

impl Counters {
    fn numbers(&mut self) -> [&mut u64; 15] {
        let Self { a, b, stores, loads, multiply_adds } = self;
        [
            &mut a.elements,
            &mut a.requests,
            &mut a.sectors,
            &mut a.lines,
            &mut b.elements,
            &mut b.requests,
            &mut b.sectors,
            &mut b.lines,
            &mut stores.accesses,
            &mut stores.wavefronts,
            &mut stores.ideal,
            &mut loads.accesses,
            &mut loads.wavefronts,
            &mut loads.ideal,
            multiply_adds,
        ]
    }

    /// Combines two counters number by number; `None` if a number has no result.
    fn with(mut self, mut other: Self, f: impl Fn(u64, u64) -> Option<u64>) -> Option<Self> {
        for (mine, other) in self.numbers().into_iter().zip(other.numbers()) {
            *mine = f(*mine, *other)?;
        }
        Some(self)
    }

    fn times(self, factor: u64) -> Option<Self> {
        self.with(self, |x, _| x.checked_mul(factor))
    }

    fn plus(self, other: Self) -> Option<Self> {
        self.with(other, u64::checked_add)
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.with(other, u64::checked_sub)
    }
}

/// Counts the accesses of a GEMM, with A and B in the user's frame. If the epilogue does not read
/// the accumulator, for example because alpha is 0, nothing is multiplied and all counts are 0.
///
/// ```
/// use falchion::{internals::operand::Problem, prelude::*};
/// use falchion_lab::counters::count;
///
/// let desc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm70>::DESC;
/// let alpha_is_one = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
/// let shapes = Problem::new(&desc, (2048, 2048, 2048), [None; 3], alpha_is_one);
/// let counters = count(&desc.one_schedule()?, &shapes)?;
/// assert_eq!(counters.a.elements + counters.b.elements, 2 * 2048 * 2048 * 2048 / 128);
/// # Ok::<(), falchion_lab::Error>(())
/// ```
///
/// # Errors
/// - [`falchion::Error::Refused`] if the description or the problem is invalid.
/// - [`falchion::Error::Fault`] if the host executor finds a fault in the program.
/// - [`Error::Measurement`] if the CTAs differ, if an address is not a multiple of the access size,
///   or if a count exceeds 64 bits.
pub fn count(program: &Program, problem: &Problem) -> Result<Counters, Error> {
    let desc = program.desc;
    desc.check()?;
    let walk = Walk::new(program, &problem.enter(&desc)?)?;
    let counters = walk.block(program)?.times(walk.blocks).ok_or_else(too_many)?;
    let [a, b] = OperandKind::BOTH.map(|operand| match operand.leave(desc.frame) {
        OperandKind::A => counters.a,
        OperandKind::B => counters.b,
    });
    Ok(Counters { a, b, ..counters })
}

/// The CTAs of a problem, all alike, and the walk of one CTA along K.
struct Walk {
    blocks: u64,
    tiles: u32,
    /// Number of k-tiles after which addresses repeat modulo a sector.
    period: u32,
    strides: Strides,
}

impl Walk {
    fn new(program: &Program, problem: &Problem) -> Result<Self, Error> {
        let (d, base) = (&program.desc, &program.base);
        let whole = |axis, extent: usize, tile: u32| {
            if extent.is_multiple_of(tile as usize) {
                return Ok((extent / tile as usize) as u64);
            }
            let nearest = extent.next_multiple_of(tile as usize);
            let because = format!(
                "{axis} = {extent} is not a whole number of tiles of {tile}, so blocks are not alike; try {nearest}"
            );
            Err(Error::Measurement { because })
        };
        let rows = whole("M", problem.m, base.tiles.block.m)?;
        let columns = whole("N", problem.n, base.tiles.block.n)?;
        let tiles = whole("K", problem.k, base.tiles.block.k)? as u32;
        let strides = OperandKind::BOTH.map(|operand| {
            let [rows, columns] = problem.operand(operand).strides.map(|stride| stride as u64);
            if operand == OperandKind::A { (rows, columns) } else { (columns, rows) }
        });
        let mut period = 1;
        for (operand, along) in OperandKind::BOTH.into_iter().zip([rows, columns]) {
            let (facts, (along_mn, along_k)) = (base.operand(operand), strides[operand.index()]);
            let bytes = |stride: u64, extent: u32| {
                (stride % SECTOR_BYTES) * u64::from(facts.element.bytes_of(extent))
            };
            let apart = bytes(along_mn, facts.smem.mn);
            if along > 1 && !apart.is_multiple_of(SECTOR_BYTES) {
                let because = format!(
                    "the tiles of {} begin {} bytes past a multiple of {SECTOR_BYTES} from one another, so blocks are not alike",
                    operand.name(),
                    apart % SECTOR_BYTES
                );
                return Err(Error::Measurement { because });
            }
            // A power of two, because 32 is one.
            let shift = bytes(along_k, base.tiles.block.k)
                .trailing_zeros()
                .min(SECTOR_BYTES.trailing_zeros());
            period = period.max((SECTOR_BYTES >> shift) as u32);
        }
        let tiles = if d.epilogue.reads(&problem.scalars).accumulator { tiles } else { 0 };
        Ok(Self { blocks: rows.checked_mul(columns).ok_or_else(too_many)?, tiles, period, strides })
    }

    /// Returns the counters of one CTA.
    fn block(&self, program: &Program) -> Result<Counters, Error> {
        let (tiles, period) = (self.tiles, self.period);
        if tiles <= 2 * period || !tiles.is_multiple_of(period) {
            return self.over(program, tiles);
        }
        let (first, both) = (self.over(program, period)?, self.over(program, 2 * period)?);
        let more = both.minus(first).and_then(|one| one.times(u64::from(tiles / period - 1)));
        more.and_then(|more| first.plus(more)).ok_or_else(too_many)
    }

    /// Returns the counters of one CTA over `tiles` k-tiles.
    fn over(&self, program: &Program, tiles: u32) -> Result<Counters, Error> {
        let mut counters = Counters::default();
        let multiply_adds =
            walk_block(program, tiles, Some(self.strides), &mut |(purpose, operand), access| {
                match purpose {
                    Purpose::Fetch => {
                        let bytes = access.active() as u64 * u64::from(access.bytes());
                        let (global, kind) = match operand {
                            Some(OperandKind::B) => {
                                (&mut counters.b, program.desc.operands[1].stored)
                            }
                            _ => (&mut counters.a, program.desc.operands[0].stored),
                        };
                        global.add(1, kind.matrix_elements(bytes), access);
                    }
                    Purpose::Store | Purpose::Copy | Purpose::EpilogueStore => {
                        counters.stores.add(1, access)
                    }
                    Purpose::Load | Purpose::EpilogueLoad => counters.loads.add(1, access),
                    // The executor stores accumulators after the schedule has ended.
                    Purpose::Write => {}
                }
            })?;
        Ok(Counters { multiply_adds, ..counters })
    }
}

fn too_many() -> Error {
    Error::Measurement { because: "the problem has more accesses than 64 bits count".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder;
    use falchion::{
        arch::{ArchKind, OpKind},
        internals::{nest::defaults::default_description, shape::Axis},
        layout::Order,
        nest::{COMBINATIONS, GemmDesc},
    };

    fn descriptions() -> Vec<GemmDesc> {
        let mut descriptions: Vec<_> = ladder::rungs()
            .unwrap()
            .into_iter()
            .filter_map(|rung| match rung.program {
                ladder::Program::Gemm(desc) => Some(desc),
                ladder::Program::Textbook(_) => None,
            })
            .collect();
        for (arch, orders) in [
            (ArchKind::Sm70, [Order::Row, Order::Col, Order::Row]),
            (ArchKind::Sm90, [Order::Col; 3]),
        ] {
            descriptions.extend(
                COMBINATIONS
                    .iter()
                    .map(|&types| default_description(OpKind::Simt, arch, types, orders).unwrap()),
            );
        }
        descriptions
    }

    /// Checks `c(p) + (T/p - 1) (c(2p) - c(p)) = c(T)` against a count over all `T` k-tiles.
    #[test]
    fn a_few_tiles_scaled_are_a_full_count() {
        let mut scaled = 0;
        for desc in descriptions() {
            let program = desc.one_schedule().unwrap();
            for tiles in [1, 2, 3, 5, 8, 12] {
                let extents =
                    [desc.threadblock().m, desc.threadblock().n, desc.threadblock().k * tiles]
                        .map(|x| x as usize);
                let user = |axis: Axis| extents[axis.leave(desc.frame) as usize];
                let problem = Problem::new(
                    &desc,
                    (user(Axis::M), user(Axis::N), extents[2]),
                    [None; 3],
                    [1.0; 8],
                );
                let walk = Walk::new(&program, &problem.enter(&program.desc).unwrap()).unwrap();
                assert_eq!(
                    walk.block(&program).unwrap(),
                    walk.over(&program, tiles).unwrap(),
                    "{tiles} tiles of {desc:?}"
                );
                scaled += u32::from(tiles > 2 * walk.period && tiles.is_multiple_of(walk.period));
            }
        }
        println!("{scaled} counts were scaled");
        assert!(scaled > 100, "{scaled}");
    }
}
