//! The space of an exploration: a list of values for every knob, and the descriptions that they
//! form.

use super::{pinned::by, range::range};
use crate::Error;
use falchion::{
    Refusal,
    internals::nest::Request,
    nest::{GemmDesc, Pins},
};

/// Largest number of points of a space. More points would need minutes to enumerate.
const POINTS: u64 = 1 << 26;
/// The knob that selects a subspace.
const MAINLOOP: &str = "mainloop";

/// Values for every knob of a subspace. The subspace contains their Cartesian product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subspace {
    /// A description of the subspace, which defines its knobs.
    desc: GemmDesc,
    /// The lists in the order of [`Pins::TABLE`], in the words that [`Pins::set`] reads. No list
    /// has a value twice. A knob that the subspace does not have has an empty word.
    lists: Vec<Vec<String>>,
}

impl Subspace {
    /// Returns the subspace with one point.
    fn from_description(desc: &GemmDesc) -> Self {
        let words = desc.user_pins().words().into_iter();
        let lists = words.map(|words| vec![words.unwrap_or_default()]).collect();
        Self { desc: *desc, lists }
    }

    /// Returns the subspaces of some main loops. Main loops of one subspace share its lists. The
    /// other knobs come from `base`, or from the resolver's result for the first main loop of a
    /// subspace.
    fn with_mainloops(
        base: &GemmDesc,
        at: usize,
        mainloops: &[String],
    ) -> Result<Vec<Self>, Error> {
        let mut subspaces: Vec<(Self, Vec<String>)> = Vec::new();
        for mainloop in mainloops {
            match subspaces.iter_mut().find(|(subspace, _)| subspace.has(at, mainloop)) {
                Some((_, list)) => list.push(mainloop.clone()),
                None => {
                    let subspace = Self::from_description(base);
                    let subspace = if subspace.has(at, mainloop) {
                        subspace
                    } else {
                        Self::from_description(&by(base, MAINLOOP, mainloop)?)
                    };
                    subspaces.push((subspace, vec![mainloop.clone()]));
                }
            }
        }
        subspaces
            .into_iter()
            .map(|(mut subspace, list)| subspace.set(at, &list).map(|()| subspace))
            .collect()
    }

    /// Returns whether the subspace has this value of a knob.
    fn has(&self, at: usize, word: &str) -> bool {
        let mut pins = Pins::NONE;
        pins.set(Pins::TABLE[at].0, word).is_ok()
            && (pins.epilogue.is_some() || self.desc.knobs().foreign(pins).is_none())
    }

    /// Sets the values of a knob, in the library's spelling. A value that the subspace does not
    /// have is refused.
    fn set(&mut self, at: usize, list: &[String]) -> Result<(), Error> {
        for word in list {
            if !self.has(at, word) {
                // The resolver refuses the value with a reason.
                let knobs = vec![(Pins::TABLE[at].0.to_owned(), word.clone())];
                let request = Request { description: Some(self.desc), knobs, ..Request::default() };
                request.resolve(self.desc.arch)?;
                return Ok(());
            }
        }
        self.lists[at] = list.to_vec();
        Ok(())
    }

    /// Returns the description that its points vary.
    pub fn base(&self) -> &GemmDesc {
        &self.desc
    }

    /// Returns the values of a knob by its JSON name. The list is empty for an unknown knob.
    pub fn list(&self, name: &str) -> &[String] {
        place(name).and_then(|place| self.lists.get(place)).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of points; `None` beyond 64 bits.
    fn points(&self) -> Option<u64> {
        self.lists.iter().try_fold(1u64, |points, list| points.checked_mul(list.len() as u64))
    }

    /// Returns the indices of a point's values in their lists: a mixed-radix number whose last
    /// digit is the fastest.
    fn places(&self, mut point: u64) -> Vec<usize> {
        let mut places = vec![0; self.lists.len()];
        for (place, list) in places.iter_mut().zip(&self.lists).rev() {
            let length = list.len().max(1) as u64;
            (*place, point) = ((point % length) as usize, point / length);
        }
        places
    }
}

/// Returns the index of a knob in the table.
fn place(name: &str) -> Option<usize> {
    Pins::TABLE.iter().position(|row| row.0 == name)
}

/// Families of descriptions with the same element types, layouts, operation class, and
/// architecture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    base: GemmDesc,
    subspaces: Vec<Subspace>,
}

impl Space {
    /// Returns the space with the single point `base`. All subspaces that are added have its types,
    /// layouts, and architecture.
    #[must_use]
    pub fn from_description(base: &GemmDesc) -> Self {
        Self { base: *base, subspaces: vec![Subspace::from_description(base)] }
    }

