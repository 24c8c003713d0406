//! The MMA of a warp as JSON, with all knobs of the kernel: an object whose values are words, or
//! numbers if a word is a number.

use crate::{
    nest::{Knobs, Pins},
    warp::WarpMmaKind,
};
use core::fmt;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};

/// The MMA of a warp, with all knobs of the kernel in words. JSON has one field, the MMA's name.
pub(super) struct MmaWords {
    mma: WarpMmaKind,
    knobs: KnobWords,
}

impl MmaWords {
    /// Returns the MMA and the knobs that are not fields of operands.
    pub fn from_knobs(knobs: &Knobs) -> Self {
        Self { mma: knobs.mma.kind(), knobs: KnobWords::from_knobs(knobs) }
    }

    /// Returns the knobs of the kernel, as [`KnobWords::read`].
    ///
    /// # Errors
    /// The errors of [`KnobWords::read`].
    pub fn read(&self) -> Result<Knobs, String> {
        self.knobs.read(self.mma)
    }
}

impl Serialize for MmaWords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.mma, &self.knobs)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for MmaWords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMma;
        impl<'de> Visitor<'de> for OfMma {
            type Value = MmaWords;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the knobs of one MMA by its name")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<MmaWords, M::Error> {
                let none = || M::Error::invalid_length(0, &self);
                let (mma, knobs) = map.next_entry()?.ok_or_else(none)?;
                match map.next_key::<WarpMmaKind>()? {
                    None => Ok(MmaWords { mma, knobs }),
                    Some(_) => Err(M::Error::invalid_length(2, &self)),
                }
            }
        }
        deserializer.deserialize_map(OfMma)
    }
}

/// Pairs of a knob's name and its value in words.
struct KnobWords(Vec<(String, String)>);

impl KnobWords {
    /// Knobs that JSON states as the field `multiplied` of the operands.
    const OF_OPERANDS: [&str; 3] = ["emulation", "transform_a", "transform_b"];

    /// Returns the names and words of the knobs that are not fields of operands.
    pub fn from_knobs(knobs: &Knobs) -> Self {
        let own = knobs.words().filter(|(name, _)| !Self::OF_OPERANDS.contains(name));
        Self(own.map(|(name, words)| (name.to_owned(), words)).collect())
    }

    /// Returns whether JSON may omit a knob that a kernel has.
    fn is_optional(name: &str) -> bool {
        Self::OF_OPERANDS.contains(&name) || Pins::OMITTED.contains(&name)
    }

    /// Returns the knobs of a kernel: all knobs of its main loop and MMA, and no others. The
    /// operands are multiplied as stored. A missing knob of [`Pins::OMITTED`] is the default.
    ///
    /// # Errors
    /// A text that names the invalid value, the unknown field, or the missing field.
    pub fn read(&self, mma: WarpMmaKind) -> Result<Knobs, String> {
        let mut pins = Pins::NONE;
        for (name, text) in &self.0 {
            if Self::OF_OPERANDS.contains(&name.as_str()) {
                return Err(format!(
                    "unknown field `{name}`: the field `multiplied` of an operand states what the MMA multiplies"
                ));
            }
            pins.set(name, text).map_err(|error| error.to_string())?;
        }
        let missing = |name: &str| format!("missing field `{name}` of the kernel's knobs");
        let mainloop = pins.mainloop.ok_or_else(|| missing("mainloop"))?;
        let knobs = Knobs::defaults_of(mainloop, mma).pinned(&pins);
        let own = knobs.pins();
        for (row, (given, own)) in Pins::TABLE.iter().zip(pins.words().iter().zip(own.words())) {
            match (given, own) {
                (Some(_), None) => {
                    return Err(format!(
                        "unknown field `{}`: {mainloop} kernels with {mma} do not have this knob",
                        row.0
                    ));
                }
                (None, Some(_)) if !Self::is_optional(row.0) => return Err(missing(row.0)),
                _ => {}
            }
        }
        knobs.mainloop.check_pinned(&pins).map_err(|refusal| refusal.to_string())?;
        Ok(knobs)
    }
}

impl Serialize for KnobWords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, text) in &self.0 {
            match text.parse::<u64>() {
                Ok(number) => map.serialize_entry(name, &number)?,
                Err(_) => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}

/// A value in JSON, as a number or a text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the value must be a text or a number")]
enum Word {
    Number(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for KnobWords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfKnobs;
        impl<'de> Visitor<'de> for OfKnobs {
            type Value = KnobWords;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("knobs by their names")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<KnobWords, M::Error> {
                let mut words: Vec<(String, String)> = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let word = map
                        .next_value::<Word>()
                        .map_err(|error| M::Error::custom(format!("{name}: {error}")))?;
                    if words.iter().any(|(known, _)| *known == name) {
                        return Err(M::Error::custom(format!("duplicate field `{name}`")));
                    }
                    words.push(match word {
                        Word::Number(number) => (name, number.to_string()),
                        Word::Text(text) => (name, text),
                    });
                }
                Ok(KnobWords(words))
            }
        }
        deserializer.deserialize_map(OfKnobs)
    }
}
