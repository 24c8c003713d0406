//! The measurement of one transpose of a suite on a device: verifies Falchion's kernel, and times
//! it in interleaved rounds with a copy and the peer.

use super::{problem::SuiteTranspose, record::TransposeLine};
use crate::{
    Error,
    bench::{
        kernels::{Compiled, written},
        measure::{Run, downloaded},
        protocol::{self, Session},
        record::Circumstances,
        timer::Launch,
    },
    sys::{
        cublas::{Cublas, GeamProblem, copy},
        cublaslt::Region,
        timing::Untracked,
    },
    verify::{
        HostBuffer,
        transpose::{TransposeVerdict, fill, verdict},
    },
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    cuda::{DeviceMatrix, pass_unit, transpose},
    internals::{
        call::Source,
        pass::{
            PassDesc,
            transpose::{Choice, Combine, TransposeDesc, TransposeProblem},
        },
        sys::driver::driver,
    },
    layout::Order,
    numeric::ElementKind,
    refusal::{Operand, Refusal},
};
use std::sync::Arc;

/// A device for measurements.
pub struct TransposeBench {
    stream: Arc<CudaStream>,
    cublas: Option<Cublas>,
    device: String,
    /// The buffers of the previous problem, for another description of the same problem.
    kept: Option<Buffers>,
}

/// The memory of a problem's launches.
struct Buffers {
    /// The problem, without its kernel.
    suite: SuiteTranspose,
    a: HostBuffer,
    b: Source<HostBuffer>,
    /// Previous content of D.
    poison: HostBuffer,
    sources: Vec<Operands>,
    results: Vec<CudaSlice<u8>>,
    /// Results of the copy and of the peer.
    others: Vec<CudaSlice<u8>>,
}

impl Buffers {
    fn new(stream: &Arc<CudaStream>, suite: &SuiteTranspose) -> Result<Self, Error> {
        let (problem, combine, kind) = (suite.problem(), suite.combine(), kind(suite)?);
        let seed = suite.seed.unwrap_or(1);
        let a = filled(combine, kind, problem.a.memory.length, seed)?;
        let b =
            problem.b.try_map(|b| filled(combine, kind, b.memory.length, seed.wrapping_add(1)))?;
        let poison = HostBuffer::poisoned(kind, problem.d.memory.length)?;
        let upload = |buffer: &HostBuffer| {
            stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"))
        };
        let count = protocol::sets(
            a.bytes().len() + poison.bytes().len() + b.matrix().map_or(0, |b| b.bytes().len()),
        );
        let sources = (0..count)
            .map(|_| Ok(Operands { a: upload(&a)?, b: b.as_ref().try_map(upload)? }))
            .collect::<Result<_, Error>>()?;
        let results = (0..count).map(|_| upload(&poison)).collect::<Result<_, _>>()?;
        let room = poison.bytes().len().max(a.bytes().len());
        let others = (0..count)
            .map(|_| stream.alloc_zeros::<u8>(room).map_err(driver("cuMemAllocAsync")))
            .collect::<Result<_, _>>()?;
        Ok(Self { suite: bare(suite), a, b, poison, sources, results, others })
    }
}

/// Returns the problem without its kernel.
fn bare(suite: &SuiteTranspose) -> SuiteTranspose {
    SuiteTranspose { rung: None, desc: None, ..suite.clone() }
}

fn kind(suite: &SuiteTranspose) -> Result<ElementKind, Error> {
    suite.kind().map_err(|because| Error::Measurement { because })
}

impl TransposeBench {
    /// Opens the device of `stream` for measurements. Without `with_peer`, cuBLAS is not loaded.
    ///
    /// # Errors
    /// - [`falchion::Error::Library`] if cuBLAS is requested and cannot be loaded.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn new(stream: &Arc<CudaStream>, with_peer: bool) -> Result<Self, Error> {
        let device = stream.context().name().map_err(driver("cuDeviceGetName"))?;
        let cublas = if with_peer { Some(Cublas::open(stream)?) } else { None };
        Ok(Self { stream: stream.clone(), cublas, device, kept: None })
    }

    /// Measures a transpose.
    ///
    /// # Errors
    /// - [`falchion::Error::Refused`] if Falchion does not support the transpose.
    /// - [`Error::Measurement`] if a result of the kernel is wrong.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn measure(
        &mut self,
        session: &mut Session<'_>,
        suite: &SuiteTranspose,
        run: &Run,
    ) -> Result<TransposeLine, Error> {
        // Event tracking is off, as in measurements of GEMMs.
        let _untracked = Untracked::new(&self.stream);
        let kept = self.kept.take().filter(|buffers| buffers.suite == bare(suite));
        let buffers = self.kept.insert(match kept {
            Some(buffers) => buffers,
            None => Buffers::new(&self.stream, suite)?,
        });
        let (problem, combine, kind) = (suite.problem(), suite.combine(), kind(suite)?);
        let Buffers { a, b, poison, sources, results, others, .. } = buffers;
        let mut ours = Ours {
            stream: &self.stream,
            choice: suite.choice(),
            combine,
            kind,
            problem,
            sources,
            results,
        };
        let found = ours.verify(a, b, poison)?;

        let count = others.len();
        let region = |set: usize| (Region::of(&sources[set].a), Region::of(&others[set]));
        let bytes = kind.matrix_bytes((problem.rows * problem.columns) as u64) as usize;
        let mut copied =
            Copied { stream: &self.stream, regions: (0..count).map(region).collect(), bytes };
        let problems = (0..count).map(|set| {
            let (a, d) = region(set);
            let b = sources[set].b.matrix().map_or(d, Region::of);
            let (lda, ldd) = (problem.a.leading(Order::Row), problem.d.leading(Order::Row));
            GeamProblem {
                rows: problem.rows,
                columns: problem.columns,
                a,
                lda,
                b,
                ldb: ldd,
                d,
                ldd,
                scalars: problem.scalars,
            }
        });
        let mut peer = self
            .cublas
            .as_ref()
            .filter(|_| matches!(kind, ElementKind::F32 | ElementKind::F64))
            .map(|cublas| Geam { cublas, problems: problems.collect(), kind });
        let circumstances = Circumstances {
            config: ours.desc().to_string(),
            peer: peer.as_ref().map(|peer| peer.name().to_owned()),
            peer_version: peer.as_ref().map(|peer| peer.cublas.version().to_owned()),
            error_over_bound: found.error_over_bound,
            ..run.circumstances("transpose", &self.device)
        };
        let mut contenders: Vec<&mut dyn Launch> = vec![&mut ours, &mut copied];
        if let Some(peer) = &mut peer {
            contenders.push(peer);
        }
        let rounds = session.interleave(&mut contenders, count)?;
        TransposeLine::new(suite, &rounds, found.elements, circumstances)
    }
}