    /// Returns a space of several subspaces. Each is given by lists for some knobs, and the other
    /// knobs come from `base`. The order of the lists has no effect: the main loops select the
    /// subspaces of the other lists. A knob that only some of these subspaces have narrows only
    /// them.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set); [`Error::Measurement`] if there is no subspace.
    pub fn with_subspaces<V: AsRef<str>>(
        base: &GemmDesc,
        subspaces: &[Vec<(String, Vec<V>)>],
    ) -> Result<Self, Error> {
        let mut all = Vec::new();
        for lists in subspaces {
            let mut one = Self::from_description(base);
            let (mainloops, others): (Vec<_>, Vec<_>) =
                lists.iter().partition(|(name, _)| name == MAINLOOP);
            for (name, values) in mainloops {
                let (at, list) = one.read(name, values)?;
                one.subspaces = Subspace::with_mainloops(base, at, &list)?;
            }
            others.into_iter().try_for_each(|(name, values)| one.set(name, values))?;
            all.append(&mut one.subspaces);
        }
        if all.is_empty() {
            return Err(Error::Measurement {
                because: "the space has no subspace; at least one is needed".to_owned(),
            });
        }
        Ok(Self { base: *base, subspaces: all })
    }

    /// Adds the subspaces of `other` whose main loops this space does not have.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        for subspace in other.subspaces {
            if self.subspaces.iter().all(|own| own.list("mainloop") != subspace.list("mainloop")) {
                self.subspaces.push(subspace);
            }
        }
        self
    }

    /// Adds all subspaces of `other`.
    #[must_use]
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.subspaces.extend(other.subspaces);
        self
    }

    /// Returns the description that the points vary.
    #[must_use]
    pub fn base(&self) -> &GemmDesc {
        &self.base
    }

    /// Returns the subspaces, in order.
    #[must_use]
    pub fn subspaces(&self) -> &[Subspace] {
        &self.subspaces
    }

    /// Sets the values of a knob, by its JSON name, in every subspace. A repeated value counts
    /// once.
    ///
    /// # Errors
    /// [`falchion::Error::KnobText`] if the knob or one of the values does not exist, or if there
    /// are no values.
    pub fn set<V: AsRef<str>>(&mut self, name: &str, values: &[V]) -> Result<(), Error> {
        let (at, list) = self.read(name, values)?;
        // Families without the knob ignore it.
        let set: Vec<_> =
            self.subspaces.iter_mut().map(|subspace| subspace.set(at, &list)).collect();
        if set.iter().any(Result::is_ok) { Ok(()) } else { set.into_iter().collect() }
    }

    /// Keeps only the values of a knob, by its JSON name, that are in `values`. A subspace without
    /// any of them is removed.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set); [`falchion::Error::KnobText`] if no subspace is left.
    pub fn keep<V: AsRef<str>>(&mut self, name: &str, values: &[V]) -> Result<(), Error> {
        let (at, list) = self.read(name, values)?;
        let there: Vec<&String> =
            self.subspaces.iter().flat_map(|subspace| &subspace.lists[at]).collect();
        if !there.iter().any(|value| list.contains(value)) {
            let mut seen: Vec<&str> = Vec::new();
            there.iter().for_each(|value| {
                if !seen.contains(&value.as_str()) {
                    seen.push(value)
                }
            });
            return Err(refuse(
                at,
                &list.join(","),
                format!("the space has no such subspace; it has {}", seen.join(", ")),
            ));
        }
        for subspace in &mut self.subspaces {
            subspace.lists[at].retain(|value| list.contains(value));
        }
        self.subspaces.retain(|subspace| !subspace.lists[at].is_empty());
        Ok(())
    }

    /// Narrows a knob, by its JSON name, to values in comma-separated texts. `mainloop` selects
    /// subspaces, and every other knob is set to the values in each subspace. `2-8` and `2..8`
    /// stand for the whole numbers from 2 to 8.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set) and [`keep`](Self::keep).
    pub fn narrow<V: AsRef<str>>(&mut self, name: &str, texts: &[V]) -> Result<(), Error> {
        let mut values = Vec::new();
        for text in texts {
            values.extend(self.parted(name, text.as_ref()).into_iter().flat_map(range));
        }
        if name == MAINLOOP { self.keep(name, &values) } else { self.set(name, &values) }
    }

    /// Splits a text at commas. Some values contain commas, such as `mn^3,2,0`, so each value ends
    /// at the first comma after which it is valid.
    fn parted<'t>(&self, name: &str, text: &'t str) -> Vec<&'t str> {
        let mut knobs = Pins::NONE;
        let mut values = Vec::new();
        let mut rest = Some(text).filter(|text| !text.is_empty());
        while let Some(text) = rest {
            let ends = text.match_indices(',').map(|(at, _)| at).chain([text.len()]);
            // If no end gives a valid value, the first piece is refused.
            let end = ends
                .clone()
                .find(|&end| knobs.set(name, &text[..end]).is_ok())
                .or_else(|| ends.clone().next());
            let end = end.unwrap_or(text.len());
            values.push(&text[..end]);
            rest = text.get(end + 1..);
        }
        values
    }

    /// Returns the values in the library's spelling, without repetitions.
    fn read<V: AsRef<str>>(&self, name: &str, values: &[V]) -> Result<(usize, Vec<String>), Error> {
        let mut knobs = Pins::NONE;
        let Some(at) = place(name) else {
            let text = values.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(",");
            let because = "there is no knob of this name".to_owned();
            return Err(falchion::Error::KnobText { knob: name.to_owned(), text, because }.into());
        };
        let mut list: Vec<String> = Vec::new();
        for value in values {
            knobs.set(name, value.as_ref())?;
            let spelled = knobs.words().swap_remove(at).unwrap_or_default();
            if !list.contains(&spelled) {
                list.push(spelled);
            }
        }
        if list.is_empty() {
            return Err(refuse(at, "", "its list of values is empty".to_owned()));
        }
        Ok((at, list))
    }

    /// Returns the number of points.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the space has too many points to enumerate.
    pub fn points(&self) -> Result<u64, Error> {
        let points = self
            .subspaces
            .iter()
            .try_fold(0u64, |sum, subspace| sum.checked_add(subspace.points()?));
        match points {
            Some(points) if points <= POINTS => Ok(points),
            points => {
                let count = points.map_or("more than 2^64".to_owned(), |points| points.to_string());
                let because = format!(
                    "the space has {count} points, and at most {POINTS} are looked at; give some knobs fewer values"
                );
                Err(Error::Measurement { because })
            }
        }
    }

    /// Returns the description of a point, which is not checked yet. Points beyond the last give
    /// the base.
    #[must_use]
    pub fn at(&self, point: u64) -> GemmDesc {
        let mut found = self.base;
        self.each(point, 1, &mut |_, desc, _| found = *desc);
        found
    }

    /// Returns the description of a point if it is valid.
    ///
    /// # Errors
    /// [`Refusal`] of a pinned value that the main loop cannot have, and the errors of
    /// [`GemmDesc::check`].
    pub fn checked(&self, point: u64) -> Result<GemmDesc, Refusal> {
        let mut found = self.base.check().map(|()| self.base);
        self.each(point, 1, &mut |_, desc, pins| {
            found = desc.mainloop.check_pinned(pins).and(desc.check()).map(|()| *desc);
        });
        found
    }

    /// Visits `count` points from `first` on: each with its description, and the pins from which
    /// the description results.
    pub(super) fn each(
        &self,
        first: u64,
        count: u64,
        visit: &mut dyn FnMut(u64, &GemmDesc, &Pins),
    ) {
        let (mut before, end) = (0, first.saturating_add(count));
        for subspace in &self.subspaces {
            let points = subspace.points().unwrap_or(u64::MAX);
            let (from, to) = (first.max(before), end.min(before + points));
            if from < to {
                self.visit(subspace, from - before, to - before, &mut |point, desc, pins| {
                    visit(before + point, desc, pins)
                });
            }
            before += points;
        }
    }

    /// Visits the points from `from` to `to` of a subspace. Only the knobs that differ from the
    /// previous point are set again.
    fn visit(
        &self,
        subspace: &Subspace,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(u64, &GemmDesc, &Pins),
    ) {
        let mut pins = subspace.desc.user_pins();
        let mut places = subspace.places(from);
        let mut changed = 0;
        for point in from..to {
            for (at, &place) in places.iter().enumerate().skip(changed) {
                // Every value was parsed when it was added.
                let _ = pins.set(Pins::TABLE[at].0, &subspace.lists[at][place]);
            }
            visit(point, &subspace.desc.with(pins), &pins);
            changed = places.len();
            for (at, place) in places.iter_mut().enumerate().rev() {
                changed = at;
                *place += 1;
                if *place < subspace.lists[at].len() {
                    break;
                }
                *place = 0;
            }
        }
    }
}

fn refuse(at: usize, text: &str, because: String) -> Error {
    falchion::Error::KnobText { knob: Pins::TABLE[at].0.to_owned(), text: text.to_owned(), because }
        .into()
}
