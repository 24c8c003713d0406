//! What flags say of a kernel, as the library wants it.

use crate::knob_flags::note_old_names;
use crate::{
    args::{ClassArgs, KernelArgs},
    failure::Failure,
    text,
};
use falchion::{desc::GemmDesc, internals::family::Request};
use std::path::Path;

impl ClassArgs {
    /// What the flags ask of the library.
    pub fn request(&self) -> Result<Request, Failure> {
        let description = self.desc.as_deref().map(description).transpose()?;
        Ok(Request {
            a: self.a,
            b: self.b,
            c: self.c,
            accumulator: self.acc,
            op: self.op,
            arch: self.arch,
            description,
            ..Request::default()
        })
    }
}

impl KernelArgs {
    /// What the flags ask of the library.
    pub fn request(&self) -> Result<Request, Failure> {
        note_old_names(self.knobs.0.iter().map(|knob| knob.0.as_str()));
        Ok(Request { knobs: self.knobs.0.clone(), ..self.class.request()? })
    }

    /// Whether nothing is said.
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

/// A description: JSON, or a file of JSON.
fn description(text: &str) -> Result<GemmDesc, Failure> {
    if text.trim_start().starts_with('{') {
        return Ok(GemmDesc::from_json(text)?);
    }
    Ok(GemmDesc::from_json(&text::read("the description", Path::new(text))?)?)
}
