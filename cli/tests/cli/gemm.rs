//! `falchion gemm` without files: sizes, types, layouts, knobs, explanations.

use falchion::prelude::*;

use crate::common::{Matrix, done, falchion, folder, noted, object, refused, save};

pub fn verified(args: &[&str]) -> serde_json::Value {
    let all = [&["gemm", "--on", "host", "--verify", "--json"], args].concat();
    let object = object(&all);
    assert_eq!(
        (object["verified"].as_bool(), object["on"].as_str()),
        (Some(true), Some("host")),
        "{args:?}"
    );
    object
}

#[test]
fn sizes_are_verified() {
    for [m, n, k] in [
        ["1", "1", "1"],
        ["128", "128", "16"],
        ["127", "129", "33"],
        ["257", "3", "1"],
        ["5", "311", "77"],
        ["0", "7", "5"],
        ["7", "0", "5"],
        ["7", "5", "0"],
        ["0", "0", "0"],
    ] {
        verified(&["--m", m, "--n", n, "--k", k]);
        verified(&[
            "--m", m, "--n", n, "--k", k, "--alpha", "1.5", "--beta", "-0.5", "--seed", "7",
        ]);
    }
}

/// Stream-K is verified, explained for a GPU, and refused together with split-K.
#[test]
fn stream_k_is_verified_and_explained() {
    let sm90 = [
        "--a", "bf16:row", "--b", "bf16:col", "--c", "f32:row", "--op", "tensorop", "--arch",
        "sm90",
    ];
    let streamed = [&sm90[..], &["--decomposition", "streamk"]].concat();
    verified(&[&["--m", "300", "--n", "200", "--k", "640"], &streamed[..]].concat());
    let explained = [
        &[
            "gemm",
            "--explain",
            "--m",
            "2000",
            "--n",
            "3000",
            "--k",
            "640",
            "--for",
            "h200",
            "--threadblock",
            "128x128x64",
        ],
        &streamed[..],
    ];
    let said = done(&explained.concat());
    assert!(
        said.contains(" stream-K    252 of 384 tiles, with 19.1 k-tiles for each of 132 clusters"),
        "{said}"
    );
    for (parts, says) in [
        ("streamk", "--split-k 4 is not 1 (streamk)"),
        ("dataparallel", "--split-k 4 is not 1 (dataparallel)"),
    ] {
        let given = [
            &[
                "gemm",
                "--m",
                "64",
                "--n",
                "64",
                "--k",
                "640",
                "--split-k",
                "4",
                "--decomposition",
                parts,
            ],
            &sm90[..],
        ];
        let sentence = refused(&given.concat());
        assert!(sentence.contains(says), "{sentence}");
    }
}

/// Stream-K in SIMT and `mma.sync` kernels, for one GEMM and for batches.
#[test]
fn stream_k_of_simt_and_mma_sync_is_verified() {
    let sizes = ["--m", "300", "--n", "200", "--k", "90", "--decomposition", "streamk"];
    let halves = [
        "--a", "f16:row", "--b", "f16:col", "--c", "f32:row", "--op", "tensorop", "--arch", "sm80",
    ];
    for more in [
        &["--op", "simt"][..],
        &["--op", "simt", "--mainloop", "pipelined", "--batch", "2"],
        &halves[..],
    ] {
        verified(&[&sizes[..], more].concat());
    }
    let explained = [
        "gemm",
        "--explain",
        "--m",
        "3000",
        "--n",
        "3000",
        "--k",
        "3000",
        "--for",
        "h200",
        "--arch",
        "sm90",
    ];
    let simt = [
        "--op",
        "simt",
        "--decomposition",
        "streamk",
        "--threadblock",
        "128x128x8",
        "--warp",
        "64x64x8",
    ];
    let said = done(&[&explained[..], &simt].concat());
    assert!(
        said.contains(
            " stream-K    312 of 576 tiles, with 443.2 k-tiles for each of 264 thread blocks"
        ),
        "{said}"
    );
    let sentence =
        refused(&["gemm", "--op", "simt", "--arch", "sm80", "--decomposition", "splitkcluster"]);
    assert!(
        sentence.contains(
            "--decomposition splitkcluster is not supported by the multistage main loop; try splitk"
        ),
        "{sentence}"
    );
}

