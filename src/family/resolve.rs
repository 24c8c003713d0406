//! From a class and pins to a description: what is not pinned is the row's.

use super::default_gemm_configuration::{COPIED_BY_TMA, default_gemm_configurations};
use crate::{
    arch::{ArchKind, OpKind},
    desc::{Class, FamilyDesc, Frame, GemmDesc, Pins},
    numeric::ElementKind,
    refusal::{Refusal, Word, hold},
    threadblock::MainloopKind,
};

/// The description of a class, the kernel's, and of pins, which belong to the user's A and B.
///
/// # Errors
///
/// A [`Refusal`] when no row has the types, when a pin is another family's, or when the description is no kernel.
pub(crate) const fn resolve(class: Class, frame: Frame, pins: Pins) -> Result<GemmDesc, Refusal> {
    let family = match row(&class, frame, &pins) {
        Ok(families) => families[0],
        Err(refusal) => return Err(refusal),
    };
    hold!(check_pins(&family, &pins));
    let family = family.pinned(pins);
    let desc = GemmDesc { class, frame, family };
    let pins = Pins { epilogue: pins.epilogue, ..if frame.is_exchanged() { desc.pins().exchange() } else { Pins::NONE } };
    let desc = desc.pinned(pins).settled();
    match desc.check() {
        Ok(()) => Ok(desc),
        Err(refusal) => Err(refusal),
    }
}

/// What a problem may choose among in place of the first: nothing where a knob is pinned.
pub(crate) const fn others(class: Class, frame: Frame, pins: Pins) -> &'static [FamilyDesc] {
    match row(&class, frame, &pins) {
        Ok([_, others @ ..]) if pins.is_none() => others,
        _ => &[],
    }
}

/// The row of a class. Who pins what another family has, its main loop or a knob of its own, has that family where it computes the class.
pub(super) const fn row(class: &Class, frame: Frame, pins: &Pins) -> Result<&'static [FamilyDesc], Refusal> {
    let types = if frame.is_exchanged() { class.exchange().combined() } else { class.combined() };
    let row = hold!(default_gemm_configurations(class.op, class.arch, types));
    let f32 = ElementKind::F32;
    let computed = matches!((class.op, class.arch), (OpKind::Simt, ArchKind::Sm90)) && types.a.is(f32) && types.c.is(f32);
    let other = computed && !row[0].foreign(*pins).is_none() && FED_BY_TMA[0].foreign(*pins).is_none();
    Ok(if other || computed && matches!(pins.mainloop, Some(MainloopKind::WarpSpecialized)) { FED_BY_TMA } else { row })
}

const FED_BY_TMA: &[FamilyDesc] = &[COPIED_BY_TMA];

/// Whether the family has knobs for all that is pinned.
pub(super) const fn check_pins(family: &FamilyDesc, pins: &Pins) -> Result<(), Refusal> {
    let (mainloop, other) = match family {
        FamilyDesc::Simt(knobs) => (knobs.mainloop, MainloopKind::WarpSpecialized),
        FamilyDesc::WarpSpecialized(_) => (MainloopKind::WarpSpecialized, MainloopKind::Multistage),
    };
    match family.foreign(*pins).first() {
        None => Ok(()),
        Some(flag) => {
            Err(Refusal::OtherFamilysKnob { flag: Word(flag), mainloop: Word(mainloop.name()), other: Word(other.name()) })
        }
    }
}
