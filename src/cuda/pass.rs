//! Passes on a device: kernels that copy an operand to the layout that a GEMM kernel reads.

use super::{
    context::machine_of,
    loaded::{Loaded, Registry, uncaptured},
    memory::{OperandMemory, check_memory},
    operands::{CudaCall, DeviceMatrix},
    report::Report,
};
use crate::{
    Error,
    codegen::{DecomposedLine, TranslationUnit},
    operand::{
        Call, Pass, PassBatch, PassDesc, RepackCopy, RepackShapes, records::RecordsLaunch,
        transpose::Choice,
    },
    refusal::{Because, Field, Operand, OperandLine, Refusal, rules::multiple},
    shape::OperandKind,
    sys::read_back::read_back,
    threadblock::{Launch, tensor_map::ADDRESS_ALIGNMENT},
};
use bytemuck::Zeroable;
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

/// Loaded kernel of a pass. Clones share the kernel, and any thread may use a clone.
#[derive(Clone)]
pub struct CudaPass(Arc<Loaded>);

static KNOWN: Registry<PassDesc, CudaPass> = Registry::new();

/// Returns the CUDA source of a pass. With debug assertions, the source asserts the fingerprints of
/// the index maps.
pub fn pass_unit(desc: &PassDesc) -> TranslationUnit {
    desc.unit(cfg!(debug_assertions))
}

impl CudaPass {
    /// Compiles and loads the kernel of a pass, unless the process has already loaded the kernel.
    ///
    /// # Errors
    /// [`Error::Refused`] if the device does not support the pass. The errors of
    /// [`compile`](super::compile). [`Error::Driver`] if the driver cannot load the kernel.
    pub fn prepare(context: &Arc<CudaContext>, desc: &PassDesc) -> Result<Self, Error> {
        if let Some(kernel) = KNOWN.get(context, desc) {
            return Ok(kernel);
        }
        let machine = machine_of(context)?;
        desc.check_on(&machine)?;
        let loaded = Loaded::new(context, pass_unit(desc), machine.sm, desc.shared_bytes())?;
        Ok(KNOWN.keep(context, desc, Self(Arc::new(loaded))))
    }

    /// Returns the registers, shared memory, and spills of the kernel.
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// Returns the CUDA source of the kernel.
    pub fn source(&self) -> &TranslationUnit {
        &self.0.unit
    }

    /// Returns the kernel for a run on `stream`. If the kernel is not loaded, prepares it, except
    /// during stream capture.
    pub(super) fn for_run(stream: &CudaStream, desc: &PassDesc) -> Result<Self, Error> {
        KNOWN.for_run(stream, desc, || Self::prepare(stream.context(), desc))
    }

    /// Enqueues the launches of a pass, whose addresses have been checked.
    pub(super) fn enqueue(&self, stream: &CudaStream, launches: &[Launch]) -> Result<(), Error> {
        launches.iter().try_for_each(|launch| self.0.launch(stream, launch))
    }

    /// Enqueues the launches that write records, each with its own parameters.
    pub(super) fn enqueue_records(
        &self,
        stream: &CudaStream,
        launches: &[RecordsLaunch],
    ) -> Result<(), Error> {
        launches.iter().try_for_each(|RecordsLaunch { launch, params }| {
            self.0.launch_with(stream, launch, params)
        })
    }
}

/// Enqueues a pass that the user calls directly.
fn enqueue(stream: &CudaStream, pass: &Pass) -> Result<(), Error> {
    let launches = pass.launches()?;
    CudaPass::for_run(stream, &pass.desc())?.enqueue(stream, &launches)
}

/// Enqueues a transpose on `stream` with the kernel that `choice` selects. Allocates nothing and
/// waits for nothing. The kernel compiles at its first use.
///
/// # Errors
/// [`Error::Refused`] if the transpose does not fit, or if the stream is being captured and the
/// kernel is not compiled. [`Error::Driver`] if the driver refuses the
/// launch.
pub fn transpose(
    choice: Choice,
    stream: &Arc<CudaStream>,
    call: CudaCall<'_>,
) -> Result<(), Error> {
    let desc = choice.desc(call.d.memory.kind, &call.problem());
    desc.check()?;
    let call = desc.enter(call)?;
    check_transpose(stream.context().cu_ctx() as usize, &call)?;
    if call.is_empty() {
        return Ok(());
    }
    enqueue(stream, &Pass::Transpose(desc, Box::new(call.problem())))
}

