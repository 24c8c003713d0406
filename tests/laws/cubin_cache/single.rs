//! The cache in one process: memory, threads, results that are not stored, and counters.

use super::fixture::{Fixture, Random, SOMEBODY, remove};
use crate::harness::prelude::*;
use falchion::internals::sys::nvrtc::Program;
use std::{
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::SystemTime,
};

fn cold(home: &Path) -> Cache {
    Cache::new(CacheDir::At(home.join("cache")))
}

fn counts(cache: &Cache) -> [u64; 4] {
    [cache.compilations(), cache.disk_hits(), cache.memory_hits(), cache.rejections()]
}

#[test]
fn a_cubin_is_compiled_once_then_read() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fixture = Fixture::new(home.path(), 1);
    let cache = fixture.cache();
    assert!(!fixture.ask(&cache));
    assert!(!fixture.ask(&cache));
    assert_eq!(counts(&cache), [0, 1, 1, 0]);
    fixture.write(b"junk");
    let cache = fixture.cache();
    assert!(fixture.ask(&cache));
    assert_eq!(counts(&cache), [1, 0, 0, 1]);
}

#[test]
fn a_disabled_cache_keeps_entries_in_memory_only() {
    let mut random = Random(2);
    let (key, compiled) = (random.key(), random.compiled());
    let cache = Cache::new(CacheDir::Off);
    for _ in 0..3 {
        let entry = cache.get_or_compile(&key, || Ok(compiled.clone())).expect("compiled");
        assert_eq!(entry.image, compiled.image);
    }
    assert_eq!(counts(&cache), [1, 0, 2, 0]);
    assert!(
        Cache::new(CacheDir::Off)
            .get_or_compile(&key, || Err(Error::Compile {
                log: "no".into(),
                node: None,
                transform: None
            }))
            .is_err()
    );
}

/// PTX is stored next to cubins under another name.
#[test]
fn ptx_is_stored_under_another_name() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(5);
    let compiled = random.compiled();
    let program = |arch: &str| Program { arch: arch.into(), ..Program::default() };
    let [ptx, cubin] = ["compute_80", "sm_80"].map(|arch| Key::new(&program(arch), (13, 0)));
    assert_ne!(ptx, cubin);
    cold(home.path()).get_or_compile(&ptx, || Ok(compiled.clone())).expect("compiled");
    let again = cold(home.path())
        .get_or_compile(&ptx, || panic!("the entry is on disk"))
        .expect("an entry");
    assert_eq!(again.image, compiled.image);
    let names: Vec<_> = fs::read_dir(home.path().join("cache"))
        .expect("the folder")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(names, [format!("{ptx}.ptx").as_str()]);
}

/// An entry that cannot be written is still used, and `check_on_disk` reports the failed write.
#[test]
fn check_on_disk_names_the_reason_why_an_entry_is_missing() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(8);
    let (key, other, compiled) = (random.key(), random.key(), random.compiled());
    let cache = cold(home.path());
    cache.get_or_compile(&key, || Ok(compiled.clone())).expect("compiled");
    assert!(cache.check_on_disk(&key).is_ok());
    // A folder that contains a file cannot be replaced by renaming.
    let folder = home.path().join("cache");
    let place = folder.join(format!("{other}.cubin"));
    fs::create_dir_all(place.join("full")).expect("folders");
    cache.get_or_compile(&other, || Ok(compiled)).expect("compiled");
    let said = cache.check_on_disk(&other).message();
    assert!(said.starts_with(&format!("{}: ", folder.display())), "{said}");
    assert!(said.contains("not empty"), "{said}");
    assert!(Cache::new(CacheDir::Off).check_on_disk(&key).is_err());
}

#[test]
fn a_refusal_is_returned_and_not_stored() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(3);
    let (key, compiled) = (random.key(), random.compiled());
    let cache = cold(home.path());
    for _ in 0..2 {
        let refused = cache.get_or_compile(&key, || {
            Err(Error::Compile { log: "no such type".into(), node: None, transform: None })
        });
        assert!(matches!(refused, Err(Error::Compile { log, .. }) if log == "no such type"));
    }
    cache.get_or_compile(&key, || Ok(compiled)).expect("compiled");
    assert_eq!(counts(&cache), [3, 0, 0, 0]);
}

#[test]
fn a_compiler_that_panics_leaves_no_files() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(4);
    let (key, compiled) = (random.key(), random.compiled());
    let cache = cold(home.path());
    thread::scope(|scope| {
        assert!(scope.spawn(|| cache.get_or_compile(&key, || panic!("on purpose"))).join().is_err())
    });
    let start = Instant::now();
    cache.get_or_compile(&key, || Ok(compiled)).expect("compiled");
    assert!(start.elapsed() < Duration::from_secs(10), "the lock is left");
    let names: Vec<_> = fs::read_dir(home.path().join("cache"))
        .expect("the folder")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(names, [format!("{key}.cubin").as_str()], "no lock and no temporary file is left");
}

#[test]
fn sixteen_threads_compile_one_key_once() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(5);
    let cache = cold(home.path());
    for round in 1..=20 {
        let (key, compiled, gate) = (random.key(), random.compiled(), Barrier::new(16));
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    gate.wait();
                    let entry = cache.get_or_compile(&key, || {
                        thread::sleep(Duration::from_millis(2));
                        Ok(compiled.clone())
                    });
                    assert_eq!(entry.expect("compiled").image, compiled.image);
                });
            }
        });
        assert_eq!(counts(&cache), [round, 0, round * 15, 0]);
    }
}

