//! The gather pass: copies the lines of an operand that an index list selects, so that TMA reads
//! neighboring rows. It also copies an operand whose lines or units are split in two modes.
//!
//! A line is a row of A or a column of B. A unit is one access: 16 bytes if the lines of the
//! operand and of the copy are contiguous and aligned, or else one element. Consecutive threads
//! write consecutive units of the copy. A line whose index is beyond the operand becomes zeros.
//!
//! Twin: `kernels/operand/gather.cuh`.

use crate::{
    codegen::{GatherParams, TranslationUnit},
    numeric::ElementKind,
    operand::{AxisSplit, Elements, IndexList, PassBatch, unit_of},
    refusal::Refusal,
    threadblock::{Grid, Launch},
};

/// The kernel of a gather pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GatherDesc {
    /// Bytes per unit: 1, 2, 4, 8, or 16.
    pub bytes: u32,
}

/// Bytes of the widest unit.
const WIDEST: u64 = 16;

/// The copy of the matrices of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatherCopy {
    /// Bytes per unit.
    pub bytes: u32,
    /// Number of lines, and of units per line.
    pub extents: [u64; 2],
    /// Bytes between lines, and between the units of a line, of the operand.
    pub source: [u64; 2],
    /// Bytes between lines, and between the units of a line, of the copy.
    pub copy: [u64; 2],
    /// Splits of the operand's lines, and of its units: lines or units per group, or 0, and bytes
    /// between groups.
    pub splits: [[u64; 2]; 2],
    /// Addresses of the operand, of the copy, and of the index list, or 0 without a list.
    pub addresses: [u64; 3],
    /// Number of lines of the operand.
    pub extent: u64,
    /// The matrices of the batch.
    pub batch: PassBatch,
}

impl GatherCopy {
    /// Returns the copy of elements. `source` and `copy` are the strides in elements between lines,
    /// and within a line. Elements merge to wider units if both lines are contiguous.
    pub(super) fn new(
        element: ElementKind,
        [lines, length]: [usize; 2],
        (source, copy): ([(usize, AxisSplit); 2], [usize; 2]),
        ([from, to], list): ([u64; 2], Option<&IndexList<Elements>>),
        batch: PassBatch,
    ) -> Self {
        let size = element.matrix_bytes(1);
        let bytes = |elements: usize| element.matrix_bytes(elements as u64);
        let splits = source.map(|(_, split)| [split.inner as u64, bytes(split.outer)]);
        let (source, copy) = (source.map(|(stride, _)| bytes(stride)), copy.map(bytes));
        let [of_source, of_copy] = batch.strides_bytes;
        let [[_, of_groups], [run, of_runs]] = splits;
        let splits_align = of_groups | of_runs | (run * size);
        let aligned =
            from | to | source[0] | copy[0] | bytes(length) | of_source | of_copy | splits_align;
        let contiguous = source[1] == size && copy[1] == size;
        let wide = contiguous && aligned.is_multiple_of(WIDEST);
        let merged = if wide { WIDEST / size } else { 1 };
        Self {
            bytes: (size * merged) as u32,
            extents: [lines as u64, length as u64 / merged],
            source: [source[0], source[1] * merged],
            copy: [copy[0], copy[1] * merged],
            splits: [splits[0], [splits[1][0] / merged, splits[1][1]]],
            addresses: [from, to, list.map_or(0, |list| list.list.memory.address)],
            extent: list.map_or(0, |list| list.extent as u64),
            batch,
        }
    }

    /// Returns the kernel of the copy.
    pub const fn desc(&self) -> GatherDesc {
        GatherDesc { bytes: self.bytes }
    }

    /// Returns whether lines are contiguous in the copy, not units of a line.
    const fn by_lines(&self) -> bool {
        self.copy[0] < self.copy[1]
    }

    /// Returns the launch of the pass.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn launch(&self) -> Result<Launch, Refusal> {
        let ([lines, units], by_lines) = (self.extents, self.by_lines());
        let (fast, slow) = if by_lines { (lines, units) } else { (units, lines) };
        let most = GatherDesc::THREADS.ilog2();
        let log_units = (u64::BITS - fast.saturating_sub(1).leading_zeros()).min(most);
        let across = fast.div_ceil(1 << log_units);
        let down = slow.div_ceil(u64::from(GatherDesc::THREADS * GatherDesc::STEPS) >> log_units);
        let tiles = across.saturating_mul(down);
        let blocks = tiles.saturating_mul(self.batch.matrices);
        let grid = Grid::with_tiles(blocks, GatherDesc::THREADS, 0)?;
        let ([source, destination, indices], [stride_source, stride_copy]) =
            (self.addresses, self.batch.strides_bytes);
        // Without a split, a group has more lines than a matrix.
        let group = |inner: u64| if inner == 0 { u32::MAX } else { inner as u32 };
        let [[lines_of_group, source_group], [units_of_run, source_run]] = self.splits;
        let params = GatherParams {
            source,
            destination,
            indices,
            source_line: self.source[0],
            source_unit: self.source[1],
            copy_line: self.copy[0],
            copy_unit: self.copy[1],
            source_group,
            source_run,
            stride_source,
            stride_copy,
            lines_of_group: group(lines_of_group),
            units_of_run: group(units_of_run),
            lines: lines as u32,
            units: units as u32,
            extent: self.extent as u32,
            tiles: tiles as u32,
            tiles_across: across as u32,
            log_units,
            by_lines: u32::from(by_lines),
            reserved: 0,
        };
        Ok(Launch::new(grid, &params))
    }
}

impl GatherDesc {
    /// Threads per CTA, and units per thread.
    const THREADS: u32 = 256;
    const STEPS: u32 = 4;

    /// Returns the source of the kernel.
    pub fn translation_unit(&self) -> TranslationUnit {
        let config = format!(
            "#pragma once\n{}struct Config {{\n  static constexpr int kThreads = {};\n  static constexpr int kSteps = {};\n  static constexpr int kBytes = {};\n}};\n",
            GatherParams::declaration(),
            Self::THREADS,
            Self::STEPS,
            self.bytes
        );
        unit_of("gather", ("GatherParams", "4"), config, "")
    }
}
