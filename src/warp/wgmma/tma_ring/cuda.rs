//! The C++ of consumers of a TMA ring on Hopper's tensor cores.

use crate::{
    codegen::facts::facts,
    epilogue::tensor_store::{StagedMap, StagingMap},
    layout::index_map::Map,
    nest::GemmDesc,
    shape::OperandKind,
    threadblock::{StageTile, WarpSpecialized},
    warp::{
        MirroredMap, MmaText, WgmmaKnobs,
        wgmma::{AccumulatorMap, MmaWarpgroup},
    },
};
use core::fmt::Write;
use std::sync::Arc;

impl WgmmaKnobs {
    /// Returns the parts of the translation unit that depend on the MMA.
    pub(crate) fn consumer_cuda(
        d: &GemmDesc,
        components: &WarpSpecialized,
        mma: &MmaWarpgroup,
    ) -> MmaText {
        let rows = components.fragment_rows().cuda();
        let mut aliases = format!(
            "  using Mma = ::WarpgroupMma;\n  static constexpr warp::FragmentRows kFragmentRows = {rows};\n"
        );
        let mut structs = mma.header("WarpgroupMma");
        if let Some(load) = components.mma.fragment_load() {
            structs.push_str(&load.tile.header("FragmentTile"));
            let _ = writeln!(
                aliases,
                "  using FragmentLoad = warp::FragmentLoad<::FragmentTile, kFragmentRows>;\n  using Fragments = warp::FragmentLoader<FragmentLoad, {}>;",
                components.repeats.m
            );
        } else {
            aliases.push_str("  using Fragments = warp::NoFragments;\n");
        }
        let own = [
            ("kWarpM", d.warp().m),
            ("kWarpN", d.warp().n),
            ("kConsumersM", components.consumers.m),
            ("kConsumersN", components.consumers.n),
            ("kRepeatsM", components.repeats.m),
            ("kRepeatsN", components.repeats.n),
            ("kStoreAccess", d.output.access),
            ("kByTma", u32::from(d.by_tma())),
            ("kSubtileColumns", components.subtile_columns),
            ("kColumnMajor", u32::from(!components.layout_c.is_row())),
            ("kSubtileBoxRows", components.subtile_box_rows()),
            ("kSubtileSwizzle", components.subtile_swizzle.bits()),
            ("kKeepsColumns", u32::from(d.keeps_columns())),
            ("kPromotes", u32::from(d.promotes())),
            ("kFragmentSets", components.options.fragment_sets()),
        ];
        MmaText {
            header: "warp/wgmma/tma_ring.cuh",
            name: "threadblock::WgmmaConsumer",
            includes: &["warp/wgmma/registers.cuh"],
            declarations: structs,
            operands: OperandKind::BOTH.map(|operand| match components.gathered_lines(operand) {
                Some(_) => format!(
                    "  using Facts = ::WarpgroupMma::{name};\n  using Tile = warp::OperandTile<Facts>;\n",
                    name = operand.name()
                ),
                None => String::new(),
            }),
            members: aliases + &facts("int", &own),
        }
    }

    /// Returns the maps that have a C++ twin.
    pub(crate) fn consumer_maps(
        components: &WarpSpecialized,
        mma: &MmaWarpgroup,
    ) -> Vec<MirroredMap> {
        let tile = |operand| -> Map {
            match components.tile(operand) {
                StageTile::Warpgroup(tile) => Arc::new(tile),
                StageTile::Threads { .. } => Arc::new(components.boxed_tile(operand)),
            }
        };
        let smem_a = match components.mma.fragment_load() {
            None => "warp::OperandTile<Config::Mma::A>",
            Some(_) => "Config::FragmentLoad::Tile",
        };
        let load = components
            .mma
            .fragment_load()
            .map(|load| -> MirroredMap { ("fragments", "Config::FragmentLoad", Arc::new(*load)) });
        let others: [MirroredMap; 5] = [
            ("smem_a", smem_a, tile(OperandKind::A)),
            ("smem_b", "warp::OperandTile<Config::Mma::B>", tile(OperandKind::B)),
            (
                "accumulator",
                "warp::AccumulatorMap<Config::Mma::kN, Config::kFragmentRows>",
                Arc::new(
                    AccumulatorMap::new(&mma.instruction()).with_rows(components.fragment_rows()),
                ),
            ),
            ("staging", "epilogue::StagingMap<Config>", Arc::new(StagingMap::new(components))),
            ("staged", "epilogue::StagedMap<Config>", Arc::new(StagedMap::new(components))),
        ];
        let gathered = OperandKind::BOTH.into_iter().filter_map(|operand| -> Option<MirroredMap> {
            let twin = match operand {
                OperandKind::A => "threadblock::GatherMap<Config::A>",
                OperandKind::B => "threadblock::GatherMap<Config::B>",
            };
            Some(("gathered lines", twin, Arc::new(components.gathered_lines(operand)?)))
        });
        others.into_iter().chain(load).chain(gathered).collect()
    }
}
