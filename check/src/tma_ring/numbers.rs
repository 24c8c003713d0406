//! The numbers in the ring: bytes of k-tiles, accumulators of warps, and elements of subtiles.

use crate::{
    accumulators::Accumulators,
    machine::{Bytes, Payload, Staged},
    program::WarpSpecializedProgram,
    tma_ring::{
        partials::TilePartials,
        products::RecentColumns,
        reading::Reading,
        subtiles::{Place, WARP_ROWS},
    },
};
use falchion::{
    Error,
    arch::WARP,
    internals::{
        host::shared::{Operands, ring::Scales},
        index::at,
        operand::Source,
        schedule::{Fault, ShareName, SubtileName, WarpName},
        shape::OperandKind,
    },
    numeric::Instruction,
    threadblock::{Along, SharedBox, TensorCopy, TensorMapDesc, Unit, Work},
};
use std::sync::Arc;

/// The byte that fills stages and staging buffers before the first copy. It makes every
/// floating-point type NaN.
pub(super) const NOTHING: u8 = 0xff;

/// An operand as TMA reads it.
pub(super) struct Placed<'a> {
    pub map: TensorMapDesc,
    pub bytes: std::borrow::Cow<'a, [u8]>,
    /// Whether each GEMM of a batch has its own matrix.
    pub own: bool,
}

/// The numbers of one cluster while it runs.
pub(super) struct Numbers<'r> {
    pub program: &'r WarpSpecializedProgram,
    pub matrices: Operands<'r>,
    pub instruction: Option<Instruction>,
    pub work: Work,
    pub cluster: u32,
    pub operands: Option<&'r [Placed<'r>; 2]>,
    pub readings: &'r [Reading; 2],
    pub scales: Scales<'r>,
    pub source: Source<&'r [u8]>,
    pub d: &'r mut [u8],
    /// For each element of each D, whether it has been written.
    pub written: &'r mut [bool],
    /// The split-K partials that have arrived.
    pub partials: &'r mut TilePartials,
    pub recent: RecentColumns,
    /// The first error.
    pub wrong: Option<Error>,
}

/// The accumulators of a warp are ordered by the instruction tiles of its consumer, with 16 rows of
/// each tile. If threads multiply, they are ordered by threads. Accumulators of an instruction are
/// `f32` numbers for every accumulator type.
impl Numbers<'_> {
    /// Returns the value of a result. Records the first error, and then returns the default value.
    fn or_wrong<X: Default>(&mut self, what: Result<X, Error>) -> X {
        what.unwrap_or_else(|error| {
            self.wrong.get_or_insert(error);
            X::default()
        })
    }

    /// Returns unit of work `i` of the CTA with rank `rank`.
    pub(super) fn unit(&self, rank: u32, i: u32) -> Result<Unit, Fault> {
        (self.program.units)(&self.work, self.cluster, rank, i).ok_or(Fault::LeftOut {
            map: "units",
            row: rank,
            column: i,
        })
    }

    /// Returns the row and column at which a consumer's tile begins in the CTA's tile.
    pub(super) fn consumer_tile(&self, consumer: u32) -> Result<(u32, u32), Fault> {
        let left_out = Fault::LeftOut { map: "consumer tile", row: 0, column: consumer };
        let offset = self.program.consumer_tile.at(at(0, consumer)).ok_or(left_out)?;
        Ok((
            offset / self.program.multiplied.threadblock().n,
            offset % self.program.multiplied.threadblock().n,
        ))
    }

    /// Copies the boxes of a share from global memory.
    fn boxes(&self, name: ShareName) -> Result<Arc<Vec<u8>>, Error> {
        let (operand, ring) = (name.operand, &self.program.ring);
        let maps = &self.program.operands[operand.index()];
        let bytes = (ring.ring.stage_bytes[operand.index()] / ring.ring.shares(operand)) as usize;
        let mut share = vec![NOTHING; bytes];
        let Some(placed) = self.operands.map(|operands| &operands[operand.index()]) else {
            return Ok(Arc::new(share));
        };
        // The CTA of the share's rank copies a shared operand.
        let unit = self.unit(name.block.unwrap_or(name.share), name.tile)?;
        let block = self.program.multiplied.threadblock();
        let origin =
            if operand == OperandKind::A { unit.row * block.m } else { unit.column * block.n };
        let along_k = self.program.components.tile(operand).along().is(Along::K);
        let blocks = self.program.multiplied.blocks(self.matrices.problem.k);
        let block_k = (self.program.emulation.block)(&blocks, operand, unit.k_begin + name.k);
        let mut told = 0;
        for copy in 0..maps.corner.domain().column {
            let point = at(name.share, copy);
            let left_out = |map| Fault::LeftOut { map, row: point.row, column: point.column };
            let corner = maps.corner.at(point).ok_or(left_out("corner"))?;
            let landing = maps.landing.at(point).ok_or(left_out("landing"))?;
            let [mn, k] = [origin.saturating_add(corner), block_k.saturating_mul(maps.tile_k)]
                .map(|x| i32::try_from(x).unwrap_or(i32::MAX));
            let product = if placed.own { unit.product as i32 } else { 0 };
            let corner = if along_k { [k, mn, product, 0, 0] } else { [mn, k, product, 0, 0] };
            let copy = TensorCopy::new(SharedBox::new(&placed.map, landing)?, corner);
            // A share begins at its offset in the operand's part of a stage.
            let first = (landing as usize).checked_sub(name.share as usize * bytes);
            let beyond = Fault::BeyondStage { operand, byte: landing, size: bytes as u32 };
            let to = first.and_then(|first| share.get_mut(first..)).ok_or(beyond)?;
            if to.len() < copy.tile().footprint_bytes() as usize {
                return Err(beyond.into());
            }
            told += copy.load(&placed.bytes, to)?;
        }
        let counted = ring.copy_bytes[operand.index()];
        if told != counted && counted == bytes as u32 {
            return Err(Fault::CopiedBytes { operand, told, counted }.into());
        }
        Ok(Arc::new(share))
    }

    /// Returns the number of a warp's accumulators per instruction tile.
    pub(super) fn piece(&self) -> usize {
        (WARP_ROWS * self.program.multiplied.instruction().n) as usize
    }

    fn place(
        &self,
        block: u32,
        consumer: u32,
        warp: u32,
        name: SubtileName,
    ) -> Result<Place, Fault> {
        Ok(Place { unit: self.unit(block, name.tile)?, consumer, warp, subtile: name.subtile })
    }
}

