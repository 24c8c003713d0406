//! How the warpgroups of a block share its tiles of D.

/// How warpgroups share tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum ScheduleKind {
    /// All multiply one tile, each its part of it.
    Cooperative,
    /// Two multiply whole tiles in turns: while one multiplies, the other stores.
    Pingpong,
}

impl ScheduleKind {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Cooperative, Self::Pingpong];

    /// The name, as the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cooperative => "cooperative",
            Self::Pingpong => "pingpong",
        }
    }
}
