//! Verification of candidates: guard zones of poison around D, a check that every element is
//! written, and a comparison of some rows with a reference.

use crate::{
    Error,
    bench::{
        SuiteProblem,
        measure::{VERIFIED_ROWS, operands},
    },
    verify::{Claim, Fill, HostBuffer, bound::Accumulation, sampled},
};
use falchion::{internals::operand::Problem, nest::GemmDesc};

/// Elements of poison before and after a D that is verified.
pub(super) const GUARD: usize = 1024;
/// Approximate number of multiply-adds per verification, which determines the number of checked
/// rows of D.
const PRODUCTS: usize = 1 << 30;

/// Operands for the verification of a result.
pub(super) struct Known {
    fill: Fill,
    pub a: HostBuffer,
    pub b: HostBuffer,
}

/// A problem with its operands, and the content of D before the launch.
pub(super) struct Judge {
    problem: Problem,
    poison: HostBuffer,
    known: [Known; 2],
}

impl Judge {
    pub fn new(base: &GemmDesc, suite: &SuiteProblem) -> Result<Self, Error> {
        let (problem, types) = (suite.problem(), base.user_types());
        let of = |fill: Fill| {
            operands(&problem, types, fill, suite.seed.unwrap_or(1)).map(|[a, b, _]| Known {
                fill,
                a,
                b,
            })
        };
        let poison =
            HostBuffer::poisoned(types.c, problem.d.memory.length.saturating_add(2 * GUARD))?;
        Ok(Self { problem, poison, known: [of(Fill::Integers)?, of(Fill::Random)?] })
    }

    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the content of D's memory before the launch, with guard zones. D begins at element
    /// [`GUARD`].
    pub fn poison(&self) -> &HostBuffer {
        &self.poison
    }

    /// Returns whole numbers, which are compared with `==`, and random numbers.
    pub fn known(&self) -> &[Known; 2] {
        &self.known
    }

    /// Returns whether these operands can decide a result. Random numbers cannot if their sums have
    /// no bound.
    pub fn decides(&self, desc: &GemmDesc, known: &Known) -> bool {
        known.fill == Fill::Integers
            || Accumulation::for_description(desc, self.problem.k).relative.is_finite()
    }

    /// Returns a description of the error in a result, if there is one. The result has the length
    /// of the poison.
    pub fn wrong(
        &self,
        desc: &GemmDesc,
        known: &Known,
        computed: &HostBuffer,
    ) -> Result<Option<String>, Error> {
        let (problem, d) = (&self.problem, GUARD..GUARD + self.problem.d.memory.length);
        if let Some(place) = computed.stray(&self.poison, GUARD, &problem.d, (problem.m, problem.n))
        {
            let away = place as i128 - GUARD as i128;
            return Ok(Some(format!("it writes where D is not: at element {away} from D's first")));
        }
        let width = computed.kind().bytes_of(1) as usize;
        let within = d.start * width..d.end * width;
        let mut pairs = computed.bytes()[within.clone()]
            .chunks_exact(width)
            .zip(self.poison.bytes()[within].chunks_exact(width));
        // A whole number may equal the poison. The compared rows decide this case.
        if !computed.kind().is_integer()
            && let Some(place) = pairs.position(|(is, was)| is == was)
        {
            return Ok(Some(format!(
                "it does not write all of D: not element {place} from D's first"
            )));
        }
        let (a, b) = (known.a.whole()?, known.b.whole()?);
        let claim = Claim {
            desc,
            problem,
            a,
            b,
            c: None,
            d: computed.slice(d)?,
            operands: Default::default(),
        };
        let rows = (PRODUCTS / problem.n.saturating_mul(problem.k).max(1)).max(VERIFIED_ROWS);
        let verdict = sampled(&claim, rows, 1)?;
        let operands =
            if known.fill == Fill::Integers { "whole numbers" } else { "random numbers" };
        Ok((!verdict.is_right()).then(|| format!("of {operands}, {verdict}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::device::problem;
    use falchion::{
        arch::{ArchKind, OpKind},
        device::run_on_host,
        internals::{
            nest::Request,
            operand::{HostMatrices, Source},
        },
        shape::Mnk,
    };

    fn described(a: &str, b: &str, c: &str) -> GemmDesc {
        let read = |text: &str| Some(text.parse().unwrap());
        let op = Some(OpKind::Simt);
        Request { a: read(a), b: read(b), c: read(c), op, ..Request::default() }
            .resolve(ArchKind::Sm80)
            .unwrap()
            .desc
    }

    /// Checks that the host's result is right for both fills. An element that is changed, not
    /// written, or written outside of D is found.
    #[test]
    fn one_wrong_element_is_found() -> Result<(), Error> {
        for (a, b, c) in [
            ("f32:row", "f32:col", "f32:row"),
            ("f16:col", "f16:row", "f16:col"),
            ("i8:row", "i8:col", "i32:row"),
        ] {
            let desc = described(a, b, c);
            let judge = Judge::new(&desc, &problem(&desc, Mnk::new(40, 24, 56)))?;
            for known in judge.known() {
                assert!(judge.decides(&desc, known));
                let mut right = judge.poison().clone();
                let matrices = HostMatrices {
                    a: known.a.whole()?,
                    b: known.b.whole()?,
                    c: Source::None,
                    d: right.slice_mut(GUARD..GUARD + 40 * 24)?,
                    operands: Default::default(),
                };
                run_on_host(&desc, judge.problem().with(matrices))?;
                assert_eq!(judge.wrong(&desc, known, &right)?, None, "{a} {b} {c}");
                let unwritten = judge.poison().get(GUARD)?;
                for place in [0, 1, 23, 479, 958, 959] {
                    let mut other = right.clone();
                    other.set(GUARD + place, right.get(GUARD + place)? + 64.0)?;
                    let why = judge.wrong(&desc, known, &other)?.expect("a wrong element");
                    assert!(why.contains("numbers, 1 of 960 elements are wrong"), "{why}");
                    other.set(GUARD + place, unwritten)?;
                    let why =
                        judge.wrong(&desc, known, &other)?.expect("an element that is not written");
                    let unwritten = format!("not write all of D: not element {place} from");
                    assert!(
                        why.contains(if desc.output.element.is_integer() {
                            "1 of 960"
                        } else {
                            &unwritten
                        }),
                        "{why}"
                    );
                }
                for (place, away) in [
                    (0, -1024),
                    (GUARD - 1, -1),
                    (GUARD + 960, 960),
                    (GUARD + 960 + GUARD - 1, 1983),
                ] {
                    let mut stray = right.clone();
                    stray.set(place, 0.0)?;
                    let why = judge.wrong(&desc, known, &stray)?.expect("a stray write");
                    assert_eq!(
                        why,
                        format!("it writes where D is not: at element {away} from D's first")
                    );
                }
            }
        }
        Ok(())
    }

    /// Sums of 4096 f16 products have no bound, so only whole numbers can decide.
    #[test]
    fn integers_decide_if_random_data_cannot() -> Result<(), Error> {
        let [a, b, c] = ["f16:row"; 3].map(|matrix| matrix.parse().ok());
        let simt = Request { a, b, c, op: Some(OpKind::Simt), ..Request::default() };
        let mut desc = simt.resolve(ArchKind::Sm80).unwrap().desc;
        desc.output.accumulator = falchion::numeric::ElementKind::F16;
        let judge = Judge::new(&desc, &problem(&desc, Mnk::new(8, 8, 4096)))?;
        assert_eq!(
            judge.known().each_ref().map(|known| judge.decides(&desc, known)),
            [true, false]
        );
        Ok(())
    }
}
