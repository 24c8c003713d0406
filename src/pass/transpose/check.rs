//! Which transposes are kernels.

use super::desc::{Lanes, Staging, TransposeDesc};
use crate::{
    arch::{ArchKind, Machine},
    refusal::{
        Field, Legal, Operand, Part, Refusal, Ungathered, hold,
        rules::{check_alignment, nearest_power_of_two, within},
    },
};

/// Reads that a thread may have under way: each holds an address and a condition besides its data.
const MOST_READS: u32 = 32;

/// Blocks that a multiprocessor holds, at most.
pub(super) const MOST_BLOCKS: u32 = 32;

/// The largest extent of a tile.
const LARGEST_TILE: u32 = 512;

impl TransposeDesc {
    /// Whether this is a kernel for the newest machine that there is a tag of.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the field, its value, the limit and the nearest legal value.
    pub const fn check(&self) -> Result<(), Refusal> {
        self.check_on(&ArchKind::Sm90.machine())
    }

    /// Whether this is a kernel for `machine`.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check).
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        hold!(self.check_accesses());
        hold!(self.check_tile());
        hold!(self.check_staging());
        self.check_budgets(machine)
    }

    /// Compile-time door: a description that does not check fails the build with its sentence.
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
            return Err(Refusal::NotOneOf {
                field: Field::ElementBytes,
                value: bytes as u64,
                legal: Legal::OneOf(&[1, 2, 4, 8]),
                nearest,
            });
        }
        if let Some(kind) = self.combine.kind()
            && kind.bytes_of(1) != bytes
        {
            let nearest = kind.bytes_of(1) as u64;
            return Err(Refusal::OutOfRange { field: Field::ElementBytes, value: bytes as u64, least: nearest, most: nearest });
        }
        let (mut i, fields) =
            (0, [(Field::AccessToA, self.access_a), (Field::Turn, self.turn), (Field::AccessToD, self.access_d)]);
        while i < fields.len() {
            hold!(check_alignment(fields[i].0, fields[i].1, 16 / bytes));
            i += 1;
        }
        Ok(())
    }

    /// What a thread gathers, it gathers of one column of pieces of D, and from as many places of lines as it writes elements.
    const fn check_gathered(&self) -> Result<(), Refusal> {
        if self.combine.kind().is_some() {
            return Err(Refusal::NotGathered { why: Ungathered::SecondOperand });
        }
        if matches!(self.lanes, Lanes::Across) {
            return Err(Refusal::NotGathered { why: Ungathered::LanesAcross });
        }
        if self.turn != 1 {
            let turn = self.turn as u64;
            return Err(Refusal::OutOfRange { field: Field::GatheredTurn, value: turn, least: 1, most: 1 });
        }
        if !self.threads.is_multiple_of(self.rows) {
            let (value, of) = (self.threads, self.rows);
            let nearest = value.next_multiple_of(of);
            return Err(Refusal::DoesNotNest { field: Field::ThreadsOfABlock, inner: Part::TileColumn, value, of, nearest });
        }
        Ok(())
    }

    const fn check_tile(&self) -> Result<(), Refusal> {
        let fields = [
            (Field::TileRows, self.rows, LARGEST_TILE),
            (Field::TileColumns, self.columns, LARGEST_TILE),
            (Field::ThreadsOfABlock, self.threads, 1024),
        ];
        let mut i = 0;
        while i < fields.len() {
            let (field, value, most) = fields[i];
            hold!(within(field, value as u64, if i == 2 { 32 } else { 1 } as u64, most as u64));
            i += 1;
        }
        if let Some(abreast) = self.order.abreast()
            && let Err(refusal) = within(Field::TilesAbreast, abreast as u64, 1, 64)
        {
            return Err(refusal);
        }
        let nests = [
            (Field::ThreadsOfABlock, Part::WarpOfThreads, self.threads, 32),
            (Field::TileRows, Part::Turn, self.rows, self.turn),
            (Field::TileRows, Part::AccessToD, self.rows, self.access_d),
            (Field::TileColumns, Part::AccessToA, self.columns, self.access_a),
        ];
        let mut i = 0;
        while i < nests.len() {
            let (field, inner, value, of) = nests[i];
            if !value.is_multiple_of(of) {
                return Err(Refusal::DoesNotNest { field, inner, value, of, nearest: value.next_multiple_of(of) });
            }
            i += 1;
        }
        let maps = [(Field::PiecesOfA, self.fetch()), (Field::PiecesOfD, self.write())];
        let mut i = 0;
        while i < maps.len() {
            let (field, map) = maps[i];
            let (pieces, threads) = (map.lines * map.pieces, self.threads);
            if i == 1 && !self.is_staged() {
                return Ok(());
            }
            // The last of the gathered lines ends where it ends.
            if i == 0 && self.is_gathered() {
                i += 1;
                continue;
            }
            if !pieces.is_multiple_of(threads) {
                let nearest = pieces.next_multiple_of(threads);
                return Err(Refusal::DoesNotNest { field, inner: Part::BlockOfThreads, value: pieces, of: threads, nearest });
            }
            // Then a thread's steps are a constant apart, and what it knows of one it knows of all.
            let run = map.run();
            if !threads.is_multiple_of(run) && !run.is_multiple_of(threads) {
                let nearest = threads.next_multiple_of(run);
                return Err(Refusal::DoesNotNest {
                    field: Field::ThreadsOfABlock,
                    inner: Part::LineOfPieces,
                    value: threads,
                    of: run,
                    nearest,
                });
            }
            i += 1;
        }
        Ok(())
    }

    const fn check_staging(&self) -> Result<(), Refusal> {
        match self.staging {
            Staging::Direct => {
                if self.access_d != self.turn {
                    // A thread writes what it has turned.
                    let of = self.turn as u64;
                    return Err(Refusal::OutOfRange {
                        field: Field::DirectAccessToD,
                        value: self.access_d as u64,
                        least: of,
                        most: of,
                    });
                }
                return Ok(());
            }
            Staging::Gathered => return self.check_gathered(),
            Staging::Padded(padding) => {
                hold!(within(Field::PaddingOfTile, padding as u64, 0, 64));
            }
            Staging::Swizzled { bits, base, shift } => {
                let fields = [
                    (Field::SwizzleBitsOfTile, bits, 1, 5),
                    (Field::SwizzleBaseOfTile, base, 0, 5),
                    (Field::SwizzleShiftOfTile, shift, 0, 8),
                ];
                let mut i = 0;
                while i < fields.len() {
                    let (field, value, least, most) = fields[i];
                    hold!(within(field, value as u64, least as u64, most as u64));
                    i += 1;
                }
                let chunk = 1 << (bits + base);
                if !self.rows.is_multiple_of(chunk) {
                    return Err(Refusal::SwizzleBeyondRow { operand: Operand::Tile, chunk, row: self.rows });
                }
            }
        }
        let accesses = [(Field::Turn, self.turn), (Field::AccessToD, self.access_d)];
        let mut i = 0;
        while i < accesses.len() {
            let (field, access) = accesses[i];
            let run = self.smem().vector(access);
            if run < access {
                return Err(Refusal::AccessApart { field, access, run });
            }
            i += 1;
        }
        Ok(())
    }

    const fn check_budgets(&self, machine: &Machine) -> Result<(), Refusal> {
        hold!(within(Field::ReadsOfAThread, self.reads() as u64, 1, MOST_READS as u64));
        let (threads, blocks) = (self.threads, self.blocks_per_sm);
        hold!(within(Field::BlocksPerSm, blocks as u64, 1, MOST_BLOCKS as u64));
        hold!(within(Field::ThreadsOfABlock, threads as u64, 32, machine.threads_per_block as u64));
        hold!(within(Field::ThreadsOfAMultiprocessor, (threads * blocks) as u64, 32, machine.threads_per_sm as u64));
        // The hardware gives registers to warps in eights.
        let share = machine.registers_per_sm / (threads * blocks) / 8 * 8;
        let available = if share < 255 { share } else { 255 };
        let needed = self.registers();
        if needed > available {
            return Err(Refusal::Registers { needed, available, threads, blocks });
        }
        let (needed, available) = (self.smem_bytes(), machine.shared_bytes_each_of(blocks));
        if needed > available {
            return Err(Refusal::SharedMemory {
                needed,
                available,
                stages: 1,
                stage: needed,
                deposit: 0,
                blocks,
                arch: machine.sm,
            });
        }
        Ok(())
    }
}
