//! One transpose of a suite, measured on a device: ours, a copy and the peer, interleaved; ours verified first.

use super::{
    problem::TransposeProblem,
    record::{Circumstances, TransposeLine},
};
use crate::{
    bench::{
        measure::Run,
        protocol::{self, Session},
        timer::Launch,
    },
    sys::{
        cublas::{Cublas, GeamProblem, copy},
        cublaslt::Region,
    },
    verify::{
        HostBuffer,
        transpose::{TransposeVerdict, fill, verdict},
    },
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    Error,
    cuda::{DeviceMatrix, TransposeOperands, cache::Cache, compile, pass_unit, transpose},
    internals::{
        call::{HostSlice, Source},
        pass::{
            PassDesc,
            transpose::{Choice, Combine, TransposeDesc, TransposeShapes},
        },
        sys::driver::driver,
    },
    numeric::ElementKind,
    refusal::{Operand, Refusal},
};
use std::sync::Arc;

/// A device, and what is measured on it.
pub struct TransposeBench {
    stream: Arc<CudaStream>,
    cublas: Option<Cublas>,
    device: String,
    /// The buffers of the problem before, for another description of the same one.
    kept: Option<Buffers>,
}

/// Everything that a problem's launches touch.
struct Buffers {
    /// The problem, whatever computes it.
    problem: TransposeProblem,
    a: HostBuffer,
    b: Option<HostBuffer>,
    /// What D holds before.
    poison: HostBuffer,
    sources: Vec<Operands>,
    results: Vec<CudaSlice<u8>>,
    /// The copy's and the peer's results.
    others: Vec<CudaSlice<u8>>,
}

impl Buffers {
    fn new(stream: &Arc<CudaStream>, problem: &TransposeProblem) -> Result<Self, Error> {
        let (shapes, combine, kind) = (problem.shapes(), problem.combine(), kind(problem)?);
        let seed = problem.seed.unwrap_or(1);
        let a = filled(combine, kind, shapes.a.length, seed)?;
        let b = match shapes.b {
            Source::Matrix(b) => Some(filled(combine, kind, b.length, seed.wrapping_add(1))?),
            _ => None,
        };
        let poison = HostBuffer::poisoned(kind, shapes.d.length)?;
        let upload = |buffer: &HostBuffer| stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"));
        let count = protocol::sets(a.bytes().len() + poison.bytes().len() + b.as_ref().map_or(0, |b| b.bytes().len()));
        let sources = (0..count)
            .map(|_| Ok(Operands { a: upload(&a)?, b: b.as_ref().map(upload).transpose()? }))
            .collect::<Result<_, Error>>()?;
        let results = (0..count).map(|_| upload(&poison)).collect::<Result<_, Error>>()?;
        let room = poison.bytes().len().max(a.bytes().len());
        let others = (0..count)
            .map(|_| stream.alloc_zeros::<u8>(room).map_err(driver("cuMemAllocAsync")))
            .collect::<Result<_, Error>>()?;
        Ok(Self { problem: bare(problem), a, b, poison, sources, results, others })
    }
}

/// The problem without what computes it.
fn bare(problem: &TransposeProblem) -> TransposeProblem {
    TransposeProblem { rung: None, desc: None, ..problem.clone() }
}

fn kind(problem: &TransposeProblem) -> Result<ElementKind, Error> {
    problem.kind().map_err(|because| Error::Measurement { because })
}

impl TransposeBench {
    /// Opens the device of `stream` for measurements; without `with_peer`, cuBLAS is not looked for.
    ///
    /// # Errors
    /// [`Error::Library`] when cuBLAS is asked for and not there; [`Error::Driver`].
    pub fn new(stream: &Arc<CudaStream>, with_peer: bool) -> Result<Self, Error> {
        let device = stream.context().name().map_err(driver("cuDeviceGetName"))?;
        let cublas = if with_peer { Some(Cublas::open(stream)?) } else { None };
        Ok(Self { stream: stream.clone(), cublas, device, kept: None })
    }

    /// Measures a transpose.
    ///
    /// # Errors
    /// [`Error::Refused`] when ours cannot compute it, [`Error::Measurement`] when it computed it wrong, [`Error::Driver`].
    pub fn measure(&mut self, session: &mut Session<'_>, problem: &TransposeProblem, run: &Run) -> Result<TransposeLine, Error> {
        let kept = self.kept.take().filter(|buffers| buffers.problem == bare(problem));
        let buffers = self.kept.insert(match kept {
            Some(buffers) => buffers,
            None => Buffers::new(&self.stream, problem)?,
        });
        let (shapes, combine, kind) = (problem.shapes(), problem.combine(), kind(problem)?);
        let Buffers { a, b, poison, sources, results, others, .. } = buffers;
        let mut ours = Ours { stream: &self.stream, choice: problem.choice(), combine, kind, shapes: &shapes, sources, results };
        let found = ours.verify([whole(a)?, whole(b.as_ref().unwrap_or(poison))?], poison)?;

        let count = others.len();
        let region = |set: usize| (Region::of(&sources[set].a), Region::of(&others[set]));
        let bytes = kind.matrix_bytes((shapes.rows * shapes.columns) as u64) as usize;
        let mut copied = Copied { stream: &self.stream, regions: (0..count).map(region).collect(), bytes };
        let problems = (0..count).map(|set| {
            let (a, d) = region(set);
            let b = sources[set].b.as_ref().map_or(d, Region::of);
            let (lda, ldd) = (shapes.a.leading, shapes.d.leading);
            GeamProblem { rows: shapes.rows, columns: shapes.columns, a, lda, b, ldb: ldd, d, ldd, scalars: problem.scalars() }
        });
        let mut peer = self.cublas.as_ref().filter(|_| matches!(kind, ElementKind::F32 | ElementKind::F64)).map(|cublas| Geam {
            cublas,
            problems: problems.collect(),
            kind,
        });
        let circumstances = Circumstances {
            suite: run.suite.clone(),
            config: ours.desc().to_string(),
            peer: peer.as_ref().map(|peer| peer.name().to_owned()),
            verified: found.elements,
            error_over_bound: found.error_over_bound,
            device: self.device.clone(),
            date: run.date.clone(),
            commit: run.commit.clone(),
        };
        let mut contenders: Vec<&mut dyn Launch> = vec![&mut ours, &mut copied];
        if let Some(peer) = &mut peer {
            contenders.push(peer);
        }
        let rounds = session.interleave(&mut contenders, count)?;
        TransposeLine::new(problem, &rounds, circumstances)
    }
}

