//! A transpose's description as JSON: every field by its name, as suites have it under `desc`.
//! Unknown fields are refused.

use super::desc::TransposeDesc;
use crate::{desc::json::refuse, error::Error};

impl TransposeDesc {
    /// The description as one line of JSON.
    ///
    /// # Errors
    /// [`Error::Description`] when it cannot be written.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(refuse)
    }

    /// The description that JSON states. It is still to be checked.
    ///
    /// # Errors
    /// [`Error::Description`] when the text is not JSON, lacks a field, or has one too many.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(refuse)
    }
}
