//! One TMA copy: a box of a tensor to shared memory, or back.
//!
//! A load writes element `j` of row `r` of the box to the offset that [`SharedBox`] returns. It
//! writes zeros for elements outside the tensor, on any side. A store writes the elements inside
//! the tensor and changes nothing else. Rows are counted along dimension 1 first:
//!
//! ```text
//! r = j1 + box1 * (j2 + box2 * ..)            global index along dimension d:  i_d = corner_d + j_d
//! byte = (r * box0 + j0) * element_bytes      shared address:  swizzle(tile + byte)
//! ```
//!
//! The mbarrier counts all bytes of the box, including zeros. A multicast writes the same bytes to
//! the same offset in several blocks of a cluster, and completes them on each block's barrier.
//!
//! ```
//! # use falchion::{internals::index::{IndexMap, at}, layout::Order, numeric::ElementKind, refusal::Operand};
//! # use falchion::threadblock::{SharedBox, TensorCopy, TensorMatrix, SwizzleMode};
//! let map = TensorMatrix::new(Operand::A, ElementKind::F32, Order::Row, (3, 40), 40).map((2, 32), SwizzleMode::Bytes128)?;
//! let tile = SharedBox::new(&map, 0)?;
//! assert_eq!(tile.at(at(1, 0)), Some(36)); // row 1 begins in chunk 1 of its line: 32 + 4 elements
//!
//! let global: Vec<u8> = (1..=120u32).flat_map(u32::to_le_bytes).collect();
//! let mut shared = vec![0xff; 256];
//! let copy = TensorCopy::new(tile, [36, 2, 0, 0, 0]);
//! assert_eq!(copy.load(&global, &mut shared)?, 256); // element (39, 2) is 120; all after it lie outside
//! assert_eq!(shared[8..20], [119, 0, 0, 0, 120, 0, 0, 0, 0, 0, 0, 0]);
//! assert!(shared[20..].iter().all(|&byte| byte == 0));
//! # Ok::<(), falchion::Refusal>(())
//! ```
//!
//! Source: PTX ISA, `cp.async.bulk.tensor`, and its section on swizzling modes.
//!
//! Twin: `kernels/threadblock/tensor_copy.cuh`.

use super::{
    SwizzleMode,
    tensor_map::{CHUNK_BYTES, LINE_BYTES, MOST_RANK, TensorMapDesc},
};
use crate::{
    arch::ArchKind,
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine, at},
    },
    refusal::{Because, Field, Operand, Refusal, hold},
};
use core::ops::Range;

/// Box in shared memory: a map from (row of the box, element of the row) to an offset from the
/// tile, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SharedBox {
    map: TensorMapDesc,
    address: u32,
}

impl SharedBox {
    /// Returns the box of a tensor map in a tile at a shared-memory address of its block.
    ///
    /// # Errors
    /// The errors of [`TensorMapDesc::check`]. [`Refusal`] for an address that is not a multiple of
    /// 128, and [`Refusal`] for one beyond an SM's shared memory.
    pub const fn new(map: &TensorMapDesc, address: u32) -> Result<Self, Refusal> {
        hold!(map.check());
        let (field, value, most) = (
            Field::SharedAddress,
            address as u64,
            ArchKind::Sm90.machine().shared_bytes_per_sm as u64,
        );
        if value > most {
            return Err(Refusal::out_of_range(field, value, 0, most));
        }
        if !address.is_multiple_of(LINE_BYTES) {
            let of = LINE_BYTES as u64;
            return Err(Refusal::not_multiple(field, value, of, value / of * of));
        }
        Ok(Self { map: *map, address })
    }

    /// Returns the tensor map.
    pub const fn map(&self) -> &TensorMapDesc {
        &self.map
    }

    /// Returns the tile's address in its block's shared memory.
    pub const fn address(&self) -> u32 {
        self.address
    }

