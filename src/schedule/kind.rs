//! How the warpgroups of a block share its tiles of D.

/// How warpgroups share tiles, as a value.
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

/// How warpgroups share tiles, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a schedule of warpgroups",
    note = "write CooperativeSchedule or PingpongSchedule"
)]
pub trait WarpgroupSchedule: 'static {
    /// The same choice, as a value.
    const KIND: ScheduleKind;
}

/// [`ScheduleKind::Cooperative`].
#[derive(Clone, Copy, Debug)]
pub struct CooperativeSchedule;

/// [`ScheduleKind::Pingpong`].
#[derive(Clone, Copy, Debug)]
pub struct PingpongSchedule;

impl WarpgroupSchedule for CooperativeSchedule {
    const KIND: ScheduleKind = ScheduleKind::Cooperative;
}

impl WarpgroupSchedule for PingpongSchedule {
    const KIND: ScheduleKind = ScheduleKind::Pingpong;
}
