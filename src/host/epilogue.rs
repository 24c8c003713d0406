//! The epilogue of a row: accumulators of one type, and elements of C and D as bytes of another
//! type.

use super::operands::{Operands, unknown};
use crate::{
    Error,
    epilogue::{EpilogueDesc, Rows, SCALARS, evaluate},
    numeric::{ComputeKind, Computed, ElementKind, Narrowing, Widening},
    shape::EpilogueOperands,
};

/// The conversion from accumulators to D, computed in type `E`.
pub(super) struct Epilogue<'a, E> {
    desc: &'a EpilogueDesc,
    scalars: &'a [f64; SCALARS],
    accumulators: Widening<E>,
    /// Conversions of the operands to the compute type.
    operands: EpilogueOperands<Widening<E>>,
    narrowing: Narrowing<E>,
}

/// Row buffers, which are reused from row to row.
#[derive(Default)]
pub(super) struct Buffers<E> {
    pub accumulators: Vec<E>,
    operands: EpilogueOperands<Vec<E>>,
    rows: Rows<E>,
}

impl<'a, E: Computed> Epilogue<'a, E> {
    /// Prepares the epilogue of a GEMM for accumulators of type `from`.
    ///
    /// # Errors
    /// [`Error::Refused`] if the compute type cannot represent the accumulators, the operands of the
    /// epilogue, or the elements of D.
    pub fn new(operands: &'a Operands<'_>, from: ElementKind) -> Result<Self, Error> {
        let (desc, scalars) = (operands.desc, &operands.problem.scalars);
        let (Some(accumulators), Some(narrowing)) =
            (E::widening(from), E::narrowing(desc.output.element))
        else {
            return Err(unknown(desc));
        };
        let operands = desc.epilogue.operands(desc.output.element);
        let operands =
            operands.try_map(|_, element| E::widening(element).ok_or_else(|| unknown(desc)))?;
        Ok(Self { desc: &desc.epilogue, scalars, accumulators, operands, narrowing })
    }

    /// Appends `count` accumulators to the row.
    pub fn append(&self, buffers: &mut Buffers<E>, bytes: &[u8], count: usize) {
        let at = buffers.accumulators.len();
        buffers.accumulators.resize(at + count, E::default());
        (self.accumulators.row)(bytes, &mut buffers.accumulators[at..]);
    }

    /// Reads `count` elements of each operand for the row.
    pub fn read(&self, buffers: &mut Buffers<E>, operands: &EpilogueOperands<&[u8]>, count: usize) {
        for (operand, widening) in self.operands.iter() {
            let row = buffers.operands.slot(operand);
            let Some(bytes) = operands.get(operand) else {
                *row = None;
                continue;
            };
            let row = row.get_or_insert_default();
            row.clear();
            row.resize(count, E::default());
            (widening.row)(bytes, row);
        }
    }

    /// Evaluates the epilogue for the first `count` columns of D, writes the results to `d`, and
    /// clears the row.
    pub fn write(&self, buffers: &mut Buffers<E>, count: usize, d: &mut [u8]) {
        let Buffers { accumulators, operands, rows } = buffers;
        let operands = operands.as_ref().map(|_, row| row.as_slice());
        let count = count * self.desc.columns_per_output();
        let read = &accumulators[..count.min(accumulators.len())];
        let results = evaluate(self.desc, self.scalars, read, &operands, rows);
        (self.narrowing)(results, d);
        accumulators.clear();
    }
}

/// Returns elements of D as bytes, for the bytes of accumulators of type `kind` and for as many
/// elements of each operand.
///
/// # Errors
/// [`Error::Refused`] if the compute type cannot represent the accumulators, the operands of the
/// epilogue, or the elements of D.
pub fn finished(
    of: &Operands<'_>,
    (kind, accumulators): (ElementKind, &[u8]),
    read: &EpilogueOperands<Vec<u8>>,
) -> Result<Vec<u8>, Error> {
    fn computed<E: Computed>(
        of: &Operands<'_>,
        (kind, accumulators): (ElementKind, &[u8]),
        read: &EpilogueOperands<Vec<u8>>,
    ) -> Result<Vec<u8>, Error> {
        let (epilogue, mut buffers) = (Epilogue::<E>::new(of, kind)?, Buffers::default());
        let count = kind.matrix_elements(accumulators.len() as u64) as usize;
        let columns = count / of.desc.epilogue.columns_per_output();
        let mut d = vec![0; of.desc.output.element.matrix_bytes(columns as u64) as usize];
        epilogue.append(&mut buffers, accumulators, count);
        let count = columns;
        epilogue.read(&mut buffers, &read.as_ref().map(|_, bytes| bytes.as_slice()), count);
        epilogue.write(&mut buffers, count, &mut d);
        Ok(d)
    }
    match of.desc.output.compute {
        ComputeKind::F32 => computed::<f32>(of, (kind, accumulators), read),
        ComputeKind::F64 => computed::<f64>(of, (kind, accumulators), read),
        ComputeKind::I32 => computed::<i32>(of, (kind, accumulators), read),
    }
}
