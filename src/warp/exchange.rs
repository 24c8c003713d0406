//! Lanes that share a row of a tile exchange its elements before D is stored an element at a time.
//!
//! A lane holds runs of neighbours, since it loads them as vectors (blocked). Stored one by one,
//! those of neighbouring lanes lie a run apart, and every store touches each sector of the row. So
//! the lanes exchange them, in as many rounds as a run has elements, until neighbouring lanes hold
//! neighbours (striped). A lane publishes one element a round, which is what all lanes want that
//! read it then:
//!
//! ```text
//! in round t lane l takes  column ((t + l) mod run) * lanes + l   of the row's lanes * run columns
//! from lane                ((t + l) mod run) * (lanes / run) + l / run
//! ```
//!
//! Twin: `kernels/warp/exchange.cuh`. Source: CUB, `WarpExchange`, whose terms blocked and striped
//! are.

use crate::{
    index::{Coord, IndexMap},
    numeric::ElementKind,
    shape::at_least_one,
    thread::mma::packed,
    warp::mma_simt::ThreadTiles,
};

/// The map (lane, round) to the column of the element that the lane takes, of a row of `lanes *
/// run` columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockedToStriped {
    /// Neighbours that a lane has at first.
    pub run: u32,
    /// Lanes that share the row.
    pub lanes: u32,
}

impl BlockedToStriped {
    /// That of tiles whose D is stored so many elements at a time; `None` where lanes have no
    /// neighbours, or fewer share a row, where accumulators lie two in a register, and on tensor
    /// cores, of which a lane's two neighbours lie beside the next lane's.
    pub const fn of(
        tiles: &ThreadTiles,
        accumulator: ElementKind,
        store_access: u32,
    ) -> Option<Self> {
        let (run, lanes) = (tiles.interleave[1], tiles.lanes.n);
        let alone =
            store_access == 1 && packed(accumulator, tiles.thread()) == 1 && !tiles.lanes.quads;
        if alone && run > 1 && lanes.is_multiple_of(run) { Some(Self { run, lanes }) } else { None }
    }

    /// What it is called in kernels.
    pub fn twin(&self) -> String {
        format!("warp::BlockedToStriped<{}, {}>", self.run, self.lanes)
    }

    /// The lane that a lane takes its element of a round from.
    pub const fn source(&self, lane: u32, round: u32) -> u32 {
        (round + lane) % self.run * (self.lanes / at_least_one(self.run)) + lane / self.run
    }

    /// Which of its run a lane publishes in a round.
    pub const fn published(&self, lane: u32, round: u32) -> u32 {
        (lane / at_least_one(self.lanes / at_least_one(self.run)) + self.run - round) % self.run
    }
}

impl IndexMap for BlockedToStriped {
    fn domain(&self) -> Coord {
        Coord { row: self.lanes, column: self.run }
    }

    fn codomain(&self) -> u32 {
        self.lanes * self.run
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let from = self.source(point.row, point.column);
        Some(from * self.run + self.published(from, point.column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After all rounds a lane has every `lanes`-th column from its own on, each once; in a round
    /// all who read a lane want the element that it publishes.
    #[test]
    fn blocks_become_stripes() {
        for run in [1, 2, 4, 8, 16] {
            for lanes in
                [1, 2, 4, 8, 16, 32].into_iter().filter(|lanes: &u32| lanes.is_multiple_of(run))
            {
                let map = BlockedToStriped { run, lanes };
                for lane in 0..lanes {
                    let mut taken: Vec<_> = (0..run)
                        .map(|round| map.at(Coord { row: lane, column: round }).unwrap())
                        .collect();
                    taken.sort_unstable();
                    assert_eq!(
                        taken,
                        (0..run).map(|stripe| stripe * lanes + lane).collect::<Vec<_>>(),
                        "{map:?} {lane}"
                    );
                    for round in 0..run {
                        let stripe = (round + lane) % run;
                        let wanted = stripe * lanes + lane;
                        assert_eq!(
                            (wanted / run, wanted % run),
                            (
                                map.source(lane, round),
                                map.published(map.source(lane, round), round)
                            )
                        );
                    }
                }
            }
        }
    }

    /// Only where D is stored an element at a time, a lane has neighbours, and a stripe is a whole
    /// number of runs.
    #[test]
    fn lanes_that_have_no_neighbours_exchange_nothing() {
        use crate::{shape::Mnk, warp::mma_simt::LaneArrangement};
        let tiles = |run, n, quads| ThreadTiles {
            block: Mnk { m: 64, n: 64, k: 8 },
            warp: Mnk { m: 32, n: 64, k: 8 },
            lanes: LaneArrangement { m: 32 / n, n, quads },
            interleave: [4, run],
        };
        let exchanges = |run, n, access| {
            BlockedToStriped::of(&tiles(run, n, false), ElementKind::F32, access).is_some()
        };
        assert_eq!([exchanges(4, 8, 1), exchanges(2, 8, 1)], [true; 2]);
        assert_eq!([exchanges(1, 8, 1), exchanges(4, 2, 1), exchanges(4, 8, 2)], [false; 3]);
        assert_eq!(BlockedToStriped::of(&tiles(4, 8, false), ElementKind::F16, 1), None);
        assert_eq!(BlockedToStriped::of(&tiles(2, 4, true), ElementKind::F32, 1), None);
    }
}