/// Checks that the matrices of a transpose are on the device of `context`, and that D does not
/// overlap an input.
fn check_transpose(context: usize, call: &CudaCall<'_>) -> Result<(), Refusal> {
    let &Call { m, n, k, batch, .. } = call;
    let a = OperandMemory::new(Operand::A, &call.a, ((m, k), batch));
    let c = call.c.matrix().map(|c| OperandMemory::new(Operand::C, c, ((m, n), batch)));
    let d = OperandMemory::new(Operand::D, &call.d, ((m, n), batch));
    check_memory(context, &d, [&a].into_iter(), c.as_ref())
}

/// Enqueues a copy of rows at any address to rows that begin at multiples of 16 bytes. Allocates
/// nothing and waits for nothing. Both matrices consist of bytes. The copy begins at a multiple of
/// 16 bytes.
///
/// # Errors
/// [`Error::Refused`] if a matrix is too short, is on another device, or does not consist of bytes.
/// [`Error::Refused`] if the copy is misaligned, or overlaps its source. [`Error::Driver`] if the
/// driver refuses the launch.
pub fn repack(
    stream: &Arc<CudaStream>,
    shapes: &RepackShapes,
    source: &DeviceMatrix<'_>,
    copy: &DeviceMatrix<'_>,
) -> Result<(), Error> {
    let context = stream.context().cu_ctx() as usize;
    let [read, written] = shapes.reach();
    for (operand, matrix, needed) in
        [(Operand::Source, source, read), (Operand::Copy, copy, written)]
    {
        if matrix.kind.bits() != 8 {
            return Err(Refusal::element_bytes(matrix.kind, 1).into());
        }
        if matrix.context != context {
            return Err(Refusal::not_on_stream(operand).into());
        }
        if (matrix.length as u64) < needed {
            return Err(Refusal::too_short(operand, matrix.length, needed, Because::None).into());
        }
    }
    multiple(
        Field::CopyAddress,
        copy.address,
        ADDRESS_ALIGNMENT,
        u64::MAX - ADDRESS_ALIGNMENT + 1,
    )?;
    let (read, written) = (source.range(read), copy.range(written));
    if read.start < written.end && written.start < read.end {
        return Err(Refusal::overlap(Operand::Copy, Operand::Source).into());
    }
    let addresses = [source.address, copy.address];
    enqueue(stream, &Pass::Repack(RepackCopy { shapes: *shapes, addresses, batch: PassBatch::ONE }))
}

/// Refuses passes that scale rows during stream capture, because the call must wait for their
/// result.
pub(super) fn check_capture(stream: &CudaStream, passes: &[Option<Pass>; 3]) -> Result<(), Error> {
    if passes.iter().flatten().all(|pass| pass.scaled().is_none()) {
        return Ok(());
    }
    uncaptured(stream, Refusal::WINDOW_CAPTURED)
}

