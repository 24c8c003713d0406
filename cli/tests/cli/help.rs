//! The text of `--help`: every example runs, and every flag and knob is explained.

use crate::common::{Matrix, done, folder, save};
use std::{path::Path, process::Command};

/// The subcommands.
const COMMANDS: [&str; 8] =
    ["gemm", "banks", "transpose", "bench", "explore", "ladder", "layout", "doctor"];

/// Help of a subcommand, or of the program for an empty name.
fn help(command: &str) -> String {
    if command.is_empty() { done(&["--help"]) } else { done(&[command, "--help"]) }
}

/// The examples of a help text that need no GPU and no NVRTC: those indented by two spaces.
fn examples(help: &str) -> Vec<&str> {
    let command = |line: &&str| line.starts_with("  falchion ");
    help.lines().filter(command).map(str::trim_start).collect()
}

/// Runs a command line in a folder, and returns its exit code and what it printed.
fn run(folder: &Path, command: &str) -> (Option<i32>, String) {
    let command = command.replacen("falchion", env!("CARGO_BIN_EXE_falchion"), 1);
    let output = Command::new("sh").current_dir(folder).args(["-c", &command]).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// The examples use files of one folder, and later ones read what earlier ones write.
#[test]
fn every_example_of_help_runs() {
    for (command, least) in
        [("", 2), ("gemm", 7), ("banks", 2), ("transpose", 7), ("explore", 3), ("layout", 3)]
    {
        let folder = folder();
        for name in ["a.npy", "b.npy"] {
            save(&folder.path().join(name), &Matrix::random(6, 6, 1), "<f4", false);
        }
        save(&folder.path().join("bias.npy"), &Matrix::random(1, 6, 2), "<f4", false);
        let help = help(command);
        let examples = examples(&help);
        assert!(examples.len() >= least, "{help}");
        for example in examples {
            let (code, said) = run(folder.path(), example);
            assert_eq!(code, Some(0), "{example}: {said}");
        }
    }
}

/// The kernel names in the help are names that the commands print.
#[test]
fn kernel_names_of_help_are_printed_by_commands() {
    let said = done(&["transpose", "--explain", "--json", "--rows", "8192", "--cols", "8192"]);
    let name = "64x64_t256_a4x4x4_x3.2.2_o0_b4";
    assert!(help("transpose").contains(name) && said.contains(name), "{said}");
    let name = "multistage 256x128x8_64x64x8_s4_b1_1";
    let flags = "explore --dry-run --arch sm80 --a f32:row --b f32:row --c f32:row --mainloop multistage --threadblock 256x128x8 --warp 64x64x8 --stages 4 --swizzle 1 --blocks-per-sm 1";
    let said = done(&flags.split(' ').collect::<Vec<_>>());
    assert!(help("explore").contains(name) && said.contains(name), "{said}");
}

/// Each flag has a help text.
#[test]
fn every_flag_is_explained() {
    for command in COMMANDS {
        let help = help(command);
        let flags = help.lines().filter(|line| line.starts_with("      --"));
        for flag in flags {
            let explained = flag.trim().contains("  ")
                || help
                    .lines()
                    .skip_while(|line| *line != flag)
                    .nth(1)
                    .is_some_and(|line| line.starts_with("          "));
            assert!(explained, "{command}: {flag}");
        }
    }
}

/// The example problem in the help of `bench` is valid.
#[test]
fn problem_of_bench_help_is_read() {
    let help = help("bench");
    let problem = help.lines().find(|line| line.trim_start().starts_with('{')).unwrap();
    let folder = folder();
    let suite = folder.path().join("suite.jsonl");
    std::fs::write(&suite, problem).unwrap();
    // The suite is read before NVRTC is loaded.
    let (code, said) = run(
        folder.path(),
        "FALCHION_NVRTC=/nowhere FALCHION_CACHE_DIR=cache falchion bench --suite suite.jsonl --compile 90",
    );
    assert!(code == Some(2) && said.contains("libnvrtc could not be loaded"), "{said}");
}
