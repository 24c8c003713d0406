//! Transposes on a device.

use super::{operands::DeviceMatrix, pass::CudaPass};
use crate::{
    call::Source,
    error::Error,
    pass::{
        Pass,
        transpose::{Choice, Combine, Strided, TransposeDesc, TransposeShapes},
    },
    refusal::{Operand, Refusal},
};
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Operands in device memory, element types as values.
pub struct TransposeOperands<'a> {
    /// A.
    pub a: DeviceMatrix<'a>,
    /// B.
    pub b: Source<DeviceMatrix<'a>>,
    /// D.
    pub d: DeviceMatrix<'a>,
}

impl TransposeOperands<'_> {
    /// The first elements of A, B and D, counted from address 0.
    fn first(&self) -> [u64; 3] {
        let of = |matrix: &DeviceMatrix<'_>| matrix.kind.matrix_elements(matrix.address);
        [of(&self.a), self.b.matrix().map_or(0, of), of(&self.d)]
    }
}

/// Enqueues a transpose on `stream` by the kernel that `choice` gives for it: nothing is allocated, and nothing waits.
///
/// The kernel is compiled when it is first needed.
///
/// # Errors
///
/// [`Error::Refused`] when the transpose does not fit, [`Refusal::NotPrepared`] among them when the stream is being captured
/// and the kernel is not compiled; [`Error::Driver`] when the launch is refused.
pub fn transpose(
    choice: Choice,
    combine: Combine,
    stream: &Arc<CudaStream>,
    shapes: &TransposeShapes,
    operands: &TransposeOperands<'_>,
) -> Result<(), Error> {
    let desc = choice.desc(combine, operands.d.kind.bytes_of(1), shapes, operands.first());
    desc.check()?;
    shapes.check(&desc)?;
    check_memory(&desc, stream.context().cu_ctx() as usize, shapes, operands)?;
    if shapes.is_empty() {
        return Ok(());
    }
    let b = operands.b.matrix().map_or(0, |b| b.address);
    let pass = Pass::Transpose(desc, *shapes, [operands.a.address, b, operands.d.address]);
    CudaPass::for_run(stream, &pass.desc())?.enqueue(stream, &pass)
}

