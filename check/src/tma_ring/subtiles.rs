//! Converts a warp's accumulators to its part of a subtile, and writes subtiles to D.

use crate::{
    accumulators::Accumulators,
    machine::Staged,
    program::accumulators as accumulators_of,
    tma_ring::numbers::{NOTHING, Numbers},
};
use falchion::{
    Error, Refusal,
    internals::{
        host::shared::finished,
        index::{IndexMap, at, points},
        operand::{HostSlice, View},
        schedule::Fault,
        shape::{EpilogueOperand, EpilogueOperands},
    },
    layout::Order,
    refusal::Operand,
    threadblock::{SharedBox, TensorCopy, TensorMapDesc, Unit},
    warp::warpgroup::{FragmentRows, ROWS},
};

/// Lanes per warp, and rows of an instruction per warp.
const LANES: u32 = 32;
pub(super) const WARP_ROWS: u32 = 16;

/// Returns the corner of a subtile's box in the matrix of a GEMM, for the layout `order`. A
/// coordinate that does not fit is clamped to a value beyond the matrix.
fn corner(order: Order, product: u32, (row, column): (u32, u32)) -> [i32; 5] {
    let along = if order.is_row() { [column, row] } else { [row, column] };
    [along[0], along[1], product, 0, 0].map(|x| i32::try_from(x).unwrap_or(i32::MAX))
}

/// The place of a warp's part of a subtile: unit of work, consumer, warp, and subtile.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub unit: Unit,
    pub consumer: u32,
    pub warp: u32,
    pub subtile: u32,
}

