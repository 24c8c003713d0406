//! Compilations of an exploration: threads, full disks, and spills.

use super::{
    base,
    fake::{FakeCompiler, Fate},
    trials::{candidates, fate},
};
use falchion::{cuda::report::Report, nest::GemmDesc};
use falchion_lab::explore::{
    Space,
    trials::{BATCH, Compiled, Compiler, compile_all, compile_only},
};
use std::{
    collections::{BTreeSet, HashSet},
    sync::{
        Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Each description is compiled once, on at most the requested number of threads, and the results
/// are in the order of the descriptions.
#[test]
fn threads_compile_each_description_once() {
    let descs = candidates(40);
    for jobs in [0, 1, 3, 100] {
        let compiler = FakeCompiler::new(fate);
        let built = compile_all(&compiler, &descs, jobs);
        assert_eq!(built.len(), 40);
        for (desc, built) in descs.iter().zip(&built) {
            assert_eq!(built.is_err(), fate(desc) == Fate::Fails);
            assert_eq!(
                built.as_ref().is_ok_and(|report| report.spill_load_bytes > 0),
                fate(desc) == Fate::Spills
            );
        }
        let compiled = compiler.compiled.lock().unwrap();
        assert_eq!(
            (compiled.len(), compiled.iter().map(|one| one.0).collect::<HashSet<_>>().len()),
            (40, 40)
        );
        assert!(
            compiled.iter().map(|one| format!("{:?}", one.1)).collect::<BTreeSet<_>>().len()
                <= jobs.max(1)
        );
    }
    assert!(compile_all(&FakeCompiler::new(fate), &[], 4).is_empty());
    let mut heard = Vec::new();
    let compiled =
        compile_only(&descs, &FakeCompiler::new(fate), 2, &mut |count| heard.push(count)).unwrap();
    assert_eq!(compiled, Compiled { kernels: 34, spilled: 3, compile_failed: 3, unwritten: None });
    assert_eq!(heard, [BATCH, 2 * BATCH, 40]);
}

/// Two compilations run concurrently: each waits for the other, without a deadlock.
#[test]
fn compilations_run_concurrently() {
    struct Both(Mutex<usize>, Condvar);
    impl Compiler for Both {
        fn compile(&self, _: &GemmDesc) -> Result<Report, falchion::Error> {
            let mut begun = self.0.lock().unwrap();
            *begun += 1;
            self.1.notify_all();
            let (_begun, waited) = self
                .1
                .wait_timeout_while(begun, Duration::from_secs(20), |begun| *begun < 2)
                .unwrap();
            Ok(Report { registers: u32::from(!waited.timed_out()), ..Report::default() })
        }
    }
    let descs = candidates(2);
    let met = |built: Vec<Result<Report, falchion::Error>>| {
        built.into_iter().map(|report| report.unwrap().registers).collect::<Vec<_>>()
    };
    let both = Both(Mutex::new(0), Condvar::new());
    assert_eq!(met(compile_all(&both, &descs, 2)), [1, 1]);
}

/// Kernels that do not fit on a full disk are not counted, and the next batch is not compiled.
#[test]
fn compile_only_stops_when_the_cache_cannot_be_written() {
    struct FullDisk(AtomicUsize);
    impl Compiler for FullDisk {
        fn compile(&self, _: &GemmDesc) -> Result<Report, falchion::Error> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0..5 => Ok(Report::default()),
                _ => Err(falchion::Error::Io { path: "/cache".into(), because: "no space".into() }),
            }
        }
    }
    let (compiler, mut heard) = (FullDisk(AtomicUsize::new(0)), Vec::new());
    let compiled =
        compile_only(&candidates(2 * BATCH), &compiler, 2, &mut |count| heard.push(count)).unwrap();
    let unwritten = Some("/cache: no space".to_owned());
    assert_eq!(compiled, Compiled { kernels: 5, spilled: 0, compile_failed: 0, unwritten });
    assert_eq!(heard, [BATCH]);
}

/// A description that allows spills is timed although it spills.
#[test]
fn spills_that_are_allowed_are_timed() {
    fn spilling(desc: &GemmDesc) -> Fate {
        if desc.stages() == 2 { Fate::Takes(50.0) } else { Fate::Spills }
    }
    let mut space = Space::from_description(&base("f32:row", "f32:row", "f32:row"));
    space.set("spills", &["allowed"]).unwrap();
    let allowed = space.at(0);
    let descs =
        [allowed, but!(allowed, spills: base("f32:row", "f32:row", "f32:row").limits.spills)];
    let compiled = compile_only(&descs, &FakeCompiler::new(spilling), 1, &mut |_| {}).unwrap();
    assert_eq!(compiled, Compiled { kernels: 1, spilled: 1, compile_failed: 0, unwritten: None });
}
