//! `falchion explore`: counts, refusals, and search spaces. No test here needs a GPU.

use crate::common::{done, falchion, folder, object, path, refused};
use serde_json::json;
use std::fs;

/// A small search space.
const SMALL: &str = "explore --mainloop multistage --threadblock 128x128x8 --warp 64x32x8 --swizzle 1 --smem-a auto --smem-b auto \
                     --interleave vector --blocks-per-sm 1 --a f32:row --b f32:row --c f32:row";

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn small(more: &str) -> Vec<&str> {
    [words(SMALL), words(more)].concat()
}

/// Valid and refused points add up to all points, with and without sizes, in each narrowed space.
#[test]
fn valid_and_refused_points_add_up() {
    for (more, points, legal) in [
        ("", 32, 32),
        ("--size 512x512x512", 32, 32),
        // K runs along the rows of A, which is transposed on its way to shared memory. An
        // asynchronous copy of A moves one element, at any alignment.
        ("--size 512x512x511", 32, 32),
        ("--size 512x512x511,512x511x512", 32, 8),
        ("--m 512 --n 510 --k 512 --size 512x512x512", 32, 8),
        ("--stages 1,2 --stages 17,3", 32, 16),
        ("--arch sm75", 32, 0),
        ("--space {\"stages\":[2,3],\"mainloop\":[\"multistage\",\"pipelined\"]}", 2, 2),
    ] {
        let said = object(&small(&format!("--dry-run --json {more}")));
        let counts: u64 = said["refused"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reason| reason["count"].as_u64().unwrap())
            .sum();
        assert_eq!(
            (&said["points"], &said["legal"], counts),
            (&json!(points), &json!(legal), points - legal),
            "{more}: {said}"
        );
    }
    let text = done(&small("--dry-run --stages 2,17"));
    assert!(
        text.starts_with(
            "16 points: 8 kernels, 8 refused\n\naxes:\n --stages   2  2, 17  multistage\n --align-a"
        ),
        "{text}"
    );
    assert!(text.ends_with("\nrefused:\n 8  stages = # is outside # to #\n"), "{text}");
}

/// A dry run lists the axes, a sample, and the kernels with the shortest predicted times per size.
#[test]
fn dry_run_lists_axes_sample_and_predicted_kernels() {
    let said = object(&words(
        "explore --dry-run --json --a bf16:row --b bf16:col --c bf16:row --op tensorop --size 4096x4096x4096 --best 3",
    ));
    assert_eq!(said["sample"].as_array().unwrap().len(), 5);
    assert!(said["axes"].as_array().unwrap().len() > 3);
    let best = said["problems"][0]["predicted_best"].as_array().unwrap();
    let times: Vec<f64> =
        best.iter().map(|kernel| kernel["predicted_time"].as_f64().unwrap()).collect();
    assert!(times.len() == 3 && times[0] == 1.0 && times.is_sorted(), "{times:?}");
    // The kernel that the library selects is among the first.
    let text = done(&words(
        "explore --dry-run --a bf16:row --b bf16:col --c bf16:row --op tensorop --size 4096x4096x4096",
    ));
    assert!(text.contains("kernels by predicted time") && text.contains("1.000"), "{text}");
}

/// A subspace of tensor-core kernels has one main loop and one emulation. Flags select the
/// subspace.
#[test]
fn flags_select_the_subspace_of_tensor_core_kernels() {
    let halves = "explore --dry-run --op tensorop --a bf16:row --b bf16:col --c bf16:row";
    for (args, name) in [
        (format!("{halves} --arch sm80 --threadblock 128x128x32"), "multistage 128x128x32_"),
        (format!("{halves} --arch sm90 --mainloop multistage --threadblock 128x128x32"), "multistage 128x128x32_"),
        (format!("{halves} --arch sm90 --threadblock 128x128x64"), "warpspecialized 128x128x64_"),
        (
            "explore --dry-run --op tensorop --arch sm80 --a f32:row --emulation tf32x3 --threadblock 64x64x16".to_owned(),
            "_tf32x3",
        ),
    ] {
        let said = done(&words(&args));
        assert!(said.contains(name), "{args}: {said}");
    }
    let both = done(&words(&format!("{halves} --arch sm90 --mainloop warpspecialized,multistage")));
    assert!(both.contains("64x256x16") && both.contains("16x8x16, 16x8x8"), "{both}");
    let emulated =
        "explore --dry-run --op tensorop --arch sm90 --a f32:row --emulation bf16x3,bf16x6";
    let of_one = done(&words(emulated));
    assert!(
        of_one.contains(" --stages       8   3, 4, 5, 6, 7, 8, 12, 16 ")
            && !of_one.contains("warpspecialized, "),
        "{of_one}"
    );
    let sentence = refused(&words(&format!("{halves} --arch sm90 --mainloop singlestage")));
    assert!(sentence.contains("--mainloop"), "{sentence}");
}

