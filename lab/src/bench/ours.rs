//! Falchion's kernel as a contender: a GEMM, a batch, a grouped GEMM, or a pointer array, verified,
//! with rotated buffer sets.

use super::{
    SuiteProblem,
    epilogue_buffers::{EpilogueBuffers, EpilogueResults, views},
    gathered_rows::placed_rows,
    measure::{VERIFIED_ROWS, measurement},
    timer::Launch,
};
use crate::{
    Error,
    verify::{self, Claim, HostBuffer, Verdict, draw},
};
use core::ops::Range;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    cuda::{BoundCall, CudaCall, CudaKernel, CudaMatrices, DeviceMatrix},
    internals::{
        operand::{Elements, Groups, HostSlice, Problem, Source, View},
        shape::EpilogueOperands,
        sys::driver::driver,
    },
    nest::GemmDesc,
    numeric::{Combined, ElementKind},
    refusal::{Operand, Refusal},
};
use std::sync::Arc;

/// A problem in the form in which Falchion launches it.
pub(super) struct Launched {
    /// The problem that defines the operands and the verification.
    numbers: Problem,
    /// The launched problem.
    problem: Problem,
    /// Group offsets of a grouped GEMM, on the host and on the device.
    offsets: Option<(Vec<u32>, CudaSlice<u8>)>,
    /// Index list of A, on the host and on the device.
    rows: Option<(Vec<u32>, CudaSlice<u8>)>,
    /// For a pointer array, the order of the GEMMs. It is random, so that the addresses have no
    /// constant stride.
    order: Option<Vec<usize>>,
    /// Description of how operands reach the kernel.
    pub route: String,
    /// Workspace in bytes.
    workspace: u64,
    /// Whether the launches of a pointer array are prepared once.
    bound: bool,
}

impl Launched {
    /// Prepares a problem for a description, with group offsets on the device of `stream`.
    pub(super) fn prepare(
        problem: &SuiteProblem,
        desc: &GemmDesc,
        stream: &Arc<CudaStream>,
    ) -> Result<Self, Error> {
        let numbers = problem.problem();
        let numbers = Problem { operands: views(desc, &numbers), ..numbers };
        let order = problem.pointers.then(|| scattered(numbers.batch));
        let upload = |numbers: Vec<u32>| {
            let bytes = stream
                .clone_htod(bytemuck::cast_slice::<u32, u8>(&numbers))
                .map_err(driver("cuMemcpyHtoDAsync"))?;
            Ok::<_, Error>((numbers, bytes))
        };
        let offsets = problem.offsets().map(upload).transpose()?;
        let rows = problem.rows_of_a().map(upload).transpose()?;
        let launched = Problem { operands: numbers.operands, ..problem.launched() };
        let (routes, workspace) = match &order {
            Some(_) => {
                let products: Vec<_> =
                    (0..numbers.batch).map(|number| product(&numbers, desc, number)).collect();
                let all = Problem::from_array(&products, desc).unwrap_or(numbers);
                (desc.routes(&all)?, desc.workspace_of(&products)?)
            }
            None => {
                let indices = launched.indices;
                let routes = desc.routes(&Problem { indices, ..numbers })?;
                (routes, routes.workspace_bytes())
            }
        };
        let (bound, problem, route) = (problem.bound, launched, routes.to_string());
        Ok(Self { numbers, problem, offsets, rows, order, route, workspace, bound })
    }

    /// Returns whether the launch reads the previous content of D.
    pub(super) fn reads_c(&self) -> bool {
        self.numbers.scalars[1] != 0.0
    }

    /// Compares [`VERIFIED_ROWS`] rows of each GEMM of `d` with the reference. C is the content of
    /// D before the launch.
    pub(super) fn verdict(
        &self,
        desc: &GemmDesc,
        [a, b, c]: [&HostBuffer; 3],
        operands: EpilogueOperands<HostSlice<'_>>,
        d: &HostBuffer,
    ) -> Result<Verdict, falchion::Error> {
        let problem = &self.numbers;
        let (a, b, c, d) = (a.whole()?, b.whole()?, Some(c.whole()?), d.whole()?);
        let claim = Claim { desc, problem, a, b, c, d, operands };
        match (&self.offsets, problem.groups) {
            (Some((offsets, _)), Some(_)) => verify::grouped(&claim, offsets, Some(VERIFIED_ROWS)),
            _ => verify::sampled(&claim, VERIFIED_ROWS, 1),
        }
    }

