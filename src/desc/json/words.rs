//! Knobs as JSON: an object whose values are words, or numbers if a word is a number.

use crate::desc::Pins;
use core::fmt;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};

/// Pairs of a knob's name and its value in words.
pub(super) struct KnobWords(Vec<(String, String)>);

impl KnobWords {
    /// Returns the names and words of the pinned knobs.
    pub fn from_pins(pins: &Pins) -> Self {
        let words = Pins::TABLE.iter().zip(pins.words());
        Self(words.filter_map(|(row, words)| Some((row.0.to_owned(), words?))).collect())
    }

    /// Returns the knobs of a family: all knobs in `names`, and no others.
    ///
    /// # Errors
    /// A text that names the invalid value, the unknown field, or the missing field.
    pub fn read<K>(&self, names: &[&str], all: fn(Pins) -> Option<K>) -> Result<K, String> {
        let mut pins = Pins::NONE;
        for (name, text) in &self.0 {
            pins.set(name, text).map_err(|error| error.to_string())?;
            if !names.contains(&name.as_str()) {
                return Err(format!(
                    "unknown field `{name}`: its family has the knobs {}",
                    names.join(", ")
                ));
            }
        }
        let table = Pins::TABLE.iter().zip(pins.words());
        let missing = table
            .filter(|(_, words)| words.is_none())
            .map(|(row, _)| row.0)
            .find(|name| names.contains(name));
        all(pins).ok_or_else(|| {
            format!("missing field `{}` of its family's knobs", missing.unwrap_or_default())
        })
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
