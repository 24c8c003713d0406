//! Operands as JSON: the text of the stored matrix, or an object that also states what the MMA
//! multiplies, and whether an index list selects the rows of A or the columns of B.
//!
//! ```text
//! "f32:row"                                       the stored elements are multiplied
//! {"stored":"f32:row","multiplied":"tf32x3"}      terms, or a transform's identifier
//! {"stored":"f32:row","multiplied":"stored","indexed":true}    an index list selects the lines
//! ```

use crate::{
    layout::MatrixType,
    nest::words::Words,
    numeric::{EmulationKind, Multiplied, TransformId},
};
use serde::{Deserialize, Serialize, Serializer, de};
use serde_json::Value;

/// An operand of a description.
#[derive(Clone, Copy)]
pub(super) struct OperandWords {
    /// Element type and layout in memory.
    pub stored: MatrixType,
    /// The elements that the MMA multiplies.
    pub multiplied: Multiplied,
    /// Whether an index list selects the rows of A, or the columns of B.
    pub indexed: bool,
}

/// The object of an operand.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    stored: MatrixType,
    multiplied: String,
    #[serde(default, skip_serializing_if = "is_false")]
    indexed: bool,
}

/// Returns whether a field is the default, which JSON omits.
pub(super) fn is_false(field: &bool) -> bool {
    !*field
}

impl Serialize for OperandWords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { stored, multiplied, indexed } = *self;
        match (multiplied, indexed) {
            (Multiplied::Stored, false) => stored.serialize(serializer),
            (multiplied, indexed) => {
                let multiplied = multiplied.to_string();
                Fields { stored, multiplied, indexed }.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for OperandWords {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if !value.is_object() {
            let stored = MatrixType::deserialize(value).map_err(de::Error::custom)?;
            return Ok(Self { stored, multiplied: Multiplied::Stored, indexed: false });
        }
        let Fields { stored, multiplied, indexed } =
            Fields::deserialize(value).map_err(de::Error::custom)?;
        let multiplied = read(&multiplied).map_err(de::Error::custom)?;
        Ok(Self { stored, multiplied, indexed })
    }
}

/// Reads what the MMA multiplies: `stored`, an emulation, or the identifier of a transform.
fn read(text: &str) -> Result<Multiplied, String> {
    match (text, EmulationKind::read(text), TransformId::read(text)) {
        ("stored", ..) => Ok(Multiplied::Stored),
        (_, Ok(emulation), _) => Ok(Multiplied::from_emulation(emulation)),
        (_, _, Ok(id)) => Ok(Multiplied::Transformed(id)),
        (_, Err(emulations), Err(transform)) => Err(format!(
            "multiplied: `{text}` is not stored, an emulation ({emulations}), or a transform ({transform})"
        )),
    }
}
