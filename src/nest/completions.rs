//! The candidates among which a problem selects: the first candidate of a request, and those that
//! its row of the default table adds.

use crate::{
    nest::{
        Class, DecompositionKind, Frame, GemmDesc, Pins,
        check_pins::{check_pins, without_thread_instruction},
        defaults::in_place,
        features::Features,
        places::SearchBudget,
        resolve::{First, FirstOf, configured, leaves_tile, legal, of_columns, placed, resolve},
    },
    refusal::Unresolved,
};

/// The candidate descriptions of a class and pins.
#[derive(Clone, Debug)]
pub(crate) struct Completions {
    descs: Vec<GemmDesc>,
    /// Facts of each candidate for the cost model.
    features: Vec<Features>,
    /// Number of candidates from the row. The remaining candidates read operands in place.
    of_row: usize,
    ways: &'static [DecompositionKind],
}

impl Completions {
    /// Returns a description as the only candidate.
    pub(crate) fn from_first(first: GemmDesc) -> Self {
        Self { descs: vec![first], features: vec![first.features()], of_row: 1, ways: &[] }
    }

    /// Returns the candidates of a class and pins in the user's frame, for kernels in `frame`.
    ///
    /// # Errors
    /// The errors of [`resolve`].
    pub(crate) fn new(user: Class, frame: Frame, pins: Pins) -> Result<Self, Unresolved> {
        let First { desc, row, source } = resolve(user, frame, pins)?;
        let pins = without_thread_instruction(pins, &user);
        let mut all = Self::from_first(desc);
        if let FirstOf::Row(first) = source {
            let further = row.knobs[first + 1..].iter();
            further
                .filter_map(|knobs| {
                    configured(&user, frame, knobs, &pins, &mut { SearchBudget::LIMIT })
                })
                .for_each(|desc| all.add(desc));
        }
        // If no shape is pinned and a candidate has this tile, that candidate keeps its row-major
        // D. Other tiles without split-K are candidates in both frames. If shapes are pinned, the
        // problem chooses between row-major and column-major D.
        let given = all.descs.len();
        let (tiles, next) = match source {
            FirstOf::Columns(first) => (0, first + 1),
            FirstOf::Row(_) | FirstOf::Computed => (given, 0),
        };
        for knobs in &row.of_columns[next..] {
            if let Some(desc) = of_columns(&user, frame, knobs, &pins, &mut { SearchBudget::LIMIT })
                && (pins.pins_shapes() || !has_tile_of(&all.descs[..tiles], &desc))
            {
                all.add(desc);
            }
        }
        for knobs in row.of_columns {
            if tiles > 0
                && knobs.work.decomposition != DecompositionKind::SplitKCluster
                && !pins.pins_shapes()
                && let Some(desc) =
                    configured(&user, frame, knobs, &pins, &mut { SearchBudget::LIMIT })
                && !has_tile_of(&all.descs[..given], &desc)
            {
                all.add(desc);
            }
        }
        for alternative in row.alternatives {
            let knobs = alternative.knobs();
            let is_left = if pins.pins_shapes() {
                alternative.is_of_columns() && leaves_tile(knobs, &pins)
            } else {
                !pins.divides_k()
            };
            if is_left
                && check_pins(knobs, &pins, user.op, user.arch).is_ok()
                && let Ok(desc) =
                    legal(alternative.apply(placed(&user, frame, knobs, &pins)), &pins)
            {
                all.add(desc);
            }
        }
        all.of_row = all.descs.len();
        for knobs in in_place(row, (user.op, user.arch, user.combined())) {
            if !pins.pins_shapes()
                && check_pins(knobs, &pins, user.op, user.arch).is_ok()
                && let Ok(desc) = legal(placed(&user, frame, knobs, &pins), &pins)
            {
                all.add(desc);
            }
        }
        Ok(all.cut_unless(&pins))
    }

    fn add(&mut self, other: GemmDesc) {
        self.features.push(other.features());
        self.descs.push(other);
    }

    /// Returns the JSON names of the knobs that a problem size selects: those in which the
    /// candidates differ, and split-K.
    pub(crate) fn knobs_by_size(&self) -> Vec<&'static str> {
        let words: Vec<_> = self.descs.iter().map(|desc| desc.user_pins().words()).collect();
        let splits = self.descs.iter().any(|desc| !self.ways(desc).is_empty());
        let selected = |(at, row): (usize, &(&'static str, &str, &str))| {
            let differ = words.iter().any(|one| one[at] != words[0][at]);
            let splits = splits && ["split_k", "decomposition"].contains(&row.0);
            (differ || splits).then_some(row.0)
        };
        Pins::TABLE.iter().enumerate().filter_map(selected).collect()
    }

    /// Allows a problem to choose the number of split-K slices, unless the pins contain it.
    fn cut_unless(self, pins: &Pins) -> Self {
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
    pub(crate) fn ways(&self, desc: &GemmDesc) -> &'static [DecompositionKind] {
        let of_row = desc.has_producer() == self.descs[0].has_producer();
        if !of_row || desc.cuts_by_cluster() || desc.streams_k() {
            return &[];
        }
        match self.ways {
            [DecompositionKind::SplitK, ..] if !desc.may_reduce() => &self.ways[..1],
            [DecompositionKind::SplitKParallel] if !desc.may_reduce() => &[],
            ways => ways,
        }
    }

    /// Returns the default candidate, which the types alone select.
    pub(crate) fn first(&self) -> GemmDesc {
        self.descs[0]
    }

    /// Returns the facts of each candidate for the cost model.
    pub(crate) fn features(&self) -> &[Features] {
        &self.features
    }

    /// Returns the number of candidates from the row.
    pub(crate) const fn row_length(&self) -> usize {
        self.of_row
    }

    /// Returns all candidates, the default first.
    pub(crate) fn all(&self) -> &[GemmDesc] {
        &self.descs
    }
}

/// Returns whether a description has the same tile extents along M and N.
fn has_tile_of(all: &[GemmDesc], other: &GemmDesc) -> bool {
    let extents = |desc: &GemmDesc| (desc.threadblock().m, desc.threadblock().n);
    all.iter().any(|desc| extents(desc) == extents(other))
}