/// Compiles the kernels of problems into the process's cache, for devices of compute capability `sm`. No device is needed.
///
/// # Errors
///
/// Those of [`compile`].
pub fn compile_all(problems: &[TransposeProblem], sm: u32) -> Result<usize, Error> {
    let mut descs: Vec<TransposeDesc> = Vec::new();
    for problem in problems {
        let kind = kind(problem)?;
        let desc = problem.choice().desc(problem.combine(), kind.bytes_of(1), &problem.shapes(), [0; 3]);
        if !descs.contains(&desc) {
            compile(Cache::global(), &pass_unit(&PassDesc::Transpose(desc)), sm)?;
            descs.push(desc);
        }
    }
    Ok(descs.len())
}

fn filled(combine: Combine, kind: ElementKind, length: usize, seed: u64) -> Result<HostBuffer, Error> {
    let mut buffer = HostBuffer::poisoned(kind, length)?;
    fill(combine, &mut buffer, seed)?;
    Ok(buffer)
}

fn whole(buffer: &HostBuffer) -> Result<HostSlice<'_>, Error> {
    buffer.slice(0..buffer.length())
}

/// What is read.
struct Operands {
    a: CudaSlice<u8>,
    b: Option<CudaSlice<u8>>,
}

/// Our kernel over rotated sets of buffers.
struct Ours<'a> {
    stream: &'a Arc<CudaStream>,
    choice: Choice,
    combine: Combine,
    kind: ElementKind,
    shapes: &'a TransposeShapes,
    sources: &'a [Operands],
    results: &'a mut [CudaSlice<u8>],
}

impl Ours<'_> {
    /// Runs once into poison, and compares every byte.
    fn verify(&mut self, [a, b]: [HostSlice<'_>; 2], poison: &HostBuffer) -> Result<TransposeVerdict, Error> {
        self.stream.memcpy_htod(poison.bytes(), &mut self.results[0]).map_err(driver("cuMemcpyHtoDAsync"))?;
        self.launch(0)?;
        let mut d = HostBuffer::poisoned(self.kind, poison.length())?;
        let bytes = d.slice_mut(0..poison.length())?;
        self.stream.memcpy_dtoh(&self.results[0], { bytes }.bytes_mut()).map_err(driver("cuMemcpyDtoHAsync"))?;
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        let found = verdict(self.combine, self.shapes, [a, b, whole(poison)?], whole(&d)?)?;
        match &found.first_wrong {
            Some(wrong) => {
                Err(Error::Measurement { because: format!("our result is wrong, and what is wrong is not timed: {wrong}") })
            }
            None => Ok(found),
        }
    }

    /// The description that runs. Allocations begin at multiples of 256 bytes.
    fn desc(&self) -> TransposeDesc {
        self.choice.desc(self.combine, self.kind.bytes_of(1), self.shapes, [0; 3])
    }
}

impl Launch for Ours<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let (Some(Operands { a, b }), Some(d)) = (self.sources.get(set), self.results.get_mut(set)) else {
            return Err(Refusal::MissingOperand { operand: Operand::Buffers }.into());
        };
        let operands = TransposeOperands {
            a: DeviceMatrix::read_bytes(self.kind, a, self.stream),
            b: b.as_ref().map_or(Source::None, |b| Source::Matrix(DeviceMatrix::read_bytes(self.kind, b, self.stream))),
            d: DeviceMatrix::write_bytes(self.kind, d, self.stream),
        };
        transpose(self.choice, self.combine, self.stream, self.shapes, &operands)
    }

    fn name(&self) -> &str {
        "ours"
    }
}

/// A device-to-device copy of A's bytes.
struct Copied<'a> {
    stream: &'a Arc<CudaStream>,
    regions: Vec<(Region<'a>, Region<'a>)>,
    bytes: usize,
}

impl Launch for Copied<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let (from, to) = self.regions[set % self.regions.len()];
        copy(self.stream, from, to, self.bytes)
    }

    fn name(&self) -> &str {
        "copy"
    }
}

/// The peer.
struct Geam<'a> {
    cublas: &'a Cublas,
    problems: Vec<GeamProblem<'a>>,
    kind: ElementKind,
}

impl Launch for Geam<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        self.cublas.geam(&self.problems[set % self.problems.len()], self.kind.bytes_of(1) as usize)
    }

    fn name(&self) -> &str {
        if self.kind == ElementKind::F64 { "cublasDgeam" } else { "cublasSgeam" }
    }
}