/// For small M, the search also has kernels with swapped operands. Some tiles are valid with and
/// without the swap.
#[test]
fn small_m_includes_swapped_operands() {
    let halves = "explore --dry-run --op tensorop --arch sm90 --a bf16:row --b bf16:col";
    for c in ["bf16:row", "bf16:col"] {
        let of = |size: &str, tile: &str| {
            done(&words(&format!("{halves} --c {c} --size {size} {tile}")))
        };
        let few = if c == "bf16:row" { "16x4096x4096" } else { "4096x16x4096" };
        let said = of(few, "");
        assert!(
            said.contains(" 1.000  warpspecialized 64x16x64_64x16x64_s16_b1_r8 (swap-AB)"),
            "{said}"
        );
        let tile = of(few, "--threadblock 64x64x64 --warp 64x64x64 --stages 4");
        for kernel in ["64x64x64_64x64x64_s4_b1_r8\n", "64x64x64_64x64x64_s4_b1_r8 (swap-AB)"] {
            assert!(tile.contains(kernel), "{kernel}: {tile}");
        }
        assert!(!of("4096x4096x4096", "").contains("swap-AB"));
    }
}

/// A range is the list of its whole numbers, including both ends.
#[test]
fn ranges_of_values_are_lists() {
    let list = object(&small("--dry-run --json --stages 2,3,4,5"));
    for range in ["2-5", "2..5", "2,3-5", "2..3,4-5"] {
        let said = object(&small(&format!("--dry-run --json --stages {range}")));
        assert_eq!((&said["points"], &said["legal"]), (&list["points"], &list["legal"]), "{range}");
    }
    assert!(refused(&small("--dry-run --stages 5-2")).contains("--stages cannot be `5-2`"));
}

