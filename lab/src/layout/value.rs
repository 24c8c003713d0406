//! The values of expressions, and their use as operands.

use core::fmt;
use falchion::layout::algebra::{Composed, Int, Layout, LayoutError, Swizzle};

/// The value of an expression. It prints as one line, which is an expression of the same value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A layout, optionally with the offset at which a slice or a tile begins, and with a swizzle.
    Layout(Composed),
    /// A swizzle without a layout.
    Swizzle(Swizzle),
    /// A number, such as an offset, a size, or a rank.
    Number(u64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(layout) => layout.fmt(f),
            Self::Swizzle(swizzle) => swizzle.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl From<Layout> for Value {
    fn from(layout: Layout) -> Self {
        Self::Layout(layout.into())
    }
}

/// Returns a layout without an offset and without a swizzle.
///
/// # Errors
/// A sentence if the layout has an offset or a swizzle.
pub(super) fn alone(layout: Composed) -> Result<Layout, String> {
    if layout.swizzle != Swizzle::IDENTITY {
        return Err("a layout belongs here, and what is behind a swizzle is none".into());
    }
    if layout.offset.value != 0 {
        return Err(format!(
            "a layout that begins at 0 belongs here, and {layout} begins at {}: complements, inverses, products, modes of a tuple, \
             tilers and threads have no offset",
            layout.offset.value
        ));
    }
    Ok(layout.layout)
}

/// Returns `offset o layout`.
///
/// # Errors
/// A sentence if the layout has a swizzle, or if the offset exceeds 64 bits.
pub(super) fn moved(layout: Composed, by: Int) -> Result<Composed, String> {
    if layout.swizzle != Swizzle::IDENTITY {
        let Composed { swizzle, .. } = layout;
        return Err(format!(
            "an offset before a swizzle is no layout: it belongs behind, as {by} does in {swizzle} o {by} o 4:1"
        ));
    }
    let offset = if layout.offset == Int::fixed(0) { Ok(by) } else { layout.offset.plus(by) };
    offset.and_then(|offset| Composed::new(layout.swizzle, offset, layout.layout)).map_err(sentence)
}

/// Returns `left o right`, which begins at the offset of the right layout.
///
/// # Errors
/// A sentence if the composition is not a layout.
pub(super) fn composed(left: &Composed, right: &Composed) -> Result<Composed, String> {
    if right.swizzle != Swizzle::IDENTITY {
        return Err(format!(
            "{left} is composed with a layout, and what is behind {} is none",
            right.swizzle
        ));
    }
    left.inside(|layout| layout.compose_from(right.offset.value, &right.layout)).map_err(sentence)
}

fn sentence(refusal: LayoutError) -> String {
    refusal.to_string()
}
