//! Refusals of a machine: its age, its registers, its memory, and its streams.

use super::{Advice, Because, Field, Operand, OperandLine, Refusal, Rule, Value};
use crate::{
    arch::ArchKind,
    numeric::{ElementKind, EmulationKind, emulation::LineFacts},
};

/// Age.
#[doc(hidden)]
impl Refusal {
    /// The device is older than the architecture of the kernel.
    pub const fn machine_too_old(arch: ArchKind, sm: u32) -> Self {
        let advice = match ArchKind::newest_of(sm) {
            Some(newest) => Advice::Other(Field::Arch, Value::Word(newest.name())),
            None => Advice::Words("no architecture is as old"),
        };
        let (value, limit) = (Value::Number(sm as u64), Value::Number(arch.sm() as u64));
        Self::new(Rule::AtLeast, Field::ComputeCapability, value, limit).advise(advice)
    }

    /// The PTX is older than the instructions of the kernel.
    pub const fn ptx_too_old(arch: ArchKind, ptx: ArchKind) -> Self {
        Self::new(Rule::Older, Field::Ptx, Value::Word(ptx.name()), Value::Word(arch.name()))
            .advise(Advice::Value(Value::Word(arch.name())))
    }

    /// The instructions of the main loop exist on one architecture.
    pub const fn other_machine(mainloop: &'static str, arch: ArchKind, sm: u32) -> Self {
        let (value, limit) = (Value::Number(sm as u64), Value::Number(arch.sm() as u64));
        Self::new(Rule::Equal, Field::ComputeCapability, value, limit)
            .because(Because::Words(mainloop))
            .advise(Advice::Other(Field::Op, Value::Word("simt")))
    }
}

/// Registers and memory.
#[doc(hidden)]
impl Refusal {
    /// A thread needs more registers than the machine has for it.
    pub const fn registers(needed: u32, available: u32, threads: u32, blocks: u32) -> Self {
        let (value, limit) = (Value::Number(needed as u64), Value::Number(available as u64));
        Self::new(Rule::AtMost, Field::RegistersPerThread, value, limit)
            .because(Because::Block { threads, blocks })
            .advise(Advice::Words(if blocks == 1 {
                "use a smaller warp tile, or spills = allowed"
            } else {
                "use a smaller warp tile, fewer blocks_per_sm, or spills = allowed"
            }))
    }

    /// A block needs more shared memory than the machine has for it. Partials that share the memory
    /// of the stages need `partials == needed` bytes.
    pub const fn shared_memory(
        [needed, available]: [u32; 2],
        [stages, stage, partials]: [u32; 3],
        blocks: u32,
        sm: u32,
    ) -> Self {
        let beside = if partials == needed {
            0
        } else {
            needed.saturating_sub(stages.saturating_mul(stage))
        };
        let fit = available.saturating_sub(beside).checked_div(stage);
        let (value, limit) = (Value::Bytes(needed as u64), Value::Bytes(available as u64));
        let because = if partials == needed {
            Because::Partials { partials, blocks, sm }
        } else {
            Because::Stages { stages, stage, beside, blocks, sm }
        };
        Self::new(Rule::AtMost, Field::SharedMemoryOfABlock, value, limit).because(because).advise(
            match fit {
                Some(fit @ 2..) if partials <= available => {
                    Advice::Other(Field::Stages, Value::Number(fit as u64))
                }
                _ => Advice::Words("use a smaller threadblock tile"),
            },
        )
    }

    /// The host has too little free memory.
    pub const fn out_of_memory(needed: u64, available: u64) -> Self {
        let (value, limit) = (Value::Bytes(needed), Value::Bytes(available));
        Self::new(Rule::AtMost, Field::HostMemory, value, limit)
            .advise(Advice::Words("use a smaller problem"))
    }

    /// A matrix cannot be allocated.
    pub const fn matrix_too_large(extents: [usize; 2], element: ElementKind) -> Self {
        Self::new(Rule::Allocated, Field::Matrix, Value::Extents(extents), Value::None)
            .because(Because::Words(element.name()))
            .advise(Advice::Words("use a smaller matrix"))
    }
}

/// Stream capture, which can neither compile, nor allocate, nor wait.
#[doc(hidden)]
impl Refusal {
    pub const NOT_PREPARED: Self =
        Self::without_value(Rule::Uncaptured, Field::Compilation, Value::None)
            .advise(Advice::Words("call prepare before the capture"));

    pub const LISTS_CAPTURED: Self =
        Self::without_value(Rule::Uncaptured, Field::CheckOfLists, Value::None)
            .advise(Advice::Words("do not check the list, or pass it by value"));

    pub const BIND_CAPTURED: Self =
        Self::without_value(Rule::Uncaptured, Field::Binding, Value::None)
            .advise(Advice::Words("bind the call before the capture"));

    pub const WINDOW_CAPTURED: Self =
        Self::new(Rule::Uncaptured, Field::Emulation, Value::Word("f16x3"), Value::None)
            .because(Because::Words("f16x3 waits for the exponent range of the operands"))
            .advise(Advice::Value(Value::Word("bf16x6")));

    /// The workspace must grow.
    pub const fn workspace_captured(given: u64, needed: u64) -> Self {
        Self::new(Rule::Uncaptured, Field::GrowthOfWorkspace, Value::Bytes(needed), Value::None)
            .because(Because::Has(given))
            .advise(Advice::Words("reserve the bytes before the capture"))
    }

    /// A product must be allocated.
    pub const fn allocation_captured(length: usize, element: ElementKind) -> Self {
        let value = Value::Elements(length as u64);
        Self::new(Rule::Uncaptured, Field::Allocation, value, Value::None)
            .because(Because::Words(element.name()))
            .advise(Advice::Words("allocate D before the capture, and call gemm"))
    }
}

/// Lines of operands that `f16x3` cannot scale.
#[doc(hidden)]
impl Refusal {
    /// A line has a number that is not finite, or whose exponent is outside of the window.
    pub const fn line(line: OperandLine, facts: &LineFacts) -> Self {
        let refusal = if facts.is_finite() {
            let (value, limit) =
                (facts.outside as u64, (facts.nonzero / EmulationKind::FEW) as u64);
            Self::new(
                Rule::AtMost,
                Field::NumbersOutside,
                Value::Number(value),
                Value::Number(limit),
            )
        } else {
            Self::without_value(
                Rule::Finite,
                Field::NumbersOf(Operand::from_kind(line.operand)),
                Value::None,
            )
        };
        refusal
            .because(Because::Line(line))
            .advise(Advice::Other(Field::Emulation, Value::Word("bf16x6")))
    }

    /// K is too large for the terms of an emulation.
    pub const fn too_deep(k: usize, emulation: EmulationKind, most: u64) -> Self {
        use crate::shape::Axis;
        let (value, limit) = (Value::Number(k as u64), Value::Number(most));
        Self::new(Rule::AtMost, Field::Extent(Axis::K), value, limit)
            .because(Because::Words(emulation.name()))
    }
}
