//! Version 3 of the JSON form: the knobs of all families are side by side, in the kernel's frame.

use crate::{
    arch::{ArchKind, OpKind},
    desc::{Class, FamilyDesc, Frame, GemmDesc, Pins, PromotionKind},
    layout::Order,
    numeric::{Combined, ComputeKind, ElementKind},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    smem::SmemLayout,
    warp::{InterleaveKind, UnrollKind},
};
use serde::{Deserialize, de::IgnoredAny};
use std::collections::BTreeMap;

/// Version number of this form.
pub(super) const VERSION: u64 = 3;

/// Values of the knobs that a family does not use, including knobs that are newer than version 3.
const UNUSED: Pins = Pins {
    instruction: Some(Mnk::new(1, 1, 1)),
    smem_a: Some(SmemLayout::Auto),
    smem_b: Some(SmemLayout::Auto),
    blocks_per_sm: Some(1),
    cluster: Some(Mn::ONE),
    schedule: Some(ScheduleKind::Cooperative),
    promotion: Some(PromotionKind::Never),
    interleave: Some(InterleaveKind::Vector),
    unroll: Some(UnrollKind::Full),
    ..Pins::NONE
}
.over(Pins::YOUNGER);

#[derive(Deserialize)]
pub(super) struct Flat {
    #[serde(rename = "version")]
    _version: u64,
    a: ElementKind,
    b: ElementKind,
    c: ElementKind,
    accumulator: ElementKind,
    compute: ComputeKind,
    layout_a: Order,
    layout_b: Order,
    #[serde(default)]
    layout_c: Order,
    exchanged: bool,
    op: OpKind,
    arch: ArchKind,
    #[serde(flatten)]
    knobs: Pins,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

impl TryFrom<Flat> for GemmDesc {
    type Error = String;

    fn try_from(flat: Flat) -> Result<Self, String> {
        if let Some(name) = flat.others.keys().next() {
            return Err(format!("unknown field `{name}`"));
        }
        let types = Combined { a: flat.a, b: flat.b, accumulator: flat.accumulator, c: flat.c };
        let mut class = Class::new(flat.op, flat.arch, types, [flat.layout_a, flat.layout_b]);
        class.compute = flat.compute;
        class.output.epilogue = flat.knobs.epilogue.ok_or("missing field `epilogue`")?;
        let frame = Frame { swapped: flat.exchanged, ..Frame::USER }.with_d_order(flat.layout_c);
        let mainloop = flat.knobs.mainloop.ok_or("missing field `mainloop`")?;
        let knobs = flat.knobs.over(Pins::YOUNGER);
        let family = FamilyDesc::all(mainloop, knobs)
            .ok_or("missing field: it has not all knobs of its main loop")?;
        let mut foreign = family.foreign(knobs);
        while let Some((one, others)) = foreign.split_first() {
            if one.over(UNUSED) != UNUSED {
                return Err(format!(
                    "{} is not a knob of the {} main loop",
                    one.first().unwrap_or_default(),
                    mainloop.name()
                ));
            }
            foreign = others;
        }
        Ok(Self { class, frame, family })
    }
}