#[test]
fn two_keys_compile_at_the_same_time() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut random = Random(6);
    let (keys, compiled, cache) =
        ([random.key(), random.key()], random.compiled(), cold(home.path()));
    let inside = AtomicU64::new(0);
    thread::scope(|scope| {
        for key in &keys {
            scope.spawn(|| {
                let both = || {
                    inside.fetch_add(1, SeqCst);
                    let start = Instant::now();
                    while inside.load(SeqCst) < 2 {
                        assert!(start.elapsed() < Duration::from_secs(30), "the other key waits");
                        thread::yield_now();
                    }
                    Ok(compiled.clone())
                };
                cache.get_or_compile(key, both).expect("compiled");
            });
        }
    });
    assert_eq!(cache.compilations(), 2);
}

#[test]
fn readers_never_see_damaged_entries() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fixture = Arc::new(Fixture::new(home.path(), 7));
    thread::scope(|scope| {
        for seed in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..500 {
                    fixture.ask(&fixture.cache());
                    let bytes = random.bytes(64);
                    match random.within(0..4) {
                        0 => drop(fs::write(fixture.entry(), bytes)),
                        1 => drop(fs::remove_file(fixture.entry())),
                        2 => drop(fs::remove_file(fixture.lock())),
                        _ => {}
                    }
                }
            });
        }
    });
    fixture.ask(&fixture.cache());
    assert!(!fixture.ask(&fixture.cache()));
}

#[test]
fn an_empty_cubin_is_returned_and_not_stored() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut fixture = Fixture::new(home.path(), 8);
    fixture.repair();
    fixture.truth.image.clear();
    assert!(fixture.ask(&fixture.cache()));
    assert!(fixture.ask(&fixture.cache()), "no entry was stored");
}

#[test]
fn only_the_user_can_access_the_folder() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fixture = Fixture::new(home.path(), 9);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&fixture.folder), 0o700);
    assert_eq!(mode(&fixture.entry()), 0o600);
}

#[test]
fn files_of_dead_writers_are_removed_after_an_hour() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut fixture = Fixture::new(home.path(), 10);
    let [old, young, foreign] = [".falchion-old.part", ".falchion-young.part", "notes.part"]
        .map(|name| fixture.folder.join(name));
    for path in [&old, &young, &foreign] {
        let file = fs::File::create(path).expect("a file");
        if path != &young {
            file.set_modified(SystemTime::now() - Duration::from_secs(3700))
                .expect("an older date");
        }
    }
    fixture.key = fixture.random.key();
    assert!(fixture.ask(&fixture.cache()));
    assert_eq!([old, young, foreign].map(|path| path.exists()), [false, true, true]);
}

#[test]
fn an_unused_folder_has_a_stated_reason() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fixture = Fixture::new(home.path(), 12);
    let check = |path: &Path| CacheDir::At(path.into()).check().map_err(|error| error.to_string());
    assert_eq!(CacheDir::Off.check().ok(), Some(()));
    assert_eq!(check(&fixture.folder), Ok(()));
    assert_eq!(check(&home.path().join("new/one")), Ok(()));
    let says =
        |path: &Path, why: &str| assert_eq!(check(path), Err(format!("{}: {why}", path.display())));
    says(&fixture.entry(), "it is not a folder");
    fixture.mode(&fixture.folder, 0o770);
    says(&fixture.folder, "others may write to it, and cubins are code");
    assert!(check(Path::new("/proc/falchion")).is_err());
    assert!(check(Path::new("/proc/self/task")).is_err());
    if std::os::unix::fs::chown(&fixture.folder, Some(SOMEBODY), None).is_ok() {
        says(&fixture.folder, "it belongs to another user, and cubins are code");
    } else {
        says(Path::new("/"), "it belongs to another user, and cubins are code");
    }
}

#[test]
fn locks_of_other_files_do_not_block() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fixture = Fixture::new(home.path(), 13);
    let socket = |path: &Path| drop(UnixListener::bind(path).expect("a socket"));
    let full = |path: &Path| fs::create_dir_all(path.join("full")).expect("folders");
    let link = |path: &Path| symlink("/dev/full", path).expect("a link");
    let empty = |path: &Path| fs::create_dir(path).expect("a folder");
    for make in [socket as fn(&Path), link, empty, full] {
        let cache = Cache::new(CacheDir::At(fixture.folder.clone()))
            .with_lock_wait(Duration::from_secs(60));
        remove(&fixture.entry());
        make(&home.path().join("s"));
        fs::rename(home.path().join("s"), fixture.lock()).expect("moved");
        let start = Instant::now();
        assert!(fixture.ask(&cache));
        assert!(start.elapsed() < Duration::from_secs(20), "it waited");
        remove(&fixture.lock());
    }
}

/// Not a guarantee of speed, which depends on the machine. A lookup in a folder must be much faster
/// than a compilation.
#[test]
fn a_hit_on_disk_is_fast() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fixture = Fixture::new(home.path(), 11);
    let mut times: Vec<_> = (0..1000)
        .map(|_| {
            let start = Instant::now();
            assert!(!fixture.ask(&fixture.cache()));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!(
        "a hit on disk: median {:.1} us, largest {:.1} us",
        times[500].as_secs_f64() * 1e6,
        times[999].as_secs_f64() * 1e6
    );
    assert!(times[500] < Duration::from_millis(5), "median {:?}", times[500]);
}
