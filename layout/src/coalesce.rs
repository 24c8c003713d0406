//! Fewer modes, the same function.

use super::{Int, IntTuple, Layout, LayoutError, Mode};

impl Layout {
    /// The leaves as the modes of one tuple: depth at most 1, the same function.
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
        Self::of_leaves(&self.leaves())
    }

    /// The layout with the fewest modes that is the same function of an integer:
    /// `(s0,s1):(d0,s0*d0)` becomes `s0*s1:d0`, and modes of extent 1 go.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("(2,(1,6)):(1,(6,2))".parse::<Layout>()?.coalesce().to_string(), "12:1");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn coalesce(&self) -> Self {
        Self::of_leaves(&joined(self.leaves()))
    }

    /// [`coalesce`](Self::coalesce) at the leaves of a profile, whose integers only mark places.
    /// Modes that the profile does not reach stay.
    ///
    /// # Errors
    /// A profile of higher rank than the layout.
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

    /// Refuses a `what` of higher rank than the layout's.
    pub(super) fn at_least(&self, what: &'static str, given: usize) -> Result<(), LayoutError> {
        let most = self.rank();
        if given > most {
            return Err(LayoutError::RankTooHigh { what, given, layout: self.to_string(), most });
        }
        Ok(())
    }
}

/// Leaves with neighbours joined where one goes on where the other ends, and extents of 1 dropped;
/// `1:0` if nothing is left.
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

/// The leaves of the same function of every integer, beyond the size too: there the last leaf goes
/// on for ever, so that it is kept.
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

/// Whether `next` goes on where `mode` ends.
fn continues(mode: Mode, next: Mode) -> bool {
    mode.extent.value.checked_mul(mode.stride.value) == Some(next.stride.value)
}

/// The product of the extents of one layout, which its size bounds.
const fn product(a: Int, b: Int) -> Int {
    Int { value: a.value * b.value, is_static: a.is_static && b.is_static }
}
