//! Operands and results in .npy files.

use crate::common::{
    Matrix, done, falchion, folder, load, load_batch, noted, npy, object, path, refused, save,
    save_batch,
};

/// Asserts that |got - want| is within k roundings of each product and eight of the result.
fn close(got: &Matrix, want: &Matrix, unit: f64, k: usize) {
    assert_eq!((got.rows, got.columns), (want.rows, want.columns));
    let bound = unit * (k as f64 * k as f64 * 1.5 + 8.0);
    for (at, (got, want)) in got.values.iter().zip(&want.values).enumerate() {
        let within = (got - want).abs() <= bound;
        assert!(within, "element {at} is {got}, and {want} was wanted");
    }
}

#[test]
fn files_of_either_order_are_read_under_either_layout() {
    let folder = folder();
    let (a, b, c) =
        (Matrix::random(100, 77, 1), Matrix::random(77, 123, 2), Matrix::random(100, 123, 3));
    let want = a.product(&b, 1.5, -0.5, &c);
    let (out, out_name) = path(&folder, "d.npy");
    for (descr, element, unit, file) in [
        ("<f8", "f64", 2f64.powi(-53), "<f8"),
        ("<f4", "f32", 2f64.powi(-24), "<f4"),
        ("<f8", "f32", 2f64.powi(-24), "<f4"),
    ] {
        for fortran in [false, true] {
            let a_file = save(&path(&folder, "a.npy").0, &a, descr, fortran);
            let b_file = save(&path(&folder, "b.npy").0, &b, descr, !fortran);
            let c_file = save(&path(&folder, "c.npy").0, &c, descr, fortran);
            for layouts in 0..8 {
                let order = |bit: usize| if layouts >> bit & 1 == 1 { "row" } else { "col" };
                let types = [0, 1, 2].map(|bit| format!("{element}:{}", order(bit)));
                let said = object(&[
                    "gemm", "--on", "host", "--json", "--verify", "--a", &types[0], "--b",
                    &types[1], "--c", &types[2], "--a-file", &a_file, "--b-file", &b_file,
                    "--c-file", &c_file, "--out", &out_name, "--alpha", "1.5", "--beta", "-0.5",
                ]);
                assert_eq!(said["verified"], true);
                assert_eq!(
                    (said["m"].as_u64(), said["n"].as_u64(), said["k"].as_u64()),
                    (Some(100), Some(123), Some(77))
                );
                let (written, in_fortran, d) = load(&out, 100, 123);
                assert_eq!((written.as_str(), in_fortran), (file, order(2) == "col"));
                close(&d, &want, unit, 77);
            }
        }
    }
}

#[test]
fn every_number_format_is_read_and_written() {
    let folder = folder();
    let whole = |rows, columns, seed| {
        let random = Matrix::random(rows, columns, seed);
        Matrix { values: random.values.iter().map(|x| (x * 4.0).abs().round()).collect(), ..random }
    };
    let (a, b) = (whole(19, 21, 5), whole(21, 23, 6));
    let zero = Matrix { rows: 19, columns: 23, values: vec![0.0; 19 * 23] };
    let want = a.product(&b, 1.0, 0.0, &zero);
    let (out, out_name) = path(&folder, "d.npy");
    for (element, c, file) in [
        ("f64", "f64", "<f8"),
        ("f32", "f32", "<f4"),
        ("f16", "f16", "<f2"),
        ("f16", "f32", "<f4"),
        ("bf16", "bf16", "<f4"),
        ("i8", "i32", "<i4"),
        ("u8", "u8", "|u1"),
        ("i32", "i32", "<i4"),
    ] {
        for descr in ["<f8", "<f4", ">f4", "<f2", "|i1", "|u1", "<i4"] {
            let a_file = save(&path(&folder, "a.npy").0, &a, descr, false);
            let b_file = save(&path(&folder, "b.npy").0, &b, descr, true);
            let (a_type, c_type) = (format!("{element}:row"), format!("{c}:row"));
            done(&[
                "gemm", "--on", "host", "--a", &a_type, "--c", &c_type, "--a-file", &a_file,
                "--b-file", &b_file, "--out", &out_name, "--verify",
            ]);
            let (written, fortran, d) = load(&out, 19, 23);
            assert_eq!((written.as_str(), fortran), (file, false));
            // bf16 has 8 significant bits: integers up to 256 are exact, and larger ones are
            // rounded.
            let rounded = |x: f64| {
                if c == "bf16" {
                    f64::from(falchion::numeric::Bf16::from_f64(x))
                } else {
                    x.min(if c == "u8" { 255.0 } else { x })
                }
            };
            assert_eq!(
                d.values,
                want.values.iter().map(|&x| rounded(x)).collect::<Vec<_>>(),
                "{element} {descr}"
            );
        }
    }
}

