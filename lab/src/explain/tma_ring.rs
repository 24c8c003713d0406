//! The explanation of a kernel with a TMA ring.

use super::{
    gemm::swapped_fact,
    layouts::{StatedLayout, stated, tile_layouts, tile_of},
};
use falchion::{
    Error,
    epilogue::tensor_store::StagingMap,
    internals::{
        index::IndexMap,
        nest::{BoxesExplanation, WarpSpecializedExplanation},
        shape::OperandKind,
    },
    nest::GemmDesc,
    shape::Mnk,
    threadblock::{SmemTile, StageTile, WarpSpecialized},
    warp::{TiledMma, wgmma},
};

/// Returns the facts of a kernel: their names and their values.
pub(super) fn facts(of: &WarpSpecializedExplanation) -> Vec<(&'static str, String)> {
    let [a, b] = &of.operands;
    let ([consumers_m, consumers_n], [tile_m, tile_n], [repeats_m, repeats_n]) =
        (of.consumers, of.consumer_tile, of.repeats);
    let Mnk { m, n, k } = of.instruction;
    let WarpSpecializedExplanation {
        threads,
        accumulators,
        registers,
        registers_available,
        registers_at_launch,
        ..
    } = of;
    let given = match of.registers_kept_and_taken {
        Some([kept, taken]) => {
            format!(
                "launched with {registers_at_launch}, the producer keeps {kept} and consumers take {taken}"
            )
        }
        None => format!("launched with {registers_at_launch}, which all keep"),
    };
    let mut facts = vec![
        (
            "warpgroups",
            match consumers(of) {
                1 => format!("a producer and a consumer: {threads} threads"),
                all if all > consumers_m * consumers_n => {
                    format!("a producer and {all} consumers in ping-pong: {threads} threads")
                }
                _ => format!(
                    "a producer and {consumers_m} x {consumers_n} consumers: {threads} threads"
                ),
            },
        ),
        match of.lanes {
            None => (
                "consumer tile",
                format!(
                    "{tile_m} x {tile_n}: {repeats_m} x {repeats_n} instructions of {m} x {n} x {k}"
                ),
            ),
            Some([down, across]) => {
                // On CUDA cores, the instruction is the tile of a thread.
                let [thread_m, thread_n] = [tile_m / down.max(1), tile_n / across.max(1)];
                let instruction = if [m, n] == [thread_m, thread_n] {
                    String::new()
                } else {
                    format!(" by instructions of {m} x {n} x {k}")
                };
                (
                    "warp tile",
                    format!(
                        "{tile_m} x {tile_n}: {down} x {across} lanes, {thread_m} x {thread_n} a thread{instruction}, four warps a consumer"
                    ),
                )
            }
        },
        (
            "registers",
            format!(
                "about {registers} of {registers_available}, {accumulators} of them accumulators; {given}"
            ),
        ),
        ("shared memory", warp_specialized_shared_memory(of)),
        ("A", boxes(a)),
        ("B", boxes(b)),
        ("D", warp_specialized_stored(of)),
        ("epilogue", format!("{} in {}", of.epilogue, of.compute.name())),
    ];
    let [cluster_m, cluster_n] = of.cluster;
    if cluster_m * cluster_n > 1 {
        facts.insert(1, ("cluster", format!("{cluster_m} x {cluster_n} blocks")));
    }
    if let Some(every) = of.promoted_every {
        let partial = of.partial_accumulators;
        facts.insert(
            3,
            (
                "promotion",
                format!(
                    "accumulators are added to those in f32 every {every} of K, from {partial} registers of partial accumulators"
                ),
            ),
        );
    }
    if of.fragment_sets > 0 {
        facts.push((
            "A in registers",
            match of.fragment_sets {
                1 => "1 fragment set".to_owned(),
                sets => format!("{sets} fragment sets, used round-robin"),
            },
        ));
    }
    if let Some(term) = of.emulation.term_type() {
        let (terms, products, all) =
            (of.emulation.terms(), of.emulation.products().len(), of.emulation.terms().pow(2));
        let scaled = if of.emulation.scales() { ", rows of A and columns of B scaled" } else { "" };
        facts.insert(
            0,
            ("emulation", format!("f32 in {terms} terms of {term}{scaled}; {products} of {all} products of terms are summed")),
        );
    }
    facts.splice(0..0, swapped_fact(of.swapped, of.layout_c.transposed(), of.fragment_sets > 0));
    facts
}

