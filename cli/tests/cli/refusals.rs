//! Refusals: exit code 2, one sentence on stderr, nothing on stdout, and no panic.

use crate::common::{object, refused};

/// Asserts that each command line is refused with a sentence that contains the given text.
fn assert_refusals(rows: &[(&str, &str)]) {
    for (args, part) in rows {
        let args: Vec<&str> = args.split(' ').collect();
        let sentence = refused(&args);
        assert!(sentence.contains(part), "{args:?}: {sentence}");
        assert!(sentence.len() < 700, "{sentence}");
    }
}

#[test]
fn invalid_usage_is_refused() {
    assert_refusals(&[
        ("frobnicate", "unrecognized subcommand 'frobnicate'"),
        ("layout", "required arguments were not provided: <EXPR>"),
        ("--frob", "unexpected argument '--frob'"),
        ("gemm --frob", "unexpected argument '--frob'"),
        ("gemm 3 4 5", "unexpected argument '3'"),
        ("gemm --m", "a value is required for '--m <M>'"),
        ("gemm --m x", "the value must be a whole number"),
        ("gemm --m -3", "invalid value '-3' for '--m <M>': the value must be a whole number"),
        ("gemm --m 3.5", "the value must be a whole number"),
        ("gemm --m 99999999999999999999999", "the value must be a whole number from 0 to"),
        ("gemm --m 3 --m 4", "cannot be used multiple times"),
        ("gemm --beta --verify", "the value must be a number"),
        ("gemm --alpha one", "the value must be a number"),
        ("gemm --lda -1", "the value must be a whole number"),
        ("gemm --seed -1", "the value must be a whole number"),
        ("gemm --a f32", "is not of the form `type:row` or `type:col`"),
        ("gemm --a f33:col", "names the type `f33`; the types are f64, f32"),
        ("gemm --c f32:diag", "names the order `diag`; the orders are `row` and `col`"),
        ("gemm --acc f8", "is none of f64, f32"),
        ("gemm --op avx", "possible values: best, simt, tensorop"),
        ("gemm --arch sm60", "possible values: sm70, sm75"),
        ("gemm --on gpu", "possible values: auto, host, cuda"),
        ("bench", "--suite <FILE>"),
        ("bench --suite x --peers mkl", "possible values: cublaslt"),
        ("doctor now", "unexpected argument 'now'"),
    ]);
}

#[test]
fn unsupported_features_are_refused() {
    assert_refusals(&[
        (
            "gemm --m 1 --n 1 --k 1 --a f16:row --op tensorop --arch sm70",
            "on tensor cores (sm70); try --arch sm75",
        ),
        ("gemm --m 1 --n 1 --k 1 --batch 18446744073709551615", " bytes; use a smaller problem"),
        (
            "gemm --m 1 --n 1 --k 1 --split-k 2",
            "--split-k 2 is not 1 (a slice has at least one k-tile); try 1",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --arch sm80 --cluster 2x1",
            "--cluster is not a knob of the multistage main loop; try --mainloop warpspecialized",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --saturate --arch sm80",
            "--saturate is not a knob of CUDA-core kernels; try --op tensorop",
        ),
        ("gemm --m 1 --n 1 --k 1 --saturate yes", "the value must be one of off, on"),
        (
            "gemm --m 1 --n 1 --k 1 --a f16:row --b f16:col --c f16:row --op tensorop --arch sm80 --saturate",
            "--saturate on is not supported by f32 (accumulators are not integers); try off",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --arch sm80 --schedule pingpong",
            "--schedule is not a knob of the multistage main loop; try --mainloop warpspecialized",
        ),
        ("gemm --m 1 --n 1 --k 1 --order grouped", "--order does not exist; --swizzle"),
        (
            "gemm --m 1 --n 1 --k 1 --a e4m3:row --b e5m2:col --op simt",
            "no kernel multiplies e4m3 by e5m2 accumulating in f32 into bf16 on CUDA cores; try --op tensorop",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --a tf32:row --op simt",
            "no kernel multiplies tf32 by tf32 accumulating in f32 into f32 on CUDA cores; try --op tensorop",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --a f32:row --op tensorop --emulation none",
            "--emulation none is not supported by f32 on tensor cores; try bf16x6",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --a bf16:row --op tensorop --emulation f16x3",
            "--emulation f16x3 is not supported by bf16; try none",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --arch sm80 --emulation bf16x6",
            "--emulation is not a knob of CUDA-core kernels; try --op tensorop",
        ),
        (
            "gemm --explain --emulation bf16x9",
            "--emulation cannot be `bf16x9`: the value must be one of none, bf16x6, bf16x3, f16x3",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --a tf32:row --op tensorop --arch sm70",
            "on tensor cores (sm70); try --arch sm80",
        ),
        ("gemm --m 1 --n 1 --k 1 --a e4m3:row --b bf16:row", "no kernel multiplies e4m3 by bf16"),
        ("gemm --m 1 --n 1 --k 1 --checked --on cuda", "--checked needs the host executor"),
    ]);
}

