//! Cooperative and ping-pong schedules of consumer warpgroups.

use crate::shape::words::words;
words! {
    /// Distribution of tiles of D over the consumer warpgroups of a block.
    pub enum ScheduleKind {
        /// All consumers multiply parts of one tile.
        Cooperative = "cooperative",
        /// Two consumers multiply whole tiles: while one multiplies, the other stores.
        Pingpong = "pingpong",
    }
}
