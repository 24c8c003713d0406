//! Passes: kernels that copy or convert an operand, before a GEMM or on their own.
//!
//! A [`PassDesc`] is the kernel that is compiled. A [`Pass`] is its use in one call: the source,
//! the destination, and the launch parameters.

use super::{
    DecomposeDesc, DecomposeShapes, DecomposeStep, DecomposedLayout, Elements, GatherCopy,
    GatherDesc, Problem, REPACK, RecordsDesc, RepackCopy, RepackDesc, RepackShapes, Routes, View,
    Way,
    transpose::{self, Choice, TransposeDesc},
};
use crate::{
    arch::Machine,
    codegen::{TranslationUnit, entry_point},
    layout::Order,
    nest::{GemmDesc, GemmMode},
    refusal::{Because, Operand, Refusal, Route},
    shape::OperandKind,
    threadblock::Launch,
};

/// The kernel of a pass, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PassDesc {
    /// Copies rows to an aligned pitch.
    Repack(RepackDesc),
    /// Transposes a matrix.
    Transpose(TransposeDesc),
    /// Decomposes `f32` into 16-bit terms.
    Decompose(DecomposeDesc),
    /// Copies the lines that an index list selects.
    Gather(GatherDesc),
    /// Writes the records of an array, or group offsets, from the kernel parameters to the
    /// workspace.
    Records(RecordsDesc),
}

/// Returns the source of the kernel `entry` of `kernels/operand/` with the parameter struct
/// `params`. `blocks` is the number of resident CTAs per SM.
pub(super) fn unit_of(
    entry: &'static str,
    (params, blocks): (&str, &str),
    config: String,
    fingerprints: &str,
) -> TranslationUnit {
    let bounds = format!("Config::kThreads, {blocks}");
    let source = format!(
        "#include \"config.cuh\"\n#include \"operand/{entry}.cuh\"\n#include \"schedule.cuh\"\n{fingerprints}{}",
        entry_point(entry, (&bounds, params), &format!("pass::{entry}<Config>"))
    );
    TranslationUnit { entry, second: None, waits: true, source, config, headers: &[] }
}

impl PassDesc {
    /// Returns the source of the kernel. Fingerprints are for test builds: they cost compile time
    /// and no run time.
    pub fn unit(&self, with_fingerprints: bool) -> TranslationUnit {
        match self {
            Self::Repack(desc) => desc.translation_unit(with_fingerprints),
            Self::Transpose(desc) => transpose::translation_unit(desc, with_fingerprints),
            Self::Decompose(desc) => desc.translation_unit(with_fingerprints),
            Self::Gather(desc) => desc.translation_unit(),
            Self::Records(desc) => desc.translation_unit(),
        }
    }

    /// Returns the dynamic shared memory in bytes.
    pub const fn shared_bytes(&self) -> u32 {
        match self {
            Self::Transpose(desc) => desc.smem_bytes(),
            Self::Repack(_) | Self::Decompose(_) | Self::Gather(_) | Self::Records(_) => 0,
        }
    }

    /// Checks that the kernel is valid for `machine`.
    ///
    /// # Errors
    /// The errors of [`TransposeDesc::check_on`].
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        match self {
            Self::Transpose(desc) => desc.check_on(machine),
            Self::Repack(_) | Self::Decompose(_) | Self::Gather(_) | Self::Records(_) => Ok(()),
        }
    }

    /// Returns the passes that may run before the kernel of a description, for any call.
    pub fn before(desc: &GemmDesc) -> Vec<Self> {
        let mut passes = Self::operand_passes(desc);
        let records: &[_] = match desc.work.mode {
            GemmMode::Array => &[RecordsDesc::FEW, RecordsDesc::MANY],
            mode if mode.groups().is_some() => &[RecordsDesc::FEW],
            _ if !desc.addressing().is_plain() => &[RecordsDesc::FEW],
            _ => &[],
        };
        passes.extend(records.iter().copied().map(Self::Records));
        passes
    }

    /// Returns the passes for operands.
    fn operand_passes(desc: &GemmDesc) -> Vec<Self> {
        if !desc.has_producer() {
            return Vec::new();
        }
        if desc.emulation().decomposes() {
            return vec![Self::Decompose(DecomposeDesc { emulation: desc.emulation() })];
        }
        let transposed =
            OperandKind::BOTH.into_iter().find(|&operand| desc.reads_transposed(operand));
        let transposed = transposed.map(|operand| {
            Choice::moves(desc.operand(operand).stored.bytes_of(1)).map(Self::Transpose)
        });
        core::iter::once(Self::Repack(REPACK)).chain(transposed.into_iter().flatten()).collect()
    }
}