#[test]
fn invalid_kernels_are_refused() {
    assert_refusals(&[
        ("gemm --explain --a f32:row --b f64:row", "no kernel multiplies f32 by f64"),
        (
            "gemm --explain --a f32:col --acc f64",
            "no kernel multiplies f32 by f32 accumulating in f64 into f32",
        ),
        (
            "gemm --explain --threadblock 128x128",
            "--threadblock cannot be `128x128`: the value must be a shape MxNxK",
        ),
        (
            "gemm --explain --threadblock 100x128x16 --warp 32x64x16",
            "threadblock M = 100 is not a multiple of 32 (warp tiles); try ",
        ),
        (
            "gemm --explain --mainloop multistage --warp 48x64x16",
            "warp M = 48 is not one of 8, 16, 32, 64, 128; try 64",
        ),
        ("gemm --explain --warp 0x0x0", "warp M = 0"),
        (
            "gemm --explain --threadblock 4294967295x4294967295x4294967295",
            "threadblock M = 4294967295",
        ),
        ("gemm --explain --instruction 16x8x8", "instruction K = 8 is not 1; try 1"),
        (
            "gemm --explain --stages 1 --mainloop multistage",
            "--stages 1 is outside 2 to 16; try 2; no kernel was found with this --mainloop and this --stages",
        ),
        ("gemm --explain --stages -1", "--stages cannot be `-1`"),
        (
            "gemm --explain --threadblock 128x128x16 --warp 32x64x16 --stages 16",
            "shared memory of a block = ",
        ),
        (
            "gemm --explain --mainloop pipelined --stages 3",
            "--stages 3 is not 2 (pipelined main loop)",
        ),
        (
            "gemm --explain --mainloop fast",
            "--mainloop cannot be `fast`: the value must be one of singlestage, pipelined, multistage",
        ),
        (
            "gemm --explain --arch sm70 --mainloop multistage",
            "--mainloop multistage is not supported by sm70 (asynchronous copies need sm80)",
        ),
        (
            "gemm --explain --swizzle sideways",
            "--swizzle cannot be `sideways`: the value must be a group size in columns of tiles, horizontal, grouped:N",
        ),
        ("gemm --explain --swizzle 0", "--swizzle 0 is outside 1 to 64"),
        ("gemm --explain --align-a 3", "--align-a 3 is not one of 1, 2, 4; try 4"),
        ("gemm --explain --align-b 3 --c f32:row", "--align-b 3"),
        ("gemm --explain --align-b 3 --c f32:col", "--align-b 3"),
        ("gemm --explain --smem-a mn", "--smem-a cannot be `mn`: the value must be auto"),
        ("gemm --explain --smem-b k^9,9,9 --c f32:col", "swizzle bits of B = 9"),
        ("gemm --explain --threadblock 128x128x16 --warp 32x64x16 --blocks-per-sm 8", "registers"),
        (
            "gemm --explain --epilogue relu(acc",
            "--epilogue cannot be `relu(acc`: `)` was expected here (column 9)",
        ),
        ("gemm --explain --epilogue acc-", "the expression ends where a name, a number or `(`"),
        (
            "gemm --explain --epilogue max(acc,1e30)",
            "other numbers are scalars, s2 to s7 (column 9)",
        ),
        ("gemm --explain --epilogue acc=1;acc", "has no other meaning (column 1)"),
        (
            "gemm --explain --a f64:row --b f64:row --c f64:row --epilogue gelu(acc)",
            "its approximation has the precision of f32",
        ),
        ("gemm --explain --epilogue foo", "`foo` is not known"),
        ("gemm --m 1 --n 1 --k 1 --epilogue user_1(acc)", "`user_1` is not known"),
        (
            "gemm --m 1 --n 1 --k 1 --epilogue user_0000000000000001(acc)",
            "is not registered; call epilogue::register first",
        ),
        (
            "gemm --m 1 --n 1 --k 1 --transform-b transform_00000000000000aa:f32:f32",
            "--transform-b transform_00000000000000aa:f32:f32 is not registered; call numeric::register_transform first",
        ),
        (
            "gemm --explain --transform-a transform_00000000000000aa:f32:bf16",
            "is not supported by SIMT kernels (they multiply transformed elements as f32",
        ),
        ("gemm --explain --transform-a tf32x3", "the value must be the identifier of a transform"),
    ]);
}

