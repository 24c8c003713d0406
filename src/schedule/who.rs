//! Who performs a step of a role, and what the steps of roles move.

use super::Role;
use crate::operand::OperandKind;
use core::fmt;

/// A warp of a cluster. Of a producer, the warpgroup is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WarpName {
    /// Its block's rank in the cluster.
    pub block: u32,
    /// Which consumer.
    pub warpgroup: u32,
    /// Which of its four warps.
    pub warp: u32,
}

/// Who did it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// Its role.
    pub role: Role,
    /// Its place.
    pub name: WarpName,
}

/// A share of an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShareName {
    /// Which of the block's tiles of D it is for.
    pub tile: u32,
    /// Which k-tile.
    pub k: u32,
    /// Of which operand.
    pub operand: OperandKind,
    /// For which block of the cluster; `None` for all.
    pub block: Option<u32>,
    /// Which share.
    pub share: u32,
}

/// A subtile of a consumer's part of a tile of D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubtileName {
    /// Which of the block's tiles of D.
    pub tile: u32,
    /// Which subtile.
    pub subtile: u32,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WarpName { block, warpgroup, warp } = self.name;
        match self.role {
            Role::Consumer => write!(f, "warp {warp} of consumer {warpgroup} of block {block}"),
            _ => write!(f, "warp {warp} of the producer of block {block}"),
        }
    }
}

impl fmt::Display for ShareName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "share {} of {} along K {} of tile {}",
            self.share,
            self.operand.name(),
            self.k,
            self.tile
        )?;
        self.block.map_or(Ok(()), |block| write!(f, " of block {block}"))
    }
}

impl fmt::Display for SubtileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "subtile {} of tile {}", self.subtile, self.tile)
    }
}
