//! The measurement of one transpose of a suite on a device: verifies Falchion's kernel, and times
//! it in interleaved rounds with a copy and the peer.

use super::suite::SuiteTranspose;
use crate::{
    Error,
    bench::{
        kernels::{Compiled, written},
        measure::{Bench, PeerLibrary, Run, downloaded, filled, measurement},
        protocol::{self, Session},
        record::{Circumstances, Line},
        timer::Launch,
    },
    sys::{
        cublas::{Cublas, GeamProblem, copy},
        cublaslt::Region,
        timing::Untracked,
    },
    verify::{self, Distribution, HostBuffer},
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    cuda::{DeviceMatrix, pass_unit, transpose},
    internals::{
        operand::{
            PassDesc, Problem, Source,
            transpose::{Choice, TransposeDesc},
        },
        sys::driver::driver,
    },
    layout::Order,
    numeric::ElementKind,
    refusal::{Operand, Refusal},
};
use std::sync::Arc;

impl Bench {
    /// Measures a transpose. The peer is cuBLAS's `geam`, unless the run has no peer.
    ///
    /// # Errors
    /// - [`falchion::Error::Refused`] if Falchion does not support the transpose.
    /// - [`Error::Measurement`] if a result of the kernel is wrong.
    /// - [`falchion::Error::Library`] if cuBLAS is requested and cannot be loaded.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn measure_transpose(
        &self,
        session: &mut Session<'_>,
        suite: &SuiteTranspose,
        run: &Run,
    ) -> Result<Line<SuiteTranspose>, Error> {
        // Event tracking is off, as in measurements of GEMMs.
        let stream = &self.stream;
        let _untracked = Untracked::new(stream);
        let (problem, kind) = (suite.problem(), suite.kind().map_err(measurement)?);
        let Problem { m, n, k, .. } = problem;
        let (from, seed) = (Distribution::Random, suite.seed.unwrap_or(1));
        let a = filled(kind, &problem.a, ((m, k), 1), from, seed)?;
        let c = |view| filled(kind, &view, ((m, n), 1), from, seed.wrapping_add(1));
        let c = problem.c.try_map(c)?;
        let poison = HostBuffer::poisoned(kind, problem.d.memory.length)?;
        let upload = |buffer: &HostBuffer| {
            stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"))
        };
        let bytes = |buffer: &HostBuffer| buffer.bytes().len();
        let count = protocol::sets(bytes(&a) + bytes(&poison) + c.matrix().map_or(0, bytes));
        let sources = (0..count)
            .map(|_| Ok((upload(&a)?, c.as_ref().try_map(upload)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let results = (0..count).map(|_| upload(&poison)).collect::<Result<Vec<_>, _>>()?;
        // The results of the copy and of the peer.
        let room = bytes(&poison).max(bytes(&a));
        let others = (0..count)
            .map(|_| stream.alloc_zeros::<u8>(room).map_err(driver("cuMemAllocAsync")))
            .collect::<Result<Vec<_>, _>>()?;
        let choice = suite.choice();
        let mut ours = Ours { stream, choice, kind, problem, sources: &sources, results };
        let error_over_bound = ours.verify(&a, &c, &poison)?;

        let region =
            |set: usize| (Region::from_slice(&sources[set].0), Region::from_slice(&others[set]));
        let bytes = kind.matrix_bytes((m * n) as u64) as usize;
        let mut copied = Copied { stream, regions: (0..count).map(region).collect(), bytes };
        let problems = (0..count).map(|set| {
            let (a, d) = region(set);
            let (lda, ldd) = (problem.a.leading(Order::Col), problem.d.leading(Order::Row));
            GeamProblem {
                rows: suite.rows,
                columns: suite.columns,
                a,
                lda,
                b: sources[set].1.matrix().map_or(d, Region::from_slice),
                ldb: ldd,
                d,
                ldd,
                scalars: suite.scalars(),
            }
        });
        let wanted =
            run.peer != PeerLibrary::None && matches!(kind, ElementKind::F32 | ElementKind::F64);
        let cublas = wanted.then(|| Cublas::open(stream)).transpose()?;
        let problems = problems.collect();
        let mut peer = cublas.as_ref().map(|cublas| Geam { cublas, problems, kind });
        let circumstances = Circumstances {
            op: "transpose".to_owned(),
            family: suite.rung.map_or("transpose", |rung| rung.name()).to_owned(),
            config: choice.desc(kind, &problem).to_string(),
            peer: peer.as_ref().map(|peer| peer.name().to_owned()),
            peer_version: cublas.as_ref().map(|cublas| cublas.version().to_owned()),
            error_over_bound: Some(error_over_bound),
            ..run.circumstances("transpose", &self.device)
        };
        let mut contenders: Vec<&mut dyn Launch> = vec![&mut ours, &mut copied];
        if let Some(peer) = &mut peer {
            contenders.push(peer);
        }
        let rounds = session.interleave(&mut contenders, count)?;
        Line::from_rounds(suite, &rounds, circumstances)
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
        let desc = one.choice().desc(one.kind().map_err(measurement)?, &one.problem());
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

/// Falchion's kernel with rotated buffer sets of A, C, and D.
struct Ours<'a> {
    stream: &'a Arc<CudaStream>,
    choice: Choice,
    kind: ElementKind,
    problem: Problem,
    sources: &'a [(CudaSlice<u8>, Source<CudaSlice<u8>>)],
    results: Vec<CudaSlice<u8>>,
}

impl Ours<'_> {
    /// Runs the kernel once on poisoned memory, and compares every element. Returns the largest
    /// ratio of an error to its bound.
    fn verify(
        &mut self,
        a: &HostBuffer,
        c: &Source<HostBuffer>,
        poison: &HostBuffer,
    ) -> Result<f64, Error> {
        self.launch(0)?;
        let d = downloaded(self.stream, self.kind, &self.results[0], poison.length())?;
        let c = c.matrix().map(HostBuffer::whole).transpose()?;
        let verdict = verify::transpose(&self.problem, [a.whole()?, d.whole()?], c)?;
        if !verdict.is_right() {
            return Err(measurement(format!(
                "Falchion's result is wrong, so the benchmark does not time it: {verdict}"
            )));
        }
        Ok(verdict.error_over_bound)
    }
}

impl Launch for Ours<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let (Some((a, c)), Some(d)) = (self.sources.get(set), self.results.get_mut(set)) else {
            return Err(Refusal::missing_operand(Operand::Buffers).into());
        };
        let (kind, stream) = (self.kind, self.stream);
        let read = |bytes| DeviceMatrix::read_bytes(kind, bytes, stream);
        let d = DeviceMatrix::write_bytes(kind, d, stream);
        let call = self.problem.with_transposed(read(a), c.as_ref().map(|c| read(c)), d);
        Ok(transpose(self.choice, stream, call)?)
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
