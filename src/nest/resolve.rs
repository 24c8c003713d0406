//! The resolver: from a class and pins to descriptions. Pinned knobs stand; the others come from a
//! row of the default table, or are derived.
//!
//! The resolver first applies the pins to each configuration of the row. If none is valid, it walks
//! the axes of the knobs. `src/nest/axes/` defines the knobs along the axes, and which axis may
//! avoid a refusal.

use crate::{
    layout::Orders,
    nest::{
        Class, DecompositionKind, Frame, GemmDesc, Knobs, Pins,
        axes::{AXES, along_axes, axis_against, values},
        check_pins::{check_pins, without_thread_instruction},
        defaults::{Row, in_place, rows},
        features::Features,
    },
    numeric::Combined,
    operand::Axis,
    refusal::{Field, Refusal, Rule, Unresolved, hold},
};

/// Maximum number of descriptions that a walk checks. The limit bounds the compile time.
const MOST_CHECKS: u32 = 64;

/// Maximum number of configurations of a row.
const MOST_CONFIGURATIONS: usize = 27;

/// The candidate descriptions of a class and pins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completions {
    descs: [GemmDesc; MOST_CONFIGURATIONS],
    /// Facts of each candidate for the cost model.
    features: [Features; MOST_CONFIGURATIONS],
    count: usize,
    /// Number of candidates from the row. The remaining candidates read operands in place.
    of_row: usize,
    ways: &'static [DecompositionKind],
    /// The user's element types, which all kernels share.
    types: Combined,
    /// The user's orders, which all kernels share.
    orders: Orders,
}

impl Completions {
    pub(crate) const fn from_first(first: GemmDesc) -> Self {
        let features = first.features();
        Self {
            types: first.user_types(),
            orders: first.orders(),
            descs: [first; MOST_CONFIGURATIONS],
            features: [features; MOST_CONFIGURATIONS],
            count: 1,
            of_row: 1,
            ways: &[],
        }
    }

    const fn and(mut self, other: GemmDesc) -> Self {
        self.descs[self.count] = other;
        self.features[self.count] = other.features();
        self.count += 1;
        self.of_row = self.count;
        self
    }

    /// Adds a candidate that reads operands in place.
    const fn and_in_place(self, other: GemmDesc) -> Self {
        let of_row = self.of_row;
        Self { of_row, ..self.and(other) }
    }

    /// Returns the JSON names of the knobs that a problem size selects: those in which the
    /// candidates differ, and split-K.
    pub(crate) fn knobs_by_size(&self) -> Vec<&'static str> {
        let words: Vec<_> =
            self.descs[..self.count].iter().map(|desc| desc.user_pins().words()).collect();
        let splits = self.descs[..self.count].iter().any(|desc| !self.ways(desc).is_empty());
        let selected = |(at, row): (usize, &(&'static str, &str, &str))| {
            let differ = words.iter().any(|one| one[at] != words[0][at]);
            let splits = splits && ["split_k", "decomposition"].contains(&row.0);
            (differ || splits).then_some(row.0)
        };
        Pins::TABLE.iter().enumerate().filter_map(selected).collect()
    }

