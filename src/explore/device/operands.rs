//! One problem's buffers on a device: what is verified, between guard zones, and what is timed, in rotated sets.

use crate::{
    bench::{
        SuiteProblem,
        measure::{VERIFIED_ROWS, enqueue, operands, shapes},
        protocol,
    },
    desc::GemmDesc,
    device::{
        Shapes, Source,
        cuda::{CudaKernel, CudaMatrices, DeviceMatrix},
    },
    error::Error,
    explore::trials::Device,
    refusal::Refusal,
    sys::driver::driver,
    verify::{Claim, Fill, HostBuffer, bound::Accumulation, sampled},
};
use cudarc::driver::{CudaSlice, CudaStream};
use std::{cell::RefCell, sync::Arc};

/// Elements of poison before and behind a D that is verified.
const GUARD: usize = 1024;
/// Products that a verification computes again, about: rows of D are drawn accordingly.
const PRODUCTS: usize = 1 << 30;

/// Operands that a result is verified with.
struct Known {
    fill: Fill,
    a: HostBuffer,
    b: HostBuffer,
}

/// One problem's operands on a device.
pub(super) struct OnDevice<'s> {
    stream: &'s Arc<CudaStream>,
    shapes: Shapes,
    base: GemmDesc,
    /// What a D is before it is verified, guard zones included.
    poison: HostBuffer,
    /// Whole numbers, which are on the device apart from the sets, and random ones, which are those of the sets.
    known: [Known; 2],
    whole: [CudaSlice<u8>; 2],
    pub(super) sets: Vec<[CudaSlice<u8>; 2]>,
    results: RefCell<Vec<CudaSlice<u8>>>,
    guarded: RefCell<CudaSlice<u8>>,
}

impl<'s> OnDevice<'s> {
    pub(super) fn new(stream: &'s Arc<CudaStream>, base: &GemmDesc, problem: &SuiteProblem) -> Result<Self, Error> {
        let (shapes, types) = (shapes(problem), base.user_types());
        let upload = |buffer: &HostBuffer| stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"));
        let of = |fill: Fill| operands(&shapes, types, fill, problem.seed.unwrap_or(1)).map(|[a, b, _]| Known { fill, a, b });
        let known = [of(Fill::Integers)?, of(Fill::Random)?];
        let poison = HostBuffer::poisoned(types.c, shapes.d.length.saturating_add(2 * GUARD))?;
        let bytes = known[1].a.bytes().len() + known[1].b.bytes().len() + poison.bytes().len();
        let count = protocol::sets(bytes);
        let pair = |known: &Known| Ok::<_, Error>([upload(&known.a)?, upload(&known.b)?]);
        let guarded = RefCell::new(upload(&poison)?);
        let (whole, sets) = (pair(&known[0])?, (0..count).map(|_| pair(&known[1])).collect::<Result<Vec<_>, _>>()?);
        let on = Self { stream, shapes, base: *base, poison, known, whole, sets, results: RefCell::default(), guarded };
        let results = on.room()?;
        on.results.replace(results);
        Ok(on)
    }

    /// A D for every set.
    pub(super) fn room(&self) -> Result<Vec<CudaSlice<u8>>, Error> {
        let bytes = self.shapes.d.length * self.base.c.bytes() as usize;
        self.sets.iter().map(|_| self.stream.alloc_zeros::<u8>(bytes).map_err(driver("cuMemAllocAsync"))).collect()
    }

    /// Computes into poison with guard zones, and brings everything back.
    fn computed(&self, kernel: &CudaKernel, [a, b]: &[CudaSlice<u8>; 2]) -> Result<HostBuffer, Error> {
        let (types, stream, mut d) = (self.base.user_types(), self.stream, self.guarded.borrow_mut());
        stream.memcpy_htod(self.poison.bytes(), &mut *d).map_err(driver("cuMemcpyHtoDAsync"))?;
        let matrices = CudaMatrices {
            a: DeviceMatrix::read_bytes(types.a, a, stream),
            b: DeviceMatrix::read_bytes(types.b, b, stream),
            c: Source::None,
            d: DeviceMatrix::write_bytes(types.c, &mut *d, stream).from(GUARD),
        };
        kernel.run(stream, &self.shapes, matrices)?;
        let mut computed = HostBuffer::poisoned(types.c, self.poison.length())?;
        let all = computed.length();
        stream.memcpy_dtoh(&*d, computed.slice_mut(0..all)?.bytes_mut()).map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        Ok(computed)
    }

    /// What is wrong with a result, if anything is.
    fn judged(&self, desc: &GemmDesc, known: &Known, computed: &HostBuffer) -> Result<Option<String>, Error> {
        let (shapes, d) = (&self.shapes, GUARD..GUARD + self.shapes.d.length);
        if let Some(place) = computed.stray(&self.poison, GUARD, &shapes.d, (shapes.m, shapes.n)) {
            return Ok(Some(format!("it writes where D is not: {} elements from D's first", place as i128 - GUARD as i128)));
        }
        let width = self.base.c.bytes() as usize;
        let within = d.start * width..d.end * width;
        let mut pairs = computed.bytes()[within.clone()].chunks_exact(width).zip(self.poison.bytes()[within].chunks_exact(width));
        // Whole numbers may be what poison is: rows that are computed again decide there.
        if !self.base.c.is_integer()
            && let Some(place) = pairs.position(|(is, was)| is == was)
        {
            return Ok(Some(format!("it does not write all of D: not the element {place} from D's first")));
        }
        let claim = Claim {
            desc,
            shapes,
            a: known.a.slice(0..known.a.length())?,
            b: known.b.slice(0..known.b.length())?,
            c: None,
            d: computed.slice(d)?,
        };
        let rows = (PRODUCTS / shapes.n.saturating_mul(shapes.k).max(1)).max(VERIFIED_ROWS);
        let verdict = sampled(&claim, rows, 1)?;
        Ok((!verdict.is_right()).then(|| format!("{verdict}, of {:?} operands", known.fill).to_lowercase()))
    }
}

impl Device for OnDevice<'_> {
    /// Whole numbers first, compared with `==`; then random ones, within their bound, where there is one.
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        for (known, operands) in self.known.iter().zip([&self.whole, &self.sets[0]]) {
            let bounded = Accumulation::of(desc, self.shapes.k).relative.is_finite();
            if known.fill == Fill::Random && !bounded {
                continue;
            }
            let computed = self.computed(&kernel, operands)?;
            if let Some(why) = self.judged(desc, known, &computed)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    fn launch(&self, desc: &GemmDesc, set: usize) -> Result<(), Error> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        let mut results = self.results.borrow_mut();
        let (Some(operands), Some(d)) = (self.sets.get(set), results.get_mut(set)) else {
            return Err(Refusal::MissingOperand { name: "the buffers of a set" }.into());
        };
        enqueue(&kernel, self.stream, &self.shapes, self.base.user_types(), operands, d)
    }
}
