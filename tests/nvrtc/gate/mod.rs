//! The gate: machine code stays what `tests/data/gate.jsonl` says while walls are moved. Every default description and 300 drawn
//! ones, each with a digest of its kernel's machine code, its registers, shared memory and spills. `tests/host/gate.rs` keeps the
//! host's bits.
//!
//! `FALCHION_NVRTC=<folder> FALCHION_SAMPLE=10:1 cargo test --test nvrtc -- --ignored gate` looks at a drawn tenth of the kernels, of
//! the seed 1; without `FALCHION_SAMPLE` all are looked at; `FALCHION_GATE=write` writes their lines anew.

mod cubin;

use crate::harness::{
    changed::unit_of,
    descriptions::{Family, Wanted, description},
    gate::{self, Line, RANDOM_CASES, digest, each},
    sample,
};
use falchion::{
    arch::{ArchKind, OpKind},
    cuda::{
        cache::{Cache, CacheDir},
        compile,
        report::Report,
    },
    desc::{COMBINATIONS, GemmDesc, TENSOR_OP_COMBINATIONS},
    internals::family::{
        default_gemm_configuration::{default_description, default_gemm_configurations},
        warp_specialized::COPIED_BY_TMA,
    },
    layout::Order,
    numeric::Combined,
};
use serde_json::json;
use std::collections::HashSet;

/// The machines that NVRTC 13 compiles for.
const MACHINES: [ArchKind; 5] = [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90];

fn orders() -> impl Iterator<Item = [Order; 3]> {
    (0..8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0].map(|column| if column { Order::Col } else { Order::Row }))
}

/// What the resolver can answer for types and layouts: its first row's configuration, and those that it may choose for extents.
fn defaults(op: OpKind, arch: ArchKind, types: &'static [Combined]) -> impl Iterator<Item = GemmDesc> {
    types.iter().flat_map(move |&types| orders().map(move |orders| (types, orders))).flat_map(move |(types, orders)| {
        let base = default_description(op, arch, types, orders).ok();
        let others = default_gemm_configurations(op, arch, types).map_or(&[][..], |families| &families[1..]);
        let others = others.iter().filter_map(move |family| base.map(|base| base.with_family(*family)));
        let fed_by_tma =
            base.filter(|d| op == OpKind::Simt && d.class.arch == ArchKind::Sm90).map(|d| d.with_family(COPIED_BY_TMA));
        base.into_iter().chain(others).chain(fed_by_tma).filter(|d| d.check().is_ok())
    })
}

/// Every kernel of the record, each once, with the compute capability that it is compiled for.
fn kernels() -> Vec<Line> {
    let simt = MACHINES.into_iter().flat_map(|arch| defaults(OpKind::Simt, arch, COMBINATIONS));
    let tensor = defaults(OpKind::TensorOp, ArchKind::Sm90, TENSOR_OP_COMBINATIONS);
    let descriptions = RANDOM_CASES.into_iter().flat_map(|(family, first, count, _)| {
        let arch = move |seed: u64| if family == Family::Simt { MACHINES[(seed % 5) as usize] } else { ArchKind::Sm90 };
        (first..first + count).map(move |seed| {
            description(seed, Wanted { arch: Some(arch(seed)), family, of_the_record: true, ..Wanted::default() })
        })
    });
    let mut known = HashSet::new();
    let all = simt.chain(tensor).chain(descriptions).filter(|d| known.insert(*d));
    all.map(|d| Line::new("kernel", &d).with(json!({ "sm": d.class.arch.machine().sm }))).collect()
}

/// The line, with what became of its kernel.
fn compiled(cache: &Cache, line: &Line) -> Line {
    let desc = line.desc("kernel");
    let entry = match compile(cache, &unit_of(&desc, false), line.number("sm") as u32) {
        Ok(entry) => entry,
        Err(error) => panic!("{error}\n{}", line.text()),
    };
    let report = Report::read(&entry.log).unwrap_or_else(|| panic!("no kernel in: {}", entry.log));
    let dynamic = desc.components().map_or_else(|| desc.smem_bytes(), |components| components.ring.shared_bytes());
    line.clone().with(json!({
        "code": digest(cubin::text_sections(&entry.cubin)),
        "registers": report.registers,
        "shared_bytes": report.shared_bytes + dynamic,
        "spill_bytes": report.spill_store_bytes + report.spill_load_bytes,
    }))
}

#[test]
#[ignore = "needs NVRTC"]
fn machine_code_is_the_records() {
    let record = if gate::writes() { kernels() } else { sample(gate::read("kernel")) };
    let cache = Cache::new(CacheDir::Off);
    gate::hold("kernel", &each(&record, |line| compiled(&cache, line)), &record);
}
