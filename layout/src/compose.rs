//! Composition: `R(c) = A(B(c))`, as a layout.
//!
//! Let the coalesced left layout have the extents `a_j` and the strides `b_j`. In the mixed radix
//! of the extents, an index has the digits `digit_j`. Its offset is the sum of `b_j * digit_j`.
//! Each step of a leaf `s:d` of the right layout adds the digits of `d`. The offset is linear until
//! a digit carries. A leaf is therefore split where it first carries, and the split must divide its
//! extent. After that, no sum over all leaves may carry. CuTe's divisibility conditions guarantee
//! this.
//!
//! If a digit does carry, particular strides may still give a layout. A right layout of up to
//! [`SMALL`] coordinates is then tested point by point; a larger one is refused.

use super::{Int, Layout, LayoutError, Mode, Tiler, coalesce, layout::Tree};

/// Maximum number of coordinates of a right layout that is tested point by point.
#[doc(hidden)]
pub const SMALL: u64 = 4096;

impl Layout {
    /// Returns `self o right`: the layout `R` with `R(c) = self(right(c))`. Each leaf of `right`
    /// becomes a coalesced mode. Beyond its size, the left layout's last mode continues.
    ///
    /// # Errors
    /// [`LayoutError::StrideDivisibility`], [`LayoutError::ShapeDivisibility`], or
    /// [`LayoutError::ModesCarry`] if the composition is not a layout. [`LayoutError::Overflow`] if
    /// an offset exceeds 64 bits.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let (a, b): (Layout, Layout) = ("(6,2):(8,2)".parse()?, "(4,3):(3,1)".parse()?);
    /// assert_eq!(a.compose(&b)?.to_string(), "((2,2),3):((24,2),8)");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn compose(&self, right: &Self) -> Result<Self, LayoutError> {
        self.compose_from(0, right).map(|(layout, _)| layout)
    }

    /// Returns `self o from o right`: the layout `R` and the offset `n` with
    /// `n + R(c) = self(from + right(c))`.
    ///
    /// # Errors
    /// The errors of [`compose`](Self::compose). [`LayoutError::ModesCarry`] if the sum of `from`
    /// and an offset of `right` carries across an extent.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let (a, b): (Layout, Layout) = ("(4,8):(8,1)".parse()?, "(2,8):(1,4)".parse()?);
    /// assert_eq!(a.compose_from(2, &b)?, ("(2,8):(8,1)".parse()?, 16));
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn compose_from(&self, from: u64, right: &Self) -> Result<(Self, u64), LayoutError> {
        let left = coalesce::joined_without_end(self.leaves());
        let mut carries = Carries { from, used: [0; LEAVES], digits: [0; LEAVES], left: &left };
        if left.len() > LEAVES {
            return Err(LayoutError::Overflow {
                what: "the number of the left layout's modes, of which 64 are the most,",
            });
        }
        left.iter().zip(&mut carries.used).fold(from, |rest, (mode, used)| {
            *used = rest % mode.extent.value;
            rest / mode.extent.value
        });
        let layout = match carries.tree(right) {
            Ok(layout) => layout.bounded()?,
            Err(LayoutError::Overflow { what }) => return Err(LayoutError::Overflow { what }),
            Err(refusal) => by_points(self, from, right)?.ok_or(refusal)?,
        };
        Ok((layout, self.extended(from)?))
    }

    /// Applies [`compose`](Self::compose) mode by mode if the tiler is a tuple. As in CuTe, the
    /// result drops the modes beyond the tiler.
    ///
    /// # Errors
    /// The errors of [`compose`](Self::compose). [`LayoutError::RankTooHigh`] if the tiler has a
    /// higher rank than the layout.
    ///
    /// ```
    /// # use falchion_layout::{Layout, Tiler};
    /// let a: Layout = "(12,(4,8)):(59,(13,1))".parse()?;
    /// let tiler = Tiler::from([Tiler::from("3:4".parse::<Layout>()?), "8:2".parse::<Layout>()?.into()]);
    /// assert_eq!(a.compose_by(&tiler)?.to_string(), "(3,(2,4)):(236,(26,1))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn compose_by(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        match tiler {
            Tiler::All => Ok(self.clone()),
            Tiler::Layout(layout) => self.compose(layout),
            Tiler::Tuple(members) => {
                self.at_least("tiler", members.len())?;
                let each = self.modes().iter().zip(members);
                Self::concat(
                    each.map(|(mode, member)| mode.compose_by(member))
                        .collect::<Result<Vec<_>, _>>()?,
                )
            }
        }
    }
}

