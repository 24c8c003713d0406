//! The gate: machine code and bits stay what `tests/data/gate.jsonl` says while walls are moved. Every default description and 300
//! drawn ones, each with a digest of its kernel's machine code, its registers, shared memory and spills; and 500 products on the
//! host, each with a digest of D.
//!
//! ```text
//! cargo test --test gate                                    the products
//! FALCHION_NVRTC=<folder> FALCHION_GATE=10:1 cargo test --test gate -- --ignored --nocapture     a drawn tenth of the kernels
//! FALCHION_GATE=write ..                                    writes the record anew
//! ```
#![cfg(all(feature = "cuda", feature = "serde"))]

#[path = "../common/mod.rs"]
mod common;
mod cubin;
mod record;

use common::{
    case::Buffers,
    descriptions::{Family, Wanted, description},
    problems::{self, Problem, problem},
};
use falchion::{
    Error,
    arch::{ArchKind, OpKind},
    desc::GemmDesc,
    device::{
        HostMatrices, MatrixShape, Source,
        cuda::{
            cache::{Cache, CacheDir},
            compile,
            report::Report,
        },
        default_gemm_configuration::{copied_by_tma, default_description, default_gemm_configurations},
        host::Mode,
        run_on_host,
    },
    layout::Order,
    mirror::translation_unit,
    numeric::{COMBINATIONS, Combined, TENSOR_OP_COMBINATIONS},
    verify::Fill,
};
use record::{Line, digest};
use serde_json::json;
use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Products that a drawn problem may have, whole tiles counted.
const MOST_WORK: u64 = 1_000_000;

/// Drawn descriptions: a family, the first seed, how many are compiled and how many are run on the host.
const DRAWN: [(Family, u64, u64, u64); 3] =
    [(Family::Simt, 61_000, 150, 250), (Family::WarpSpecialized, 62_000, 110, 170), (Family::Threads, 63_000, 40, 80)];

/// The machines that NVRTC 13 compiles for.
const MACHINES: [ArchKind; 5] = [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90];

fn orders() -> impl Iterator<Item = [Order; 3]> {
    (0..8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0].map(|column| if column { Order::Col } else { Order::Row }))
}

/// What the resolver can answer for types and layouts: its first row's configuration, and those that it may choose for extents.
fn defaults(op: OpKind, arch: ArchKind, types: &'static [Combined]) -> impl Iterator<Item = GemmDesc> {
    types.iter().flat_map(move |&types| orders().map(move |orders| (types, orders))).flat_map(move |(types, orders)| {
        let base = default_description(op, arch, types, orders).ok();
        let others = default_gemm_configurations(op, arch, types).map_or(&[][..], |known| known.1);
        let others = others.iter().filter_map(move |knobs| base.map(|base| base.with_knobs(*knobs)));
        let fed_by_tma =
            base.filter(|d| op == OpKind::Simt && d.arch == ArchKind::Sm90).map(|d| d.with_knobs(copied_by_tma(d.knobs())));
        base.into_iter().chain(others).chain(fed_by_tma).filter(|d| d.check().is_ok())
    })
}

/// Every kernel of the record, each once, with the compute capability that it is compiled for.
fn kernels() -> Vec<Line> {
    let simt = MACHINES.into_iter().flat_map(|arch| defaults(OpKind::Simt, arch, COMBINATIONS));
    let tensor = defaults(OpKind::TensorOp, ArchKind::Sm90, TENSOR_OP_COMBINATIONS);
    let drawn = DRAWN.into_iter().flat_map(|(family, first, count, _)| {
        let arch = move |seed: u64| if family == Family::Simt { MACHINES[(seed % 5) as usize] } else { ArchKind::Sm90 };
        (first..first + count).map(move |seed| description(seed, Wanted { arch: Some(arch(seed)), family, ..Wanted::default() }))
    });
    let mut known = HashSet::new();
    let all = simt.chain(tensor).chain(drawn).filter(|d| known.insert(*d));
    all.map(|d| Line::new("kernel", &d).with(json!({ "sm": d.arch.machine().sm }))).collect()
}

