//! A text of the map from the threads of a warpgroup to elements.

use falchion::internals::index::{IndexMap, points};
use std::fmt::Write;

/// Returns the matrix of `columns` columns as text. Each element is its thread and its number
/// within the thread, such as `T5:2`, or `.` if no thread holds it.
pub fn holders(map: &dyn IndexMap, columns: u32) -> String {
    let columns = columns.max(1);
    let mut held = vec![".".to_owned(); map.codomain() as usize];
    for point in points(map) {
        if let Some(cell) = map.at(point).and_then(|offset| held.get_mut(offset as usize)) {
            *cell = format!("T{}:{}", point.row, point.column);
        }
    }
    let width = held.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for row in held.chunks(columns as usize) {
        let cells: Vec<_> = row.iter().map(|cell| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.join(" ").trim_end());
    }
    text
}