/// The matrices of a batch that one pass processes. A matrix that all GEMMs share counts once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassBatch {
    /// Number of matrices.
    pub matrices: u64,
    /// Bytes from one matrix to the next: of the operand, and of the result.
    pub strides_bytes: [u64; 2],
}

impl PassBatch {
    /// A single matrix.
    pub const ONE: Self = Self { matrices: 1, strides_bytes: [0; 2] };
}

/// The work of a pass in one call, for all GEMMs of the batch.
#[derive(Clone, PartialEq, Debug)]
pub enum Pass {
    /// Copies the rows of each matrix.
    Repack(RepackCopy),
    /// Transposes A to D. The problem has entered the description.
    Transpose(TransposeDesc, Box<Problem>),
    /// Decomposes an operand.
    Decompose(DecomposeShapes),
    /// Copies the lines that an index list selects.
    Gather(GatherCopy),
}

impl Pass {
    /// Returns the passes of A, of B, and of the second matrix of a gate, for a problem in the
    /// kernel's frame; `None` for an operand that the kernel reads in place. The workspace begins
    /// at `first`.
    ///
    /// # Errors
    /// [`Refusal`] of an overflow, and the errors of a transpose. The limit of tiles applies to all
    /// matrices of the batch together.
    pub fn before(
        desc: &GemmDesc,
        (routes, problem): (&Routes, &Problem),
        first: u64,
    ) -> Result<[Option<Self>; 3], Refusal> {
        let problem = routes.with_lists(problem, first);
        let of = |operand| Self::for_operand(desc, operand, (routes.way(operand), &problem), first);
        let of_up = match problem.up.matrix() {
            None => None,
            Some(up) => {
                let mut other = problem;
                other.b = *up;
                Self::for_operand(desc, OperandKind::B, (&routes.b.of_up(), &other), first)?
            }
        };
        Ok([of(OperandKind::A)?, of(OperandKind::B)?, of_up])
    }

