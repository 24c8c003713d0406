//! Output on full disks, into missing folders, and during interrupts.

use crate::common::{folder, refused};
use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_a_failure() {
    for args in
        [&["layout", "(4,4):(4,1)"][..], &["gemm", "--explain", "--json"], &["--help"], &["banks"]]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output =
            Command::new(env!("CARGO_BIN_EXE_falchion")).args(args).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.starts_with("falchion: stdout cannot be written: No space left"),
            "{args:?}: {said}"
        );
    }
    for args in [
        &["layout", "(4,4):(4,1)", "--svg", "/dev/full"][..],
        &["gemm", "--m", "8", "--n", "8", "--k", "8", "--out", "/dev/full"],
    ] {
        let sentence = refused(args);
        assert!(sentence.starts_with("/dev/full cannot be written: No space left"), "{sentence}");
    }
}

/// An output file that cannot be written is refused before the computation.
#[test]
fn missing_folder_is_refused_before_computing() {
    let folder = folder();
    let nowhere = folder.path().join("no/x.svg");
    let nowhere = nowhere.to_str().unwrap();
    for args in [
        &["ladder", "--on", "host", "--svg", nowhere][..],
        &["layout", "(4,4):(4,1)", "--svg", nowhere],
        &["gemm", "--m", "100000", "--n", "100000", "--k", "1", "--out", nowhere],
    ] {
        let sentence = refused(args);
        assert!(sentence.contains("cannot be written: there is no folder"), "{sentence}");
    }
}

/// A link is written through, and stays a link.
#[cfg(unix)]
#[test]
fn output_link_stays_a_link() {
    let folder = folder();
    let (real, link) = (folder.path().join("real.svg"), folder.path().join("link.svg"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    crate::common::done(&["layout", "(4,4):(4,1)", "--svg", link.to_str().unwrap()]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().starts_with("<svg "));
}

/// INT, TERM, and HUP end a command as without a handler, and leave no file. An ignored signal
/// stays ignored.
#[cfg(target_os = "linux")]
#[test]
fn interrupt_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let folder = folder();
        let out = folder.path().join("d.npy");
        let left = || fs::read_dir(folder.path()).unwrap().count();
        let mut command = Command::new(env!("CARGO_BIN_EXE_falchion"));
        command
            .args([
                "gemm",
                "--on",
                "host",
                "--checked",
                "--m",
                "3000",
                "--n",
                "3000",
                "--k",
                "3000",
                "--out",
            ])
            .arg(&out);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while left() == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it has not begun");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(
            Command::new("kill")
                .args([format!("-{name}"), child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{name}");
        assert_eq!(left(), 0, "{name}");
    }
}

/// A message that quotes a long input shortens it, and points at the fault.
#[test]
fn long_inputs_are_shortened() {
    let long = "acc + ".repeat(20_000) + "acc";
    let blanks = format!("(4,4){}:(4,1)x", " ".repeat(70_000));
    for args in [
        &["gemm", "--epilogue", &long][..],
        &["gemm", "--a", &long],
        &["layout", &blanks],
        &["gemm", "--desc", &long],
    ] {
        let output = crate::common::falchion(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.len() < 1200 && !said.contains("panicked"), "{} bytes: {said}", said.len());
    }
}

/// If memory is too small, the refusal says so, even if another limit is also exceeded. `ulimit -v`
/// limits the memory.
#[cfg(target_os = "linux")]
#[test]
fn refusal_names_too_little_memory() {
    let sentence =
        refused(&["gemm", "--on", "host", "--m", "100000000", "--n", "100000000", "--k", "1"]);
    assert!(
        sentence.starts_with("host memory = ")
            && sentence.ends_with(" bytes; use a smaller problem"),
        "{sentence}"
    );
    let binary = env!("CARGO_BIN_EXE_falchion");
    let limited =
        format!("ulimit -v 2000000; {binary} gemm --on host --m 15000 --n 15000 --k 15000");
    let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let number = |before: &str| {
        said.split(before).nth(1).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert!(
        number("host memory = ") > number(" exceeds ") && number(" exceeds ") < 2_048_000_000,
        "{said}"
    );
}

/// The number of threads is limited by the number of processors.
#[test]
fn threads_are_limited_by_processors() {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_falchion"));
    let output = command
        .args(["gemm", "--on", "host", "--m", "64", "--n", "64", "--k", "64"])
        .env("RAYON_NUM_THREADS", "100000")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success()
            && said.starts_with("note: RAYON_NUM_THREADS is 100000; falchion uses "),
        "{said}"
    );
    assert!(begun.elapsed() < Duration::from_secs(20));
}