#[test]
fn numbers_are_rounded_to_nearest_even_once() {
    let folder = folder();
    let step = 2f64.powi(-10);
    let values = vec![
        1.0 + step / 2.0,
        1.0 + step * 1.5,
        1.0 + step / 2.0 + 2f64.powi(-40),
        -1.0 - step / 2.0,
    ];
    let a_file =
        save(&path(&folder, "a.npy").0, &Matrix { rows: 4, columns: 1, values }, "<f8", false);
    let b_file = save(
        &path(&folder, "b.npy").0,
        &Matrix { rows: 1, columns: 1, values: vec![1.0] },
        "<f8",
        false,
    );
    let (out, out_name) = path(&folder, "d.npy");
    let product = |a: &str, a_file: &str| {
        let args = [
            "gemm", "--on", "host", "--a", a, "--a-file", a_file, "--b-file", &b_file, "--out",
            &out_name,
        ];
        noted(&args, "a.npy holds f64: falchion rounded 4 of 4 numbers to ");
    };
    product("f16:row", &a_file);
    assert_eq!(load(&out, 4, 1).2.values, [1.0, 1.0 + 2.0 * step, 1.0 + step, -1.0]);
    let a_file = save(
        &path(&folder, "a.npy").0,
        &Matrix { rows: 4, columns: 1, values: vec![0.5, 1.5, -2.5, 3.4] },
        "<f8",
        false,
    );
    product("i8:row", &a_file);
    assert_eq!(load(&out, 4, 1).2.values, [0.0, 2.0, -2.0, 3.0]);
}

/// numpy lacks bf16, tf32, and fp8, so files of these types hold f32. Numbers of f64 and f32 files
/// are rounded once to nearest even. fp8 saturates.
#[test]
fn types_that_numpy_lacks_are_written_as_f32() {
    let folder = folder();
    let (out, out_name) = path(&folder, "d.npy");
    let hair = 2f64.powi(-40);
    // Fraction bits, and the largest number of types that saturate.
    for (name, fraction_bits, most) in [
        ("bf16", 7, f64::INFINITY),
        ("tf32", 10, f64::INFINITY),
        ("e4m3", 3, 448.0),
        ("e5m2", 2, 57_344.0),
    ] {
        let step = 2f64.powi(-fraction_bits);
        let values = vec![
            1.0 + step / 2.0,
            1.0 + step * 1.5,
            1.0 + step / 2.0 + hair,
            -1.0 - step / 2.0 - hair,
            1e39,
            -1e39,
        ];
        let want = [1.0, 1.0 + 2.0 * step, 1.0 + step, -1.0 - step, most, -most];
        let a_file =
            save(&path(&folder, "a.npy").0, &Matrix { rows: 2, columns: 3, values }, "<f8", false);
        let args = [
            "transpose",
            "--on",
            "host",
            "--type",
            name,
            "--a-file",
            &a_file,
            "--out",
            &out_name,
            "--verify",
        ];
        noted(&args, &format!("a.npy holds f64: falchion rounded 6 of 6 numbers to {name}\n"));
        let (descr, _, d) = load(&out, 3, 2);
        assert_eq!(descr, "<f4", "{name}");
        let back: Vec<f64> = (0..6).map(|at| d.at(at % 3, at / 3)).collect();
        assert_eq!(back, want, "{name}");
        // The written file is read back unchanged.
        done(&[
            "transpose",
            "--on",
            "host",
            "--type",
            name,
            "--a-file",
            &out_name,
            "--out",
            &a_file,
            "--verify",
        ]);
        let again = load(&path(&folder, "a.npy").0, 2, 3).2;
        assert_eq!((0..6).map(|at| again.at(at / 3, at % 3)).collect::<Vec<_>>(), want, "{name}");
    }
}

