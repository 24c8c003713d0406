//! `falchion gemm` with several GEMMs: batches, pointer arrays, and grouped GEMM.

use crate::{
    common::{done, refused},
    gemm::verified,
};

#[test]
fn batches_are_verified() {
    for given in [
        "--batch 3 --beta 2",
        "--batch 2 --checked --c f32:col --lda 40",
        "--batch 4 --a bf16:row --b bf16:col --c bf16:row --op tensorop --checked --beta -1",
        "--batch 2 --a i8:row --b i8:row --c i32:row --op tensorop --checked",
        "--batch 3 --a f32:row --b f32:col --op tensorop --emulation f16x3 --checked",
        "--batch 1",
    ] {
        let args: Vec<_> = "--m 33 --n 20 --k 17".split(' ').chain(given.split(' ')).collect();
        let batch = given
            .split(' ')
            .nth(1)
            .and_then(|number| number.parse::<u64>().ok())
            .expect("a number");
        let object = verified(&args);
        let told = ["batch", "elements_checked"].map(|name| object[name].as_u64());
        assert_eq!(told, [Some(batch), Some(batch * 33 * 20)], "{given}");
    }
    let said = done(&["gemm", "--on", "host", "--m", "9", "--n", "8", "--k", "7", "--batch", "5"]);
    assert!(said.starts_with("5 GEMMs, each 9 x 8 x 7, "), "{said}");
    for nothing in ["--m 9 --k 7 --batch 0", "--m 0 --k 0 --batch 18446744073709551615"] {
        let args: Vec<_> = ["--n", "8"].into_iter().chain(nothing.split(' ')).collect();
        assert_eq!(verified(&args)["elements_checked"].as_u64(), Some(0), "{nothing}");
    }
}

/// Each GEMM of a batch reads its own auxiliary matrix, and writes results of its own.
#[test]
fn batches_with_matrices_and_results_are_verified() {
    for (epilogue, results) in [
        ("acc + aux1", 0),
        ("aux1:f32 = acc + bias_n; relu(aux1)", 33 * 20),
        ("amax(row_amax(col_amax(acc)))", 1 + 33 + 20),
        ("aux2 = amax(acc); aux2 + aux1", 33 * 20 + 1),
        ("row_sum(col_sumsq(acc))", 33 + 20),
    ] {
        let args: Vec<_> = "--m 33 --n 20 --k 17 --batch 3 --checked --epilogue"
            .split(' ')
            .chain([epilogue])
            .collect();
        let object = verified(&args);
        let told = ["elements_checked", "results_checked"].map(|name| object[name].as_u64());
        let results = 3 * results as u64;
        assert_eq!(told, [Some(3 * 33 * 20 + results), Some(results)], "{epilogue}");
    }
    let grouped = "gemm --group-rows 5,0,9 --n 20 --k 17 --verify --on host --epilogue";
    let args: Vec<_> = grouped.split(' ').chain(["amax(row_amax(acc))"]).collect();
    assert!(done(&args).contains("results of the epilogue beside D"));
}

/// Pointer arrays in both modes, with each kind of kernel, and with more GEMMs than one launch
/// supports. Explanations contain the number of launches.
#[test]
fn pointer_arrays_are_verified() {
    for given in [
        "--batch 5 --beta 2",
        "--batch 3 --checked --a f32:col --c f32:col --lda 40 --split-k 2",
        "--batch 121 --a i8:row --b i8:row --c i32:row",
        "--batch 3 --a f16:row --b f16:col --c f16:row --op tensorop --arch sm80 --checked --beta -1",
        "--batch 3 --a bf16:row --b bf16:col --c bf16:row --op tensorop --checked",
        "--batch 1 --a f64:col --b f64:row --c f64:col",
    ] {
        let args: Vec<_> =
            "--m 33 --n 20 --k 70 --pointers".split(' ').chain(given.split(' ')).collect();
        let object = verified(&args);
        let products: u64 = given.split(' ').nth(1).expect("a number").parse().expect("a number");
        assert_eq!(
            (object["elements_checked"].as_u64(), object["pointers"].as_bool()),
            (Some(products * 660), Some(true)),
            "{given}"
        );
    }
    let explained = |given: &str| {
        let args = "gemm --explain --m 200 --n 96 --k 64 --batch 300 --pointers --for h200";
        done(&args.split(' ').chain(given.split_whitespace()).collect::<Vec<_>>())
    };
    for given in ["", "--a bf16:row --b bf16:col --c bf16:row --op tensorop"] {
        let text = explained(given);
        let launches =
            "1, after a launch that writes records to the workspace; without a workspace, 300";
        assert!(text.contains(launches) && text.contains(", for each of 300 GEMMs; "), "{text}");
    }
    let one_each =
        explained("--a f32:row --b f32:col --c f32:row --op tensorop --emulation bf16x6");
    assert!(one_each.contains("300, one per GEMM, because passes copy its operands"), "{one_each}");
    let streamed = explained("--decomposition streamk");
    assert!(
        streamed.contains("300, one per GEMM, because stream-K divides each GEMM alone"),
        "{streamed}"
    );
    for (given, says) in [
        ("--m 5 --k 7 --group-rows 5 --pointers", "cannot be used with"),
        (
            "--m 5 --k 7 --batch 0 --pointers",
            "number of GEMMs = 0 is outside 1 to 2147483647; try 1",
        ),
        (
            "--m 0 --k 0 --batch 18446744073709551615 --pointers",
            "number of GEMMs = 18446744073709551615 is outside",
        ),
    ] {
        let args: Vec<_> = "gemm --on host --n 8".split(' ').chain(given.split(' ')).collect();
        let sentence = refused(&args);
        assert!(sentence.contains(says), "{given}: {sentence}");
    }
}

