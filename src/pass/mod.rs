//! Kernels that move or rewrite an operand: before a product, or for themselves.
//!
//! A [`PassDesc`] is compiled; a [`Pass`] is what one call does with it: where it reads, where it
//! writes, and what it is launched with.

pub mod decompose;
pub mod maps;
pub mod offsets;
pub mod repack;
pub mod transpose;

pub use decompose::{DecomposeDesc, DecomposeShapes, DecomposeStep, PIECE, PIECES, TILE};
pub use maps::MapsDesc;
pub use offsets::OffsetsDesc;
pub use repack::{REPACK, Realignment, RepackCopy, RepackDesc, RepackMap, RepackShapes};

use crate::{
    arch::Machine,
    call::{DecomposedLayout, Elements, Launch, Problem, Routes, View, Way},
    codegen::{TranslationUnit, entry_point},
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
    /// Offsets of groups, by value, to the workspace.
    Offsets(OffsetsDesc),
    /// Tensor maps of the products of an array, to the workspace.
    Maps(MapsDesc),
}

/// The text of the kernel of `kernels/pass/`, by its name, of the struct `params`; so many of its
/// blocks share a multiprocessor.
fn unit_of(
    entry: &'static str,
    (params, blocks): (&str, &str),
    config: String,
    fingerprints: &str,
) -> TranslationUnit {
    let bounds = format!("Config::kThreads, {blocks}");
    let source = format!(
        "#include \"config.cuh\"\n#include \"pass/{entry}.cuh\"\n#include \"schedule.cuh\"\n{fingerprints}{}",
        entry_point(entry, (&bounds, params), &format!("pass::{entry}<Config>"))
    );
    TranslationUnit { entry, second: None, waits: true, source, config, headers: &[] }
}

impl PassDesc {
    /// The text that is compiled. Fingerprints are for test builds; they cost compile time and no
    /// run time.
    pub fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        match self {
            Self::Repack(desc) => desc.translation_unit(with_fingerprints),
            Self::Transpose(desc) => transpose::translation_unit(desc, with_fingerprints),
            Self::Decompose(desc) => desc.translation_unit(with_fingerprints),
            Self::Offsets(desc) => desc.translation_unit(),
            Self::Maps(desc) => desc.translation_unit(with_fingerprints),
        }
    }

    /// Shared memory that is asked for at the launch, in bytes.
    pub const fn shared_bytes(&self) -> u32 {
        match self {
            Self::Transpose(desc) => desc.smem_bytes(),
            Self::Repack(_) | Self::Decompose(_) | Self::Offsets(_) | Self::Maps(_) => 0,
        }
    }

    /// Whether this is a kernel for `machine`.
    ///
    /// # Errors
    /// Those of [`TransposeDesc::check_on`].
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        match self {
            Self::Transpose(desc) => desc.check_on(machine),
            Self::Repack(_) | Self::Decompose(_) | Self::Offsets(_) | Self::Maps(_) => Ok(()),
        }
    }

    /// The kernels that may run before that of a description, whatever the call.
    pub fn before(desc: &GemmDesc) -> Vec<Self> {
        let mut passes = Self::of_operands(desc);
        passes.extend(desc.class.mode.groups().map(|_| Self::Offsets(OffsetsDesc)));
        if desc.class.mode.is_mapped() {
            passes.extend(MapsDesc::ALL.map(Self::Maps));
        }
        passes
    }

    /// Those of operands.
    fn of_operands(desc: &GemmDesc) -> Vec<Self> {
        let Some(desc) = desc.warp_specialized() else { return Vec::new() };
        if desc.knobs.emulation.decomposes() {
            return vec![Self::Decompose(DecomposeDesc { emulation: desc.knobs.emulation })];
        }
        let turned = OperandKind::BOTH.into_iter().find(|&operand| desc.reads_transposed(operand));
        let turned = turned.map(|operand| {
            Choice::moves(desc.class.operand(operand).element.bytes_of(1)).map(Self::Transpose)
        });
        core::iter::once(Self::Repack(REPACK)).chain(turned.into_iter().flatten()).collect()
    }
}

/// The matrices of a batch that one pass brings: a matrix that all products share is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassBatch {
    /// How many.
    pub matrices: u64,
    /// Bytes from one to the next: of the operand, and of what is written.
    pub strides_bytes: [u64; 2],
}

impl PassBatch {
    /// One matrix.
    pub const ONE: Self = Self { matrices: 1, strides_bytes: [0; 2] };
}

/// What a pass has to do in one call, for all products of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pass {
    /// Rows at an address are copied to another, those of each matrix.
    Repack(RepackCopy),
    /// A is transposed to D.
    Transpose(TransposeDesc, TransposeProblem),
    /// An operand becomes parts.
    Decompose(DecomposeShapes),
}

