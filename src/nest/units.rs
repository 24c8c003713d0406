//! The units that multiply: from the element types and the machine, if a request names none.

use crate::{
    arch::{ArchKind, OpKind},
    layout::Orders,
    nest::{
        Class, Completions, Frame, GemmDesc, Pins, defaults::default_gemm_configurations,
        resolve::resolve,
    },
    numeric::{Combined, ElementKind},
    refusal::Unresolved,
};

/// The device that runs a request. The target decides which units multiply if the request names
/// neither units nor an architecture.
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
    /// Returns the architecture of kernels if the request names none.
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
    /// Returns the fastest units that multiply elements of these types as they are on an
    /// architecture. Tensor cores multiply `f32` only as an emulation, so `f32` runs on the CUDA
    /// cores.
    pub(crate) const fn fastest(types: Combined, arch: ArchKind) -> Self {
        let tensor_op = is_exact(types) && Self::TensorOp.has_kernel(types, arch);
        if tensor_op { Self::TensorOp } else { Self::on_host(types) }
    }

    /// Returns the units whose description the host executes: CUDA cores if they multiply the
    /// types. Unsupported types belong to the units that multiply the most similar types.
    pub(crate) const fn on_host(types: Combined) -> Self {
        let simt = types.is_of(Self::Simt)
            && (!is_exact(types) || Self::Simt.has_kernel(types, Self::Simt.default_arch()));
        let tensor_op = types.is_of(Self::TensorOp)
            || types.likeness_to(Self::TensorOp) > types.likeness_to(Self::Simt);
        if !simt && tensor_op { Self::TensorOp } else { Self::Simt }
    }

    /// Returns whether a default table has kernels of these units.
    const fn has_kernel(self, types: Combined, arch: ArchKind) -> bool {
        default_gemm_configurations(self, arch, types).is_ok()
    }
}

/// Returns whether tensor cores multiply the types as they are. They emulate `f32`.
const fn is_exact(types: Combined) -> bool {
    !matches!(types.a, ElementKind::F32)
}

/// A request whose types and knobs are values; the target decides the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedRequest {
    pub types: Combined,
    pub orders: Orders,
    pub op: Option<OpKind>,
    pub arch: Option<ArchKind>,
    pub pins: Pins,
}

impl TypedRequest {
    /// Returns the first candidate for a target.
    ///
    /// # Errors
    /// [`Unresolved`] if there is no such kernel.
    pub const fn resolve(&self, target: Target) -> Result<GemmDesc, Unresolved> {
        let arch = match self.arch {
            Some(arch) => arch,
            None => target.arch(),
        };
        match (self.op, self.arch, target) {
            (Some(op), _, _) => self.resolve_units(op, arch),
            (None, None, Target::Host(_)) => self.on_host(Some(arch)),
            (None, _, _) => self.resolve_units(OpKind::fastest(self.types, arch), arch),
        }
    }

    /// Returns the first candidate without a machine. A named architecture decides; otherwise, the
    /// host decides, with the default architecture of its units.
    ///
    /// # Errors
    /// [`Unresolved`] if there is no such kernel.
    pub const fn without_machine(&self) -> Result<GemmDesc, Unresolved> {
        match (self.arch, self.op) {
            (Some(arch), _) => self.resolve(Target::Gpu(arch)),
            (None, Some(op)) => self.resolve_units(op, op.default_arch()),
            (None, None) => self.on_host(None),
        }
    }

    /// Returns the first candidate of the host, for CUDA cores if they multiply the types. Tensor
    /// cores are used otherwise, or if only they have the pinned knobs. No knob selects an
    /// emulation of `f32`. `None` selects the default architecture of the units.
    const fn on_host(&self, arch: Option<ArchKind>) -> Result<GemmDesc, Unresolved> {
        let op = OpKind::on_host(self.types);
        let first = self.resolve_units_on(op, arch);
        let simt_only = !matches!(op, OpKind::Simt) || matches!(self.types.a, ElementKind::F32);
        if first.is_ok() || simt_only || self.pins.is_none() {
            return first;
        }
        let other = self.resolve_units_on(OpKind::TensorOp, arch);
        if other.is_ok() { other } else { first }
    }

    const fn resolve_units_on(
        &self,
        op: OpKind,
        arch: Option<ArchKind>,
    ) -> Result<GemmDesc, Unresolved> {
        match arch {
            Some(arch) => self.resolve_units(op, arch),
            None => self.resolve_units(op, op.default_arch()),
        }
    }

    /// Returns the first candidate of units and an architecture.
    const fn resolve_units(&self, op: OpKind, arch: ArchKind) -> Result<GemmDesc, Unresolved> {
        let Orders { a, b, c } = self.orders;
        let user = Class::new(op, arch, self.types, [a, b]);
        match resolve(user, Frame::for_output(c), self.pins) {
            Ok(first) => Ok(first.desc),
            Err(unresolved) => Err(unresolved),
        }
    }

    /// Returns the candidates for a target.
    ///
    /// # Errors
    /// [`Unresolved`] if there is no such kernel.
    pub fn completions(&self, target: Target) -> Result<Completions, Unresolved> {
        self.resolve(target).and_then(|first| self.complete_units(first.op(), first.arch))
    }

    /// Returns the candidates of units and an architecture.
    ///
    /// # Errors
    /// [`Unresolved`] if there is no such kernel.
    pub fn complete_units(&self, op: OpKind, arch: ArchKind) -> Result<Completions, Unresolved> {
        let Orders { a, b, c } = self.orders;
        let user = Class::new(op, arch, self.types, [a, b]);
        Completions::new(user, Frame::for_output(c), self.pins)
    }
}
