//! Figures in the pages equal the lines that their commands wrote, so that no number in prose
//! becomes outdated.

use crate::trials::parse;
use falchion_lab::bench::{SuiteProblem, record::read_lines};
use falchion_lab::ladder::{Climb, Machine, Measured, Program, rungs};
use serde_json::Value;

/// Returns the cells of a table row.
fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Returns the rows of all tables of a page with their headings, without the separators.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|-")).map(cells)
}

/// Returns a page as one line, for sentences that span lines.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The rows of `book/src/f32_accurate.md`: minimum and maximum of the peer's time over ours, and
/// the errors of both in units of 2^-24.
#[test]
fn figures_of_emulated_f32_equal_the_tables() {
    let lines =
        read_lines::<SuiteProblem>(include_str!("../../../docs/performance/f32_accurate.jsonl"))
            .expect("lines");
    let lines: Vec<Value> =
        lines.iter().map(|line| serde_json::to_value(line).expect("JSON")).collect();
    let rows: Vec<Vec<&str>> = rows(include_str!("../../../book/src/f32_accurate.md"))
        .filter(|row| ["bf16x6", "bf16x3", "f16x3", "tf32x3"].contains(&row[0]) && row.len() == 6)
        .collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let size: u64 = row[1].trim_end_matches('³').parse().expect("an extent");
        let of: Vec<&Value> =
            lines.iter().filter(|line| line["emulation"] == row[0] && line["m"] == size).collect();
        let ratios: Vec<f64> = of.iter().filter_map(|line| line["ratio"].as_f64()).collect();
        let (least, most) = ratios
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(least, most), &x| (least.min(x), most.max(x)));
        assert_eq!(row[2], format!("{least:.2} to {most:.2}"), "{row:?}");
        for (data, said) in ["normal", "wide", "cancelling"].into_iter().zip(&row[3..]) {
            let line = of
                .iter()
                .find(|line| line["data"] == data)
                .expect("one row per distribution of data");
            let unit = f64::from(1 << 24);
            let errors = || {
                format!(
                    "{:.2}, {:.2}",
                    number(&line["error"]) * unit,
                    number(&line["sgemm_error"]) * unit
                )
            };
            assert_eq!(
                **said,
                if line["refused"].is_null() { errors() } else { "refused".to_owned() },
                "{row:?} {data}"
            );
        }
    }
}

/// Every file that the example `pages` writes is up to date.
#[test]
fn generated_pages_and_pictures_are_current() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
    };
    let files = falchion_lab::pages::files(read).expect("the lines of every suite");
    assert!(files.len() > 20, "{} files", files.len());
    let stale: Vec<_> = files
        .iter()
        .filter(|(path, text)| read(path).as_ref() != Ok(text))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(stale, [""; 0], "run `cargo run --release -p falchion-lab --example pages`");
}

