//! Host memory for elements whose type is a run-time value.

use super::{
    fill::order_of,
    number::{Number, poison, with_element},
};
use crate::resources::{available_bytes, room_for};
use core::ops::Range;
use falchion::{
    Error,
    internals::operand::{Elements, HostSlice, HostSliceMut, View},
    numeric::ElementKind,
    refusal::Refusal,
};

/// Elements of a type that is a run-time value.
///
/// ```
/// use falchion::numeric::ElementKind;
/// use falchion_lab::verify::HostBuffer;
///
/// let mut buffer = HostBuffer::poisoned(ElementKind::F16, 8)?;
/// assert!(buffer.get(3)?.is_nan());
/// buffer.set(3, 1.5)?;
/// assert_eq!(buffer.get(3)?, 1.5);
/// assert_eq!(buffer.slice(2..6)?.length(), 4);
/// # Ok::<(), falchion::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostBuffer {
    kind: ElementKind,
    length: usize,
    /// The bytes, in words that are aligned for every element type.
    words: Vec<u64>,
}

/// Size in bytes from which on the available memory is checked first. Smaller buffers are too
/// frequent for this check.
const MUCH: u64 = 1 << 26;

impl HostBuffer {
    /// Returns `length` elements of poison: NaN, or an integer at the end of the type's range.
    ///
    /// # Errors
    /// [`Refusal`] if the memory is not available.
    pub fn poisoned(kind: ElementKind, length: usize) -> Result<Self, Error> {
        let needed = kind.matrix_bytes(length as u64);
        let too_much =
            || Refusal::out_of_memory(needed, available_bytes().unwrap_or(isize::MAX as u64));
        // The system overcommits memory, and kills a process that writes to more than there is.
        if needed > MUCH {
            room_for(needed)?;
        }
        let count = length.checked_mul(kind.bytes_of(1) as usize).ok_or_else(too_much)?.div_ceil(8);
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| too_much())?;
        words.resize(count, 0);
        let mut buffer = Self { kind, length, words };
        poison(buffer.whole_mut()?)?;
        Ok(buffer)
    }

    /// Returns the element type.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Returns the number of elements.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the elements as bytes.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.kind.matrix_bytes(self.length as u64) as usize]
    }

    /// Returns all elements.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::poisoned`].
    pub fn whole(&self) -> Result<HostSlice<'_>, Error> {
        self.slice(0..self.length)
    }

    /// Returns all elements for writing.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::poisoned`].
    pub fn whole_mut(&mut self) -> Result<HostSliceMut<'_>, Error> {
        self.slice_mut(0..self.length)
    }

    /// Returns some elements, without those beyond the end.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::poisoned`].
    pub fn slice(&self, elements: Range<usize>) -> Result<HostSlice<'_>, Error> {
        let bytes = &self.bytes()[within(elements, self.length, self.kind)];
        with_element!(self.kind, E => Ok(HostSlice::new::<E>(bytemuck::cast_slice(bytes))))
    }

    /// Returns some elements for writing, without those beyond the end.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::poisoned`].
    pub fn slice_mut(&mut self, elements: Range<usize>) -> Result<HostSliceMut<'_>, Error> {
        let range = within(elements, self.length, self.kind);
        let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[range];
        with_element!(self.kind, E => Ok(HostSliceMut::new::<E>(bytemuck::cast_slice_mut(bytes))))
    }

    /// Returns the number at `place`, or NaN beyond the end.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::poisoned`].
    pub fn get(&self, place: usize) -> Result<f64, Error> {
        let mut number = Vec::with_capacity(1);
        super::number::read(self.whole()?, [place].into_iter(), &mut number)?;
        Ok(number[0])
    }

    /// Writes the number nearest to `x` to `place`. Does nothing beyond the end.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::poisoned`].
    pub fn set(&mut self, place: usize, x: f64) -> Result<(), Error> {
        fn write<E: Number>(slice: HostSliceMut<'_>, x: f64) -> Result<(), Error> {
            slice.elements::<E>()?.iter_mut().for_each(|element| *element = E::nearest(x));
            Ok(())
        }
        let kind = self.kind;
        let slice = self.slice_mut(place..place.saturating_add(1))?;
        with_element!(kind, E => write::<E>(slice, x))
    }

    /// Returns the first element that differs from `before` and does not belong to the `rows` x
    /// `columns` matrix that begins at `first`. Such an element is a write into a guard zone, or
    /// between rows or columns.
    pub fn stray(
        &self,
        before: &Self,
        first: usize,
        view: &View<Elements>,
        (rows, columns): (usize, usize),
    ) -> Option<usize> {
        let order = order_of(view, (rows, columns));
        let (lines, along, leading) =
            (order.packed(columns, rows), order.packed(rows, columns), view.leading(order).max(1));
        let width = self.kind.bytes_of(1) as usize;
        let inside = |place: usize| {
            place.checked_sub(first).is_some_and(|place| {
                let (line, at) = (place / leading, place % leading);
                line < lines && at < along
            })
        };
        let (ours, theirs) = (self.bytes().chunks_exact(width), before.bytes().chunks_exact(width));
        ours.zip(theirs)
            .enumerate()
            .find(|(place, (x, y))| x != y && !inside(*place))
            .map(|(place, _)| place)
    }
}

/// Returns the byte range of some elements, clamped to `length` elements.
fn within(elements: Range<usize>, length: usize, kind: ElementKind) -> Range<usize> {
    let width = kind.bytes_of(1) as usize;
    let end = elements.end.min(length);
    elements.start.min(end) * width..end * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::layout::Order;

    #[test]
    fn a_write_between_columns_is_stray() -> Result<(), Error> {
        let before = HostBuffer::poisoned(ElementKind::I8, 20)?;
        let view = View::new(Elements::new(13), Order::Col, 5);
        for place in 0..20 {
            let mut after = before.clone();
            after.set(place, 1.0)?;
            let inside = place >= 2 && (place - 2) % 5 < 3 && (place - 2) / 5 < 3;
            assert_eq!(
                after.stray(&before, 2, &view, (3, 3)),
                (!inside).then_some(place),
                "{place}"
            );
        }
        Ok(())
    }
}
