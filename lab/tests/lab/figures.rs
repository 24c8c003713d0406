//! The figures of the pages are those of the lines that their commands wrote, so that no number in
//! prose can rot.

use falchion_lab::bench::record::read_lines;
use falchion_lab::ladder::{Climb, Machine, Measured, Program, rungs};
use serde_json::Value;

/// The cells of a table's row.
fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// The rows of the tables of a page, their headings included and the rules below them left out.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|-")).map(cells)
}

/// A page in one line, for sentences that go over its ends.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The rows of `book/src/f32_accurate.md`: times of the peer over ours, least and most, and errors in
/// units of 2^-24, ours and SGEMM's.
#[test]
fn the_figures_of_f32_on_tensor_cores_are_the_tables() {
    let lines =
        read_lines(include_str!("../../../docs/performance/f32_accurate.jsonl")).expect("lines");
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
            let line =
                of.iter().find(|line| line["data"] == data).expect("a row for each kind of data");
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

/// The page of each suite of products is what its lines make.
#[test]
fn the_suites_pages_are_those_of_their_lines() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance");
    let read = |suite: &str, extension: &str| {
        std::fs::read_to_string(folder.join(suite).with_extension(extension)).expect("text")
    };
    for suite in [
        "f32_accurate",
        "f32_simt",
        "hopper",
        "hopper_layouts",
        "hopper_odd",
        "pending",
        "simt",
        "f16_simt",
        "batched",
        "small",
        "simt_shapes",
        "deep",
        "decode",
    ] {
        let page = read(suite, "md");
        let command = page.split('`').nth(1).expect("the command that made the page");
        assert_eq!(
            falchion_lab::bench::page::page(
                suite,
                command,
                &read_lines(&read(suite, "jsonl")).expect("lines")
            ),
            page
        );
    }
}