    /// Returns the pass of one operand.
    fn for_operand(
        desc: &GemmDesc,
        operand: OperandKind,
        (way, problem): (&Way, &Problem),
        first: u64,
    ) -> Result<Option<Self>, Refusal> {
        let (view, element) = (problem.operand(operand), desc.operand(operand).stored);
        let (source, to) = (view.memory.address, first + way.offset);
        let order = problem.order(desc, operand);
        let (leading, (length, lines)) = (view.leading(order), problem.lines(operand, order));
        let bytes = |elements: usize| element.matrix_bytes(elements as u64);
        let (matrices, stride) = problem.matrices(view);
        let batch =
            PassBatch { matrices, strides_bytes: [element.matrix_bytes(stride), way.apart] };
        Ok(Some(match way.route {
            Route::Direct => return Ok(None),
            Route::Decomposed => {
                let emulation = desc.emulation();
                let layout = DecomposedLayout { emulation, mn: problem.mn(operand), k: problem.k };
                let (leading, along_k) = (leading as u64, order.along_k(operand));
                Self::Decompose(DecomposeShapes {
                    layout,
                    source,
                    leading,
                    along_k,
                    terms: to,
                    batch,
                })
            }
            Route::Repacked => {
                let stride = if lines > 1 { bytes(leading) } else { 0 };
                let shapes =
                    RepackShapes::new(lines as u64, bytes(length), stride, bytes(way.leading));
                let (operand, extents, leading) =
                    (Operand::Workspace, [lines, length], way.leading);
                let because = Because::Matrices { extents, leading, batch: [1, 0] };
                let overflow = Refusal::overflow(operand, because);
                Self::Repack(RepackCopy {
                    shapes: shapes.ok_or(overflow)?,
                    addresses: [source, to],
                    batch,
                })
            }
            Route::Gathered => {
                let list = problem.indices.operands[operand.index()];
                let lines = if operand == OperandKind::A { 0 } else { 1 };
                let source = [lines, 1 - lines].map(|axis| (view.strides[axis], view.splits[axis]));
                let along_k = way.order.along_k(operand);
                let copy = if along_k { [way.leading, 1] } else { [1, way.leading] };
                let extents = [problem.mn(operand), problem.k];
                let addresses = ([view.memory.address, to], list.as_ref());
                Self::Gather(GatherCopy::new(element, extents, (source, copy), addresses, batch))
            }
            Route::Transposed => {
                let room = Elements {
                    address: to,
                    ..Elements::new(element.matrix_elements(way.bytes) as usize)
                };
                let apart = element.matrix_elements(way.apart) as usize;
                let source = View::new(view.memory, Order::Col, leading).batched(stride as usize);
                let a = View { overlapping: view.overlapping, ..source };
                let d = View::new(room, Order::Row, way.leading).batched(apart);
                let packed = Problem::packed_transpose(lines, length);
                let problem = Problem { batch: matrices as usize, a, d, ..packed };
                let desc = Choice::Auto.desc(element, &problem);
                desc.check()?;
                Self::Transpose(desc, Box::new(desc.enter(problem)?))
            }
        }))
    }

    /// Returns the kernel of the pass.
    pub const fn desc(&self) -> PassDesc {
        match self {
            Self::Repack(..) => PassDesc::Repack(REPACK),
            Self::Transpose(desc, ..) => PassDesc::Transpose(*desc),
            Self::Gather(copy) => PassDesc::Gather(copy.desc()),
            Self::Decompose(shapes) => {
                PassDesc::Decompose(DecomposeDesc { emulation: shapes.layout.emulation })
            }
        }
    }

    /// Returns the launches of the pass, in order.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn launches(&self) -> Result<Vec<Launch>, Refusal> {
        match self {
            Self::Repack(copy) => Ok(vec![REPACK.launch(copy, None)?]),
            Self::Transpose(desc, problem) => Ok(vec![desc.launch(problem)?]),
            Self::Gather(copy) => Ok(vec![copy.launch()?]),
            Self::Decompose(shapes) => {
                let emulation = shapes.layout.emulation;
                DecomposeStep::for_emulation(emulation)
                    .iter()
                    .map(|&step| DecomposeDesc { emulation }.launch(shapes, step))
                    .collect()
            }
        }
    }

    /// Returns the launches of the passes of the operands. Two repack passes share one launch,
    /// because a small pass takes no longer than its launch.
    ///
    /// # Errors
    /// The errors of [`launches`](Self::launches).
    pub fn launches_of(
        passes: &[Option<Self>; 3],
    ) -> Result<Vec<(PassDesc, Vec<Launch>)>, Refusal> {
        if let [Some(Self::Repack(one)), Some(Self::Repack(other)), None] = passes {
            return Ok(vec![(PassDesc::Repack(REPACK), vec![REPACK.launch(one, Some(other))?])]);
        }
        passes.iter().flatten().map(|pass| Ok((pass.desc(), pass.launches()?))).collect()
    }

    /// Returns the shapes of a pass that scales rows. The call has to wait for the result of its
    /// check.
    pub fn scaled(&self) -> Option<&DecomposeShapes> {
        match self {
            Self::Decompose(shapes) if shapes.layout.emulation.scales() => Some(shapes),
            _ => None,
        }
    }
}
