//! Division: a layout divided into tiles.

use super::{Layout, LayoutError, Tiler};

/// Function of a layout and a layout tiler that returns two modes: the tile and the rest.
type Split = fn(&Layout, &Layout) -> Result<Layout, LayoutError>;

impl Layout {
    /// Returns `self o (tiler, complement(tiler, size))`: first the elements to which the tiler
    /// points, then the layout of the tiles. A tuple of tilers divides mode by mode. Modes beyond
    /// the tiler stay unchanged.
    ///
    /// # Errors
    /// The errors of [`complement`](Self::complement) and [`compose`](Self::compose).
    /// [`LayoutError::RankTooHigh`] if the tiler has a higher rank than the layout.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let (a, tiler): (Layout, Layout) = ("(4,2,3):(2,1,8)".parse()?, "4:2".parse()?);
    /// assert_eq!(a.logical_divide(&tiler.into())?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn logical_divide(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.by_mode(tiler, divided)
    }

    /// Returns [`logical_divide`](Self::logical_divide) with gathered modes:
    /// `((TileM,TileN),(RestM,RestN,L,..))`.
    ///
    /// # Errors
    /// The errors of [`logical_divide`](Self::logical_divide).
    ///
    /// ```
    /// # use falchion_layout::{Int, Layout, Tiler};
    /// let tiles = "(9,32):(1,9)".parse::<Layout>()?.zipped_divide(&Tiler::extents([3, 8].map(Int::dynamic))?)?;
    /// assert_eq!(tiles.to_string(), "((3,8),(3,4)):((1,9),(3,72))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.unzipped(tiler, divided)
    }

    /// Returns [`zipped_divide`](Self::zipped_divide) with the second mode unpacked:
    /// `((TileM,TileN),RestM,RestN,L,..)`.
    ///
    /// # Errors
    /// The errors of [`logical_divide`](Self::logical_divide).
    pub fn tiled_divide(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.zipped_divide(tiler).map(Self::second_unpacked)
    }

    /// Applies `split` to the modes that a tiler reaches, in place.
    pub(super) fn by_mode(&self, tiler: &Tiler, split: Split) -> Result<Self, LayoutError> {
        match tiler {
            Tiler::All => Ok(self.clone()),
            Tiler::Layout(layout) => split(self, layout),
            Tiler::Tuple(members) => {
                self.at_least("tiler", members.len())?;
                let each = self.modes().iter().enumerate();
                let modes = each.map(|(i, mode)| {
                    members
                        .get(i)
                        .map_or_else(|| Ok(mode.clone()), |member| mode.by_mode(member, split))
                });
                Self::concat(modes.collect::<Result<Vec<_>, _>>()?)
            }
        }
    }

    /// Applies `split` to the modes that a tiler reaches, and gathers the first and the second
    /// parts.
    pub(super) fn unzipped(&self, tiler: &Tiler, split: Split) -> Result<Self, LayoutError> {
        let (first, second) = self.parts(tiler, split)?;
        Self::concat([first, second])
    }

    fn parts(&self, tiler: &Tiler, split: Split) -> Result<(Self, Self), LayoutError> {
        match tiler {
            Tiler::All => {
                let size = self.size_int();
                Ok((Self::mode_of(size.beside(1), size.beside(0)), self.clone()))
            }
            Tiler::Layout(layout) => match split(self, layout)?.modes() {
                [first, second] => Ok((first.clone(), second.clone())),
                _ => unreachable!("a split has two modes"),
            },
            Tiler::Tuple(members) => {
                self.at_least("tiler", members.len())?;
                let each = self.modes().iter().zip(members);
                let parts =
                    each.map(|(mode, member)| mode.parts(member, split))
                        .collect::<Result<Vec<_>, _>>()?;
                let (first, mut second): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                second.extend_from_slice(&self.modes()[members.len()..]);
                Ok((Self::join(first), Self::join(second)))
            }
        }
    }

    /// Returns `(A,(b,c,..))` as `(A,b,c,..)`.
    pub(super) fn second_unpacked(self) -> Self {
        let [first, second] = self.modes() else { return self };
        Self::join([core::slice::from_ref(first), second.modes()].concat())
    }
}

fn divided(layout: &Layout, tiler: &Layout) -> Result<Layout, LayoutError> {
    let rest = tiler.complement(layout.size_int())?;
    layout.compose(&Layout::join(vec![tiler.clone(), rest]).bounded()?)
}
