//! The measurement of one problem of a suite on a device: verifies Falchion's kernel, and times it
//! beside every algorithm of the peer.

use super::{
    Launch, SuiteProblem,
    accuracy::errors,
    epilogue_buffers::EpilogueBuffers,
    kernels::prepared,
    ours::{Launched, Ours},
    peer_launches::{Comparison, IntegerCase, against_peer},
    protocol::{self, Session},
    record::{Circumstances, Line},
};
use crate::{
    Error,
    sys::{
        cublaslt::{Lt, LtSet, Region},
        timing::Untracked,
    },
    verify::{Distribution, Fill, HostBuffer, batch_extents, bound::Accumulation},
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    arch::ArchKind,
    cuda::{CudaKernel, machine_of},
    internals::{
        operand::{Elements, Problem, View},
        sys::driver::driver,
    },
    numeric::{Combined, ElementKind},
    refusal::Because,
};
use std::{path::PathBuf, sync::Arc};

/// Rows of D that are computed again to verify a measured GEMM.
pub(crate) const VERIFIED_ROWS: usize = 24;

/// A device for measurements.
pub struct Bench {
    pub(super) stream: Arc<CudaStream>,
    lt: Option<Lt>,
    pub(super) device: String,
}

/// The cuBLASLt library that is measured as the peer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PeerLibrary {
    /// No peer.
    #[default]
    None,
    /// The library that the usual search finds.
    Found,
    /// The library in this file.
    At(PathBuf),
}

/// The settings of a run, except those of the clock.
#[derive(Clone, Default)]
pub struct Run {
    /// Name of the suite.
    pub suite: String,
    /// The cuBLASLt library that is measured as the peer.
    pub peer: PeerLibrary,
    /// Limit in seconds per problem; `None` for the default of [`Settings`](super::Settings).
    pub seconds: Option<f64>,
    /// A kernel that replaces the default one.
    pub kernel: Option<CudaKernel>,
    /// Date of the run.
    pub date: String,
    /// Measured commit.
    pub commit: String,
}

impl Bench {
    /// Opens the device of `stream` for measurements beside `peer`.
    ///
    /// # Errors
    /// - [`falchion::Error::Library`] if cuBLASLt is requested and cannot be loaded.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn new(stream: &Arc<CudaStream>, peer: &PeerLibrary) -> Result<Self, Error> {
        let device = stream.context().name().map_err(driver("cuDeviceGetName"))?;
        let lt = match peer {
            PeerLibrary::None => None,
            PeerLibrary::Found => Some(Lt::open(stream.context(), None)?),
            PeerLibrary::At(path) => Some(Lt::open(stream.context(), Some(path))?),
        };
        Ok(Self { stream: stream.clone(), lt, device })
    }

    /// Measures a problem. If its knobs or its operands are refused, the line has the message of
    /// the refusal.
    ///
    /// # Errors
    /// - [`Error::Measurement`] if a result of the kernel is wrong.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn measure(
        &self,
        session: &mut Session<'_>,
        problem: &SuiteProblem,
        run: &Run,
    ) -> Result<Line, Error> {
        let newest =
            ArchKind::newest_of(machine_of(self.stream.context())?.sm).unwrap_or(ArchKind::Sm70);
        let kernel = match &run.kernel {
            Some(kernel) => kernel.clone(),
            None => match prepared(problem, newest, |desc| {
                CudaKernel::prepare(self.stream.context(), desc)
            })? {
                Ok(kernel) => kernel,
                Err(sentence) => {
                    return Ok(Line::refused(problem, sentence, self.circumstances(run)));
                }
            },
        };
        let desc = *kernel.desc();
        // Event tracking is off, so that work can be captured and no launch waits for events of the
        // previous one.
        let _untracked = Untracked::new(&self.stream);
        let launched = Launched::prepare(problem, &desc, &self.stream)?;
        let numbers = &problem.problem();
        let (types, seed) = (types(problem)?, problem.seed.unwrap_or(1));
        let upload = |buffer: &HostBuffer| {
            self.stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"))
        };
        // Whole numbers come first, because their sums are exact for any bound.
        let [a, b, c] = operands(numbers, types, Fill::Integers, seed)?;
        let sets = [[upload(&a)?, upload(&b)?]];
        let (kernel, stream) = (&kernel, &self.stream);
        // The operands of the epilogue are whole numbers also beside random matrices, so that the
        // peer has one bias.
        let count = protocol::sets(a.bytes().len() + b.bytes().len() + c.bytes().len());
        let beside =
            EpilogueBuffers::filled((&desc, numbers), (Fill::Integers, seed), (stream, count))?;
        let sets_beside = (&sets[..], &beside);
        let mut on_integers = Ours::new((kernel, stream), &launched, types, sets_beside, &c)?;
        let (_, integer_d) = on_integers.verify(&desc, &a, &b, &c)?;
        drop(on_integers);
        let [integer_a, integer_b, integer_c] = [a, b, c];
        let [integer_set] = sets;
        let mut integers = IntegerCase {
            launched: &launched,
            desc: &desc,
            stream,
            host: [&integer_a, &integer_b, &integer_c],
            verified: &integer_d,
            operands: &integer_set,
            beside: &beside,
            d: upload(&integer_c)?,
        };
        let [a, b, c] = match problem.data {
            Some(data) => data.operands(numbers, seed)?,
            None => operands(numbers, types, Fill::Random, seed)?,
        };
        let sets = (0..count)
            .map(|_| Ok([upload(&a)?, upload(&b)?]))
            .collect::<Result<Vec<_>, Error>>()?;
        let sets_beside = (&sets[..], &beside);
        let mut ours = Ours::new((kernel, stream), &launched, types, sets_beside, &c)?;
        let peer_d = (0..count).map(|_| upload(&c)).collect::<Result<Vec<_>, _>>()?;
        let decides = Accumulation::for_description(&desc, numbers.k).relative.is_finite();
        let circumstances = Circumstances {
            family: desc.mainloop.kind().name().to_owned(),
            op: desc.op().name().to_owned(),
            config: desc.to_string(),
            route: launched.route.clone(),
            ..self.circumstances(run)
        };
        let error_over_bound = match decides.then(|| ours.verify(&desc, &a, &b, &c)).transpose() {
            // Refusals of f16x3's window are also recorded.
            Err(Error::Falchion(falchion::Error::Refused(refusal)))
                if problem.data.is_some() && matches!(refusal.because, Because::Line(_)) =>
            {
                return Ok(Line::refused(problem, refusal.to_string(), circumstances));
            }
            verified => verified?.map(|(error_over_bound, _)| error_over_bound),
        };
        let measured = match (problem.data, ours.d(), sets.first()) {
            (Some(_), Some(d), Some(set)) => Some(errors(stream, problem, [&a, &b], set, d)?),
            _ => None,
        };

        let regions: Vec<LtSet<'_>> = sets
            .iter()
            .zip(&peer_d)
            .map(|([a, b], d)| LtSet {
                a: Region::from_slice(a),
                b: Region::from_slice(b),
                c: Region::from_slice(d),
                d: Region::from_slice(d),
            })
            .collect();
        let lt = self.lt.as_ref().filter(|_| run.peer != PeerLibrary::None);
        let mut compare = |ours: &mut dyn Launch| {
            against_peer(session, ours, (lt, stream), problem, &regions, &mut integers)
        };
        let Comparison { peer, outcome, peer_verified, peer_wrong } = match problem.bound {
            true => ours.bind(compare)?,
            false => compare(&mut ours)?,
        };
        let circumstances = Circumstances {
            peer: peer.map(str::to_owned),
            peer_version: peer.and(lt).map(Lt::version_name),
            peer_verified,
            peer_wrong,
            error_over_bound,
            errors: measured.map(|errors| [errors.ours, errors.sgemm]),
            ..circumstances
        };
        Ok(Line::new(problem, &outcome, circumstances))
    }

    fn circumstances(&self, run: &Run) -> Circumstances {
        run.circumstances("gemm", &self.device)
    }
}

