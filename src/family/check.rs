//! The common rules of descriptions. The compiler, the run time, and the property tests apply the
//! same rules.

use crate::{
    arch::Machine,
    desc::{Class, GemmDesc},
    numeric::ComputeKind,
    refusal::{
        Because, Field, Operand, Refusal, hold,
        rules::{check_alignment, explained, within},
    },
};

impl GemmDesc {
    /// Checks that the description is valid on all machines of its architecture.
    ///
    /// # Errors
    /// The refusal of the first violated rule.
    pub const fn check(&self) -> Result<(), Refusal> {
        self.check_on(&self.class.arch.machine())
    }

    /// Checks that the description is valid on `machine`.
    ///
    /// # Errors
    /// The refusal of the first violated rule.
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        if machine.sm < self.class.arch.sm() {
            return Err(Refusal::machine_too_old(self.class.arch, machine.sm));
        }
        if self.class.mode.groups().is_some() {
            hold!(self.check_groups());
        }
        if self.class.mode.is_array() && self.streams_k() {
            return Err(Refusal::ARRAYS_NOT_STREAMED);
        }
        if self.class.mode.is_array() && self.launches_each_gemm() {
            return Err(Refusal::NO_ARRAYS);
        }
        self.check_family(machine)
    }

    /// Checks that K is not divided, as grouped GEMM requires.
    pub(crate) const fn check_groups(&self) -> Result<(), Refusal> {
        if self.streams_k() {
            return Err(Refusal::GROUPS_NOT_STREAMED);
        }
        explained(
            within(Field::SplitK, self.split_k() as u64, 1, 1),
            Because::Words("grouped GEMM keeps K whole"),
        )
    }

    /// Returns the description.
    ///
    /// # Panics
    /// If the description is invalid. In a constant, the panic fails the build with the refusal's
    /// sentence.
    pub const fn expect(self) -> Self {
        match self.check() {
            Ok(()) => self,
            Err(refusal) => panic!("{}", refusal.sentence().as_str()),
        }
    }
}

impl Class {
    /// Checks the alignment of C and D, the type in which the epilogue computes, and the epilogue.
    pub(super) const fn check_epilogue(&self, align_c: u32) -> Result<(), Refusal> {
        let c = self.output.element;
        hold!(check_alignment(Field::Alignment(Operand::C), align_c, c.elements_in(16)));
        let plain = ComputeKind::for_types(self.accumulator, c);
        let legal = match self.compute {
            ComputeKind::F64 => matches!(plain, ComputeKind::F64),
            ComputeKind::I32 => matches!(plain, ComputeKind::I32),
            ComputeKind::F32 => !matches!(plain, ComputeKind::F64),
        };
        if !legal {
            return Err(Refusal::compute(self.compute, self.accumulator, c, plain));
        }
        self.output.epilogue.check()
    }
}