/// A file with three extents holds a batch, in either order and under either layout. A file with
/// two extents holds one matrix for the whole batch.
#[test]
fn files_of_a_batch_are_read_and_written() {
    let folder = folder();
    let batch = |rows, columns, seed| {
        [0u64, 1, 2].map(|number| Matrix::random(rows, columns, seed + number))
    };
    let (a, b, c) = (batch(19, 7, 1), batch(7, 12, 10), batch(19, 12, 20));
    let (out, out_name) = path(&folder, "d.npy");
    for layouts in 0..8 {
        let bit = |bit: usize| layouts >> bit & 1 == 1;
        let [a_type, b_type, c_type] =
            [0, 1, 2].map(|at| format!("f32:{}", if bit(at) { "row" } else { "col" }));
        for fortran in [false, true] {
            // Some operands have one matrix for the whole batch.
            let file = |name: &str, batch: &[Matrix], shared: bool| {
                let at = path(&folder, name).0;
                if shared {
                    save(&at, &batch[0], "<f4", fortran)
                } else {
                    save_batch(&at, batch, fortran)
                }
            };
            let shared = [bit(0) && fortran, !bit(0) || fortran, bit(1) != bit(2)];
            let [a_file, b_file, c_file] =
                [("a.npy", &a, shared[0]), ("b.npy", &b, shared[1]), ("c.npy", &c, shared[2])]
                    .map(|(name, x, one)| file(name, x, one));
            let mut args = vec![
                "gemm", "--on", "host", "--json", "--verify", "--batch", "3", "--a", &a_type,
                "--b", &b_type, "--c", &c_type, "--a-file", &a_file, "--b-file", &b_file,
                "--c-file", &c_file, "--out", &out_name, "--alpha", "1.5", "--beta", "-0.5",
            ];
            args.extend(fortran.then_some("--checked"));
            let said = object(&args);
            assert_eq!(
                (said["verified"].as_bool(), said["elements_checked"].as_u64()),
                (Some(true), Some(3 * 19 * 12))
            );
            let (in_fortran, d) = load_batch(&out, 3, 19, 12);
            assert_eq!(in_fortran, !bit(2));
            for (number, d) in d.iter().enumerate() {
                let of = |batch: &'_ [Matrix; 3], shared: bool| {
                    batch[if shared { 0 } else { number }].clone()
                };
                let want =
                    of(&a, shared[0]).product(&of(&b, shared[1]), 1.5, -0.5, &of(&c, shared[2]));
                close(d, &want, 2f64.powi(-24), 7);
            }
        }
    }
    // The written file is read back, and a batch of one has two extents.
    let b_file = save(&path(&folder, "b.npy").0, &Matrix::random(12, 2, 5), "<f4", false);
    let args = [
        "gemm", "--on", "host", "--batch", "3", "--a-file", &out_name, "--b-file", &b_file,
        "--out", &out_name, "--verify",
    ];
    noted(&args, "the file of --a-file");
    assert_eq!(load_batch(&out, 3, 19, 2).1.len(), 3);
}

