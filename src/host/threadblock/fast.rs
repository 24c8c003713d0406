//! The loop over CTAs on the host: packs each operand once for all CTAs that read it, and
//! multiplies in parallel.

use crate::{
    Error,
    host::{
        operands::{Product, Tiling},
        parallel::parallel_pieces,
        progress::BLOCKS,
        store::Blocks,
        threadblock::units::TileSlices,
    },
    numeric::ElementKind,
    refusal::Refusal,
    schedule::Fault,
};
use bytemuck::Pod;
use core::ops::Range;
use std::collections::BTreeSet;

/// Largest size, in bytes, of the accumulators and packed operands of one batch of CTAs. A batch
/// has at least one CTA, even if that CTA needs more.
const BUDGET_BYTES: usize = 64 << 20;
/// Bytes that remain free for thread stacks and other allocations.
const BESIDE_BYTES: usize = 192 << 20;

/// Returns the bytes that a batch may use, where one CTA needs `block` bytes. The result is smaller
/// than [`BUDGET_BYTES`] if the process cannot allocate that many.
///
/// # Errors
/// [`Refusal`] if the process cannot allocate the memory of one CTA.
fn budget(block: usize) -> Result<usize, Refusal> {
    let free = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    let mut budget = BUDGET_BYTES;
    while budget > block {
        if free(budget + BESIDE_BYTES) {
            return Ok(budget);
        }
        budget /= 2;
    }
    let available =
        (0..usize::BITS).map(|bits| block >> bits).find(|&bytes| free(bytes)).unwrap_or(0);
    if available == block {
        Ok(block)
    } else {
        Err(Refusal::out_of_memory(block as u64, available as u64))
    }
}

/// The packing and the arithmetic of the CTAs of one GEMM.
pub(in crate::host) trait Arithmetic: Sync {
    /// The accumulator type.
    type Number: Pod + Default + Send + Sync;
    /// A strip: one row or column of tiles of an operand, over some k-tiles.
    type Strip: Default + Send + Sync;
    /// Returns the element type of stored accumulators.
    fn kind(&self) -> ElementKind;
    /// Returns the rows and columns of a CTA's tile.
    fn extents(&self) -> (usize, usize);
    /// Returns the accumulators per CTA, including those of all warp slices. After
    /// [`finish`](Self::finish), the first ones are the tile.
    fn numbers(&self) -> usize;
    /// Returns the number of k-tiles per packing step, and the total number of k-tiles.
    fn tiles(&self) -> (u32, u32);
    /// Returns the tiling of the GEMM, and the stream-K slices of each tile for a stream-K kernel.
    fn k_division(&self) -> (&Tiling, Option<&TileSlices>);
    /// Returns the split-K or stream-K slices of a tile, in order: the first k-tile and the number
    /// of k-tiles of each. A tile that is not split has one slice.
    fn k_slices(&self, tile: (u32, u32)) -> Vec<(u32, u32)> {
        match self.k_division() {
            (_, Some(streams)) => streams.k_slices(tile),
            (tiling, None) => tiling.k_slices(),
        }
    }
    /// Returns the largest number of slices of a tile.
    fn most_k_slices(&self) -> usize {
        let (tiling, streams) = self.k_division();
        streams.map_or(tiling.split_k as usize, TileSlices::most)
    }
    /// Adds the partial accumulators of all slices of a tile.
    fn add(&self, partials: &[&[Self::Number]], accumulators: &mut [Self::Number]);
    /// Returns the bytes per strip of each operand.
    fn strip_bytes(&self) -> [usize; 2];
    /// Packs some k-tiles of strip number `strip` of an operand.
    fn pack(&self, side: usize, strip: u32, tiles: Range<u32>, into: &mut Self::Strip);
    /// Adds the products of a strip of A and a strip of B to the accumulators of a CTA.
    fn multiply(&self, strips: [&Self::Strip; 2], numbers: &mut [Self::Number]);
    /// Reduces the accumulators of warp slices to the accumulators of the tile.
    fn finish(&self, _numbers: &mut [Self::Number]) {}
    /// Undoes the scaling of the operands in the accumulators of a tile, after all slices are
    /// added.
    fn unscale(&self, _tile: (u32, u32), _accumulators: &mut [Self::Number]) {}
}

