//! Blocks of the fast mode: operands packed once for all blocks that read them, multiplied side by
//! side.

use super::{operands::Product, parallel::parallel_pieces, progress::BLOCKS, store::Blocks};
use crate::{error::Error, numeric::ElementKind, refusal::Refusal, schedule::Fault};
use bytemuck::Pod;
use core::ops::Range;
use std::collections::BTreeSet;

/// Memory for the accumulators and packed operands of the blocks that are computed side by side,
/// where there is as much; one block is always computed.
const BUDGET_BYTES: usize = 64 << 20;
/// What threads and their stacks may take beside it.
const BESIDE_BYTES: usize = 192 << 20;

/// Bytes that blocks may take side by side, of which one takes so many: fewer where the process
/// cannot have as many.
///
/// # Errors
/// [`Refusal::OutOfMemory`] where not even one block fits.
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
        Err(Refusal::OutOfMemory { needed: block as u64, available: available as u64 })
    }
}

/// How blocks are packed and multiplied.
pub(super) trait Arithmetic: Sync {
    /// What products are accumulated in.
    type Number: Pod + Default + Send + Sync;
    /// A strip of an operand, over some k-tiles.
    type Strip: Default + Send + Sync;
    /// What the numbers are when they are stored.
    fn kind(&self) -> ElementKind;
    /// Rows and columns of a block.
    fn extents(&self) -> (usize, usize);
    /// Numbers of a block, of which the first are its accumulators in the end.
    fn numbers(&self) -> usize;
    /// K-tiles that are packed at once, and all of them.
    fn tiles(&self) -> (u32, u32);
    /// Parts of K of a tile, in order, whose accumulators are made one after the other and added:
    /// the first k-tile of each, and how many it has. One, where it is not cut.
    fn parts(&self, _tile: (u32, u32)) -> Vec<(u32, u32)> {
        vec![(0, self.tiles().1)]
    }
    /// The most parts of a tile.
    fn most_parts(&self) -> usize {
        1
    }
    /// A block's accumulators of all parts, of those of each part.
    fn add(&self, parts: &[&[Self::Number]], accumulators: &mut [Self::Number]);
    /// Bytes of each operand's strip.
    fn strip_bytes(&self) -> [usize; 2];
    /// Packs some k-tiles of an operand's strip of that number.
    fn pack(&self, side: usize, strip: u32, tiles: Range<u32>, into: &mut Self::Strip);
    /// Adds the products of two strips.
    fn multiply(&self, strips: [&Self::Strip; 2], numbers: &mut [Self::Number]);
    /// Makes accumulators of a block's numbers, where they are others.
    fn finish(&self, _numbers: &mut [Self::Number]) {}
    /// Takes back what operands were scaled by, of a tile's accumulators of all parts.
    fn unscale(&self, _tile: (u32, u32), _accumulators: &mut [Self::Number]) {}
}

/// Blocks that are computed side by side.
#[derive(Default)]
struct Batch {
    /// The tile (row, column) of each.
    tiles: Vec<(u32, u32)>,
    /// The rows of tiles that occur, and the columns, in order.
    strips: [Vec<u32>; 2],
}

impl Batch {
    /// The next of `blocks`, as many as there is memory for.
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

    /// The accumulators of each block, at the head of its piece of `numbers`.
    fn multiply<A: Arithmetic>(&self, arithmetic: &A, numbers: &mut Vec<A::Number>) {
        let piece = arithmetic.numbers();
        let count = self.tiles.len() * piece;
        if numbers.len() == count {
            // As bytes: a debug build sets elements one by one. All types have zeros as 0 bytes.
            bytemuck::cast_slice_mut::<_, u8>(numbers).fill(0);
        } else {
            *numbers = vec![A::Number::default(); count];
        }
        if arithmetic.most_parts() > 1 {
            self.multiply_parts(arithmetic, numbers);
        } else {
            self.multiply_tiles(arithmetic, 0..arithmetic.tiles().1, numbers);
            parallel_pieces(numbers, piece, |_, numbers| arithmetic.finish(numbers));
        }
        parallel_pieces(numbers, piece, |block, numbers| {
            arithmetic.unscale(self.tiles[block], numbers)
        });
    }

    /// The same part by part, and their sums: from where a block's part ends to where the next one
    /// of any block does.
    fn multiply_parts<A: Arithmetic>(&self, arithmetic: &A, numbers: &mut [A::Number]) {
        let piece = arithmetic.numbers();
        let area = arithmetic.extents().0 * arithmetic.extents().1;
        let parts: Vec<_> = self.tiles.iter().map(|&tile| arithmetic.parts(tile)).collect();
        let ends: BTreeSet<u32> =
            parts.iter().flatten().map(|(begin, count)| begin + count).collect();
        let mut partials = vec![Vec::<A::Number>::new(); parts.len()];
        let mut begin = 0;
        for end in ends {
            self.multiply_tiles(arithmetic, begin..end, numbers);
            for ((numbers, parts), partials) in
                numbers.chunks_exact_mut(piece).zip(&parts).zip(&mut partials)
            {
                for _ in parts.iter().filter(|(begin, count)| begin + count == end) {
                    arithmetic.finish(numbers);
                    partials.extend_from_slice(&numbers[..area]);
                    numbers.fill(A::Number::default());
                }
            }
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
        numbers: &mut [A::Number],
    ) {
        let (piece, (step, _)) = (arithmetic.numbers(), arithmetic.tiles());
        let mut packed: [Vec<A::Strip>; 2] = Default::default();
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

/// Bytes of a block's accumulators, of all parts of K.
fn block_bytes<A: Arithmetic>(arithmetic: &A) -> usize {
    let (parts, (rows, columns)) = (arithmetic.most_parts(), arithmetic.extents());
    size_of::<A::Number>()
        * (arithmetic.numbers() + if parts > 1 { parts * rows * columns } else { 0 })
}

/// Computes D, of so many rows and columns of tiles; block i is at `place(i)`.
///
/// # Errors
/// Those of `place`, and of [`Blocks::store`].
pub(super) fn compute<A: Arithmetic>(
    arithmetic: &A,
    (rows, columns): (usize, usize),
    place: impl Fn(u32) -> Result<(u32, u32), Fault>,
    product: &mut Product<'_>,
) -> Result<(), Error> {
    let mut blocks = 0..(rows * columns) as u32;
    let (step, all) = arithmetic.tiles();
    BLOCKS.expect(u64::from(blocks.end) * u64::from(all.div_ceil(step.max(1))));
    let mut numbers = Vec::new();
    let block = block_bytes(arithmetic) + arithmetic.strip_bytes().iter().sum::<usize>();
    // What is small is there.
    let budget = if block.saturating_mul(blocks.len()) > BUDGET_BYTES / 16 {
        budget(block)?
    } else {
        BUDGET_BYTES
    };
    while !blocks.is_empty() {
        let batch = Batch::next(arithmetic, (&mut blocks, budget), &place)?;
        batch.multiply(arithmetic, &mut numbers);
        let stored = Blocks {
            tiles: &batch.tiles,
            extents: arithmetic.extents(),
            accumulators: bytemuck::cast_slice(&numbers),
            piece: arithmetic.numbers(),
            kind: arithmetic.kind(),
        };
        stored.store(product)?;
    }
    Ok(())
}
