//! Stages in parts: each multiplied into partial sums, of which a warp has one set, and promoted from there.

use super::{RingFault, fault::Who, machine::Machine, payload::Payload, warp::Warp};

impl<P: Payload> Warp<P> {
    /// Partial sums are of a part from now on. Whether the warp's products then read the last of so many parts of the stage.
    pub(super) fn begins_part(&mut self, who: Who, part: u8, parts: u32) -> Result<bool, RingFault> {
        if let Some(lost) = self.held {
            return Err(RingFault::PartOverwritten { who, part, lost });
        }
        if self.parts.contains(&part) {
            return Err(RingFault::PartAgain { who, part });
        }
        self.parts.push(part);
        self.held = Some(part);
        Ok(self.parts.len() == parts as usize)
    }
}

impl<P: Payload> Machine<'_, P> {
    /// Adds partial sums to a part's. With the last part the stage is summed.
    pub(super) fn promote(&mut self, mover: usize, part: u8) -> Result<(), RingFault> {
        let who = self.who(mover);
        let warp = &mut self.warps[mover];
        if !warp.products.is_empty() || warp.groups.iter().any(|group| !group.is_empty()) {
            return Err(RingFault::PartUnderWay { who, part });
        }
        if warp.held != Some(part) {
            return Err(RingFault::NothingToPromote { who, part, found: warp.held });
        }
        let before = if warp.summed.0 == warp.tile { warp.summed.1 } else { 0 };
        self.payload.promote(who.name, part, before == 0, &warp.partial, &mut warp.sums);
        // Read by other instructions than products, partial sums are in no order with those.
        (warp.held, warp.touched) = (None, true);
        warp.promoted += 1;
        if warp.promoted == self.program.promoted_parts {
            warp.summed = (warp.tile, before + 1);
            (warp.parts, warp.promoted) = (Vec::new(), 0);
        }
        Ok(())
    }
}
