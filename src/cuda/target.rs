//! Compilation target of a kernel.

use crate::{
    arch::{ArchKind, Machine},
    nest::GemmDesc,
    refusal::Refusal,
};

/// Compilation target. The number is the compute capability: 10 times the major number plus the
/// minor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeTarget {
    /// Machine code for devices of one compute capability.
    Cubin(u32),
    /// PTX, which the driver compiles for a device of this or a higher compute capability.
    Ptx(u32),
}

impl From<u32> for CodeTarget {
    /// Returns the machine code target of a compute capability.
    fn from(sm: u32) -> Self {
        Self::Cubin(sm)
    }
}

impl CodeTarget {
    /// Returns the compute capability.
    pub(super) const fn sm(self) -> u32 {
        match self {
            Self::Cubin(sm) | Self::Ptx(sm) => sm,
        }
    }

    /// Returns the name of the target for NVRTC. From sm_90 on, the suffix `a` enables
    /// architecture-specific instructions such as `wgmma`.
    pub(super) fn name(self) -> String {
        let (prefix, sm) = match self {
            Self::Cubin(sm) => ("sm", sm),
            Self::Ptx(sm) => ("compute", sm),
        };
        format!("{prefix}_{sm}{}", if sm >= 90 { "a" } else { "" })
    }

    /// Selects the target of a description's kernel on a machine: machine code, or PTX of an
    /// architecture.
    ///
    /// # Errors
    /// [`Refusal`] if the machine is older than the PTX, or if the PTX is older than the
    /// instructions of the description.
    pub(super) fn new(
        desc: &GemmDesc,
        machine: &Machine,
        ptx: Option<ArchKind>,
    ) -> Result<Self, Refusal> {
        let arch = desc.arch;
        match ptx {
            None => Ok(Self::Cubin(machine.sm)),
            Some(ptx) if ptx.sm() > machine.sm => Err(Refusal::machine_too_old(ptx, machine.sm)),
            Some(ptx) if arch.sm() > ptx.sm() => Err(Refusal::ptx_too_old(arch, ptx)),
            Some(ptx) => Ok(Self::Ptx(ptx.sm())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::OpKind, layout::Order, nest::defaults::default_description, numeric::Combined,
    };

    #[test]
    fn ptx_is_no_older_than_its_instructions_and_no_newer_than_its_device() {
        let first = |op| {
            default_description(op, ArchKind::Sm80, Combined::all_of(op)[0], [Order::Row; 3]).ok()
        };
        let desc = OpKind::ALL.into_iter().find_map(first).expect("a kernel");
        let of = |sm: ArchKind, ptx| {
            CodeTarget::new(&desc, &sm.machine(), ptx).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(of(ArchKind::Sm90, None).map(CodeTarget::name), Ok("sm_90a".to_owned()));
        assert_eq!(
            of(ArchKind::Sm90, Some(ArchKind::Sm80)).map(CodeTarget::name),
            Ok("compute_80".to_owned())
        );
        assert_eq!(
            of(ArchKind::Sm90, Some(ArchKind::Sm90)).map(CodeTarget::name),
            Ok("compute_90a".to_owned())
        );
        let says = "PTX = sm75 is older than sm80; try sm80";
        assert_eq!(of(ArchKind::Sm90, Some(ArchKind::Sm75)), Err(says.to_owned()));
        let says = "compute capability = 86 is less than 90; try arch = sm86";
        assert_eq!(of(ArchKind::Sm86, Some(ArchKind::Sm90)), Err(says.to_owned()));
    }
}
