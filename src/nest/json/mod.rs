//! Descriptions as JSON, in the user's frame: the user's A, B, and C, the MMA by its name, and the
//! knobs in the words of their flags. An operand whose stored elements the MMA does not multiply is
//! an object with the fields `stored` and `multiplied`.
//!
//! ```
//! use falchion::prelude::*;
//!
//! let desc = Gemm::<f32, RowMajor, f32, RowMajor, f32, ColMajor>::DESC;
//! let text = desc.to_json()?;
//! assert!(text.starts_with(r#"{"version":5,"a":"f32:row","b":"f32:row","c":"f32:col","accumulator":"f32""#));
//! assert!(text.contains(r#""mma":{"simt":{"threadblock":"256x128x8","#));
//! assert_eq!(GemmDesc::from_json(&text)?, desc);
//! # Ok::<(), falchion::Error>(())
//! ```

mod operand;
mod words;

use crate::{
    Error,
    arch::ArchKind,
    epilogue::EpilogueDesc,
    layout::MatrixType,
    nest::{
        class::{Class, GemmMode},
        gemm_desc::GemmDesc,
        json::{operand::OperandWords, words::MmaWords},
        knobs::Knobs,
    },
    numeric::{Combined, ComputeKind, ElementKind},
    shape::{Axis, Frame},
};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Version number of the form.
const VERSION: u64 = 5;

/// The JSON form of a description.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    a: OperandWords,
    b: OperandWords,
    c: MatrixType,
    accumulator: ElementKind,
    compute: ComputeKind,
    arch: ArchKind,
    #[serde(default, skip_serializing_if = "is_gemm")]
    mode: GemmMode,
    /// Axis of D whose lines an index list selects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scattered: Option<Axis>,
    /// Whether C or D has another order than the layout of D, or no stride of 1.
    #[serde(default, skip_serializing_if = "operand::is_false")]
    strided: bool,
    epilogue: EpilogueDesc,
    /// Whether the kernel computes the transposed GEMM, with A and B swapped.
    #[serde(alias = "exchanged")]
    swapped: bool,
    mma: MmaWords,
}

/// Returns whether `mode` is the default, which JSON omits.
fn is_gemm(mode: &GemmMode) -> bool {
    *mode == GemmMode::Gemm
}

impl From<GemmDesc> for Document {
    fn from(desc: GemmDesc) -> Self {
        let (types, orders, knobs) = (desc.user_types(), desc.orders(), desc.user_knobs());
        let [multiplied_a, multiplied_b] = knobs.multiplied;
        let addressing = desc.addressing().leave(desc.frame);
        Self {
            version: VERSION,
            a: OperandWords {
                stored: MatrixType { element: types.a, order: orders.a },
                multiplied: multiplied_a,
                indexed: addressing.gathers[0],
            },
            b: OperandWords {
                stored: MatrixType { element: types.b, order: orders.b },
                multiplied: multiplied_b,
                indexed: addressing.gathers[1],
            },
            c: MatrixType { element: types.c, order: orders.c },
            accumulator: types.accumulator,
            compute: desc.output.compute,
            arch: desc.arch,
            mode: desc.work.mode.leave(desc.frame),
            scattered: addressing.scatters,
            strided: addressing.strided,
            epilogue: desc.epilogue.leave(desc.frame),
            swapped: desc.frame.swapped,
            mma: MmaWords::from_knobs(&knobs),
        }
    }
}

impl TryFrom<Document> for GemmDesc {
    type Error = String;

    fn try_from(document: Document) -> Result<Self, String> {
        let Document {
            version, a, b, c, accumulator, compute, arch, mode, scattered, strided, ..
        } = document;
        let Document { epilogue, swapped, mma, .. } = document;
        if version != VERSION {
            return Err(other_version(version));
        }
        let (stored_a, stored_b) = (a.stored, b.stored);
        let types =
            Combined { a: stored_a.element, b: stored_b.element, accumulator, c: c.element };
        let multiplied = [a.multiplied, b.multiplied];
        let knobs = Knobs { multiplied, ..mma.read()? };
        let mut class = Class::new(knobs.mma.op(), arch, types, [stored_a.order, stored_b.order]);
        (class.compute, class.output.epilogue, class.mode) = (compute, epilogue, mode);
        (class.a.indexed, class.b.indexed, class.output.indexed) =
            (a.indexed, b.indexed, scattered);
        class.output.strided = strided;
        // The order of the user's D and the bit determine the order of the kernel's D.
        let bit = Frame { swapped, ..Frame::USER };
        let frame = Frame::USER.with_d_order(c.order.enter(bit));
        Ok(Self { frame, ..Self::new(&class, &knobs) }.enter(bit))
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
        self.epilogue.check()?;
        serde_json::to_string(self).map_err(refuse)
    }

    /// Reads a description from JSON of version 5. The result is not checked.
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
