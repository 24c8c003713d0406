//! Operands of an epilogue beside D: random elements on the host, and copies on a device.

use super::measure::filled;
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

/// Operands of an epilogue except C.
pub(crate) struct EpilogueBuffers {
    kinds: EpilogueOperands<ElementKind>,
    host: EpilogueOperands<HostBuffer>,
    /// One copy per buffer set.
    device: Vec<EpilogueOperands<CudaSlice<u8>>>,
}

/// Returns the operands of an epilogue except C, in the user's frame.
fn kinds(desc: &GemmDesc) -> EpilogueOperands<ElementKind> {
    let all = desc.epilogue.leave(desc.frame).operands((desc.output.compute, desc.user_types().c));
    all.filter_map(|operand, kind| (operand != EpilogueOperand::Source).then_some(kind))
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
    /// Fills the operands of a description, and copies them to the device `sets` times.
    pub(super) fn filled(
        (desc, problem): (&GemmDesc, &Problem),
        (fill, seed): (Fill, u64),
        (stream, sets): (&Arc<CudaStream>, usize),
    ) -> Result<Self, Error> {
        let (kinds, extents) = (kinds(desc), (problem.m, problem.n));
        let host = views(desc, problem).try_map(|operand, view| {
            let kind = kinds.get(operand).copied().unwrap_or(desc.user_types().c);
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

    /// Returns the elements on the host.
    pub(super) fn host(&self) -> Result<EpilogueOperands<HostSlice<'_>>, falchion::Error> {
        self.host.as_ref().try_map(|_, buffer| buffer.whole())
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
