//! What becomes of operands before a kernel reads them: copies and transposes in the caller's workspace, all of which are checked
//! and compiled before the first is enqueued.

use super::{
    operands::{CudaMatrices, DeviceMatrix},
    relay::{CudaRelay, Relaying, relay_unit},
    split::{CudaSplit, Lies, Splitting, split_unit},
    transpose::{CudaTranspose, TransposeOperands, transpose_unit},
    warp_specialized::Placed,
};
use crate::{
    call::{MatrixShape, Routes, Source, SplitLayout, WORKSPACE_ALIGNMENT, Way},
    codegen::TranslationUnit,
    desc::{GemmDesc, WarpSpecializedDesc},
    error::Error,
    operand::OperandKind,
    pass::{
        RelayShapes,
        transpose::{Choice, Combine, Strided, TransposeDesc, TransposeShapes},
    },
    refusal::{Operand, Refusal, Route},
};
use core::ops::Range;
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

/// An operand's detour, ready to be enqueued.
#[allow(clippy::large_enum_variant, reason = "a run allocates nothing")]
enum Pass {
    Relay(Relaying),
    Transpose(CudaTranspose, TransposeShapes, TransposeOperands<'static>),
    Split(Splitting),
}

/// Where the kernel finds an operand, and what has to be done before it does.
pub(super) struct Detour {
    pub placed: Placed,
    pass: Option<Pass>,
}

/// Transposes that calls of a description may need: those of elements that it reads along K alone, and that lie otherwise.
fn transposes(desc: &WarpSpecializedDesc) -> Vec<TransposeDesc> {
    let mut operands = OperandKind::BOTH.into_iter();
    let turned = operands.find(|&operand| !desc.knobs.emulation.splits() && desc.reads_transposed(operand));
    turned.map_or(Vec::new(), |operand| Choice::moves(desc.class.operand(operand).element.bytes_of(1)).to_vec())
}

/// The texts of what may lie before a description's kernel, whatever the call.
pub fn detour_units(desc: &GemmDesc) -> Vec<TranslationUnit> {
    let Some(desc) = desc.warp_specialized() else { return Vec::new() };
    if desc.knobs.emulation.splits() {
        return vec![split_unit(desc.knobs.emulation)];
    }
    let mut units = vec![relay_unit()];
    units.extend(transposes(&desc).iter().map(transpose_unit));
    units
}

/// Compiles and loads the same.
pub(super) fn prepare(context: &Arc<CudaContext>, desc: &GemmDesc) -> Result<(), Error> {
    let Some(desc) = desc.warp_specialized() else { return Ok(()) };
    if desc.knobs.emulation.splits() {
        return CudaSplit::prepare(context, desc.knobs.emulation).map(drop);
    }
    CudaRelay::prepare(context)?;
    transposes(&desc).iter().try_for_each(|desc| CudaTranspose::prepare(context, desc).map(drop))
}

/// The address at which the workspace of a call begins, once it is there, large enough, and apart from all that is read and
/// written; `extents` are the operands' ranges of addresses. 0 where none is needed.
pub(super) fn workspace(routes: &Routes, matrices: &CudaMatrices<'_>, extents: &[(Operand, Range<u64>)]) -> Result<u64, Refusal> {
    let needed = routes.workspace_bytes();
    if needed == 0 {
        return Ok(0);
    }
    let given = matrices.workspace.as_ref().map_or(0, |workspace| workspace.kind.matrix_bytes(workspace.length as u64));
    let Some(workspace) = matrices.workspace.as_ref().filter(|_| given >= needed) else {
        return Err(Refusal::Workspace { given, a: routes.a.route, b: routes.b.route, needed });
    };
    if workspace.context != matrices.d.context {
        return Err(Refusal::OtherDevice { operand: Operand::Workspace });
    }
    let first = workspace.address.next_multiple_of(WORKSPACE_ALIGNMENT);
    let used = first..first + (needed - WORKSPACE_ALIGNMENT);
    match extents.iter().find(|(_, other)| other.start < used.end && used.start < other.end) {
        Some((read, _)) => Err(Refusal::WrittenWhileRead { written: Operand::Workspace, read: *read }),
        None => Ok(first),
    }
}

impl Detour {
    /// That of an operand, `lines` rows or columns of `length` contiguous elements, with a workspace whose first byte is `first`.
    pub fn of(
        stream: &Arc<CudaStream>,
        operand: &DeviceMatrix<'_>,
        (shape, length, lines): (MatrixShape, usize, usize),
        way: &Way,
        first: u64,
        parts: Option<(SplitLayout, Lies)>,
    ) -> Result<Self, Error> {
        let address = if way.route == Route::Direct { operand.address } else { first + way.offset };
        let placed = Placed { address, leading: way.leading };
        let pass = match way.route {
            Route::Direct => None,
            Route::Split => match parts {
                Some((layout, lies)) => Some(Pass::Split(CudaSplit::ready(stream, &layout, operand, lies, address)?)),
                None => None,
            },
            Route::Relaid => {
                let stride = if lines > 1 { operand.kind.matrix_bytes(shape.leading as u64) } else { 0 };
                let pitch = operand.kind.matrix_bytes(way.leading as u64);
                let shapes = RelayShapes::new(lines as u64, operand.kind.matrix_bytes(length as u64), stride, pitch);
                let overflow =
                    Refusal::Overflow { operand: Operand::Workspace, rows: lines, columns: length, leading: way.leading };
                Some(Pass::Relay(CudaRelay::ready(stream, &shapes.ok_or(overflow)?, operand.address, address)?))
            }
            Route::Transposed => {
                let elements = operand.kind.matrix_elements(way.bytes) as usize;
                let d = Strided::of(length, lines, Some(way.leading), None, elements);
                let a = Strided::of(lines, length, Some(shape.leading), None, operand.length);
                let shapes = TransposeShapes { a, d, ..TransposeShapes::packed(lines, length) };
                let copy = operand.elsewhere(address, elements);
                let operands =
                    TransposeOperands { a: operand.elsewhere(operand.address, operand.length), b: Source::None, d: copy };
                CudaTranspose::ready(Choice::Auto, Combine::Move, stream, &shapes, &operands)?
                    .map(|kernel| Pass::Transpose(kernel, shapes, operands))
            }
        };
        Ok(Self { placed, pass })
    }

