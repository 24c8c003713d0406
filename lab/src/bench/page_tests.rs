use super::page;
use crate::bench::{Data, record::tests::line, suite::Broadcast};

/// Whether a page contains `part`, whose prose may be wrapped anywhere.
fn says(page: &str, part: &str) -> bool {
    let flat = |text: &str| text.replace('\n', " ");
    page.contains(part) || flat(page).contains(&flat(part))
}

/// All rows of a page's table have as many cells as its header.
fn assert_rectangular(page: &str) {
    let table: Vec<_> = page.lines().filter(|line| line.starts_with('|')).collect();
    let pipes = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(table.iter().all(|row| pipes(row) == pipes(table[0])), "{page}");
}

#[test]
fn page_has_command_summary_and_one_cell_per_problem() {
    let mut noisy = line(2500.0, Some(2000.0));
    (noisy.noisy, noisy.problem.n) = (true, 64);
    let mut alone = line(2500.0, None);
    alone.problem.m = 1;
    let text = page(
        "SIMT",
        "falchion bench --suite benches/suites/simt.jsonl",
        &[line(2500.0, Some(3125.0)), noisy, alone],
    );
    for part in [
        "# SIMT\n\n`falchion bench --suite benches/suites/simt.jsonl` writes this page. Do not edit the page.\n",
        "**The geometric mean ratio over 2 of 3 problems is 1.000. The worst ratio is 0.800** (4096x64x4096, f32:row f32:col f32:row).",
        "The peer does not support 1 problem.",
        "1 ratio marked ~ varied by more than 1 %",
        "Commit c1066a8 ran on one NVIDIA H200 on 2026-11-20. The peer is cuBLASLt (version 13.1.0).\n",
        "\n| M x N x K | A, B, D | f32 |\n|---|---|---|\n",
        "\n| 4096 x 4096 x 4096 | row ld 4100, col, row | 2500.0 **1.250** |\n",
        "| 2500.0 **0.800** ~ |",
        "| 1 x 4096 x 4096 | row ld 4100, col, row | 2500.0 |\n",
    ] {
        assert!(says(&text, part), "{part}\nis not in\n{text}");
    }
    assert_rectangular(&text);
}

/// A wrong peer is marked and does not count; a peer with some wrong algorithms counts.
#[test]
fn wrong_peers_are_marked_and_excluded_from_the_mean() {
    let (mut wrong, mut some) = (line(10.0, Some(1.0)), line(10.0, Some(20.0)));
    (wrong.peer_verified, wrong.peer_wrong) = (Some(false), 8);
    (some.peer_wrong, some.problem.n) = (1, 64);
    let text = page("X", "c", &[wrong, some]);
    for part in [
        "**The geometric mean ratio over 1 of 2 problems is 2.000. The worst ratio is 2.000**",
        "The peer returned at least one wrong algorithm for 2 problems.",
        "The peer has no correct algorithm for 1 problem marked !.",
        "The mean and the worst ratio exclude ratios marked !.",
        "| 10.00 **0.100** ! |",
    ] {
        assert!(says(&text, part), "{part}\nis not in\n{text}");
    }
}

/// Each element type has a column, and a size that has no problem of a type has an empty cell.
#[test]
fn element_types_are_columns() {
    let f32 = line(2500.0, Some(5000.0));
    let mut bf16 = f32.clone();
    for operand in [&mut bf16.problem.a, &mut bf16.problem.b] {
        operand.element = falchion::numeric::ElementKind::Bf16;
    }
    let mut small = bf16.clone();
    small.problem.m = 64;
    let text = page("X", "c", &[f32.clone(), bf16, small, f32]);
    for part in [
        "| M x N x K | A, B, D | f32 | bf16 to f32 |",
        "| row ld 4100, col, row | 2500.0 **2.000** | 2500.0 **2.000** |",
        "| 64 x 4096 x 4096 | row ld 4100, col, row |  | 2500.0 **2.000** |",
        "| row ld 4100, col, row | 2500.0 **2.000** |  |",
    ] {
        assert!(says(&text, part), "{part}\nis not in\n{text}");
    }
    assert_rectangular(&text);
}