#[test]
fn types_and_layouts_are_verified() {
    let sizes = ["--m", "67", "--n", "131", "--k", "29", "--alpha", "2", "--beta", "-1"];
    for (a, c) in [
        ("f32", "f32"),
        ("f64", "f64"),
        ("f16", "f16"),
        ("f16", "f32"),
        ("bf16", "bf16"),
        ("bf16", "f32"),
        ("i8", "i32"),
        ("i8", "i8"),
        ("u8", "u8"),
        ("i32", "i32"),
    ] {
        for layouts in 0..8 {
            let order = |bit: usize| if layouts >> bit & 1 == 1 { "row" } else { "col" };
            let (a, b, c) = (
                format!("{a}:{}", order(0)),
                format!("{a}:{}", order(1)),
                format!("{c}:{}", order(2)),
            );
            verified(&[&sizes[..], &["--a", &a, "--b", &b, "--c", &c]].concat());
        }
    }
    verified(&[&sizes[..], &["--a", "f16:row", "--acc", "f16"]].concat());
    verified(&[&sizes[..6], &["--a", "i8:row", "--alpha", "0.5"]].concat());
}

/// Emulated f32 on tensor cores, in both modes and all layouts, against its error bound. The
/// default emulation may be explicit.
#[test]
fn emulated_f32_is_verified() {
    let sizes = [
        "--m", "67", "--n", "131", "--k", "129", "--alpha", "2", "--beta", "-1", "--op", "tensorop",
    ];
    for emulation in ["bf16x6", "bf16x3", "f16x3"] {
        for layouts in 0..8 {
            let order = |bit: usize| if layouts >> bit & 1 == 1 { "row" } else { "col" };
            let [a, b, c] = [0, 1, 2].map(|bit| format!("f32:{}", order(bit)));
            verified(
                &[&sizes[..], &["--a", &a, "--b", &b, "--c", &c, "--emulation", emulation]]
                    .concat(),
            );
        }
    }
    let explained = object(&[
        "gemm",
        "--explain",
        "--a",
        "f32:row",
        "--op",
        "tensorop",
        "--on",
        "host",
        "--json",
    ])
    .to_string();
    assert!(explained.contains("bf16x6"), "{explained}");
}

#[test]
fn knobs_and_leading_dimensions_are_verified() {
    let sizes = ["--m", "150", "--n", "70", "--k", "50"];
    for more in [
        &["--lda", "64", "--ldb", "80", "--ldc", "200"][..],
        &[
            "--threadblock",
            "64x32x16",
            "--warp",
            "32x32x8",
            "--mainloop",
            "pipelined",
            "--stages",
            "2",
        ],
        &[
            "--threadblock",
            "64x64x8",
            "--warp",
            "32x32x8",
            "--stages",
            "3",
            "--align-a",
            "1",
            "--align-b",
            "1",
            "--align-c",
            "1",
        ],
        &["--swizzle", "horizontal"],
        &["--swizzle", "4", "--blocks-per-sm", "1"],
        &["--smem-a", "k+4", "--smem-b", "mn^3,2,0"],
        &["--arch", "sm70"],
        &["--cluster", "2x1"],
        &["--beta", "-0.5"],
        &["--epilogue", "relu(alpha*acc + beta * c)", "--beta", "2"],
        &["--epilogue", "s2 * acc + s7 * c", "--scalar", "2=0.1", "--scalar", "s7=-3"],
        &["--epilogue", "clamp(alpha*acc, -1, 1)"],
        &["--epilogue", "relu(alpha*acc + beta * c + bias_n)", "--c", "f32:row"],
        &["--epilogue", "multiply(acc, bias_m) + bias_n", "--checked", "--seed", "5"],
        &["--checked"],
        &["--checked", "--c", "f64:row", "--a", "f64:col"],
    ] {
        verified(&[&sizes[..], more].concat());
    }
}

#[test]
fn scalars_accept_any_number() {
    for beta in ["-0.5", "-.5", "-1e-3", "+2", "1e300", "-0"] {
        verified(&["--m", "9", "--n", "8", "--k", "7", "--beta", beta]);
        verified(&["--m", "9", "--n", "8", "--k", "7", &format!("--beta={beta}")]);
    }
    // NaN and infinity are accepted.
    done(&["gemm", "--m", "3", "--n", "3", "--k", "3", "--beta", "nan", "--alpha", "-inf"]);
}

