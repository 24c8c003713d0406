//! JSON for transpose descriptions. Each field has its own name, as under `desc` in suites. Unknown
//! fields are rejected.

use super::desc::TransposeDesc;
use crate::{desc::json::refuse, error::Error};

impl TransposeDesc {
    /// Parses a description. The caller must still check it.
    ///
    /// # Errors
    /// [`Error::Description`] if the text is not JSON, or if a field is missing or unknown.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(refuse)
    }
}