#[test]
fn space_is_read_from_a_file() {
    let folder = folder();
    let (file, name) = path(&folder, "space.json");
    fs::write(&file, r#"[{"stages": [2, 3]}, {"mainloop": "pipelined", "stages": [2, 3, 4]}]"#)
        .unwrap();
    let said = object(&["explore", "--dry-run", "--json", "--space", &name]);
    assert_eq!((&said["points"], &said["legal"]), (&json!(5), &json!(3)));
    let narrowed =
        object(&["explore", "--dry-run", "--json", "--space", &name, "--mainloop", "pipelined"]);
    assert_eq!(narrowed["points"], 3);
    fs::write(&file, "[{\"stages\": [2, 3]}").unwrap();
    assert!(
        refused(&["explore", "--dry-run", "--space", &name])
            .contains("the space cannot be read: EOF")
    );
    let nowhere = refused(&["explore", "--dry-run", "--space", "/nowhere/space.json"]);
    assert!(nowhere.contains("the space /nowhere/space.json cannot be read"), "{nowhere}");
}

/// The order of a JSON object's keys has no effect, and no list of a subspace is dropped.
#[test]
fn space_selects_the_subspace_before_it_reads_its_knobs() {
    let space = |class: &str, json: &str| {
        object(
            &[&words(&format!("explore --dry-run --json {class} --space"))[..], &[json]].concat(),
        )
    };
    let f32_sm90 = "--arch sm90 --a f32:row --b f32:row --c f32:row --op simt";
    let f16_sm90 = "--arch sm90 --a f16:row --b f16:row --c f16:row --op tensorop";
    for (class, json, points) in [
        (f32_sm90, r#"[{"mainloop":"warpspecialized","cluster":"1x1"}]"#, 1),
        (f32_sm90, r#"[{"align_a":[1,2,4],"mainloop":"warpspecialized"}]"#, 3),
        (f32_sm90, r#"{"align_b":[1,2],"mainloop":["multistage","warpspecialized"]}"#, 4),
        (f32_sm90, r#"{"interleave":["vector","8"],"mainloop":"multistage"}"#, 2),
        (f16_sm90, r#"{"blocks_per_sm":[1,2],"mainloop":"multistage"}"#, 2),
    ] {
        assert_eq!(space(class, json)["points"], points, "{json}");
    }
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/spaces/f32_simt_tma.json");
    let said = space(f32_sm90, own);
    assert!(said["legal"].as_u64().unwrap() > 100, "{said}");
    let foreign = r#"{"interleave":"vector","mainloop":"warpspecialized"}"#;
    let sentence = refused(
        &[&words(&format!("explore --dry-run {f32_sm90} --space"))[..], &[foreign]].concat(),
    );
    assert!(sentence.contains("--interleave is not a knob of the warpspecialized"), "{sentence}");
}

#[test]
fn invalid_requests_are_refused() {
    for (args, part) in [
        ("explore", "explore needs a problem; add --size MxNxK, or count kernels with --dry-run"),
        ("explore --size 12", "the value must be a shape MxNxK"),
        ("explore --size 12x12x-1", "the value must be a shape MxNxK"),
        ("explore --size 12x12x99999999999", "the value must be a shape MxNxK"),
        ("explore --size ,", "the value must be a shape MxNxK"),
        ("explore --m 3", "required arguments were not provided"),
        ("explore --m 3 --n 3 --k x", "the value must be a whole number"),
        ("explore --dry-run --log x", "cannot be used with"),
        ("explore --dry-run --compile 90", "cannot be used with"),
        ("explore --compile 90 --log x", "cannot be used with"),
        ("explore --compile x", "the value must be a whole number from 0 to"),
        ("explore --compile 90 --trials 0", "--trials must be at least 1"),
        ("explore --compile 90 --stages 99", "none of the "),
        ("explore --trials -1", "the value must be a whole number"),
        ("explore --seed x", "the value must be a whole number"),
        ("explore --peers mkl", "possible values: cublaslt, none"),
        (
            "explore --dry-run --stages 2,x",
            "--stages cannot be `x`: the value must be a whole number",
        ),
        ("explore --dry-run --stages ,", "--stages cannot be ``: the value must be a whole number"),
        ("explore --dry-run --stages=", "--stages cannot be ``: its list of values is empty"),
        (
            "explore --dry-run --mainloop loopy",
            "--mainloop cannot be `loopy`: the value must be one of singlestage, pipelined, multistage",
        ),
        ("explore --dry-run --depth 3", "unexpected argument '--depth'"),
        ("explore --dry-run --arch sm70 --op tensorop", "on tensor cores (sm70); try --arch sm75"),
        ("explore --dry-run --a f33:row", "names the type `f33`"),
        ("explore --dry-run --space {", "the space cannot be read"),
        ("explore --dry-run --space []", "the space has no subspace"),
        ("explore --dry-run --space {\"depth\":[1]}", "there is no knob of this name"),
        ("explore --dry-run --space {\"stages\":[]}", "its list of values is empty"),
        ("explore --dry-run --desc {", "the description cannot be read"),
    ] {
        let sentence = refused(&words(args));
        assert!(sentence.contains(part), "{args}: {sentence}");
        assert!(sentence.len() < 700, "{sentence}");
    }
    // Several lists of two thousand values make a space that is too large to count.
    let many = (1..2000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let knobs = [
        "--stages",
        "--swizzle",
        "--align-a",
        "--align-b",
        "--align-c",
        "--interleave",
        "--blocks-per-sm",
    ];
    let args: Vec<&str> = ["explore", "--dry-run"]
        .into_iter()
        .chain(knobs.into_iter().flat_map(|knob| [knob, &many]))
        .collect();
    assert!(refused(&args).contains("more than 2^64 points, and at most 67108864 are looked at"));
}

/// If a required library is missing, the error names it and the flags that work without it.
#[test]
fn missing_libraries_are_named() {
    let output = falchion(&small("--size 64x64x64"));
    let said = String::from_utf8(output.stderr).unwrap();
    if output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with(
                "falchion: explore needs a GPU, except with --dry-run or --compile SM: "
            ),
            "{said}"
        );
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_falchion"))
        .args(small("--compile 90 --trials 1"))
        .env("FALCHION_NVRTC", "/nowhere")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("libnvrtc could not be loaded") && said.lines().count() == 1, "{said}");
}

/// On a full disk, the count equals the number of files in the cache, and the exit code is 2.
#[cfg(unix)]
#[test]
#[ignore = "needs NVRTC"]
fn compile_on_a_full_disk_exits_with_2() {
    let folder = folder();
    let (suite, name) = path(&folder, "suite.jsonl");
    fs::write(&suite, r#"{"m":64,"n":64,"k":64,"a":"f32:row","b":"f32:row","c":"f32:row"}"#)
        .unwrap();
    for command in
        [small("--compile 90 --trials 3").join(" "), format!("bench --suite {name} --compile 90")]
    {
        for json in ["", " --json"] {
            let limited =
                format!("ulimit -f 1; {} {command}{json}", env!("CARGO_BIN_EXE_falchion"));
            let output = std::process::Command::new("sh")
                .args(["-c", &limited])
                .env("FALCHION_CACHE_DIR", folder.path().join("cache"))
                .output()
                .unwrap();
            let (said, why) = (
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            );
            assert_eq!(output.status.code(), Some(2), "{command}: {said}{why}");
            assert!(
                said.starts_with("the cache has 0 kernels") || said.contains("\"kernels\":0"),
                "{said}"
            );
            assert!(
                why.contains("could not write a kernel to the cache")
                    && why.contains("File too large"),
                "{why}"
            );
        }
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_sample_is_compiled_into_the_cache() {
    let folder = folder();
    for _ in 0..2 {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_falchion"))
            .args(small("--compile 90 --trials 2 --jobs 2 --json"))
            .env("FALCHION_CACHE_DIR", folder.path().join("cache"))
            .output()
            .unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said, json!({"kernels": 2, "spilled": 0, "compile_failed": 0}));
    }
    let entries = fs::read_dir(folder.path().join("cache"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().is_file())
        .count();
    assert!(entries >= 2, "{entries}");
}