#[test]
fn on_auto_computes_a_verified_gemm() {
    let object = object(&["gemm", "--m", "64", "--n", "64", "--k", "64", "--verify", "--json"]);
    assert_eq!(object["verified"], true);
    assert_eq!(
        (object["m"].as_u64(), object["n"].as_u64(), object["k"].as_u64()),
        (Some(64), Some(64), Some(64))
    );
    let text = done(&["gemm", "--m", "64", "--n", "64", "--k", "64", "--verify"]);
    assert!(text.starts_with("64 x 64 x 64, f32:row times f32:row into f32:row: "), "{text}");
    assert!(text.contains("\nverified: "), "{text}");
}

/// Warp-specialized kernels, fast and checked: partial tiles, and every layout of their types.
#[test]
fn warp_specialized_kernels_are_verified_on_the_host() {
    let sizes = [
        "--op", "tensorop", "--m", "67", "--n", "131", "--k", "77", "--alpha", "2", "--beta", "-1",
    ];
    for more in [&[][..], &["--checked"]] {
        for (a, c, acc) in [
            ("f16", "f16", "f32"),
            ("f16", "f16", "f16"),
            ("bf16", "f32", "f32"),
            ("bf16", "bf16", "f32"),
        ] {
            for layouts in 0..8 {
                let order = |bit: usize| if layouts >> bit & 1 == 1 { "row" } else { "col" };
                let (a, b, c) = (
                    format!("{a}:{}", order(0)),
                    format!("{a}:{}", order(1)),
                    format!("{c}:{}", order(2)),
                );
                verified(
                    &[&sizes[..], &["--a", &a, "--b", &b, "--c", &c, "--acc", acc], more].concat(),
                );
            }
        }
        for a in ["i8", "u8"] {
            let (a, b) = (format!("{a}:row"), format!("{a}:col"));
            for c in ["i32:row", "i32:col"] {
                verified(&[&sizes[..], &["--a", &a, "--b", &b, "--c", c], more].concat());
            }
        }
        verified(
            &[&sizes[..6], &["--k", "0", "--a", "bf16:row", "--b", "bf16:col"], more].concat(),
        );
    }
}

/// Flags for a tile of two warpgroups.
const TILES: [&str; 6] =
    ["--threadblock", "128x256x64", "--warp", "64x256x64", "--instruction", "64x256x16"];