/// A file of B holds one matrix per group, or one for all groups. A file of A, C, or D holds one
/// matrix with the rows of all groups.
#[test]
fn files_of_groups_are_read_and_written() {
    let folder = folder();
    let (a, c) = (Matrix::random(13, 7, 1), Matrix::random(13, 12, 20));
    let b = [10, 11, 12].map(|seed| Matrix::random(7, 12, seed));
    let (out, out_name) = path(&folder, "d.npy");
    for layouts in 0..8 {
        let bit = |bit: usize| layouts >> bit & 1 == 1;
        let [a_type, b_type, c_type] =
            [0, 1, 2].map(|at| format!("f64:{}", if bit(at) { "row" } else { "col" }));
        let [a_file, c_file] = [("a.npy", &a), ("c.npy", &c)]
            .map(|(name, x)| save(&path(&folder, name).0, x, "<f8", bit(0)));
        let b_path = path(&folder, "b.npy").0;
        let b_file = if bit(1) {
            save(&b_path, &b[0], "<f8", bit(2))
        } else {
            save_batch(&b_path, &b, bit(2))
        };
        let args = [
            "gemm",
            "--on",
            "host",
            "--json",
            "--verify",
            "--group-rows",
            "9,0,4",
            "--a",
            &a_type,
            "--b",
            &b_type,
            "--c",
            &c_type,
            "--a-file",
            &a_file,
            "--b-file",
            &b_file,
            "--c-file",
            &c_file,
            "--out",
            &out_name,
            "--alpha",
            "1.5",
            "--beta",
            "-0.5",
        ];
        let said = object(&args);
        assert_eq!(
            (said["verified"].as_bool(), said["elements_checked"].as_u64()),
            (Some(true), Some(13 * 12))
        );
        let d = load(&out, 13, 12).2;
        for (number, rows) in [(0, 0..9), (2, 9..13)] {
            let want = a.product(&b[if bit(1) { 0 } else { number }], 1.5, -0.5, &c);
            let of_group = |x: &Matrix| x.values[rows.start * 12..rows.end * 12].to_vec();
            let [got, want] =
                [&d, &want].map(|x| Matrix { rows: rows.len(), columns: 12, values: of_group(x) });
            close(&got, &want, 2f64.powi(-52), 7);
        }
    }
    let two = save_batch(&path(&folder, "two.npy").0, &b[..2], false);
    let refused = |flag: &str| {
        refused(&["gemm", "--group-rows", "1,2,3", "--n", "12", "--k", "7", flag, &two])
    };
    assert!(
        refused("--b-file")
            .ends_with("holds an array of shape (2, 7, 12), and --group-rows has 3 groups")
    );
    assert!(refused("--a-file").ends_with(
        "holds an array of shape (2, 7, 12), and the file must hold a matrix of two extents"
    ));
}

#[test]
fn files_that_do_not_match_the_batch_are_refused() {
    let folder = folder();
    let of = |descr: &str, shape: &str| {
        npy(
            &path(&folder, "a.npy").0,
            &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"),
            &[200; 64],
        )
    };
    let column = Matrix { rows: 3, columns: 1, values: vec![1.0; 3] };
    let b = save(&path(&folder, "b.npy").0, &column, "<f4", false);
    for (batch, descr, shape, says) in [
        (
            "3",
            "<f4",
            "(5, 2, 1)",
            "holds an array of shape (5, 2, 1), and --batch is 3; try --batch 5",
        ),
        (
            "1",
            "<f4",
            "(2, 2, 4)",
            "holds an array of shape (2, 2, 4), and --batch is 1; try --batch 2",
        ),
        (
            "2",
            "<f4",
            "(2, 1, 2, 2)",
            "of shape (2, 1, 2, 2), and the file must hold a matrix of two extents, or a batch of three extents",
        ),
        (
            "4",
            "<f4",
            "(4, 2, 3)",
            "is truncated: 4 x 2 x 3 elements of 4 bytes need 96 bytes, but the file has 64 bytes",
        ),
        (
            "2",
            "|u1",
            "(2, 2, 3)",
            "holds 200 in row 0, column 0 of matrix 0; 200 is out of range for i8",
        ),
        ("2", "<f4", "(2, 2, 3)", "holds 2 x 3 elements, but A (m x k) has 7 x 3 elements"),
    ] {
        let (file, m) = (of(descr, shape), if says.contains("7 x 3") { "7" } else { "2" });
        let sentence = refused(&[
            "gemm", "--batch", batch, "--m", m, "--a", "i8:row", "--a-file", &file, "--b-file", &b,
        ]);
        assert!(sentence.starts_with(&file) && sentence.ends_with(says), "{sentence}");
    }
}