    /// Returns the byte ranges of the Ds in the memory of all. For a pointer array, there is one
    /// range per GEMM, and each has its own allocation.
    fn results(&self, kind: ElementKind, all: usize) -> Vec<Range<usize>> {
        let (d, extents) = (&self.numbers.d, (self.numbers.m, self.numbers.n));
        let bytes = |elements: usize| kind.matrix_bytes(elements as u64) as usize;
        let own = usize::try_from(d.elements(extents, 1)).unwrap_or(usize::MAX);
        match &self.order {
            Some(order) => (0..order.len())
                .map(|number| bytes(number * d.batch_stride)..bytes(number * d.batch_stride + own))
                .collect(),
            None => Vec::from([Range { start: 0, end: all }]),
        }
    }
}

/// Returns the numbers below `count` in random order.
fn scattered(count: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    order.sort_by_key(|&number| draw(count as u64, number as u64));
    order
}

/// Returns one GEMM of a batch, whose matrices are at their offsets from the first ones.
fn product(all: &Problem, desc: &GemmDesc, number: usize) -> Problem {
    let types = desc.user_types();
    let first = |kind: ElementKind, view: &View<Elements>| {
        kind.matrix_bytes((number * view.batch_stride) as u64)
    };
    Problem { batch: 1, ..all.at([first(types.a, &all.a), first(types.b, &all.b)]) }
}

/// Falchion's kernel with rotated buffer sets.
pub(super) struct Ours<'a> {
    kernel: &'a CudaKernel,
    stream: &'a Arc<CudaStream>,
    launched: &'a Launched,
    types: Combined,
    sets: &'a [[CudaSlice<u8>; 2]],
    /// If A is gathered, one A per set with the rows in the places of the index list. The gathered
    /// rows are then those of the set's A, which the peer reads.
    placed: Vec<CudaSlice<u8>>,
    beside: &'a EpilogueBuffers,
    results_beside: EpilogueResults,
    /// One D per set, or for a pointer array one D per GEMM and set.
    results: Vec<Vec<CudaSlice<u8>>>,
    workspace: Option<CudaSlice<u8>>,
}

impl<'a> Ours<'a> {
    /// Prepares the kernel for sets of A and B, with Ds that hold the content of `c`.
    pub(super) fn new(
        (kernel, stream): (&'a CudaKernel, &'a Arc<CudaStream>),
        launched: &'a Launched,
        types: Combined,
        (sets, beside): (&'a [[CudaSlice<u8>; 2]], &'a EpilogueBuffers),
        c: &HostBuffer,
    ) -> Result<Self, Error> {
        let described = (kernel.desc(), &launched.numbers);
        let parts = launched.results(types.c, c.bytes().len());
        let upload = |part: &Range<usize>| {
            stream.clone_htod(&c.bytes()[part.clone()]).map_err(driver("cuMemcpyHtoDAsync"))
        };
        let results =
            sets.iter().map(|_| parts.iter().map(upload).collect()).collect::<Result<_, _>>()?;
        Ok(Self {
            kernel,
            stream,
            launched,
            types,
            sets,
            placed: launched.rows.as_ref().map_or(Ok(Vec::new()), |(rows, _)| {
                placed_rows(stream, rows, (types.a, &launched.numbers), sets)
            })?,
            beside,
            results_beside: EpilogueResults::poisoned(described, (stream, sets.len()))?,
            results,
            workspace: room(stream, launched.workspace)?,
        })
    }

    /// Returns the D of the first set, unless it is a pointer array.
    pub(super) fn d(&self) -> Option<&CudaSlice<u8>> {
        self.results.first()?.first()
    }

