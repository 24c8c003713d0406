//! What a kernel is compiled for.

use crate::{
    arch::{ArchKind, Machine},
    desc::GemmDesc,
    refusal::Refusal,
};

/// What a unit is compiled for. The number is a compute capability, major times 10 plus minor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeTarget {
    /// Machine code, which devices of that generation run.
    Cubin(u32),
    /// PTX, which the driver of a device that is as new or newer compiles when it loads it.
    Ptx(u32),
}

impl From<u32> for CodeTarget {
    /// Machine code.
    fn from(sm: u32) -> Self {
        Self::Cubin(sm)
    }
}

impl CodeTarget {
    /// The compute capability that it is compiled for.
    pub(super) const fn sm(self) -> u32 {
        match self {
            Self::Cubin(sm) | Self::Ptx(sm) => sm,
        }
    }

    /// NVRTC's name of it: with the instructions that Hopper alone has.
    pub(super) fn name(self) -> String {
        let (prefix, sm) = match self {
            Self::Cubin(sm) => ("sm", sm),
            Self::Ptx(sm) => ("compute", sm),
        };
        format!("{prefix}_{sm}{}", if sm >= 90 { "a" } else { "" })
    }

    /// That of a description's kernel on a machine: machine code, or PTX of an architecture.
    ///
    /// # Errors
    /// [`Refusal::MachineTooOld`] where the machine is older than the PTX; [`Refusal::PtxTooOld`]
    /// where the PTX is older than the description's instructions.
    pub(super) fn of(
        desc: &GemmDesc,
        machine: &Machine,
        ptx: Option<ArchKind>,
    ) -> Result<Self, Refusal> {
        let arch = desc.class.arch;
        match ptx {
            None => Ok(Self::Cubin(machine.sm)),
            Some(ptx) if ptx.sm() > machine.sm => {
                Err(Refusal::MachineTooOld { arch: ptx, sm: machine.sm })
            }
            Some(ptx) if arch.sm() > ptx.sm() => Err(Refusal::PtxTooOld { arch, ptx }),
            Some(ptx) => Ok(Self::Ptx(ptx.sm())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::OpKind, family::default_gemm_configuration::default_description, layout::Order,
        numeric::Combined,
    };

    #[test]
    fn ptx_is_no_older_than_its_instructions_and_no_newer_than_its_device() {
        let desc = default_description(
            OpKind::TensorOp,
            ArchKind::Sm80,
            Combined::all_of(OpKind::TensorOp)[0],
            [Order::Row; 3],
        );
        let desc = desc.expect("halves");
        let of = |sm: ArchKind, ptx| {
            CodeTarget::of(&desc, &sm.machine(), ptx).map_err(|refusal| refusal.to_string())
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
        let says =
            "PTX of sm75 does not have the instructions of sm80, which the kernel uses; try sm80";
        assert_eq!(of(ArchKind::Sm90, Some(ArchKind::Sm75)), Err(says.to_owned()));
        let says = "the kernel uses instructions of sm90, and the device is sm_86; try arch sm86";
        assert_eq!(of(ArchKind::Sm86, Some(ArchKind::Sm90)), Err(says.to_owned()));
    }
}