/// What `src/family/extents.rs` says of its model of parts of K: how near their recorded times it
/// comes, but of blocks of 64 threads.
#[test]
fn the_model_of_parts_is_as_near_their_times_as_it_says() {
    use falchion::{arch::ArchKind, device::ProblemSize};
    let said = include_str!("../../../src/family/extents.rs").replace("\n//! ", " ");
    assert!(said.contains(
        "within 14 hundredths, at 3.25 us for a million products and 2.6 us for a launch"
    ));
    let lines = read_lines(include_str!("../../../docs/performance/explore/split_k_simt.jsonl"))
        .expect("lines");
    let mut compared = 0;
    for mut line in lines
        .into_iter()
        .filter(|line| line.problem.knobs.get("split_k").is_some_and(|parts| parts != "1"))
    {
        // The tile that ran, whatever a row of defaults has become.
        let ran = ["threadblock", "warp", "stages"].into_iter().zip(line.config.split('_'));
        line.problem.knobs.extend(
            ran.map(|(knob, words)| (knob.to_owned(), words.trim_start_matches('s').to_owned())),
        );
        line.problem.op = Some(line.op);
        let desc = falchion_lab::bench::kernels::description(&line.problem, ArchKind::Sm90)
            .expect("a kernel");
        if desc.threads() > 64 {
            let size = ProblemSize::of((line.problem.m, line.problem.n, line.problem.k));
            let (_, products) = desc.predicted(&size, &ArchKind::Sm90.machine());
            let time = products as f64 * 3.25e-6 + 2.6;
            assert!(
                (time / line.ours_us - 1.0).abs() < 0.14,
                "{time:.1} us for {:.1} us: {}",
                line.ours_us,
                line.problem
            );
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

/// What is said there of streams: how near the recorded times of tiles that a problem may stream it
/// comes.
#[test]
fn the_model_of_streams_is_as_near_their_times_as_it_says() {
    use falchion::{arch::ArchKind, device::ProblemSize};
    let said = include_str!("../../../src/family/extents.rs");
    let lines = read_lines(include_str!("../../../docs/performance/explore/streams_f32.jsonl"))
        .expect("lines");
    let (machine, mut compared) = (ArchKind::Sm90.machine(), 0);
    for line in &lines {
        let problem = &line.problem;
        // Whole vectors, of as many tiles as multiprocessors or more.
        let streams = line.config.starts_with("128x128x8_")
            && problem.knobs.get("decomposition").is_some_and(|how| how == "streamk");
        let tiles = problem.m.div_ceil(128) * problem.n.div_ceil(128);
        if !streams
            || problem.n % 4 > 0
            || problem.m * problem.n * problem.k < 1024 * 1024 * 1024
            || tiles < 132
        {
            continue;
        }
        let mut problem = problem.clone();
        problem.op = Some(line.op.clone());
        let desc =
            falchion_lab::bench::kernels::description(&problem, ArchKind::Sm90).expect("a kernel");
        let (_, products) =
            desc.predicted(&ProblemSize::of((problem.m, problem.n, problem.k)), &machine);
        let time = products as f64 * 3.25e-6 + 2.6;
        println!("{time:.1} us for {:.1} us: {problem}", line.ours_us);
        assert!(
            (time / line.ours_us - 1.0).abs() < 0.07,
            "{time:.1} us for {:.1} us: {problem}",
            line.ours_us
        );
        compared += 1;
    }
    assert!(said.contains(&format!("within 7 hundredths of {compared} times")), "{compared}");
}

/// The page of the transposes is what their lines make, and the prose of `docs/transpose.md` rounds
/// those lines.
#[test]
fn the_transposes_pages_are_those_of_their_lines() {
    use falchion_lab::bench::transpose::{TransposeLine, page::page};
    let said = include_str!("../../../docs/performance/transpose.md");
    let command = said.split('`').nth(1).expect("the command that made the page");
    let lines = include_str!("../../../docs/performance/transpose.jsonl").lines();
    let lines: Vec<TransposeLine> =
        lines.map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert_eq!(page("transpose", command, &lines), said);
    let lines: Vec<Value> = include_str!("../../../docs/performance/transpose.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let of_copy = |element: &str, odd: bool| {
        let is = |line: &&Value| {
            let gathered =
                line["config"].as_str().is_some_and(|config| config.contains("gathered"));
            line["type"] == element
                && line["family"] == "transpose"
                && line["alpha"].is_null()
                && gathered == odd
        };
        let ratios: Vec<f64> =
            lines.iter().filter(is).map(|line| number(&line["ratio_to_copy"])).collect();
        assert!(!ratios.is_empty());
        ratios.iter().fold((f64::INFINITY, 0.0f64), |(least, most), &ratio| {
            (least.min(ratio), most.max(ratio))
        })
    };
    let rounded = |(least, most): (f64, f64)| (format!("{least:.2}"), format!("{most:.2}"));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let prose = flat(include_str!("../../../docs/transpose.md"));
    // What the sweep taught: each figure is the line of one kernel.
    let sweep: Vec<TransposeLine> = include_str!("../../../docs/performance/transpose_sweep.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line"))
        .collect();
    let swept = |rows: usize, config: &str| {
        let of = |line: &&TransposeLine| {
            line.problem.rows == rows && line.problem.element == "f32" && line.config == config
        };
        sweep.iter().find(of).unwrap_or_else(|| panic!("{config}")).ratio_to_copy
    };
    for (figure, ratio) in [
        ("0.972 of a copy at 8192² in f32", swept(8192, "64x64_t256_a4x4x4_x3.2.2_o0_b4")),
        ("the second 0.948", swept(8192, "64x64_t256_a4x4x4_x3.2.2_o1_b4")),
        ("are as fast (0.968)", swept(8192, "64x64_t128_a4x2x4_x3.2.2_o0_b4")),
    ] {
        assert!(
            prose.contains(figure) && figure.contains(&format!("{ratio:.3}")),
            "{figure}: {ratio}"
        );
    }
    let anywhere = ["64x32_t256_a4x1x4_gathered_o0_b3_w", "64x32_t256_a4x1x4_gathered_o1_b2_w"]
        .map(|config| swept(8191, config));
    assert!(
        prose.contains(&format!(
            "(tiles of 64 x 32) it is {:.2} against {:.2}",
            anywhere[0], anywhere[1]
        )),
        "{anywhere:?}"
    );
    assert!(prose.contains("f32 and f16 reach 0.98 of the copy"));
    assert_eq!(rounded(of_copy("f32", false)), pair("0.98", "0.98"));
    assert!(of_copy("f16", false).0 >= 0.97);
    assert!(
        prose.contains(
            "f32 and f16 reach 0.83 to 0.86 of it, f64 0.89, and elements of one byte 0.75"
        )
    );
    assert_eq!(rounded(of_copy("f32", true)), pair("0.83", "0.86"));
    assert_eq!(
        [of_copy("f16", true), of_copy("f64", true), of_copy("i8", true)].map(|x| rounded(x).0),
        ["0.84", "0.89", "0.75"]
    );
}

/// The climb that `docs/performance/ladder.json` holds. Its rungs, counts and predictions are
/// today's; what was measured is the file's.
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
fn the_ladders_table_and_chart_are_the_measured_climb() {
    let climb = climb();
    let is_drawn = climb.svg() == include_str!("../../../docs/pictures/ladder.svg");
    assert!(is_drawn, "docs/pictures/ladder.svg is not the chart of docs/performance/ladder.json");
    let mut expected = vec![
        ["rung", "what it adds", "TFLOP/s", "of cuBLASLt", "predicted", "registers"]
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

/// What the page says of rungs that are below others, and of the estimate of registers.
#[test]
fn what_the_ladders_page_says_holds_of_the_climb() {
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
        "estimate of registers is {} above what the assembler needs",
        desc.base().registers() - measured.registers
    );
    assert!(flat(include_str!("../../../book/src/ladder.md")).contains(&said), "{said}");
}

/// What the page on the order of tiles says in prose is what its table, which `scripts/swizzle.sh`
/// wrote, comes to.
#[test]
fn what_the_swizzles_page_says_is_what_its_table_comes_to() {
    let page = include_str!("../../../docs/performance/swizzle.md");
    let rows: Vec<_> = rows(page).skip(1).collect();
    // In hundredths, as the table has them.
    let figure = |tile: &str, group_size: &str, column: usize| {
        let row = rows
            .iter()
            .find(|row| row[..2] == [tile, group_size])
            .unwrap_or_else(|| panic!("no row {tile} {group_size}"));
        row[column].replace('.', "").parse::<i32>().expect("two decimals")
    };
    let change = |tile: &str, column: usize| (figure(tile, "1", column), figure(tile, "8", column));
    let points = |tile: &str, digit: i32| {
        let (one, eight) = change(tile, 2);
        f64::from((eight - one + digit / 2) / digit * digit) / 100.0
    };
    let percent = |tile: &str| {
        let (one, eight) = change(tile, 5);
        (f64::from(100 * (one - eight)) / f64::from(one)).round()
    };
    let (default, smaller) = ("256x128x8", "128x128x8");
    let said = format!(
        "The hit rate rises by {} points from 1 to 8 columns with the default tile, and by {} with the smaller one; the time falls by \
         {} % and by {} %.",
        points(default, 10),
        points(smaller, 100),
        percent(default),
        percent(smaller),
    );
    assert!(flat(page).contains(&said), "{said}");
}

/// The wavefronts of the page on banks are those that were measured; its rows have the names of the
/// measured cases, two where a source's array is padded or not.
#[test]
fn the_wavefronts_of_the_banks_page_were_measured() {
    let table = include_str!("../../data/banks.txt");
    let (end, measured) = (table.lines().last().expect("a last line"), |name: &str| {
        let line = table.lines().find(|line| {
            line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with("  "))
        });
        line.and_then(|line| line.split_whitespace().last())
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
