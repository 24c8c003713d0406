//! Flattening and coalescing: fewer modes, the same function.

use super::{Int, IntTuple, Layout, LayoutError, Mode};

impl Layout {
    /// Returns the layout with its leaves as the modes of one tuple. The depth is at most 1, and
    /// the function stays the same.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("(2,(4,3)):(1,(2,8))".parse::<Layout>()?.flatten().to_string(), "(2,4,3):(1,2,8)");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn flatten(&self) -> Self {
        if self.depth() <= 1 {
            return self.clone();
        }
        Self::from_leaves(&self.leaves())
    }

    /// Returns the layout with the fewest modes that is the same function of an integer. It merges
    /// `(s0,s1):(d0,s0*d0)` to `s0*s1:d0`, and drops modes of extent 1.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("(2,(1,6)):(1,(6,2))".parse::<Layout>()?.coalesce().to_string(), "12:1");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn coalesce(&self) -> Self {
        Self::from_leaves(&joined(self.leaves()))
    }

    /// Applies [`coalesce`](Self::coalesce) at each leaf of a profile. The values of the profile's
    /// integers have no meaning. Modes beyond the profile stay unchanged.
    ///
    /// # Errors
    /// [`LayoutError::RankTooHigh`] if the profile has a higher rank than the layout.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let by_mode = "(2,(1,6)):(1,(6,2))".parse::<Layout>()?.coalesce_by(&[1, 1].into())?;
    /// assert_eq!(by_mode.to_string(), "(2,6):(1,2)");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn coalesce_by(&self, profile: &IntTuple) -> Result<Self, LayoutError> {
        match profile {
            IntTuple::Int(_) => Ok(self.coalesce()),
            IntTuple::Tuple(members) => {
                self.at_least("profile", members.len())?;
                let each = self.modes().iter().enumerate();
                each.map(|(i, mode)| {
                    members
                        .get(i)
                        .map_or_else(|| Ok(mode.clone()), |member| mode.coalesce_by(member))
                })
                .collect::<Result<_, _>>()
                .map(Self::join)
            }
        }
    }

    /// Checks that a rank is at most the rank of the layout. `what` names the argument.
    pub(super) fn at_least(&self, what: &'static str, given: usize) -> Result<(), LayoutError> {
        let most = self.rank();
        if given > most {
            return Err(LayoutError::RankTooHigh { what, given, layout: self.to_string(), most });
        }
        Ok(())
    }
}

/// Merges each leaf with its successor if the successor continues it, and drops extents of 1.
/// Returns `1:0` if no leaf remains.
pub(super) fn joined(leaves: Vec<Mode>) -> Vec<Mode> {
    let is_static = leaves.iter().all(|leaf| leaf.extent.is_static);
    let mut kept = leaves;
    let mut last = 0;
    for i in 0..kept.len() {
        let leaf = kept[i];
        if leaf.extent.value == 1 {
            continue;
        }
        if last > 0 && continues(kept[last - 1], leaf) {
            kept[last - 1].extent = product(kept[last - 1].extent, leaf.extent);
        } else {
            kept[last] = leaf;
            last += 1;
        }
    }
    kept.truncate(last);
    if kept.is_empty() {
        kept.push(Mode {
            extent: Int { value: 1, is_static },
            stride: Int { value: 0, is_static },
        });
    }
    kept
}

/// Merges leaves and preserves the function for every integer, also beyond the size. Beyond the
/// size, the last leaf continues without end, so the result keeps it.
pub(super) fn joined_without_end(leaves: Vec<Mode>) -> Vec<Mode> {
    let Some(end) = leaves.last().copied() else { return leaves };
    let mut kept = joined(leaves);
    if end.extent.value == 1 {
        match kept.last_mut() {
            Some(last) if last.extent.value == 1 => *last = end,
            Some(last) if continues(*last, end) => {}
            _ => kept.push(end),
        }
    }
    kept
}

/// Returns whether `next` continues `mode`.
fn continues(mode: Mode, next: Mode) -> bool {
    mode.extent.value.checked_mul(mode.stride.value) == Some(next.stride.value)
}

/// Returns the product of two extents of one layout. The size of the layout bounds the product.
const fn product(a: Int, b: Int) -> Int {
    Int { value: a.value * b.value, is_static: a.is_static && b.is_static }
}
