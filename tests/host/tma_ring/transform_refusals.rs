//! Refusals of user transforms by kernels with a TMA ring.

use crate::{
    harness::{on_tensor_cores::ORDERS, prelude::*, transforms::Scaled},
    transform_refusals::refused,
    transforms::small,
};
use falchion::numeric::register_transform;

/// Checks that a request names the knob that no such kernel has, and a description the rule of its
/// main loop.
pub(crate) fn check_refusals(op: OpKind) {
    let id = register_transform::<Scaled<f32, f32>>();
    let knobs = [("mainloop", "warpspecialized"), ("transform_a", &*id.to_string())];
    let nearest: Vec<_> = MULTISTAGE_OR_OTHER.iter().map(|mainloop| mainloop.name()).collect();
    let nearest = nearest.join(" or ");
    let said = refused((op, ArchKind::Sm90), "f32", &knobs);
    assert!(said.contains("transform_a") && said.contains("warpspecialized"), "{said}");
    let mut desc = small((op, ArchKind::Sm90), ElementKind::F32, ORDERS[2], &knobs[..1]);
    desc.operands[1].multiplied = Multiplied::Transformed(id);
    assert_eq!(
        desc.check().map_err(|refusal| refusal.to_string()),
        Err(format!(
            "transform_b = {id} is not supported by the warpspecialized main loop (its MMA reads elements as TMA copied them); try mainloop = {nearest}"
        ))
    );
}
