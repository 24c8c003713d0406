//! Advice of refusals: sets the named field to the named value, as a user would.

use crate::harness::prelude::*;
use falchion::refusal::Advice;

/// Applies the advice of a refusal. `None` if the refusal has none.
pub fn advised(mut d: GemmDesc, refusal: &Refusal) -> Option<GemmDesc> {
    let taken = match refusal.advice {
        Advice::Value(Value::Number(nearest)) | Advice::ValueOr(nearest, _) => {
            set(&mut d, refusal.field, nearest as u32)
        }
        Advice::Value(Value::Word(word)) => choose(&mut d, refusal.field, word),
        Advice::Other(field, Value::Number(nearest)) => set(&mut d, field, nearest as u32),
        Advice::OtherOr(field, nearest, _) => set(&mut d, field, nearest),
        Advice::Other(field, Value::Word(word)) => choose(&mut d, field, word),
        _ => false,
    };
    taken.then_some(d)
}

/// Sets a field to a word.
fn choose(d: &mut GemmDesc, field: Field, word: &str) -> bool {
    let mut pins = Pins::NONE;
    match field {
        Field::Op => d.mma = with_units(d.mma, word.parse().expect("units")),
        Field::Arch => d.arch = word.parse().expect("an architecture"),
        Field::Compute => d.output.compute = word.parse().expect("a compute type"),
        Field::Saturate => pins.saturate = Some(SaturateKind::Off),
        Field::Unroll => pins.unroll = Some(UnrollKind::Full),
        _ => return false,
    }
    *d = d.pinned(pins);
    true
}

/// Sets a field to a number. Returns false if the field is not a knob.
fn set(d: &mut GemmDesc, field: Field, x: u32) -> bool {
    fn knob<T>(pinned: &mut Option<T>) -> &mut T {
        pinned.as_mut().expect("the kernel has this knob")
    }
    let along = |shape: &mut Mnk, axis: Axis| match axis {
        Axis::M => shape.m = x,
        Axis::N => shape.n = x,
        Axis::K => shape.k = x,
    };
    let across = |shape: &mut Mn, axis: Axis| match axis {
        Axis::N => shape.n = x,
        _ => shape.m = x,
    };
    let mut pins = d.pins();
    match field {
        Field::Instruction(axis) => along(knob(&mut pins.instruction), axis),
        Field::Warp(axis) => along(knob(&mut pins.warp), axis),
        Field::Threadblock(axis) => along(knob(&mut pins.threadblock), axis),
        Field::Cluster(axis) => across(knob(&mut pins.cluster), axis),
        Field::Stages => *knob(&mut pins.stages) = x,
        Field::Pending => *knob(&mut pins.pending) = x,
        Field::Swizzle => {
            pins.swizzle = Some(match d.swizzle() {
                SwizzleKind::Grouped(_) => SwizzleKind::Grouped(x),
                _ => SwizzleKind::Identity(x),
            });
        }
        Field::BlocksPerSm => *knob(&mut pins.blocks_per_sm) = x,
        Field::Interleave => *knob(&mut pins.interleave) = InterleaveKind::Elements(x),
        Field::Unroll => *knob(&mut pins.unroll) = UnrollKind::By(x),
        Field::Alignment(Operand::A) => *knob(&mut pins.align_a) = x,
        Field::Alignment(Operand::B) => *knob(&mut pins.align_b) = x,
        Field::Alignment(Operand::C) => *knob(&mut pins.align_c) = x,
        Field::Padding(operand)
        | Field::SwizzleBits(operand)
        | Field::SwizzleBase(operand)
        | Field::SwizzleShift(operand) => {
            let smem = match operand {
                OperandKind::A => knob(&mut pins.smem_a),
                OperandKind::B => knob(&mut pins.smem_b),
            };
            match (smem, field) {
                (SmemLayout::Padded { padding, .. }, Field::Padding(_)) => *padding = x,
                (SmemLayout::Swizzled { bits, .. }, Field::SwizzleBits(_)) => *bits = x,
                (SmemLayout::Swizzled { base, .. }, Field::SwizzleBase(_)) => *base = x,
                (SmemLayout::Swizzled { shift, .. }, Field::SwizzleShift(_)) => *shift = x,
                (other, _) => panic!("{field:?} of {other:?}"),
            }
        }
        // The numbers of warps, consumers, and threads depend on the tiles.
        Field::WarpsOfABlock
        | Field::WarpArea
        | Field::ThreadsOfABlock
        | Field::ThreadsOfAMultiprocessor
        | Field::Warpgroups
        | Field::WarpsOfConsumers => return false,
        other => panic!("{other:?} is not a field of a knob"),
    }
    *d = d.pinned(pins);
    true
}

/// Returns the refusal of a description, and the description that it advises. Checks the sentence,
/// and whether it advises one.
pub fn refused_as(desc: &Changed, (wanted, advises): (&str, bool)) -> (Refusal, Option<GemmDesc>) {
    let refusal = desc.apply().expect_err(wanted);
    assert_eq!(refusal.to_string(), wanted);
    let advice = advised(desc.unchecked(), &refusal);
    assert_eq!(advice.is_some(), advises, "{wanted}");
    (refusal, advice)
}