/// Memory that consecutive batches of CTAs reuse.
#[derive(Default)]
pub(in crate::host) struct Scratch<N, S> {
    /// Accumulators of each CTA, at the head of its piece.
    numbers: Vec<N>,
    /// Packed strips of A and of B.
    packed: [Vec<S>; 2],
}

/// The scratch memory of an arithmetic.
type ScratchOf<A> = Scratch<<A as Arithmetic>::Number, <A as Arithmetic>::Strip>;

/// A batch of CTAs that are computed in parallel.
#[derive(Default)]
struct Batch {
    /// The tile (row, column) of each CTA.
    tiles: Vec<(u32, u32)>,
    /// The distinct rows of tiles and the distinct columns of tiles, in ascending order.
    strips: [Vec<u32>; 2],
}

impl Batch {
    /// Takes CTAs from the front of `blocks` until their memory reaches `budget` bytes.
    fn next<A: Arithmetic>(
        arithmetic: &A,
        (blocks, budget): (&mut Range<u32>, usize),
        place: impl Fn(u32) -> Result<(u32, u32), Fault>,
    ) -> Result<Self, Fault> {
        let (strips, block_bytes) = (arithmetic.strip_bytes(), block_bytes(arithmetic));
        let mut batch = Self::default();
        let mut bytes = 0;
        while blocks.start < blocks.end && (bytes < budget || batch.tiles.is_empty()) {
            let tile = place(blocks.start)?;
            blocks.start += 1;
            bytes += block_bytes;
            for (side, strip) in [tile.0, tile.1].into_iter().enumerate() {
                if let Err(at) = batch.strips[side].binary_search(&strip) {
                    batch.strips[side].insert(at, strip);
                    bytes += strips[side];
                }
            }
            batch.tiles.push(tile);
        }
        Ok(batch)
    }

    /// Computes the accumulators of each CTA. They are at the head of its piece of `numbers`.
    fn multiply<A: Arithmetic>(&self, arithmetic: &A, scratch: &mut ScratchOf<A>) {
        let Scratch { numbers, packed } = scratch;
        let piece = arithmetic.numbers();
        let count = self.tiles.len() * piece;
        if numbers.len() == count {
            // Fills bytes, because a debug build sets elements one by one. Zero is all 0 bytes in
            // every type.
            bytemuck::cast_slice_mut::<_, u8>(numbers).fill(0);
        } else {
            *numbers = vec![A::Number::default(); count];
        }
        if arithmetic.most_k_slices() > 1 {
            self.multiply_k_slices(arithmetic, packed, numbers);
        } else {
            self.multiply_tiles(arithmetic, 0..arithmetic.tiles().1, packed, numbers);
            parallel_pieces(numbers, piece, |_, numbers| arithmetic.finish(numbers));
        }
        parallel_pieces(numbers, piece, |block, numbers| {
            arithmetic.unscale(self.tiles[block], numbers)
        });
    }

