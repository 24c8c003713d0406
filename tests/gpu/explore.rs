//! Exploration of a small space on a device: correct kernels are timed, logged, and found again.

use crate::harness::prelude::*;
use falchion_lab::explore::{
    Census, Space,
    device::{Gpu, fits},
    log::Log,
    record::{Entry, Header, Outcome},
    standing::{Tally, last_final, standings},
    trials::{Book, Plan},
};

/// Element type and layout of A, B, and C.
const SIMT: &str = "f32:row";

const SIZE: Mnk = Mnk::new(256, 256, 256);

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn four_kernels_are_tried() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().unwrap();
    let read = |text: &str| Some(text.parse().unwrap());
    let request = Request { a: read(SIMT), b: read(SIMT), c: read(SIMT), ..Request::default() };
    let base = request.resolve(ArchKind::Sm80).unwrap().desc;
    let mut space = Space::from_description(&base);
    for (name, values) in [
        ("threadblock", ["64x64x8", "128x64x8"]),
        ("warp", ["32x32x8", "32x32x8"]),
        ("stages", ["3", "4"]),
    ] {
        space.set(name, &values).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    for with_peer in [false, true] {
        let _ = fs::remove_file(&path);
        let gpu = Gpu::new(&stream, with_peer).unwrap();
        let machine = *gpu.machine();
        let census = Census::new(&space, &|desc| {
            Ok(desc.check_on(&machine)?).and_then(|()| fits(desc, SIZE))
        })
        .unwrap();
        assert_eq!(census.legal.len(), 4, "{census:?}");
        let candidates = census.legal.iter().map(|&point| space.at(point)).collect();
        let plan = Plan { candidates, finalists: 2, jobs: 4 };
        let header =
            Header::new(&base, &[SIZE], gpu.circumstances(&base, "test".to_owned()).unwrap());
        assert_eq!(header.reference, if with_peer { "cublaslt" } else { "the default kernel" });
        // A second run finds every trial in the log.
        for time in 0..2 {
            let (mut log, entries) = Log::open(&path, &header).unwrap();
            assert_eq!(entries.len(), if time == 0 { 0 } else { 5 });
            let mut keep = |entry: &Entry| log.keep(entry);
            let mut book = Book::new(entries, &mut keep);
            let mut timer = EventTimer::new(&stream).unwrap();
            let mut session = Session::new(&mut timer, Settings::default());
            gpu.explore((&base, SIZE), &plan, &mut session, &mut book).unwrap();
            let entries = book.entries();
            println!("{entries:?}");
            assert_eq!(Tally::from_entries(entries, SIZE), Tally { timed: 4, ..Tally::default() });
            let last = last_final(entries, SIZE).unwrap();
            assert!(
                last.finalists.len() == 2 && last.reference_us > 0.0 && last.rounds >= 5,
                "{last:?}"
            );
            assert!(
                standings(entries, SIZE)
                    .iter()
                    .all(|s| s.us > 0.0 && s.us < 10_000.0 && s.ratio > 0.0)
            );
            assert!(entries.iter().all(|entry| !matches!(entry, Entry::Trial(t) if matches!(t.outcome, Outcome::Wrong { .. }))));
        }
    }
}

/// Small M is tried with and without swapped operands, and with and without split-K. Each trial is
/// correct.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn small_m_is_tried_with_and_without_swapped_operands() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().unwrap();
    let read = |text: &str| Some(text.parse().unwrap());
    let (a, b, c) = (read("bf16:row"), read("bf16:col"), read("bf16:row"));
    let request = Request { a, b, c, op: Some(OpKind::TensorOp), ..Request::default() };
    let size = Mnk::new(16, 2112, 1024);
    let mut space = Space::asked_for(&request, ArchKind::Sm90, &[], &[size]).unwrap();
    for (name, value) in [
        ("threadblock", "64x16x64"),
        ("warp", "64x16x64"),
        ("instruction", "64x16x16"),
        ("stages", "4"),
        ("swizzle", "grouped:8"),
        ("cluster", "1x1"),
        ("schedule", "pingpong"),
        ("decomposition", "splitk,splitkparallel,splitkcluster"),
        ("split_k", "1,2"),
    ] {
        space.narrow(name, &[value]).unwrap();
    }
    let gpu = Gpu::new(&stream, true).unwrap();
    let base = *space.base();
    let machine = *gpu.machine();
    let census =
        Census::new(&space, &|desc| Ok(desc.check_on(&machine)?).and_then(|()| fits(desc, size)))
            .unwrap();
    let candidates: Vec<_> = census.legal.iter().map(|&point| space.at(point)).collect();
    let (count, swapped) =
        (candidates.len(), candidates.iter().filter(|desc| desc.is_of_columns()).count());
    assert!(swapped >= 4 && count > swapped, "{swapped} of {count}: {census:?}");
    let plan = Plan { candidates, finalists: 2, jobs: 4 };
    let mut keep = |_: &Entry| Ok(());
    let mut book = Book::new(Vec::new(), &mut keep);
    let mut timer = EventTimer::new(&stream).unwrap();
    let mut session = Session::new(&mut timer, Settings::default());
    gpu.explore((&base, size), &plan, &mut session, &mut book).unwrap();
    println!("{:?}", standings(book.entries(), size));
    assert_eq!(
        Tally::from_entries(book.entries(), size),
        Tally { timed: count, ..Tally::default() }
    );
}
