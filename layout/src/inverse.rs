//! Left and right inverses of a layout.

use super::{Int, Layout, LayoutError, Mode, coalesce};

/// Maximum size of a layout that is searched for two integers with the same offset.
const SEARCHED: u64 = 1 << 16;

impl Layout {
    /// Returns the right inverse `R`, with `self(R(i)) = i` for every `i` below the size of `R`.
    /// `R` is the largest such layout that follows the leaves from stride 1 on; `1:0` if no leaf
    /// has stride 1.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("(4,2):(2,1)".parse::<Layout>()?.right_inverse().to_string(), "(2,4):(4,1)");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn right_inverse(&self) -> Self {
        let leaves = coalesce::joined(self.leaves());
        let one = Int { value: 1, is_static: leaves.iter().all(|leaf| leaf.extent.is_static) };
        let mut found = Vec::with_capacity(leaves.len());
        let mut wanted = 1;
        loop {
            let mut before = one;
            let next = leaves.iter().find_map(|leaf| {
                let stride = before;
                before = Int {
                    value: before.value * leaf.extent.value,
                    is_static: before.is_static && leaf.extent.is_static,
                };
                (leaf.stride.value == wanted && leaf.extent.value > 1)
                    .then_some(Mode { extent: leaf.extent, stride })
            });
            let Some(mode) = next else { break };
            wanted *= mode.extent.value;
            found.push(mode);
        }
        if found.is_empty() {
            return Self::mode_of(one, one.beside(0));
        }
        Self::from_leaves(&found)
    }

    /// Returns the left inverse `R`, with `R(self(i)) = i` for every `i` below the size.
    ///
    /// # Errors
    /// [`LayoutError::NotInjective`] with two integers that have the same offset. The errors of
    /// [`complement`](Self::complement) if the layout has no complement.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("4:2".parse::<Layout>()?.left_inverse()?.to_string(), "(2,4):(4,1)");
    /// let refusal = "(2,2):(1,1)".parse::<Layout>()?.left_inverse().unwrap_err();
    /// assert_eq!(refusal.to_string(), "the layout has no left inverse: it sends both 1 and 2 to 1");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn left_inverse(&self) -> Result<Self, LayoutError> {
        if let Some(refusal) = self.standing_still() {
            return Err(refusal);
        }
        match self.complement(Int { value: self.cosize(), is_static: self.size_int().is_static }) {
            Ok(rest) => Ok(Self::join(vec![self.clone(), rest]).bounded()?.right_inverse()),
            Err(refusal) => Err(self.collision().unwrap_or(refusal)),
        }
    }

    /// Returns the two integers that a mode of stride 0 maps to offset 0.
    fn standing_still(&self) -> Option<LayoutError> {
        let mut before = 1;
        self.leaves().into_iter().find_map(|Mode { extent, stride }| {
            let second = before;
            before *= extent.value;
            (stride.value == 0 && extent.value > 1).then_some(LayoutError::NotInjective {
                first: 0,
                second,
                offset: 0,
            })
        })
    }

    /// Searches all integers for two with the same offset.
    fn collision(&self) -> Option<LayoutError> {
        let size = self.size();
        if size > SEARCHED {
            return None;
        }
        let mut offsets: Vec<(u64, u64)> =
            (0..size).filter_map(|i| Some((self.extended(i).ok()?, i))).collect();
        offsets.sort_unstable();
        let shared = offsets.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let first = shared.min_by_key(|pair| pair[1].1)?;
        Some(LayoutError::NotInjective {
            first: first[0].1,
            second: first[1].1,
            offset: first[0].0,
        })
    }
}
