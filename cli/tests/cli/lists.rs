//! Index lists of `falchion gemm`.

use crate::common::{Matrix, folder, load, npy, object, path, refused, save};

/// Writes an index list, and returns its path.
fn list(folder: &tempfile::TempDir, name: &str, indices: &[i32]) -> String {
    let header =
        format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},)}}", indices.len());
    let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    npy(&path(folder, name).0, &header, &bytes)
}

/// Runs a GEMM on the host, and returns its JSON. The result is verified.
fn verified(flags: &[&str]) -> serde_json::Value {
    let said = object(&[&["gemm", "--on", "host", "--json", "--verify"], flags].concat());
    assert_eq!(said["verified"], true);
    said
}

#[test]
fn rows_of_files_are_gathered_and_scattered() {
    let folder = folder();
    let (a, b, c) = (Matrix::random(9, 5, 1), Matrix::random(5, 8, 2), Matrix::random(7, 4, 3));
    let [a_file, b_file, c_file] = [("a.npy", &a), ("b.npy", &b), ("c.npy", &c)]
        .map(|(name, matrix)| save(&path(&folder, name).0, matrix, "<f8", false));
    let (rows, columns, to) = ([8, 0, 8], [7, 7, 1, 0], [6, 2, 3]);
    let lists = [("ga.npy", &rows[..]), ("gb.npy", &columns[..]), ("sd.npy", &to[..])]
        .map(|(name, indices)| list(&folder, name, indices));
    let (out, out_name) = path(&folder, "d.npy");
    for layout in ["row", "col"] {
        let types = format!("f64:{layout}");
        let said = verified(&[
            "--a",
            &types,
            "--b",
            &types,
            "--c",
            &types,
            "--a-file",
            &a_file,
            "--b-file",
            &b_file,
            "--c-file",
            &c_file,
            "--beta",
            "2",
            "--gather-a",
            &lists[0],
            "--gather-b",
            &lists[1],
            "--scatter-d",
            &lists[2],
            "--out",
            &out_name,
        ]);
        assert_eq!(
            (said["m"].as_u64(), said["n"].as_u64(), said["k"].as_u64()),
            (Some(3), Some(4), Some(5))
        );
        let (_, _, d) = load(&out, 7, 4);
        let mut wanted = vec![0.0; 28];
        for (i, row) in to.into_iter().enumerate() {
            for (j, column) in columns.into_iter().enumerate() {
                let sum: f64 =
                    (0..5).map(|l| a.at(rows[i] as usize, l) * b.at(l, column as usize)).sum();
                wanted[row as usize * 4 + j] = sum + 2.0 * c.at(row as usize, j);
            }
        }
        for (at, (got, wanted)) in d.values.iter().zip(&wanted).enumerate() {
            assert!((got - wanted).abs() < 1e-9, "{layout}, element {at}: {got} {wanted}");
        }
    }
}

#[test]
fn lists_of_random_operands_are_verified() {
    let folder = folder();
    let gather = list(&folder, "ga.npy", &[40, 3, 3, 0, 17]);
    let scatter = list(&folder, "sd.npy", &[0, 9, 4, 2, 11]);
    let groups = ["--k=20", "--group-k=7,0,13"];
    for (element, k) in ["f32", "bf16", "i8"].into_iter().flat_map(|x| groups.map(|k| (x, k))) {
        let types = format!("{element}:row");
        let said = verified(&[
            "--a",
            &types,
            "--b",
            &types,
            "--n",
            "33",
            k,
            "--gather-a",
            &gather,
            "--scatter-d",
            &scatter,
        ]);
        assert_eq!((said["m"].as_u64(), said["k"].as_u64()), (Some(5), Some(20)));
    }
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let folder = folder();
    let a_file = save(&path(&folder, "a.npy").0, &Matrix::random(4, 5, 1), "<f4", false);
    let b_file = save(&path(&folder, "b.npy").0, &Matrix::random(5, 6, 2), "<f4", false);
    let said = |flag: &str, indices: &[i32]| {
        let list = list(&folder, "list.npy", indices);
        refused(&["gemm", "--on", "host", "--a-file", &a_file, "--b-file", &b_file, flag, &list])
    };
    let told = said("--gather-a", &[0, 4]);
    assert!(told.contains("index 1 of A = 4 is outside 0 to 3; try 3"), "{told}");
    let told = said("--scatter-d", &[1, 1, 0, 2]);
    assert!(told.contains("index 1 of D = 1 repeats index 0"), "{told}");
    let told = said("--gather-b", &[0, -1]);
    assert!(told.contains("holds -1, and indices are not negative"), "{told}");
    let told = refused(&[
        "gemm",
        "--on",
        "host",
        "--a-file",
        &a_file,
        "--b-file",
        &b_file,
        "--gather-a",
        &a_file,
    ]);
    assert!(told.contains("the file must hold a vector"), "{told}");
}
