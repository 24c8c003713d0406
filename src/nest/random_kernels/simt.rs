//! Random SIMT kernels without a producer.

use super::{Draw, SMEM, limits, mainloop, transforms};
use crate::{
    nest::{Class, Knobs},
    numeric::Multiplied,
    shape::Mnk,
    threadblock::smem::SmemLayout,
    warp::{InterleaveKind, SimtKnobs, WarpMma},
};

pub(super) fn knobs(draw: &mut Draw, user: &Class) -> Knobs {
    let (sides, k) =
        ([8, 16, 16, 32, 32, 64, 64, 128], draw.choose(&[8, 8, 8, 16, 16, 32, 12, 64, 10]));
    let warp = Mnk::new(draw.choose(&sides), draw.choose(&sides), k);
    let warps = [1, 1, 2, 2, 3, 4, 8];
    let tile = Mnk::new(
        warp.m * draw.choose(&warps),
        warp.n * draw.choose(&warps),
        k * draw.choose(&[1, 1, 1, 2, 4]),
    );
    let most = user.a.element.elements_in(16);
    let accesses = [1, 2, 4, 8, 16].map(|access: u32| access.min(most));
    let access = [draw.choose(&accesses), draw.choose(&accesses), draw.choose(&[1, 2, 4])];
    let interleave = draw.choose(&[
        InterleaveKind::Vector,
        InterleaveKind::Vector,
        InterleaveKind::Elements(1),
        InterleaveKind::Elements(8),
    ]);
    let mma = WarpMma::Simt(SimtKnobs { warp, thread: None, interleave });
    let knobs = Knobs::new(mainloop(draw, tile, true), mma, access);
    let smem =
        [(); 2].map(|()| if draw.once_in(4) { draw.choose(&SMEM) } else { SmemLayout::Auto });
    let multiplied = [user.a.element, user.b.element].map(|stored| {
        let transforms = transforms(stored);
        match transforms.is_empty() || !draw.once_in(6) {
            true => Multiplied::Stored,
            false => Multiplied::Transformed(draw.choose(&transforms)),
        }
    });
    limits(draw, Knobs { smem, multiplied, ..knobs })
}
