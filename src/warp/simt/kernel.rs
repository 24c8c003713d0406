//! The C++ of a SIMT kernel without a producer.
//!
//! Twin: `kernels/warp/simt/kernel.cuh`.

use crate::{
    codegen::{fingerprint_assertion, transform_name, transform_structs},
    nest::GemmDesc,
    operand::OperandKind,
    threadblock::MmaBase,
    warp::{MmaText, SimtKnobs, exchange::BlockedToStriped},
};

/// The header with the maps of the kernels.
const HEADERS: &[(&str, &str)] =
    &[("warp/simt/kernel.cuh", include_str!("../../../kernels/warp/simt/kernel.cuh"))];

impl SimtKnobs {
    /// Returns the parts of the translation unit that depend on the MMA. The fingerprint covers
    /// the exchange between lanes before a store.
    pub(crate) fn cuda(desc: &GemmDesc, base: &MmaBase) -> MmaText {
        let exchange = BlockedToStriped::new(&base.tiles, base.accumulator, base.store_access);
        MmaText {
            headers: HEADERS,
            name: "warp::MmaSimt<Config>",
            includes: &["numeric/transform.cuh"],
            declarations: transform_structs(desc),
            fingerprints: exchange.map_or_else(String::new, |map| {
                fingerprint_assertion(&map.twin(), "exchange", &map)
            }),
            facts: vec![
                ("static constexpr int kUnroll", desc.groups_a_turn().to_string()),
                ("using TransformA", transform_name(desc, OperandKind::A)),
                ("using TransformB", transform_name(desc, OperandKind::B)),
            ],
            ..MmaText::default()
        }
    }
}
