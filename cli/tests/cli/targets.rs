//! Output paths: links, file modes, limits, pipes, and printed names.

use crate::common::{Matrix, done, falchion, folder, path, refused, save};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    process::Command,
};

const LAYOUT: [&str; 3] = ["layout", "(4,4):(4,1)", "--svg"];

fn draw_to(place: &str) {
    done(&[&LAYOUT[..], &[place]].concat());
}

/// A link to a missing file stays a link, and the file is created. A link to itself is refused.
#[test]
fn dangling_link_is_written_through() {
    let folder = folder();
    let ((first, first_name), (_, second)) =
        (path(&folder, "first.svg"), path(&folder, "second.svg"));
    symlink("second.svg", &first).unwrap();
    symlink("real.svg", &second).unwrap();
    draw_to(&first_name);
    assert!(
        fs::symlink_metadata(&first).unwrap().is_symlink()
            && fs::symlink_metadata(&second).unwrap().is_symlink()
    );
    assert!(fs::read_to_string(folder.path().join("real.svg")).unwrap().starts_with("<svg "));
    let (round, name) = path(&folder, "round.svg");
    symlink("round.svg", &round).unwrap();
    let said = refused(&[&LAYOUT[..], &[&name]].concat());
    assert!(said.ends_with("cannot be written: the link leads back to itself"), "{said}");
    assert!(fs::symlink_metadata(&round).unwrap().is_symlink());
}

/// An existing file keeps its mode. A new file has the mode of the umask.
#[test]
fn file_keeps_its_mode() {
    let folder = folder();
    let (place, name) = path(&folder, "private.svg");
    for mode in [0o600, 0o640, 0o755] {
        fs::write(&place, "old").unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        draw_to(&name);
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, mode);
        assert!(fs::read_to_string(&place).unwrap().starts_with("<svg "));
    }
}

/// A file beyond `ulimit -f` is refused, the old file stays, and no other file is left. A shell
/// sets the limit.
#[test]
fn file_beyond_ulimit_is_refused() {
    let folder = folder();
    let (place, name) = path(&folder, "d.npy");
    fs::write(&place, "old").unwrap();
    let limited = format!(
        "ulimit -f 8; {} gemm --on host --m 64 --n 64 --k 64 --out {name}",
        env!("CARGO_BIN_EXE_falchion")
    );
    let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("d.npy cannot be written: File too large"), "{said}");
    assert_eq!(fs::read_to_string(&place).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// In a small address space, the host computes fewer thread blocks at once, or refuses the GEMM.
/// The process never aborts.
#[cfg(target_os = "linux")]
#[test]
fn small_address_space_does_not_abort() {
    let folder = folder();
    let (place, name) = path(&folder, "d.npy");
    let (mut computed, mut short) = (0, 0);
    for kibibytes in (60_000..420_000).step_by(60_000) {
        let shape = "--on host --m 4000 --n 4000 --k 1";
        let limited = format!(
            "ulimit -v {kibibytes}; {} gemm {shape} --out {name}",
            env!("CARGO_BIN_EXE_falchion")
        );
        let output = Command::new("sh")
            .args(["-c", &limited])
            .env("RAYON_NUM_THREADS", "2")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => computed += 1,
            Some(2) => {
                assert!(said.contains("host memory = "), "{kibibytes}: {said}");
                short += 1;
            }
            other => panic!("{kibibytes} KiB: {other:?}: {said}"),
        }
        let _ = fs::remove_file(&place);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{kibibytes} KiB");
    }
    assert!(computed > 0 && short > 0, "{computed} {short}");
}

/// Control characters in file names are escaped, because they would move the cursor of a terminal.
#[test]
fn control_characters_in_file_names_are_escaped() {
    let folder = folder();
    let (_, name) = path(&folder, "q\u{1b}[2J\nz.npy");
    let said = done(&["gemm", "--on", "host", "--m", "2", "--n", "2", "--k", "2", "--out", &name]);
    assert!(said.contains("q\\u{1b}[2J\\nz.npy") && !said.contains('\u{1b}'), "{said}");
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_falchion"));
    let doctor = doctor
        .args(["doctor", "--verbose"])
        .env("FALCHION_CACHE_DIR", &name)
        .env("FALCHION_NVRTC", "/x\u{1b}[2Jy");
    let said = doctor.output().unwrap().stdout;
    assert!(!said.contains(&0x1b), "{}", String::from_utf8_lossy(&said));
}

