//! The C++ of a SIMT kernel without a producer.

use crate::{
    codegen::{facts::facts, fingerprint_assertion, transform_name, transform_structs},
    nest::GemmDesc,
    shape::OperandKind,
    threadblock::{MmaBase, mma::program::Program},
    warp::{MirroredMap, MmaText, SimtKnobs, exchange::BlockedToStriped},
};
use core::fmt::Write;

impl SimtKnobs {
    /// Returns the parts of the translation unit that depend on the MMA.
    pub(crate) fn cuda(desc: &GemmDesc) -> MmaText {
        let mut members = facts("int", &[("kUnroll", desc.groups_a_turn())]);
        for operand in OperandKind::BOTH {
            let _ = writeln!(
                members,
                "  using Transform{} = {};",
                operand.name(),
                transform_name(desc, operand)
            );
        }
        MmaText {
            header: "warp/simt.cuh",
            name: "warp::MmaSimt<Config>",
            includes: &["numeric/transform.cuh"],
            declarations: transform_structs(desc),
            members,
            ..MmaText::default()
        }
    }

    /// Returns the maps that have a C++ twin.
    pub(crate) fn mirrored(program: &Program) -> Vec<MirroredMap> {
        let [a, b] = program.maps.fragment.clone();
        vec![
            ("fragment_a", "warp::FragmentMap<Config, Config::A, true>", a),
            ("fragment_b", "warp::FragmentMap<Config, Config::B, false>", b),
            ("depth", "warp::DepthMap<Config>", program.maps.depth.clone()),
        ]
    }

    /// Returns the fingerprint assertion of the exchange between lanes before a store.
    pub(crate) fn fingerprints(desc: &GemmDesc, base: &MmaBase) -> String {
        BlockedToStriped::for_kernel(desc, &base.tiles)
            .map_or_else(String::new, |map| fingerprint_assertion(&map.twin(), "exchange", &map))
    }
}
