//! The validity of transpose descriptions.

use crate::{
    arch::{ArchKind, Machine},
    operand::transpose::{
        desc::{Lanes, Staging, TransposeDesc},
        maps::PieceMap,
    },
    refusal::{
        Because, Field, Legal, Operand, Part, Refusal, Ungathered, hold,
        rules::{check_alignment, explained, nearest_power_of_two, within},
    },
};

/// Largest number of loads in flight per thread. Each load needs an address and a predicate in
/// addition to its data.
const MOST_READS: u32 = 32;

/// Largest number of resident CTAs per SM.
pub(super) const MOST_BLOCKS: u32 = 32;

/// Largest extent of a tile.
const LARGEST_TILE: u64 = 512;

/// Rejects a value that is not a multiple of `of`.
const fn nests(field: Field, inner: Part, value: u32, of: u32) -> Result<(), Refusal> {
    if value.is_multiple_of(of) {
        return Ok(());
    }
    Err(Refusal::does_not_nest(field, inner, value, of, value.next_multiple_of(of)))
}

impl TransposeDesc {
    /// Checks that the description is valid for the newest supported architecture.
    ///
    /// # Errors
    /// A [`Refusal`] with the field, its value, the limit, and the nearest valid value.
    pub const fn check(&self) -> Result<(), Refusal> {
        self.check_on(&ArchKind::Sm90.machine())
    }

