//! The element types of a product.

use super::ElementKind;
use crate::operand::framed;

/// The element types of one GEMM, as values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Combined {
    /// Of A.
    pub a: ElementKind,
    /// Of B.
    pub b: ElementKind,
    /// Of the accumulator.
    pub accumulator: ElementKind,
    /// Of C and D.
    pub c: ElementKind,
}

impl Combined {
    const fn swapped(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }
}

framed!(Combined);
