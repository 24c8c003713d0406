//! The epilogue of a row: accumulators of one type, and elements of C and D as bytes of another
//! type.

use super::operands::{Operands, unknown};
use crate::{
    Error,
    epilogue::{EpilogueDesc, Rows, SCALARS, evaluate},
    numeric::{ComputeKind, Computed, ElementKind, Narrowing, Widening},
    shape::{EpilogueOperand, EpilogueOperands},
};

/// The conversion from accumulators to D, computed in type `E`.
pub(super) struct Epilogue<'a, E> {
    desc: &'a EpilogueDesc,
    scalars: &'a [f64; SCALARS],
    accumulators: Widening<E>,
    /// Conversions of the operands to the compute type.
    operands: EpilogueOperands<Widening<E>>,
    narrowing: Narrowing<E>,
    /// Conversions of the values that the epilogue writes to operands.
    written: EpilogueOperands<Narrowing<E>>,
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
        let all = desc.epilogue.operands((desc.output.compute, desc.output.element));
        let writes = |operand: EpilogueOperand| desc.epilogue.writes(operand);
        let read = all.filter_map(|operand, element| (!writes(operand)).then_some(element));
        let written = all.filter_map(|operand, element| writes(operand).then_some(element));
        let operands =
            read.try_map(|_, element| E::widening(element).ok_or_else(|| unknown(desc)))?;
        let written =
            written.try_map(|_, element| E::narrowing(element).ok_or_else(|| unknown(desc)))?;
        Ok(Self { desc: &desc.epilogue, scalars, accumulators, operands, narrowing, written })
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

    /// Writes the values of the last evaluation to the operands that the epilogue writes.
    /// `place(i)` is the row and the column of value `i` in D of GEMM `product`. Values outside of
    /// D are not written.
    pub fn write_operands(
        &self,
        buffers: &Buffers<E>,
        of: &Operands<'_>,
        product: u32,
        place: impl Fn(usize) -> (usize, usize),
    ) {
        for (operand, narrowing) in self.written.iter() {
            let (Some(view), Some(values)) =
                (of.epilogue.get(operand), buffers.rows.written.get(operand))
            else {
                continue;
            };
            let offset = |i: usize| {
                let (row, column) = place(i);
                let inside = row < of.problem.m && column < of.problem.n;
                inside.then(|| product as usize * view.batch_stride + view.offset(row, column))
            };
            let (width, to) = (view.memory.kind().bytes_of(1) as usize, view.memory.shared_bytes());
            if operand.is_reduction() && !operand.is_sum() {
                let mut bytes = [0; 8];
                each_maximum(values, offset, |offset, maximum| {
                    narrowing(&[maximum], &mut bytes[..width]);
                    // Maxima of absolute values are ordered as their bits; NaN is the greatest.
                    match width {
                        4 => to
                            .maximum_u32(offset * width, bytemuck::pod_read_unaligned(&bytes[..4])),
                        _ => to.maximum_u64(offset * width, u64::from_ne_bytes(bytes)),
                    }
                });
                continue;
            }
            let mut bytes = vec![0; values.len() * width];
            narrowing(values, &mut bytes);
            for (i, element) in bytes.chunks_exact(width).enumerate() {
                if let Some(offset) = offset(i) {
                    to.write(offset * width, element);
                }
            }
        }
    }
}

/// Calls `visit` with the maximum of the absolute values of each run of values with one offset.
fn each_maximum<E: Computed>(
    values: &[E],
    offset: impl Fn(usize) -> Option<usize>,
    mut visit: impl FnMut(usize, E),
) {
    let mut run: Option<(usize, E)> = None;
    for (i, value) in values.iter().enumerate() {
        let Some(offset) = offset(i) else { continue };
        let before = match run {
            Some((known, maximum)) if known == offset => maximum,
            Some((known, maximum)) => {
                visit(known, maximum);
                E::default()
            }
            None => E::default(),
        };
        run = Some((offset, before.larger(value.absolute())));
    }
    if let Some((offset, maximum)) = run {
        visit(offset, maximum);
    }
}

/// Returns elements of D as bytes, for the bytes of accumulators of type `kind` and for as many
/// elements of each operand that the epilogue reads. Writes the other operands: `places` are the
/// rows and columns of the elements in D of GEMM `product`.
///
/// # Errors
/// [`Error::Refused`] if the compute type cannot represent the accumulators, the operands of the
/// epilogue, or the elements of D.
pub fn finished(
    of: &Operands<'_>,
    (kind, accumulators): (ElementKind, &[u8]),
    read: &EpilogueOperands<Vec<u8>>,
    places: (u32, &[(usize, usize)]),
) -> Result<Vec<u8>, Error> {
    fn computed<E: Computed>(
        of: &Operands<'_>,
        (kind, accumulators): (ElementKind, &[u8]),
        read: &EpilogueOperands<Vec<u8>>,
        (product, places): (u32, &[(usize, usize)]),
    ) -> Result<Vec<u8>, Error> {
        let (epilogue, mut buffers) = (Epilogue::<E>::new(of, kind)?, Buffers::default());
        let count = kind.matrix_elements(accumulators.len() as u64) as usize;
        let columns = count / of.desc.epilogue.columns_per_output();
        let mut d = vec![0; of.desc.output.element.matrix_bytes(columns as u64) as usize];
        epilogue.append(&mut buffers, accumulators, count);
        let count = columns;
        epilogue.read(&mut buffers, &read.as_ref().map(|_, bytes| bytes.as_slice()), count);
        epilogue.write(&mut buffers, count, &mut d);
        epilogue.write_operands(&buffers, of, product, |i| places[i]);
        Ok(d)
    }
    match of.desc.output.compute {
        ComputeKind::F32 => computed::<f32>(of, (kind, accumulators), read, places),
        ComputeKind::F64 => computed::<f64>(of, (kind, accumulators), read, places),
        ComputeKind::I32 => computed::<i32>(of, (kind, accumulators), read, places),
    }
}
