//! Descriptions as JSON, in the user's frame: the user's A, B, and C, the family by its name, and
//! its knobs in the words of their flags.
//!
//! ```
//! use falchion::prelude::*;
//!
//! let desc = Gemm::<f32, RowMajor, f32, RowMajor, f32, ColMajor>::DESC;
//! let text = desc.to_json()?;
//! assert!(text.starts_with(r#"{"version":4,"a":"f32:row","b":"f32:row","c":"f32:col","accumulator":"f32""#));
//! assert!(text.contains(r#""family":{"simt":{"threadblock":"256x128x8","#));
//! assert_eq!(GemmDesc::from_json(&text)?, desc);
//! # Ok::<(), falchion::Error>(())
//! ```

mod words;

use self::words::KnobWords;
use super::{
    class::{Class, GemmMode},
    gemm_desc::{FamilyDesc, GemmDesc},
    knobs::{self, families},
};
use crate::{
    arch::{ArchKind, OpKind},
    epilogue::EpilogueDesc,
    error::Error,
    layout::MatrixType,
    numeric::{Combined, ComputeKind, ElementKind},
    operand::Frame,
};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Version number of the form.
const VERSION: u64 = 4;

/// The JSON form of a description.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    a: MatrixType,
    b: MatrixType,
    c: MatrixType,
    accumulator: ElementKind,
    compute: ComputeKind,
    op: OpKind,
    arch: ArchKind,
    #[serde(default, skip_serializing_if = "is_gemm")]
    mode: GemmMode,
    epilogue: EpilogueDesc,
    /// Whether the kernel computes the transposed GEMM, with A and B swapped.
    exchanged: bool,
    family: Family,
}

/// Returns whether `mode` is the default, which JSON omits.
fn is_gemm(mode: &GemmMode) -> bool {
    *mode == GemmMode::Gemm
}

macro_rules! in_words {
    ($_:tt $($(#[doc = $doc:literal])* $Family:ident $room:ident $Desc:ident $Knobs:ident;)*) => {
        /// A family and the words of its knobs.
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Family {
            $($Family(KnobWords),)*
        }

        impl From<FamilyDesc> for Family {
            fn from(family: FamilyDesc) -> Self {
                let words = KnobWords::from_pins(&family.pins());
                match family {
                    $(FamilyDesc::$Family(_) => Self::$Family(words),)*
                }
            }
        }

        impl TryFrom<Family> for FamilyDesc {
            type Error = String;

            fn try_from(family: Family) -> Result<Self, String> {
                match family {
                    $(Family::$Family(words) => words.read(knobs::$Knobs::NAMES, knobs::$Knobs::all).map(Self::$Family),)*
                }
            }
        }
    };
}
families!($ in_words);

impl From<GemmDesc> for Document {
    fn from(desc: GemmDesc) -> Self {
        let (types, orders, class) = (desc.user_types(), desc.orders(), &desc.class);
        Self {
            version: VERSION,
            a: MatrixType { element: types.a, order: orders.a },
            b: MatrixType { element: types.b, order: orders.b },
            c: MatrixType { element: types.c, order: orders.c },
            accumulator: class.accumulator,
            compute: class.compute,
            op: class.op,
            arch: class.arch,
            mode: class.mode,
            epilogue: class.output.epilogue.leave(desc.frame),
            exchanged: desc.frame.swapped,
            family: desc.family_of_user().into(),
        }
    }
}

impl TryFrom<Document> for GemmDesc {
    type Error = String;

    fn try_from(document: Document) -> Result<Self, String> {
        let Document {
            version,
            a,
            b,
            c,
            accumulator,
            compute,
            op,
            arch,
            mode,
            epilogue,
            exchanged,
            family,
        } = document;
        if version != VERSION {
            return Err(other_version(version));
        }
        let types = Combined { a: a.element, b: b.element, accumulator, c: c.element };
        let mut class = Class::new(op, arch, types, [a.order, b.order]);
        (class.compute, class.output.epilogue, class.mode) = (compute, epilogue, mode);
        // The order of the user's D and the bit determine the order of the kernel's D.
        let bit = Frame { swapped: exchanged, ..Frame::USER };
        let frame = Frame::USER.with_d_order(c.order.enter(bit));
        Ok(Self { class, frame, family: family.try_into()? }.enter(bit))
    }
}

impl Serialize for GemmDesc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::from(*self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GemmDesc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Document::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

fn other_version(version: impl fmt::Display) -> String {
    format!(
        "its field `version` is {version}, and only version {VERSION} is supported; write the description again with `falchion gemm --explain --json`"
    )
}

/// Returns the error for an invalid text of a description.
pub(crate) fn refuse(because: impl ToString) -> Error {
    Error::Description { because: because.to_string() }
}

impl GemmDesc {
    /// Returns the description as one line of JSON.
    ///
    /// # Errors
    /// [`Error::Refused`] if the epilogue is not an expression and therefore has no text.
    pub fn to_json(&self) -> Result<String, Error> {
        self.class.output.epilogue.check()?;
        serde_json::to_string(self).map_err(refuse)
    }

    /// Reads a description from JSON of version 4. The result is not checked.
    ///
    /// # Errors
    /// [`Error::Description`] if the text is not JSON, has another version, or has a missing,
    /// unknown, or duplicate field.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        /// Only the version; other fields are ignored.
        #[derive(Deserialize)]
        struct Version {
            version: Option<serde_json::Value>,
        }
        if !text.trim_start().starts_with('{') {
            return Err(refuse("it is not an object of fields"));
        }
        let Version { version } = serde_json::from_str(text).map_err(refuse)?;
        match version {
            Some(version) if version == VERSION => serde_json::from_str(text).map_err(refuse),
            Some(version) => Err(refuse(other_version(version))),
            None => Err(refuse(format!("it has no field `version`, which is {VERSION}"))),
        }
    }
}
