//! `falchion bench`: a suite in, lines and a page out.

use crate::{args::BenchArgs, cuda, failure::Failure, print, text};
use falchion_lab::bench::{
    Line,
    kernels::{Compiled, compile_all},
    measure::Run,
    page,
    record::utc_date,
    suite,
    transpose::{self, SuiteTranspose, TransposeLine, problem::is_of_transposes},
};
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Where lines go unless told otherwise.
const FOLDER: &str = "docs/performance";

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let text = text::read("the suite", &args.suite)?;
    let name = args.suite.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if is_of_transposes(&text) {
        return transposes(args, &name, &transpose::problem::parse(&name, &text)?);
    }
    let problems = suite::parse(&name, &text)?;
    if let Some(sm) = args.compile {
        let Compiled { kernels, refused } = compile_all(&problems, sm)?;
        refused.iter().for_each(|(at, because)| print::line(&format!("{at}/{}: refused: {because}", problems.len())));
        return compiled(kernels, sm);
    }
    let (device, run, out) = opened(args, &name)?;
    let mut lines: Vec<Line> = Vec::new();
    device.measure(&problems, &run, &mut |line| {
        print::line(&said(&line, lines.len() + 1, problems.len()));
        lines.push(line);
        let json = lines.iter().map(Line::to_json).collect::<Result<Vec<_>, _>>()?;
        write(&out, &json, &page::page(&name, &command(args), &lines))
    })
}

/// The same of a suite of transposes.
fn transposes(args: &BenchArgs, name: &str, problems: &[SuiteTranspose]) -> Result<(), Failure> {
    if let Some(sm) = args.compile {
        return compiled(transpose::measure::compile_all(problems, sm)?, sm);
    }
    let (device, run, out) = opened(args, name)?;
    let mut lines: Vec<TransposeLine> = Vec::new();
    device.measure_transposes(problems, &run, &mut |line| {
        print::line(&format!("{}/{}: {}", lines.len() + 1, problems.len(), line.said()));
        lines.push(line);
        let json = lines.iter().map(TransposeLine::to_json).collect::<Result<Vec<_>, _>>()?;
        write(&out, &json, &transpose::page::page(name, &command(args), &lines))
    })
}

fn compiled(count: usize, sm: u32) -> Result<(), Failure> {
    print::line(&format!("{count} kernels for sm_{sm} are in the cache"));
    Ok(())
}

/// The device, what is the same for all problems, and where lines go.
fn opened(args: &BenchArgs, name: &str) -> Result<(cuda::Device, Run, PathBuf), Failure> {
    let device = cuda::open(0).map_err(|failure| match failure {
        Failure::Refused(because) => Failure::refused(format!("bench measures on a GPU: {because}")),
        other => other,
    })?;
    let out = args.out.clone().unwrap_or_else(|| Path::new(FOLDER).join(name).with_extension("jsonl"));
    let run = Run {
        suite: name.to_owned(),
        with_peer: args.peers.iter().any(|peer| peer == "cublaslt"),
        kernel: None,
        date: utc_date(SystemTime::now()),
        commit: commit(),
    };
    Ok((device, run, out))
}

/// The command that makes the page, as the page names it.
fn command(args: &BenchArgs) -> String {
    format!("falchion bench --suite {} --peers {}", args.suite.display(), args.peers.join(","))
}

/// The commit that this program was built from, as whoever built it said: `FALCHION_COMMIT` when it was compiled.
pub fn commit() -> String {
    option_env!("FALCHION_COMMIT").filter(|commit| !commit.is_empty()).unwrap_or("unknown").to_owned()
}

/// One line of text.
fn said(line: &Line, at: usize, of: usize) -> String {
    let problem = &line.problem;
    if let Some(refused) = &line.refused {
        return format!("{at}/{of}: {problem}: refused: {refused}");
    }
    let ratio = line.ratio.map_or("no peer".to_owned(), |ratio| format!("{ratio:.3} of the peer"));
    format!("{at}/{of}: {problem}: {:.1} TFLOP/s, {ratio}", line.ours_tflops)
}

/// The lines so far, and the page made from them.
fn write(out: &Path, json: &[String], page: &str) -> Result<(), Failure> {
    let refuse =
        |path: &PathBuf, error: std::io::Error| Failure::refused(format!("{} cannot be written: {error}", path.display()));
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| refuse(&folder.to_owned(), error))?;
    }
    fs::write(out, json.join("\n") + "\n").map_err(|error| refuse(&out.to_owned(), error))?;
    let markdown = out.with_extension("md");
    fs::write(&markdown, page).map_err(|error| refuse(&markdown, error))
}
