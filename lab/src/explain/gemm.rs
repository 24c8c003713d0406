//! Explanations of GEMM descriptions, for `falchion gemm --explain`.

use falchion::{
    device::Explanation,
    internals::nest::{
        BoxesExplanation, MmaSyncExplanation, OperandExplanation, SimtExplanation,
        WarpSpecializedExplanation,
    },
    layout::Order,
    shape::Mnk,
};

/// Returns the facts of a kernel: their names and their values.
pub fn facts(explanation: &Explanation) -> Vec<(&'static str, String)> {
    match explanation {
        Explanation::Simt(facts) => simt(facts),
        Explanation::TmaRing(facts) => roles(facts),
        Explanation::MmaSync(facts) => mma_sync(facts),
    }
}

/// Adds a fact if the operands are swapped.
fn exchanged_fact(
    exchanged: bool,
    d: Order,
    from_registers: bool,
) -> Option<(&'static str, String)> {
    let why = match (d, from_registers) {
        (Order::Col, _) => "A and B, transposed, for a column-major D",
        (Order::Row, true) => "A and B, transposed, so that A comes from registers",
        (Order::Row, false) => {
            "A and B, transposed, so that few rows are few columns of an instruction"
        }
    };
    exchanged.then(|| ("exchanged", why.to_owned()))
}

fn simt(of: &SimtExplanation) -> Vec<(&'static str, String)> {
    let [a, b] = &of.operands;
    let [lanes_m, lanes_n] = of.lanes;
    let [tile_m, tile_n] = of.thread_tile;
    let mut facts = vec![
        (
            "warps",
            format!("{} of 32 lanes, {lanes_m} x {lanes_n}: {} threads", of.warps, of.threads),
        ),
        ("thread tile", format!("{tile_m} x {tile_n}")),
        ("registers", format!("about {} of {} a thread", of.registers, of.registers_available)),
        ("shared memory", simt_shared_memory(of)),
        ("A", operand(a)),
        ("B", operand(b)),
        ("D", format!("stored {} at a time", of.store_access)),
        ("epilogue", format!("{} in {}", of.epilogue, of.compute.name())),
    ];
    facts.splice(0..0, exchanged_fact(of.exchanged, Order::Col, false));
    facts
}

fn mma_sync(of: &MmaSyncExplanation) -> Vec<(&'static str, String)> {
    let Mnk { m, n, k } = of.repeats;
    let operand = |side: usize| {
        let how = if of.by_ldmatrix[side] { "by ldmatrix" } else { "element by element" };
        format!("{} bytes at a time from global memory, fragments {how}", of.access_bytes[side])
    };
    let mut facts = vec![
        ("warps", format!("{}: {} threads", of.warps, of.threads)),
        (
            "instruction",
            format!("{}, {m} x {n} of a warp for each of {k} k-blocks", of.instruction),
        ),
        ("registers", format!("about {} of {} a thread", of.registers, of.registers_available)),
        (
            "shared memory",
            format!(
                "{} of {} bytes per CTA: {} stages of {}",
                of.smem_bytes, of.smem_bytes_available, of.stages, of.stage_bytes
            ),
        ),
        ("A", operand(0)),
        ("B", operand(1)),
        ("D", format!("stored {} at a time", of.store_access)),
        ("epilogue", format!("{} in {}", of.epilogue, of.compute.name())),
    ];
    if let Some(term) = of.emulation.term_type() {
        let (terms, products) = (of.emulation.terms(), of.emulation.products().len());
        let made = match terms {
            1 => format!("f32 rounded to {term} in registers"),
            _ => format!(
                "f32 in {terms} terms of {term}, made in registers; {products} products of terms are summed, an instruction each, and promoted after every {} k-blocks",
                of.repeats.k
            ),
        };
        facts.insert(0, ("emulation", made));
    }
    facts.splice(0..0, exchanged_fact(of.exchanged, Order::Col, false));
    facts
}

fn simt_shared_memory(of: &SimtExplanation) -> String {
    let &SimtExplanation {
        smem_bytes,
        smem_bytes_available,
        stages,
        stage_bytes,
        partials_bytes,
        ..
    } = of;
    let partials = if partials_bytes > 0 {
        format!("; the reduction of warp slices then uses {partials_bytes} of the same bytes")
    } else {
        String::new()
    };
    format!(
        "{smem_bytes} of {smem_bytes_available} bytes per CTA: {stages} stages of {stage_bytes}{partials}"
    )
}

fn roles(of: &WarpSpecializedExplanation) -> Vec<(&'static str, String)> {
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
    facts
        .splice(0..0, exchanged_fact(of.exchanged, of.layout_c.transposed(), of.fragment_sets > 0));
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
    format!(
        "{smem_bytes} of {smem_bytes_available} bytes per CTA: {stages} stages of {stage_bytes}{staging}{slots}, {barrier_bytes} of barriers"
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

fn operand(of: &OperandExplanation) -> String {
    format!(
        "{} x {} ({} bytes) a thread from global memory, {} at a time into rows of {} in shared memory, {} at a time out",
        of.accesses, of.access, of.access_bytes, of.shared_access, of.pitch, of.fragment_access
    )
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
