//! Conversion of flags to a request.

use crate::{
    args::{ClassArgs, KernelArgs},
    failure::Failure,
    text,
};
use falchion::{arch::OpRequest, internals::nest::Request, nest::GemmDesc};
use serde_json::Value;
use std::path::Path;

impl ClassArgs {
    /// The request of the flags.
    pub fn request(&self) -> Result<Request, Failure> {
        let description = self.desc.as_deref().map(description).transpose()?;
        Ok(Request {
            a: self.a,
            b: self.b,
            c: self.c,
            accumulator: self.acc,
            op: self.op.and_then(OpRequest::kind),
            arch: self.arch,
            description,
            ..Request::default()
        })
    }
}

impl KernelArgs {
    /// The request of the flags, including knobs.
    pub fn request(&self) -> Result<Request, Failure> {
        Ok(Request { knobs: self.knobs.0.clone(), ..self.class.request()? })
    }

    /// Whether all flags are absent.
    pub fn is_silent(&self) -> bool {
        let Self { class: ClassArgs { a, b, c, acc, op, arch, desc }, knobs } = self;
        [a, b, c].iter().all(|matrix| matrix.is_none())
            && (acc.is_none()
                && op.is_none()
                && arch.is_none()
                && desc.is_none()
                && knobs.0.is_empty())
    }
}

/// Reads the description of `--desc`: JSON or a JSON file.
fn description(given: &str) -> Result<GemmDesc, Failure> {
    Ok(GemmDesc::from_json(&description_text(given)?)?)
}

/// Reads the JSON text of `--desc`, or of the file that `--desc` names. The output of `--json` has
/// the text in its field `description`.
pub fn description_text(given: &str) -> Result<String, Failure> {
    let text = if given.trim_start().starts_with('{') {
        given.to_owned()
    } else {
        text::read("the description", Path::new(given))?
    };
    // The parser of descriptions refuses text that is not JSON, with line and column.
    let printed = serde_json::from_str::<Value>(&text).ok();
    let inner = printed.as_ref().and_then(|printed| printed.get("description"));
    Ok(inner.map_or(text, Value::to_string))
}