#[test]
fn errors_have_columns_if_problems_name_their_data() {
    let mut measured = line(2500.0, Some(5000.0));
    measured.problem.data = Some(Data::Cancelling);
    (measured.error, measured.sgemm_error) =
        (Some(1.5 / f64::from(1 << 24)), Some(3.0 / f64::from(1 << 24)));
    let mut refused = line(0.0, None);
    refused.problem.data = Some(Data::Wide);
    refused.refused = Some("row 3 of A".to_owned());
    let text = page("X", "c", &[measured, refused]);
    assert!(text.contains("| f32 | cancelling |"), "{text}");
    assert!(text.contains("| 2.000 | 1.50 | 3.00 |  |\n"), "{text}");
    assert!(text.contains("| – | – | – | row 3 of A |\n"), "{text}");
    assert_rectangular(&text);
}

#[test]
fn batches_groups_and_arrays_have_a_column() {
    let mut batch = line(2500.0, Some(2000.0));
    (batch.problem.batch, batch.problem.broadcast) = (Some(64), Some(Broadcast::B));
    let (mut groups, mut array) = (line(2500.0, Some(2100.0)), line(2500.0, Some(5000.0)));
    groups.problem.group_rows = Some(vec![3, 1900, 2193]);
    groups.peer = Some("cublaslt called for each group".into());
    (array.problem.batch, array.problem.pointers) = (Some(64), true);
    let text = page("X", "c", &[batch, groups, array, line(2500.0, Some(5000.0))]);
    for part in [
        "over 4 of 4 problems is ",
        "The worst ratio is 0.800** (64 of 4096x4096x4096, f32:row f32:col f32:row).",
        "The peer is cuBLASLt or cuBLASLt called for each group (version 13.1.0).",
        "\n| batch | M x N x K | A, B, D | f32 |",
        "\n| 64 | 4096 x 4096 x 4096 | row ld 4100, col shared, row |",
        "\n| 3 of 3 to 2193 rows | 4096 x 4096 x 4096 |",
        "\n| 64 by pointers | 4096 x 4096 x 4096 |",
        "\n|  | 4096 x 4096 x 4096 |",
    ] {
        assert!(says(&text, part), "{part}\nis not in\n{text}");
    }
    assert_rectangular(&text);
}

#[test]
fn page_states_which_launches_were_replayed() {
    let (long, mut short) = (line(2500.0, Some(2000.0)), line(2.5, Some(2.5)));
    let looped = "Stream capture failed for 1 problem below 50 µs";
    assert!(says(&page("X", "c", &[long.clone(), short.clone()]), looped));
    short.captured = true;
    let text = page("X", "c", &[long, short]);
    let replayed = says(&text, "A CUDA graph replayed the launches of 1 problem.");
    assert!(replayed && !says(&text, looped), "{text}");
}

#[test]
fn refused_problems_are_listed_with_their_sentence() {
    let mut refused = line(0.0, None);
    refused.refused = Some("stages = 99".to_owned());
    let text = page("X", "c", &[line(2.0, Some(2.0)), refused]);
    let part = "- Falchion refuses 4096x4096x4096, f32:row f32:col f32:row: stages = 99\n\n|";
    assert!(says(&text, part), "{text}");
    assert!(text.contains("| refused |") && !text.contains("does not support"), "{text}");
}

#[test]
fn page_without_ratios_says_so() {
    let text = page("X", "c", &[line(1.0, None)]);
    assert!(says(&text, "There is no ratio: the suite has 1 problem without a peer."), "{text}");
    assert!(!text.contains("does not support"), "{text}");
    assert!(says(&page("X", "c", &[]), "the suite has 0 problems"), "an empty page is a page");
}
