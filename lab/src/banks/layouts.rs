//! The access that a layout of data and a layout of threads describe.

use crate::banks::{Direction, LANES, NotAnAccess, WarpAccess};
use crate::layout::expression::Value;
use falchion::{layout::algebra::LayoutError, numeric::ElementKind};

/// Data in shared memory, and the part of it that each lane of a warp touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaidAccess {
    /// The layout of the data, from an index to an offset in elements.
    pub data: Value,
    /// The layout of the threads, from a lane to the index of its first element.
    pub threads: Value,
    /// The element type.
    pub element: ElementKind,
    /// Consecutive elements per lane.
    pub access: u32,
    /// The direction of the access.
    pub direction: Direction,
}

/// The reason why layouts do not describe an access.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotLaid {
    /// An expression is not a layout.
    #[error("{value} is not a layout, but the {which} need one")]
    NoLayout {
        /// `data` or `threads`.
        which: &'static str,
        /// The value of the expression.
        value: String,
    },
    /// There are more threads than lanes.
    #[error("the threads {threads} are {size}, and a warp has {LANES} lanes")]
    TooManyThreads {
        /// The layout of the threads.
        threads: String,
        /// Its size.
        size: u64,
    },
    /// An index is outside of the data.
    #[error("lane {lane}: {because}")]
    Outside {
        /// The lane.
        lane: u64,
        /// The error of the algebra.
        because: LayoutError,
    },
    /// An address or the width is invalid.
    #[error("{0}")]
    Access(#[from] NotAnAccess),
    /// An address does not fit in 64 bits.
    #[error("lane {lane}'s address does not fit in 64 bits: the most is {}", u64::MAX)]
    Overflow {
        /// The lane.
        lane: u64,
    },
}

impl LaidAccess {
    /// Returns the access in which lane `l` touches `access` consecutive elements from offset
    /// `data(threads(l))` on. Lanes beyond the layout of threads are off.
    ///
    /// ```
    /// use falchion::{numeric::ElementKind};
    /// use falchion_lab::banks::{Direction, wavefronts};
    /// use falchion_lab::{banks::LaidAccess, layout::expression::evaluate};
    ///
    /// let rows = |pitch: u32, threads: &str| LaidAccess {
    ///     data: evaluate(&format!("(32,32):({pitch},1)")).unwrap(),
    ///     threads: evaluate(threads).unwrap(),
    ///     element: ElementKind::F32,
    ///     access: 1,
    ///     direction: Direction::Load,
    /// };
    /// // Down a column, and along a row.
    /// assert_eq!(wavefronts(&rows(32, "32:1").warp()?).wavefronts, 32);
    /// assert_eq!(wavefronts(&rows(33, "32:1").warp()?).wavefronts, 1);
    /// assert_eq!(wavefronts(&rows(32, "32:32").warp()?).wavefronts, 1);
    /// # Ok::<(), falchion_lab::banks::NotLaid>(())
    /// ```
    ///
    /// # Errors
    /// [`NotLaid`] if one of the values is not a layout, or if there are more threads than lanes.
    /// Also if an index is outside of the data, or if the addresses are not a valid [`WarpAccess`].
    pub fn warp(&self) -> Result<WarpAccess, NotLaid> {
        let lanes = size("threads", &self.threads)?;
        size("data", &self.data)?;
        if lanes > LANES as u64 {
            return Err(NotLaid::TooManyThreads { threads: self.threads.to_string(), size: lanes });
        }
        let element = u64::from(self.element.bytes_of(1));
        let bytes = self.element.bytes_of(self.access);
        let mut addresses = [None; LANES];
        for (lane, address) in (0..lanes).zip(&mut addresses) {
            let outside = |because| NotLaid::Outside { lane, because };
            let index = offset(&self.threads, lane).map_err(outside)?;
            let first = offset(&self.data, index).map_err(outside)?.checked_mul(element);
            // The last byte also needs an address.
            let first = first.filter(|first| first.checked_add(u64::from(bytes)).is_some());
            *address = Some(first.ok_or(NotLaid::Overflow { lane })?);
        }
        Ok(WarpAccess::new(self.direction, bytes, addresses)?)
    }
}

fn size(which: &'static str, value: &Value) -> Result<u64, NotLaid> {
    match value {
        Value::Layout(layout) => Ok(layout.layout.size()),
        Value::Swizzle(_) | Value::Number(_) => {
            Err(NotLaid::NoLayout { which, value: value.to_string() })
        }
    }
}

fn offset(value: &Value, index: u64) -> Result<u64, LayoutError> {
    match value {
        Value::Layout(layout) => layout.offset(index),
        // `size` has refused these values, which have no index.
        Value::Swizzle(_) | Value::Number(_) => Ok(index),
    }
}
