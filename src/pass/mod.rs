//! Kernels that move or rewrite an operand: before a product, or for themselves.
//!
//! A [`PassDesc`] is compiled; a [`Pass`] is what one call does with it: where it reads, where it writes, and what it is launched with.

pub mod relay;
pub mod split;
pub mod transpose;

pub use relay::{RELAY, Realignment, RelayDesc, RelayMap, RelayShapes};
pub use split::{PIECE, PIECES, SplitPass, SplitPassDesc, TILE};

use crate::{
    arch::Machine,
    call::{Launch, Problem, Routes, SplitLayout},
    codegen::TranslationUnit,
    desc::GemmDesc,
    numeric::SplitKind,
    operand::OperandKind,
    refusal::{Operand, Refusal, Route},
};
use transpose::{Choice, Combine, Strided, TransposeDesc, TransposeShapes};

/// A kernel that moves or rewrites an operand, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PassDesc {
    /// Rows to an aligned pitch.
    Repack(RelayDesc),
    /// Rows to columns.
    Transpose(TransposeDesc),
    /// `f32` to parts.
    Decompose(SplitPassDesc),
}

impl PassDesc {
    /// The text that is compiled. Fingerprints are for test builds; they cost compile time and no run time.
    pub fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        match self {
            Self::Repack(desc) => desc.translation_unit(with_fingerprints),
            Self::Transpose(desc) => transpose::translation_unit(desc, with_fingerprints),
            Self::Decompose(desc) => desc.translation_unit(with_fingerprints),
        }
    }

    /// Shared memory that is asked for at the launch, in bytes.
    pub const fn shared_bytes(&self) -> u32 {
        match self {
            Self::Transpose(desc) => desc.smem_bytes(),
            Self::Repack(_) | Self::Decompose(_) => 0,
        }
    }

    /// Whether this is a kernel for `machine`.
    ///
    /// # Errors
    ///
    /// Those of [`TransposeDesc::check_on`].
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        match self {
            Self::Transpose(desc) => desc.check_on(machine),
            Self::Repack(_) | Self::Decompose(_) => Ok(()),
        }
    }

    /// The kernels that may run before that of a description, whatever the call.
    pub fn before(desc: &GemmDesc) -> Vec<Self> {
        let Some(desc) = desc.warp_specialized() else { return Vec::new() };
        if desc.knobs.emulation.splits() {
            return vec![Self::Decompose(SplitPassDesc::of(desc.knobs.emulation))];
        }
        let turned = OperandKind::BOTH.into_iter().find(|&operand| desc.reads_transposed(operand));
        let turned = turned.map(|operand| Choice::moves(desc.class.operand(operand).element.bytes_of(1)).map(Self::Transpose));
        core::iter::once(Self::Repack(RELAY)).chain(turned.into_iter().flatten()).collect()
    }
}

/// What a pass has to do in one call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pass {
    /// Rows at an address are copied to another.
    Repack(RelayShapes, [u64; 2]),
    /// A matrix at the first address is transposed to the last; B is at the second.
    Transpose(TransposeDesc, TransposeShapes, [u64; 3]),
    /// An operand, with its leading dimension and whether it is contiguous along K, becomes parts at an address.
    Decompose(SplitLayout, (u64, u64, bool), u64),
}

impl Pass {
    /// What becomes of an operand of a problem, which is in the kernel's frame, before the kernel reads it; `None` of one that is read where
    /// it lies. The workspace begins at `first`.
    ///
    /// # Errors
    ///
    /// [`Refusal::TooManyTiles`], [`Refusal::Overflow`]; those of a transpose.
    pub fn of(
        desc: &GemmDesc,
        operand: OperandKind,
        (routes, problem): (&Routes, &Problem),
        first: u64,
    ) -> Result<Option<Self>, Refusal> {
        let (way, view, element) = (routes.of_operand(operand), problem.operand(operand), desc.class.operand(operand).element);
        let (from, to) = (view.memory.address, first + way.offset);
        let order = problem.order(&desc.class, operand);
        let (leading, (length, lines)) = (view.leading(order), problem.lines(operand, order));
        let pass = match way.route {
            Route::Direct => return Ok(None),
            Route::Split => {
                let split = desc.warp_specialized().map_or(SplitKind::None, |desc| desc.knobs.emulation);
                let layout = SplitLayout { split, mn: problem.mn(operand), k: problem.k };
                Self::Decompose(layout, (from, leading as u64, order.along_k(operand)), to)
            }
            Route::Relaid => {
                let bytes = |elements: usize| element.matrix_bytes(elements as u64);
                let stride = if lines > 1 { bytes(leading) } else { 0 };
                let shapes = RelayShapes::new(lines as u64, bytes(length), stride, bytes(way.leading));
                let overflow =
                    Refusal::Overflow { operand: Operand::Workspace, rows: lines, columns: length, leading: way.leading };
                Self::Repack(shapes.ok_or(overflow)?, [from, to])
            }
            Route::Transposed => {
                let d = Strided::of(length, lines, Some(way.leading), None, element.matrix_elements(way.bytes) as usize);
                let a = Strided::of(lines, length, Some(leading), None, view.memory.length);
                let shapes = TransposeShapes { a, d, ..TransposeShapes::packed(lines, length) };
                let firsts = [from, 0, to].map(|address| element.matrix_elements(address));
                let desc = Choice::Auto.desc(Combine::Move, element.bytes_of(1), &shapes, firsts);
                desc.check()?;
                shapes.check(&desc)?;
                Self::Transpose(desc, shapes, [from, 0, to])
            }
        };
        pass.launches().try_for_each(|launch| launch.map(drop))?;
        Ok(Some(pass))
    }

    /// The kernel.
    pub const fn desc(&self) -> PassDesc {
        match self {
            Self::Repack(..) => PassDesc::Repack(RELAY),
            Self::Transpose(desc, ..) => PassDesc::Transpose(*desc),
            Self::Decompose(layout, ..) => PassDesc::Decompose(SplitPassDesc::of(layout.split)),
        }
    }

    /// What it is launched with, one launch after the other.
    ///
    /// # Errors
    ///
    /// [`Refusal::TooManyTiles`], of each that has too many blocks.
    pub fn launches(&self) -> impl Iterator<Item = Result<Launch, Refusal>> + '_ {
        let passes = match self {
            Self::Decompose(layout, ..) => SplitPass::of(layout.split),
            Self::Repack(..) | Self::Transpose(..) => &[SplitPass::Write],
        };
        passes.iter().map(|&pass| match self {
            Self::Repack(shapes, addresses) => RELAY.launch(shapes, *addresses),
            Self::Transpose(desc, shapes, addresses) => desc.launch(shapes, *addresses),
            Self::Decompose(layout, operand, workspace) => {
                SplitPassDesc::of(layout.split).launch(layout, *operand, *workspace, pass)
            }
        })
    }

    /// Where what is known of an operand's scaled rows begins, and the word of the first row that is refused: a call waits for what it says.
    pub const fn window(&self) -> Option<[u64; 2]> {
        match self {
            Self::Decompose(layout, _, workspace) if layout.split.scales() => {
                Some([*workspace + layout.lines_offset(), *workspace + layout.status_offset()])
            }
            _ => None,
        }
    }
}
