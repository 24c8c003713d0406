//! Faults that one process can cause in a cache folder, by name.

use crate::harness::prelude::*;
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering::Relaxed,
};

use super::fixture::{
    CUBIN, CUBIN_LENGTH, Fixture, KEY, LOG_LENGTH, MAGIC, Random, SEAL, SOMEBODY, VERSION, get,
    memory, put, remove,
};

/// Required behavior of a cache for a fault, in addition to a correct cubin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Reads the entry: the fault has no effect.
    Reads,
    /// Compiles, and leaves a valid entry.
    Replaces,
    /// Compiles on each call until the fault is repaired.
    Compiles,
}
use Outcome::{Compiles, Reads, Replaces};

/// Name, fault, and required behavior.
pub type Fault = (&'static str, fn(&mut Fixture), Outcome);

const TRIALS: u64 = 500;
#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("no fault", |_| {}, Reads),
    ("entry deleted", |s| remove(&s.entry()), Replaces),
    ("truncated to nothing", |s| s.write(b""), Replaces),
    ("truncated in the magic", |s| s.truncate(MAGIC), Replaces),
    ("truncated in the version", |s| s.truncate(VERSION), Replaces),
    ("truncated in the key", |s| s.truncate(KEY), Replaces),
    ("truncated in the cubin's length", |s| s.truncate(CUBIN_LENGTH), Replaces),
    ("truncated in the log's length", |s| s.truncate(LOG_LENGTH), Replaces),
    ("truncated in the checksum", |s| s.truncate(SEAL), Replaces),
    ("truncated in the cubin", |s| s.truncate(CUBIN..CUBIN + s.truth.image.len()), Replaces),
    ("truncated in the log", |s| s.truncate(CUBIN + s.truth.image.len()..s.bytes().len()), Replaces),
    ("a bit flipped in the magic", |s| s.flip(MAGIC), Replaces),
    ("a bit flipped in the version", |s| s.flip(VERSION), Replaces),
    ("a bit flipped in the key", |s| s.flip(KEY), Replaces),
    ("a bit flipped in the cubin's length", |s| s.flip(CUBIN_LENGTH), Replaces),
    ("a bit flipped in the log's length", |s| s.flip(LOG_LENGTH), Replaces),
    ("a bit flipped in the checksum", |s| s.flip(SEAL), Replaces),
    ("a bit flipped in the cubin", |s| s.flip(CUBIN..CUBIN + s.truth.image.len()), Replaces),
    ("a bit flipped in the log", |s| s.flip(CUBIN + s.truth.image.len()..s.bytes().len()), Replaces),
    ("a block of zeros, as after a power failure", zeros, Replaces),
    ("bytes appended", appended, Replaces),
    ("grown to a terabyte of holes", |s| open(&s.entry()).set_len(1 << 40).expect("a sparse file"), Replaces),
    ("a cubin's length beyond memory, sealed", |s| s.reseal(|b, _| put(b, CUBIN_LENGTH, u64::MAX)), Replaces),
    ("a log's length beyond memory, sealed", |s| s.reseal(|b, _| put(b, LOG_LENGTH, u64::MAX)), Replaces),
    ("lengths that wrap around to the right sum, sealed", wrapping, Replaces),
    ("a length of a gigabyte, sealed", |s| s.reseal(|b, _| put(b, CUBIN_LENGTH, 1 << 30)), Replaces),
    ("a length one too long, sealed", |s| s.reseal(|b, _| one_longer(b)), Replaces),
    ("a border moved, unsealed", moved_border, Replaces),
    ("an empty cubin, sealed", |s| s.reseal(empty), Replaces),
    ("a log that is not UTF-8, sealed", |s| s.reseal(|b, _| *b.last_mut().expect("a log") = 0xff), Replaces),
    ("another magic, sealed", |s| s.reseal(|b, r| b[r.within(MAGIC)] ^= 0x20), Replaces),
    ("another format, sealed", |s| s.reseal(|b, r| b[VERSION].copy_from_slice(&(2 + r.next() as u32 / 2).to_le_bytes())), Replaces),
    ("another program's good entry", another_program, Replaces),
    ("a foreign file", foreign, Replaces),
    ("a bare cubin", |s| s.write(&[b"\x7fELF".as_slice(), &s.truth.image].concat()), Replaces),
    ("an empty folder instead of the entry", |s| folder_in_place(s, false), Replaces),
    ("a full folder instead of the entry", |s| folder_in_place(s, true), Compiles),
    ("a link to a good entry elsewhere", |s| s.link(s.aside()), Replaces),
    ("a link to nothing", |s| s.link("nowhere"), Replaces),
    ("a link to itself", |s| s.link(s.entry()), Replaces),
    ("a link to endless zeros", |s| s.link("/dev/zero"), Replaces),
    ("a link to a terminal that never answers", |s| s.link("/dev/tty"), Replaces),
    ("a pipe instead of the entry", |s| pipe_at(s, &s.entry()), Replaces),
    ("a socket instead of the entry", socket, Replaces),
    ("an entry that a group may write", |s| s.mode(&s.entry(), 0o620), Replaces),
    ("an entry that everyone may write", |s| s.mode(&s.entry(), 0o602), Replaces),
    ("a lock that a dead process left", |s| drop(File::create(s.lock())), Reads),
    ("a lock that a dead process left, and no entry", |s| lock_alone(s, |path| drop(File::create(path))), Replaces),
    ("a lock that is never released", |s| { held(s); remove(&s.entry()) }, Replaces),
    ("a lock that is never released, and a good entry", held, Reads),
    ("a folder instead of the lock", |s| lock_alone(s, |path| fs::create_dir(path).expect("a folder")), Replaces),
    ("a full folder instead of the lock", |s| lock_alone(s, full_folder), Replaces),
    ("a link instead of the lock", |s| lock_alone(s, |path| symlink("/dev/full", path).expect("a link")), Replaces),
    ("a pipe instead of the lock", |s| { remove(&s.entry()); pipe_at(s, &s.lock()) }, Replaces),
    ("a temporary file that a dead process left", |s| fs::write(s.folder.join(".falchion-x.part"), b"FALCH").expect("a file"), Reads),
    ("the folder deleted", |s| remove(&s.folder), Replaces),
    ("the folder moved, with a new setting", |s| moved(s), Reads),
    ("a folder reached by a link of the user", linked_folder, Reads),
    ("a folder that a group may write", |s| s.mode(&s.folder, 0o770), Compiles),
    ("a folder that everyone may write", |s| s.mode(&s.folder, 0o777), Compiles),
    ("another user's folder", others_folder, Compiles),
    ("a file instead of the folder", |s| { remove(&s.folder); fs::write(&s.folder, b"x").expect("a file") }, Compiles),
    ("a folder below a file", |s| s.folder = s.entry().join("cache"), Compiles),
    ("a folder that is a link to nothing", |s| { remove(&s.folder); symlink("nowhere", &s.folder).expect("a link") }, Compiles),
    ("a folder with too long a name", |s| s.folder = s.home.join("x".repeat(300)), Compiles),
    ("a folder with a NUL in its name", |s| s.folder = s.home.join("a\0b"), Compiles),
    ("a folder where none can be created", |s| s.folder = "/proc/falchion".into(), Compiles),
    ("a folder in which no file can be created", |s| s.folder = "/proc/self/task".into(), Compiles),
];

