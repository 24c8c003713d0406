//! The epilogue of a row: accumulators of one type, and elements of C and D of another, as bytes.

use super::{accumulators::Accumulators, operands::unknown};
use crate::{
    desc::Class,
    epilogue::{EpilogueDesc, Rows, SCALARS, evaluate},
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
    source: Vec<E>,
    rows: Rows<E>,
}

impl<'a, E: Computed> Epilogue<'a, E> {
    /// That of a description, from accumulators of a type.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where such numbers do not go together.
    pub fn of(class: &'a Class, scalars: &'a [f64; SCALARS], from: ElementKind) -> Result<Self, Error> {
        let (Some(accumulators), Some(source), Some(narrowing)) =
            (E::widening(from), E::widening(class.output.element), E::narrowing(class.output.element))
        else {
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

    /// The row of C; no bytes stand for zeros.
    pub fn read(&self, buffers: &mut Buffers<E>, bytes: &[u8], count: usize) {
        buffers.source.clear();
        buffers.source.resize(if bytes.is_empty() { 0 } else { count }, E::default());
        (self.source.row)(bytes, &mut buffers.source);
    }

    /// The first `count` of the row, to D; they are forgotten.
    pub fn write(&self, buffers: &mut Buffers<E>, count: usize, d: &mut [u8]) {
        let Buffers { accumulators, source, rows } = buffers;
        let results = evaluate(self.desc, self.scalars, &accumulators[..count.min(accumulators.len())], source, rows);
        (self.narrowing)(results, d);
        accumulators.clear();
    }
}

/// Elements of D, as bytes, of some accumulators and as many elements of C; of none, with zeros.
///
/// # Errors
///
/// Those of [`Epilogue::of`].
pub(super) fn finished(
    class: &Class,
    scalars: &[f64; SCALARS],
    accumulators: &Accumulators,
    source: &[u8],
) -> Result<Vec<u8>, Error> {
    fn of<E: Computed>(
        class: &Class,
        scalars: &[f64; SCALARS],
        accumulators: &Accumulators,
        source: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let (epilogue, mut buffers) = (Epilogue::<E>::of(class, scalars, accumulators.kind())?, Buffers::default());
        let count = accumulators.len();
        let mut d = vec![0; class.output.element.matrix_bytes(count as u64) as usize];
        epilogue.append(&mut buffers, accumulators.bytes(), count);
        epilogue.read(&mut buffers, source, count);
        epilogue.write(&mut buffers, count, &mut d);
        Ok(d)
    }
    match class.compute {
        ComputeKind::F32 => of::<f32>(class, scalars, accumulators, source),
        ComputeKind::F64 => of::<f64>(class, scalars, accumulators, source),
        ComputeKind::I32 => of::<i32>(class, scalars, accumulators, source),
    }
}