/// Returns the number of consumer warpgroups of a CTA, cooperative or ping-pong.
fn consumers(of: &WarpSpecializedExplanation) -> u32 {
    /// Threads per warpgroup.
    const WARPGROUP: u32 = 128;
    (of.threads / WARPGROUP).saturating_sub(1)
}

fn warp_specialized_shared_memory(of: &WarpSpecializedExplanation) -> String {
    let WarpSpecializedExplanation {
        smem_bytes,
        smem_bytes_available,
        stages,
        stage_bytes,
        staging_buffers,
        staging_bytes,
        slot_bytes,
        vector_bytes,
        barrier_bytes,
        ..
    } = of;
    let buffers = if *staging_buffers == 1 { "buffer" } else { "buffers" };
    let staging = match (staging_buffers, consumers(of)) {
        (0, _) => String::new(),
        (_, 1) => format!(", {staging_buffers} staging {buffers} of {staging_bytes}"),
        (_, consumers) => format!(
            ", {staging_buffers} staging {buffers} of {staging_bytes} for each of {consumers} consumers"
        ),
    };
    let slots = if *slot_bytes == 0 {
        String::new()
    } else {
        format!(", {slot_bytes} for partials of the cluster's other CTAs")
    };
    let vectors = if *vector_bytes == 0 {
        String::new()
    } else {
        format!(", {vector_bytes} of the epilogue's vectors")
    };
    format!(
        "{smem_bytes} of {smem_bytes_available} bytes per CTA: {stages} stages of {stage_bytes}{staging}{slots}{vectors}, {barrier_bytes} of barriers"
    )
}

fn warp_specialized_stored(of: &WarpSpecializedExplanation) -> String {
    let [rows, columns] = of.subtile;
    if let (0, Some(access)) = (of.subtiles, of.store_access) {
        return format!("stored by threads from registers, {access} at a time");
    }
    let by = match of.store_access {
        None => "by TMA".to_owned(),
        Some(access) => format!("by threads, {access} at a time"),
    };
    format!("stored {by}, in {} subtiles of {rows} x {columns} a consumer", of.subtiles)
}

fn boxes(of: &BoxesExplanation) -> String {
    let [mn, k] = of.extents;
    let along = match (of.along_k, of.name) {
        (true, _) => "K",
        (false, "A") => "M",
        (false, _) => "N",
    };
    let shared = match of.shares {
        0 | 1 => String::new(),
        blocks => format!(", each copied to all {blocks} blocks of the cluster"),
    };
    format!(
        "{} boxes of {mn} x {k} ({} bytes) a stage, rows along {along}{shared}",
        of.copies, of.bytes
    )
}

/// Returns the maps of a kernel.
///
/// # Errors
/// [`Error::Refused`] if the description is invalid.
pub(super) fn layouts(desc: &GemmDesc) -> Result<Vec<StatedLayout>, Error> {
    let components = &WarpSpecialized::new(desc)?;
    let mut found = Vec::new();
    for operand in OperandKind::BOTH {
        let (whole, one) = match components.tile(operand) {
            StageTile::Warpgroup(tile) => (tile.layout(), tile.tma_box()),
            StageTile::Threads { .. } => {
                let tile = components.boxed_tile(operand);
                (tile.layout(), tile.one)
            }
        };
        let one = SmemTile { mn: components.box_mn(operand), ..one };
        found.push(stated(format!("{} in shared memory", operand.name()), tile_of(operand), whole));
        found.push(stated(
            format!("TMA box of {}", operand.name()),
            tile_of(operand),
            one.layout(),
        ));
    }
    match components.mma {
        TiledMma::Simt(tiles) | TiledMma::MmaSync(tiles, _) => found.extend(tile_layouts(&tiles)),
        TiledMma::Unsupported => {}
        TiledMma::Wgmma(mma, load) => {
            if let Some(load) = load {
                found.push(stated(
                    "A in registers",
                    "(thread, element of a stage) to an element",
                    load.layout(),
                ));
            }
            let accumulators = wgmma::AccumulatorMap::new(&mma.instruction())
                .with_rows(components.fragment_rows());
            found.push(stated(
                "accumulators",
                "(thread, accumulator) to m * N + n",
                accumulators.layout(),
            ));
            found.push(stated(
                "subtile of D",
                "(m, n) to a byte",
                StagingMap::new(components).layout(),
            ));
        }
    }
    if components.options.split_k {
        found.push(stated(
            "slot of a split-K slice",
            "(thread, accumulator) to a place",
            components.slot_map().layout(),
        ));
    }
    Ok(found)
}
