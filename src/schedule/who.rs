//! Identities of warps and of the data that role steps move, for faults.

use super::Role;
use crate::shape::OperandKind;
use core::fmt;

/// Warp of a cluster. The producer has warpgroup 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WarpName {
    /// Rank of the warp's block in the cluster.
    pub block: u32,
    /// Index of the consumer.
    pub warpgroup: u32,
    /// Index of the warp in its warpgroup.
    pub warp: u32,
}

/// Warp and role that performed a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// Role of the warp.
    pub role: Role,
    /// Position of the warp.
    pub name: WarpName,
}

/// Share of an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShareName {
    /// Index of the tile of D among the block's tiles.
    pub tile: u32,
    /// Index of the k-tile.
    pub k: u32,
    /// Operand.
    pub operand: OperandKind,
    /// Destination block in the cluster; `None` for all blocks.
    pub block: Option<u32>,
    /// Index of the share.
    pub share: u32,
}

/// Subtile of a consumer's part of a tile of D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubtileName {
    /// Index of the tile of D among the block's tiles.
    pub tile: u32,
    /// Index of the subtile.
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
