//! The census of a space: the number of valid points, and the reasons why the others are invalid.

use super::space::Space;
use crate::Error;
use falchion::nest::{GemmDesc, Pins};
use rayon::prelude::*;
use std::collections::HashMap;

/// Points per task.
const TASK: u64 = 1 << 12;

/// A reason for refusals.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Refused {
    /// The common form of the messages: the text before the advice, with `#` for each number.
    pub form: String,
    /// Number of points.
    pub count: u64,
    /// The whole message of the first of these points.
    pub first: String,
    /// Number of the first of these points.
    #[serde(skip)]
    pub point: u64,
}

/// The content of a space. `points` is the sum of `legal.len()` and of all counts of `refused`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Census {
    /// Number of points.
    pub points: u64,
    /// The valid points, in ascending order.
    pub legal: Vec<u64>,
    /// The reasons for the invalid points, the most frequent reason first.
    pub refused: Vec<Refused>,
}

/// A part of a census.
#[derive(Default)]
struct Part {
    legal: Vec<u64>,
    refused: HashMap<String, Refused>,
}

impl Part {
    fn refuse(&mut self, point: u64, sentence: String) {
        let form = form(&sentence);
        let reason = self.refused.entry(form).or_insert_with_key(|form| Refused {
            form: form.clone(),
            count: 0,
            first: sentence,
            point,
        });
        reason.count += 1;
    }

    fn and(mut self, mut later: Self) -> Self {
        self.legal.append(&mut later.legal);
        for (form, reason) in later.refused {
            let Refused { count, point, .. } = reason;
            match self.refused.get_mut(&form) {
                None => drop(self.refused.insert(form, reason)),
                Some(known) => {
                    let count = known.count + count;
                    if point < known.point {
                        *known = reason;
                    }
                    known.count = count;
                }
            }
        }
        self
    }
}

impl Census {
    /// Checks every point with `check`. If D is column-major, refusals name the operands of the
    /// user.
    ///
    /// # Errors
    /// The errors of [`Space::points`]. If `check` returns another error than a refusal, it counts
    /// as one with its message.
    pub fn new(
        space: &Space,
        check: &(dyn Fn(&GemmDesc) -> Result<(), Error> + Sync),
    ) -> Result<Self, Error> {
        let points = space.points()?;
        let frame = space.base().frame;
        let part = |task: u64| {
            let mut part = Part::default();
            let check = |desc: &GemmDesc, pins: &Pins| -> Result<(), Error> {
                desc.mainloop.check_pinned(pins).map_err(falchion::Error::from)?;
                check(desc)
            };
            space.each(task * TASK, TASK, &mut |point, desc, pins| match check(desc, pins) {
                Ok(()) => part.legal.push(point),
                Err(Error::Falchion(falchion::Error::Refused(refusal))) => {
                    part.refuse(point, refusal.leave(frame).to_string())
                }
                Err(error) => part.refuse(point, error.to_string()),
            });
            part
        };
        let all =
            (0..points.div_ceil(TASK)).into_par_iter().map(part).reduce(Part::default, Part::and);
        let mut legal = all.legal;
        legal.sort_unstable();
        let mut refused: Vec<Refused> = all.refused.into_values().collect();
        refused.sort_by(|x, y| y.count.cmp(&x.count).then_with(|| x.form.cmp(&y.form)));
        Ok(Self { points, legal, refused })
    }
}

/// Returns a message up to its first semicolon, with `#` for each number. Digits of a name, such as
/// `f32` and `sm_90`, stay.
fn form(sentence: &str) -> String {
    let said = sentence.split(';').next().unwrap_or_default();
    let mut form = String::with_capacity(said.len());
    let (mut name, mut number) = (false, false);
    for c in said.chars() {
        if c.is_ascii_digit() && !name {
            if !number {
                form.push('#');
            }
            number = true;
            continue;
        }
        // The `x` of 128x64 does not begin a name.
        name = name && c.is_ascii_digit() || !number && (c.is_alphabetic() || c == '_');
        number = false;
        form.push(c);
    }
    form
}

#[cfg(test)]
mod tests {
    use super::form;

    #[test]
    fn refusal_forms_keep_only_numbers_in_names() {
        for (sentence, wanted) in [
            (
                "warp M x N = 8192 is outside 128 to 4096; try 4096",
                "warp M x N = # is outside # to #",
            ),
            ("moves 1 bytes (i8), and moves 4, 8 or 16", "moves # bytes (i8), and moves #, # or #"),
            ("which sm75 cannot; sm80 can", "which sm75 cannot"),
            ("sm_90 has 12x3x4 of f32", "sm_90 has #x#x# of f32"),
            ("", ""),
        ] {
            assert_eq!(form(sentence), wanted);
        }
    }
}