    /// Checks that the description is valid for `machine`.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        hold!(self.check_accesses());
        hold!(self.check_tile());
        hold!(self.check_staging());
        self.check_budgets(machine)
    }

    /// Returns a valid description. In a constant, an invalid description fails the build with its
    /// refusal.
    pub const fn expect(self) -> Self {
        match self.check() {
            Ok(()) => self,
            Err(refusal) => panic!("{}", refusal.sentence().as_str()),
        }
    }

    const fn check_accesses(&self) -> Result<(), Refusal> {
        let bytes = self.element_bytes;
        if !(bytes.is_power_of_two() && bytes <= 8) {
            let nearest = nearest_power_of_two(bytes, 1, 8) as u64;
            return Err(Refusal::not_one_of(
                Field::ElementBytes,
                bytes as u64,
                Legal::OneOf(&[1, 2, 4, 8]),
                nearest,
            ));
        }
        if let Some(kind) = self.combine.kind() {
            hold!(within(
                Field::ElementBytes,
                bytes as u64,
                kind.bytes_of(1) as u64,
                kind.bytes_of(1) as u64
            ));
        }
        hold!(check_alignment(Field::AccessToA, self.access_a, 16 / bytes));
        hold!(check_alignment(Field::ThreadRows, self.thread_rows, 16 / bytes));
        check_alignment(Field::AccessToD, self.access_d, 16 / bytes)
    }

    /// Checks the rules of gathered tiles: no second operand, lanes along D's rows, and all pieces
    /// of a thread in one column of pieces of D.
    const fn check_gathered(&self) -> Result<(), Refusal> {
        if self.combine.kind().is_some() {
            return Err(Refusal::not_gathered(Ungathered::SecondOperand));
        }
        if matches!(self.lanes, Lanes::Across) {
            return Err(Refusal::not_gathered(Ungathered::LanesAcross));
        }
        hold!(explained(
            within(Field::ThreadRows, self.thread_rows as u64, 1, 1),
            Because::Words("gathered access to D")
        ));
        nests(Field::ThreadsOfABlock, Part::TileColumn, self.threads, self.rows)
    }

    const fn check_tile(&self) -> Result<(), Refusal> {
        hold!(within(Field::TileRows, self.rows as u64, 1, LARGEST_TILE));
        hold!(within(Field::TileColumns, self.columns as u64, 1, LARGEST_TILE));
        hold!(within(Field::ThreadsOfABlock, self.threads as u64, 32, 1024));
        if let Some(id) = self.order.user() {
            return Err(Refusal::swizzle_of_transpose(id.0));
        }
        if let Some(group_size) = self.order.group_size() {
            hold!(within(Field::GroupSize, group_size as u64, 1, 64));
        }
        hold!(nests(Field::ThreadsOfABlock, Part::WarpOfThreads, self.threads, 32));
        hold!(nests(Field::TileRows, Part::ThreadRows, self.rows, self.thread_rows));
        hold!(nests(Field::TileRows, Part::AccessToD, self.rows, self.access_d));
        hold!(nests(Field::TileColumns, Part::AccessToA, self.columns, self.access_a));
        // Gathered lines may leave the last step partly empty.
        if !self.is_gathered() {
            hold!(self.check_pieces(Field::PiecesOfA, self.fetch()));
        }
        if self.is_staged() { self.check_pieces(Field::PiecesOfD, self.write()) } else { Ok(()) }
    }

    /// Checks that the pieces of a thread are a constant distance apart, so that it computes one
    /// address for all.
    const fn check_pieces(&self, field: Field, map: PieceMap) -> Result<(), Refusal> {
        hold!(nests(field, Part::BlockOfThreads, map.lines * map.pieces, self.threads));
        let run = map.run();
        if run.is_multiple_of(self.threads) {
            Ok(())
        } else {
            nests(Field::ThreadsOfABlock, Part::LineOfPieces, self.threads, run)
        }
    }

    const fn check_staging(&self) -> Result<(), Refusal> {
        match self.staging {
            Staging::Direct => {
                // A thread writes the elements that it has transposed.
                return within(
                    Field::AccessToD,
                    self.access_d as u64,
                    self.thread_rows as u64,
                    self.thread_rows as u64,
                );
            }
            Staging::Gathered => return self.check_gathered(),
            Staging::Padded(padding) => {
                hold!(within(Field::PaddingOfTile, padding as u64, 0, 64));
            }
            Staging::Swizzled { bits, base, shift } => {
                hold!(within(Field::SwizzleBitsOfTile, bits as u64, 1, 5));
                hold!(within(Field::SwizzleBaseOfTile, base as u64, 0, 5));
                hold!(within(Field::SwizzleShiftOfTile, shift as u64, 0, 8));
                let chunk = 1 << (bits + base);
                if !self.rows.is_multiple_of(chunk) {
                    return Err(Refusal::swizzle_beyond_row(Operand::Tile, chunk, self.rows));
                }
            }
        }
        hold!(self.check_run(Field::ThreadRows, self.thread_rows));
        self.check_run(Field::AccessToD, self.access_d)
    }

    /// Checks that `access` elements are contiguous in shared memory.
    const fn check_run(&self, field: Field, access: u32) -> Result<(), Refusal> {
        let run = self.smem().vector(access);
        if run < access { Err(Refusal::access_apart(field, access, run)) } else { Ok(()) }
    }

    const fn check_budgets(&self, machine: &Machine) -> Result<(), Refusal> {
        hold!(within(Field::ReadsOfAThread, self.reads() as u64, 1, MOST_READS as u64));
        let (threads, blocks) = (self.threads, self.blocks_per_sm);
        hold!(within(Field::BlocksOfAMultiprocessor, blocks as u64, 1, MOST_BLOCKS as u64));
        hold!(within(Field::ThreadsOfABlock, threads as u64, 32, machine.threads_per_block as u64));
        hold!(within(
            Field::ThreadsOfAMultiprocessor,
            (threads * blocks) as u64,
            32,
            machine.threads_per_sm as u64
        ));
        // The hardware allocates registers per thread in multiples of 8.
        let share = machine.registers_per_sm / (threads * blocks) / 8 * 8;
        let available = if share < 255 { share } else { 255 };
        let needed = self.registers();
        if needed > available {
            return Err(Refusal::registers(needed, available, threads, blocks));
        }
        let (needed, available) = (self.smem_bytes(), machine.shared_bytes_each_of(blocks));
        if needed > available {
            return Err(Refusal::shared_memory(
                [needed, available],
                [1, needed, 0],
                blocks,
                machine.sm,
            ));
        }
        Ok(())
    }
}
