//! The units that multiply: from the element types and the machine, if a request names none.

use super::default_gemm_configuration::default_gemm_configurations;
use crate::{
    arch::{ArchKind, OpKind},
    numeric::{Combined, ElementKind},
};

/// Where a request runs. The target decides which units multiply if the request names neither
/// units nor an architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The host: CUDA cores if they multiply the types, tensor cores otherwise. Kernels use the
    /// instructions of this architecture unless the request names one.
    Host(ArchKind),
    /// A GPU whose newest instructions are these: the fastest units that multiply the types as
    /// they are.
    Gpu(ArchKind),
}

impl Target {
    /// The architecture of kernels, unless the request names one.
    pub const fn arch(self) -> ArchKind {
        match self {
            Self::Host(arch) | Self::Gpu(arch) => arch,
        }
    }
}

impl From<ArchKind> for Target {
    fn from(arch: ArchKind) -> Self {
        Self::Gpu(arch)
    }
}

impl OpKind {
    /// The fastest units that multiply elements of these types as they are on an architecture.
    /// Tensor cores multiply `f32` only as an emulation, so `f32` runs on the CUDA cores.
    pub(crate) fn fastest(types: Combined, arch: ArchKind) -> Self {
        let exact = !matches!(types.a, ElementKind::F32);
        let have = exact && default_gemm_configurations(Self::TensorOp, arch, types).is_ok();
        if have { Self::TensorOp } else { Self::on_host(types) }
    }

    /// The units whose description the host executes: CUDA cores if they multiply the types. Types
    /// that no units multiply belong to the units that multiply the most similar types.
    pub(crate) const fn on_host(types: Combined) -> Self {
        let tensor_op = types.is_of(Self::TensorOp)
            || types.likeness_to(Self::TensorOp) > types.likeness_to(Self::Simt);
        if !types.is_of(Self::Simt) && tensor_op { Self::TensorOp } else { Self::Simt }
    }
}
