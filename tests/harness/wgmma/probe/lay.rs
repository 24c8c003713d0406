//! The operands of the probe, as bytes of a tile or of registers.

use crate::harness::prelude::*;
use falchion::warp::wgmma::{FragmentMap, STEP_BYTES, THREADS};

/// Returns the bytes of a tile. Each element has the low bytes of `bits(mn, k)`.
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