/// Waits for passes that scale rows, and refuses the first row that cannot be scaled. Does not wait
/// for other passes.
pub(super) fn check_window(stream: &CudaStream, passes: &[Option<Pass>; 3]) -> Result<(), Error> {
    let [Some(a), Some(b), _] = passes.each_ref().map(|pass| pass.as_ref().and_then(Pass::scaled))
    else {
        return Ok(());
    };
    let mut first = [[0u32]; 2];
    let [of_a, of_b] = &mut first;
    read_back(stream, [(a.status(), of_a), (b.status(), of_b)])?;
    for ((operand, shapes), [number]) in OperandKind::BOTH.into_iter().zip([a, b]).zip(first) {
        if number != u32::MAX {
            let mut facts = [DecomposedLine::zeroed()];
            read_back(stream, [(shapes.line(number), &mut facts)])?;
            let mn = shapes.layout.mn as u32;
            let product = (shapes.batch.matrices > 1).then_some(number / mn);
            let line = OperandLine { operand, product, number: number % mn };
            return Err(Refusal::line(line, &facts[0].into()).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        layout::Order,
        numeric::ElementKind,
        operand::{Problem, Source, View},
    };

    /// Returns a matrix with an address that the check does not read.
    fn at(kind: ElementKind, address: u64, context: usize) -> DeviceMatrix<'static> {
        DeviceMatrix::nowhere(kind, address, 1 << 20, context)
    }

    /// D may not overlap A. C may be D, or must not overlap D.
    #[test]
    fn memory_that_is_read_while_it_is_written_is_refused() {
        let packed = Problem::packed_transpose(10, 6);
        let scalars =
            |alpha, beta| Problem::transpose((10, 6), 1, [None; 3], [alpha, beta]).scalars;
        let scaled = Problem { scalars: scalars(1.0, 1.0), c: Source::Matrix(packed.d), ..packed };
        let f32 = ElementKind::F32;
        let checked = |problem: &Problem, a: u64, c: Option<u64>, d: u64| {
            let c = c.map_or(Source::None, |c| Source::Matrix(at(f32, c, 1)));
            let call = problem.with_transposed(at(f32, a, 1), c, at(f32, d, 1));
            check_transpose(1, &call.read_by_transpose())
        };
        // Matrices of 60 elements with 4 bytes each. D begins at 4096.
        for (a, apart) in [
            (4096 - 240, true),
            (4096 - 236, false),
            (4096, false),
            (4096 + 236, false),
            (4096 + 240, true),
        ] {
            let found = checked(&packed, a, None, 4096);
            assert_eq!(
                found,
                if apart { Ok(()) } else { Err(Refusal::overlap(Operand::D, Operand::A)) },
                "{a}"
            );
        }
        let sentence = Refusal::overlap(Operand::D, Operand::A).to_string();
        assert_eq!(
            sentence,
            "D overlaps A (the kernel reads and writes at once); use separate memory"
        );
        // An A that the kernel does not read may overlap D.
        assert_eq!(
            checked(&Problem { scalars: scalars(0.0, 1.0), ..scaled }, 4096, Some(9000), 4096),
            Ok(())
        );
        for (c, fine) in [(4096, true), (4096 + 240, true), (4096 + 4, false), (4096 - 236, false)]
        {
            let found = checked(&scaled, 1 << 16, Some(c), 4096);
            assert_eq!(
                found,
                if fine { Ok(()) } else { Err(Refusal::partly_shared(Operand::C)) },
                "{c}"
            );
        }
        // A matrix at the same address with another leading dimension or batch stride differs from
        // D.
        let (wider, further) =
            (View::packed(packed.d.memory, Order::Row, (6, 10), Some(12)), packed.d.batched(61));
        for (c, batch) in [(wider, 1), (further, 2)] {
            let problem = Problem { c: Source::Matrix(c), batch, ..scaled };
            let sentence = checked(&problem, 1 << 16, Some(4096), 4096)
                .expect_err("another matrix")
                .to_string();
            assert_eq!(
                sentence,
                "D overlaps C (in a part only); use one matrix, or separate memory"
            );
        }
        assert_eq!(
            checked(&Problem { c: Source::Matrix(further), ..scaled }, 1 << 16, Some(4096), 4096),
            Ok(())
        );
    }

    #[test]
    fn operands_of_another_type_or_device_are_refused() {
        let problem = Problem::packed_transpose(10, 6);
        let desc = Choice::Auto.desc(ElementKind::F32, &problem);
        let refused = |a: DeviceMatrix<'static>, d: DeviceMatrix<'static>| {
            let call = desc.enter(problem.with_transposed(a, Source::None, d));
            call.and_then(|call| check_transpose(1, &call)).expect_err("refused").to_string()
        };
        let (f32, i32, f64) = (ElementKind::F32, ElementKind::I32, ElementKind::F64);
        assert_eq!(refused(at(f32, 0, 2), at(f32, 4096, 1)), "A is on another device than D");
        assert_eq!(refused(at(i32, 0, 1), at(f32, 4096, 1)), "element type of A = i32 is not f32");
        assert_eq!(
            refused(at(f64, 0, 1), at(f64, 4096, 1)),
            "element type of the tensor = f64 is not 4 bytes"
        );
    }
}
