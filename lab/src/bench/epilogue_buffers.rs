//! Operands of an epilogue beside D: random elements on the host, and copies on a device.

use super::measure::{downloaded, filled};
use crate::{
    Error,
    verify::{Fill, HostBuffer},
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    cuda::DeviceMatrix,
    internals::{
        operand::{Elements, HostSlice, Problem, View},
        shape::{EpilogueOperand, EpilogueOperands},
        sys::driver::driver,
    },
    nest::GemmDesc,
    numeric::ElementKind,
};
use std::sync::Arc;

/// Operands that an epilogue reads, except C.
pub(crate) struct EpilogueBuffers {
    kinds: EpilogueOperands<ElementKind>,
    host: EpilogueOperands<HostBuffer>,
    /// One copy per buffer set.
    device: Vec<EpilogueOperands<CudaSlice<u8>>>,
}

/// Results of an epilogue beside D.
pub(super) struct EpilogueResults {
    kinds: EpilogueOperands<ElementKind>,
    lengths: EpilogueOperands<usize>,
    /// One copy per buffer set.
    device: Vec<EpilogueOperands<CudaSlice<u8>>>,
}

/// Returns the operands of an epilogue except C, in the user's frame.
fn kinds(desc: &GemmDesc) -> EpilogueOperands<ElementKind> {
    let all = desc.epilogue.leave(desc.frame).operands((desc.output.compute, desc.user_types().c));
    all.filter_map(|operand, kind| (operand != EpilogueOperand::Source).then_some(kind))
}

/// Returns the operands that an epilogue reads, or those that it writes.
fn kinds_of(desc: &GemmDesc, written: bool) -> EpilogueOperands<ElementKind> {
    let epilogue = desc.epilogue.leave(desc.frame);
    kinds(desc).filter_map(|operand, kind| (epilogue.writes(operand) == written).then_some(kind))
}

/// Returns the packed views of the operands of a description's epilogue.
pub(super) fn views(desc: &GemmDesc, problem: &Problem) -> EpilogueOperands<View<Elements>> {
    let extents = (problem.m, problem.n);
    kinds(desc).map(|operand, _| {
        let view = View::beside((), operand, (desc.orders().c, extents));
        let length = usize::try_from(view.elements(extents, 1)).unwrap_or(usize::MAX);
        view.with(Elements::new(length))
    })
}

impl EpilogueBuffers {
    /// Fills the operands of a description, and copies them to the device `sets` times. A scalar is
    /// 2, because a random scalar can be 0.
    pub(super) fn filled(
        (desc, problem): (&GemmDesc, &Problem),
        (fill, seed): (Fill, u64),
        (stream, sets): (&Arc<CudaStream>, usize),
    ) -> Result<Self, Error> {
        let (kinds, extents) = (kinds_of(desc, false), (problem.m, problem.n));
        let views = views(desc, problem);
        let host = kinds.try_map(|operand, kind| {
            let view = views.get(operand).copied().unwrap_or(problem.d);
            if operand.is_scalar() {
                let mut scalar = HostBuffer::poisoned(kind, view.memory.length)?;
                return scalar.set(0, 2.0).map(|()| scalar).map_err(Error::from);
            }
            let seed = seed.wrapping_add(3 + operand.index() as u64);
            // A vector is filled as the row or column that it stands for.
            let extents = match view.strides {
                [0, _] => (1, extents.1),
                [_, 0] => (extents.0, 1),
                _ => extents,
            };
            filled(kind, &view, (extents, 1), fill.source(), seed)
        })?;
        let upload = |_, buffer: &HostBuffer| {
            stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"))
        };
        let device = (0..sets).map(|_| host.as_ref().try_map(upload)).collect::<Result<_, _>>()?;
        Ok(Self { kinds, host, device })
    }

    /// Returns the elements on the host, and those of `results`.
    pub(super) fn host<'s>(
        &'s self,
        results: &'s EpilogueOperands<HostBuffer>,
    ) -> Result<EpilogueOperands<HostSlice<'s>>, falchion::Error> {
        let all = self.host.iter().chain(results.iter());
        all.map(|(operand, buffer)| Ok((operand, buffer.whole()?))).collect()
    }

    /// Returns the elements of a buffer set on the device.
    pub(super) fn read<'s>(
        &'s self,
        set: usize,
        stream: &'s CudaStream,
    ) -> EpilogueOperands<DeviceMatrix<'s>> {
        let Some(set) = self.device.get(set) else { return EpilogueOperands::NONE };
        set.as_ref().filter_map(|operand, bytes| {
            Some(DeviceMatrix::read_bytes(*self.kinds.get(operand)?, bytes, stream))
        })
    }

    /// Returns the memory of an operand in the first buffer set.
    pub(super) fn memory(&self, operand: EpilogueOperand) -> Option<&CudaSlice<u8>> {
        self.device.first()?.get(operand)
    }
}

impl EpilogueResults {
    /// Allocates the results of a description `sets` times, with poison.
    pub(super) fn poisoned(
        (desc, problem): (&GemmDesc, &Problem),
        (stream, sets): (&Arc<CudaStream>, usize),
    ) -> Result<Self, Error> {
        let (kinds, views) = (kinds_of(desc, true), views(desc, problem));
        let lengths = views
            .filter_map(|operand, view| kinds.get(operand).is_some().then_some(view.memory.length));
        let upload = |operand, length| {
            let kind = kinds.get(operand).copied().unwrap_or(desc.user_types().c);
            let poison = HostBuffer::poisoned(kind, length)?;
            Ok::<_, Error>(stream.clone_htod(poison.bytes()).map_err(driver("cuMemcpyHtoDAsync"))?)
        };
        let device = (0..sets).map(|_| lengths.try_map(upload)).collect::<Result<_, _>>()?;
        Ok(Self { kinds, lengths, device })
    }

    /// Returns `operands` and the results of a buffer set on the device.
    pub(super) fn beside<'s>(
        &'s mut self,
        mut operands: EpilogueOperands<DeviceMatrix<'s>>,
        (set, stream): (usize, &'s CudaStream),
    ) -> EpilogueOperands<DeviceMatrix<'s>> {
        let Some(set) = self.device.get_mut(set) else { return operands };
        for (operand, bytes) in set.iter_mut() {
            if let Some(kind) = self.kinds.get(operand) {
                *operands.slot(operand) = Some(DeviceMatrix::write_bytes(*kind, bytes, stream));
            }
        }
        operands
    }

    /// Returns the results of the first buffer set.
    pub(super) fn downloaded(
        &self,
        stream: &Arc<CudaStream>,
    ) -> Result<EpilogueOperands<HostBuffer>, Error> {
        let Some(set) = self.device.first() else { return Ok(EpilogueOperands::NONE) };
        let of = |operand| Some((*self.kinds.get(operand)?, *self.lengths.get(operand)?));
        let known = set.as_ref().filter_map(|operand, bytes| Some((bytes, of(operand)?)));
        known.try_map(|_, (bytes, (kind, length))| downloaded(stream, kind, bytes, length))
    }
}
