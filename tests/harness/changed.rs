//! Modified descriptions.

use crate::harness::prelude::*;

/// Access to the family of a description.
pub trait OfFamily {
    /// Returns the description of a kernel whose threads all follow one schedule.
    fn one(&self) -> SimtDesc;
    /// Returns the description of a warp-specialized kernel.
    fn roles(&self) -> WarpSpecializedDesc;
}

impl OfFamily for GemmDesc {
    fn one(&self) -> SimtDesc {
        self.as_simt().expect("a kernel whose threads all follow one schedule")
    }

    fn roles(&self) -> WarpSpecializedDesc {
        self.warp_specialized().expect("a warp-specialized kernel")
    }
}

/// Returns the CUDA source of a valid description.
pub fn unit_of(desc: &GemmDesc, with_fingerprints: bool) -> TranslationUnit {
    desc.plan().expect("a kernel").unit(with_fingerprints)
}

/// Returns the description with some knobs changed. Its family must have these knobs.
pub fn pinned(desc: GemmDesc, pins: Pins) -> GemmDesc {
    let foreign = desc.family.foreign(Pins { mainloop: None, ..pins });
    assert!(foreign.is_none(), "{:?} is no knob of {:?}", foreign.first(), desc.family.mainloop());
    desc.pinned(pins)
}

/// Returns a description with some fields of its class and some knobs of its family changed:
/// `but!(desc, a: ElementKind::F16, stages: 3)`.
macro_rules! but {
    ($desc:expr $(, $field:ident $(: $value:expr)?)* $(,)?) => {{
        #[allow(unused_mut)]
        let mut desc = falchion::desc::GemmDesc::from($desc);
        $(but!(@given desc, $field $(, $value)?);)*
        desc
    }};
    (@given $d:ident, $field:ident) => { but!(@set $d, $field, $field) };
    (@given $d:ident, $field:ident, $value:expr) => { but!(@set $d, $field, $value) };
    (@set $d:ident, a, $value:expr) => { $d.class.a.element = $value };
    (@set $d:ident, b, $value:expr) => { $d.class.b.element = $value };
    (@set $d:ident, c, $value:expr) => { $d.class.output.element = $value };
    (@set $d:ident, accumulator, $value:expr) => { $d.class.accumulator = $value };
    (@set $d:ident, compute, $value:expr) => { $d.class.compute = $value };
    (@set $d:ident, layout_a, $value:expr) => { $d.class.a.layout = $value };
    (@set $d:ident, layout_b, $value:expr) => { $d.class.b.layout = $value };
    (@set $d:ident, layout_c, $value:expr) => { $d.frame = $d.frame.with_d_order($value) };
    (@set $d:ident, op, $value:expr) => { $d.class.op = $value };
    (@set $d:ident, arch, $value:expr) => { $d.class.arch = $value };
    (@set $d:ident, epilogue, $value:expr) => { $d.class.output.epilogue = $value };
    (@set $d:ident, swapped, $value:expr) => { $d.frame.swapped = $value };
    (@set $d:ident, $knob:ident, $value:expr) => {
        $d = $crate::harness::pinned($d, falchion::desc::Pins { $knob: Some($value), ..falchion::desc::Pins::NONE })
    };
}