    /// Computes each slice of the tiles on its own and adds the slices. The loop steps along K from
    /// one slice end of any tile to the next.
    fn multiply_k_slices<A: Arithmetic>(
        &self,
        arithmetic: &A,
        packed: &mut [Vec<A::Strip>; 2],
        numbers: &mut [A::Number],
    ) {
        let piece = arithmetic.numbers();
        let area = arithmetic.extents().0 * arithmetic.extents().1;
        let slices: Vec<_> = self.tiles.iter().map(|&tile| arithmetic.k_slices(tile)).collect();
        let ends: BTreeSet<u32> =
            slices.iter().flatten().map(|(begin, count)| begin + count).collect();
        let mut partials = vec![Vec::<A::Number>::new(); slices.len()];
        let mut begin = 0;
        for end in ends {
            self.multiply_tiles(arithmetic, begin..end, packed, numbers);
            let mut blocks: Vec<_> = numbers.chunks_exact_mut(piece).zip(&mut partials).collect();
            parallel_pieces(&mut blocks, 1, |block, one| {
                let (numbers, partials) = &mut one[0];
                for _ in slices[block].iter().filter(|(begin, count)| begin + count == end) {
                    arithmetic.finish(numbers);
                    partials.extend_from_slice(&numbers[..area]);
                    numbers.fill(A::Number::default());
                }
            });
            begin = end;
        }
        parallel_pieces(numbers, piece, |block, numbers| {
            let of_block: Vec<&[A::Number]> = partials[block].chunks_exact(area).collect();
            arithmetic.add(&of_block, &mut numbers[..area]);
        });
    }

    /// Adds the products of some k-tiles.
    fn multiply_tiles<A: Arithmetic>(
        &self,
        arithmetic: &A,
        tiles: Range<u32>,
        packed: &mut [Vec<A::Strip>; 2],
        numbers: &mut [A::Number],
    ) {
        let (piece, (step, _)) = (arithmetic.numbers(), arithmetic.tiles());
        for first in tiles.clone().step_by(step as usize) {
            let tiles = first..tiles.end.min(first.saturating_add(step));
            for side in [0, 1] {
                packed[side].resize_with(self.strips[side].len(), A::Strip::default);
                parallel_pieces(&mut packed[side], 1, |i, into| {
                    arithmetic.pack(side, self.strips[side][i], tiles.clone(), &mut into[0]);
                });
            }
            parallel_pieces(numbers, piece, |block, numbers| {
                let (row, column) = self.tiles[block];
                let strip = |side: usize, number: u32| {
                    &packed[side][self.strips[side].partition_point(|&strip| strip < number)]
                };
                arithmetic.multiply([strip(0, row), strip(1, column)], numbers);
                BLOCKS.advance();
            });
        }
    }
}

/// Returns the bytes of a CTA's accumulators, including its split-K partials.
fn block_bytes<A: Arithmetic>(arithmetic: &A) -> usize {
    let (slices, (rows, columns)) = (arithmetic.most_k_slices(), arithmetic.extents());
    size_of::<A::Number>()
        * (arithmetic.numbers() + if slices > 1 { slices * rows * columns } else { 0 })
}

/// Computes D, with a grid of `rows` x `columns` tiles. Block `i` computes the tile `place(i)`.
///
/// # Errors
/// The errors of `place` and of [`Blocks::store`].
pub(in crate::host) fn compute<A: Arithmetic>(
    arithmetic: &A,
    (rows, columns): (usize, usize),
    place: impl Fn(u32) -> Result<(u32, u32), Fault>,
    product: &mut Product<'_>,
    scratch: &mut ScratchOf<A>,
) -> Result<(), Error> {
    let mut blocks = 0..(rows * columns) as u32;
    let (step, all) = arithmetic.tiles();
    BLOCKS.expect(u64::from(blocks.end) * u64::from(all.div_ceil(step.max(1))));
    let block = block_bytes(arithmetic) + arithmetic.strip_bytes().iter().sum::<usize>();
    // A small batch skips the allocation test.
    let budget = if block.saturating_mul(blocks.len()) > BUDGET_BYTES / 16 {
        budget(block)?
    } else {
        BUDGET_BYTES
    };
    while !blocks.is_empty() {
        let batch = Batch::next(arithmetic, (&mut blocks, budget), &place)?;
        batch.multiply(arithmetic, scratch);
        let stored = Blocks {
            tiles: &batch.tiles,
            extents: arithmetic.extents(),
            accumulators: bytemuck::cast_slice(&scratch.numbers),
            piece: arithmetic.numbers(),
            kind: arithmetic.kind(),
        };
        stored.store(product)?;
    }
    Ok(())
}