#[test]
fn invalid_problems_are_refused() {
    assert_refusals(&[
        ("gemm", "m is unknown; set --m, or add the file"),
        ("gemm --m 3 --n 3", "k is unknown; set --k"),
        ("gemm --m 99999999999 --n 1 --k 1", "M = 99999999999 exceeds 2147483647"),
        ("gemm --m 1 --n 18446744073709551615 --k 1", "N = 18446744073709551615 exceeds"),
        ("gemm --m 2000000000 --n 2000000000 --k 2000000000", " bytes; use a smaller problem"),
        ("gemm --m 2000000000 --n 3 --k 2000000000", " bytes; use a smaller problem"),
        (
            "gemm --m 4 --n 4 --k 4 --lda 3",
            "leading dimension of A = 3 is less than 4 (number of columns); try 4",
        ),
        ("gemm --m 4 --n 4 --k 4 --ldb 3", "leading dimension of B = 3"),
        ("gemm --m 4 --n 4 --k 4 --ldc 0", "leading dimension of D = 0"),
        ("gemm --m 4 --n 4 --k 4 --lda 18446744073709551615", "size of A exceeds 64 bits"),
        ("gemm --m 4 --n 4 --k 4 --lda 1152921504606846976", "host memory = "),
        // An operand that is not read needs memory all the same.
        ("gemm --m 4 --n 4 --k 4 --alpha 0 --lda 1152921504606846976", "host memory = "),
    ]);
}