impl Numbers<'_> {
    /// Returns the row and column at which the consumer's tile begins in D.
    fn origin(&self, place: Place) -> Result<(u32, u32), Fault> {
        let block = self.program.multiplied.threadblock();
        let (row, column) = self.consumer_tile(place.consumer)?;
        Ok((place.unit.row * block.m + row, place.unit.column * block.n + column))
    }

    /// Returns the row and column at which a subtile begins in the consumer's tile.
    fn subtile(&self, map: &dyn IndexMap, subtile: u32) -> Result<(u32, u32), Fault> {
        let offset = map.at(at(0, subtile)).ok_or(Fault::LeftOut {
            map: "subtile",
            row: 0,
            column: subtile,
        })?;
        Ok((offset / self.program.multiplied.warp().n, offset % self.program.multiplied.warp().n))
    }

    /// Applies the epilogue to a warp's part of a subtile. `fetched` is the staging buffer with C,
    /// if C comes through it.
    pub(super) fn subtile_of(
        &self,
        place: Place,
        accumulators: Option<&Accumulators>,
        fetched: Option<&[u8]>,
    ) -> Result<Staged, Error> {
        let (program, n) = (self.program, self.program.multiplied.instruction().n);
        let product = place.unit.product;
        let (origin, first) =
            (self.origin(place)?, self.subtile(&*program.subtile, place.subtile)?);
        let held = accumulators_of(&program.components, FragmentRows::Ordinary);
        let down = first.0 / ROWS;
        let (mut places, mut numbers, mut shifts, mut read) =
            (Vec::new(), Vec::new(), Vec::new(), EpilogueOperands::<Vec<u8>>::NONE);
        let mut of_results = Vec::new();
        let all = (0..program.components.repeats.n).flat_map(|across| {
            (0..LANES)
                .flat_map(move |lane| (0..ROWS * n / (4 * LANES)).map(move |i| (across, lane, i)))
        });
        for (across, lane, i) in all {
            let thread = place.warp * LANES + lane;
            let left_out = Fault::LeftOut { map: "accumulator", row: thread, column: i };
            // `taken` is where the thread stores the accumulator, and `held` is where the hardware
            // has it.
            let taken = program.accumulator.at(at(thread, i)).ok_or(left_out)?;
            let (row, column) = (taken / n, across * n + taken % n);
            let Some(within) = column
                .checked_sub(first.1)
                .filter(|&within| within < program.components.subtile_columns)
            else {
                continue;
            };
            let of_held = held.at(at(thread, i)).ok_or(left_out)?;
            let (m, in_n) = (of_held / n, of_held % n);
            let number =
                ((down * program.components.repeats.n + across) * WARP_ROWS + m % WARP_ROWS) * n
                    + in_n;
            numbers.push(number as usize);
            let of_d = ((origin.0 + first.0 + row) as usize, (origin.1 + column) as usize);
            shifts.extend(self.scales.shift(product as usize, of_d.0, of_d.1));
            of_results.push(of_d);
            self.matrices.beside((product, of_d.0, of_d.1..of_d.1 + 1), &mut read);
            if let Some(buffer) = fetched {
                let map = Fault::LeftOut { map: "fetch.staging", row, column: within };
                let byte = program.fetch.staging.at(at(row, within)).ok_or(map)?;
                read.slot(EpilogueOperand::Source)
                    .get_or_insert_default()
                    .extend_from_slice(self.element(buffer, byte, place)?);
            } else {
                let source = read.slot(EpilogueOperand::Source).get_or_insert_default();
                source.extend_from_slice(self.source_at(product, of_d.0, of_d.1));
            }
            let byte = program.staging.at(at(row, within)).ok_or(Fault::LeftOut {
                map: "staging",
                row,
                column: within,
            })?;
            places.push(byte);
        }
        let kind = accumulators.map_or(program.multiplied.output.accumulator, Accumulators::kind);
        let mut taken = Accumulators::taken(kind, accumulators, &numbers);
        if let Accumulators::F32(accumulators) = &mut taken {
            accumulators
                .iter_mut()
                .zip(shifts)
                .for_each(|(sum, shift)| *sum = (self.scales.unscaled)(*sum, shift));
        }
        Ok(Staged {
            places,
            elements: finished(
                &self.matrices,
                (taken.kind(), taken.bytes()),
                &read,
                (product, &of_results),
            )?,
        })
    }

    /// Returns the element of a staging buffer that begins at a byte.
    fn element<'b>(&self, buffer: &'b [u8], byte: u32, place: Place) -> Result<&'b [u8], Fault> {
        let beyond = Fault::BeyondStaging {
            consumer: place.consumer,
            byte,
            size: self.program.components.ring.staging_bytes,
        };
        buffer.get(byte as usize..byte as usize + self.element_bytes()).ok_or(beyond)
    }

    /// Returns the bytes per element of C and D.
    pub(super) fn element_bytes(&self) -> usize {
        self.matrices.desc.output.element.bytes_of(1) as usize
    }

    /// Returns a staging buffer with a subtile of C as TMA writes it. Elements outside of C are
    /// zeros.
    pub(super) fn fetched(&self, place: Place) -> Result<Vec<u8>, Error> {
        let (program, problem) = (self.program, &self.matrices.problem);
        let mut buffer = vec![NOTHING; program.components.ring.staging_bytes as usize];
        let Some(elements) = self.source.or(&*self.d) else { return Ok(buffer) };
        let (origin, first) =
            (self.origin(place)?, self.subtile(&*program.fetch.subtile, place.subtile)?);
        let source = problem.source();
        let (map, own) = (self.subtile_map(Operand::C, &source), self.own(source.batch_stride));
        let Ok(mut map) = map else {
            // TMA does not support this pitch, so the host copies element by element.
            for point in points(&*program.fetch.staging) {
                let (row, column) =
                    (origin.0 + first.0 + point.row, origin.1 + first.1 + point.column);
                let element = self.source_at(place.unit.product, row as usize, column as usize);
                let byte = program.fetch.staging.at(point).unwrap_or(u32::MAX) as usize;
                let beyond = Fault::BeyondStaging {
                    consumer: place.consumer,
                    byte: byte as u32,
                    size: buffer.len() as u32,
                };
                let to = buffer.get_mut(byte..byte.saturating_add(element.len())).ok_or(beyond)?;
                to.copy_from_slice(element);
            }
            return Ok(buffer);
        };
        map.swizzle = program.fetch.swizzle;
        for (row, at) in self.boxes_of_a_subtile() {
            let product = if own { place.unit.product } else { 0 };
            let corner = corner(
                program.desc.frame.d_order(),
                product,
                (origin.0 + first.0 + row, origin.1 + first.1),
            );
            TensorCopy::new(SharedBox::new(&map, at)?, corner)
                .load(elements, &mut buffer[at as usize..])?;
        }
        Ok(buffer)
    }

    /// Returns the boxes of a subtile: the first row of each, and its byte offset in the buffer.
    fn boxes_of_a_subtile(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let components = &self.program.components;
        let (rows, bytes) =
            (components.subtile_box_rows().max(1), components.ring.staging_bytes / ROWS);
        (0..ROWS / rows).map(move |i| (i * rows, i * rows * bytes))
    }

    /// Returns the tensor map of C or D.
    fn subtile_map<M>(&self, name: Operand, view: &View<M>) -> Result<TensorMapDesc, Refusal> {
        let (problem, desc) = (&self.matrices.problem, &self.program.multiplied);
        let matrices = if self.own(view.batch_stride) {
            (problem.batch as u64, view.batch_stride as u64)
        } else {
            (1, 0)
        };
        let of_batch =
            (view.leading(desc.frame.d_order()) as u64, (problem.batch > 1).then_some(matrices));
        self.program.components.subtile_map(
            name,
            desc.output.element,
            (problem.m as u64, problem.n as u64),
            of_batch,
        )
    }

    /// Returns whether each GEMM of the batch has its own matrix.
    const fn own(&self, batch_stride: usize) -> bool {
        self.matrices.problem.batch > 1 && batch_stride > 0
    }

    /// Returns an element of C of a GEMM: zeros outside of C, and nothing if C is not read.
    pub(super) fn source_at(&self, product: u32, row: usize, column: usize) -> &[u8] {
        let Some(elements) = self.source.or(&*self.d) else { return &[] };
        let elements = HostSlice::from_bytes(self.matrices.desc.output.element, elements);
        self.matrices.element(&self.matrices.problem.source().with(elements), product, row, column)
    }

    /// Sets an element of D of a GEMM. The element must exist.
    pub(super) fn put(
        &mut self,
        product: u32,
        (row, column): (usize, usize),
        element: &[u8],
    ) -> Result<(), Fault> {
        let outside = Fault::OutsideOfD { row: row as u64, column: column as u64 };
        let d = &self.matrices.problem.d;
        let at = (product as usize * d.batch_stride + d.offset(row, column)) * element.len();
        let to = self.d.get_mut(at..).and_then(|d| d.get_mut(..element.len()));
        to.ok_or(outside)?.copy_from_slice(element);
        Ok(())
    }

    /// Returns the staging buffer of a subtile, as the four warps staged it.
    fn staged(&self, place: Place, subtiles: [&Staged; 4]) -> Result<Vec<u8>, Fault> {
        let (consumer, subtile, size) =
            (place.consumer, place.subtile, self.program.components.ring.staging_bytes);
        let width = self.element_bytes() as u32;
        let (mut buffer, mut staged) = (vec![0; size as usize], vec![false; size as usize]);
        let elements = subtiles.into_iter().flat_map(|subtile| {
            subtile.places.iter().zip(subtile.elements.chunks_exact(width as usize))
        });
        for (&byte, element) in elements {
            if byte.saturating_add(width) > size {
                return Err(Fault::BeyondStaging { consumer, byte, size });
            }
            let range = byte as usize..(byte + width) as usize;
            if staged[range.clone()].iter().any(|known| *known) {
                return Err(Fault::StagedTwice { consumer, subtile, byte });
            }
            staged[range.clone()].fill(true);
            buffer[range].copy_from_slice(element);
        }
        match (0..size).find(|&byte| !staged[byte as usize]) {
            Some(byte) => Err(Fault::NotStaged { consumer, subtile, byte }),
            None => Ok(buffer),
        }
    }

    /// Writes a subtile to D: by TMA, or by threads if D is not aligned for TMA.
    pub(super) fn write(&mut self, place: Place, subtiles: [&Staged; 4]) -> Result<(), Error> {
        let (program, problem) = (self.program, self.matrices.problem);
        let buffer = self.staged(place, subtiles)?;
        let (origin, first) =
            (self.origin(place)?, self.subtile(&*program.store.subtile, place.subtile)?);
        let (row, column) = (origin.0 + first.0, origin.1 + first.1);
        let desc = &program.multiplied;
        let (leading, product) =
            (problem.d.leading(desc.frame.d_order()) as u64, place.unit.product);
        let before = u64::from(product) * problem.d.batch_stride as u64;
        if let (true, Ok(mut map)) = (desc.by_tma(), self.subtile_map(Operand::D, &problem.d)) {
            map.swizzle = program.store.swizzle;
            for (further, at) in self.boxes_of_a_subtile() {
                let copy = TensorCopy::new(
                    SharedBox::new(&map, at)?,
                    corner(desc.frame.d_order(), product, (row + further, column)),
                );
                for point in points(copy.tile()) {
                    if let Some(byte) = copy.global(point) {
                        let element = desc.output.element.matrix_elements(byte) - before;
                        let (line, within) = (element / leading, element % leading);
                        let place = if desc.frame.d_order().is_row() {
                            (line, within)
                        } else {
                            (within, line)
                        };
                        self.count(product, place)?;
                    }
                }
                copy.store(&buffer[at as usize..], self.d)?;
            }
            return Ok(());
        }
        for point in points(&*program.store.staging) {
            let (m, n) =
                (row as usize + point.row as usize, column as usize + point.column as usize);
            if m >= problem.m || n >= problem.n {
                continue;
            }
            let left_out = Fault::LeftOut { map: "staging", row: point.row, column: point.column };
            let element =
                self.element(&buffer, program.store.staging.at(point).ok_or(left_out)?, place)?;
            self.count(product, (m as u64, n as u64))?;
            self.put(product, (m, n), element)?;
        }
        Ok(())
    }

    /// Records that an element of D is written, and checks that it exists and was not written
    /// before.
    pub(super) fn count(&mut self, product: u32, (row, column): (u64, u64)) -> Result<(), Fault> {
        let (m, n) = (self.matrices.problem.m, self.matrices.problem.n);
        let inside = (row as usize) < m && (column as usize) < n;
        match self
            .written
            .get_mut((product as usize * m + row as usize) * n + column as usize)
            .filter(|_| inside)
        {
            Some(times) if !*times => {
                *times = true;
                Ok(())
            }
            Some(_) => Err(Fault::WrittenTwice { row, column }),
            None => Err(Fault::OutsideOfD { row, column }),
        }
    }
}
