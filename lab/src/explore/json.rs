//! Spaces as JSON: a list of subspaces, each an object with one list per knob.
//!
//! ```text
//! [{"mainloop": ["multistage"], "stages": [3, 4], "threadblock": ["128x128x8", "256x128x8"]}]
//! ```

use super::space::Space;
use crate::Error;
use falchion::nest::GemmDesc;
use serde_json::Value;

impl Space {
    /// Parses a space for the types, layouts, and architecture of `base`. A single subspace needs
    /// no list around it, a number stands for its digits, and a single value stands for a list of
    /// one.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the text is not a space in JSON; the errors of
    /// [`Space::with_subspaces`].
    pub fn from_json(base: &GemmDesc, text: &str) -> Result<Self, Error> {
        let refuse = |because: String| Error::Measurement {
            because: format!("the space cannot be read: {because}"),
        };
        let value: Value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let subspaces = match value {
            Value::Array(subspaces) => subspaces,
            one => vec![one],
        };
        let words = |name: &str, value: &Value| match value {
            Value::String(words) => Ok(words.clone()),
            Value::Number(number) => Ok(number.to_string()),
            other => {
                Err(refuse(format!("a value of `{name}` is {other}, and it is a text or a number")))
            }
        };
        let mut all = Vec::new();
        for subspace in &subspaces {
            let Value::Object(lists) = subspace else {
                return Err(refuse(format!(
                    "a subspace is {subspace}, but it must be an object of knob names with lists"
                )));
            };
            let mut read = Vec::new();
            for (name, list) in lists {
                let list = match list {
                    Value::Array(list) => list
                        .iter()
                        .map(|value| words(name, value))
                        .collect::<Result<Vec<_>, _>>()?,
                    one => vec![words(name, one)?],
                };
                read.push((name.clone(), list));
            }
            all.push(read);
        }
        Self::with_subspaces(base, &all)
    }
}
