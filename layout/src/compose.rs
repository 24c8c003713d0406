//! Composition: `R(c) = A(B(c))`, as a layout.
//!
//! A index of the left layout, written in the mixed radix of its coalesced extents `a_j`, is a row
//! of digits; the layout is the sum of `b_j * digit_j`. A leaf `s:d` of the right layout adds the
//! digits of `d` again and again, which is linear until a digit carries. So a leaf is cut where it
//! first carries, the cut has to divide it, and after that no sum of all leaves may carry again.
//! This holds whenever CuTe's divisibility conditions hold. What carries may still be a layout by
//! the accident of its strides; for a right layout of up to [`SMALL`] coordinates that is found out
//! point by point, and beyond it is refused.

use super::{Int, Layout, LayoutError, Mode, Tiler, coalesce, layout::Tree};

/// The most coordinates of a right layout that are looked at one by one.
#[doc(hidden)]
pub const SMALL: u64 = 4096;

impl Layout {
    /// `self o right`: the layout `R` with `R(c) = self(right(c))`, of which each leaf of `right`
    /// becomes a coalesced mode. Beyond its size, the left layout's last mode goes on.
    ///
    /// # Errors
    /// A divisibility that fails, so that the functions' composition is no layout; an offset beyond
    /// 64 bits.
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

    /// `self o from o right`: the layout `R` and the offset `n` with `n + R(c) = self(from +
    /// right(c))`.
    ///
    /// # Errors
    /// Those of [`compose`](Self::compose), and a `from` of which the sum with what `right` reaches
    /// carries across an extent.
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

    /// [`compose`](Self::compose) mode by mode where the tiler is a tuple; modes that it does not
    /// reach are dropped, as in CuTe.
    ///
    /// # Errors
    /// Those of [`compose`](Self::compose), and a tiler of higher rank than the layout.
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

/// The most leaves: a coalesced layout of extents of 2 and more has 63 of them and perhaps one of
/// extent 1 at its end.
const LEAVES: usize = 64;

/// The left layout, and how much of each of its extents the offset and the leaves so far use up.
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
            // Behind the last part nothing follows, and its stride may be beyond 64 bits.
            step = if rest.value > 1 { step.times(part)? } else { step };
        }
        Ok(Layout::of_leaves(&coalesce::joined(parts[..count].to_vec())))
    }

    /// The stride of a leaf of extent 1, which nothing reads: what CuTe writes there.
    fn stride_of_one(&self, stride: Int) -> Int {
        let Some((last, others)) = self.left.split_last() else { return stride.beside(0) };
        let rest = others.iter().fold(stride, |rest, mode| rest.ceil_over(mode.extent));
        rest.times(last.stride).unwrap_or(stride.beside(0))
    }

    /// The digits of a stride, after how many steps it first carries and where (`None`: never), and
    /// the offset of one step.
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

    /// Counts `steps` more steps of the digits at hand; refuses a sum that carries.
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

    /// Where a leaf's stride neither divides nor is a multiple of the extent that it meets.
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

/// A value near `stride` that divides `extent` or is a multiple of it: the nearest, unless that is
/// far from it.
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

/// The layout of the functions' composition, each leaf's modes read off its points; `None` if there
/// is none, or too many points.
fn by_points(left: &Layout, from: u64, right: &Layout) -> Result<Option<Layout>, LayoutError> {
    /// How far an integer takes the left layout from where it begins; `None` for backwards.
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
        Ok(Some(Layout::of_leaves(&coalesce::joined(parts))))
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
