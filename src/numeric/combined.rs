//! Element types of one GEMM.

use super::ElementKind;
use crate::shape::framed;

/// Element types of one GEMM, as values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Combined {
    /// Element type of A.
    pub a: ElementKind,
    /// Element type of B.
    pub b: ElementKind,
    /// Accumulator type.
    pub accumulator: ElementKind,
    /// Element type of C and D.
    pub c: ElementKind,
}

impl Combined {
    pub(crate) const fn swapped(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }
}

framed!(Combined);
