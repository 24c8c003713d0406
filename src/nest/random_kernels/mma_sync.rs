//! Random `mma.sync` kernels without a producer.

use super::{Draw, limits, mainloop, transforms};
use crate::{
    nest::{Class, Frame, Knobs},
    numeric::{ElementKind::F32, EmulationKind, Multiplied},
    shape::Mnk,
    warp::{
        MmaSyncKnobs, SaturateKind, WarpMma,
        mma_sync::{MathOperator, WarpInstruction},
    },
};

pub(super) fn knobs(draw: &mut Draw, user: &Class) -> Knobs {
    let emulation = match user.a.element {
        F32 => draw.choose(&[EmulationKind::Tf32x3, EmulationKind::Tf32x3, EmulationKind::Bf16x1]),
        _ => EmulationKind::None,
    };
    let multiplied = [user.a.element, user.b.element].map(|stored| {
        let transforms = transforms(stored);
        match transforms.is_empty() || !draw.once_in(3) {
            true => Multiplied::from_emulation(emulation),
            false => Multiplied::Transformed(draw.choose(&transforms)),
        }
    });
    let math = MathOperator::for_operands(multiplied, Frame::USER);
    let inputs = [user.a.element, user.b.element];
    let fits = |one: &WarpInstruction| one.sm() <= user.arch.sm();
    let instructions: Vec<_> = WarpInstruction::all()
        .filter_map(|one| WarpInstruction::new(math, inputs, user.accumulator, one.shape()))
        .filter(fits)
        .map(|one| one.shape())
        .collect();
    let instruction =
        if instructions.is_empty() { Mnk::new(16, 8, 8) } else { draw.choose(&instructions) };
    let sides = [16, 32, 32, 48, 64, 64, 96, 128];
    let k = instruction.k * draw.choose(&[1, 2, 2, 4, 8]);
    let warp = Mnk::new(draw.choose(&sides), draw.choose(&sides), k);
    let warps = [1, 1, 2, 2, 3, 4];
    let tile = Mnk::new(
        warp.m * draw.choose(&warps),
        warp.n * draw.choose(&warps),
        k * draw.choose(&[1, 1, 1, 2]),
    );
    let most = user.a.element.elements_in(16);
    let accesses = [most, most, most / 2, 4.min(most), 2.min(most), 1].map(|access| access.max(1));
    let access = [draw.choose(&accesses), draw.choose(&accesses), draw.choose(&[1, 2, 2])];
    let saturate = if draw.once_in(8) { SaturateKind::On } else { SaturateKind::Off };
    let mma = WarpMma::MmaSync(MmaSyncKnobs { warp, instruction, saturate });
    let knobs = Knobs { multiplied, ..Knobs::new(mainloop(draw, tile, false), mma, access) };
    limits(draw, knobs)
}
