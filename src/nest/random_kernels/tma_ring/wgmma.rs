//! Random kernels with a TMA ring and `wgmma`.

use super::{super::limits, Draw, ring};
use crate::{
    nest::{AOperandKind, Class, Knobs, PromotionKind},
    numeric::{ElementKind::F32, EmulationKind, Multiplied},
    schedule::ScheduleKind,
    shape::Mnk,
    warp::{WarpMma, WgmmaKnobs},
};

/// Returns the knobs of a random kernel with a ring and `wgmma`.
pub(in super::super) fn knobs(draw: &mut Draw, user: &Class) -> Knobs {
    let emulation = match user.a.element {
        F32 => draw.choose(&[EmulationKind::Bf16x6, EmulationKind::Bf16x3, EmulationKind::F16x3]),
        _ => EmulationKind::None,
    };
    let math = emulation.term_type().unwrap_or(user.a.element);
    let (k, step) = (math.elements_in(128), math.elements_in(32));
    let columns = draw.choose(&[8, 16, 32, 64, 64, 96, 128, 128, 160, 176, 192, 256]);
    let warp = Mnk::new(64 * draw.choose(&[1, 1, 2, 3]), columns * draw.choose(&[1, 1, 1, 2]), k);
    let grid = draw.choose(&[(1, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3)]);
    let schedule = if grid == (1, 1) && !draw.once_in(3) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, k);
    let promotion =
        draw.choose(&[PromotionKind::Never, PromotionKind::Never, PromotionKind::Stage]);
    let a_operand =
        draw.choose(&[AOperandKind::Shared, AOperandKind::Shared, AOperandKind::Registers]);
    let mma = WarpMma::Wgmma(WgmmaKnobs {
        warp,
        instruction: Mnk::new(64, columns, step),
        a_operand,
        pending: draw.choose(&[0, 1, 1, 2]),
        promotion,
    });
    let [a, c] = [user.a.element, user.output.element].map(|kind| kind.elements_in(16));
    let access = [a, a, draw.choose(&[c, c, c, 1, 2])];
    let ring = ring(draw, tile, schedule);
    let multiplied = [Multiplied::from_emulation(emulation); 2];
    limits(draw, Knobs { multiplied, ..Knobs::new(ring, mma, access) })
}