/// Whether the operands are of the kernel's types, on the device of `context`, and D lies apart from what is read.
fn check_memory(
    desc: &TransposeDesc,
    context: usize,
    shapes: &TransposeShapes,
    operands: &TransposeOperands<'_>,
) -> Result<(), Refusal> {
    let TransposeOperands { a, b, d } = operands;
    let wanted = desc.combine.kind().unwrap_or(d.kind);
    let check = |matrix: &DeviceMatrix<'_>, operand| {
        if matrix.kind != wanted {
            return Err(Refusal::ElementType { given: matrix.kind, wanted });
        }
        if matrix.context != context { Err(Refusal::OtherDevice { operand }) } else { Ok(()) }
    };
    check(a, Operand::A)?;
    check(d, Operand::D)?;
    if d.kind.bytes_of(1) != desc.element_bytes {
        return Err(Refusal::ElementBytes { given: d.kind, bytes: desc.element_bytes });
    }
    // Lengths have been checked: the numbers of elements are below 2^63.
    let TransposeShapes { rows, columns, batch, .. } = *shapes;
    let across = |matrix: &Strided| matrix.elements(columns, rows, batch) as u64;
    let written = d.range(across(&shapes.d));
    let meets = |other: core::ops::Range<u64>| other.start < written.end && written.start < other.end;
    if shapes.reads_a() && meets(a.range(shapes.a.elements(rows, columns, batch) as u64)) {
        return Err(Refusal::Overlap { operand: Operand::A });
    }
    if let (Source::Matrix(b), Source::Matrix(shape)) = (b, &shapes.b) {
        check(b, Operand::B)?;
        let stride = |matrix: &Strided| if batch > 1 { matrix.stride } else { 0 };
        let same = b.address == d.address && shape.leading == shapes.d.leading && stride(shape) == stride(&shapes.d);
        if shapes.reads_b() && !same && meets(b.range(across(shape))) {
            return Err(Refusal::PartlyShared { operand: Operand::B });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        numeric::ElementKind,
        pass::transpose::{Combine, Rung},
    };

    /// Addresses that no one reads: the check looks at numbers alone.
    fn at(kind: ElementKind, address: u64, context: usize) -> DeviceMatrix<'static> {
        DeviceMatrix::nowhere(kind, address, 1 << 20, context)
    }

    /// D overlaps A exactly where their elements do, and B may be D itself or apart from it.
    #[test]
    fn memory_that_is_read_while_it_is_written_is_refused() {
        let packed = TransposeShapes::packed(10, 6);
        let scaled = TransposeShapes { beta: 1.0, b: Source::Matrix(packed.d), ..packed };
        let f32 = ElementKind::F32;
        let checked = |shapes: &TransposeShapes, a: u64, b: Option<u64>, d: u64| {
            let combine = if shapes.reads_b() || !shapes.reads_a() { Combine::F32 } else { Combine::Move };
            let b = b.map_or(Source::None, |b| Source::Matrix(at(f32, b, 1)));
            let operands = TransposeOperands { a: at(f32, a, 1), b, d: at(f32, d, 1) };
            check_memory(&Rung::Padded.desc(combine, 4), 1, shapes, &operands)
        };
        // 60 elements of 4 bytes from 4096 on.
        for (a, apart) in [(4096 - 240, true), (4096 - 236, false), (4096, false), (4096 + 236, false), (4096 + 240, true)] {
            let found = checked(&packed, a, None, 4096);
            assert_eq!(found, if apart { Ok(()) } else { Err(Refusal::Overlap { operand: Operand::A }) }, "{a}");
        }
        let sentence = Refusal::Overlap { operand: Operand::A }.to_string();
        assert_eq!(sentence, "D overlaps A, which is read while D is written; give D memory of its own");
        // A that is not read may be anywhere.
        assert_eq!(checked(&TransposeShapes { alpha: 0.0, ..scaled }, 4096, Some(9000), 4096), Ok(()));
        for (b, fine) in [(4096, true), (4096 + 240, true), (4096 + 4, false), (4096 - 236, false)] {
            let found = checked(&scaled, 1 << 16, Some(b), 4096);
            assert_eq!(found, if fine { Ok(()) } else { Err(Refusal::PartlyShared { operand: Operand::B }) }, "{b}");
        }
        // The same address and another leading dimension is another matrix.
        let wider = Strided { leading: 12, stride: 72, ..packed.d };
        let found = checked(&TransposeShapes { b: Source::Matrix(wider), ..scaled }, 1 << 16, Some(4096), 4096);
        let sentence = found.expect_err("another matrix").to_string();
        assert!(sentence.starts_with("D and B share some of their memory but not all of it; pass one matrix"), "{sentence}");
    }

    #[test]
    fn operands_of_another_type_or_device_are_refused() {
        let shapes = TransposeShapes::packed(10, 6);
        let desc = Rung::Padded.desc(Combine::Move, 4);
        let said = |a: DeviceMatrix<'static>, d: DeviceMatrix<'static>| {
            let operands = TransposeOperands { a, b: Source::None, d };
            check_memory(&desc, 1, &shapes, &operands).expect_err("refused").to_string()
        };
        let (f32, i32, f64) = (ElementKind::F32, ElementKind::I32, ElementKind::F64);
        assert_eq!(said(at(f32, 0, 2), at(f32, 4096, 1)), "A lies on another device than D");
        assert_eq!(said(at(i32, 0, 1), at(f32, 4096, 1)), "a matrix of i32 was given where the kernel takes f32");
        assert_eq!(said(at(f64, 0, 1), at(f64, 4096, 1)), "a matrix of f64 was given where the kernel takes elements of 4 bytes");
    }
}
