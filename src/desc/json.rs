//! A description as JSON: every field by its name, and a version. Unknown fields are refused.

use super::GemmDesc;
use crate::error::Error;
use serde_json::Value;

/// The version of the form; a description of another is refused.
const VERSION: u64 = 3;

fn refuse(because: impl ToString) -> Error {
    Error::Description { because: because.to_string() }
}

impl GemmDesc {
    /// The description as one line of JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the epilogue is no expression and so has no text.
    pub fn to_json(&self) -> Result<String, Error> {
        self.epilogue.check()?;
        let mut value = serde_json::to_value(self).map_err(refuse)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("version".to_owned(), VERSION.into());
        }
        serde_json::to_string(&value).map_err(refuse)
    }

    /// The description that JSON states. It is still to be checked.
    ///
    /// # Errors
    ///
    /// [`Error::Description`] when the text is not JSON, lacks a field, has one too many, or is of another version.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let mut value: Value = serde_json::from_str(text).map_err(refuse)?;
        let Value::Object(fields) = &mut value else {
            return Err(refuse("it is not an object of fields"));
        };
        match fields.remove("version") {
            Some(version) if version == VERSION => {}
            Some(version) => return Err(refuse(format!("its version is {version}, and this library reads {VERSION}"))),
            None => return Err(refuse(format!("it has no field `version`, which is {VERSION}"))),
        }
        serde_json::from_value(value).map_err(refuse)
    }
}
