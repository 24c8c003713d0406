//! The common rules of descriptions. The compiler, the run time, and the property tests apply the
//! same rules.

use crate::{
    arch::{ArchKind, Machine, OpKind},
    nest::GemmDesc,
    numeric::{ComputeKind, EmulationKind, Multiplied, registered_transform},
    refusal::{
        Because, Field, Operand, Refusal, hold,
        rules::{check_alignment, explained, within},
    },
    shape::{Axis, OperandKind},
    threadblock::{registered_swizzle, smem::SmemLayout},
};

impl GemmDesc {
    /// Checks that the description is valid on all machines of its architecture.
    ///
    /// # Errors
    /// The refusal of the first violated rule.
    pub const fn check(&self) -> Result<(), Refusal> {
        self.check_on(&self.arch.machine())
    }

    /// Checks that the description is valid on `machine`.
    ///
    /// # Errors
    /// The refusal of the first violated rule.
    pub const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        hold!(self.check_neutral());
        if machine.sm < self.arch.sm() {
            return Err(Refusal::machine_too_old(self.arch, machine.sm));
        }
        if let Some(axis) = self.work.mode.groups() {
            hold!(self.check_groups(axis));
        }
        if !self.addressing().is_plain() {
            hold!(self.check_addressing());
        }
        if self.work.mode.is_array() && self.streams_k() {
            return Err(Refusal::ARRAYS_NOT_STREAMED);
        }
        if self.work.mode.is_array() && self.launches_each_gemm() {
            return Err(Refusal::NO_ARRAYS);
        }
        hold!(self.check_pair(machine));
        self.check_gates()
    }

    /// Checks that the knobs that this kernel lacks have their neutral values. Equal kernels then
    /// have equal descriptions.
    const fn check_neutral(&self) -> Result<(), Refusal> {
        let ([a, b], producer) = (&self.operands, self.has_producer());
        let simt = matches!(self.op(), OpKind::Simt);
        let lays_out = simt && !producer;
        let knob = if !(lays_out || matches!(a.smem, SmemLayout::Auto)) {
            "smem_a"
        } else if !(lays_out || matches!(b.smem, SmemLayout::Auto)) {
            "smem_b"
        } else if producer && self.limits.blocks_per_sm != 1 {
            "blocks_per_sm"
        } else if is_emulated(a.multiplied, simt) || is_emulated(b.multiplied, simt) {
            "emulation"
        } else if lays_out && self.mma.instruction().is_some() {
            "instruction"
        } else {
            return Ok(());
        };
        Err(Refusal::knob_of_no_kernel(knob, self.mainloop.kind().name()))
    }

    /// Checks that K is not divided, as grouped GEMM requires. Groups along K require that no pass
    /// decomposes operands, because the k-tiles of each term cover all of K.
    pub(crate) const fn check_groups(&self, axis: Axis) -> Result<(), Refusal> {
        if self.streams_k() {
            return Err(Refusal::GROUPS_NOT_STREAMED);
        }
        if matches!(axis, Axis::K) && self.emulation().decomposes() {
            return Err(Refusal::groups_of_terms(self.emulation()));
        }
        explained(
            within(Field::SplitK, self.split_k() as u64, 1, 1),
            Because::Words("grouped GEMM keeps K whole"),
        )
    }

    /// Checks that this process has the transforms of the operands and the order of tiles. A
    /// transform maps 0 to 0, because k-tiles are padded with zeros. An order visits each tile.
    ///
    /// # Errors
    /// [`Refusal`] for the first transform or order that is unknown or wrong.
    pub(crate) fn check_registered(&self) -> Result<(), Refusal> {
        for operand in OperandKind::BOTH {
            let Some(id) = self.operand(operand).multiplied.transform() else { continue };
            let transform =
                registered_transform(id).ok_or(Refusal::unknown_transform(operand, id))?;
            let zero = (transform.host)(0.0);
            if zero != 0.0 {
                return Err(Refusal::transform_of_zero(operand, transform.name, zero.into()));
            }
        }
        if let Some(id) = self.swizzle().user() {
            let swizzle = registered_swizzle(id).ok_or(Refusal::unknown_swizzle(id.0))?;
            if let Some(grid) = swizzle.incomplete {
                return Err(Refusal::incomplete_swizzle(swizzle.name, grid));
            }
        }
        Ok(())
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

/// Returns whether an operand states terms that its units do not multiply: any terms on CUDA cores,
/// or terms of no emulation.
const fn is_emulated(multiplied: Multiplied, simt: bool) -> bool {
    matches!(multiplied, Multiplied::Terms(kind) if simt || matches!(kind, EmulationKind::None))
}

impl GemmDesc {
    /// Checks the alignment of C and D, the type in which the epilogue computes, and the epilogue.
    pub(crate) const fn check_epilogue(&self) -> Result<(), Refusal> {
        let (c, access) = (self.output.element, self.output.access);
        hold!(check_alignment(Field::Alignment(Operand::C), access, c.elements_in(16)));
        let plain = ComputeKind::for_types(self.output.accumulator, c);
        let legal = match self.output.compute {
            ComputeKind::F64 => matches!(plain, ComputeKind::F64),
            ComputeKind::I32 => matches!(plain, ComputeKind::I32),
            ComputeKind::F32 => !matches!(plain, ComputeKind::F64),
        };
        if !legal {
            return Err(Refusal::compute(self.output.compute, self.output.accumulator, c, plain));
        }
        if self.arch.sm() < ArchKind::Sm89.sm() {
            if c.is_fp8() {
                return Err(Refusal::fp8_operand(Operand::D, c, self.arch));
            }
            if let Some((operand, element)) = self.epilogue.fp8_operand() {
                return Err(Refusal::fp8_operand(Operand::Epilogue(operand), element, self.arch));
            }
        }
        if let Some(function) = self.epilogue.not_computed_in(self.output.compute) {
            return Err(Refusal::not_computed(function.name(), self.output.compute));
        }
        match self.epilogue.unreadable(self.output.compute) {
            Some((operand, element)) => {
                Err(Refusal::unreadable(Operand::Epilogue(operand), element, self.output.compute))
            }
            None => self.epilogue.check(),
        }
    }
}