    /// Returns the bytes of shared memory that a copy may write, starting at the tile's address:
    /// whole 128-byte lines with a swizzle, otherwise the box.
    pub const fn footprint_bytes(&self) -> u32 {
        // `check` bounds the box by a block's shared memory.
        let bytes = self.map.box_bytes() as u32;
        match self.map.swizzle {
            SwizzleMode::None => bytes,
            _ => bytes.next_multiple_of(LINE_BYTES),
        }
    }

    /// Returns the offset of an element from the tile, in bytes.
    const fn offset_bytes(&self, point: Coord) -> u32 {
        let linear = self.map.element.bytes_of(point.row * self.map.box_dims[0] + point.column);
        self.map.swizzle.apply(self.address + linear) - self.address
    }
}

impl IndexMap for SharedBox {
    fn domain(&self) -> Coord {
        Coord { row: self.map.box_rows() as u32, column: self.map.box_dims[0] }
    }

    fn codomain(&self) -> u32 {
        self.map.element.elements_in(self.footprint_bytes())
    }

    /// Points beyond the box are left out.
    fn at(&self, point: Coord) -> Option<u32> {
        let extent = self.domain();
        let inside = point.row < extent.row && point.column < extent.column;
        inside.then(|| self.map.element.elements_in(self.offset_bytes(point)))
    }

    /// Returns `None` if the tile does not begin at a multiple of the swizzle's period.
    fn layout(&self) -> Option<Composed> {
        let (Coord { row, column }, swizzle) = (self.domain(), self.map.swizzle);
        let begins = self.address.is_multiple_of(swizzle.repeat_bytes());
        let layout = affine(self.domain(), &[(row, column)], &[(column, 1)]).filter(|_| begins)?;
        layout.swizzled(swizzle.for_elements(self.map.element.bytes_of(1))?).ok()
    }
}

/// One TMA copy: a box in shared memory, and the tensor coordinate of its first element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TensorCopy {
    tile: SharedBox,
    corner: [i32; MOST_RANK],
}

impl TensorCopy {
    /// Returns the copy of the box at `corner`, with the contiguous dimension first. Coordinates
    /// beyond the rank are ignored. The corner may lie outside the tensor; [`check`](Self::check)
    /// determines whether TMA supports it.
    pub const fn new(tile: SharedBox, corner: [i32; MOST_RANK]) -> Self {
        Self { tile, corner }
    }

    /// Checks that TMA supports the copy: along the contiguous dimension, the corner must be a
    /// multiple of 16 bytes, inside and outside the tensor. Otherwise the instruction is illegal,
    /// and the process loses its device (`tests/gpu/tensor_map_classes.rs`).
    ///
    /// # Errors
    /// [`Refusal`] of a corner.
    pub const fn check(&self) -> Result<(), Refusal> {
        let (value, of) = (self.corner[0], self.tile.map.element.elements_in(CHUNK_BYTES));
        let beyond = value.rem_euclid(of as i32);
        if beyond == 0 {
            return Ok(());
        }
        let below = value - beyond;
        let nearest = match below.checked_add(of as i32) {
            Some(above) => above,
            None => below,
        };
        Err(Refusal::tensor_corner(value, of, nearest))
    }

    /// Returns the box in shared memory.
    pub const fn tile(&self) -> &SharedBox {
        &self.tile
    }

    /// Returns the tensor coordinate of the box's first element.
    pub const fn corner(&self) -> [i32; MOST_RANK] {
        self.corner
    }

    /// Returns the bytes that the load completes on its mbarrier.
    pub const fn transaction_bytes(&self) -> u32 {
        self.tile.map.box_bytes() as u32
    }

