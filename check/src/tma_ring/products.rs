//! The products of a warp on a stage: rows of its operands, at the bytes that its descriptors
//! address.

use crate::{
    accumulators::Accumulators,
    machine::Bytes,
    tma_ring::{numbers::Numbers, subtiles::WARP_ROWS},
};
use falchion::{
    Error,
    internals::{
        host::shared::unknown,
        numeric::{Panel, accumulate},
        schedule::WarpName,
        shape::OperandKind,
        sys::simd::{Vectorized, dispatch},
    },
    numeric::{Accumulator, ElementKind},
    warp::warpgroup::ROWS,
};
use std::{collections::VecDeque, sync::Arc};

/// Rows of an operand, converted for multiplication.
pub(super) enum Rows {
    /// Numbers for an instruction that aligns the terms of its sums.
    Apart(Panel),
    /// Integers: the number per row, and the rows.
    Whole(usize, Vec<i32>),
}

/// Columns of B that warps multiplied last. All warps of a CTA multiply the columns of a stage.
#[derive(Default)]
pub(super) struct RecentColumns(VecDeque<(u32, Vec<Bytes>, Arc<Rows>)>);

impl RecentColumns {
    /// Number of entries: two stages of four instruction tiles.
    const KEPT: usize = 8;

    /// Returns the columns of instruction tile `number` in the shares of a stage.
    fn get(&self, number: u32, shares: &[Bytes]) -> Option<Arc<Rows>> {
        let same = |held: &[Bytes]| {
            held.len() == shares.len() && held.iter().zip(shares).all(|(x, y)| Arc::ptr_eq(x, y))
        };
        let found = self.0.iter().find(|(of, held, _)| *of == number && same(held));
        found.map(|(.., rows)| rows.clone())
    }

    fn insert(&mut self, number: u32, shares: &[Bytes], rows: Arc<Rows>) {
        self.0.truncate(Self::KEPT - 1);
        self.0.push_front((number, shares.to_vec(), rows));
    }
}