/// A line of a committed page has the kernel that Falchion selects. If another kernel is selected,
/// the suite must be measured again.
#[test]
fn pages_have_the_selected_kernels() {
    use falchion::arch::ArchKind;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance");
    let (mut compared, mut other) = (0, Vec::new());
    for suite in falchion_lab::pages::SUITES {
        let text = std::fs::read_to_string(root.join(format!("{}.jsonl", suite.name)))
            .unwrap_or_else(|error| panic!("{}: {error}", suite.name));
        for line in read_lines::<SuiteProblem>(&text).expect("lines") {
            if line.refused.is_some() {
                continue;
            }
            let problem = SuiteProblem { op: Some(line.op), ..line.problem };
            let desc = falchion_lab::bench::kernels::description(&problem, ArchKind::Sm90)
                .unwrap_or_else(|error| panic!("{}: {error}", suite.name));
            if desc.to_string() != line.config {
                other.push(format!("{}: {} instead of {desc}", suite.name, line.config));
            }
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} lines");
    assert_eq!(other, [""; 0], "measure these suites again");
}

/// The documented error of the split-K model (`src/nest/cost_model.rs`) covers the recorded times
/// of blocks with more than 64 threads.
#[test]
fn the_split_k_model_has_the_documented_error() {
    use falchion::{arch::ArchKind, device::ProblemSize};
    let said = include_str!("../../../src/nest/cost_model.rs").replace("\n//! ", " ");
    assert!(
        said.contains("within 14%, at 3.25 us per million multiply-adds and 2.6 us per launch")
    );
    let mut compared = 0;
    let trials = parse(include_str!("../../data/trials.csv")).expect("trials");
    let of_log = trials.iter().filter(|trial| trial.log == "split_k_simt");
    for trial in of_log {
        let problem = &trial.problem;
        let desc =
            falchion_lab::bench::kernels::description(problem, ArchKind::Sm90).expect("a kernel");
        if desc.split_k() == 1 {
            continue;
        }
        if desc.threads() > 64 {
            let size = ProblemSize::new((problem.m, problem.n, problem.k));
            let (_, products) = desc.predicted(&size, &ArchKind::Sm90.machine());
            let time = products as f64 * 3.25e-6 + 2.6;
            assert!(
                (time / trial.us - 1.0).abs() < 0.14,
                "{time:.1} us predicted, {:.1} us measured: {problem}",
                trial.us
            );
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

/// The documented error of the stream-K model covers the recorded times of tiles for which a
/// problem may select stream-K.
#[test]
fn the_stream_k_model_has_the_documented_error() {
    use falchion::{arch::ArchKind, device::ProblemSize};
    let said = include_str!("../../../src/nest/cost_model.rs");
    let trials = parse(include_str!("../../data/trials.csv")).expect("trials");
    let (machine, mut compared) = (ArchKind::Sm90.machine(), 0);
    for trial in trials.iter().filter(|trial| trial.log == "streams_f32") {
        let problem = &trial.problem;
        let desc =
            falchion_lab::bench::kernels::description(problem, ArchKind::Sm90).expect("a kernel");
        let size = (problem.m, problem.n, problem.k);
        // Aligned problems with at least one tile per SM.
        let tiles = problem.m.div_ceil(128) * problem.n.div_ceil(128);
        let is_large = problem.m * problem.n * problem.k >= 1024 * 1024 * 1024 && tiles >= 132;
        let tile = desc.threadblock();
        let streams = desc.streams_k() && [tile.m, tile.n, tile.k] == [128, 128, 8];
        if !streams || problem.n % 4 > 0 || !is_large {
            continue;
        }
        let (_, products) = desc.predicted(&ProblemSize::new(size), &machine);
        let time = products as f64 * 3.25e-6 + 2.6;
        println!("{time:.1} us predicted, {:.1} us measured: {problem}", trial.us);
        assert!(
            (time / trial.us - 1.0).abs() < 0.07,
            "{time:.1} us, {:.1} us: {problem}",
            trial.us
        );
        compared += 1;
    }
    assert!(said.contains(&format!("within 7% of {compared} measured times")), "{compared}");
}

/// Returns the climb in `docs/performance/ladder.json`. Checks that rungs, counts, and predictions
/// are current. The measured values come from the file.
fn climb() -> Climb {
    let lines: Value =
        serde_json::from_str(include_str!("../../../docs/performance/ladder.json")).expect("JSON");
    let size = lines["size"].as_u64().expect("a size") as usize;
    let mut climb = Climb::predicted(size, &Machine::H200, lines["on"].as_str().expect("a device"))
        .expect("a climb");
    climb.peer_tflops = lines["peer_tflops"].as_f64();
    assert_eq!(lines["rungs"].as_array().expect("rungs").len(), climb.rungs.len());
    for (rung, line) in climb.rungs.iter_mut().zip(lines["rungs"].as_array().expect("rungs")) {
        let now = serde_json::to_value(&*rung).expect("JSON");
        for field in ["name", "adds", "wrong_turn_of", "counters"] {
            assert_eq!(now[field], line[field], "{field} of {}", rung.name);
        }
        let (predicted, measured) = (number(&line["predicted_tflops"]), &line["measured"]);
        assert!(
            (predicted / rung.predicted_tflops - 1.0).abs() < 1e-9,
            "{} is predicted at {predicted}",
            rung.name
        );
        let whole = |field: &str| measured[field].as_u64().expect("a whole number") as u32;
        rung.measured = Some(Measured {
            tflops: number(&measured["tflops"]),
            of_peer: measured["of_peer"].as_f64(),
            error_over_bound: measured["error_over_bound"].as_f64(),
            registers: whole("registers"),
            spilled_bytes: whole("spilled_bytes"),
        });
    }
    climb
}

#[test]
fn ladder_table_and_chart_equal_the_measured_climb() {
    let climb = climb();
    let is_drawn = climb.svg() == include_str!("../../../docs/pictures/ladder.svg");
    assert!(is_drawn, "docs/pictures/ladder.svg is not the chart of docs/performance/ladder.json");
    let mut expected = vec![
        ["rung", "what it adds", "TFLOP/s", "relative to cuBLASLt", "predicted", "registers"]
            .map(str::to_owned),
    ];
    for rung in &climb.rungs {
        let measured = rung.measured.expect("every rung was measured");
        let spills = match measured.spilled_bytes {
            0 => String::new(),
            bytes => format!(" (spills {bytes} bytes)"),
        };
        expected.push([
            format!("{}{}", if rung.wrong_turn_of.is_some() { "↳ " } else { "" }, rung.name),
            rung.adds.to_owned(),
            format!("{:.1}", measured.tflops),
            format!("{:.2}", measured.of_peer.expect("a peer")),
            format!("{:.1}", rung.predicted_tflops),
            format!("{}{spills}", measured.registers),
        ]);
    }
    let peer = climb.peer_tflops.expect("a peer");
    expected.push(["cuBLASLt", "", &format!("{peer:.1}"), "1.00", "", ""].map(str::to_owned));
    assert_eq!(rows(include_str!("../../../book/src/ladder.md")).collect::<Vec<_>>(), expected);
}

/// The page's statements about rungs that are slower than others, and about the register estimate.
#[test]
fn the_ladder_page_agrees_with_the_climb() {
    let climb = climb();
    let of = |name: &str| {
        climb
            .rungs
            .iter()
            .find(|rung| rung.name == name)
            .unwrap_or_else(|| panic!("no rung {name}"))
    };
    let tflops = |name: &str| of(name).tflops();
    assert!(
        tflops("V5 double buffer") < tflops("V4 4x4, vectors")
            && tflops("V4 4x4, vectors") < tflops("V6 larger tile")
    );
    assert!(
        tflops("64x64x64") < tflops("V6 larger tile")
            && tflops("V4 4x4, vectors") < tflops("64x64x64")
    );
    let name = "128x128x8";
    let rung =
        rungs().expect("the ladder").into_iter().find(|rung| rung.name == name).expect("the rung");
    let (Program::Gemm(desc), Some(measured)) = (rung.program, of(name).measured) else {
        panic!("{name} is no configuration")
    };
    let said = format!(
        "estimate of registers exceeds the assembler's count by {} registers",
        desc.base().registers() - measured.registers
    );
    assert!(flat(include_str!("../../../book/src/ladder.md")).contains(&said), "{said}");
}

/// The wavefronts on the page about banks were measured. Its rows have the names of the measured
/// cases, two of them if a source's array occurs with and without padding.
#[test]
fn the_wavefronts_of_the_banks_page_were_measured() {
    let table = include_str!("../../data/banks.txt");
    let (end, measured) = (table.lines().last().expect("a last line"), |name: &str| {
        let line = table.lines().find(|line| line.ends_with(&format!(" {name}")));
        line.and_then(|line| line.split_whitespace().nth(3))
            .unwrap_or_else(|| panic!("{name} was not measured"))
            .to_owned()
    });
    let page = include_str!("../../../book/src/banks.md");
    let accesses = end.split(' ').next().expect("a number");
    assert!(
        flat(page).contains(&format!("on one NVIDIA H200: {accesses} accesses, one launch each")),
        "{accesses}"
    );
    assert_eq!(
        table.lines().count().to_string(),
        (accesses.parse::<usize>().expect("a number") + 2).to_string()
    );
    let rows: Vec<_> = rows(page)
        .filter(|row| ["CuTe", "SGEMM", "tuning"].iter().any(|source| row[0].starts_with(source)))
        .collect();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let access = row[0].replace('`', "");
        let said = match access.strip_prefix("SGEMM ladder, unpadded and padded: ") {
            Some(access) => ["unpadded", "padded"]
                .map(|rows| measured(&format!("SGEMM ladder, {rows}: {access}")))
                .join(", "),
            None => measured(&access),
        };
        assert_eq!(row[1], said, "{access}");
    }
}