fn open(path: &Path) -> File {
    File::options().write(true).open(path).expect("the entry")
}

fn zeros(s: &mut Fixture) {
    let mut bytes = s.bytes();
    let start = s.random.within(0..bytes.len() - 512);
    bytes[start..start + 512].fill(0);
    s.write(&bytes);
}

fn appended(s: &mut Fixture) {
    let more = s.random.bytes(17);
    s.write(&[s.bytes(), more].concat());
}

fn one_longer(bytes: &mut [u8]) {
    let log = get(bytes, LOG_LENGTH);
    put(bytes, LOG_LENGTH, log + 1);
}

fn wrapping(s: &mut Fixture) {
    s.reseal(|bytes, random| {
        let (log, beyond) = (get(bytes, LOG_LENGTH), 1 + random.next() % 4096);
        let cubin = get(bytes, CUBIN_LENGTH);
        put(bytes, CUBIN_LENGTH, cubin.wrapping_add(log + beyond));
        put(bytes, LOG_LENGTH, beyond.wrapping_neg());
    });
}

fn moved_border(s: &mut Fixture) {
    let mut bytes = s.bytes();
    let by = 1 + s.random.next() % get(&bytes, LOG_LENGTH);
    let (cubin, log) = (get(&bytes, CUBIN_LENGTH) + by, get(&bytes, LOG_LENGTH) - by);
    put(&mut bytes, CUBIN_LENGTH, cubin);
    put(&mut bytes, LOG_LENGTH, log);
    s.write(&bytes);
}

