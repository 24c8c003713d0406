//! Random command lines and files. Each ends with a documented exit code and one sentence, without
//! a panic or a leftover file.
//!
//! A grammar generates the command lines, and most are mutated. A failure prints its seed.

use crate::common::{Matrix, folder, save, save_batch};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// Number of cases per test.
const CASES: u64 = 1000;
/// Time limit of a case.
const PATIENCE: Duration = Duration::from_secs(120);

/// A random number generator.
struct Draw(u64);

impl Draw {
    fn from_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn one<'x>(&mut self, of: &[&'x str]) -> &'x str {
        of[self.below(of.len())]
    }

    /// A random item, mostly of the first half, which holds the valid ones.
    fn mostly<'x>(&mut self, of: &[&'x str]) -> &'x str {
        if self.once_in(4) { self.one(of) } else { self.one(&of[..of.len().div_ceil(2)]) }
    }

    /// True in one of `times` calls on average.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

const EXTENTS: &[&str] = &[
    "0",
    "1",
    "2",
    "7",
    "33",
    "64",
    "130",
    "9999999999999",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "x",
    "",
];
const NUMBERS: &[&str] =
    &["0", "1", "-0.5", "1e300", "nan", "-inf", "1e-400", "1e999", "one", "0x10", "--", ""];
const TYPES: &[&str] = &[
    "f32:row", "f32:col", "f64:row", "bf16:col", "f16:row", "tf32:row", "e4m3:col", "i8:col",
    "u8:row", "i32:row", "f32", "f32:diag", ":", "",
];
const TILES: &[&str] = &[
    "128x128x8",
    "64x64x16",
    "32x32x8",
    "0x0x0",
    "1x1x1",
    "4294967295x4294967295x1",
    "128x128",
    "axbxc",
    "-1x2x3",
];
const EPILOGUES: &[&str] = &[
    "acc",
    "alpha * acc + beta * c",
    "relu(acc)",
    "clamp(acc, -1, 1)",
    "acc + bias_n",
    "s2 * acc",
    "s9 * acc",
    "relu(",
    "max(acc)",
    "user_00",
    "acc +",
    "((((acc))))",
    "1e9*acc",
    "é",
];
const LAYOUTS: &[&str] = &[
    "(4,3):(1,4)",
    "composition((6,2):(8,2), (4,3):(3,1))",
    "Sw<3,4,3> o _0 o (8,64):(64,1)",
    "local_tile((8,6):(1,8), (4,3), (1,1))",
    "complement(4:2, 24)",
    "(18446744073709551615,2):(1,1)",
    "logical_divide((4,2,3):(2,1,8), (2,2))",
    "((((((1))))))",
    "size(",
    "_",
    "(1:0)(2)",
    "make_layout(_)",
    "swizzle(64,64,64)",
    "0:0",
    "é:1",
    "(3,4) o",
];
const FILES: &[&str] =
    &["a.npy", "batch.npy", "none.npy", "desc.json", ".", "", "/dev/null", "no/such.npy"];
const OUTPUTS: &[&str] = &["d.npy", "no/d.npy", ".", "/dev/full", "/", "a.npy"];

