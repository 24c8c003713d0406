//! The epilogue of a row: accumulators of one type, and elements of C and D of another, as bytes.

use super::{
    accumulators::Accumulators,
    operands::{Operands, unknown},
};
use crate::{
    epilogue::{Beside, EpilogueDesc, Rows, SCALARS, evaluate},
    error::Error,
    numeric::{ComputeKind, Computed, ElementKind, Narrowing, Widening},
};

/// From accumulators to D, computed in `E`.
pub(super) struct Epilogue<'a, E> {
    desc: &'a EpilogueDesc,
    scalars: &'a [f64; SCALARS],
    accumulators: Widening<E>,
    source: Widening<E>,
    narrowing: Narrowing<E>,
}

/// Rows on their way, their memory to be used again.
#[derive(Default)]
pub(super) struct Buffers<E> {
    pub accumulators: Vec<E>,
    beside: Beside<Vec<E>>,
    rows: Rows<E>,
}

impl<'a, E: Computed> Epilogue<'a, E> {
    /// That of a description, from accumulators of a type.
    ///
    /// # Errors
    /// [`Error::Refused`] where such numbers do not go together.
    pub fn of(operands: &'a Operands<'_>, from: ElementKind) -> Result<Self, Error> {
        let (class, scalars) = (operands.class, &operands.problem.scalars);
        let (Some(accumulators), Some(source), Some(narrowing)) = (
            E::widening(from),
            E::widening(class.output.element),
            E::narrowing(class.output.element),
        ) else {
            return Err(unknown(class));
        };
        Ok(Self { desc: &class.output.epilogue, scalars, accumulators, source, narrowing })
    }

    /// Appends so many accumulators to a row.
    pub fn append(&self, buffers: &mut Buffers<E>, bytes: &[u8], count: usize) {
        let at = buffers.accumulators.len();
        buffers.accumulators.resize(at + count, E::default());
        (self.accumulators.row)(bytes, &mut buffers.accumulators[at..]);
    }

    /// The same row of what else is read.
    pub fn read(&self, buffers: &mut Buffers<E>, beside: &Beside<&[u8]>, count: usize) {
        let widened = |bytes: &[u8], row: &mut Option<Vec<E>>| {
            let row = row.get_or_insert_default();
            row.clear();
            row.resize(count, E::default());
            (self.source.row)(bytes, row);
        };
        match beside.source {
            Some(bytes) => widened(bytes, &mut buffers.beside.source),
            None => buffers.beside.source = None,
        }
        beside
            .vectors
            .iter()
            .for_each(|(kind, bytes)| widened(bytes, buffers.beside.vectors.slot(kind)));
    }

    /// The first `count` of the row, to D; they are forgotten.
    pub fn write(&self, buffers: &mut Buffers<E>, count: usize, d: &mut [u8]) {
        let Buffers { accumulators, beside, rows } = buffers;
        let (accumulators_read, beside) =
            (&accumulators[..count.min(accumulators.len())], beside.map(Vec::as_slice));
        let results = evaluate(self.desc, self.scalars, accumulators_read, beside, rows);
        (self.narrowing)(results, d);
        accumulators.clear();
    }
}

/// Elements of D, as bytes, of some accumulators and as many elements of what else is read.
///
/// # Errors
/// Those of [`Epilogue::of`].
pub(super) fn finished(
    of: &Operands<'_>,
    accumulators: &Accumulators,
    read: &Beside<Vec<u8>>,
) -> Result<Vec<u8>, Error> {
    fn computed<E: Computed>(
        of: &Operands<'_>,
        accumulators: &Accumulators,
        read: &Beside<Vec<u8>>,
    ) -> Result<Vec<u8>, Error> {
        let (epilogue, mut buffers) =
            (Epilogue::<E>::of(of, accumulators.kind())?, Buffers::default());
        let count = accumulators.len();
        let mut d = vec![0; of.class.output.element.matrix_bytes(count as u64) as usize];
        epilogue.append(&mut buffers, accumulators.bytes(), count);
        epilogue.read(&mut buffers, &read.map(Vec::as_slice), count);
        epilogue.write(&mut buffers, count, &mut d);
        Ok(d)
    }
    match of.class.compute {
        ComputeKind::F32 => computed::<f32>(of, accumulators, read),
        ComputeKind::F64 => computed::<f64>(of, accumulators, read),
        ComputeKind::I32 => computed::<i32>(of, accumulators, read),
    }
}
