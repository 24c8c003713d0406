//! Advice of a refusal as a changed request.

use crate::{
    arch::{ArchKind, OpKind},
    nest::{Class, DecompositionKind, Pins},
    numeric::EmulationKind,
    refusal::{Advice, Field, Operand, Refusal, Value},
    shape::{Axis, Mn, Mnk, OperandKind},
    threadblock::{MainloopKind, SwizzleKind, smem::SmemLayout},
    warp::{AOperandKind, InterleaveKind, PromotionKind, SaturateKind, UnrollKind},
};

/// A refusal in the user's frame, with the knobs of the refused description. Knobs without a
/// description are [`Pins::NONE`].
#[derive(Clone, Copy)]
pub(crate) struct Refused {
    pub refusal: Refusal,
    pub knobs: Pins,
}

/// Returns whether two words are equal.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

/// Returns the value of an enum that has a word.
macro_rules! read {
    ($Kind:ty, $word:expr) => {{
        let (mut i, mut found) = (0, None);
        while i < <$Kind>::ALL.len() {
            if same(<$Kind>::ALL[i].name(), $word) {
                found = Some(<$Kind>::ALL[i]);
            }
            i += 1;
        }
        found
    }};
}

impl Refused {
    /// Returns the request that follows the advice, or `None` if the advice is no value of a knob,
    /// of the units, or of the architecture.
    pub(crate) const fn advised(&self, user: Class, pins: Pins) -> Option<(Class, Pins)> {
        let (field, value) = match self.refusal.advice {
            Advice::Value(value) => (self.refusal.field, value),
            Advice::ValueOr(nearest, _) => (self.refusal.field, Value::Number(nearest)),
            Advice::Other(field, value) => (field, value),
            Advice::OtherOr(field, nearest, _) => (field, Value::Number(nearest as u64)),
            Advice::None | Advice::Words(_) => return None,
        };
        match value {
            Value::Number(n) if n <= u32::MAX as u64 => match self.with(field, n as u32, pins) {
                Some(pins) => Some((user, pins)),
                None => None,
            },
            Value::Word(word) => match field {
                Field::Op => match read!(OpKind, word) {
                    Some(op) => Some((Class { op, ..user }, pins)),
                    None => None,
                },
                Field::Arch => match read!(ArchKind, word) {
                    Some(arch) => Some((Class { arch, ..user }, pins)),
                    None => None,
                },
                field => match with_word(field, word, pins) {
                    Some(pins) => Some((user, pins)),
                    None => None,
                },
            },
            _ => None,
        }
    }

    /// Returns the pins with a number as the value of a field. Other extents of a shape are those
    /// of the refused description.
    const fn with(&self, field: Field, n: u32, mut pins: Pins) -> Option<Pins> {
        let knobs = self.knobs.over(pins);
        match field {
            Field::Stages => pins.stages = Some(n),
            Field::SplitK => pins.split_k = Some(n),
            Field::Pending => pins.pending = Some(n),
            Field::BlocksPerSm => pins.blocks_per_sm = Some(n),
            Field::Interleave => pins.interleave = Some(InterleaveKind::Elements(n)),
            Field::Unroll => pins.unroll = Some(UnrollKind::By(n)),
            Field::Alignment(Operand::A) => pins.align_a = Some(n),
            Field::Alignment(Operand::B) => pins.align_b = Some(n),
            Field::Alignment(_) => pins.align_c = Some(n),
            Field::Threadblock(axis) => pins.threadblock = along(knobs.threadblock, axis, n),
            Field::Warp(axis) => pins.warp = along(knobs.warp, axis, n),
            Field::Instruction(axis) => pins.instruction = along(knobs.instruction, axis, n),
            Field::Cluster(axis) => {
                let cluster = match knobs.cluster {
                    Some(cluster) => cluster,
                    None => Mn::ONE,
                };
                pins.cluster = Some(match axis {
                    Axis::N => Mn { n, ..cluster },
                    Axis::M | Axis::K => Mn { m: n, ..cluster },
                });
            }
            Field::Swizzle => {
                pins.swizzle = Some(match knobs.swizzle {
                    Some(SwizzleKind::Grouped(_)) => SwizzleKind::Grouped(n),
                    _ => SwizzleKind::Identity(n),
                });
            }
            Field::Padding(operand)
            | Field::SwizzleBits(operand)
            | Field::SwizzleBase(operand)
            | Field::SwizzleShift(operand) => {
                let smem = match operand {
                    OperandKind::A => knobs.smem_a,
                    OperandKind::B => knobs.smem_b,
                };
                let smem = match (smem, field) {
                    (Some(SmemLayout::Padded { along, .. }), Field::Padding(_)) => {
                        SmemLayout::Padded { along, padding: n }
                    }
                    (
                        Some(SmemLayout::Swizzled { along, base, shift, .. }),
                        Field::SwizzleBits(_),
                    ) => SmemLayout::Swizzled { along, bits: n, base, shift },
                    (
                        Some(SmemLayout::Swizzled { along, bits, shift, .. }),
                        Field::SwizzleBase(_),
                    ) => SmemLayout::Swizzled { along, bits, base: n, shift },
                    (
                        Some(SmemLayout::Swizzled { along, bits, base, .. }),
                        Field::SwizzleShift(_),
                    ) => SmemLayout::Swizzled { along, bits, base, shift: n },
                    _ => return None,
                };
                match operand {
                    OperandKind::A => pins.smem_a = Some(smem),
                    OperandKind::B => pins.smem_b = Some(smem),
                }
            }
            _ => return None,
        }
        Some(pins)
    }
}

/// Returns a shape with another extent along an axis.
const fn along(shape: Option<Mnk>, axis: Axis, n: u32) -> Option<Mnk> {
    match (shape, axis) {
        (Some(shape), Axis::M) => Some(Mnk { m: n, ..shape }),
        (Some(shape), Axis::N) => Some(Mnk { n, ..shape }),
        (Some(shape), Axis::K) => Some(Mnk { k: n, ..shape }),
        (None, _) => None,
    }
}

/// Returns the pins with a word as the value of a field.
const fn with_word(field: Field, word: &str, mut pins: Pins) -> Option<Pins> {
    match field {
        Field::Mainloop => pins.mainloop = read!(MainloopKind, word),
        Field::Decomposition => pins.decomposition = read!(DecompositionKind, word),
        Field::Promotion => pins.promotion = read!(PromotionKind, word),
        Field::AOperand => pins.a_operand = read!(AOperandKind, word),
        Field::Saturate => pins.saturate = read!(SaturateKind, word),
        Field::Emulation => pins.emulation = read!(EmulationKind, word),
        Field::Unroll => pins.unroll = Some(UnrollKind::Full),
        _ => return None,
    }
    Some(pins)
}