#[test]
fn output_may_replace_an_operand() {
    let folder = folder();
    let c = Matrix::random(5, 6, 9);
    let (c_path, c_file) = path(&folder, "c.npy");
    save(&c_path, &c, "<f8", false);
    let args = [
        "gemm", "--on", "host", "--a", "f64:row", "--c", "f64:row", "--k", "3", "--alpha", "0",
        "--beta", "2", "--c-file", &c_file, "--out", &c_file,
    ];
    noted(&args, "--out replaces");
    assert_eq!(load(&c_path, 5, 6).2.values, c.values.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn invalid_operand_files_are_refused_by_name() {
    let folder = folder();
    let matrix = Matrix::random(4, 5, 1);
    let good = save(&path(&folder, "good.npy").0, &matrix, "<f8", false);
    let whole = std::fs::read(&good).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let (path, text) = path(&folder, name);
        std::fs::write(path, bytes).unwrap();
        text
    };
    let odd = |name: &str, descr: &str, shape: &str| {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
        npy(&path(&folder, name).0, &header, &[0; 256])
    };
    let version_2 = |length: u32| {
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(vec![b'('; 20_000]);
        bytes
    };
    for (name, says) in [
        (
            folder.path().join("none.npy").to_str().unwrap().to_owned(),
            "cannot be read: No such file",
        ),
        (folder.path().to_str().unwrap().to_owned(), "is not a file"),
        (file("empty", b""), "is not a .npy file"),
        (file("text", b"1.0, 2.0, 3.0"), "is not a .npy file"),
        (file("magic", b"\x93NUMPY"), "is truncated in its header"),
        (
            file("header", &whole[..60]),
            "is truncated: its header states 118 bytes, but the file has 50 bytes",
        ),
        (
            file("data", &whole[..whole.len() - 1]),
            "is truncated: 4 x 5 elements of 8 bytes need 160 bytes, but the file has 159 bytes",
        ),
        (file("huge", &version_2(u32::MAX)), "its header states 4294967295 bytes"),
        (file("long", &version_2(20_000)), "has a header of 20000 bytes; the limit is 10000 bytes"),
        (file("deep", &version_2(9_999)), "has a header that is not a dictionary"),
        (file("version", b"\x93NUMPY\x09\x00aaaa"), "is a .npy file of version 9"),
        (
            odd("i8", "'<i8'", "(4, 5)"),
            "holds elements of dtype '<i8'; supported types are f64, f32, f16, i8, u8, i32",
        ),
        (odd("c16", "'<c16'", "(4, 5)"), "holds elements of dtype '<c16'"),
        (odd("object", "'|O'", "(4, 5)"), "holds elements of dtype '|O'"),
        (odd("record", "[('x', '<f4')]", "(4, 5)"), "holds structured elements"),
        (
            odd("vector", "'<f4'", "(5,)"),
            "holds an array of shape (5), and the file must hold a matrix of two extents",
        ),
        (odd("cube", "'<f4'", "(2, 2, 2)"), "of shape (2, 2, 2)"),
        (odd("minus", "'<f4'", "(-4, 5)"), "not a dictionary"),
        (
            odd("lying", "'<f8'", "(4294967296, 4294967296)"),
            "elements of 8 bytes need 147573952589676412928 bytes",
        ),
        (
            odd("beyond", "'<f8'", "(18446744073709551615, 18446744073709551615)"),
            "more than 2^128 bytes",
        ),
    ] {
        let sentence = refused(&["gemm", "--m", "4", "--n", "3", "--k", "5", "--a-file", &name]);
        assert!(sentence.starts_with(&name) && sentence.contains(says), "{sentence}");
    }
    for (flag, m, n, k, says) in [
        ("--a-file", "4", "3", "6", "holds 4 x 5 elements, but A (m x k) has 4 x 6 elements"),
        ("--b-file", "4", "3", "6", "holds 4 x 5 elements, but B (k x n) has 6 x 3 elements"),
        ("--c-file", "5", "4", "6", "holds 4 x 5 elements, but C (m x n) has 5 x 4 elements"),
    ] {
        let sentence = refused(&["gemm", "--m", m, "--n", n, "--k", k, "--beta", "1", flag, &good]);
        assert!(sentence.starts_with(&good) && sentence.ends_with(says), "{sentence}");
    }
    let sentence = refused(&["gemm", "--a-file", &good, "--b-file", &good]);
    assert!(
        sentence.ends_with("holds 4 x 5 elements, but B (k x n) has 5 x 5 elements"),
        "{sentence}"
    );
    let large = save(
        &path(&folder, "large.npy").0,
        &Matrix { rows: 1, columns: 2, values: vec![1.0, -129.0] },
        "<f8",
        false,
    );
    let column = Matrix { rows: 2, columns: 1, values: vec![1.0, 1.0] };
    let b = save(&path(&folder, "column.npy").0, &column, "<f8", false);
    let sentence = refused(&["gemm", "--a", "i8:row", "--a-file", &large, "--b-file", &b]);
    assert!(
        sentence.ends_with("holds -129 in row 0, column 1; -129 is out of range for i8"),
        "{sentence}"
    );
}

#[test]
fn unwritable_output_is_refused_before_computing() {
    let folder = folder();
    let sizes = ["gemm", "--m", "3", "--n", "3", "--k", "3", "--out"];
    let nowhere = folder.path().join("no/d.npy");
    let sentence = refused(&[&sizes[..], &[nowhere.to_str().unwrap()]].concat());
    assert!(sentence.contains("cannot be written: there is no folder"), "{sentence}");
    let sentence = refused(&[&sizes[..], &[folder.path().to_str().unwrap()]].concat());
    assert!(sentence.ends_with("cannot be written: the path is a folder"), "{sentence}");
}

/// Vectors of one value per column or row, from files with one or two extents, for both layouts of
/// D.
#[test]
fn vectors_of_epilogues_are_read() {
    let folder = folder();
    let (m, n) = (3, 4);
    let path_of = |name: &str| folder.path().join(name);
    let one = save(
        &path_of("a.npy"),
        &Matrix { rows: m, columns: 1, values: vec![1.0, 2.0, 3.0] },
        "<f4",
        false,
    );
    let other = save(
        &path_of("b.npy"),
        &Matrix { rows: 1, columns: n, values: vec![10.0; 4] },
        "<f4",
        false,
    );
    let row = |name: &str, values: [f32; 4]| {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        npy(&path_of(name), "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", &data)
    };
    let of_n = format!("bias_n={}", row("n.npy", [100.0, 200.0, 300.0, 400.0]));
    let column = Matrix { rows: m, columns: 1, values: vec![0.25, 0.5, 0.75] };
    let of_m = format!("bias_m={}", save(&path_of("m.npy"), &column, "<f8", true));
    let out = path_of("d.npy").to_str().unwrap().to_owned();
    let files =
        ["gemm", "--on", "host", "--a-file", &one, "--b-file", &other, "--verify", "--out", &out];
    for c in ["f32:row", "f32:col"] {
        let epilogue = ["--c", c, "--epilogue", "alpha*acc + bias_n + bias_m", "--alpha", "2"];
        done(&[&files[..], &epilogue, &["--vector", &of_n, "--vector", &of_m]].concat());
        let (_, _, d) = load(&path_of("d.npy"), m, n);
        let wanted = |i: usize, j: usize| {
            20.0 * (i + 1) as f64 + 100.0 * (j + 1) as f64 + 0.25 * (i + 1) as f64
        };
        assert_eq!(
            d.values,
            (0..m * n).map(|at| wanted(at / n, at % n)).collect::<Vec<_>>(),
            "{c}"
        );
    }
    let short = save(&path_of("short.npy"), &column, "<f4", false);
    for (vectors, says) in [
        (vec![of_m.clone()], "the epilogue alpha * acc + bias_n does not read bias_m"),
        (vec![of_n.clone(), of_n.clone()], "the flags set bias_n twice"),
        (
            vec!["gate_n=x.npy".to_owned()],
            "--vector gate_n=x.npy: the value must be NAME=FILE, and NAME must be bias_m or bias_n or scale_m or scale_n",
        ),
        (
            vec!["bias_n".to_owned()],
            "the value must be NAME=FILE, and NAME must be bias_m or bias_n or scale_m or scale_n",
        ),
        (vec![format!("bias_n={short}")], "holds 3 elements, but bias_n has 4 elements"),
        (
            vec![format!(
                "bias_n={}",
                save(&path_of("two.npy"), &Matrix::random(2, 2, 1), "<f4", false)
            )],
            "and the file must hold a vector",
        ),
    ] {
        let vectors: Vec<_> = vectors.iter().flat_map(|vector| ["--vector", vector]).collect();
        let sentence = refused(
            &[&files[..], &["--c", "f32:col", "--epilogue", "alpha*acc + bias_n"], &vectors]
                .concat(),
        );
        assert!(sentence.ends_with(says), "{sentence}");
    }
}

/// The files set the type, and a type without a kernel is refused. Integers are not converted to
/// floating point.
#[test]
fn files_of_integers_are_multiplied_as_integers() {
    let folder = folder();
    let file = |name: &str, values: &[f64], columns: usize, descr: &str| {
        let values = values.to_vec();
        let matrix = Matrix { rows: values.len() / columns, columns, values };
        save(&path(&folder, name).0, &matrix, descr, false)
    };
    let (out, out_name) = path(&folder, "d.npy");
    let product = |a: &str, b: &str| {
        ["gemm", "--on", "host", "--a-file", a, "--b-file", b, "--out", &out_name, "--verify"]
            .map(str::to_owned)
    };
    let i = file("i.npy", &[46_340.0], 1, "<i4");
    done(&product(&i, &i).each_ref().map(String::as_str));
    let (descr, _, d) = load(&out, 1, 1);
    assert_eq!((descr.as_str(), d.values), ("<i4", vec![2_147_395_600.0]));
    let (row, column) =
        (file("row.npy", &[2e9, 1.0], 2, "<i4"), file("column.npy", &[1.0, 1.0], 1, "<i4"));
    done(&product(&row, &column).each_ref().map(String::as_str));
    assert_eq!(load(&out, 1, 1).2.values, [2_000_000_001.0]);
    let float = file("f.npy", &[0.5], 1, "<f4");
    for (a, b, says) in [(&i, &float, "i.npy holds i32 and "), (&float, &i, "f.npy holds f32 and ")]
    {
        let sentence = refused(&product(a, b).each_ref().map(String::as_str));
        assert!(sentence.contains(says) && sentence.contains("--a f32:row"), "{sentence}");
    }
    // A transpose also has the type of its file.
    done(&["transpose", "--on", "host", "--a-file", &row, "--out", &out_name]);
    let (descr, _, d) = load(&out, 2, 1);
    assert_eq!((descr.as_str(), d.values), ("<i4", vec![2e9, 1.0]));
    let wide = file("wide.npy", &[0.1, 1e300], 2, "<f8");
    done(&["transpose", "--on", "host", "--a-file", &wide, "--out", &out_name]);
    assert_eq!(load(&out, 2, 1).2.values, [0.1, 1e300]);
}

/// Random operands and files are not mixed.
#[test]
fn operand_without_a_file_is_refused_beside_files() {
    let folder = folder();
    let file = save(&path(&folder, "x.npy").0, &Matrix::random(4, 4, 1), "<f4", false);
    let size = ["--m", "4", "--n", "4", "--k", "4"];
    let both = ["--a-file", &file, "--b-file", &file];
    let scale = format!(
        "scale_n={}",
        save(&path(&folder, "v.npy").0, &Matrix::random(1, 4, 1), "<f4", false)
    );
    for (flags, operand, flag) in [
        (vec!["--a-file", &file], "B", "--b-file FILE"),
        (vec!["--b-file", &file], "A", "--a-file FILE"),
        ([&both[..], &["--beta", "1"]].concat(), "C", "--c-file FILE"),
        (vec!["--beta", "1", "--c-file", &file], "A", "--a-file FILE"),
        ([&both[..], &["--epilogue", "acc + bias_n"]].concat(), "bias_n", "--vector bias_n=FILE"),
        (
            [&both[..], &["--epilogue", "multiply(acc, scale_n) + bias_m", "--vector", &scale]]
                .concat(),
            "bias_m",
            "--vector bias_m=FILE",
        ),
    ] {
        let sentence = refused(&[&["gemm", "--on", "host"][..], &size, &flags].concat());
        assert!(
            sentence.starts_with(&format!("{operand} has no file")) && sentence.contains(flag),
            "{sentence}"
        );
    }
    // An operand that is not read needs no file.
    done(
        &[&["gemm", "--on", "host", "--alpha", "0", "--beta", "2", "--c-file", &file][..], &size]
            .concat(),
    );
    let square = ["transpose", "--on", "host", "--rows", "4", "--cols", "4"];
    for (flags, part) in [
        (vec!["--a-file", &file, "--beta", "1"], "C has no file"),
        (vec!["--c-file", &file, "--beta", "1"], "A has no file"),
        (
            vec!["--a-file", &file, "--c-file", &file],
            "beta is 0, so the kernel does not read the C of --c-file",
        ),
    ] {
        let sentence = refused(&[&square[..], &flags].concat());
        assert!(sentence.starts_with(part), "{sentence}");
    }
}

/// As in BLAS, C is not read with a beta of 0.
#[test]
fn beta_of_0_with_a_file_of_c_does_not_read_c() {
    let folder = folder();
    let one = Matrix { rows: 2, columns: 2, values: vec![1.0; 4] };
    let a = save(&path(&folder, "a.npy").0, &one, "<f4", false);
    let none = Matrix { values: vec![f64::NAN; 4], ..one };
    let c = save(&path(&folder, "c.npy").0, &none, "<f4", false);
    let (out, out_name) = path(&folder, "d.npy");
    let files = [
        "gemm", "--on", "host", "--a-file", &a, "--b-file", &a, "--c-file", &c, "--out", &out_name,
    ];
    done(&[&files[..], &["--beta", "0", "--verify"]].concat());
    assert_eq!(load(&out, 2, 2).2.values, [2.0; 4]);
    let sentence = refused(&[&files[..], &["--epilogue", "alpha * acc"]].concat());
    assert!(sentence.ends_with("does not read the C of --c-file; remove --c-file"), "{sentence}");
}

/// An infinity in a file stays infinite in e5m2.
#[test]
fn infinity_of_a_file_is_infinite_in_e5m2() {
    let folder = folder();
    let file = |name: &str, values: [f64; 2], columns: usize| {
        let matrix = Matrix { rows: 2 / columns, columns, values: values.to_vec() };
        save(&path(&folder, name).0, &matrix, "<f4", false)
    };
    let (a, b) = (file("a.npy", [f64::INFINITY, 1.0], 2), file("b.npy", [1.0, 1.0], 1));
    let (out, out_name) = path(&folder, "d.npy");
    done(&[
        "gemm", "--on", "host", "--a", "e5m2:row", "--b", "e4m3:col", "--c", "f32:row", "--op",
        "tensorop", "--a-file", &a, "--b-file", &b, "--out", &out_name, "--verify",
    ]);
    assert_eq!(load(&out, 1, 1).2.values, [f64::INFINITY]);
}

/// `--verify` accepts sums that overflow, and follows the rules of emulated f32.
#[test]
fn verify_accepts_right_results_near_overflow() {
    let folder = folder();
    let infinity = f64::INFINITY;
    let f64s = &["--a", "f64:row", "--b", "f64:row", "--c", "f64:row"][..];
    let f32s = &["--a", "f32:row", "--b", "f32:row", "--c", "f32:row"][..];
    let by = |emulation| {
        [
            "--a",
            "f32:row",
            "--b",
            "f32:row",
            "--c",
            "f32:row",
            "--op",
            "tensorop",
            "--emulation",
            emulation,
        ]
    };
    let (tf32x3, bf16x6, bf16x3) = (by("tf32x3"), by("bf16x6"), by("bf16x3"));
    let bf16 = &["--a", "bf16:row", "--b", "bf16:row", "--c", "bf16:row"][..];
    for (types, a, b) in [
        (f64s, &[1.7e308, -1.7e308][..], &[2.0, 2.0][..]),
        (f64s, &[1.7e308, -1.7e308], &[1.0, 1.0]),
        (f64s, &[1e200], &[1e200]),
        (f32s, &[3e38], &[3e38]),
        (f32s, &[1e38, infinity], &[10.0, -1.0]),
        (bf16, &[1e38, infinity], &[10.0, -1.0]),
        (&tf32x3, &[3.4e38], &[1.0]),
        (&bf16x6, &[3.4e38], &[1.0]),
        (&tf32x3, &[infinity], &[1.0]),
        (&bf16x6, &[infinity], &[1.0]),
        (&bf16x3, &[infinity], &[1.0]),
    ] {
        let file = |name: &str, values: &[f64], columns: usize| {
            let matrix = Matrix { rows: values.len() / columns, columns, values: values.to_vec() };
            save(&path(&folder, name).0, &matrix, "<f8", false)
        };
        let (a, b) = (file("a.npy", a, a.len()), file("b.npy", b, 1));
        let output = falchion(
            &[&["gemm", "--on", "host", "--verify", "--a-file", &a, "--b-file", &b], types]
                .concat(),
        );
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{types:?} {a:?}: {said}");
    }
}
