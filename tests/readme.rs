//! The README's figures are those of the table that its command wrote.
#![cfg(feature = "serde")]

use serde_json::Value;

#[test]
fn the_readmes_figures_are_the_tables() {
    let lines: Vec<Value> = include_str!("../docs/performance/simt.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = include_str!("../README.md")
        .lines()
        .filter(|line| line.starts_with("| row") || line.starts_with("| col"))
        .map(cells)
        .collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        for (m, figures) in [(4096, &row[3..5]), (8192, &row[5..7])] {
            let is = |line: &&Value| {
                line["m"] == m
                    && [("a", 0), ("b", 1), ("c", 2)].iter().all(|(field, i)| line[field] == format!("f32:{}", row[*i]))
            };
            let line = lines.iter().find(is).unwrap_or_else(|| panic!("{m} {row:?} is not in the table"));
            let number = |field: &str| line[field].as_f64().expect("a number");
            assert_eq!(figures[0], format!("{:.1}", number("ours_tflops")), "{m} {row:?}");
            assert_eq!(figures[1], format!("{:.2}", number("ratio")), "{m} {row:?}");
        }
    }
}
