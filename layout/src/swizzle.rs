//! Swizzles, and layouts composed with them.

use super::{Coordinate, Int, Layout, LayoutError, Tiler};
use core::fmt;

/// CuTe's `Swizzle<B,M,S>`: XORs bits `[M+S, M+S+B)` of an offset into its bits `[M, M+B)`. The
/// function is a bijection and its own inverse.
///
/// ```
/// use falchion_layout::Swizzle;
/// let swizzle = Swizzle::new(3, 4, 3)?;
/// assert_eq!((swizzle.at(0b0101_0000), swizzle.at(0b1000_0000)), (0b0101_0000, 0b1001_0000));
/// assert_eq!(swizzle.to_string(), "Sw<3,4,3>");
/// # Ok::<(), falchion_layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: u32,
}

impl Swizzle {
    /// The identity `Sw<0,0,0>`, for layouts without a swizzle.
    pub const IDENTITY: Self = Self { bits: 0, base: 0, shift: 0 };

    /// Creates `Swizzle<bits, base, shift>`.
    ///
    /// # Errors
    /// [`LayoutError::Swizzle`] if the shift is smaller than the number of bits, because source and
    /// target would overlap. [`LayoutError::Swizzle`] if the sum of the parameters exceeds 63.
    pub fn new(bits: u32, base: u32, shift: u32) -> Result<Self, LayoutError> {
        if shift < bits {
            let because =
                "the shift is at least the number of bits, so that a bit is not its own source";
            return Err(LayoutError::Swizzle {
                what: "the shift of the swizzle",
                value: shift.into(),
                because,
            });
        }
        let top = u64::from(bits) + u64::from(base) + u64::from(shift);
        if top > 63 {
            return Err(LayoutError::Swizzle {
                what: "the sum of the swizzle's parameters",
                value: top,
                because: "the most is 63, for an offset has 64 bits",
            });
        }
        Ok(Self { bits, base, shift })
    }

    /// Applies the swizzle to an offset.
    pub const fn at(self, offset: u64) -> u64 {
        offset ^ ((offset >> self.shift) & self.target())
    }

    /// Returns the mask of the bits that change.
    const fn target(self) -> u64 {
        if self.bits == 0 { 0 } else { ((1 << self.bits) - 1) << self.base }
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

/// The function `swizzle o offset o layout`: `c -> swizzle(offset + layout(c))`. In general it is
/// not a layout. The text omits an identity swizzle, and then also a zero offset:
/// `36 o (4,4):(8,1)`.
///
/// ```
/// use falchion_layout::{Composed, Int, Swizzle};
/// let tile = Composed::new(Swizzle::new(3, 4, 3)?, Int::fixed(0), "(8,64):(64,1)".parse()?)?;
/// assert_eq!((tile.to_string(), tile.offset([2, 0])?), ("Sw<3,4,3> o _0 o (8,64):(64,1)".into(), 128 + 16));
/// # Ok::<(), falchion_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Composed {
    /// Function that is applied last.
    pub swizzle: Swizzle,
    /// Offset that is added to each offset of the layout.
    pub offset: Int,
    /// Function that is applied first.
    pub layout: Layout,
}

impl Composed {
    /// Creates `swizzle o offset o layout`.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the offsets exceed 64 bits.
    pub fn new(swizzle: Swizzle, offset: Int, layout: Layout) -> Result<Self, LayoutError> {
        offset
            .value
            .checked_add(layout.cosize())
            .ok_or(LayoutError::Overflow { what: "the cosize of the composed layout" })?;
        Ok(Self { swizzle, offset, layout })
    }

    /// Returns the offset of a coordinate.
    ///
    /// # Errors
    /// [`LayoutError::NotCompatible`] if the coordinate does not fit the shape.
    /// [`LayoutError::OutsideShape`] if it is outside of the shape.
    pub fn offset(&self, coordinate: impl Into<Coordinate>) -> Result<u64, LayoutError> {
        Ok(self.swizzle.at(self.further(self.layout.offset(coordinate)?)?.value))
    }

    /// Replaces the identity swizzle by `swizzle`.
    ///
    /// # Errors
    /// [`LayoutError::Swizzle`] if there already is a swizzle with bits.
    pub fn swizzled(self, swizzle: Swizzle) -> Result<Self, LayoutError> {
        let bits = self.swizzle.bits;
        if bits > 0 {
            let because = "a layout stands behind one swizzle";
            return Err(LayoutError::Swizzle {
                what: "the number of bits of the swizzle already there",
                value: bits.into(),
                because,
            });
        }
        Self::new(swizzle, self.offset, self.layout)
    }

    /// Applies an operation to the layout. The swizzle stays, and the offset of the operation is
    /// added to the offset.
    ///
    /// # Errors
    /// The errors of the operation. [`LayoutError::Overflow`] if the offsets exceed 64 bits.
    pub fn inside(
        &self,
        by: impl FnOnce(&Layout) -> Result<(Layout, u64), LayoutError>,
    ) -> Result<Self, LayoutError> {
        let (layout, more) = by(&self.layout)?;
        Self::new(self.swizzle, self.further(more)?, layout)
    }

    /// Returns `self o tiler`.
    ///
    /// # Errors
    /// The errors of [`Layout::compose_by`].
    pub fn compose_by(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.inside(|layout| Ok((layout.compose_by(tiler)?, 0)))
    }

    fn further(&self, more: u64) -> Result<Int, LayoutError> {
        self.offset.plus(Int { value: more, is_static: self.offset.is_static && more == 0 })
    }

    /// Returns the composed layout of the modes under `_`, and the swizzled offset of the rest of
    /// the coordinate. The layout is `None` without a `_`.
    ///
    /// # Errors
    /// The errors of [`Layout::slice`].
    pub fn slice(&self, coordinate: &Coordinate) -> Result<(Option<Self>, u64), LayoutError> {
        let (kept, more) = self.layout.slice(coordinate)?;
        let offset = self.further(more)?;
        let kept = kept.map(|layout| Self::new(self.swizzle, offset, layout)).transpose()?;
        Ok((kept, self.swizzle.at(offset.value)))
    }

    /// Returns an exclusive upper bound of the offsets. If the swizzle changes any offset, it is
    /// the cosize rounded up to a multiple of `2^(M+B)`.
    pub fn cosize(&self) -> u64 {
        let Swizzle { bits, base, shift } = self.swizzle;
        let last = self.offset.value + self.layout.cosize() - 1;
        let below =
            if bits > 0 && last >> (base + shift) > 0 { (1 << (base + bits)) - 1 } else { 0 };
        (last | below).saturating_add(1)
    }
}

impl From<Layout> for Composed {
    /// Returns the layout with the identity swizzle.
    fn from(layout: Layout) -> Self {
        Self { swizzle: Swizzle::IDENTITY, offset: Int::fixed(0), layout }
    }
}

impl fmt::Display for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.swizzle, self.offset) {
            (Swizzle::IDENTITY, Int { value: 0, .. }) => self.layout.fmt(f),
            (Swizzle::IDENTITY, offset) => write!(f, "{offset} o {}", self.layout),
            (swizzle, offset) => write!(f, "{swizzle} o {offset} o {}", self.layout),
        }
    }
}