/// The line, with what became of its kernel.
fn compiled(cache: &Cache, line: &Line) -> Line {
    let desc = line.desc("kernel");
    let entry = match compile(cache, &translation_unit(&desc, false), line.number("sm") as u32) {
        Ok(entry) => entry,
        Err(error) => panic!("{error}\n{}", line.text()),
    };
    let report = Report::read(&entry.log).unwrap_or_else(|| panic!("no kernel in: {}", entry.log));
    let dynamic = desc.warp_specialized().map_or_else(|| desc.smem_bytes(), |components| components.ring.shared_bytes());
    line.clone().with(json!({
        "code": digest(cubin::text_sections(&entry.cubin)),
        "registers": report.registers,
        "shared_bytes": report.shared_bytes + dynamic,
        "spill_bytes": report.spill_store_bytes + report.spill_load_bytes,
    }))
}

/// Does something to every line, on all cores.
fn each(lines: &[Line], anew: impl Fn(&Line) -> Line + Sync) -> Vec<Line> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(index) else { break };
                    let line = anew(line);
                    done.lock().expect("no panic").push((index, line));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no panic");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, line)| line).collect()
}

#[test]
#[ignore = "needs NVRTC"]
fn machine_code_is_the_records() {
    let record = if record::writes() { kernels() } else { record::sample(record::read("kernel")) };
    let cache = Cache::new(CacheDir::Off);
    record::hold("kernel", &each(&record, |line| compiled(&cache, line)), &record);
}

/// Every product of the record: a description and the seed of its problem.
fn products() -> Vec<Line> {
    let drawn = DRAWN.into_iter().flat_map(|(family, first, _, count)| {
        let largest_tile = 2 * MOST_WORK as u32;
        (first..first + count).map(move |seed| (seed, description(seed, Wanted { largest_tile, family, ..Wanted::default() })))
    });
    drawn.map(|(seed, d)| Line::new("product", &d).with(json!({ "seed": seed }))).collect()
}

/// D's buffer, guard zones included, after a product in the fast mode.
fn product(desc: &GemmDesc, problem: &Problem, seed: u64) -> Result<Vec<u8>, Error> {
    let Problem { shapes, first, .. } = problem;
    let mut buffers = Buffers::filled(desc, problem, Fill::Random, seed)?;
    let range = |which: usize, shape: &MatrixShape| first[which]..first[which] + shape.length;
    let matrices = HostMatrices {
        a: buffers.a.slice(range(0, &shapes.a))?,
        b: buffers.b.slice(range(1, &shapes.b))?,
        c: match shapes.c {
            Source::None => Source::None,
            Source::InPlace => Source::InPlace,
            Source::Matrix(shape) => Source::Matrix(buffers.c.slice(range(2, &shape))?),
        },
        d: buffers.d.slice_mut(range(3, &shapes.d))?,
    };
    run_on_host(desc, Mode::Fast, shapes, matrices)?;
    // A NaN may carry any payload.
    let (d, mut bytes) = (&buffers.d, buffers.d.bytes().to_vec());
    for (place, element) in bytes.chunks_exact_mut(d.kind().bytes() as usize).enumerate() {
        if d.get(place)?.is_nan() {
            element.fill(0xff);
        }
    }
    Ok(bytes)
}

/// The line, with the bits of its product.
fn multiplied(line: &Line) -> Line {
    let (desc, seed) = (line.desc("product"), line.number("seed"));
    let most_work = if desc.mainloop.has_roles() { 6 * MOST_WORK } else { MOST_WORK };
    let problem = problem(seed, &desc, problems::Wanted { most_work, aligned: false });
    let bytes = product(&desc, &problem, seed).unwrap_or_else(|error| panic!("{error}\n{}", line.text()));
    line.clone().with(json!({ "bits": digest([&bytes[..]]) }))
}

#[test]
fn products_have_the_records_bits() {
    let record = if record::writes() { products() } else { record::sample(record::read("product")) };
    record::hold("product", &each(&record, multiplied), &record);
}

/// The gate can fail: a product of another seed has other bits.
#[test]
fn what_changes_is_seen() {
    let line = &record::read("product")[0];
    assert_eq!(multiplied(line).text(), line.text());
    let other = line.clone().with(json!({ "seed": line.number("seed") + 1 }));
    assert_ne!(multiplied(&other).text(), line.clone().with(json!({ "seed": line.number("seed") + 1 })).text());
}