/// Compiles the kernels of problems into the process's cache, for devices of compute capability
/// `sm`. No device is needed.
///
/// # Errors
/// The errors of [`compile_to_disk`](falchion::cuda::compile_to_disk) except
/// [`falchion::Error::Io`], which is stored in [`Compiled`].
pub fn compile_all(suite: &[SuiteTranspose], sm: u32) -> Result<Compiled, Error> {
    let mut descs: Vec<TransposeDesc> = Vec::new();
    let mut compiled = Compiled::default();
    for one in suite {
        let kind = kind(one)?;
        let desc = one.choice().desc(one.combine(), kind.bytes_of(1), &one.problem());
        if !descs.contains(&desc) {
            compiled.unwritten = written([pass_unit(&PassDesc::Transpose(desc))], sm)?;
            if compiled.unwritten.is_some() {
                break;
            }
            descs.push(desc);
        }
    }
    Ok(Compiled { kernels: descs.len(), ..compiled })
}

fn filled(
    combine: Combine,
    kind: ElementKind,
    length: usize,
    seed: u64,
) -> Result<HostBuffer, Error> {
    let mut buffer = HostBuffer::poisoned(kind, length)?;
    fill(combine, &mut buffer, seed)?;
    Ok(buffer)
}

/// The inputs of a transpose.
struct Operands {
    a: CudaSlice<u8>,
    b: Source<CudaSlice<u8>>,
}

/// Falchion's kernel with rotated buffer sets.
struct Ours<'a> {
    stream: &'a Arc<CudaStream>,
    choice: Choice,
    combine: Combine,
    kind: ElementKind,
    problem: TransposeProblem,
    sources: &'a [Operands],
    results: &'a mut [CudaSlice<u8>],
}

impl Ours<'_> {
    /// Runs the kernel once on poisoned memory, and compares every byte.
    fn verify(
        &mut self,
        a: &HostBuffer,
        b: &Source<HostBuffer>,
        poison: &HostBuffer,
    ) -> Result<TransposeVerdict, Error> {
        self.stream
            .memcpy_htod(poison.bytes(), &mut self.results[0])
            .map_err(driver("cuMemcpyHtoDAsync"))?;
        self.launch(0)?;
        let d = downloaded(self.stream, self.kind, &self.results[0], poison.length())?;
        let call =
            self.problem.with(a.whole()?, b.as_ref().try_map(HostBuffer::whole)?, d.whole()?);
        let found = verdict(self.combine, &call, poison.whole()?)?;
        match &found.first_wrong {
            Some(wrong) => Err(Error::Measurement {
                because: format!(
                    "Falchion's result is wrong, so the benchmark does not time it: {wrong}"
                ),
            }),
            None => Ok(found),
        }
    }

    /// Returns the description that runs. Allocations begin at multiples of 256 bytes.
    fn desc(&self) -> TransposeDesc {
        self.choice.desc(self.combine, self.kind.bytes_of(1), &self.problem)
    }
}

impl Launch for Ours<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let (Some(Operands { a, b }), Some(d)) = (self.sources.get(set), self.results.get_mut(set))
        else {
            return Err(Refusal::missing_operand(Operand::Buffers).into());
        };
        let (kind, stream) = (self.kind, self.stream);
        let (a, b) = (
            DeviceMatrix::read_bytes(kind, a, stream),
            b.as_ref().map(|b| DeviceMatrix::read_bytes(kind, b, stream)),
        );
        let call = self.problem.with(a, b, DeviceMatrix::write_bytes(kind, d, stream));
        Ok(transpose(self.choice, self.combine, stream, &call)?)
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

/// The peer, cuBLAS's `geam`.
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
