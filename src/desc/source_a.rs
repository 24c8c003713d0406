//! Where tensor cores of Hopper find A: in shared memory, or in registers.

use super::knobs::GemmDesc;
use crate::{
    arch::OpKind,
    layout::Order,
    numeric::SplitKind,
    operand::OperandKind,
    refusal::{Field, Refusal, Word},
    warp::mma_warpgroup::WgmmaInput,
};

/// Where `wgmma` finds A.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum SourceKind {
    /// In a stage in shared memory, along K where its elements have 8 or 32 bits.
    #[default]
    Shared,
    /// In registers, to which a consumer brings an A of 8 or 32 bits that is contiguous along M.
    Registers,
    /// Registers where a kernel of the other knobs can take it from there, else shared memory. No description has it: one that is made of
    /// knobs has what it comes to.
    Auto,
}

impl SourceKind {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Shared, Self::Registers, Self::Auto];

    /// The name, as the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Registers => "registers",
            Self::Auto => "auto",
        }
    }
}

impl GemmDesc {
    /// Whether consumers bring A to registers before they multiply it.
    pub const fn a_from_registers(&self) -> bool {
        matches!(self.source_a, SourceKind::Registers)
    }

    /// The description of the same product whose A can come from registers, where it is to: A and B change places once more where it is B that is
    /// not along K, and D is column-major then, as the kernel sees it.
    #[must_use]
    pub(crate) const fn settled(self) -> Self {
        match self.source_a {
            SourceKind::Shared => self,
            SourceKind::Registers => self.with_a_along_m(),
            SourceKind::Auto => {
                let registers = Self { source_a: SourceKind::Registers, ..self }.with_a_along_m();
                if registers.check().is_ok() { registers } else { Self { source_a: SourceKind::Shared, ..self } }
            }
        }
    }

    /// With A and B in each other's place where B is contiguous along N and A along K.
    const fn with_a_along_m(self) -> Self {
        let is_b = self.layout_a.is_row() && self.layout_b.is_row() && self.layout_c.is_row();
        if is_b { Self { layout_c: Order::Col, ..self.exchange() } } else { self }
    }

    /// The description of the same product with a row-major D, as the kernel sees it, and A in shared memory where it was not.
    #[must_use]
    pub(crate) const fn of_rows(self) -> Self {
        if self.layout_c.is_row() {
            return self;
        }
        Self { layout_c: Order::Row, source_a: SourceKind::Shared, ..self.exchange() }
    }

    /// Whether A can come from registers, where it is to: 8 or 32 bits an element, contiguous along M, on Hopper's tensor cores.
    pub(crate) const fn check_source_a(&self) -> Result<(), Refusal> {
        if matches!(self.source_a, SourceKind::Auto) {
            let field = Field::SourceUndecided;
            return Err(Refusal::NoChoice {
                field,
                mainloop: Word(self.mainloop.name()),
                nearest: Word(SourceKind::Shared.name()),
            });
        }
        if !self.a_from_registers() {
            // Nothing else takes a column-major D: A and B change places for it.
            return match self.layout_c {
                Order::Row => Ok(()),
                Order::Col => {
                    let (mainloop, nearest) = (Word(self.mainloop.name()), Word(Order::Row.name()));
                    Err(Refusal::NoChoice { field: Field::ColumnMajorDFromShared, mainloop, nearest })
                }
            };
        }
        let either = match WgmmaInput::of(self.a) {
            Some(input) => input.reads_along_mn(),
            None => false,
        };
        let field = if !self.mainloop.has_roles() || !matches!(self.op, OpKind::TensorOp) {
            Field::FromRegisters
        } else if !matches!(self.split, SplitKind::None) {
            Field::FromRegistersOfParts
        } else if self.promotes() {
            Field::FromRegistersPromoted
        } else if either {
            Field::FromRegistersOf16Bits
        } else if self.layout_a.is_row() {
            Field::FromRegistersAlongK(OperandKind::A)
        } else {
            return Ok(());
        };
        Err(Refusal::NoChoice { field, mainloop: Word(self.mainloop.name()), nearest: Word(SourceKind::Shared.name()) })
    }
}
