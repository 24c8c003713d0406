//! Faults of permissions and of disk space. They do not affect root, so tests that run as root
//! start child processes as another user.

use crate::harness::prelude::*;
use std::os::unix::{fs::MetadataExt, process::CommandExt};

use super::faults::{Fault, Outcome::Compiles, Outcome::Replaces, try_out};
use super::fixture::{Fixture, Random, remove};
use super::processes::{again, assert_passed, role, this_program};

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("an entry that cannot be read", |s| s.mode(&s.entry(), 0o200), Replaces),
    ("a lock that cannot be opened", |s| { s.mode(&lock(s), 0o000); remove(&s.entry()) }, Replaces),
    ("a folder that cannot be written, with a broken entry", |s| { s.truncate(0..99); s.mode(&s.folder, 0o500) }, Compiles),
    ("a folder that cannot be written, without the entry", |s| { remove(&s.entry()); s.mode(&s.folder, 0o500) }, Compiles),
    ("a folder that cannot be listed, with a broken entry", |s| { s.write(b"x"); s.mode(&s.folder, 0o300) }, Replaces),
    ("a folder that cannot be searched", |s| s.mode(&s.folder, 0o600), Compiles),
    ("a folder without any permission", |s| s.mode(&s.folder, 0o000), Compiles),
    ("a folder that cannot be created", |s| { let home = s.home.join("shut"); shut(s, &home); s.folder = home.join("cache") }, Compiles),
    ("a folder of root", |s| s.folder = "/".into(), Compiles),
];

fn lock(s: &Fixture) -> PathBuf {
    fs::File::create(s.lock()).expect("a lock");
    s.lock()
}

fn shut(s: &Fixture, home: &Path) {
    fs::create_dir(home).expect("a folder");
    s.mode(home, 0o500);
}

fn is_root(home: &Path) -> bool {
    fs::metadata(home).expect("the folder").uid() == 0
}

/// Returns a folder that everyone may use, with a copy of this program that everyone may run.
fn common() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
    fs::copy(this_program(), home.path().join("program")).expect("a copy");
    home
}

/// Runs `test` again as another user than root.
fn as_nobody(test: &str, home: &Path, shell: Option<&str>) {
    let mut command = again(&home.join("program"), test, home, shell);
    if is_root(home) {
        command.uid(65534).gid(65534);
    }
    assert_passed(command.current_dir(home).spawn().expect("a child"));
}

#[test]
fn missing_permissions_fail_no_call() {
    if let Some(home) = role() {
        let work = home.join("work");
        fs::create_dir(&work).expect("a folder");
        assert!(!is_root(&work), "permissions do not restrict root");
        for (number, fault) in FAULTS.iter().enumerate() {
            try_out(fault, &work.join(number.to_string()));
        }
        return;
    }
    let home = common();
    as_nobody("cubin_cache::permissions::missing_permissions_fail_no_call", home.path(), None);
    println!("{} kinds", FAULTS.len());
}

/// A limit on the file size simulates a full disk: a write ends early, and the next write fails.
#[test]
fn a_full_disk_fails_no_call() {
    const TRIALS: u64 = 500;
    let home_of = |home: &Path, trial: u64| home.join(trial.to_string());
    let fixture_of = |home: &Path, trial: u64| {
        let mut random = Random(trial);
        let (key, truth) = (random.key(), random.compiled());
        Fixture {
            random,
            folder: home_of(home, trial).join("cache"),
            home: home_of(home, trial),
            key,
            truth,
            held: None,
        }
    };
    if let Some(home) = role() {
        for trial in 0..TRIALS {
            let fixture = fixture_of(&home, trial);
            if trial % 2 == 1 {
                fs::create_dir_all(&fixture.folder).expect("a folder");
                fixture.mode(&fixture.folder, 0o700);
                fixture.write(b"a broken entry");
            }
            assert!(fixture.ask(&fixture.cache()));
            assert!(fixture.ask(&fixture.cache()), "no entry was stored");
            let left = fs::read_dir(&fixture.folder).expect("the folder").count() as u64;
            assert_eq!(left, trial % 2, "no new file is left");
        }
        return;
    }
    let home = common();
    // The signal is ignored, so writes fail instead.
    as_nobody(
        "cubin_cache::permissions::a_full_disk_fails_no_call",
        home.path(),
        Some("trap '' XFSZ; ulimit -f 1; exec \"$@\""),
    );
    for trial in 0..TRIALS {
        let fixture = fixture_of(home.path(), trial);
        if is_root(home.path()) {
            std::os::unix::fs::chown(&fixture.folder, Some(0), Some(0))
                .expect("the folder is owned by the other user");
        }
        assert!(fixture.ask(&fixture.cache()), "room again");
        assert!(!fixture.ask(&fixture.cache()), "a valid entry is read");
    }
}
