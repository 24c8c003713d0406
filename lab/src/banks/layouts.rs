//! The access that two layouts make: one of data, one of threads.

use crate::banks::{Direction, LANES, NotAnAccess, WarpAccess};
use crate::layout::expression::Value;
use falchion::{layout::algebra::LayoutError, numeric::ElementKind};

/// Data in shared memory, and which of them the lanes of a warp touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaidAccess {
    /// Where an index of the data lies, in elements.
    pub data: Value,
    /// Which index of the data a lane begins at.
    pub threads: Value,
    /// The elements.
    pub element: ElementKind,
    /// Consecutive elements a lane.
    pub access: u32,
    /// Which way they go.
    pub direction: Direction,
}

/// Why layouts make no access.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotLaid {
    /// An expression is no layout.
    #[error("{value} is no layout, and the {which} have one")]
    NoLayout {
        /// `data` or `threads`.
        which: &'static str,
        /// What it is.
        value: String,
    },
    /// There are more threads than lanes.
    #[error("the threads {threads} are {size}, and a warp has {LANES} lanes")]
    TooManyThreads {
        /// Their layout.
        threads: String,
        /// Its size.
        size: u64,
    },
    /// An index is none of the data's.
    #[error("lane {lane}: {because}")]
    Outside {
        /// The lane.
        lane: u64,
        /// What the algebra says of the index.
        because: LayoutError,
    },
    /// An address or a width is none.
    #[error("{0}")]
    Access(#[from] NotAnAccess),
    /// A number passes 64 bits.
    #[error("lane {lane}'s address does not fit in 64 bits: the most is {}", u64::MAX)]
    Overflow {
        /// The lane.
        lane: u64,
    },
}

impl LaidAccess {
    /// The access of a warp whose lane `l` touches `access` consecutive elements from offset
    /// `data(threads(l))` on. Lanes that the layout of threads does not have are off.
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
    /// [`NotLaid`] when either is no layout, for more threads than lanes, an index outside of the
    /// data, and what is no [`WarpAccess`].
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
            // The last byte has an address, too.
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
        // Neither has an index; `size` has refused them.
        Value::Swizzle(_) | Value::Number(_) => Ok(index),
    }
}
