//! `falchion transpose`: sizes, types, files, the ladder, and refusals.

use crate::common::{
    Matrix, done, folder, load, load_batch, noted, object, path, refused, save, save_batch,
};
use serde_json::{Value, json};

fn verified(args: &[&str]) -> Value {
    let object = object(&[&["transpose", "--on", "host", "--verify", "--json"], args].concat());
    assert_eq!(
        (object["verified"].as_bool(), object["on"].as_str()),
        (Some(true), Some("host")),
        "{args:?}"
    );
    object
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn sizes_and_types_are_verified() {
    for kind in ["f64", "f32", "f16", "bf16", "i8", "u8", "i32"] {
        for sizes in ["1 1", "64 64", "63 65", "200 3", "1 77", "0 5", "5 0"] {
            let [rows, cols] = words(sizes)[..] else { panic!("{sizes}") };
            let object = verified(&["--type", kind, "--rows", rows, "--cols", cols]);
            let elements = rows.parse::<u64>().unwrap() * cols.parse::<u64>().unwrap();
            assert_eq!(
                (&object["elements_checked"], &object["type"]),
                (&json!(elements), &json!(kind))
            );
            assert!(object["seconds"].is_f64() && object["config"].is_string());
            assert_eq!(object["error_over_bound"], 0.0);
        }
    }
}

#[test]
fn scalars_leading_dimensions_batches_and_rungs_are_verified() {
    for more in [
        "--alpha 2.5 --beta -0.5 --lda 71 --ldc 131 --ldd 140",
        "--type f64 --alpha 0 --beta 3",
        "--alpha 0",
        "--batch 3 --lda 80 --ldd 132 --beta 1",
        "--batch 0",
        "--type u8 --batch 5 --seed 9",
        "--checked",
        "--checked --type i8 --lda 77",
        "--rung naive",
        "--rung tiled --checked",
        "--rung coalesced --type f16",
        "--rung padded --alpha 2",
        "--rung vectorized",
    ] {
        let object = verified(&[&words("--rows 130 --cols 70")[..], &words(more)].concat());
        assert_eq!(object["error_over_bound"], 0.0, "{more}");
    }
    let text = done(&words("transpose --rows 30 --cols 20 --on host --verify"));
    assert!(
        text.starts_with("30 x 20 f32 transposed: ")
            && text.contains("\nverified: 600 elements are right, 600 of them exactly"),
        "{text}"
    );
    done(&words("transpose --rows 3 --cols 3 --alpha nan --beta -inf --on host"));
}

#[test]
fn on_auto_computes_a_verified_transpose() {
    let object = object(&words("transpose --rows 64 --cols 32 --verify --json"));
    assert_eq!(
        (&object["verified"], &object["rows"], &object["cols"]),
        (&json!(true), &json!(64), &json!(32))
    );
}

#[test]
fn descriptions_round_trip_through_json() {
    let folder = folder();
    let first = object(&words("transpose --explain --json --rung padded --type f16"));
    let text = first["description"].to_string();
    let (file, name) = path(&folder, "kernel.json");
    std::fs::write(file, &text).unwrap();
    for door in [&text, &name] {
        let second = object(&["transpose", "--explain", "--json", "--type", "f16", "--desc", door]);
        assert_eq!(second["description"], first["description"]);
        assert_eq!(second["explanation"]["tile"], first["explanation"]["tile"]);
        let object = verified(&["--type", "f16", "--rows", "70", "--cols", "50", "--desc", door]);
        assert_eq!(object["config"], "32x32_t256_a1x1x1_p1_o1_b4");
    }
    for (from, to, part) in [
        ("\"thread_rows\":1", "\"thread_rows\":1,\"depth\":1", "unknown field `depth`"),
        ("\"thread_rows\":1,", "", "missing field `thread_rows`"),
        ("\"thread_rows\":1", "\"thread_rows\":-1", "invalid value"),
        ("\"threads\":256", "\"threads\":48", "threads of a block = 48"),
        (
            "\"blocks_per_sm\":4",
            "\"blocks_per_sm\":4294967295",
            "blocks of a multiprocessor = 4294967295 is outside 1 to 32",
        ),
        (
            "\"element_bytes\":2",
            "\"element_bytes\":4",
            "element type of the tensor = f16 is not 4 bytes",
        ),
    ] {
        assert!(text.contains(from), "{text}");
        let sentence = refused(&[
            "transpose",
            "--rows",
            "4",
            "--cols",
            "4",
            "--type",
            "f16",
            "--desc",
            &text.replace(from, to),
        ]);
        assert!(sentence.contains(part), "{sentence}");
    }
    assert!(
        refused(&["transpose", "--rows", "4", "--cols", "4", "--desc", "/nowhere/x"])
            .contains("/nowhere/x cannot be read")
    );
}

#[test]
fn explain_names_the_limit_of_each_access() {
    let of = |args: &str| {
        let object = object(&[words("transpose --explain --json --on host"), words(args)].concat());
        object["explanation"]["choices"].as_array().unwrap().clone()
    };
    let because = |choices: &[Value], what: &str| {
        let choice = choices.iter().find(|choice| choice["what"] == what).unwrap();
        format!("{}: {}", choice["value"].as_str().unwrap(), choice["because"].as_str().unwrap())
    };
    let choices = of("--rows 1001 --cols 6 --lda 8 --alpha 2");
    assert_eq!(
        because(&choices, "access to A"),
        "2 elements (8 bytes): the number of columns = 6 is not a multiple of 4"
    );
    assert_eq!(
        because(&choices, "access to D"),
        "1 element (4 bytes): the number of rows = 1001 is not a multiple of 2"
    );
    let choices = of("--rows 64 --cols 64 --lda 66 --alpha 2 --rung vectorized");
    assert_eq!(
        because(&choices, "access to A"),
        "2 elements (8 bytes): A's leading dimension = 66 is not a multiple of 4"
    );
    let choices = of("--rows 1001 --cols 6 --lda 8");
    let anywhere = "4 elements (16 bytes): gathered rows need no alignment";
    assert_eq!(because(&choices, "access to A"), anywhere);
    assert_eq!(because(&choices, "access to D"), anywhere);
    let choices = of("--rung coalesced");
    assert!(because(&choices, "staging").contains(
        "[32][32]: the stores of a tile take 1024 wavefronts (ideal 32), and its loads 32"
    ));
    let choices = of("--rung padded");
    assert!(
        because(&choices, "staging")
            .ends_with("the stores of a tile take 32 wavefronts (ideal 32), and its loads 32 wavefronts (ideal 32); without it, 1024 and 32")
    );
}

#[test]
fn files_are_transposed_in_either_order() {
    let folder = folder();
    let (matrix, b) = (Matrix::random(7, 5, 1), Matrix::random(5, 7, 2));
    let out = path(&folder, "d.npy");
    for (descr, kind, written) in [
        ("<f8", "f64", "<f8"),
        (">f4", "f32", "<f4"),
        ("<f2", "f16", "<f2"),
        ("<f4", "bf16", "<f4"),
    ] {
        for fortran in [false, true] {
            let a = save(&path(&folder, "a.npy").0, &matrix, descr, fortran);
            let args = [
                "transpose",
                "--on",
                "host",
                "--verify",
                "--type",
                kind,
                "--a-file",
                &a,
                "--out",
                &out.1,
            ];
            let said = if kind == "bf16" { noted(&args, "numbers to bf16") } else { done(&args) };
            assert!(
                said.ends_with(&format!("wrote D to {}\n", out.1)) && said.starts_with("7 x 5 "),
                "{said}"
            );
            let (found, order, d) = load(&out.0, 5, 7);
            assert_eq!((found.as_str(), order), (written, false));
            let tolerance = if kind == "bf16" {
                2f64.powi(-8)
            } else if kind == "f16" {
                2f64.powi(-11)
            } else {
                0.0
            };
            for (i, j) in (0..5).flat_map(|i| (0..7).map(move |j| (i, j))) {
                assert!((d.at(i, j) - matrix.at(j, i)).abs() <= tolerance, "{kind} {i} {j}");
            }
        }
    }
    let (a, b_file) = (
        save(&path(&folder, "a.npy").0, &matrix, "<f8", false),
        save(&path(&folder, "b.npy").0, &b, "<f8", true),
    );
    let scalars = words("transpose --on host --type f64 --alpha 2 --beta -0.5");
    done(&[&scalars[..], &["--a-file", &a, "--c-file", &b_file, "--out", &out.1]].concat());
    let (_, _, d) = load(&out.0, 5, 7);
    for (i, j) in (0..5).flat_map(|i| (0..7).map(move |j| (i, j))) {
        assert_eq!(d.at(i, j), 2.0 * matrix.at(j, i) - 0.5 * b.at(i, j));
    }
}

/// A batch is an array of three extents. A file with one matrix serves the whole batch.
#[test]
fn files_of_a_batch_are_transposed() {
    let folder = folder();
    let ((out, out_name), matrices) = (path(&folder, "d.npy"), [3, 4, 5]);
    let matrices = matrices.map(|seed| Matrix::random(2, 4, seed));
    let a = save_batch(&path(&folder, "a.npy").0, &matrices, false);
    let c = Matrix::random(4, 2, 9);
    let c_file = save(&path(&folder, "c.npy").0, &c, "<f8", false);
    let args = "transpose --on host --type f64 --verify --beta 3 --batch";
    let files = ["--a-file", &a, "--c-file", &c_file, "--out", &out_name];
    let batch = object(&[&words(args)[..], &["3", "--json"], &files].concat());
    let sizes = [&batch["rows"], &batch["cols"], &batch["elements_checked"]];
    assert_eq!(sizes, [&json!(2), &json!(4), &json!(24)]);
    let (_, d) = load_batch(&out, 3, 4, 2);
    for (a, d) in matrices.iter().zip(&d) {
        for (i, j) in (0..4).flat_map(|i| (0..2).map(move |j| (i, j))) {
            assert_eq!(d.at(i, j), a.at(j, i) + 3.0 * c.at(i, j));
        }
    }
    let sentence = refused(&[&words(args)[..], &["2"], &files].concat());
    assert!(sentence.contains("--batch is 2; try --batch 3"), "{sentence}");
}

#[test]
fn invalid_files_are_refused() {
    let folder = folder();
    let matrix = Matrix::random(4, 5, 1);
    let good = save(&path(&folder, "good.npy").0, &matrix, "<f4", false);
    let bytes = std::fs::read(&good).unwrap();
    let cut = |name: &str, length: usize| {
        let (file, name) = path(&folder, name);
        std::fs::write(file, &bytes[..length]).unwrap();
        name
    };
    for (name, part) in [
        (
            cut("data.npy", bytes.len() - 1),
            "is truncated: 4 x 5 elements of 4 bytes need 80 bytes, but the file has 79 bytes",
        ),
        (cut("header.npy", 40), "is truncated"),
        (cut("magic.npy", 3), "is not a .npy file"),
        (folder.path().to_str().unwrap().to_owned(), "is not a file"),
        ("/nowhere.npy".to_owned(), "cannot be read"),
    ] {
        let sentence = refused(&["transpose", "--a-file", &name]);
        assert!(sentence.starts_with(&name) && sentence.contains(part), "{sentence}");
    }
    for (flags, part) in [
        ("--rows 5 --a-file", "holds 4 x 5 elements, but A has 5 x 5 elements"),
        ("--cols 4 --a-file", "holds 4 x 5 elements, but A has 4 x 4 elements"),
        ("--rows 4 --cols 5 --c-file", "holds 4 x 5 elements, but C has 5 x 4 elements"),
    ] {
        let sentence = refused(&[&["transpose"], &words(flags)[..], &[&good]].concat());
        assert!(sentence.starts_with(&good) && sentence.ends_with(part), "{sentence}");
    }
    let large = save(
        &path(&folder, "large.npy").0,
        &Matrix { rows: 1, columns: 2, values: vec![1.0, 300.0] },
        "<f8",
        false,
    );
    let sentence = refused(&["transpose", "--type", "u8", "--a-file", &large]);
    assert!(
        sentence.ends_with("holds 300 in row 0, column 1; 300 is out of range for u8"),
        "{sentence}"
    );
    let odd = crate::common::npy(
        &path(&folder, "odd.npy").0,
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }",
        &[0; 8],
    );
    assert!(refused(&["transpose", "--a-file", &odd]).contains("holds elements of dtype '<i8'"));
    let nowhere = folder.path().join("no/d.npy");
    let sentence =
        refused(&["transpose", "--rows", "2", "--cols", "2", "--out", nowhere.to_str().unwrap()]);
    assert!(sentence.contains("cannot be written: there is no folder"), "{sentence}");
}