impl Payload for Numbers<'_> {
    fn read(&mut self, name: ShareName) -> Bytes {
        let share = self.boxes(name);
        self.or_wrong(share)
    }

    fn multiply(
        &mut self,
        warp: WarpName,
        tile: Option<u8>,
        first: bool,
        accumulators: &mut Accumulators,
        operands: [&[Bytes]; 2],
    ) {
        if first {
            *accumulators = Accumulators::default();
        }
        // Stages may be empty after a fault.
        if self.wrong.is_none() {
            let added = match &self.program.threads {
                Some(maps) => self.add_by_threads(maps, warp, accumulators, operands),
                None => self.add_stage(warp, tile, accumulators, operands),
            };
            self.or_wrong(added);
        }
    }

    fn promote(
        &mut self,
        _: WarpName,
        tile: u8,
        first: bool,
        partial: &Accumulators,
        accumulators: &mut Accumulators,
    ) {
        let (repeats, piece) = (self.program.components.repeats, self.piece());
        let number = u32::from(tile) % repeats.m * repeats.n + u32::from(tile) / repeats.m;
        self.grow(accumulators);
        // Partial accumulators may be missing after a fault.
        accumulators.add_range(
            number as usize * piece..(number as usize + 1) * piece,
            partial,
            first,
        );
    }

    fn store_partial(
        &mut self,
        warp: WarpName,
        unit: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) {
        if self.wrong.is_some() {
            return;
        }
        let partial = self.partial(warp, unit, zero, accumulators);
        let put = self.put_partial(warp, unit, partial).map_err(Error::from);
        self.or_wrong(put);
    }

    fn partial(
        &mut self,
        _: WarpName,
        _: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) -> Accumulators {
        let mut partial = if zero { Accumulators::default() } else { accumulators.clone() };
        match &self.program.threads {
            Some(maps) => partial.grow(
                self.matrices.desc.output.accumulator,
                WARP as usize * maps.accumulator.domain().column as usize,
            ),
            None => self.grow(&mut partial),
        }
        partial
    }

    fn add_partials(
        &mut self,
        _: WarpName,
        own: &Accumulators,
        others: &[Arc<Accumulators>],
        accumulators: &mut Accumulators,
    ) {
        let partials: Vec<_> =
            core::iter::once(own).chain(others.iter().map(|partial| &**partial)).collect();
        *accumulators = self.sum_of(&partials);
    }

    fn arrives_last(&mut self, block: u32, warpgroup: u32, unit: u32) -> bool {
        let last = self.count_slice(block, warpgroup, unit).map_err(Error::from);
        self.or_wrong(last)
    }

    fn sum_slices(&mut self, warp: WarpName, unit: u32, accumulators: &mut Accumulators) {
        let sum = self.sum_partials(warp, unit).map_err(Error::from);
        *accumulators = self.or_wrong(sum);
    }

    fn fetch(&mut self, block: u32, warpgroup: u32, name: SubtileName) -> Bytes {
        let place = self.place(block, warpgroup, 0, name).map_err(Error::from);
        let fetched = place.and_then(|place| self.fetched(place)).map(Arc::new);
        self.or_wrong(fetched)
    }

    fn stage(
        &mut self,
        warp: WarpName,
        name: SubtileName,
        zero: bool,
        accumulators: &Accumulators,
        source: Option<&Bytes>,
    ) -> Staged {
        // Reports only the first error, and not its consequences.
        if self.wrong.is_some() {
            return Staged::default();
        }
        let warp_subtile = self
            .place(warp.block, warp.warpgroup, warp.warp, name)
            .map_err(Error::from)
            .and_then(|place| {
                self.subtile_of(
                    place,
                    (!zero).then_some(accumulators),
                    source.map(|bytes| &bytes[..]),
                )
            });
        self.or_wrong(warp_subtile)
    }

    fn store(&mut self, block: u32, warpgroup: u32, name: SubtileName, subtiles: [&Staged; 4]) {
        if self.wrong.is_none() {
            let place = self.place(block, warpgroup, 0, name).map_err(Error::from);
            let written = place.and_then(|place| self.write(place, subtiles));
            self.or_wrong(written);
        }
    }

    fn store_threads(
        &mut self,
        warp: WarpName,
        tile: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) {
        if let (Some(maps), None) = (&self.program.threads, &self.wrong) {
            let written =
                self.write_by_threads(maps, (warp, tile), (!zero).then_some(accumulators));
            self.or_wrong(written);
        }
    }
}
