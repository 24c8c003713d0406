//! How the warpgroups of a block share its tiles of D.

use crate::words::words;
words! {
    /// How warpgroups share tiles.
    pub enum ScheduleKind {
        /// All multiply one tile, each its part of it.
        Cooperative = "cooperative",
        /// Two consumers multiply whole tiles, ping-pong: while one multiplies, the other stores.
        Pingpong = "pingpong",
    }
}
