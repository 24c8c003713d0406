//! Checks of pins against the knobs of a kernel.

use crate::{
    arch::{ArchKind, OpKind},
    nest::{Class, DecompositionKind, Knobs, Pins, defaults::mainloop_with, emulation_of_others},
    refusal::Refusal,
    shape::Mnk,
    threadblock::mma::check,
};

/// Checks that the kernel has a knob for each pin.
///
/// # Errors
/// A refusal that names the first foreign pin, and units or a main loop that support it.
pub(crate) const fn check_pins(
    knobs: &Knobs,
    pins: &Pins,
    op: OpKind,
    arch: ArchKind,
) -> Result<(), Refusal> {
    let foreign = knobs.foreign(*pins);
    let nearest = knobs.mainloop.kind().name();
    match (foreign.mainloop, foreign.split_first()) {
        (_, None) => Ok(()),
        (Some(mainloop), _) => Err(Refusal::other_mainloop(mainloop.name(), op, arch, nearest)),
        (None, Some((one, _))) => {
            let [Some(knob)] = one.names() else { return Ok(()) };
            if let (Some(emulation), Some(_)) = (one.emulation, knobs.pins().emulation) {
                return Err(emulation_of_others(emulation));
            }
            if let (Some(DecompositionKind::SplitKCluster), Some(_)) =
                (one.decomposition, knobs.pins().decomposition)
            {
                return Err(check::by_clusters(knobs.mainloop.kind()));
            }
            let units = op.other();
            match mainloop_with(op, arch, one) {
                Some(other) => Err(Refusal::knob_of_another_kernel(knob, nearest, other.name())),
                None if mainloop_with(units, arch, one).is_some() => {
                    Err(Refusal::knob_of_other_units(knob, op, units))
                }
                None => Err(Refusal::knob_of_no_kernel(knob, nearest)),
            }
        }
    }
}

/// Removes the instruction of one thread from the pins. CUTLASS writes `1x1x1` for SIMT, and
/// `1x1x4` for the dot product of four 8-bit elements. Every SIMT kernel has that instruction.
pub(crate) const fn without_thread_instruction(pins: Pins, class: &Class) -> Pins {
    match pins.instruction {
        Some(Mnk { m: 1, n: 1, k }) if matches!(class.op, OpKind::Simt) => {
            let dot_product = k == 4 && class.a.element.bytes_of(1) == 1;
            if k == 1 || dot_product { Pins { instruction: None, ..pins } } else { pins }
        }
        _ => pins,
    }
}
