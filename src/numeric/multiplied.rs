//! The elements of an operand that an MMA multiplies.

use super::{ElementKind, EmulationKind, transform::TransformId};
use core::fmt;

/// The elements of an operand that the MMA multiplies: their type, number of terms, and origin.
///
/// | value | element type that the instruction reads | terms | origin |
/// |---|---|---|---|
/// | [`Stored`](Self::Stored) | the stored type | 1 | memory |
/// | [`Terms`](Self::Terms): `bf16x6`, `bf16x3`, `f16x3` | bf16 or f16 | 2 or 3 | a pass before the kernel |
/// | [`Terms`](Self::Terms): `tf32x3`, `bf16x1` | tf32 or bf16 | 2 or 1 | a built-in transform in registers |
/// | [`Transformed`](Self::Transformed) | the transform's | 1 | a user's transform in registers |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Multiplied {
    /// The stored elements.
    #[default]
    Stored,
    /// Terms of `f32`.
    Terms(EmulationKind),
    /// The results of a user's [`Transform`](crate::numeric::Transform).
    Transformed(TransformId),
}

impl Multiplied {
    /// Returns the elements that an MMA multiplies under an emulation of f32.
    pub const fn from_emulation(emulation: EmulationKind) -> Self {
        match emulation {
            EmulationKind::None => Self::Stored,
            emulation => Self::Terms(emulation),
        }
    }

    /// Returns the emulation of f32, or [`EmulationKind::None`].
    pub const fn emulation(self) -> EmulationKind {
        match self {
            Self::Terms(emulation) => emulation,
            Self::Stored | Self::Transformed(_) => EmulationKind::None,
        }
    }

    /// Returns the emulation of the first operand that has one.
    pub(crate) const fn emulation_of([a, b]: [Self; 2]) -> EmulationKind {
        match a.emulation() {
            EmulationKind::None => b.emulation(),
            emulation => emulation,
        }
    }

    /// Returns the user's transform.
    pub const fn transform(self) -> Option<TransformId> {
        match self {
            Self::Transformed(id) => Some(id),
            Self::Stored | Self::Terms(_) => None,
        }
    }

    /// Returns the element type that the instruction reads, for an operand of type `stored`.
    pub const fn element(self, stored: ElementKind) -> ElementKind {
        match self {
            Self::Transformed(id) => id.multiplied,
            _ => match self.emulation().term_type() {
                Some(term) => term,
                None => stored,
            },
        }
    }

    /// Returns the number of terms per element.
    pub const fn terms(self) -> u32 {
        self.emulation().terms()
    }

    /// Returns whether a warp computes the terms or the elements from its fragments.
    pub const fn in_registers(self) -> bool {
        match self {
            Self::Stored => false,
            Self::Terms(emulation) => emulation.in_registers(),
            Self::Transformed(_) => true,
        }
    }
}

impl fmt::Display for Multiplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored => f.write_str("stored"),
            Self::Terms(emulation) => f.write_str(emulation.name()),
            Self::Transformed(id) => id.fmt(f),
        }
    }
}
