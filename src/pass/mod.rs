//! Kernels that move or rewrite an operand: before a product, or for themselves.
//!
//! A [`PassDesc`] is compiled; a [`Pass`] is what one call does with it: where it reads, where it writes, and what it is launched with.

pub mod decompose;
pub mod repack;
pub mod transpose;

pub use decompose::{DecomposeDesc, DecomposePass, PIECE, PIECES, TILE};
pub use repack::{REPACK, Realignment, RepackDesc, RepackMap, RepackShapes};

use crate::{
    arch::Machine,
    call::{DecomposedLayout, Elements, Launch, Problem, Routes, View},
    codegen::TranslationUnit,
    desc::GemmDesc,
    layout::Order,
    numeric::EmulationKind,
    operand::OperandKind,
    refusal::{Operand, Refusal, Route},
};
use transpose::{Choice, Combine, TransposeDesc, TransposeProblem};

/// A kernel that moves or rewrites an operand, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PassDesc {
    /// Rows to an aligned pitch.
    Repack(RepackDesc),
    /// Rows to columns.
    Transpose(TransposeDesc),
    /// `f32` to parts.
    Decompose(DecomposeDesc),
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
        if desc.knobs.emulation.decomposes() {
            return vec![Self::Decompose(DecomposeDesc::of(desc.knobs.emulation))];
        }
        let turned = OperandKind::BOTH.into_iter().find(|&operand| desc.reads_transposed(operand));
        let turned = turned.map(|operand| Choice::moves(desc.class.operand(operand).element.bytes_of(1)).map(Self::Transpose));
        core::iter::once(Self::Repack(REPACK)).chain(turned.into_iter().flatten()).collect()
    }
}

/// What a pass has to do in one call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pass {
    /// Rows at an address are copied to another.
    Repack(RepackShapes, [u64; 2]),
    /// A is transposed to D.
    Transpose(TransposeDesc, TransposeProblem),
    /// An operand, with its leading dimension and whether it is K-major, becomes parts at an address.
    Decompose(DecomposedLayout, (u64, u64, bool), u64),
}

impl Pass {
    /// What becomes of the operands of a product of a problem, which is in the kernel's frame, before the kernel reads them; `None` of one that
    /// is read where it lies, or is an earlier product's, too. The workspace begins at `first`.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`], [`Refusal::Overflow`]; those of a transpose.
    pub fn of_product(
        desc: &GemmDesc,
        number: usize,
        (routes, problem): (&Routes, &Problem),
        first: u64,
    ) -> Result<[Option<Self>; 2], Refusal> {
        let of = |operand: OperandKind| {
            let there = (number as u64) < problem.matrices(problem.operand(operand)).0;
            if there { Self::of(desc, (operand, number), (routes, problem), first) } else { Ok(None) }
        };
        Ok([of(OperandKind::A)?, of(OperandKind::B)?])
    }

    /// That of an operand.
    fn of(
        desc: &GemmDesc,
        (operand, number): (OperandKind, usize),
        (routes, problem): (&Routes, &Problem),
        first: u64,
    ) -> Result<Option<Self>, Refusal> {
        let (way, view, element) = (routes.of_operand(operand), problem.operand(operand), desc.class.operand(operand).element);
        let from = view.memory.address.saturating_add(view.first_byte(element, number));
        let to = first + way.offset + way.apart * number as u64;
        let order = problem.order(&desc.class, operand);
        let (leading, (length, lines)) = (view.leading(order), problem.lines(operand, order));
        let pass = match way.route {
            Route::Direct => return Ok(None),
            Route::Decomposed => {
                let emulation = desc.warp_specialized().map_or(EmulationKind::None, |desc| desc.knobs.emulation);
                let layout = DecomposedLayout { emulation, mn: problem.mn(operand), k: problem.k };
                Self::Decompose(layout, (from, leading as u64, order.along_k(operand)), to)
            }
            Route::Repacked => {
                let bytes = |elements: usize| element.matrix_bytes(elements as u64);
                let stride = if lines > 1 { bytes(leading) } else { 0 };
                let shapes = RepackShapes::new(lines as u64, bytes(length), stride, bytes(way.leading));
                let overflow =
                    Refusal::Overflow { operand: Operand::Workspace, rows: lines, columns: length, leading: way.leading };
                Self::Repack(shapes.ok_or(overflow)?, [from, to])
            }
            Route::Transposed => {
                let room = Elements { address: to, length: element.matrix_elements(way.bytes) as usize };
                let source = Elements { address: from, ..view.memory };
                let (a, d) = (View::new(source, Order::Row, leading), View::new(room, Order::Row, way.leading));
                let problem = TransposeProblem { a, d, ..TransposeProblem::packed(lines, length) };
                let desc = Choice::Auto.desc(Combine::Move, element.bytes_of(1), &problem);
                desc.check()?;
                problem.check(&desc)?;
                Self::Transpose(desc, problem)
            }
        };
        pass.launches().try_for_each(|launch| launch.map(drop))?;
        Ok(Some(pass))
    }

    /// The kernel.
    pub const fn desc(&self) -> PassDesc {
        match self {
            Self::Repack(..) => PassDesc::Repack(REPACK),
            Self::Transpose(desc, ..) => PassDesc::Transpose(*desc),
            Self::Decompose(layout, ..) => PassDesc::Decompose(DecomposeDesc::of(layout.emulation)),
        }
    }

    /// What it is launched with, one launch after the other.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`], of each that has too many blocks.
    pub fn launches(&self) -> impl Iterator<Item = Result<Launch, Refusal>> + '_ {
        let passes = match self {
            Self::Decompose(layout, ..) => DecomposePass::of(layout.emulation),
            Self::Repack(..) | Self::Transpose(..) => &[DecomposePass::Write],
        };
        passes.iter().map(|&pass| match self {
            Self::Repack(shapes, addresses) => REPACK.launch(shapes, *addresses),
            Self::Transpose(desc, problem) => desc.launch(problem),
            Self::Decompose(layout, operand, workspace) => {
                DecomposeDesc::of(layout.emulation).launch(layout, *operand, *workspace, pass)
            }
        })
    }

    /// Where what is known of an operand's scaled rows begins, and the word of the first row that is refused: a call waits for what it says.
    pub const fn window(&self) -> Option<[u64; 2]> {
        match self {
            Self::Decompose(layout, _, workspace) if layout.emulation.scales() => {
                Some([*workspace + layout.lines_offset(), *workspace + layout.status_offset()])
            }
            _ => None,
        }
    }
}