    /// Returns the offset of a point of the box from the tensor's address in bytes, or `None`
    /// outside the tensor.
    pub fn global(&self, point: Coord) -> Option<u64> {
        let map = &self.tile.map;
        let (mut rest, mut offset) = (point.row, 0u64);
        for dimension in 0..map.rank as usize {
            let within = match dimension {
                0 => point.column,
                _ => {
                    let extent = map.box_dims[dimension];
                    let within = rest % extent;
                    rest /= extent;
                    within
                }
            };
            let index =
                u64::try_from(i64::from(self.corner[dimension]) + i64::from(within)).ok()?;
            if index >= map.dims[dimension] {
                return None;
            }
            // `check` bounds the reach of a tensor, and so each offset.
            offset += match dimension {
                0 => map.element.matrix_bytes(index),
                _ => index * map.strides_bytes[dimension - 1],
            };
        }
        Some(offset)
    }

    /// Yields the byte ranges of the box in the tile, and the range of each in the tensor if it
    /// lies inside. Ranges lie within chunks of 16 bytes, which a swizzle keeps together.
    fn runs(&self) -> impl Iterator<Item = (Range<usize>, Option<Range<usize>>)> + '_ {
        let map = &self.tile.map;
        let (bytes, each) = (map.element.bytes_of(1), map.element.elements_in(CHUNK_BYTES));
        let Coord { row: rows, column: columns } = self.tile.domain();
        let chunks =
            (0..rows).flat_map(move |row| (0..columns / each).map(move |i| at(row, i * each)));
        chunks.flat_map(move |point| {
            let first = i64::from(self.corner[0]) + i64::from(point.column);
            let global = self.global(point).map(|offset| offset as usize);
            // The corner is a multiple of 16 bytes, so a chunk begins inside or lies outside.
            let inside = match global {
                Some(_) => (map.dims[0] - first as u64).min(each.into()) as u32 * bytes,
                None => 0,
            } as usize;
            let shared = self.tile.offset_bytes(point) as usize;
            let end = shared + (each * bytes) as usize;
            [
                (shared..shared + inside, global.map(|first| first..first + inside)),
                (shared + inside..end, None),
            ]
        })
    }

    /// Loads the box from the tensor's bytes to the tile's bytes. Returns the bytes that complete
    /// on the mbarrier.
    ///
    /// Bits are copied unchanged. TMA rounds [`Tf32`](crate::numeric::ElementKind::Tf32) elements,
    /// so the tensor must hold rounded numbers for the same result.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check). [`Refusal`] if `global` or `shared` is too short.
    pub fn load(&self, global: &[u8], shared: &mut [u8]) -> Result<u32, Refusal> {
        self.fits(global.len(), shared.len())?;
        for (to, from) in self.runs() {
            match from {
                Some(from) => shared[to].copy_from_slice(&global[from]),
                None => shared[to].fill(0),
            }
        }
        Ok(self.transaction_bytes())
    }

    /// Stores the box from the tile's bytes to the tensor's bytes. If a row ends inside a chunk of
    /// 16 bytes, the hardware writes the whole chunk, and so overwrites what lies behind the row.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check). [`Refusal`] if `global` or `shared` is too short.
    pub fn store(&self, shared: &[u8], global: &mut [u8]) -> Result<(), Refusal> {
        self.fits(global.len(), shared.len())?;
        for (from, to) in self.runs() {
            if let Some(to) = to {
                global[to].copy_from_slice(&shared[from]);
            }
        }
        Ok(())
    }

    fn fits(&self, global: usize, shared: usize) -> Result<(), Refusal> {
        self.check()?;
        let bytes = u64::from(self.tile.map.element.bytes_of(1));
        // `check` bounds the reach by 63 bits.
        let reach = self.tile.map.reach_bytes() as u64;
        for (operand, length, needed) in [
            (Operand::Tensor, global, reach),
            (Operand::Tile, shared, u64::from(self.tile.footprint_bytes())),
        ] {
            if (length as u64) < needed {
                let (length, needed) = (length / bytes as usize, needed.div_ceil(bytes));
                return Err(Refusal::too_short(operand, length, needed, Because::None));
            }
        }
        Ok(())
    }
}
