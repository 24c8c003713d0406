//! Epilogues with a gate on the command line.

use crate::common::{Matrix, folder, load, object, path, refused, save};

const SWIGLU: &str = "silu(gate) * up";

/// Both orders of B's columns are verified, on CUDA cores and on tensor cores.
#[test]
fn gates_are_verified() {
    for flags in [
        &["--a", "f32:row", "--b", "f32:row"][..],
        &["--a", "bf16:row", "--b", "bf16:col", "--c", "f32:row", "--arch", "sm90"],
        &["--a", "bf16:row", "--b", "bf16:col", "--gates", "interleaved", "--batch", "2"],
        &["--a", "i8:row", "--b", "i8:col", "--op", "tensorop", "--arch", "sm80"],
    ] {
        let integers = flags.contains(&"i8:row");
        let epilogue = if integers { "relu(gate) * up" } else { SWIGLU };
        let given = ["gemm", "--on", "host", "--json", "--verify", "--m", "37", "--n", "19"];
        let given = [&given, &["--k", "70", "--epilogue", epilogue][..], flags].concat();
        let said = object(&given);
        assert_eq!((&said["verified"], said["n"].as_u64()), (&true.into(), Some(19)));
        assert_eq!(said["elements_checked"].as_u64(), said["elements"].as_u64());
        assert_eq!(said["description"]["epilogue"], epilogue);
    }
}

/// B of a file has two columns per column of D.
#[test]
fn gates_of_files_are_halves_of_b() {
    let folder = folder();
    let (a, b) = (Matrix::random(4, 5, 1), Matrix::random(5, 6, 2));
    let [a_file, b_file] = [("a.npy", &a), ("b.npy", &b)]
        .map(|(name, matrix)| save(&path(&folder, name).0, matrix, "<f8", false));
    let (out, out_name) = path(&folder, "d.npy");
    let files = ["--a-file", &a_file, "--b-file", &b_file, "--out", &out_name];
    let flags = ["gemm", "--on", "host", "--json", "--verify", "--epilogue", "relu(gate) * up"];
    let said = object(&[&flags[..], &files].concat());
    assert_eq!((&said["verified"], said["n"].as_u64()), (&true.into(), Some(3)));
    let (_, _, d) = load(&out, 4, 3);
    let dot = |i: usize, j: usize| (0..5).map(|k| a.at(i, k) * b.at(k, j)).sum::<f64>();
    for (i, j) in (0..4).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let wanted = dot(i, j).max(0.0) * dot(i, j + 3);
        assert!((d.at(i, j) - wanted).abs() <= 1e-12 * (1.0 + wanted.abs()), "{i} {j}");
    }
    let odd = save(&path(&folder, "odd.npy").0, &Matrix::random(5, 7, 2), "<f8", false);
    let files = ["--a-file", &a_file, "--b-file", &odd, "--verify"];
    let says =
        refused(&[&["gemm", "--on", "host", "--epilogue", "gate * up"][..], &files].concat());
    assert!(says.contains("holds 5 x 7 elements, but B (k x 2n) has 5 x 6 elements"), "{says}");
}

#[test]
fn flags_of_gates_that_do_not_fit_are_refused() {
    let run = |flags: &[&str]| {
        let given = ["gemm", "--on", "host", "--m", "8", "--n", "8", "--k", "8"];
        refused(&[&given[..], flags].concat())
    };
    let none = run(&["--gates", "interleaved"]);
    assert!(none.contains("has no gate; remove --gates"), "{none}");
    let mixed = run(&["--epilogue", "acc * up + gate"]);
    assert!(mixed.contains("acc together with gate and up"), "{mixed}");
    let rows = run(&["--epilogue", SWIGLU, "--b", "f32:row", "--gates", "interleaved"]);
    assert!(rows.contains("strides of B = 16 and 2 are not contiguous"), "{rows}");
    let column_major = run(&["--epilogue", SWIGLU, "--c", "f32:col"]);
    assert!(column_major.contains("layout of D = column-major is not supported"), "{column_major}");
}