    /// Returns whether a candidate has the same tile extents along M and N.
    const fn has_tile_of(&self, other: &GemmDesc) -> bool {
        let (wanted, mut i) = (other.threadblock(), 0);
        while i < self.count {
            let tile = self.descs[i].threadblock();
            if tile.m == wanted.m && tile.n == wanted.n {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Allows a problem to choose the number of split-K slices, unless the pins contain it.
    const fn cut_unless(self, pins: &Pins) -> Self {
        const WAYS: [DecompositionKind; 2] =
            [DecompositionKind::SplitK, DecompositionKind::SplitKParallel];
        let ways: &[_] = match pins.decomposition {
            None => &WAYS,
            Some(DecompositionKind::SplitK) => &[DecompositionKind::SplitK],
            Some(DecompositionKind::SplitKParallel) => &[DecompositionKind::SplitKParallel],
            Some(_) => &[],
        };
        Self { ways: if pins.split_k.is_none() { ways } else { &[] }, ..self }
    }

    /// Returns the decompositions with which a problem may choose the number of slices of a
    /// candidate.
    ///
    /// Stream-K and split-K in a cluster are compiled, so they have no such choice. A candidate of
    /// another main loop than the row's has none either.
    pub(crate) const fn ways(&self, desc: &GemmDesc) -> &'static [DecompositionKind] {
        let of_row = desc.has_producer() == self.descs[0].has_producer();
        if of_row && !desc.cuts_by_cluster() && !desc.streams_k() { self.ways } else { &[] }
    }

    /// The element types of A, B, C, and the accumulator in the user's frame.
    pub(crate) const fn types(&self) -> Combined {
        self.types
    }

    /// The orders of A, B, and C in the user's frame.
    pub(crate) const fn orders(&self) -> Orders {
        self.orders
    }

    /// Returns the default candidate, which the types alone select.
    pub(crate) const fn first(&self) -> GemmDesc {
        self.descs[0]
    }

    /// Returns the facts of each candidate for the cost model.
    pub(crate) const fn features(&self) -> &[Features] {
        self.features.split_at(self.count).0
    }

    /// Returns the number of candidates from the row.
    pub(crate) const fn row_length(&self) -> usize {
        self.of_row
    }

    /// Returns all candidates, the default first.
    pub(crate) const fn all(&self) -> &[GemmDesc] {
        self.descs.split_at(self.count).0
    }
}

/// Returns the candidates of a class and pins in the user's frame, for kernels in `frame`.
///
/// # Errors
/// [`Unresolved`] if no row has the types, or if no kernel has all pinned knobs. The error lists a
/// minimal set of conflicting pins.
pub(crate) const fn resolve(
    user: Class,
    frame: Frame,
    pins: Pins,
) -> Result<Completions, Unresolved> {
    let because = match complete(user, frame, pins) {
        Ok(completions) => return Ok(completions),
        Err(refusal) => refusal,
    };
    let (mut needed, mut rest) = (Pins::NONE, pins);
    while let Some((one, others)) = rest.split_first() {
        if complete(user, frame, others.over(needed)).is_ok() {
            needed = one.over(needed);
        }
        rest = others;
    }
    Err(Unresolved { because, knobs: needed.names() })
}

/// Returns the candidates of the first row that completes the pins.
///
/// # Errors
/// The refusal of the first row.
const fn complete(user: Class, frame: Frame, pins: Pins) -> Result<Completions, Refusal> {
    let pins = without_thread_instruction(pins, &user);
    let row = hold!(rows(user.op, user.arch, user.combined(), &pins, 0));
    let refused = match complete_row(row, user, frame, pins) {
        Ok(completions) => return Ok(completions),
        Err(refusal) => refusal,
    };
    let mut nth = 1;
    while let Ok(row) = rows(user.op, user.arch, user.combined(), &pins, nth) {
        if let Ok(completions) = complete_row(row, user, frame, pins) {
            return Ok(completions);
        }
        nth += 1;
    }
    Err(refused)
}

const fn complete_row(
    row: &Row,
    user: Class,
    frame: Frame,
    pins: Pins,
) -> Result<Completions, Refusal> {
    let own = row.knobs;
    let mut found: Option<Completions> = None;
    let mut i = 0;
    while i < own.len() {
        if let Ok(desc) = fitting(placed(&user, frame, &own[i], &pins), &pins) {
            found = Some(match found {
                None => Completions::from_first(desc),
                Some(all) => all.and(desc),
            });
        }
        i += 1;
    }
    let given = match found {
        Some(all) => Ok(all),
        None => match found_along_axes(placed(&user, frame, &own[0], &pins), &pins.enter(frame)) {
            Ok(desc) => Ok(Completions::from_first(desc)),
            Err(refusal) => Err(refusal),
        },
    };
    // If no shape is pinned and a candidate has this tile, that candidate keeps its row-major D. If
    // shapes are pinned, the problem chooses between row-major and column-major D.
    let mut all = given;
    let mut i = 0;
    while i < row.of_columns.len() {
        let knobs = &row.of_columns[i];
        if leaves_tile(knobs, &pins)
            && leaves_clusters(knobs, &pins)
            && let Ok(desc) =
                fitting(placed(&user, frame, knobs, &pins).with_rows_as_columns(), &pins)
        {
            all = match (all, &given) {
                (Err(_), _) => Ok(Completions::from_first(desc)),
                (Ok(all), Ok(given)) if !pins.pins_shapes() && given.has_tile_of(&desc) => Ok(all),
                (Ok(all), _) => Ok(all.and(desc)),
            };
        }
        i += 1;
    }
    let mut all = hold!(all);
    let mut i = 0;
    while i < row.alternatives.len() {
        let knobs = row.alternatives[i].knobs();
        let is_left = if pins.pins_shapes() {
            row.alternatives[i].is_of_columns() && leaves_tile(knobs, &pins)
        } else {
            !pins.divides_k()
        };
        if is_left
            && check_pins(knobs, &pins, user.op, user.arch).is_ok()
            && let Ok(desc) =
                legal(row.alternatives[i].apply(placed(&user, frame, knobs, &pins)), &pins)
        {
            all = all.and(desc);
        }
        i += 1;
    }
    let in_place = in_place(row, (user.op, user.arch, user.combined()));
    let mut i = if pins.pins_shapes() { in_place.len() } else { 0 };
    while i < in_place.len() {
        let knobs = &in_place[i];
        if check_pins(knobs, &pins, user.op, user.arch).is_ok()
            && let Ok(desc) = legal(placed(&user, frame, knobs, &pins), &pins)
        {
            all = all.and_in_place(desc);
        }
        i += 1;
    }
    Ok(all.cut_unless(&pins))
}

/// Returns whether the pins leave a configuration its tile: no shape is pinned, or the pinned rows
/// and columns are its own.
const fn leaves_tile(knobs: &Knobs, pins: &Pins) -> bool {
    let own = knobs.threadblock();
    match pins.threadblock {
        Some(pinned) => own.m == pinned.m && own.n == pinned.n,
        None => !pins.pins_shapes(),
    }
}

/// Returns whether the pins leave a configuration its split-K in a cluster. The number of slices
/// must be unpinned. If the decomposition is unpinned, the cluster must also be unpinned.
const fn leaves_clusters(knobs: &Knobs, pins: &Pins) -> bool {
    if !matches!(knobs.work.decomposition, DecompositionKind::SplitKCluster) {
        return true;
    }
    match pins.decomposition {
        None => pins.split_k.is_none() && pins.cluster.is_none(),
        Some(DecompositionKind::SplitKCluster) => pins.split_k.is_none(),
        Some(_) => false,
    }
}

/// Returns the description of a class in the user's frame with these knobs, and with the pins
/// applied.
const fn placed(user: &Class, frame: Frame, knobs: &Knobs, pins: &Pins) -> GemmDesc {
    GemmDesc::new(user, knobs).pinned(*pins).enter(frame)
}

/// Returns the description if it is valid, after its source of A is resolved.
const fn legal(desc: GemmDesc, pins: &Pins) -> Result<GemmDesc, Refusal> {
    hold!(desc.mainloop.check_pinned(pins));
    let desc = desc.settled();
    match desc.check() {
        Ok(()) => Ok(desc),
        Err(refusal) => Err(refusal.leave(desc.frame)),
    }
}

/// Returns the description if it is valid. If the partials of a cluster leave too little shared
/// memory, unpinned stages are reduced to those that fit.
const fn fitting(desc: GemmDesc, pins: &Pins) -> Result<GemmDesc, Refusal> {
    match legal(desc, pins) {
        Err(refusal) if pins.stages.is_none() && desc.cuts_by_cluster() => {
            match refusal.stages_that_fit() {
                Some(stages) => {
                    legal(desc.pinned(Pins { stages: Some(stages), ..Pins::NONE }), pins)
                }
                None => Err(refusal),
            }
        }
        checked => checked,
    }
}

/// Returns the first valid description along the axes. If no swizzle divides the columns of a
/// row-major warp tile, D becomes column-major, which supports any multiple of eight columns.
///
/// # Errors
/// The errors of [`walk`].
const fn found_along_axes(base: GemmDesc, pins: &Pins) -> Result<GemmDesc, Refusal> {
    let columns = base.with_rows_as_columns();
    match walk(base, pins) {
        Err(Refusal { rule: Rule::Multiple, field: Field::Warp(Axis::N), .. })
            if columns.is_of_columns() =>
        {
            walk(columns, pins)
        }
        found => found,
    }
}

/// Returns the first valid description along the axes.
///
/// # Errors
/// The refusal of the first description along the axes.
const fn walk(base: GemmDesc, pins: &Pins) -> Result<GemmDesc, Refusal> {
    let (mut place, mut checks, mut first) = ([0; AXES], 0, None);
    while checks < MOST_CHECKS {
        let mut axis = AXES - 1;
        if let Some(knobs) = along_axes(&base, pins, place) {
            let desc = base.with_kernel_knobs(&knobs);
            let mut refusal = match legal(desc, pins) {
                Ok(desc) => return Ok(desc),
                Err(refusal) => refusal,
            };
            checks += 1;
            // Unpinned stages become as many as fit.
            if let (Some(stages), None) = (refusal.stages_that_fit(), pins.stages)
                && checks < MOST_CHECKS
            {
                refusal =
                    match legal(desc.pinned(Pins { stages: Some(stages), ..Pins::NONE }), pins) {
                        Ok(desc) => return Ok(desc),
                        Err(refusal) => refusal,
                    };
                checks += 1;
            }
            axis = axis_against(&base, pins, &refusal);
            if first.is_none() {
                first = Some(refusal);
            }
        }
        // Advance along the axis, or along a slower one at its end. Faster axes restart at 0.
        let mut faster = axis + 1;
        while faster < AXES {
            place[faster] = 0;
            faster += 1;
        }
        place[axis] += 1;
        while place[axis] == values(&base)[axis] {
            if axis == 0 {
                checks = MOST_CHECKS;
                break;
            }
            place[axis] = 0;
            axis -= 1;
            place[axis] += 1;
        }
    }
    match first {
        Some(refusal) => Err(refusal),
        None => legal(base, pins),
    }
}
