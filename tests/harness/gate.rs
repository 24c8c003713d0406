//! Committed records of compiled kernels and of the bits that the host computes. A change that only
//! moves code must reproduce both records.
//!
//! `FALCHION_GATE=renew` writes a record instead of comparing with it, and `FALCHION_SAMPLE=10:7`
//! compares a tenth.

use super::{descriptions::cut_by_clusters, words};
use crate::harness::prelude::*;

/// Random descriptions of a record.
pub const RANDOM: usize = 300;

/// A line's result and its description or problem, in words.
type Entry = (String, String);

/// FNV-1a of bytes, in hexadecimal digits.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> String {
    let of = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, of))
}

/// The default descriptions of every architecture that NVRTC 13 compiles for, in all layouts.
pub fn defaults() -> Vec<GemmDesc> {
    let archs = [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90];
    let units = [(OpKind::Simt, COMBINATIONS), (OpKind::TensorOp, TENSOR_OP_COMBINATIONS)];
    let order = |column_major| if column_major { Order::Col } else { Order::Row };
    let mut all = Vec::new();
    for arch in archs {
        for (op, types) in units {
            for &types in types {
                let of = |bits: usize| {
                    let orders = [0, 1, 2].map(|matrix| order(bits >> matrix & 1 == 1));
                    default_description(op, arch, types, orders).ok()
                };
                all.extend((0..8).filter_map(of).filter(|desc| desc.plan().is_ok()));
            }
        }
    }
    let mut seen = HashSet::new();
    all.retain(|desc| seen.insert(*desc));
    all
}

/// Returns random descriptions of four kinds of kernels; TMA-fed `mma.sync` is newer than the
/// record. A third uses stream-K, split-K in a
/// cluster, or another mode if the mode is valid.
pub fn random(seed: u64, count: usize) -> Vec<GemmDesc> {
    let kernel_kinds =
        [KernelKind::Simt, KernelKind::WgmmaRing, KernelKind::MmaSync, KernelKind::SimtRing];
    let of = |i: usize| {
        let kernel_kind = kernel_kinds[i % kernel_kinds.len()];
        let desc = description(draw(seed, i as u64), Wanted { kernel_kind, ..Wanted::default() });
        varied(desc, i / kernel_kinds.len())
    };
    // A description that may spill can need more registers than a plan accepts.
    (0..).map(of).filter(|desc| desc.plan().is_ok()).take(count).collect()
}

/// The description, or a variant of it that is valid.
fn varied(desc: GemmDesc, number: usize) -> GemmDesc {
    let variant = match number % 9 {
        0 => with_stream_k(desc).map(|[_, streamed]| streamed),
        3 if desc.has_producer() => {
            cut_by_clusters(desc, 2 + number as u32 % 3).map(|[_, clustered]| clustered)
        }
        6 => {
            let mut batched = desc;
            batched.work.mode = GemmMode::Batched;
            batched.check().is_ok().then_some(batched)
        }
        _ => None,
    };
    variant.unwrap_or(desc)
}

/// Compares a record of `count` lines with what `result` computes of each line's words, or writes
/// the record of `lines` anew.
///
/// # Panics
/// Panics if the record has another number of lines, and with the first ten lines whose result
/// differs from the record.
pub fn compare(
    (name, count): (&str, usize),
    lines: impl FnOnce() -> Vec<String>,
    result: impl Fn(&str) -> Result<String, String> + Sync,
) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let of = |words: &str| result(words).unwrap_or_else(|error| panic!("{words}\n{error}"));
    if std::env::var("FALCHION_GATE").is_ok_and(|value| value == "renew") {
        let lines = lines();
        let found: Vec<_> = lines.par_iter().map(|words| of(words)).collect();
        let shortened = words::shorten(&lines);
        let text: String = found
            .iter()
            .zip(shortened)
            .map(|(found, words)| format!("{found} {words}\n"))
            .collect();
        fs::write(&path, text).expect("the record is written");
        println!("{}: {} lines", path.display(), lines.len());
        return;
    }
    let text = fs::read_to_string(&path).expect("the record");
    assert_eq!(text.lines().count(), count, "lines of {name}");
    let entry = |line: &str| {
        let at = [" a=", " .."].iter().find_map(|words| line.find(words));
        let (found, words) = line.split_at(at.expect("a result, then words"));
        (found.to_owned(), words[1..].to_owned())
    };
    let (found, shortened): (Vec<_>, Vec<_>) = text.lines().map(entry).unzip();
    let mut entries: Vec<Entry> =
        sample(found.into_iter().zip(words::lengthen(&shortened)).collect());
    // `scripts/variant.sh` deletes a main loop or an MMA, whose lines the record still has.
    if !words::has_all_variants() {
        entries.retain(|(_, words)| words::is_computed(words));
    }
    let wrong: Vec<_> = entries
        .par_iter()
        .filter_map(|(recorded, words)| {
            let found = of(words);
            (found != *recorded).then(|| format!("{words}\n  was {recorded}\n  is  {found}"))
        })
        .collect();
    println!("{name}: {} lines compared", entries.len());
    let some = wrong.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} lines differ:\n{some}", wrong.len(), entries.len());
}

/// Returns the line of a description.
pub fn spelled(desc: &GemmDesc) -> String {
    let words = words::spell(desc);
    assert_eq!(words::read(&words).as_ref(), Ok(desc), "{words}");
    words
}
