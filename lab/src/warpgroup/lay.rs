//! The operands of the probe, as bytes of a tile or of registers, and a text of the map from
//! threads to elements.

use falchion::{
    internals::index::{IndexMap, points},
    warp::mma_warpgroup::{FragmentMap, OperandTile, STEP_BYTES, STEPS, THREADS},
};
use std::fmt::Write;

/// Returns the bytes of a tile. Each element has the low bytes of `bits(mn, k)`.
///
/// ```
/// use falchion::{numeric::ElementKind, threadblock::Along, warp::mma_warpgroup::{OperandTile, SwizzleMode}};
/// use falchion_lab::warpgroup::tile_bytes;
/// let tile = OperandTile::new(ElementKind::F16, Along::K, SwizzleMode::Bytes128, 8).expect("a tile");
/// let bytes = tile_bytes(&tile, |mn, k| 64 * mn + k);
/// // Row 1 begins in the second chunk of its line, and chunk 1 comes first.
/// assert_eq!((&bytes[128..130], &bytes[144..146]), (&[72, 0][..], &[64, 0][..]));
/// ```
pub fn tile_bytes(tile: &OperandTile, bits: impl Fn(u32, u32) -> u32) -> Vec<u8> {
    let width = tile.input().bytes_of(1) as usize;
    let mut laid = vec![0; tile.bytes() as usize];
    for (point, at) in
        points(tile).filter_map(|point| Some((point, tile.at(point)? as usize * width)))
    {
        laid[at..at + width].copy_from_slice(&bits(point.row, point.column).to_le_bytes()[..width]);
    }
    laid
}

/// Returns the registers of all threads for the [`STEPS`] instructions of a stage, thread by thread
/// and step by step. Each element of A has the low bytes of `bits(m, k)`.
pub fn fragment_bytes(map: &FragmentMap, bits: impl Fn(u32, u32) -> u32) -> Vec<u8> {
    let (held, width) = (map.held(), map.input.bytes_of(1) as usize);
    let all = (0..THREADS).flat_map(|thread| {
        (0..STEPS).flat_map(move |step| (0..held).map(move |i| (thread, step, i)))
    });
    let element = |(thread, step, i)| {
        map.place(thread, i)
            .map_or(0, |(m, k)| bits(m, step * map.input.elements_in(STEP_BYTES) + k))
    };
    all.flat_map(|at| element(at).to_le_bytes().into_iter().take(width)).collect()
}

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