impl Pass {
    /// What becomes of the operands of a problem, which is in the kernel's frame, before the kernel
    /// reads them; `None` of one that is read where it lies. The workspace begins at `first`.
    ///
    /// # Errors
    /// [`Refusal::Overflow`]; those of a transpose, [`Refusal::TooManyTiles`] of all matrices
    /// together among them.
    pub fn before(
        desc: &GemmDesc,
        (routes, problem): (&Routes, &Problem),
        first: u64,
    ) -> Result<[Option<Self>; 2], Refusal> {
        let of = |operand| Self::of(desc, operand, (routes.of_operand(operand), problem), first);
        Ok([of(OperandKind::A)?, of(OperandKind::B)?])
    }

    /// That of an operand.
    fn of(
        desc: &GemmDesc,
        operand: OperandKind,
        (way, problem): (&Way, &Problem),
        first: u64,
    ) -> Result<Option<Self>, Refusal> {
        let (view, element) = (problem.operand(operand), desc.class.operand(operand).element);
        let (source, to) = (view.memory.address, first + way.offset);
        let order = problem.order(&desc.class, operand);
        let (leading, (length, lines)) = (view.leading(order), problem.lines(operand, order));
        let bytes = |elements: usize| element.matrix_bytes(elements as u64);
        let (matrices, stride) = problem.matrices(view);
        let batch =
            PassBatch { matrices, strides_bytes: [element.matrix_bytes(stride), way.apart] };
        Ok(Some(match way.route {
            Route::Direct => return Ok(None),
            Route::Decomposed => {
                let emulation = desc
                    .warp_specialized()
                    .map_or(EmulationKind::None, |desc| desc.knobs.emulation);
                let layout = DecomposedLayout { emulation, mn: problem.mn(operand), k: problem.k };
                let (leading, along_k) = (leading as u64, order.along_k(operand));
                Self::Decompose(DecomposeShapes {
                    layout,
                    source,
                    leading,
                    along_k,
                    parts: to,
                    batch,
                })
            }
            Route::Repacked => {
                let stride = if lines > 1 { bytes(leading) } else { 0 };
                let shapes =
                    RepackShapes::new(lines as u64, bytes(length), stride, bytes(way.leading));
                let (operand, extents, leading) =
                    (Operand::Workspace, [lines, length], way.leading);
                let overflow = Refusal::Overflow { operand, extents, leading, batch: [1, 0] };
                Self::Repack(RepackCopy {
                    shapes: shapes.ok_or(overflow)?,
                    addresses: [source, to],
                    batch,
                })
            }
            Route::Transposed => {
                let room = Elements {
                    address: to,
                    ..Elements::of(element.matrix_elements(way.bytes) as usize)
                };
                let (apart, packed) = (
                    element.matrix_elements(way.apart) as usize,
                    TransposeProblem::packed(lines, length),
                );
                let a = View::new(view.memory, Order::Row, leading).batched(stride as usize);
                let d = View::new(room, Order::Row, way.leading).batched(apart);
                let problem = TransposeProblem { batch: matrices as usize, a, d, ..packed };
                let desc = Choice::Auto.desc(Combine::Move, element.bytes_of(1), &problem);
                desc.check()?;
                problem.check(&desc)?;
                Self::Transpose(desc, problem)
            }
        }))
    }

    /// The kernel.
    pub const fn desc(&self) -> PassDesc {
        match self {
            Self::Repack(..) => PassDesc::Repack(REPACK),
            Self::Transpose(desc, ..) => PassDesc::Transpose(*desc),
            Self::Decompose(shapes) => {
                PassDesc::Decompose(DecomposeDesc { emulation: shapes.layout.emulation })
            }
        }
    }

    /// What it is launched with, one launch after the other.
    ///
    /// # Errors
    /// [`Refusal::TooManyTiles`].
    pub fn launches(&self) -> Result<Vec<Launch>, Refusal> {
        match self {
            Self::Repack(copy) => Ok(vec![REPACK.launch(copy, None)?]),
            Self::Transpose(desc, problem) => Ok(vec![desc.launch(problem)?]),
            Self::Decompose(shapes) => {
                let emulation = shapes.layout.emulation;
                DecomposeStep::of(emulation)
                    .iter()
                    .map(|&step| DecomposeDesc { emulation }.launch(shapes, step))
                    .collect()
            }
        }
    }

    /// What the passes of both operands are launched with: two that repack in one launch, since a
    /// small one takes no longer than its launch.
    ///
    /// # Errors
    /// Those of [`launches`](Self::launches).
    pub fn launches_of(
        passes: &[Option<Self>; 2],
    ) -> Result<Vec<(PassDesc, Vec<Launch>)>, Refusal> {
        if let [Some(Self::Repack(one)), Some(Self::Repack(other))] = passes {
            return Ok(vec![(PassDesc::Repack(REPACK), vec![REPACK.launch(one, Some(other))?])]);
        }
        passes.iter().flatten().map(|pass| Ok((pass.desc(), pass.launches()?))).collect()
    }

    /// What is scaled: a call waits to hear whether it could be.
    pub fn scaled(&self) -> Option<&DecomposeShapes> {
        match self {
            Self::Decompose(shapes) if shapes.layout.emulation.scales() => Some(shapes),
            _ => None,
        }
    }
}
