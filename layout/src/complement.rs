//! Complement of a layout: a layout of the offsets that the layout does not reach.

use super::{Int, Layout, LayoutError, Mode, coalesce};

impl Layout {
    /// Returns the complement up to `target`: the layout `R` with ascending offsets that shares
    /// only offset 0 with this layout. `(self, R)` reaches every offset below `target`, and each
    /// exactly once if this layout is injective. Modes of stride 0 are ignored.
    ///
    /// # Errors
    /// [`LayoutError::ComplementDivisibility`] if a stride is not a multiple of the offset at which
    /// the modes of smaller stride end, for example if modes overlap. [`LayoutError::ZeroExtent`]
    /// if `target` is 0. [`LayoutError::Overflow`] if an offset exceeds 64 bits.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("(2,2):(1,6)".parse::<Layout>()?.complement(24)?.to_string(), "(3,2):(2,12)");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn complement(&self, target: impl Into<Int>) -> Result<Self, LayoutError> {
        let target = target.into();
        if target.value == 0 {
            return Err(LayoutError::ZeroExtent);
        }
        let mut leaves = self.leaves();
        let is_static = leaves.iter().all(|leaf| leaf.extent.is_static && leaf.stride.is_static);
        leaves.retain(|leaf| leaf.extent.value > 1 && leaf.stride.value > 0);
        leaves.sort_by_key(|leaf| (leaf.stride.value, leaf.extent.value));
        let mut filled = Int { value: 1, is_static };
        let mut gaps = Vec::with_capacity(leaves.len() + 1);
        for Mode { extent, stride } in leaves {
            if !stride.value.is_multiple_of(filled.value) {
                let nearest = (stride.value / filled.value).max(1) * filled.value;
                return Err(LayoutError::ComplementDivisibility {
                    stride: stride.value,
                    filled: filled.value,
                    nearest,
                });
            }
            gaps.push(Mode { extent: stride.over(filled), stride: filled });
            filled = stride.times(extent)?;
        }
        gaps.push(Mode { extent: target.ceil_over(filled), stride: filled });
        Self::from_leaves(&coalesce::joined(gaps)).bounded()
    }
}