#[test]
fn grouped_gemms_are_verified() {
    for given in [
        "--group-rows 20,0,13 --beta 2",
        "--group-rows 0,130 --checked --c f32:col --lda 140 --k 5",
        "--group-rows 1,2,3,60 --a bf16:row --b bf16:col --c bf16:row --op tensorop --checked --beta -1",
        "--group-rows 7,0 --a i8:row --b i8:row --c i32:row --op tensorop --checked",
        "--group-rows 33 --a f64:col --b f64:row --c f64:col",
        "--group-rows 0",
    ] {
        let args: Vec<_> = "--n 20 --k 17"
            .split(' ')
            .take(if given.contains("--k") { 2 } else { 4 })
            .chain(given.split(' '))
            .collect();
        let rows: Vec<u64> = given
            .split(' ')
            .nth(1)
            .expect("rows")
            .split(',')
            .map(|rows| rows.parse().expect("a number"))
            .collect();
        let object = verified(&args);
        let told: Option<Vec<_>> = object["group_rows"]
            .as_array()
            .map(|rows| rows.iter().filter_map(serde_json::Value::as_u64).collect());
        let together: u64 = rows.iter().sum();
        assert_eq!(
            (object["m"].as_u64(), object["elements_checked"].as_u64()),
            (Some(together), Some(together * 20)),
            "{given}"
        );
        assert_eq!(told, Some(rows), "{given}");
    }
    let said = done(&["gemm", "--on", "host", "--n", "8", "--k", "7", "--group-rows", "5,0,4"]);
    assert!(said.starts_with("3 groups, in total 9 x 8 x 7, "), "{said}");
    let explained = done(&[
        "gemm",
        "--explain",
        "--n",
        "200",
        "--k",
        "64",
        "--group-rows",
        "100,0,37",
        "--for",
        "t4",
    ]);
    assert!(explained.contains(" at most, in 3 groups; "), "{explained}");
    for (given, says) in [
        ("--m 5 --group-rows 5,4", "--m is 5, but the sum of --group-rows is 9; remove --m"),
        ("--group-rows 5,,4", "invalid value '' for '--group-rows <N,..>'"),
        ("--group-rows 5 --batch 2", "cannot be used with"),
        ("--group-rows 18446744073709551615,1", "M = 18446744073709551615 exceeds 2147483647"),
        (
            "--group-rows 64,64 --split-k 2",
            "--split-k 2 is not 1 (grouped GEMM keeps K whole); try 1",
        ),
    ] {
        let args: Vec<_> =
            "gemm --on host --n 8 --k 64".split(' ').chain(given.split(' ')).collect();
        let sentence = refused(&args);
        assert!(sentence.contains(says), "{given}: {sentence}");
    }
}

#[test]
fn gemms_grouped_along_k_are_verified() {
    for given in [
        "--group-k 20,0,13 --beta 2",
        "--group-k 0,130,3 --checked --c f32:col --lda 140",
        "--group-k 1,2,3,60 --a bf16:col --b bf16:row --c bf16:row --op tensorop --checked --beta -1",
        "--group-k 7,0,33 --a i8:row --b i8:col --c i32:row --op tensorop --checked",
        "--group-k 33 --a f64:col --b f64:row --c f64:col",
        "--group-k 0",
    ] {
        let args: Vec<_> = "--m 12 --n 20".split(' ').chain(given.split(' ')).collect();
        let depths: Vec<u64> = given
            .split(' ')
            .nth(1)
            .expect("depths")
            .split(',')
            .map(|depth| depth.parse().expect("a number"))
            .collect();
        let object = verified(&args);
        assert_eq!(
            (object["k"].as_u64(), object["batch"].as_u64(), object["elements_checked"].as_u64()),
            (
                Some(depths.iter().sum()),
                Some(depths.len() as u64),
                Some(depths.len() as u64 * 12 * 20)
            ),
            "{given}"
        );
        assert_eq!(object["group_k"], serde_json::json!(depths), "{given}");
    }
    let said = done(&["gemm", "--on", "host", "--m", "9", "--n", "8", "--group-k", "5,0,2"]);
    assert!(said.starts_with("3 groups, in total 9 x 8 x 7, "), "{said}");
    let explained = "gemm --explain --m 200 --n 64 --group-k 100,0,37 --for h200";
    let explained = done(&explained.split(' ').collect::<Vec<_>>());
    assert!(explained.contains(", for each of 3 groups; "), "{explained}");
    for (given, says) in [
        ("--k 5 --group-k 5,4", "--k is 5, but the sum of --group-k is 9; remove --k"),
        ("--group-k 5,,4", "invalid value '' for '--group-k <N,..>'"),
        ("--group-k 5 --batch 2", "cannot be used with"),
        ("--group-k 5 --group-rows 2", "cannot be used with"),
        ("--group-k 5 --pointers", "cannot be used with"),
        ("--group-k 18446744073709551615,1", "K = 18446744073709551615 exceeds 2147483647"),
        ("--group-k 64,64 --split-k 2", "--split-k 2 is not 1 (grouped GEMM keeps K whole); try 1"),
    ] {
        let args: Vec<_> =
            "gemm --on host --m 8 --n 8".split(' ').chain(given.split(' ')).collect();
        let sentence = refused(&args);
        assert!(sentence.contains(says), "{given}: {sentence}");
    }
}
