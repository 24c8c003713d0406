//! The short name of a kernel in tables.

use crate::{
    nest::{AOperandKind, Addressing, GemmDesc, Pins, PromotionKind, SaturateKind},
    numeric::EmulationKind,
};
use core::fmt;

/// The short name that tables use: threadblock tile, warp tile, stages, CTAs per multiprocessor,
/// tile order, and what differs from the default, such as a cluster, split-K, or an index list.
impl fmt::Display for GemmDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pins = self.user_pins();
        write!(f, "{}", self.threadblock())?;
        if let Some(warp) = pins.warp {
            write!(f, "_{warp}")?;
        }
        // Kernels with clusters derive the instruction's name from the warp tile.
        if let (Some(instruction), None) = (pins.instruction, pins.cluster) {
            write!(f, "_{instruction}")?;
        }
        write!(f, "_s{}_b{}_{}", self.stages(), pins.blocks_per_sm.unwrap_or(1), self.swizzle())?;
        if pins.promotion == Some(PromotionKind::Stage) && pins.cluster.is_some() {
            f.write_str("_promoted")?;
        }
        if let Some(emulation) = pins.emulation.filter(|kind| *kind != EmulationKind::None) {
            write!(f, "_{}", emulation.name())?;
        }
        for (operand, transform) in [("a", pins.transform_a), ("b", pins.transform_b)] {
            if let Some(id) = transform {
                write!(f, "_{operand}:{id}")?;
            }
        }
        if pins.saturate == Some(SaturateKind::On) {
            f.write_str("_saturate")?;
        }
        if pins.a_operand == Some(AOperandKind::Registers) {
            f.write_str("_registers")?;
        }
        if let Some(pending) = pins.pending.filter(|pending| *pending != 1) {
            write!(f, "_p{pending}")?;
        }
        if let Some(cluster) = pins.cluster.filter(|cluster| cluster.m * cluster.n > 1) {
            write!(f, " cluster {cluster}")?;
        }
        if let (Some(by), Some(slices)) = (pins.decomposition, pins.split_k)
            && (slices > 1 || self.streams_k())
        {
            write!(f, " {by} {slices}")?;
        }
        for (name, words) in self.knobs().words().filter(|(name, _)| Pins::OMITTED.contains(name)) {
            write!(f, " {name} {words}")?;
        }
        let Addressing { gathers: [a, b], scatters, strided } = self.addressing().leave(self.frame);
        let words = [
            (a, " gathers a"),
            (b, " gathers b"),
            (scatters.is_some(), " scatters d"),
            (strided, " strided d"),
        ];
        words
            .iter()
            .filter(|(present, _)| *present)
            .try_for_each(|(_, words)| f.write_str(words))?;
        f.write_str(if self.is_of_columns() { " (swap-AB)" } else { "" })
    }
}
