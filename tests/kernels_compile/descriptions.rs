//! Descriptions drawn from all that `check` accepts, the same ones for the same seed.

use falchion::{
    arch::{ArchKind, OpKind},
    desc::GemmDesc,
    device::default_gemm_configuration::default_gemm_configuration,
    layout::Order,
    numeric::{COMBINATIONS, ComputeKind, ElementKind},
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};

/// SplitMix64: a draw depends on the seed and on nothing else.
pub struct Draws(u64);

impl Draws {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn order(&mut self) -> Order {
        self.one_of(&[Order::Row, Order::Col])
    }

    /// An access of 1, 2, 4, 8 or 16 bytes, in elements.
    fn alignment(&mut self, element: ElementKind) -> u32 {
        1 << self.below(u64::from((16 / element.bytes()).trailing_zeros()) + 1)
    }

    fn smem(&mut self) -> SmemLayout {
        let along = self.one_of(&[Along::Mn, Along::Mn, Along::K]);
        match self.below(5) {
            0..=2 => SmemLayout::Auto,
            3 => SmemLayout::Padded { along, padding: self.one_of(&[0, 1, 2, 4, 8, 16]) },
            _ => SmemLayout::Swizzled {
                along,
                bits: self.below(3) as u32 + 1,
                base: self.below(4) as u32,
                shift: self.below(3) as u32,
            },
        }
    }

    /// Any values for every knob; most of them are no kernel.
    fn candidate(&mut self, arch: ArchKind) -> GemmDesc {
        let types = self.one_of(COMBINATIONS);
        let mut knobs = default_gemm_configuration(OpKind::Simt, arch, types).expect("a default for every combination");
        let extents = [8, 16, 32, 64, 128];
        knobs.warp = Mnk { m: self.one_of(&extents), n: self.one_of(&extents), k: 8 + 2 * self.below(13) as u32 };
        let (m, n, k) =
            (self.one_of(&[1, 1, 2, 2, 3, 4, 8]), self.one_of(&[1, 1, 2, 2, 3, 4, 8]), self.one_of(&[1, 1, 1, 2, 3, 4]));
        knobs.threadblock = Mnk { m: knobs.warp.m * m, n: knobs.warp.n * n, k: knobs.warp.k * k };
        (knobs.mainloop, knobs.stages) = match self.below(5) {
            0 => (MainloopKind::SingleStage, 1),
            1 | 2 => (MainloopKind::Pipelined, 2),
            _ => (MainloopKind::Multistage, 2 + self.below(4) as u32),
        };
        knobs.swizzle = self.one_of(&[SwizzleKind::Horizontal, SwizzleKind::Identity(1), SwizzleKind::Identity(8)]);
        (knobs.align_a, knobs.align_b) = (self.alignment(types.a), self.alignment(types.b));
        knobs.align_c = self.alignment(types.c);
        (knobs.smem_a, knobs.smem_b) = (self.smem(), self.smem());
        knobs.blocks_per_sm = self.one_of(&[1, 1, 1, 2, 2, 2, 3, 4, 8]);
        knobs.interleave = self.one_of(&[
            InterleaveKind::Vector,
            InterleaveKind::Vector,
            InterleaveKind::Elements(1),
            InterleaveKind::Elements(2),
            InterleaveKind::Elements(8),
        ]);
        if knobs.mainloop == MainloopKind::SingleStage {
            knobs.unroll = self.one_of(&[UnrollKind::Full, UnrollKind::By(1), UnrollKind::By(4)]);
        }
        let orders = [self.order(), self.order(), self.order()];
        let mut desc = GemmDesc::of_values(OpKind::Simt, arch, types, orders, knobs);
        if desc.compute == ComputeKind::I32 && self.below(2) == 0 {
            desc.compute = ComputeKind::F32;
        }
        desc
    }

    /// A description that `check` accepts.
    pub fn legal(&mut self, arch: ArchKind) -> GemmDesc {
        loop {
            let desc = self.candidate(arch);
            if desc.check().is_ok() {
                return desc;
            }
        }
    }

    /// A description that `check` accepts, and that would be refused if it needed `spare` registers more.
    pub fn just_fits(&mut self, arch: ArchKind, spare: u32) -> GemmDesc {
        loop {
            let desc = self.legal(arch);
            if desc.registers() + spare > desc.registers_available(arch.machine().registers_per_sm) {
                return desc;
            }
        }
    }
}