    /// The passes of an operand that is split.
    pub fn splitting(&self) -> Option<&Splitting> {
        match &self.pass {
            Some(Pass::Split(splitting)) => Some(splitting),
            _ => None,
        }
    }

    pub fn enqueue(&self, stream: &CudaStream) -> Result<(), Error> {
        match &self.pass {
            None => Ok(()),
            Some(Pass::Relay(relaying)) => relaying.enqueue(stream),
            Some(Pass::Split(splitting)) => splitting.enqueue(stream),
            Some(Pass::Transpose(kernel, shapes, operands)) => kernel.enqueue(stream, shapes, operands),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::ElementKind;

    const CONTEXT: usize = 1;

    /// Routes that relay A: 100 bytes a row, in 7 rows.
    fn routes() -> Routes {
        let direct = Way { route: Route::Direct, leading: 100, offset: 0, bytes: 0 };
        Routes { a: Way { route: Route::Relaid, leading: 112, offset: 0, bytes: 1024 }, b: direct }
    }

    fn found(address: u64, length: usize, context: usize, others: &[(Operand, Range<u64>)]) -> Result<u64, Refusal> {
        let at = |address, length, context| DeviceMatrix::nowhere(ElementKind::U8, address, length, context);
        let (a, b, d) = (at(0, 0, CONTEXT), at(0, 0, CONTEXT), at(0, 0, CONTEXT));
        let workspace = (length > 0).then(|| at(address, length, context));
        super::workspace(&routes(), &CudaMatrices { a, b, c: Source::None, d, workspace }, others)
    }

    #[test]
    fn a_workspace_is_large_enough_wherever_it_begins() {
        for address in 4096..4096 + 600 {
            let first = found(address, 1280, CONTEXT, &[]).expect("as many bytes as it takes");
            assert!(first.is_multiple_of(256) && first >= address && first + 1024 <= address + 1280, "{address}");
        }
        for short in [0, 1, 1024, 1279] {
            let needed = Refusal::Workspace { given: short as u64, a: Route::Relaid, b: Route::Direct, needed: 1280 };
            assert_eq!(found(4096, short, CONTEXT, &[]), Err(needed));
        }
    }

    /// What is read or written meets the workspace exactly where their bytes do.
    #[test]
    fn a_workspace_lies_apart_and_on_the_same_device() {
        for (operand, range, apart) in [
            (Operand::A, 3000..4096, true),
            (Operand::A, 3000..4097, false),
            (Operand::D, 5119..9000, false),
            (Operand::D, 5120..9000, true),
            (Operand::C, 0..0, true),
            (Operand::B, 0..9000, false),
        ] {
            let wanted =
                if apart { Ok(4096) } else { Err(Refusal::WrittenWhileRead { written: Operand::Workspace, read: operand }) };
            assert_eq!(
                found(4096, 1280, CONTEXT, &[(Operand::D, 0..0), (operand, range.clone())]),
                wanted,
                "{operand:?} {range:?}"
            );
        }
        assert_eq!(found(4096, 1280, 2, &[]), Err(Refusal::OtherDevice { operand: Operand::Workspace }));
    }
}