/// A random command line of the grammar, mostly a valid one.
fn command(draw: &mut Draw) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let say = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    if draw.once_in(8) {
        words.extend(say(&["--json"]));
    }
    let name = draw.one(&[
        "gemm",
        "gemm",
        "gemm",
        "transpose",
        "layout",
        "banks",
        "explore",
        "bench",
        "help",
        "frobnicate",
    ]);
    words.extend(say(&[name]));
    let mut flags: Vec<(&str, &[&str])> = match name {
        "gemm" => vec![
            ("--m", EXTENTS),
            ("--n", EXTENTS),
            ("--k", EXTENTS),
            ("--a", TYPES),
            ("--b", TYPES),
            ("--c", TYPES),
            ("--acc", &["f32", "f64", "i32", "f8"]),
            ("--op", &["simt", "tensorop", "x"]),
            ("--arch", &["sm70", "sm80", "sm90", "sm100"]),
            ("--threadblock", TILES),
            ("--warp", TILES),
            ("--instruction", TILES),
            ("--stages", EXTENTS),
            ("--cluster", &["1x1", "2x1", "0x0", "9x9"]),
            ("--mainloop", &["multistage", "pipelined", "singlestage", "warpspecialized", "x"]),
            ("--epilogue", EPILOGUES),
            ("--scalar", &["2=1", "2=", "=", "9=1", "2=nan"]),
            ("--alpha", NUMBERS),
            ("--beta", NUMBERS),
            ("--lda", EXTENTS),
            ("--ldc", EXTENTS),
            ("--batch", EXTENTS),
            ("--group-rows", &["0", "1,2,3", "5", "33,0,,", "-1", "4294967296,4294967296", "x"]),
            ("--seed", EXTENTS),
            ("--a-file", FILES),
            ("--c-file", FILES),
            ("--out", OUTPUTS),
            ("--vector", &["bias_n=a.npy", "bias_n", "x=y", "="]),
            ("--desc", &["desc.json", "{", "{}", "[]", "null", "none.json"]),
            ("--verify", &["all", "none"]),
            ("--for", &["h200", "a100", "x"]),
            ("--explain", &[]),
            ("--checked", &[]),
            ("--verify", &[]),
            ("--run", &["--pointers", "--explain"]),
            ("--split-k", EXTENTS),
            ("--emulation", &["bf16x6", "none", "x"]),
            ("--on", &["host", "auto", "cuda"]),
        ],
        "transpose" => vec![
            ("--rows", EXTENTS),
            ("--cols", EXTENTS),
            ("--type", &["f32", "f64", "i8", "bf16", "x"]),
            ("--alpha", NUMBERS),
            ("--beta", NUMBERS),
            ("--batch", EXTENTS),
            ("--lda", EXTENTS),
            ("--ldd", EXTENTS),
            ("--rung", &["padded", "vectorized", "x"]),
            ("--desc", &["{}", "desc.json"]),
            ("--a-file", FILES),
            ("--out", OUTPUTS),
            ("--checked", &[]),
            ("--verify", &[]),
            ("--explain", &[]),
        ],
        "layout" => vec![
            ("--table", &[]),
            ("--svg", &["x.svg", "no/x.svg", "/dev/full"]),
            ("--threads", LAYOUTS),
            ("--element-bytes", EXTENTS),
            ("--title", LAYOUTS),
        ],
        "banks" => vec![
            ("--layout", LAYOUTS),
            ("--threads", LAYOUTS),
            ("--element", &["f32", "f64", "x"]),
            ("--access", EXTENTS),
            ("--store", &[]),
            ("--svg", &["x.svg", "."]),
            ("--threadblock", TILES),
            ("--a", TYPES),
        ],
        "explore" => vec![
            ("--size", &["64x64x64", "0x0x0", "x", "1x1"]),
            ("--stages", &["2-5", "5-2", "2..3", "0..4294967295"]),
            ("--space", &["[]", "{}", "[{}]", "none.json"]),
            ("--best", EXTENTS),
        ],
        _ => vec![("--suite", FILES), ("--peers", &["none", "mkl"]), ("--compile", &["x"])],
    };
    match name {
        "layout" => words.push(draw.mostly(LAYOUTS).to_owned()),
        "gemm" if !draw.once_in(4) => {
            words.extend(say(&["--m", "33", "--n", "7", "--k", "64", "--on", "host"]))
        }
        "explore" => words.extend(say(&[
            "--dry-run",
            "--mainloop",
            "multistage",
            "--threadblock",
            "128x128x8",
            "--warp",
            "64x32x8",
        ])),
        _ => {}
    }
    for _ in 0..draw.below(4) {
        if flags.is_empty() {
            break;
        }
        let (flag, values) = flags.swap_remove(draw.below(flags.len()));
        // A repeated flag is refused at once, and would hide other faults.
        if words.iter().any(|word| word == flag) {
            continue;
        }
        words.push(flag.to_owned());
        if !values.is_empty() {
            words.push(draw.mostly(values).to_owned());
        }
    }
    words
}

