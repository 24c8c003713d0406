//! A tiny space on a device: what is right is timed, kept and found again.

use falchion::{
    arch::{ArchKind, OpKind},
    cuda::open,
    desc::GemmDesc,
    internals::family::Request,
    shape::Mnk,
};
use falchion_lab::{
    bench::{EventTimer, Session, Settings},
    explore::{
        Census, Space,
        device::{Gpu, fits},
        log::Log,
        record::{Entry, Header, Outcome},
        standing::{Tally, last_final, standings},
        trials::{Book, Plan},
    },
};

/// The matrices of every kernel here.
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
    let mut space = Space::of(&base);
    for (name, values) in [("threadblock", ["64x64x8", "128x64x8"]), ("warp", ["32x32x8", "32x32x8"]), ("stages", ["3", "4"])] {
        space.set(name, &values).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    for with_peer in [false, true] {
        let _ = std::fs::remove_file(&path);
        let gpu = Gpu::new(&stream, with_peer).unwrap();
        let machine = *gpu.machine();
        let census = Census::of(&space, &|desc| Ok(desc.check_on(&machine)?).and_then(|()| fits(desc, SIZE))).unwrap();
        assert_eq!(census.legal.len(), 4, "{census:?}");
        let candidates = census.legal.iter().map(|&point| space.at(point)).collect();
        let plan = Plan { candidates, finalists: 2, jobs: 4 };
        let header = Header::new(&base, &[SIZE], gpu.circumstances(&base, "test".to_owned()).unwrap());
        assert_eq!(header.reference, if with_peer { "cublaslt" } else { "the default kernel" });
        // The second time there is nothing left to do.
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
            assert_eq!(Tally::of(entries, SIZE), Tally { timed: 4, ..Tally::default() });
            let last = last_final(entries, SIZE).unwrap();
            assert!(last.finalists.len() == 2 && last.reference_us > 0.0 && last.rounds >= 5, "{last:?}");
            assert!(standings(entries, SIZE).iter().all(|s| s.us > 0.0 && s.us < 10_000.0 && s.ratio > 0.0));
            assert!(entries.iter().all(|entry| !matches!(entry, Entry::Trial(t) if matches!(t.outcome, Outcome::Wrong { .. }))));
        }
    }
}

/// A description of accesses that the problem has not is not measured under its name.
#[test]
fn a_problem_of_odd_rows_fits_narrow_accesses_alone() {
    let read = |text: &str| Some(text.parse().unwrap());
    // The main loop whose accesses are as wide as promised, also where a vector is taken apart on its way.
    let knobs = [("mainloop", "pipelined"), ("stages", "2"), ("threadblock", "128x128x8"), ("warp", "32x64x8")];
    let knobs = knobs.map(|(name, words)| (name.to_owned(), words.to_owned())).to_vec();
    let request = Request { a: read(SIMT), b: read(SIMT), c: read(SIMT), knobs, ..Request::default() };
    let wide = request.resolve(ArchKind::Sm80).unwrap().desc;
    assert!(fits(&wide, SIZE).is_ok());
    let said = |desc: &GemmDesc, size| fits(desc, size).unwrap_err().to_string();
    assert_eq!(said(&wide, Mnk::new(256, 255, 256)), "run of B = 255 is not a multiple of 4; try 256");
    assert_eq!(said(&wide, Mnk::new(256, 256, 6)), "run of A = 6 is not a multiple of 4; try 8");
    assert_eq!(said(&wide.narrowed([4, 1, 4]), Mnk::new(256, 255, 256)), "run of C = 255 is not a multiple of 4; try 256");
    assert!(fits(&wide.narrowed([4, 1, 1]), Mnk::new(256, 255, 256)).is_ok());
    assert!(fits(&wide.narrowed([2, 4, 4]), Mnk::new(255, 256, 6)).is_ok());
    assert_eq!(said(&wide, Mnk::new(0, 4, 4)), "M = 0 is out of range (1 to 2147483647); try 1");
    assert_eq!(said(&wide, Mnk::new(4, 4, u32::MAX)), "K = 4294967295 is out of range (1 to 2147483647); try 2147483647");
    // D by columns: what is refused is the user's A, whose columns run through memory.
    let col = Some("f32:col".parse().unwrap());
    let request = Request { a: col, b: col, c: col, ..Request::default() };
    let col = request.resolve(ArchKind::Sm80).unwrap().desc;
    assert_eq!(said(&col, Mnk::new(255, 256, 256)), "run of A = 255 is not a multiple of 4; try 256");
    // TMA reads whole vectors or nothing: no narrower kernel takes its place.
    let request = Request {
        a: read("bf16:row"),
        b: read("bf16:col"),
        c: read("bf16:row"),
        op: Some(OpKind::TensorOp),
        ..Request::default()
    };
    let hopper = request.resolve(ArchKind::Sm90).unwrap().desc;
    assert!(fits(&hopper, Mnk::new(8, 8, 8)).is_ok());
    assert_eq!(said(&hopper, Mnk::new(8, 8, 12)), "run of A = 12 is not a multiple of 8; try 16");
    assert_eq!(said(&hopper, Mnk::new(8, 12, 8)), "run of C = 12 is not a multiple of 8; try 16");
}
