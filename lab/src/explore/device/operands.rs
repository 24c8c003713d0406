//! The buffers of one problem on a device: one set with guard zones for verification, and rotated
//! sets for timing.

use super::judge::{GUARD, Judge, Known};
use crate::{
    Error,
    bench::{
        SuiteProblem,
        ours::{enqueue, room},
        protocol,
    },
    explore::trials::Device,
    verify::HostBuffer,
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    cuda::{CudaCall, CudaKernel, CudaMatrices, DeviceMatrix},
    internals::{operand::Source, sys::driver::driver},
    nest::GemmDesc,
    numeric::{Combined, ElementKind},
    refusal::{Operand, Refusal},
};
use std::{cell::RefCell, sync::Arc};

/// The operands of one problem on a device.
pub(super) struct OnDevice<'s> {
    stream: &'s Arc<CudaStream>,
    judge: Judge,
    types: Combined,
    /// Whole numbers, which are separate from the sets. The sets hold random numbers.
    whole: [CudaSlice<u8>; 2],
    pub(super) sets: Vec<[CudaSlice<u8>; 2]>,
    results: RefCell<Vec<CudaSlice<u8>>>,
    guarded: RefCell<CudaSlice<u8>>,
    /// The workspace for copied operands and split-K partials, which all candidates share.
    workspace: RefCell<Option<CudaSlice<u8>>>,
}

impl<'s> OnDevice<'s> {
    /// Allocates the operands of a problem, and a workspace that is large enough for each
    /// candidate.
    pub(super) fn new(
        stream: &'s Arc<CudaStream>,
        base: &GemmDesc,
        problem: &SuiteProblem,
        candidates: &[GemmDesc],
    ) -> Result<Self, Error> {
        let judge = Judge::new(base, problem)?;
        let upload = |buffer: &HostBuffer| {
            stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"))
        };
        let [whole, random] = judge.known();
        let bytes = random.a.bytes().len() + random.b.bytes().len() + judge.poison().bytes().len();
        let pair = |known: &Known| Ok::<_, Error>([upload(&known.a)?, upload(&known.b)?]);
        let guarded = RefCell::new(upload(judge.poison())?);
        let (whole, sets) = (
            pair(whole)?,
            (0..protocol::sets(bytes)).map(|_| pair(random)).collect::<Result<Vec<_>, _>>()?,
        );
        let bytes =
            |desc: &GemmDesc| desc.routes(judge.problem()).map(|routes| routes.workspace_bytes());
        // A candidate that cannot run is refused when it is verified.
        let most =
            candidates.iter().filter_map(|desc| bytes(desc).ok()).fold(bytes(base)?, u64::max);
        let workspace = RefCell::new(room(stream, most)?);
        let (types, results) = (base.user_types(), RefCell::default());
        let on = Self { stream, types, judge, whole, sets, results, guarded, workspace };
        let results = on.room()?;
        on.results.replace(results);
        Ok(on)
    }

    /// Allocates a D for every set.
    pub(super) fn room(&self) -> Result<Vec<CudaSlice<u8>>, falchion::Error> {
        let bytes = self.types.c.matrix_bytes(self.judge.problem().d.memory.length as u64) as usize;
        self.sets
            .iter()
            .map(|_| self.stream.alloc_zeros::<u8>(bytes).map_err(driver("cuMemAllocAsync")))
            .collect()
    }

    /// Computes D in poisoned memory with guard zones, and copies all of it back.
    fn computed(
        &self,
        kernel: &CudaKernel,
        [a, b]: &[CudaSlice<u8>; 2],
    ) -> Result<HostBuffer, Error> {
        let (types, stream, poison, mut d) =
            (self.types, self.stream, self.judge.poison(), self.guarded.borrow_mut());
        let mut workspace = self.workspace.borrow_mut();
        stream.memcpy_htod(poison.bytes(), &mut *d).map_err(driver("cuMemcpyHtoDAsync"))?;
        let matrices = CudaMatrices {
            a: DeviceMatrix::read_bytes(types.a, a, stream),
            b: DeviceMatrix::read_bytes(types.b, b, stream),
            c: Source::None,
            d: DeviceMatrix::write_bytes(types.c, &mut *d, stream).from(GUARD),
            operands: Default::default(),
        };
        let workspace = workspace
            .as_mut()
            .map(|bytes| DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
        kernel.run(stream, CudaCall { workspace, ..self.judge.problem().with(matrices) })?;
        let mut computed = HostBuffer::poisoned(types.c, poison.length())?;
        stream
            .memcpy_dtoh(&*d, computed.whole_mut()?.bytes_mut())
            .map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        Ok(computed)
    }
}

impl OnDevice<'_> {
    /// Returns whether the operands are unchanged. A wrong kernel may overwrite them.
    fn is_intact(&self) -> Result<bool, Error> {
        let [whole, random] = self.judge.known();
        let all = [(whole, core::slice::from_ref(&self.whole)), (random, &self.sets[..])];
        for (known, [a, b]) in
            all.into_iter().flat_map(|(known, sets)| sets.iter().map(move |set| (known, set)))
        {
            for (was, is) in [(&known.a, a), (&known.b, b)] {
                let is = self.stream.clone_dtoh(is).map_err(driver("cuMemcpyDtoHAsync"))?;
                self.stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
                if is != was.bytes() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn ruined(why: &str) -> Error {
    let because = format!(
        "a kernel wrote over its operands, and the run ends here; the next one goes on without it ({why})"
    );
    Error::Measurement { because }
}

impl Device for OnDevice<'_> {
    /// Verifies with whole numbers first, which are compared with `==`. Then verifies with random
    /// numbers within their bound, if there is one.
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        for (known, operands) in self.judge.known().iter().zip([&self.whole, &self.sets[0]]) {
            if !self.judge.decides(desc, known) {
                continue;
            }
            let computed = self.computed(&kernel, operands)?;
            if let Some(why) = self.judge.wrong(desc, known, &computed)? {
                return if self.is_intact()? { Ok(Some(why)) } else { Err(ruined(&why)) };
            }
        }
        Ok(None)
    }

    fn launch(&self, desc: &GemmDesc, set: usize) -> Result<(), Error> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        let mut results = self.results.borrow_mut();
        let (Some(operands), Some(d)) = (self.sets.get(set), results.get_mut(set)) else {
            return Err(Refusal::missing_operand(Operand::Buffers).into());
        };
        enqueue(
            (&kernel, self.stream),
            (self.judge.problem(), [None, None]),
            self.types,
            (operands.each_ref(), Default::default()),
            d,
            self.workspace.borrow_mut().as_mut(),
        )
    }
}