/// Changes letters of some words, or whole words.
fn mutate_words(draw: &mut Draw, words: &mut Vec<String>) {
    for _ in 0..draw.below(3) {
        let at = draw.below(words.len());
        match draw.below(5) {
            0 => drop(words.remove(at)),
            1 => words.insert(
                at,
                draw.one(&[
                    "--",
                    "-",
                    "--json",
                    "=",
                    "--=",
                    "\u{202e}",
                    "\u{1b}[31m",
                    "é",
                    "--m=",
                    "-9999",
                ])
                .to_owned(),
            ),
            2 => words.swap(at, 0),
            _ => {
                let mut letters: Vec<char> = words[at].chars().collect();
                let place = draw.below(letters.len() + 1);
                match draw.below(3) {
                    0 => letters.insert(
                        place,
                        *[',', '(', ')', '-', '9', 'x', ':', 'é', '\n', '\t', '{']
                            .get(draw.below(11))
                            .unwrap_or(&'x'),
                    ),
                    1 if place < letters.len() => drop(letters.remove(place)),
                    _ => letters.truncate(place),
                }
                words[at] = letters.into_iter().collect();
            }
        }
        if words.is_empty() {
            break;
        }
    }
}

/// Sorted names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Runs the binary in a folder. Returns whether it succeeded. The error describes an invalid end.
fn run(folder: &Path, args: &[String]) -> Result<bool, String> {
    let before = names(folder);
    let logs = tempfile::tempdir().unwrap();
    let log = |name: &str| fs::File::create(logs.path().join(name)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_falchion"));
    command.args(args).current_dir(folder).env("FALCHION_CACHE_DIR", "off").stdin(Stdio::null());
    let mut child = command.stdout(log("out")).stderr(log("err")).spawn().unwrap();
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begun.elapsed() > PATIENCE => {
                child.kill().unwrap();
                return Err("it does not end".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let text = |name: &str| {
        String::from_utf8_lossy(&fs::read(logs.path().join(name)).unwrap()).into_owned()
    };
    let (out, said) = (text("out"), text("err"));
    let after = names(folder);
    let made: Vec<_> = after.iter().filter(|name| !before.contains(name)).cloned().collect();
    for name in &made {
        fs::remove_file(folder.join(name)).unwrap();
    }
    let sentences = said.lines().filter(|line| !line.starts_with("note: ")).collect::<Vec<_>>();
    let ended = match status.code() {
        _ if said.contains("panicked")
            || said.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}') =>
        {
            false
        }
        Some(0) => {
            sentences.is_empty()
                && made.iter().all(|name| ["d.npy", "x.svg"].contains(&name.as_str()))
        }
        // A caret is two lines below its sentence.
        Some(2) => {
            let object = serde_json::from_str::<serde_json::Value>(&out)
                .is_ok_and(|object| object["refused"].is_string());
            let silent = out.is_empty() || object;
            sentences.first().is_some_and(|line| line.starts_with("falchion: "))
                && sentences.len() <= 3
                && silent
                && made.is_empty()
                && said.len() < 3000
        }
        _ => false,
    };
    if ended {
        return Ok(status.success());
    }
    let said: String = said.chars().take(800).collect();
    Err(format!("{status}; stdout {} bytes; made {made:?}; stderr: {said}", out.len()))
}

/// Runs the cases on two threads. `make` writes the files of a case into the worker's folder, and
/// returns the command line. At least a tenth of the cases must succeed, and at least a tenth must
/// be refused.
fn all(make: impl Fn(&mut Draw, &Path) -> Vec<String> + Sync) {
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let worker = || {
        let folder = folder();
        let mut faults = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= CASES {
                return faults;
            }
            let args = make(&mut Draw::from_seed(seed), folder.path());
            match run(folder.path(), &args) {
                Ok(success) => drop(done.fetch_add(success.into(), Ordering::Relaxed)),
                Err(fault) => faults.push(format!("seed {seed}: {args:?}: {fault}")),
            }
        }
    };
    let faults: Vec<String> = std::thread::scope(|scope| {
        let workers = [scope.spawn(worker), scope.spawn(worker)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{} of {CASES}:\n{}", faults.len(), faults.join("\n"));
    let done = done.into_inner();
    println!("{done} of {CASES} did what was asked");
    assert!(
        (CASES / 10..=CASES - CASES / 10).contains(&done),
        "{done} of {CASES} did what was asked"
    );
}

/// Writes the files that command lines name.
fn files(folder: &Path) {
    save(&folder.join("a.npy"), &Matrix::random(33, 64, 1), "<f4", false);
    save_batch(
        &folder.join("batch.npy"),
        &[Matrix::random(33, 64, 1), Matrix::random(33, 64, 2)],
        true,
    );
    fs::write(folder.join("desc.json"), DESCRIPTION).unwrap();
}

const DESCRIPTION: &str = r#"{"version":5,"arch":"sm80","a":"f32:row","b":"f32:row","c":"f32:row","accumulator":"f32","compute":"f32","swapped":false,"epilogue":"alpha * acc + beta * c","mma":{"simt":{"mainloop":"multistage","threadblock":"128x128x8","warp":"32x64x8","stages":4,"swizzle":1,"split_k":1,"decomposition":"splitk","align_a":1,"align_b":4,"align_c":4,"interleave":"vector","unroll":"full","smem_a":"auto","smem_b":"auto","blocks_per_sm":2,"spills":"refused"}}}"#;

#[test]
fn random_command_lines_end_with_a_documented_exit_code() {
    all(|draw, folder| {
        files(folder);
        let mut words = command(draw);
        if draw.once_in(3) {
            mutate_words(draw, &mut words);
        }
        // The doctor, the ladder, and the bare command run for seconds. An argument cannot contain
        // a zero byte.
        let long = |word: &String| word == "ladder" || word == "doctor";
        let slow = words.iter().all(|word| word.starts_with('-')) || words.iter().any(long);
        words.retain(|word| !word.contains('\0'));
        if slow { vec!["--version".to_owned()] } else { words }
    });
}

#[test]
fn random_files_are_read_or_refused() {
    all(|draw, folder| {
        let (name, mut bytes, args): (&str, Vec<u8>, &[&str]) = match draw.below(5) {
            0 => {
                let file = folder.join("x.npy");
                save(&file, &Matrix::random(4, 4, 3), draw.one(&["<f8", "<f4", "<f2", "|i1", "|u1", "<i4", ">f4"]), draw.once_in(2));
                ("x.npy", fs::read(file).unwrap(), &["gemm", "--on", "host", "--a-file", "x.npy", "--b-file", "x.npy", "--out", "d.npy"])
            }
            1 => {
                let file = folder.join("x.npy");
                save_batch(&file, &[Matrix::random(4, 4, 3), Matrix::random(4, 4, 4)], draw.once_in(2));
                ("x.npy", fs::read(file).unwrap(), &["gemm", "--on", "host", "--batch", "2", "--a-file", "x.npy", "--b-file", "x.npy", "--verify"])
            }
            2 => ("x.json", DESCRIPTION.into(), &["gemm", "--on", "host", "--m", "33", "--n", "7", "--k", "9", "--desc", "x.json", "--verify"]),
            3 => (
                "x.json",
                br#"[{"stages": [2, 3], "threadblock": ["128x128x8"]}, {"mainloop": "pipelined", "stages": 2}]"#.to_vec(),
                &["explore", "--dry-run", "--size", "64x64x64", "--space", "x.json"],
            ),
            _ => (
                "x.jsonl",
                b"{\"m\":64,\"n\":64,\"k\":64,\"a\":\"bf16:row\",\"b\":\"bf16:col\",\"c\":\"bf16:row\",\"knobs\":{\"stages\":\"4\"}}\n".to_vec(),
                &["bench", "--suite", "x.jsonl", "--out", "no/x.jsonl"],
            ),
        };
        for _ in 0..draw.below(4) {
            let at = draw.below(bytes.len());
            match draw.below(6) {
                0 => bytes.truncate(at),
                1 if !bytes.is_empty() => drop(bytes.remove(at)),
                2 => bytes.insert(at, draw.below(256) as u8),
                3 => bytes
                    .splice(
                        at..at,
                        draw.one(&[
                            "99999999999999999999",
                            "\"",
                            "{",
                            "[",
                            "-1",
                            "é",
                            "null",
                            "\u{0}",
                        ])
                        .bytes(),
                    )
                    .for_each(drop),
                _ if !bytes.is_empty() => bytes[at] = draw.below(256) as u8,
                _ => {}
            }
        }
        fs::write(folder.join(name), bytes).unwrap();
        args.iter().map(|arg| (*arg).to_owned()).collect()
    });
}