fn empty(bytes: &mut Vec<u8>, _: &mut Random) {
    put(bytes, CUBIN_LENGTH, 0);
    put(bytes, LOG_LENGTH, 0);
    bytes.truncate(CUBIN);
}

fn another_program(s: &mut Fixture) {
    let home = s.home.join("other");
    let other = Fixture::new(&home, s.random.next());
    fs::copy(other.entry(), s.entry()).expect("a copy");
}

fn foreign(s: &mut Fixture) {
    let length = s.random.within(0..8192);
    let bytes = s.random.bytes(length);
    s.write(&bytes);
}

fn full_folder(path: &Path) {
    fs::create_dir_all(path.join("something")).expect("folders");
}

fn folder_in_place(s: &mut Fixture, full: bool) {
    remove(&s.entry());
    if full { full_folder(&s.entry()) } else { fs::create_dir(s.entry()).expect("a folder") }
}

/// One pipe for all trials, linked to each path, because creating a pipe takes a process.
fn pipe_at(s: &Fixture, path: &Path) {
    let pipe = s.home.with_file_name("pipe");
    if !pipe.exists() {
        let made = Command::new("mkfifo").arg("-m").arg("600").arg(&pipe).status().expect("mkfifo");
        assert!(made.success(), "mkfifo: {made}");
    }
    remove(path);
    fs::hard_link(&pipe, path).expect("the pipe, linked");
}

fn socket(s: &mut Fixture) {
    // The path of a socket has at most 107 bytes.
    let short = s.home.join("s");
    drop(UnixListener::bind(&short).expect("a socket"));
    fs::rename(short, s.entry()).expect("the socket, moved");
}

fn lock_alone(s: &mut Fixture, make: fn(&Path)) {
    remove(&s.entry());
    make(&s.lock());
}

fn held(s: &mut Fixture) {
    let file = File::create(s.lock()).expect("a lock");
    file.lock().expect("locked");
    s.held = Some(file);
}

fn moved(s: &mut Fixture) {
    let new = s.home.join("moved");
    fs::rename(&s.folder, &new).expect("the folder, moved");
    s.folder = new;
}

fn linked_folder(s: &mut Fixture) {
    let link = s.home.join("link");
    symlink(&s.folder, &link).expect("a link");
    s.folder = link;
}

fn others_folder(s: &mut Fixture) {
    // Only root can change the owner of a folder. Other users test a folder of root.
    if std::os::unix::fs::chown(&s.folder, Some(SOMEBODY), None).is_err() {
        s.folder = "/".into();
    }
}

/// Runs every trial of a fault. Panics with the name and the seed of the first wrong trial.
pub fn try_out((name, damage, outcome): &Fault, home: &Path) {
    for trial in 0..TRIALS {
        let home = home.join(trial.to_string());
        let seed =
            name.bytes().fold(trial, |seed, byte| seed.wrapping_mul(257).wrapping_add(byte.into()));
        let run = catch_unwind(AssertUnwindSafe(|| {
            let mut fixture = Fixture::new(&home, seed);
            damage(&mut fixture);
            assert_eq!(
                fixture.ask(&fixture.cache()),
                *outcome != Reads,
                "compiled during the fault"
            );
            assert_eq!(
                fixture.ask(&fixture.cache()),
                *outcome == Compiles,
                "compiled after the fault"
            );
            fixture.repair();
            fixture.ask(&fixture.cache());
            assert!(!fixture.ask(&fixture.cache()), "a valid entry is read");
        }));
        assert!(run.is_ok(), "{name}: trial {trial}, seed {seed:#x}");
        fs::remove_dir_all(&home).expect("the trial's folder, removed");
    }
    println!("{name}: {TRIALS} trials: {outcome:?}");
}

#[test]
fn no_fault_gives_a_wrong_cubin_a_failed_call_or_a_panic() {
    let home = memory();
    let names: BTreeSet<_> = FAULTS.iter().map(|fault| fault.0).collect();
    assert_eq!(names.len(), FAULTS.len(), "each name once");
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(fault) = FAULTS.get(number) else { break };
            try_out(fault, &home.path().join(number.to_string()));
        }
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    println!("{} kinds, {} trials", FAULTS.len(), FAULTS.len() as u64 * TRIALS);
}
