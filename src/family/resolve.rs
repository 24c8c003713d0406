//! From types and pins to a description: what is not pinned is the row's.

use super::default_gemm_configuration::default_gemm_configurations;
use crate::{
    desc::{GemmDesc, Knobs, Pins, Typed},
    numeric::Combined,
    refusal::Refusal,
};

/// The description of types, the kernel's, and of pins, which belong to the user's A and B.
///
/// # Errors
///
/// A [`Refusal`] when no row has the types, or when the description is no kernel.
pub(crate) const fn resolve(types: Typed, pins: Pins) -> Result<GemmDesc, Refusal> {
    let (knobs, _) = match default_gemm_configurations(types.op, types.arch, types.user()) {
        Ok(row) => row,
        Err(refusal) => return Err(refusal),
    };
    let pinned = knobs.pinned(pins);
    let desc = GemmDesc::from_parts(types, if types.exchanged { pinned.exchange() } else { pinned }).settled();
    match desc.check() {
        Ok(()) => Ok(desc),
        Err(refusal) => Err(refusal),
    }
}

/// The row's other knobs, among which a problem chooses: none where a knob is pinned.
pub(crate) const fn others(types: Typed, pins: Pins) -> &'static [Knobs] {
    match default_gemm_configurations(types.op, types.arch, types.user()) {
        Ok((_, others)) if pins.is_none() => others,
        _ => &[],
    }
}

impl Typed {
    /// The element types as the user has them.
    const fn user(&self) -> Combined {
        let (a, b) = if self.exchanged { (self.b, self.a) } else { (self.a, self.b) };
        Combined { a, b, accumulator: self.accumulator, c: self.c }
    }
}