impl Run {
    /// Returns the properties that all lines of a run share.
    pub(super) fn circumstances(&self, kind: &str, device: &str) -> Circumstances {
        Circumstances {
            suite: self.suite.clone(),
            kind: kind.to_owned(),
            device: device.to_owned(),
            date: self.date.clone(),
            commit: self.commit.clone(),
            ..Circumstances::default()
        }
    }
}

pub(super) fn measurement(because: impl ToString) -> Error {
    Error::Measurement { because: because.to_string() }
}

pub(super) fn types(problem: &SuiteProblem) -> Result<Combined, Error> {
    let (a, b, c) = (problem.a.element, problem.b.element, problem.c.element);
    let accumulator = match &problem.acc {
        Some(name) => ElementKind::from_name(name)
            .ok_or_else(|| measurement(format!("`{name}` is not an element type")))?,
        None => a.accumulator(),
    };
    Ok(Combined { a, b, accumulator, c })
}

/// Returns A, B, and the previous content of D for each GEMM.
pub(crate) fn operands(
    problem: &Problem,
    types: Combined,
    fill: Fill,
    seed: u64,
) -> Result<[HostBuffer; 3], Error> {
    let Problem { m, n, k, .. } = *problem;
    let (from, source, batch) = (fill.operands(types, k), fill.source(), problem.batch);
    let in_b = (k, if problem.up.matrix().is_some() { 2 * n } else { n });
    Ok([
        filled(types.a, &problem.a, ((m, k), batch), from, seed)?,
        filled(types.b, &problem.whole_b(), (in_b, batch), from, seed.wrapping_add(1))?,
        filled(types.c, &problem.d, ((m, n), batch), source, seed.wrapping_add(2))?,
    ])
}

/// Returns random elements for the matrices of a batch, and poison in their gaps.
pub(super) fn filled(
    kind: ElementKind,
    view: &View<Elements>,
    (extents, batch): ((usize, usize), usize),
    from: Distribution,
    seed: u64,
) -> Result<HostBuffer, Error> {
    let mut buffer = HostBuffer::poisoned(kind, view.memory.length)?;
    from.fill(seed, buffer.whole_mut()?, view, batch_extents(view, extents, batch))?;
    Ok(buffer)
}

/// Synchronizes the stream, and copies elements back to the host.
pub(super) fn downloaded(
    stream: &Arc<CudaStream>,
    kind: ElementKind,
    bytes: &CudaSlice<u8>,
    length: usize,
) -> Result<HostBuffer, Error> {
    let mut buffer = HostBuffer::poisoned(kind, length)?;
    stream
        .memcpy_dtoh(bytes, buffer.whole_mut()?.bytes_mut())
        .map_err(driver("cuMemcpyDtoHAsync"))?;
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    Ok(buffer)
}
