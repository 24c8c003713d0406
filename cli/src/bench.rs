//! `falchion bench` measures a suite, and writes JSON lines and a page.

use crate::{
    args::BenchArgs,
    cuda,
    failure::Failure,
    output::{self, unwritable},
    print, text,
};
use falchion_lab::bench::{
    Line,
    date::utc_date,
    kernels::{Compiled, compile_all},
    measure::{PeerLibrary, Run},
    page, suite,
    transpose::{self, SuiteTranspose, suite::is_of_transposes},
};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Default folder of the results.
const FOLDER: &str = "docs/performance";

/// Runs the command.
pub fn run(args: &BenchArgs, json: bool) -> Result<(), Failure> {
    let text = text::read("the suite", &args.suite)?;
    let name =
        args.suite.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if is_of_transposes(&text) {
        return transposes(args, &name, &transpose::suite::parse(&name, &text)?, json);
    }
    let problems = suite::parse(&name, &text)?;
    if let Some(sm) = args.compile {
        cuda::cache_to_fill()?;
        let done = compile_all(&problems, sm)?;
        done.refused.iter().for_each(|(at, because)| {
            say(&format!("{at}/{}: refused: {because}", problems.len()), json)
        });
        return print_compiled(&done, sm, json);
    }
    let (device, run, out) = open_run(args, &name)?;
    let (mut lines, mut written): (Vec<Line>, Vec<String>) = Default::default();
    device.measure(&problems, &run, &mut |line| {
        say(&result_line(&line, lines.len() + 1, problems.len()), json);
        written.push(line.to_json()?);
        lines.push(line);
        write(&out, &written, &page::page(&name, &command(args), &lines))
    })?;
    print_suite(&name, &written, json);
    Ok(())
}

/// Measures a suite of transposes.
fn transposes(
    args: &BenchArgs,
    name: &str,
    problems: &[SuiteTranspose],
    json: bool,
) -> Result<(), Failure> {
    if let Some(sm) = args.compile {
        cuda::cache_to_fill()?;
        return print_compiled(&transpose::measure::compile_all(problems, sm)?, sm, json);
    }
    let (device, run, out) = open_run(args, name)?;
    let (mut lines, mut written): (Vec<Line<SuiteTranspose>>, Vec<String>) = Default::default();
    device.measure_transposes(problems, &run, &mut |line| {
        say(&transpose_result(&line, lines.len() + 1, problems.len()), json);
        written.push(line.to_json()?);
        lines.push(line);
        write(&out, &written, &transpose::page::page(name, &command(args), &lines))
    })?;
    print_suite(name, &written, json);
    Ok(())
}

/// Prints a line of text. With `--json`, one object at the end replaces all lines.
fn say(text: &str, json: bool) {
    if !json {
        print::line(text);
    }
}

/// Prints the results of the suite as one object, with `--json`.
fn print_suite(name: &str, lines: &[String], json: bool) {
    if json {
        print::line(&format!(r#"{{"suite":{},"lines":[{}]}}"#, json!(name), lines.join(",")));
    }
}

fn print_compiled(done: &Compiled, sm: u32, json: bool) -> Result<(), Failure> {
    let Compiled { kernels, refused, unwritten } = done;
    match json {
        true => {
            print::line(&json!({ "sm": sm, "kernels": kernels, "refused": refused }).to_string())
        }
        false => print::line(&format!("the cache has {kernels} kernels for sm_{sm}")),
    }
    cuda::cache_written(unwritten.as_deref())
}

/// Opens the device, and returns it with the settings of the run and the output file.
fn open_run(args: &BenchArgs, name: &str) -> Result<(cuda::Device, Run, PathBuf), Failure> {
    let device = cuda::open(0).map_err(|failure| match failure {
        Failure::Refused(because) => Failure::refused(format!("bench needs a GPU: {because}")),
        other => other,
    })?;
    let out =
        args.out.clone().unwrap_or_else(|| Path::new(FOLDER).join(name).with_extension("jsonl"));
    if out == Path::new("-") {
        return Err(Failure::refused(
            "--out cannot be -, because bench writes two files; --out FILE.jsonl also writes FILE.md",
        ));
    }
    let run = Run {
        suite: name.to_owned(),
        peer: peer_library(args),
        seconds: args.seconds.map(f64::from),
        kernel: None,
        date: utc_date(SystemTime::now()),
        commit: commit(),
    };
    Ok((device, run, out))
}

/// The cuBLASLt that the arguments select.
fn peer_library(args: &BenchArgs) -> PeerLibrary {
    match (args.peers.iter().any(|peer| peer == "cublaslt"), &args.peer_library) {
        (false, _) => PeerLibrary::None,
        (true, None) => PeerLibrary::Found,
        (true, Some(path)) => PeerLibrary::At(path.clone()),
    }
}

/// The command that makes the page, as printed on the page.
fn command(args: &BenchArgs) -> String {
    page::command(&args.suite.display().to_string(), &args.peers.join(","), args.seconds)
}

/// The commit of this build. `FALCHION_COMMIT` sets the commit at compile time.
pub fn commit() -> String {
    option_env!("FALCHION_COMMIT")
        .filter(|commit| !commit.is_empty())
        .unwrap_or("unknown")
        .to_owned()
}

/// The result of a problem as one line of text.
fn result_line(line: &Line, at: usize, of: usize) -> String {
    let problem = &line.problem;
    if let Some(refused) = &line.refused {
        return format!("{at}/{of}: {problem}: refused: {refused}");
    }
    let ratio = line.ratio.map_or("no peer".to_owned(), |ratio| format!("{ratio:.3}x the peer"));
    let tflops = line.ours_tflops.unwrap_or(0.0);
    format!("{at}/{of}: {problem}: {tflops:.1} TFLOP/s, {ratio}")
}

/// The result of a transpose as one line of text.
fn transpose_result(line: &Line<SuiteTranspose>, at: usize, of: usize) -> String {
    let SuiteTranspose { rows, columns, element, .. } = &line.problem;
    let rates = line.traffic.map_or(String::new(), |traffic| {
        format!(": {:.0} GB/s, {:.3}x a copy", traffic.ours_gbs, traffic.ratio_to_copy)
    });
    let peer = line.ratio.map_or(String::new(), |ratio| format!(", {ratio:.3}x geam"));
    format!("{at}/{of}: {rows} x {columns} {element} {}{rates}{peer}", line.config)
}

/// Writes the results so far, and the page.
fn write(out: &Path, json: &[String], page: &str) -> Result<(), Failure> {
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    }
    output::write(out, &(json.join("\n") + "\n"))?;
    output::write(&out.with_extension("md"), page)
}
