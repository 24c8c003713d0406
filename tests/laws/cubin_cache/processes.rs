//! Several processes with one cache folder, and processes that are killed.
//!
//! A test starts itself again. With `FALCHION_TEST_ROLE` set, it is a child process.

use super::fixture::{Fixture, Random};
use crate::harness::prelude::*;
use std::{ffi::OsString, fs, io::Write, process::Child};

const ROLE: &str = "FALCHION_TEST_ROLE";

/// Returns the folder of a child process. `None` in the parent.
pub fn role() -> Option<PathBuf> {
    std::env::var_os(ROLE).map(PathBuf::from)
}

/// Returns a command that runs `test` of this program as a child that works in `home`. `shell` is a
/// script that ends in `exec "$@"`.
pub fn again(program: &Path, test: &str, home: &Path, shell: Option<&str>) -> Command {
    let arguments =
        [program.as_os_str().to_owned(), "--exact".into(), test.into(), "--nocapture".into()];
    let mut command = Command::new("sh");
    command.args(["-c", shell.unwrap_or("exec \"$@\""), "sh"].map(OsString::from)).args(arguments);
    command.env(ROLE, home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// Waits for a child, and panics with its output if it failed.
pub fn assert_passed(child: Child) {
    let output = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&output.stdout);
    // A filter that matches no test also succeeds, so the output must show that one test ran.
    let ran = output.status.success() && said.contains("test result: ok. 1 passed");
    assert!(ran, "{}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr));
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{} was not created", path.display());
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn eight_cold_processes_compile_once() {
    const PROCESSES: usize = 8;
    const ROUNDS: usize = 5;
    let compilations = |home: &Path| home.join("compilations");
    let gate = |home: &Path, round: usize| home.join(format!("gate-{round}"));
    if let Some(home) = role() {
        for round in 0..ROUNDS {
            let mut random = Random(100 + round as u64);
            let (key, compiled) = (random.key(), random.compiled());
            File::create(home.join(format!("ready-{round}-{}", std::process::id())))
                .expect("a file");
            wait_for(&gate(&home, round));
            let cache = Cache::new(CacheDir::At(home.join("cache")));
            let entry = cache.get_or_compile(&key, || {
                let mut file = File::options()
                    .append(true)
                    .create(true)
                    .open(compilations(&home))
                    .expect("the record");
                file.write_all(format!("{round}\n").as_bytes()).expect("a line");
                thread::sleep(Duration::from_millis(50));
                Ok(compiled.clone())
            });
            assert_eq!(entry.expect("an entry").image, compiled.image);
        }
        return;
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let test = "cubin_cache::processes::eight_cold_processes_compile_once";
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| again(&this_program(), test, home.path(), None).spawn().expect("a child"))
        .collect();
    for round in 0..ROUNDS {
        let ready = || {
            let prefix = format!("ready-{round}-");
            let names = fs::read_dir(home.path()).expect("the folder").flatten();
            names.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
        };
        let start = Instant::now();
        while ready() < PROCESSES {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{} of {PROCESSES} processes started",
                ready()
            );
            thread::sleep(Duration::from_millis(1));
        }
        File::create(gate(home.path(), round)).expect("the gate");
    }
    children.into_iter().for_each(assert_passed);
    let record = fs::read_to_string(compilations(home.path())).expect("the record");
    assert_eq!(
        record,
        (0..ROUNDS).map(|round| format!("{round}\n")).collect::<String>(),
        "one compilation per round"
    );
    let left = fs::read_dir(home.path().join("cache")).expect("the cache").count();
    assert_eq!(left, ROUNDS, "entries, no lock, no temporary file");
}

#[test]
fn a_process_killed_during_a_compilation_releases_the_lock() {
    let (mut random, started) = (Random(200), |home: &Path| home.join("started"));
    let (key, compiled) = (random.key(), random.compiled());
    let cache = |home: &Path| Cache::new(CacheDir::At(home.join("cache")));
    if let Some(home) = role() {
        let _never = cache(&home).get_or_compile(&key, || {
            File::create(started(&home)).expect("a file");
            thread::sleep(Duration::from_secs(600));
            Ok(compiled)
        });
        return;
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let test = "cubin_cache::processes::a_process_killed_during_a_compilation_releases_the_lock";
    let mut child = again(&this_program(), test, home.path(), None).spawn().expect("a child");
    wait_for(&started(home.path()));
    let lock = home.path().join(format!("cache/{key}.lock"));
    assert!(File::open(&lock).expect("the lock").try_lock().is_err(), "the child holds the lock");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let cache = cache(home.path());
            let entry = cache.get_or_compile(&key, || Ok(compiled.clone())).expect("an entry");
            assert_eq!(
                (entry.image.as_slice(), cache.compilations()),
                (compiled.image.as_slice(), 1)
            );
        });
        thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished(), "the call waits for the child");
        // SIGKILL.
        child.kill().expect("killed");
        child.wait().expect("buried");
        let start = Instant::now();
        waiting.join().expect("no panic");
        assert!(start.elapsed() < Duration::from_secs(30), "the call waited for a dead process");
    });
    let cache = cache(home.path());
    cache.get_or_compile(&key, || panic!("the entry is on disk")).expect("an entry");
    assert_eq!(cache.disk_hits(), 1);
}

/// The system kills a writer during a write. The limit of its file size is one block, and the
/// default action of the signal ends the process as suddenly as SIGKILL.
#[test]
fn a_process_killed_during_a_write_leaves_no_valid_entry() {
    if let Some(home) = role() {
        let fixture = Fixture::new(&home, 300);
        unreachable!("{} was written", fixture.entry().display());
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let test = "cubin_cache::processes::a_process_killed_during_a_write_leaves_no_valid_entry";
    let child =
        again(&this_program(), test, home.path(), Some("ulimit -c 0; ulimit -f 1; exec \"$@\""))
            .spawn()
            .expect("a child");
    let status = child.wait_with_output().expect("a child").status;
    assert!(
        std::os::unix::process::ExitStatusExt::signal(&status).is_some(),
        "killed by a signal: {status}"
    );
    let left = || {
        let names = fs::read_dir(home.path().join("cache")).expect("the cache").flatten();
        let mut names: Vec<_> =
            names.map(|entry| entry.path().extension().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(left(), ["lock", "part"], "the lock, half an entry and no entry");
    let fixture = Fixture::new(home.path(), 300);
    assert!(!fixture.ask(&fixture.cache()), "a valid entry is read");
    assert_eq!(left(), ["cubin", "part"], "a partial file that is younger than an hour stays");
}
