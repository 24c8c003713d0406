//! Advice of refusals: sets the named field to the named value, as a user would.

use falchion::{
    Refusal,
    arch::{ArchKind, OpKind},
    desc::{GemmDesc, Pins, SaturateKind},
    internals::operand::{Axis, OperandKind},
    numeric::ComputeKind,
    refusal::{Field, Operand},
    shape::{Mn, Mnk},
    threadblock::{SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};

/// Applies the advice of a refusal. `None` if the refusal has none.
pub fn advised(mut d: GemmDesc, refusal: &Refusal) -> Option<GemmDesc> {
    let taken = match *refusal {
        Refusal::OutOfRange { field, value, least, most } => {
            set(&mut d, field, if value < least { least } else { most } as u32)
        }
        Refusal::NotOneOf { field, nearest, .. } | Refusal::NotMultiple { field, nearest, .. } => {
            set(&mut d, field, nearest as u32)
        }
        Refusal::NotEven { field, value } => set(&mut d, field, value + 1),
        Refusal::DoesNotNest { field, nearest, .. } => set(&mut d, field, nearest),
        Refusal::UnevenBoxes { axis, nearest, .. } => set(&mut d, Field::Cluster(axis), nearest),
        Refusal::ClusterAlongBothAxes { .. } => set(&mut d, Field::Cluster(Axis::N), 1),
        Refusal::PipelinedStages { .. } => set(&mut d, Field::Stages, 2),
        Refusal::SharedMemory { available, stage, partials, .. } if partials <= available => {
            // Warp-specialized kernels keep the partials next to the ring, and other kernels reuse
            // the stages.
            let left =
                if d.family.mainloop().cuda().is_none() { available - partials } else { available };
            left / stage >= 2 && set(&mut d, Field::Stages, left / stage)
        }
        Refusal::AccessDoesNotDivideTile { operand, nearest, .. } => {
            set(&mut d, Field::Alignment(operand), nearest)
        }
        Refusal::CopyWidth { operand, nearest, .. }
        | Refusal::CopyNotWhole { operand, nearest, .. }
            if nearest > 0 =>
        {
            set(&mut d, Field::Alignment(operand), nearest)
        }
        Refusal::NothingToSaturate { .. } => {
            d = d.pinned(Pins { saturate: Some(SaturateKind::Off), ..Pins::NONE });
            true
        }
        Refusal::NoLoopToUnroll { .. } => choose(&mut d, Field::Unroll),
        Refusal::NoChoice { field, .. } => choose(&mut d, field),
        Refusal::HopperAlone { .. } => {
            d.class.arch = ArchKind::Sm90;
            true
        }
        Refusal::OnTensorCores { .. } => {
            d.class.op = OpKind::TensorOp;
            true
        }
        Refusal::Compute { accumulator, c, .. } => {
            d.class.compute = ComputeKind::of(accumulator, c);
            true
        }
        _ => false,
    };
    taken.then_some(d)
}

/// Sets a field to the only valid choice of its main loop.
fn choose(d: &mut GemmDesc, field: Field) -> bool {
    match field {
        Field::Unroll => *d = d.pinned(Pins { unroll: Some(UnrollKind::Full), ..Pins::NONE }),
        Field::OpTensorOp => d.class.op = OpKind::Simt,
        _ => return false,
    }
    true
}

/// Sets a field to a number. Returns false if the field is not a knob.
fn set(d: &mut GemmDesc, field: Field, x: u32) -> bool {
    fn knob<T>(pinned: &mut Option<T>) -> &mut T {
        pinned.as_mut().expect("a knob of the family")
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
        Field::InstructionAlong(at) => along(knob(&mut pins.instruction), at.axis),
        Field::InstructionNPromoted => knob(&mut pins.instruction).n = x,
        Field::Warp(axis) => along(knob(&mut pins.warp), axis),
        Field::WarpMFromRegisters => knob(&mut pins.warp).m = x,
        Field::Threadblock(axis) => along(knob(&mut pins.threadblock), axis),
        Field::ThreadblockMFromRegisters => knob(&mut pins.threadblock).m = x,
        Field::ThreadblockKInKilobytes => knob(&mut pins.threadblock).k = x,
        Field::Cluster(axis) => across(knob(&mut pins.cluster), axis),
        Field::Stages => *knob(&mut pins.stages) = x,
        Field::Pending | Field::PendingFromRegisters => *knob(&mut pins.pending) = x,
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
        | Field::ConsumerWarpgroups
        | Field::PingpongWarpgroups
        | Field::ConsumerWarps
        | Field::PingpongWarps => return false,
        other => panic!("{other:?} is no knob's"),
    }
    *d = d.pinned(pins);
    true
}