#[test]
fn invalid_descriptions_are_refused() {
    let folder = crate::common::folder();
    let (path, name) = crate::common::path(&folder, "kernel.json");
    let text = crate::common::object(&[
        "gemm",
        "--on",
        "host",
        "--explain",
        "--json",
        "--stages",
        "4",
    ])["description"]
        .to_string();
    let desc = |text: &str| refused(&["gemm", "--m", "1", "--n", "1", "--k", "1", "--desc", text]);
    for (from, to, part) in [
        (
            "\"stages\":4",
            "\"stages\":4,\"depth\":1",
            "depth cannot be `1`: there is no knob of this name",
        ),
        ("\"stages\":4", "\"stages\":[4]", "stages: the value must be a text or a number"),
        ("\"stages\":4,", "", "missing field `stages`"),
        ("\"stages\":4", "\"stages\":-4", "stages cannot be `-4`"),
        ("\"stages\":4", "\"stages\":40", "--stages 40 is outside 2 to 16"),
        ("\"version\":5", "\"version\":1", "`version` is 1, and only version 5 is supported"),
        ("\"simt\"", "\"avx\"", "unknown variant `avx`"),
        ("\"simt\"", "\"mmasync\"", "missing field `instruction`"),
        (
            "\"compute\":\"f32\"",
            "\"compute\":\"f64\"",
            "compute type of the epilogue = f64 is not supported by ",
        ),
        ("alpha * acc", "alpha * (", "the epilogue is not an expression"),
        ("}", "", "the description cannot be read"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let changed = text.replacen(from, to, 1);
        std::fs::write(&path, &changed).unwrap();
        for sentence in [desc(&changed), desc(&name)] {
            assert!(sentence.contains(part), "{sentence}");
        }
    }
    assert!(desc("no.json").contains("the description no.json cannot be read: No such file"));
    assert!(desc(folder.path().to_str().unwrap()).contains("the path is not a file"));
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(desc(&name).contains("UTF-8"));
    std::fs::write(&path, &text).unwrap();
    let sentence =
        refused(&["gemm", "--m", "1", "--n", "1", "--k", "1", "--desc", &name, "--a", "f64:row"]);
    assert!(sentence.ends_with("A is f32:row, but f64:row is requested"), "{sentence}");
}

/// `--desc` reads the output of `--json`, whole or only its description.
#[test]
fn desc_reads_what_json_prints() {
    let size = ["--m", "5", "--n", "6", "--k", "7"];
    let explained = object(&["gemm", "--explain", "--json", "--stages", "3"]);
    let computed =
        object(&[&["gemm", "--on", "host", "--json", "--stages", "3"][..], &size].concat());
    let banks = object(&["banks", "--json", "--stages", "3"]);
    for whole in [explained, computed, banks] {
        for text in [whole.to_string(), whole["description"].to_string()] {
            let read = object(&["gemm", "--explain", "--json", "--desc", &text]);
            assert_eq!(read["description"], whole["description"]);
        }
    }
    let whole = object(&["transpose", "--explain", "--json", "--type", "f16"]);
    let read = object(&[
        "transpose",
        "--explain",
        "--json",
        "--type",
        "f16",
        "--desc",
        &whole.to_string(),
    ]);
    assert_eq!(read["description"], whole["description"]);
}

#[test]
fn desc_of_another_version_is_refused_by_its_version() {
    let old = r#"{"version":3,"a":"bf16","layout_a":"row","mainloop":"warpspecialized"}"#;
    let sentence = refused(&["gemm", "--explain", "--desc", old]);
    assert!(
        sentence.contains("its field `version` is 3, and only version 5 is supported"),
        "{sentence}"
    );
}

#[test]
fn invalid_suites_are_refused() {
    let folder = crate::common::folder();
    let (path, name) = crate::common::path(&folder, "odd.jsonl");
    let good = r#"{"m":64,"n":32,"k":16,"a":"f32:row","b":"f32:col","c":"f32:row"}"#;
    for (text, part) in [
        (String::new(), "suite odd, line 1: the suite holds no problem"),
        (format!("{good}\n{{\"m\":1}}"), "suite odd, line 2: not a problem: missing field"),
        (
            format!("{good}\n\n{}", good.replace("\"k\":16", "\"k\":0")),
            "suite odd, line 3: `k` is 0",
        ),
        (good.replace("f32:col", "f31:col"), "names the type `f31`"),
        (good.replace("\"k\":16", "\"k\":16,\"Ida\":3"), "unknown field `Ida`"),
        (
            good.replace("\"k\":16", "\"k\":16,\"group_rows\":[9,0]"),
            "`group_rows` come to 9 rows, and `m`, which is all of them, is 64",
        ),
        (good.replace("\"k\":16", "\"k\":16,\"pointers\":true"), "`pointers` needs a `batch`"),
    ] {
        std::fs::write(&path, text).unwrap();
        let sentence = refused(&["bench", "--suite", &name]);
        assert!(sentence.contains(part), "{sentence}");
    }
    // A refused suite writes no file.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(
        refused(&["bench", "--suite", "no.jsonl"])
            .contains("the suite no.jsonl cannot be read: No such file")
    );
}

/// With --json, a refusal is an object on stdout, and the same sentence on stderr.
#[test]
fn json_refusals_are_objects() {
    for args in [
        &["gemm", "--m", "x", "--json"][..],
        &["--json", "gemm", "--a", "f33:row"],
        &["layout", "(1,2", "--json"],
        &["--json", "bench", "--suite", "none.jsonl"],
        &["--json", "frobnicate"],
        &["--json", "gemm", "--explain", "--threadblock", "7x7x7"],
    ] {
        let output = crate::common::falchion(args);
        let (said, text) =
            (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            said.trim_end(),
            format!("falchion: {}", object["refused"].as_str().unwrap()),
            "{args:?}"
        );
        assert_eq!(text.lines().count(), 1);
    }
}

/// `help` is a subcommand, as in other programs.
#[test]
fn help_is_a_subcommand() {
    use crate::common::done;
    assert_eq!(done(&["help"]), done(&["--help"]));
    assert_eq!(done(&["help", "layout"]), done(&["layout", "--help"]));
}