/// `--compile` without a usable cache is refused before it compiles.
#[test]
fn compile_without_a_cache_is_refused() {
    let folder = folder();
    let (file, name) = path(&folder, "suite.jsonl");
    fs::write(&file, r#"{"m":64,"n":64,"k":64,"a":"f32:row","b":"f32:row","c":"f32:row"}"#)
        .unwrap();
    for cache in ["off", &name, "/dev/full"] {
        for args in [
            &["bench", "--suite", &name, "--compile", "90"][..],
            &["explore", "--compile", "90", "--trials", "1"],
        ] {
            let output = Command::new(env!("CARGO_BIN_EXE_falchion"))
                .args(args)
                .env("FALCHION_CACHE_DIR", cache)
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{cache} {args:?}: {said}");
            assert!(said.contains("cache") || said.contains(cache), "{cache}: {said}");
            assert!(output.stdout.is_empty(), "{cache}");
        }
    }
}

/// `--explain` describes only GEMMs that can be computed, and the kernel that computes them.
#[test]
fn explain_describes_the_kernel_that_runs() {
    for sizes in [
        &["--m", "2147483648", "--n", "3", "--k", "2"][..],
        &[
            "--m",
            "18446744073709551615",
            "--n",
            "18446744073709551615",
            "--k",
            "18446744073709551615",
        ],
        &["--m", "2", "--n", "3", "--k", "2", "--lda", "1", "--a", "f32:row"],
        &["--m", "2", "--n", "3", "--k", "2", "--batch", "9223372036854775807"],
    ] {
        let explained = refused(&[&["gemm", "--explain"][..], sizes].concat());
        let computed = refused(&[&["gemm", "--on", "host"][..], sizes].concat());
        let beginning = |said: &str| said.split(';').next().unwrap_or_default().to_owned();
        assert_eq!(beginning(&explained), beginning(&computed));
    }
    let odd = [
        "--m", "127", "--n", "129", "--k", "131", "--a", "f16:row", "--b", "f16:col", "--c",
        "f16:row",
    ];
    let said = done(&[&["gemm", "--explain", "--op", "simt", "--arch", "sm80"][..], &odd].concat());
    assert!(
        said.contains("1, 1, 1 elements of A, B, and D, because of extents and leading dimensions; the description has 8, 8, 8"),
        "{said}"
    );
    assert!(
        said.contains("stored 1 at a time") && !said.contains("(16 bytes) a thread from global"),
        "{said}"
    );
    let hopper = [
        "--op", "tensorop", "--for", "h100", "--m", "4095", "--n", "4095", "--k", "4095", "--a",
        "bf16:row", "--b", "bf16:col",
    ];
    let said = done(&[&["gemm", "--explain", "--c", "bf16:row"][..], &hopper].concat());
    assert!(
        said.contains("A repacked, B repacked") && said.contains("by threads, 1 at a time"),
        "{said}"
    );
    let whole = falchion(&["gemm", "--explain", "--m", "128", "--n", "128", "--k", "128"]);
    assert!(!String::from_utf8_lossy(&whole.stdout).contains("elements of A, B, and D"));
}

/// `--out -`, `--out /dev/stdout`, and `--out /dev/stdout > FILE` write only D to stdout. The
/// report is on stderr.
#[cfg(target_os = "linux")]
#[test]
fn out_to_stdout_writes_only_d() {
    let folder = folder();
    let (file, name) = path(&folder, "d.npy");
    let gemm = format!(
        "{} gemm --on host --m 3 --n 3 --k 3 --seed 7 --verify",
        env!("CARGO_BIN_EXE_falchion")
    );
    done(&[
        "gemm", "--on", "host", "--m", "3", "--n", "3", "--k", "3", "--seed", "7", "--out", &name,
    ]);
    let wanted = fs::read(&file).unwrap();
    for (command, to_file) in [
        (format!("{gemm} --out - | cat"), false),
        (format!("{gemm} --out /dev/stdout | cat"), false),
        (format!("{gemm} --json --out - | cat"), false),
        (format!("{gemm} --out /dev/stdout > {name}"), true),
        (format!("{gemm} --out {name} > {name}"), true),
        (format!("{gemm} --out - > {name}"), true),
    ] {
        fs::remove_file(&file).unwrap();
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        let written = if to_file { fs::read(&file).unwrap() } else { output.stdout };
        assert_eq!(written, wanted, "{command}: {said}");
        assert!(said.contains("3 x 3 x 3") || said.contains("\"verified\":true"), "{said}");
        fs::write(&file, "").unwrap();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let svg =
        format!("{} layout '(4,4):(4,1)' --svg /dev/stdout | cat", env!("CARGO_BIN_EXE_falchion"));
    let output = Command::new("sh").args(["-c", &svg]).output().unwrap();
    assert!(output.stdout.starts_with(b"<svg "), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Process substitution of a shell: output into `>(..)`, and operands and descriptions from
/// `<(..)`.
#[cfg(target_os = "linux")]
#[test]
fn process_substitution_reads_and_writes() {
    let Ok(bash) = Command::new("bash").arg("--version").output() else { return };
    assert!(bash.status.success());
    let folder = folder();
    let (file, name) = path(&folder, "a.npy");
    save(&file, &Matrix::random(5, 5, 3), "<f4", false);
    let (copy, copy_name) = path(&folder, "copy");
    let (direct, direct_name) = path(&folder, "direct.npy");
    done(&["gemm", "--on", "host", "--a-file", &name, "--b-file", &name, "--out", &direct_name]);
    let run = |command: &str| {
        let command = command.replace("falchion", env!("CARGO_BIN_EXE_falchion"));
        let output = Command::new("bash").args(["-c", &command]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&format!(
        "falchion gemm --on host --a-file <(cat {name}) --b-file {name} --out >(cat > {copy_name}); wait $!; sleep 0.2"
    ));
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&direct).unwrap());
    let from_pipe =
        "falchion gemm --explain --json --stages 3 | falchion gemm --explain --desc /dev/stdin";
    assert!(run(from_pipe).contains("from the description"));
    // A pipe that ends early is refused.
    let command = format!(
        "{} gemm --on host --a-file <(head -c 150 {name}) --b-file {name}",
        env!("CARGO_BIN_EXE_falchion")
    );
    let output = Command::new("bash").args(["-c", &command]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(
            "is truncated: 5 x 5 elements of 4 bytes need 100 bytes, but the file has 22 bytes"
        ),
        "{said}"
    );
}