#[test]
fn explain_lists_warpgroups_of_warp_specialized_kernels() {
    let flags = [
        "gemm",
        "--on",
        "host",
        "--explain",
        "--op",
        "tensorop",
        "--a",
        "bf16:row",
        "--b",
        "bf16:col",
        "--c",
        "bf16:row",
    ];
    let flags = [&flags[..], &["--schedule", "cooperative", "--stages", "4"], &TILES].concat();
    let text = done(&[&flags[..], &["--cluster", "2x1"]].concat());
    for words in [
        "a producer and 2 x 1 consumers: 384 threads",
        "2 x 1 blocks",
        "64 x 256: 1 x 1 instructions of 64 x 256 x 16",
        "the producer keeps 24 and consumers take 240",
        "4 stages of 49152, 2 staging buffers of 8192 for each of 2 consumers",
        "80 of barriers",
        "each copied to all 2 blocks of the cluster",
        "stored by TMA, in 4 subtiles of 64 x 64 a consumer",
        "AwaitFull",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(!text.contains("thread tile"), "{text}");
    let object = object(&[&flags[..], &["--json"]].concat());
    let facts = &object["explanation"]["facts"];
    assert_eq!((facts["threads"].as_u64(), facts["stages"].as_u64()), (Some(384), Some(4)));
    assert_eq!(facts["operands"][1]["bytes"].as_u64(), Some(32768));
    assert!(facts["schedule"].as_array().is_some_and(|lines| lines.len() > 5), "{facts}");
}

/// The parts of shared memory add up to the total.
#[test]
fn explained_shared_memory_adds_up() {
    let halves = "--arch sm90 --op tensorop --a bf16:row --b bf16:col --c bf16:row";
    for flags in [
        format!("{halves} --schedule pingpong"),
        format!("{halves} --schedule cooperative"),
        format!("{halves} --decomposition splitkcluster --split-k 4"),
        "--arch sm90 --op simt --mainloop warpspecialized".to_owned(),
        "--arch sm80 --op simt --threadblock 32x32x32".to_owned(),
        "--arch sm80 --op simt --a f64:row".to_owned(),
        "--arch sm80 --op tensorop --a f16:row --b f16:col --c f16:row".to_owned(),
    ] {
        let words: Vec<&str> = flags.split_whitespace().collect();
        let text = done(&[&["gemm", "--explain"][..], &words].concat());
        let line = text.lines().find(|line| line.contains(" bytes per CTA: ")).unwrap();
        let (total, parts) = line.split_once(" bytes per CTA: ").unwrap();
        let total: u64 = total.split_whitespace().rev().nth(2).unwrap().parse().unwrap();
        // The part after the semicolon overlaps the other parts.
        let parts = parts.split(';').next().unwrap().split(", ").map(|part| {
            let numbers = part.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
            numbers.product::<u64>()
        });
        assert_eq!(parts.sum::<u64>(), total, "{line}");
    }
}

#[test]
fn explain_names_the_origin_of_each_knob() {
    let text = done(&[
        "gemm",
        "--on",
        "host",
        "--explain",
        "--c",
        "f32:row",
        "--stages",
        "3",
        "--smem-b",
        "mn+8",
    ]);
    let line = |flag: &str| {
        text.lines().find(|line| line.trim_start().starts_with(flag)).unwrap().to_owned()
    };
    let words =
        |flag: &str| line(flag).split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    assert_eq!(words("--stages"), "--stages 3 from a flag");
    assert_eq!(words("--smem-b"), "--smem-b mn+8 from a flag");
    assert_eq!(words("--c"), "--c f32:row from a flag");
    assert_eq!(words("--arch"), "--arch sm90 from the default");
    assert!(words("--threadblock").ends_with(" from the default"));
    let default = Gemm::<f32>::new().desc().pins().words();
    let own = falchion::nest::Pins::TABLE.iter().zip(default).filter(|(_, value)| value.is_some());
    let knobs: Vec<_> = own.map(|(row, _)| row.0).collect();
    for (name, flag, _) in falchion::nest::Pins::TABLE {
        let own = knobs.contains(name);
        assert_eq!(text.lines().any(|line| line.trim_start().starts_with(flag)), own, "{flag}");
    }
    for fact in [
        "warps",
        "thread tile",
        "registers",
        "shared memory",
        "A ",
        "B ",
        "D ",
        "epilogue",
        "prologue:",
        "body:",
    ] {
        line(fact);
    }
    assert!(text.contains("Barrier"), "{text}");
    let size = ["--m", "5", "--n", "6", "--k", "7", "--c", "f32:col"];
    let text = done(&[&["gemm", "--on", "host", "--explain"][..], &size].concat());
    assert!(text.contains("swapped operands") && text.contains("5 x 6 x 7 on "), "{text}");
}

#[test]
fn descriptions_round_trip_through_json() {
    let folder = crate::common::folder();
    let flags = [
        "gemm",
        "--on",
        "host",
        "--json",
        "--explain",
        "--a",
        "f32:row",
        "--stages",
        "3",
        "--smem-a",
        "k+4",
        "--align-a",
        "1",
    ];
    for c in ["f32:row", "f32:col"] {
        let first = object(&[&flags[..], &["--c", c, "--epilogue", "relu(alpha*acc)"]].concat());
        let text = first["description"].to_string();
        let (path, name) = crate::common::path(&folder, "kernel.json");
        std::fs::write(path, &text).unwrap();
        for door in [&text, &name] {
            let second = object(&["gemm", "--on", "host", "--json", "--explain", "--desc", door]);
            assert_eq!(second["description"], first["description"]);
            assert_eq!(second["explanation"]["facts"], first["explanation"]["facts"]);
            let choices = second["explanation"]["choices"].as_array().unwrap();
            assert!(choices.iter().all(|choice| choice["from"] == "description"), "{choices:?}");
            let values = |object: &serde_json::Value| {
                let choices = object["explanation"]["choices"].as_array().unwrap().clone();
                choices
                    .into_iter()
                    .map(|choice| (choice["flag"].clone(), choice["value"].clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(values(&second), values(&first));
        }
        verified(&["--desc", &name, "--m", "70", "--n", "40", "--k", "30"]);
        let changed = object(&[
            "gemm",
            "--on",
            "host",
            "--json",
            "--explain",
            "--desc",
            &name,
            "--stages",
            "2",
        ]);
        assert_eq!(changed["description"]["mma"]["simt"]["stages"], 2);
    }
}

/// The predicted time names its terms: math or memory, whichever is longer, the prologue and
/// epilogue of tiles, split-K slices, and copies of operands.
#[test]
fn explain_names_terms_of_the_predicted_time() {
    let time = |[m, n, k]: [&str; 3]| {
        let types =
            ["--a", "bf16:row", "--b", "bf16:col", "--op", "tensorop", "--for", "h200", "--json"];
        let said =
            object(&[&["gemm", "--explain", "--m", m, "--n", n, "--k", k][..], &types].concat());
        said["explanation"]["problem"]["time"].as_str().expect("a time").to_owned()
    };
    for (extents, says, says_not) in [
        (
            ["4096"; 3],
            &["predicted: math 9", "(memory would take"][..],
            &["split-K reduction", "passes"][..],
        ),
        (["1", "4096", "4096"], &["predicted: memory", "(math would take"], &["passes"]),
        (["1024", "256", "16384"], &["split-K reduction"], &["passes"]),
        (["1002"; 3], &["passes"], &["split-K reduction"]),
    ] {
        let said = time(extents);
        assert!(
            says.iter().all(|what| said.contains(what))
                && !says_not.iter().any(|what| said.contains(what)),
            "{extents:?}: {said}"
        );
    }
}

/// An explanation has no time if nothing is computed or the cost model has no time for the kernel.
#[test]
fn explain_has_no_time_without_a_prediction() {
    let f32 = ["gemm", "--explain", "--for", "h200", "--a", "f32:row", "--json"];
    for args in [
        &["--m", "0", "--n", "64", "--k", "64"][..],
        &["--m", "64", "--n", "64", "--k", "0"],
        &["--m", "64", "--n", "64", "--k", "64", "--decomposition", "streamk"],
        &["--m", "512", "--n", "512", "--k", "512", "--op", "tensorop"],
    ] {
        let said = object(&[&f32[..], args].concat());
        assert!(said["explanation"]["problem"]["operands"].is_string(), "{args:?}: {said}");
        assert!(said["explanation"]["problem"]["time"].is_null(), "{args:?}: {said}");
    }
}

/// `--explain --for` computes nothing at any size. Other flags can request the computation.
#[test]
fn explain_computes_only_on_request() {
    let large = ["gemm", "--explain", "--m", "1000000", "--n", "1000000", "--k", "1000000"];
    let said = done(&[&large[..], &["--for", "a100", "--a", "f32:row", "--c", "f32:row"]].concat());
    let line = |what: &str| {
        said.lines()
            .find(|line| line.trim_start().starts_with(what))
            .unwrap_or_else(|| panic!("{said}"))
            .to_owned()
    };
    assert!(said.contains("1000000 x 1000000 x 1000000 on a100:"), "{said}");
    assert!(line("--arch").contains("sm80"), "{said}");
    assert!(line("waves").contains("108 multiprocessors"), "{said}");
    assert!(!said.contains("GFLOP/s"), "{said}");
    let hopper = object(
        &[&large[..], &["--for", "h200", "--a", "bf16:row", "--op", "tensorop", "--json"]].concat(),
    );
    assert_eq!(hopper["explanation"]["for"], "h200");
    assert!(
        hopper["explanation"]["problem"]["waves"]
            .as_str()
            .unwrap()
            .contains("132 multiprocessors with 1 thread block each")
    );
    let small = ["gemm", "--on", "host", "--explain", "--m", "40", "--n", "30", "--k", "20"];
    assert!(!done(&small).contains("on the host"));
    for run in ["--run", "--verify", "--checked"] {
        assert!(done(&[&small[..], &[run]].concat()).contains("40 x 30 x 20, "), "{run}");
    }
    for (args, says) in [
        (&["gemm", "--for", "h200"][..], "--explain"),
        (&["gemm", "--run"], "--explain"),
        (&["gemm", "--explain", "--for", "h300"], "possible values: h200, h100"),
    ] {
        let sentence = refused(args);
        assert!(sentence.contains(says), "{sentence}");
    }
}

/// The report states the number of verified elements: whole rows of a large GEMM, or all with
/// `--verify all`.
#[test]
fn report_has_the_number_of_verified_elements() {
    let sizes = ["gemm", "--on", "host", "--m", "200", "--n", "100", "--k", "401000", "--verify"];
    let some = done(&sizes);
    assert!(
        some.contains(" of 20000 elements, ") && some.contains(" whole rows of 200, "),
        "{some}"
    );
    assert!(some.contains("--verify all checks all elements"), "{some}");
    let all = done(&[&sizes[..], &["all"]].concat());
    assert!(all.contains("verified: 20000 elements, "), "{all}");
}

/// Scalars of the epilogue are required, and other scalars are refused.
#[test]
fn scalars_must_match_the_epilogue() {
    let product = ["gemm", "--m", "4", "--n", "4", "--k", "4"];
    for (more, says) in [
        (
            &["--epilogue", "s2 * acc"][..],
            "the epilogue s2 * acc reads s2; set it with --scalar 2=X",
        ),
        (
            &["--c", "f32:col", "--epilogue", "s2 * acc + bias_m"],
            "the epilogue s2 * acc + bias_m reads s2; set it with --scalar 2=X",
        ),
        (&["--scalar", "2=1"], "the epilogue alpha * acc + beta * c does not read --scalar 2=X"),
        (&["--epilogue", "acc", "--alpha", "2"], "the epilogue acc does not read --alpha"),
        (
            &["--epilogue", "s2 * acc", "--scalar", "2=one"],
            "--scalar 2=one: the value is not a number",
        ),
        (&["--epilogue", "s2 * acc", "--scalar", "8=1"], "--scalar 8=1: slots are 2 to 7"),
        (&["--epilogue", "s2 * acc", "--scalar", "2"], "--scalar 2: the value must be SLOT=X"),
        (
            &["--epilogue", "s2 * acc", "--scalar", "2=1", "--scalar", "2=1"],
            "the flags set the slot twice",
        ),
        (
            &["--a", "i8:row", "--c", "i32:row", "--alpha", "nan"],
            "--alpha is NaN, but D holds integers; set a finite number",
        ),
        (
            &["--a", "i8:row", "--c", "i32:row", "--beta", "-inf"],
            "--beta is -inf, but D holds integers",
        ),
    ] {
        let sentence = refused(&[&product[..], more].concat());
        assert!(sentence.contains(says), "{sentence}");
    }
}

/// Without --a and --b, the files set the types of A and B. A file of C that is not read is
/// refused.
#[test]
fn files_set_element_types() {
    let folder = folder();
    let save = |name: &str, descr: &str| {
        save(&folder.path().join(name), &Matrix::random(4, 4, 1), descr, false)
    };
    let (double, single, byte) =
        (save("double.npy", "<f8"), save("single.npy", "<f4"), save("byte.npy", "|i1"));
    for (a, b, types) in [
        (&double, &double, ["f64:row", "f64:row", "f64:row"]),
        (&double, &single, ["f64:row", "f64:row", "f64:row"]),
        (&single, &single, ["f32:row", "f32:row", "f32:row"]),
        (&byte, &byte, ["i8:row", "i8:row", "i32:row"]),
    ] {
        let said =
            done(&["gemm", "--on", "host", "--a-file", a, "--b-file", b, "--explain", "--run"]);
        for (flag, kind) in ["--a ", "--b ", "--c "].into_iter().zip(types) {
            let line = said.lines().find(|line| line.trim_start().starts_with(flag)).unwrap();
            assert!(
                line.contains(kind) && (flag == "--c " || line.contains("from a file")),
                "{said}"
            );
        }
    }
    let rounded =
        ["gemm", "--on", "host", "--a-file", &double, "--b-file", &double, "--a", "f16:row"];
    noted(&rounded, "of 16 numbers to f16");
    let sentence =
        refused(&["gemm", "--a-file", &single, "--b-file", &single, "--c-file", &single]);
    assert!(sentence.contains("does not read the C of --c-file; set --beta 1"), "{sentence}");
}

/// `--op best` is the default: on a GPU, tensor cores for the types that they multiply as they are.
#[test]
fn op_best_selects_tensor_cores_on_a_gpu() {
    let op = |flags: &str| {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let said = object(&[&["gemm", "--explain", "--json"][..], &flags].concat());
        if said["description"]["mma"]["simt"].is_null() { "tensorop" } else { "simt" }
    };
    let halves = "--a bf16:row --b bf16:row --c bf16:row";
    for (flags, wanted) in [
        (format!("{halves} --for h200"), "tensorop"),
        (format!("{halves} --for h200 --op best"), "tensorop"),
        (format!("{halves} --for h200 --op simt"), "simt"),
        (format!("{halves} --for v100"), "simt"),
        (format!("{halves} --arch sm80 --on host"), "tensorop"),
        (format!("{halves} --on host"), "simt"),
        ("--a e4m3:row --b e4m3:row --c f32:row --on host".to_owned(), "tensorop"),
        ("--for h200".to_owned(), "simt"),
        ("--for h200 --a f64:row".to_owned(), "tensorop"),
        ("--for h200 --a i32:row".to_owned(), "simt"),
    ] {
        assert_eq!(op(&flags), wanted, "{flags}");
    }
    let said =
        object(&["banks", "--json", "--a", "bf16:row", "--b", "bf16:row", "--c", "bf16:row"]);
    assert!(said["description"]["mma"]["simt"].is_null(), "{said}");
    let text = done(&["explore", "--dry-run", "--a", "bf16:row", "--arch", "sm90"]);
    assert!(text.contains("warpspecialized"), "{text}");
}

/// Matrices without a layout are row-major.
#[test]
fn layouts_are_row_major_by_default() {
    let said = object(&["gemm", "--explain", "--json", "--on", "host"]);
    for matrix in ["a", "b", "c"] {
        assert_eq!(said["description"][matrix], "f32:row");
    }
    assert_eq!(object(&["banks", "--json"])["description"]["a"], "f32:row");
}

/// Knobs in which the candidate configurations differ are selected for the problem size.
#[test]
fn explain_names_the_knobs_that_the_problem_size_selected() {
    let types = ["--a", "bf16:row", "--b", "bf16:col", "--c", "bf16:row", "--for", "h200"];
    let from = |flags: &[&str], flag: &str| {
        let text = done(&[&["gemm", "--explain"][..], &types, flags].concat());
        text.lines().find(|line| line.trim_start().starts_with(flag)).unwrap().to_owned()
    };
    let size = ["--m", "4096", "--n", "4096", "--k", "4096"];
    for flag in ["--threadblock", "--stages", "--decomposition"] {
        assert!(from(&size, flag).ends_with("selected for this size"), "{}", from(&size, flag));
        assert!(from(&[], flag).ends_with("from the default"), "{}", from(&[], flag));
    }
    assert!(from(&size, "--epilogue").ends_with("from the default"));
    let pinned = [&size[..], &["--threadblock", "128x128x64"]].concat();
    assert!(from(&pinned, "--threadblock").ends_with("from a flag"));
}

/// A scalar or a vector that the epilogue does not read is refused by the name of its flag.
#[test]
fn arguments_that_the_epilogue_does_not_read_are_refused_by_their_flags() {
    let size = ["gemm", "--on", "host", "--m", "4", "--n", "4", "--k", "4", "--epilogue"];
    for (flags, flag) in [
        (&["relu(acc)", "--alpha", "2"][..], "does not read --alpha"),
        (&["relu(acc)", "--beta", "1"], "does not read --beta"),
        (&["relu(acc)", "--scalar", "2=1"], "does not read --scalar 2=X"),
        (&["relu(acc)", "--vector", "bias_n=x.npy"], "--vector bias_n=x.npy: the epilogue"),
    ] {
        let sentence = refused(&[&size[..], flags].concat());
        assert!(sentence.contains(flag), "{sentence}");
    }
}

/// A refusal of types does not name an accumulator that no flag gives.
#[test]
fn refusals_of_types_name_no_implicit_accumulator() {
    for (flags, accumulator) in [
        ("--a e4m3:row --b e4m3:col --c e4m3:row", "e4m3"),
        ("--a i8:row --b u8:row --c i32:row", "i8"),
    ] {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let output = falchion(&[&["gemm", "--explain"][..], &flags].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains(&format!("accumulating in {accumulator}")), "{said}");
    }
}