/// Maximum number of leaves. A coalesced layout has up to 63 leaves with extents of 2 or more, and
/// perhaps a last one of extent 1.
const LEAVES: usize = 64;

/// Left layout, and the part of each of its extents that the offset and the previous leaves use.
struct Carries<'l> {
    from: u64,
    left: &'l [Mode],
    used: [u64; LEAVES],
    digits: [u64; LEAVES],
}

impl Carries<'_> {
    fn tree(&mut self, right: &Layout) -> Result<Layout, LayoutError> {
        match &right.tree {
            Tree::Leaf(leaf) => self.leaf(*leaf),
            Tree::Modes(modes) => {
                modes.iter().map(|mode| self.tree(mode)).collect::<Result<_, _>>().map(Layout::join)
            }
        }
    }

    fn leaf(&mut self, leaf: Mode) -> Result<Layout, LayoutError> {
        let Mode { extent, stride } = leaf;
        if stride.value == 0 {
            return Ok(Layout::mode_of(extent, stride));
        }
        if extent.value == 1 {
            return Ok(Layout::mode_of(extent, self.stride_of_one(stride)));
        }
        if let [only] = self.left {
            return Ok(Layout::mode_of(extent, only.stride.times(stride)?));
        }
        let before = self.used;
        let mut parts = [leaf; LEAVES];
        let (mut count, mut rest, mut step) = (0, extent, stride);
        while rest.value > 1 {
            let (run, offset) = self.advance(step)?;
            let part = match run {
                Some((run, _)) if run.value < rest.value => run,
                _ => rest,
            };
            if rest.value % part.value != 0 {
                let at = run.map_or(0, |(_, at)| at);
                return Err(self.irregular(leaf).unwrap_or_else(|| {
                    self.cut_short(leaf, at, extent.value / rest.value * part.value)
                }));
            }
            self.spend(leaf, part.value - 1, &before)?;
            parts[count] = Mode { extent: part, stride: offset };
            count += 1;
            rest = rest.over(part);
            // After the last part, the step has no use and may exceed 64 bits.
            step = if rest.value > 1 { step.times(part)? } else { step };
        }
        Ok(Layout::from_leaves(&coalesce::joined(parts[..count].to_vec())))
    }

    /// Returns the stride of a leaf of extent 1. The function does not depend on it; the value is
    /// CuTe's.
    fn stride_of_one(&self, stride: Int) -> Int {
        let Some((last, others)) = self.left.split_last() else { return stride.beside(0) };
        let rest = others.iter().fold(stride, |rest, mode| rest.ceil_over(mode.extent));
        rest.times(last.stride).unwrap_or(stride.beside(0))
    }

    /// Computes the digits of a stride. Returns the number of steps and the mode at the first carry
    /// (`None` if no digit carries), and the offset of one step.
    fn advance(&mut self, step: Int) -> Result<(Option<(Int, usize)>, Int), LayoutError> {
        let (mut rest, mut run, mut offset) = (step, None::<(Int, usize)>, None::<Int>);
        let last = self.left.len() - 1;
        for (j, mode) in self.left.iter().enumerate() {
            let digit = if j == last { rest } else { rest.modulo(mode.extent) };
            self.digits[j] = digit.value;
            if digit.value > 0 {
                let term = digit.times(mode.stride)?;
                offset = Some(offset.map_or(Ok(term), |sum| sum.plus(term))?);
                let until = mode.extent.ceil_over(digit);
                if j < last && run.is_none_or(|(run, _)| until.value < run.value) {
                    run = Some((until, j));
                }
            }
            rest = rest.over(mode.extent);
        }
        Ok((run, offset.unwrap_or(step.beside(0))))
    }

    /// Counts `steps` more steps of the current digits. Refuses a sum that carries.
    fn spend(&mut self, leaf: Mode, steps: u64, before: &[u64; LEAVES]) -> Result<(), LayoutError> {
        for (j, mode) in self.left[..self.left.len() - 1].iter().enumerate() {
            self.used[j] = self.used[j].saturating_add(steps.saturating_mul(self.digits[j]));
            let (reached, extent) = (self.used[j], mode.extent.value);
            if reached >= extent {
                let alone = reached - before[j] >= extent;
                let mode = if self.from > 0 {
                    format!("the offset {}, {leaf}", self.from)
                } else {
                    leaf.to_string()
                };
                let together = LayoutError::ModesCarry { mode, extent, at: j, reached };
                return Err(if alone {
                    self.irregular(leaf).unwrap_or(together)
                } else {
                    together
                });
            }
        }
        Ok(())
    }

    /// Returns the refusal for a stride that neither divides nor is a multiple of an extent that it
    /// reaches.
    fn irregular(&self, leaf: Mode) -> Option<LayoutError> {
        let mut rest = leaf.stride.value;
        let mut scale = 1u64;
        for (at, mode) in self.left[..self.left.len() - 1].iter().enumerate() {
            let extent = mode.extent.value;
            if !rest.is_multiple_of(extent) {
                let nearest = nearest(rest, extent);
                let refusal = LayoutError::StrideDivisibility {
                    mode: leaf.to_string(),
                    stride: leaf.stride.value,
                    extent,
                    at,
                    nearest: nearest.saturating_mul(scale),
                };
                return (!extent.is_multiple_of(rest)).then_some(refusal);
            }
            rest /= extent;
            scale = scale.saturating_mul(extent);
        }
        None
    }

    fn cut_short(&self, leaf: Mode, at: usize, run: u64) -> LayoutError {
        let extent = leaf.extent.value;
        let nearest = (extent / run).max(1).saturating_mul(run);
        LayoutError::ShapeDivisibility { mode: leaf.to_string(), extent, run, at, nearest }
    }
}

