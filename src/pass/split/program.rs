//! What a split's kernel does, on the host: tile by tile, piece by piece.

use super::{PIECE, PIECES, SplitPassDesc, TILE};
use crate::{
    call::{DEPTH, SplitLayout},
    index::{Map, at},
    numeric::split::{LineFacts, shift_of},
};
use std::sync::Arc;

/// The kernel's maps and numbers for one operand. Tests change one thing and watch.
#[derive(Clone)]
pub struct SplitPassProgram {
    desc: SplitPassDesc,
    layout: SplitLayout,
    /// (thread, step) to `row * pieces + piece` of a tile.
    pub map: Map,
    /// Whether elements behind the end of K are zeros, and not what lies in memory there.
    pub padded: bool,
}

impl SplitPassProgram {
    /// That of a kernel and an operand, contiguous along K or not.
    pub fn of(desc: SplitPassDesc, layout: SplitLayout, along_k: bool) -> Self {
        Self { desc, layout, map: Arc::new(desc.pieces(along_k)), padded: true }
    }

    /// The rows' parts, and the facts of rows that are scaled. Element (mn, k) of the operand is `source[mn * along_mn + k * along_k]`, and
    /// 0 where there is none.
    pub fn run(&self, source: &[f32], (along_mn, along_k): (usize, usize)) -> (Vec<u16>, Vec<LineFacts>) {
        let (split, rows, depth) = (self.desc.split(), self.layout.mn, DEPTH as usize);
        let across = self.layout.padded() as usize / depth;
        let element = |mn: usize, k: usize| match source.get(mn * along_mn + k * along_k) {
            Some(&x) if k < self.layout.k || !self.padded => x,
            _ => 0.0,
        };
        let line = |mn: usize| LineFacts::of((0..self.layout.k).map(move |k| element(mn, k)));
        let facts: Vec<LineFacts> = if split.scales() { (0..rows).map(line).collect() } else { Vec::new() };
        let (leading, padded) = (self.layout.leading() as usize, self.layout.padded() as usize);
        // What the workspace holds before: no number.
        let mut parts = vec![u16::MAX; rows * leading];
        let tiles = (0..rows.div_ceil(TILE as usize)).flat_map(|down| (0..across).map(move |along| (down, along)));
        for (down, along) in tiles {
            for (thread, step) in
                (0..self.desc.threads()).flat_map(|thread| (0..self.desc.steps()).map(move |step| (thread, step)))
            {
                let Some(place) = self.map.at(at(thread, step)) else { continue };
                let mn = down * TILE as usize + (place / PIECES) as usize;
                if mn >= rows {
                    continue;
                }
                let first = along * depth + (place % PIECES * PIECE) as usize;
                let shift = facts.get(mn).map_or(0, |facts| shift_of(facts.largest));
                for k in first..first + PIECE as usize {
                    let each = split.parts_of(element(mn, k), shift);
                    for (part, bits) in each.into_iter().enumerate().take(split.parts() as usize) {
                        parts[mn * leading + part * padded + k] = bits;
                    }
                }
            }
        }
        (parts, facts)
    }
}
