//! Sums whose factors or products are not finite in binary64.

use super::{
    number,
    reference::{Operand, Sum, compensated, counted},
};
use falchion::Error;

/// Returns row or column `at` of an operand, which is read on first use.
pub(super) fn line<'l>(
    lines: &'l mut [Option<Vec<f64>>],
    of: &Operand<'_>,
    mn: &[usize],
    at: usize,
    k: usize,
) -> Result<&'l [f64], Error> {
    let place = &mut lines[at];
    if place.is_none() {
        let mut line = Vec::with_capacity(k);
        let start = mn[at] * of.strides.0;
        number::read(of.slice, (0..k).map(|k| start + k * of.strides.1), &mut line)?;
        *place = Some(line);
    }
    Ok(place.as_deref().unwrap_or_default())
}

/// Computes a sum again whose factors or products are not finite. The finite products are scaled so
/// that they do not overflow, and the others decide whether the sum is an infinity or NaN.
pub(super) fn scaled(sum: Sum, [a, b]: [&[f64]; 2], least: [f64; 2]) -> Sum {
    let down = 2f64.powi(-300);
    let (mut value, mut remainder, mut magnitude, mut infinite) = (0.0, 0.0, 0.0, 0.0);
    for (&x, &y) in a.iter().zip(b) {
        if x.is_finite() && y.is_finite() {
            compensated(&mut value, &mut remainder, x * down, y * down);
            magnitude += counted(x, least[0]) * down * (counted(y, least[1]) * down);
        } else {
            infinite += x * y;
        }
    }
    let value = if infinite == 0.0 { value + remainder } else { infinite };
    Sum { value, magnitude, scale: 2f64.powi(600), ..sum }
}