    /// Runs the kernel once, and compares some rows of each GEMM with the reference. Returns the
    /// largest ratio of an error to its bound, and D.
    pub(super) fn verify(
        &mut self,
        desc: &GemmDesc,
        a: &HostBuffer,
        b: &HostBuffer,
        c: &HostBuffer,
    ) -> Result<(f64, HostBuffer), Error> {
        let stream = self.stream;
        let parts = self.launched.results(self.types.c, c.bytes().len());
        let mut computed = HostBuffer::poisoned(self.types.c, c.length())?;
        if !self.launched.reads_c() {
            // Elements that are not written keep the poison.
            for (part, d) in parts.iter().zip(&mut self.results[0]) {
                stream
                    .memcpy_htod(&computed.bytes()[part.clone()], d)
                    .map_err(driver("cuMemcpyHtoDAsync"))?;
            }
        }
        self.launch(0)?;
        for (part, d) in parts.iter().zip(&self.results[0]) {
            let into = &mut computed.whole_mut()?.into_bytes()[part.clone()];
            stream.memcpy_dtoh(d, into).map_err(driver("cuMemcpyDtoHAsync"))?;
        }
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        let results = self.results_beside.downloaded(stream)?;
        let operands = self.beside.host(&results)?;
        let verdict = self.launched.verdict(desc, [a, b, c], operands, &computed)?;
        if !verdict.is_right() {
            return Err(measurement(format!(
                "Falchion's result is wrong, so the benchmark does not time it: {:?}",
                verdict.first_wrong
            )));
        }
        Ok((verdict.error_over_bound, computed))
    }
}

/// A pointer array that is bound on each buffer set.
struct BoundArrays<'c, 'b>(&'c mut [BoundCall<'b>]);

impl Ours<'_> {
    /// Binds the pointer array on each set, with one workspace per set, and lends it to `body`.
    pub(super) fn bind<T>(
        &mut self,
        body: impl FnOnce(&mut dyn Launch) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Self { kernel, stream, launched, types, sets, results, .. } = self;
        let product = (&launched.numbers, launched.order.as_deref().unwrap_or_default());
        let workspaces = sets.iter().map(|_| room(stream, launched.workspace));
        let mut workspaces = workspaces.collect::<Result<Vec<_>, _>>()?;
        let mut arrays = Vec::with_capacity(sets.len());
        for ((operands, results), workspace) in sets.iter().zip(results).zip(&mut workspaces) {
            let workspace = workspace.as_mut();
            arrays.push(array_calls(stream, product, *types, operands, results, workspace)?);
        }
        kernel.bind_arrays(stream, arrays, |bound| body(&mut BoundArrays(bound)))
    }
}

impl Launch for BoundArrays<'_, '_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let call = self.0.get_mut(set).ok_or(Refusal::missing_operand(Operand::Buffers))?;
        Ok(call.run()?)
    }

    fn name(&self) -> &str {
        "ours"
    }
}

impl Launch for Ours<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let Self { kernel, stream, launched, types, sets, placed, beside, .. } = self;
        let Self { results_beside, results, workspace, .. } = self;
        let (Some(operands), Some(results)) = (sets.get(set), results.get_mut(set)) else {
            return Err(Refusal::missing_operand(Operand::Buffers).into());
        };
        let workspace = workspace.as_mut();
        if let Some(order) = &launched.order {
            let product = (&launched.numbers, &order[..]);
            let calls = array_calls(stream, product, *types, operands, results, workspace)?;
            if launched.bound {
                return kernel.bind_arrays(stream, vec![calls], |bound| {
                    bound.iter_mut().try_for_each(|call| Ok(call.run()?))
                });
            }
            return Ok(kernel.run_array(stream, calls)?);
        }
        let Some(d) = results.first_mut() else {
            return Err(Refusal::missing_operand(Operand::D).into());
        };
        let lists = [&launched.offsets, &launched.rows].map(|list| {
            let (_, bytes) = list.as_ref()?;
            Some(DeviceMatrix::read_bytes(ElementKind::I32, bytes, stream))
        });
        let [a, b] = operands;
        let beside = results_beside.beside(beside.read(set, stream), (set, stream));
        let operands = ([placed.get(set).unwrap_or(a), b], beside);
        let on = (*kernel, *stream);
        enqueue(on, (&launched.problem, lists), *types, operands, d, workspace)
    }

    fn name(&self) -> &str {
        "ours"
    }

    fn calls(&self) -> usize {
        self.launched.order.as_ref().map_or(1, Vec::len)
    }
}

