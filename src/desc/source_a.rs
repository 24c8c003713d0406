//! Where tensor cores of Hopper find A: in shared memory, or in registers.

use super::knobs::GemmDesc;
use crate::{arch::OpKind, numeric::SplitKind, refusal::Refusal, warp::mma_warpgroup::WgmmaInput};

/// Where `wgmma` finds A, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum SourceKind {
    /// In a stage in shared memory, along K where its elements have 8 or 32 bits.
    #[default]
    Shared,
    /// In registers, to which a consumer brings an A of 8 or 32 bits that is contiguous along M.
    Registers,
}

impl SourceKind {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Shared, Self::Registers];

    /// The name, as the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Registers => "registers",
        }
    }
}

/// Where `wgmma` finds A, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where A is when it is multiplied",
    note = "write FromShared or FromRegisters"
)]
pub trait OperandSource: 'static {
    /// The same choice, as a value.
    const KIND: SourceKind;
}

/// [`SourceKind::Shared`].
#[derive(Clone, Copy, Debug)]
pub struct FromShared;

/// [`SourceKind::Registers`].
#[derive(Clone, Copy, Debug)]
pub struct FromRegisters;

impl OperandSource for FromShared {
    const KIND: SourceKind = SourceKind::Shared;
}

impl OperandSource for FromRegisters {
    const KIND: SourceKind = SourceKind::Registers;
}

impl GemmDesc {
    /// Whether consumers bring A to registers before they multiply it.
    pub const fn a_from_registers(&self) -> bool {
        matches!(self.source_a, SourceKind::Registers)
    }

    /// Whether A can come from registers, where it is to: 8 or 32 bits an element, contiguous along M, on Hopper's tensor cores.
    pub(crate) const fn check_source_a(&self) -> Result<(), Refusal> {
        if !self.a_from_registers() {
            return Ok(());
        }
        let either = match WgmmaInput::of(self.a) {
            Some(input) => input.reads_along_mn(),
            None => false,
        };
        let field = if !self.mainloop.has_roles() || !matches!(self.op, OpKind::TensorOp) {
            "source_a = registers"
        } else if !matches!(self.split, SplitKind::None) {
            "source_a = registers of parts, which lie along K,"
        } else if self.promotes() {
            "source_a = registers beside promotion"
        } else if either {
            "source_a = registers of 16-bit elements, which tensor cores read in either order,"
        } else if self.layout_a.is_row() {
            "source_a = registers where A is contiguous along K"
        } else {
            return Ok(());
        };
        Err(Refusal::NoChoice { field, mainloop: self.mainloop.name(), nearest: SourceKind::Shared.name() })
    }
}
