//! Coverage of a suite of kernels with a TMA ring.

use super::super::{
    coverage::{Coverage, all_layouts, cluster_of, each, layouts_of, types_of},
    ring_types,
};
use crate::harness::prelude::*;

impl Coverage {
    /// Returns the properties that a suite of warp-specialized kernels lacks.
    pub fn missing_warp_specialized(descriptions: &[GemmDesc]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        for d in descriptions {
            let Some(components) = d.components() else { continue };
            seen.insert(types_of(d));
            seen.insert(layouts_of(d));
            seen.insert(cluster_of(d));
            seen.insert(format!("consumers {}x{}", components.consumers.m, components.consumers.n));
            seen.insert(format!("repeats along N {}", components.repeats.n > 1));
            seen.insert(format!("repeats along M {}", components.repeats.m > 1));
            seen.insert(format!("stages {}", d.stages()));
            let buffers = if components.ring.staging_buffers > 1 { "several" } else { "one" };
            seen.insert(format!("staging {buffers} {:?}", components.subtile_swizzle));
            seen.insert(format!("promoted {}", d.promotes()));
            seen.insert(format!(
                "D {} {} bytes by TMA {}",
                d.frame.d_order(),
                d.output.element.bytes_of(1),
                d.alignments()[2] * d.output.element.bytes_of(1) == 16
            ));
            seen.extend(describe_columns(d));
            seen.insert(format!(
                "{} from {} sets",
                d.operands[0].stored,
                components.options.fragment_sets()
            ));
            seen.insert(format!(
                "by TMA {}",
                d.alignments()[2] * d.output.element.bytes_of(1) == 16
            ));
            seen.insert(format!("{:?}", core::mem::discriminant(&d.swizzle())));
        }
        let mut wanted: Vec<String> = ring_types()
            .iter()
            .map(|types| format!("{} {} {}", types.a, types.accumulator, types.c))
            .collect();
        wanted.extend(all_layouts());
        wanted.extend(each("cluster", ["1x1", "2x1", "1x2", "4x1"]));
        wanted.extend(each("consumers", ["1x1", "2x1", "1x2", "3x1"]));
        wanted.extend(each("stages", 2..=6));
        for what in ["repeats along N", "repeats along M", "by TMA", "promoted"] {
            wanted.extend(each(what, [false, true]));
        }
        wanted.extend(
            [
                "staging one Bytes128",
                "staging several Bytes128",
                "staging several Bytes64",
                "staging several Bytes32",
            ]
            .map(str::to_owned),
        );
        wanted.extend([2, 4].into_iter().flat_map(|bytes| {
            [true, false].map(|tma| format!("D col {bytes} bytes by TMA {tma}"))
        }));
        wanted
            .extend(["e4m3", "e5m2", "i8", "u8", "tf32"].map(|kind| format!("{kind} from 2 sets")));
        wanted.extend(wanted_of_columns());
        wanted.retain(|wanted| !seen.contains(wanted));
        wanted
    }

    /// Returns the properties that a suite of TMA-fed SIMT kernels lacks.
    pub fn missing_threads(descriptions: &[GemmDesc]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        for d in descriptions {
            let Some(components) = d.components() else { continue };
            let (thread, lanes) =
                (d.instruction(), components.threads().expect("threads multiply").lanes);
            seen.insert(layouts_of(d));
            seen.insert(format!("thread M {}", thread.m));
            seen.insert(format!("thread N {}", thread.n));
            seen.insert(format!("lanes {}x{}", lanes.m, lanes.n));
            seen.insert(format!("K {}", d.threadblock().k));
            seen.insert(cluster_of(d));
            seen.insert(format!("{:?} {}", d.schedule(), components.ring.consumers));
            seen.insert(format!("stages {}", d.stages()));
            seen.insert(format!("align C {}", d.alignments()[2]));
        }
        let mut wanted = all_layouts();
        wanted.extend(["thread M", "thread N"].map(|side| each(side, [4, 8, 12, 16])).concat());
        wanted.extend(each("lanes", ["2x16", "4x8", "8x4", "16x2"]));
        wanted.extend(each("K", [8, 16, 24, 32, 40]));
        wanted.extend(each("cluster", ["1x1", "2x1", "1x2", "4x1"]));
        wanted.extend(
            ["Cooperative 1", "Cooperative 2", "Cooperative 3", "Pingpong 2"].map(str::to_owned),
        );
        wanted.extend(each("stages", 2..=7));
        wanted.extend(each("align C", [1, 2, 4]));
        wanted.retain(|wanted| !seen.contains(wanted));
        wanted
    }
}

/// Returns the properties of a kernel with a column-major D and an A in shared memory. Empty for
/// other kernels.
fn describe_columns(d: &GemmDesc) -> Vec<String> {
    let (components, bytes) = (d.components().expect("a kernel"), d.output.element.bytes_of(1));
    if d.frame.d_order().is_row() || d.a_from_registers() {
        return Vec::new();
    }
    let alone = components.subtile_columns % 16 == 8;
    [
        format!("{bytes} bytes by TMA {}", d.alignments()[2] * bytes == 16),
        format!("{bytes} bytes, an octet alone {alone}"),
        format!("swapped {}", d.frame.swapped),
        format!("promoted {}", d.promotes()),
        format!("N {}", d.instruction().n),
    ]
    .map(|what| format!("D by columns: {what}"))
    .into()
}

/// Returns the properties of column-major D that a suite must have.
fn wanted_of_columns() -> Vec<String> {
    let mut wanted: Vec<_> = (1..=8).map(|eighth| format!("N {}", 8 * eighth)).collect();
    for more in [false, true] {
        wanted.extend(
            ["2 bytes by TMA", "4 bytes by TMA", "swapped", "promoted"]
                .map(|what| format!("{what} {more}")),
        );
        wanted.push(format!("2 bytes, an octet alone {more}"));
    }
    wanted.iter().map(|what| format!("D by columns: {what}")).collect()
}