#[test]
fn invalid_transposes_are_refused() {
    for (args, part) in [
        ("", "the number of rows is unknown; set --rows, or add a file of A or C"),
        ("--rows 3", "the number of cols is unknown; set --cols"),
        ("--rows -3", "the value must be a whole number"),
        ("--rows 3 --cols 3 --type f33", "is none of f64, f32"),
        (
            "--rows 3 --cols 3 --type e5m2 --alpha 2",
            "scalar alpha is not supported by a kernel that moves elements; use a kernel that combines",
        ),
        (
            "--rows 3 --cols 3 --type u8 --alpha 2",
            "scalar alpha is not supported by a kernel that moves elements; use a kernel that combines",
        ),
        (
            "--rows 3 --cols 3 --type bf16 --beta 1",
            "scalar beta is not supported by a kernel that moves elements",
        ),
        (
            "--rows 3 --cols 4 --lda 3",
            "leading dimension of A = 3 is less than 4 (number of columns); try 4",
        ),
        (
            "--rows 3 --cols 4 --ldd 2",
            "leading dimension of D = 2 is less than 3 (number of columns); try 3",
        ),
        (
            "--rows 3 --cols 4 --beta 1 --ldc 2",
            "leading dimension of C = 2 is less than 3 (number of columns); try 3",
        ),
        ("--rows 2147483648 --cols 1", "number of rows = 2147483648 exceeds 2147483647"),
        (
            "--rows 1000000 --cols 1000000000",
            "exceeds 2147483647 (thread blocks of a grid); use a larger tile",
        ),
        ("--rows 1000000 --cols 1000000", "host memory = "),
        (
            "--rows 3 --cols 3 --rung top",
            "possible values: naive, tiled, coalesced, padded, vectorized",
        ),
        ("--rows 3 --cols 3 --rung naive --desc {}", "cannot be used with"),
        ("--rows 3 --cols 3 --checked --on cuda", "--checked needs the host executor"),
        ("--rows 3 --cols 3 --desc {", "description"),
        ("--ladder --alpha 2", "cannot be used with"),
    ] {
        let args: Vec<&str> = args.split(' ').filter(|word| !word.is_empty()).collect();
        let sentence = refused(&[&["transpose"], &args[..]].concat());
        assert!(sentence.contains(part), "{args:?}: {sentence}");
    }
}

