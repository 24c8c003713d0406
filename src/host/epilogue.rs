//! The epilogue of a row: accumulators of one type, and elements of C and D as bytes of another
//! type.

use super::operands::{Operands, unknown};
use crate::{
    epilogue::{EpilogueDesc, EpilogueInputs, Rows, SCALARS, evaluate},
    error::Error,
    host::warp::accumulators::Accumulators,
    numeric::{ComputeKind, Computed, ElementKind, Narrowing, Widening},
};

/// The conversion from accumulators to D, computed in type `E`.
pub(super) struct Epilogue<'a, E> {
    desc: &'a EpilogueDesc,
    scalars: &'a [f64; SCALARS],
    accumulators: Widening<E>,
    source: Widening<E>,
    narrowing: Narrowing<E>,
}

/// Row buffers, which are reused from row to row.
#[derive(Default)]
pub(super) struct Buffers<E> {
    pub accumulators: Vec<E>,
    beside: EpilogueInputs<Vec<E>>,
    rows: Rows<E>,
}

impl<'a, E: Computed> Epilogue<'a, E> {
    /// Prepares the epilogue of a GEMM for accumulators of type `from`.
    ///
    /// # Errors
    /// [`Error::Refused`] if the compute type cannot represent the accumulators or the elements of
    /// C and D.
    pub fn new(operands: &'a Operands<'_>, from: ElementKind) -> Result<Self, Error> {
        let (desc, scalars) = (operands.desc, &operands.problem.scalars);
        let (Some(accumulators), Some(source), Some(narrowing)) = (
            E::widening(from),
            E::widening(desc.output.element),
            E::narrowing(desc.output.element),
        ) else {
            return Err(unknown(desc));
        };
        Ok(Self { desc: &desc.epilogue, scalars, accumulators, source, narrowing })
    }

    /// Appends `count` accumulators to the row.
    pub fn append(&self, buffers: &mut Buffers<E>, bytes: &[u8], count: usize) {
        let at = buffers.accumulators.len();
        buffers.accumulators.resize(at + count, E::default());
        (self.accumulators.row)(bytes, &mut buffers.accumulators[at..]);
    }

    /// Reads `count` elements of C and of each vector operand for the row.
    pub fn read(&self, buffers: &mut Buffers<E>, beside: &EpilogueInputs<&[u8]>, count: usize) {
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

    /// Evaluates the epilogue for the first `count` accumulators, writes the results to `d`, and
    /// clears the row.
    pub fn write(&self, buffers: &mut Buffers<E>, count: usize, d: &mut [u8]) {
        let Buffers { accumulators, beside, rows } = buffers;
        let (accumulators_read, beside) =
            (&accumulators[..count.min(accumulators.len())], beside.map(Vec::as_slice));
        let results = evaluate(self.desc, self.scalars, accumulators_read, beside, rows);
        (self.narrowing)(results, d);
        accumulators.clear();
    }
}

/// Returns elements of D as bytes, for accumulators and for equally many elements of C and of each
/// vector operand.
///
/// # Errors
/// The errors of [`Epilogue::new`].
pub(super) fn finished(
    of: &Operands<'_>,
    accumulators: &Accumulators,
    read: &EpilogueInputs<Vec<u8>>,
) -> Result<Vec<u8>, Error> {
    fn computed<E: Computed>(
        of: &Operands<'_>,
        accumulators: &Accumulators,
        read: &EpilogueInputs<Vec<u8>>,
    ) -> Result<Vec<u8>, Error> {
        let (epilogue, mut buffers) =
            (Epilogue::<E>::new(of, accumulators.kind())?, Buffers::default());
        let count = accumulators.len();
        let mut d = vec![0; of.desc.output.element.matrix_bytes(count as u64) as usize];
        epilogue.append(&mut buffers, accumulators.bytes(), count);
        epilogue.read(&mut buffers, &read.map(Vec::as_slice), count);
        epilogue.write(&mut buffers, count, &mut d);
        Ok(d)
    }
    match of.desc.output.compute {
        ComputeKind::F32 => computed::<f32>(of, accumulators, read),
        ComputeKind::F64 => computed::<f64>(of, accumulators, read),
        ComputeKind::I32 => computed::<i32>(of, accumulators, read),
    }
}
