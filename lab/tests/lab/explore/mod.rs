//! Exploration: spaces compared with brute force, samples, logs truncated at every byte, and trials
//! on a fake device.

mod compile;
mod fake;
#[cfg(feature = "cuda")]
mod fits;
mod log;
mod space;
mod trials;

use falchion::{
    arch::{ArchKind, OpKind},
    internals::nest::Request,
    nest::GemmDesc,
};

/// Returns the default SIMT description of types and layouts on sm80.
fn base(a: &str, b: &str, c: &str) -> GemmDesc {
    let read = |text: &str| Some(text.parse().expect("a matrix type"));
    let op = Some(OpKind::Simt);
    let request = Request { a: read(a), b: read(b), c: read(c), op, ..Request::default() };
    request.resolve(ArchKind::Sm80).expect("a default").desc
}
