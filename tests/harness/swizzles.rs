//! Users' orders of tiles.

use crate::harness::prelude::*;
use falchion::threadblock::{ThreadblockSwizzle, register_swizzle};

/// Down a column of tiles, up the next column, and so on.
pub struct Snake;

impl ThreadblockSwizzle for Snake {
    const NAME: &'static str = "snake";
    const CUDA: &'static str = "unsigned const column = block / rows, down = block % rows;
        return {column % 2 == 0 ? down : rows - 1 - down, column}; // a comment";
    fn host(block: u32, (rows, _): (u32, u32)) -> (u32, u32) {
        let (column, down) = (block / rows, block % rows);
        (if column % 2 == 0 { down } else { rows - 1 - down }, column)
    }
}

/// Snake in C++ with another order on the host.
pub struct OtherOnHost;

impl ThreadblockSwizzle for OtherOnHost {
    const NAME: &'static str = "other \"on\" host";
    const CUDA: &'static str = Snake::CUDA;
    fn host(block: u32, (_, columns): (u32, u32)) -> (u32, u32) {
        (block / columns, block % columns)
    }
}

/// An order that visits only the first row.
pub struct FirstRow;

impl ThreadblockSwizzle for FirstRow {
    const NAME: &'static str = "first row";
    const CUDA: &'static str = "return {0, block % columns};";
    fn host(block: u32, (_, columns): (u32, u32)) -> (u32, u32) {
        (0, block % columns)
    }
}

/// Returns the words of an order in a request.
pub fn swizzle_words<T: ThreadblockSwizzle>() -> String {
    register_swizzle::<T>().to_string()
}

/// Kind, types, units, and knobs of a kernel.
type Kernel = (
    KernelKind,
    [&'static str; 3],
    (WarpMmaKind, ArchKind),
    &'static [(&'static str, &'static str)],
);

/// Kernels of each kind of work.
const KERNELS: &[Kernel] = &[
    (
        KernelKind::Simt,
        ["f32:row", "f32:col", "f32:row"],
        (WarpMmaKind::Simt, ArchKind::Sm80),
        &[("mainloop", "pipelined")],
    ),
    (
        KernelKind::Simt,
        ["f32:row", "f32:row", "f32:col"],
        (WarpMmaKind::Simt, ArchKind::Sm80),
        &[("threadblock", "32x32x8"), ("decomposition", "streamk")],
    ),
    (
        KernelKind::MmaSync,
        ["bf16:row", "bf16:col", "f32:row"],
        (WarpMmaKind::MmaSync, ArchKind::Sm80),
        &[("threadblock", "64x64x32"), ("split_k", "3")],
    ),
    (
        KernelKind::WgmmaRing,
        ["bf16:row", "bf16:col", "f32:row"],
        (WarpMmaKind::Wgmma, ArchKind::Sm90),
        &[("cluster", "2x1")],
    ),
    (
        KernelKind::WgmmaRing,
        ["bf16:row", "bf16:col", "f32:col"],
        (WarpMmaKind::Wgmma, ArchKind::Sm90),
        &[("decomposition", "streamk")],
    ),
    (
        KernelKind::SimtRing,
        ["f32:row", "f32:col", "f32:row"],
        (WarpMmaKind::Simt, ArchKind::Sm90),
        &[("mainloop", "warpspecialized")],
    ),
];

/// Returns the descriptions of [`KERNELS`] with an order of tiles, or with the default order.
pub fn kernels(order: Option<&str>) -> Vec<GemmDesc> {
    let swizzle = order.map(|order| ("swizzle", order));
    let kernel = |(_, types, (mma, arch), knobs): &Kernel| {
        let knobs: Vec<_> = knobs.iter().copied().chain(swizzle).collect();
        described(*types, (op_of(*mma), *arch), &knobs)
    };
    KERNELS.iter().map(kernel).collect()
}
