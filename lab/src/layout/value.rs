//! What an expression stands for, and which of it an operation takes.

use core::fmt;
use falchion::layout::algebra::{Composed, Int, Layout, LayoutError, Swizzle};

/// What an expression stands for. Prints on one line, which is an expression of the same value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A layout, behind the offset at which a slice or a tile begins, and behind a swizzle, where
    /// it has them.
    Layout(Composed),
    /// A swizzle alone.
    Swizzle(Swizzle),
    /// An offset, a size, a rank.
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

/// A layout that nothing stands before.
///
/// # Errors
/// Why what has an offset or a swizzle does not do, as a sentence.
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

/// `offset o layout`.
///
/// # Errors
/// A layout behind a swizzle, and an offset that takes it beyond 64 bits, as a sentence.
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

/// `left o right`: the layout's own meaning, from the offset of the right one on.
///
/// # Errors
/// A composition that is no layout, as a sentence.
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