impl Numbers<'_> {
    /// Returns the elements that begin at byte offsets `places` of an operand's stage, which
    /// consists of shares. Bytes beyond the stage are zeros.
    pub(super) fn gathered(
        &self,
        kind: ElementKind,
        shares: &[Arc<Vec<u8>>],
        places: &[u32],
    ) -> Vec<u8> {
        fn gather<const BYTES: usize>(shares: &[Arc<Vec<u8>>], places: &[u32]) -> Vec<u8> {
            let share = shares.first().map_or(1, |share| share.len().max(1));
            let mut gathered = vec![0; places.len() * BYTES];
            for (to, &byte) in gathered.as_chunks_mut::<BYTES>().0.iter_mut().zip(places) {
                let (which, within) = if shares.len() == 1 {
                    (0, byte as usize)
                } else {
                    (byte as usize / share, byte as usize % share)
                };
                let element = shares
                    .get(which)
                    .and_then(|share| share.get(within..))
                    .and_then(<[u8]>::first_chunk);
                *to = element.copied().unwrap_or([0; BYTES]);
            }
            gathered
        }
        match kind.bytes_of(1) {
            1 => gather::<1>(shares, places),
            2 => gather::<2>(shares, places),
            4 => gather::<4>(shares, places),
            _ => gather::<8>(shares, places),
        }
    }

    /// Returns rows of an operand as an instruction reads them from a stage.
    fn rows(
        &self,
        operand: OperandKind,
        shares: &[Arc<Vec<u8>>],
        (number, first, count): (u32, u32, u32),
    ) -> Result<Rows, Error> {
        let (reading, kind) = (&self.readings[operand.index()], self.matrices.matrix(operand).kind);
        let bytes = self.gathered(kind, shares, reading.rows(number, first, count));
        let wanted = self.instruction.map_or(ElementKind::I32, |_| ElementKind::F32);
        match (Accumulators::widened(wanted, kind, &bytes), &self.instruction) {
            (Some(Accumulators::F32(numbers)), Some(instruction)) => {
                Ok(Rows::Apart(Panel::new(instruction, operand, reading.depth(), numbers)))
            }
            (Some(Accumulators::I32(numbers)), None) => Ok(Rows::Whole(reading.depth(), numbers)),
            _ => Err(unknown(self.matrices.desc)),
        }
    }

    /// Returns the columns of B of an instruction tile.
    fn columns(&mut self, shares: &[Bytes], number: u32, n: u32) -> Result<Arc<Rows>, Error> {
        if let Some(known) = self.recent.get(number, shares) {
            return Ok(known);
        }
        let rows = Arc::new(self.rows(OperandKind::B, shares, (number, 0, n))?);
        self.recent.insert(number, shares, rows.clone());
        Ok(rows)
    }

    /// Adds a stage's products to the accumulators, or only the products of one instruction tile.
    pub(super) fn add_stage(
        &mut self,
        warp: WarpName,
        tile: Option<u8>,
        accumulators: &mut Accumulators,
        [a, b]: [&[Arc<Vec<u8>>]; 2],
    ) -> Result<(), Error> {
        let (repeats, n) =
            (self.program.components.repeats, self.program.multiplied.instruction().n);
        let (row, column) = self.consumer_tile(warp.warpgroup)?;
        let piece = self.piece();
        let multiplied = |down: u32, across: u32| {
            tile.is_none_or(|tile| u32::from(tile) == across * repeats.m + down)
        };
        self.grow(accumulators);
        let of_a: Vec<_> = (0..repeats.m)
            .map(|m| (row / ROWS + m, warp.warp * WARP_ROWS, WARP_ROWS))
            .map(|rows| self.rows(OperandKind::A, a, rows))
            .collect::<Result<_, _>>()?;
        for across in 0..repeats.n {
            let b = self.columns(b, column / n + across, n)?;
            for (down, a) in (0..).zip(&of_a).filter(|(down, _)| multiplied(*down, across)) {
                let at = (down * repeats.n + across) as usize * piece;
                match (accumulators as &mut Accumulators, a, &*b, &self.instruction) {
                    (
                        Accumulators::F32(accumulators),
                        Rows::Apart(a),
                        Rows::Apart(b),
                        Some(instruction),
                    ) => {
                        accumulate(
                            instruction,
                            a,
                            b,
                            &mut accumulators[at..at + piece],
                            n as usize,
                        );
                    }
                    (
                        Accumulators::I32(accumulators),
                        Rows::Whole(depth, a),
                        Rows::Whole(_, b),
                        _,
                    ) => {
                        dot_products(*depth, a, b, &mut accumulators[at..at + piece]);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Resizes to the accumulators of a warp for an instruction.
    pub(super) fn grow(&self, accumulators: &mut Accumulators) {
        let repeats = self.program.components.repeats;
        let kind = if self.instruction.is_some() {
            ElementKind::F32
        } else {
            self.matrices.desc.output.accumulator
        };
        accumulators.grow(kind, (repeats.m * repeats.n) as usize * self.piece());
    }
}

/// Computes `accumulators[i, j] += sum over k of a[i, k] b[j, k]` for rows of `depth` integers.
fn dot_products(depth: usize, a: &[i32], b: &[i32], accumulators: &mut [i32]) {
    struct Dots<'s>(usize, &'s [i32], &'s [i32], &'s mut [i32]);
    impl Vectorized for Dots<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Self(depth, a, b, accumulators) = self;
            for (a, accumulators) in
                a.chunks_exact(depth).zip(accumulators.chunks_exact_mut((b.len() / depth).max(1)))
            {
                for (b, sum) in b.chunks_exact(depth).zip(accumulators) {
                    *sum = a.iter().zip(b).fold(*sum, |sum, (&a, &b)| sum.mul_add(a, b));
                }
            }
        }
    }
    dispatch(Dots(depth.max(1), a, b, accumulators));
}