/// Allocates a workspace; `None` for 0 bytes.
pub(crate) fn room(
    stream: &Arc<CudaStream>,
    bytes: u64,
) -> Result<Option<CudaSlice<u8>>, falchion::Error> {
    (bytes > 0)
        .then(|| stream.alloc_zeros(bytes as usize))
        .transpose()
        .map_err(driver("cuMemAllocAsync"))
}

/// Enqueues a GEMM on whole buffers. If beta is not 0, C is D. The lists are the group offsets, and
/// the indices of A.
pub(crate) fn enqueue(
    (kernel, stream): (&CudaKernel, &Arc<CudaStream>),
    (problem, [offsets, rows]): (&Problem, [Option<DeviceMatrix<'_>>; 2]),
    types: Combined,
    ([a, b], operands): ([&CudaSlice<u8>; 2], EpilogueOperands<DeviceMatrix<'_>>),
    d: &mut CudaSlice<u8>,
    workspace: Option<&mut CudaSlice<u8>>,
) -> Result<(), Error> {
    let up = problem
        .up
        .map(|up| up.with(DeviceMatrix::read_bytes(types.b, b, stream).from(problem.up_offset())));
    let (a, b) = (
        DeviceMatrix::read_bytes(types.a, a, stream),
        DeviceMatrix::read_bytes(types.b, b, stream),
    );
    let d = DeviceMatrix::write_bytes(types.c, d, stream);
    let workspace =
        workspace.map(|bytes| DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
    let matrices = CudaMatrices { a, b, c: Source::None, d, operands };
    let groups =
        problem.groups.zip(offsets).map(|(groups, offsets)| Groups::new(groups.axis, offsets));
    let indices = problem.indices.with([rows, None, None]);
    Ok(kernel.run(stream, CudaCall { workspace, groups, indices, up, ..problem.with(matrices) })?)
}

/// Returns the GEMMs of a batch as a pointer array in a given order, each with its own D.
fn array_calls<'c>(
    stream: &'c Arc<CudaStream>,
    (problem, order): (&Problem, &[usize]),
    types: Combined,
    [a, b]: &'c [CudaSlice<u8>; 2],
    results: &'c mut [CudaSlice<u8>],
    workspace: Option<&'c mut CudaSlice<u8>>,
) -> Result<Vec<CudaCall<'c>>, Error> {
    let one = Problem { batch: 1, ..*problem };
    let mut results: Vec<_> = results.iter_mut().map(Some).collect();
    let mut calls = Vec::with_capacity(order.len());
    for &number in order {
        let Some(d) = results.get_mut(number).and_then(Option::take) else {
            return Err(Refusal::missing_operand(Operand::D).into());
        };
        let read = |kind, bytes, view: &View<Elements>| {
            DeviceMatrix::read_bytes(kind, bytes, stream).from(number * view.batch_stride)
        };
        let (a, b) = (read(types.a, a, &problem.a), read(types.b, b, &problem.b));
        let d = DeviceMatrix::write_bytes(types.c, d, stream);
        calls.push(one.with(CudaMatrices {
            a,
            b,
            c: Source::None,
            d,
            operands: Default::default(),
        }));
    }
    if let Some(first) = calls.first_mut() {
        first.workspace =
            workspace.map(|bytes| DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::scattered;

    /// Checks that every GEMM occurs once, and that the order is not sorted.
    #[test]
    fn gemms_of_an_array_have_a_random_order() {
        for count in [1, 2, 16, 64, 256] {
            let order = scattered(count);
            let mut all = order.clone();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            let steps: std::collections::BTreeSet<_> =
                order.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
            assert!(count < 16 || steps.len() > 3, "{order:?}");
        }
    }
}
