//! Climbs on a device. Each rung is verified, and then measured in interleaved rounds beside the
//! peer, or beside a copy.

use super::{
    Climb, Machine, Measured, Program, TransposeClimb, TransposeMeasured, TransposeRung, rungs,
};
use crate::{
    Error,
    bench::{
        Session, SuiteProblem,
        measure::{Bench, PeerLibrary, Run},
        statistics::median,
        transpose::SuiteTranspose,
    },
};
use cudarc::driver::CudaContext;
use falchion::{
    cuda::CudaKernel,
    layout::{MatrixType, Order},
    numeric::ElementKind,
};
use std::sync::Arc;

/// Measures all rungs. Calls `reached` with the number of each measured rung.
///
/// # Errors
/// The errors of [`Bench::measure`]. A rung with a wrong result is not timed.
pub fn climb(
    context: &Arc<CudaContext>,
    bench: &Bench,
    session: &mut Session<'_>,
    (size, machine, on): (usize, &Machine, &str),
    reached: &mut dyn FnMut(usize),
) -> Result<Climb, Error> {
    let mut climb = Climb::predicted(size, machine, on)?;
    let matrix = MatrixType { element: ElementKind::F32, order: Order::Row };
    let problem = SuiteProblem::new((size, size, size), [matrix; 3]);
    let mut peer = Vec::new();
    for (number, rung) in rungs()?.iter().enumerate() {
        let kernel = match rung.program {
            Program::Textbook(textbook) => textbook.prepare(context)?,
            Program::Gemm(desc) => CudaKernel::prepare(context, &desc)?,
        };
        let report = kernel.report().clone();
        let run = Run {
            suite: "ladder".to_owned(),
            peer: PeerLibrary::Found,
            kernel: Some(kernel),
            ..Run::default()
        };
        let line = bench.measure(session, &problem, &run)?;
        peer.extend(line.peer_tflops);
        if let Some(place) = climb.rungs.get_mut(number) {
            place.measured = Some(Measured {
                tflops: line.ours_tflops.unwrap_or(0.0),
                of_peer: line.ratio,
                error_over_bound: line.error_over_bound,
                registers: report.registers,
                spilled_bytes: report.spill_store_bytes + report.spill_load_bytes,
            });
        }
        reached(number);
    }
    climb.peer_tflops = median(&peer);
    Ok(climb)
}

/// Measures all rungs of the transpose of a `rows` x `columns` matrix. Calls `reached` with the
/// number of each measured rung.
///
/// # Errors
/// The errors of [`Bench::measure_transpose`].
pub fn climb_transposes(
    bench: &Bench,
    session: &mut Session<'_>,
    ((rows, columns), kind, on): ((usize, usize), ElementKind, &str),
    reached: &mut dyn FnMut(usize),
) -> Result<TransposeClimb, Error> {
    let mut climb = TransposeClimb::counted((rows, columns), kind, on)?;
    let run = Run { suite: "ladder".to_owned(), ..Run::default() };
    for (number, (rung, place)) in TransposeRung::ALL.into_iter().zip(&mut climb.rungs).enumerate()
    {
        let problem =
            SuiteTranspose { rung: Some(rung), ..SuiteTranspose::new((rows, columns), kind) };
        let line = bench.measure_transpose(session, &problem, &run)?;
        place.measured = line.traffic.map(|traffic| TransposeMeasured {
            microseconds: line.ours_us,
            gbytes_per_second: traffic.ours_gbs,
            of_copy: traffic.ratio_to_copy,
        });
        reached(number);
    }
    Ok(climb)
}