/// Returns a value near `stride` that divides `extent` or is a multiple of it. The value is the
/// nearest one within 1000, or a multiple of `extent`.
fn nearest(stride: u64, extent: u64) -> u64 {
    const FAR: u64 = 1000;
    let fits = |candidate: u64| {
        candidate > 0 && (extent.is_multiple_of(candidate) || candidate.is_multiple_of(extent))
    };
    let around =
        (1..=FAR).flat_map(|apart| [stride.saturating_sub(apart), stride.saturating_add(apart)]);
    around
        .into_iter()
        .find(|candidate| fits(*candidate))
        .unwrap_or((stride / extent).max(1) * extent)
}

/// Returns the composition as a layout whose modes are determined point by point. `None` if the
/// composition is not a layout, or has too many points.
fn by_points(left: &Layout, from: u64, right: &Layout) -> Result<Option<Layout>, LayoutError> {
    /// Returns the distance of an index's offset from the first offset; `None` for a negative one.
    type Reach<'l> = &'l dyn Fn(u64) -> Result<Option<u64>, LayoutError>;
    fn leaf(reach: Reach<'_>, mode: Mode) -> Result<Option<Layout>, LayoutError> {
        let Mode { extent, stride } = mode;
        let at = |c: u64| reach(c * stride.value);
        let (mut parts, mut step) = (Vec::new(), 1);
        while step < extent.value {
            let Some(offset) = at(step)? else { return Ok(None) };
            let mut run = 2;
            while run < extent.value / step
                && at(step * run)?.is_some_and(|at| Some(at) == run.checked_mul(offset))
            {
                run += 1;
            }
            if !(extent.value / step).is_multiple_of(run) {
                return Ok(None);
            }
            parts.push(Mode { extent: Int::dynamic(run), stride: Int::dynamic(offset) });
            step *= run;
        }
        Ok(Some(Layout::from_leaves(&coalesce::joined(parts))))
    }
    fn walk(reach: Reach<'_>, right: &Layout) -> Result<Option<Layout>, LayoutError> {
        match &right.tree {
            Tree::Leaf(mode) if mode.extent.value == 1 || mode.stride.value == 0 => {
                Ok(Some(Layout::mode_of(mode.extent, mode.stride.beside(0))))
            }
            Tree::Leaf(mode) => leaf(reach, *mode),
            Tree::Modes(modes) => modes
                .iter()
                .map(|mode| walk(reach, mode))
                .collect::<Result<Option<_>, _>>()
                .map(|modes| modes.map(Layout::join)),
        }
    }
    if right.size() > SMALL {
        return Ok(None);
    }
    let start = left.extended(from)?;
    let reach = |index: u64| {
        let index = from.checked_add(index).ok_or(LayoutError::Overflow { what: "an offset" })?;
        Ok(left.extended(index)?.checked_sub(start))
    };
    let Some(layout) = walk(&reach, right)? else { return Ok(None) };
    let layout = layout.bounded()?;
    for index in 0..right.size() {
        if Some(layout.extended(index)?) != reach(right.extended(index)?)? {
            return Ok(None);
        }
    }
    Ok(Some(layout))
}