#[test]
fn tensor_core_types_are_transposed() {
    for name in ["tf32", "e4m3", "e5m2"] {
        let said = object(&[
            "transpose",
            "--rows",
            "65",
            "--cols",
            "37",
            "--type",
            name,
            "--on",
            "host",
            "--verify",
            "--json",
        ]);
        assert_eq!(said["verified"], true, "{name}");
    }
}

#[test]
fn ladder_counts_and_verifies() {
    let climb = object(&words("transpose --ladder --on host --rows 256 --cols 128 --json"));
    let rungs = climb["rungs"].as_array().unwrap();
    let names: Vec<_> = rungs.iter().map(|rung| rung["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["naive", "tiled", "coalesced", "padded", "vectorized"]);
    let each = |rung: usize| {
        let stores = &rungs[rung]["counters"]["stores"];
        stores["wavefronts"].as_u64().unwrap() / stores["accesses"].as_u64().unwrap()
    };
    assert_eq!([each(2), each(3)], [32, 1]);
    assert!(rungs.iter().all(|rung| rung["measured"].is_null()));
}

/// `--explain` computes nothing at any size. Other flags can request the computation.
#[test]
fn explain_computes_only_on_request() {
    let large = done(&words("transpose --explain --rows 2000000 --cols 2000000"));
    assert!(large.starts_with("chosen:\n") && !large.contains("GB/s"), "{large}");
    for run in ["--run", "--verify", "--checked"] {
        let said =
            done(&words(&format!("transpose --on host --explain --rows 40 --cols 30 {run}")));
        assert!(said.contains("40 x 30 f32 transposed: "), "{said}");
    }
    assert!(
        refused(&words("transpose --explain --rows 3 --cols 4 --lda 2"))
            .contains("leading dimension of A = 2")
    );
}
