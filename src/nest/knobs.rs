//! [`Knobs`]: the part of a description that the resolver selects.

use crate::{
    arch::OpKind,
    nest::{
        class::GemmMode,
        kinds::{DecompositionKind, SpillKind},
        pins::Pins,
    },
    numeric::{EmulationKind, Multiplied, TransformId},
    shape::Mnk,
    threadblock::{Mainloop, MainloopKind, SwizzleKind, smem::SmemLayout},
    warp::{UnrollKind, WarpMma, WarpMmaKind},
};

/// Assignment of tiles of D, and of K, to CTAs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WorkDesc {
    /// Order in which CTAs compute the tiles of D.
    pub swizzle: SwizzleKind,
    /// Number of split-K slices.
    pub split_k: u32,
    /// Division of the k-tiles of all tiles of D.
    pub decomposition: DecompositionKind,
    /// Number and arrangement of the GEMMs in one launch. The call determines the mode.
    pub mode: GemmMode,
}

/// Limits of the resources of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// Minimum number of CTAs that one multiprocessor holds at once.
    pub blocks_per_sm: u32,
    /// Whether the kernel may spill registers.
    pub spills: SpillKind,
}

/// All knobs of a kernel: a description without its class. They are in the frame of the description
/// that returns them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Knobs {
    /// Assignment of tiles to CTAs.
    pub work: WorkDesc,
    /// Main loop.
    pub mainloop: Mainloop,
    /// MMA inside the main loop.
    pub mma: WarpMma,
    /// Elements per access of A, of B, and of C and D.
    pub access: [u32; 3],
    /// Layouts of A's and B's tiles in shared memory.
    pub smem: [SmemLayout; 2],
    /// The elements of A and of B that the MMA multiplies.
    pub multiplied: [Multiplied; 2],
    /// Resource limits.
    pub limits: Limits,
}

impl Knobs {
    /// Returns the knobs of a main loop and an MMA. The other knobs have their most common values.
    pub const fn new(mainloop: Mainloop, mma: WarpMma, access: [u32; 3]) -> Self {
        let swizzle = match mma.op() {
            OpKind::Simt if !mainloop.has_producer() => SwizzleKind::Identity(1),
            _ => SwizzleKind::Grouped(8),
        };
        Self {
            work: WorkDesc {
                swizzle,
                split_k: 1,
                decomposition: DecompositionKind::SplitK,
                mode: GemmMode::Gemm,
            },
            mainloop,
            mma,
            access,
            smem: [SmemLayout::Auto; 2],
            multiplied: [Multiplied::Stored; 2],
            limits: Limits { blocks_per_sm: 1, spills: SpillKind::Refused },
        }
    }

    /// Returns the defaults of a main loop and an MMA. Tiles, stages, and accesses are 0.
    pub(crate) fn defaults_of(mainloop: MainloopKind, mma: WarpMmaKind) -> Self {
        let mainloop = Mainloop::new(mainloop, Mnk::ZERO, 0, UnrollKind::Full);
        Self::new(mainloop, WarpMma::default_of(mma, mainloop.has_producer()), [0; 3])
    }

    /// Returns the JSON name and the words of each knob, without the defaults of
    /// [`Pins::OMITTED`].
    pub(crate) fn words(&self) -> impl Iterator<Item = (&'static str, String)> {
        let defaults = Self::defaults_of(self.mainloop.kind(), self.mma.kind()).pins().words();
        let words = Pins::TABLE.iter().zip(self.pins().words().into_iter().zip(defaults));
        words.filter_map(|(row, (own, default))| match Pins::OMITTED.contains(&row.0) {
            true if own == default => None,
            _ => Some((row.0, own?)),
        })
    }

    /// Returns the threadblock tile in elements.
    pub const fn threadblock(&self) -> Mnk {
        self.mainloop.threadblock()
    }

    /// Returns the warp tile in elements.
    pub const fn warp(&self) -> Mnk {
        self.mma.warp()
    }

    /// Returns whether a producer warpgroup copies tiles by TMA.
    pub const fn has_producer(&self) -> bool {
        self.mainloop.has_producer()
    }

    /// Returns all knobs as pins.
    pub const fn pins(&self) -> Pins {
        let ([align_a, align_b, align_c], [a, b]) = (self.access, self.multiplied);
        let pins = self.mma.pins(self.mainloop.pins(Pins {
            swizzle: Some(self.work.swizzle),
            split_k: Some(self.work.split_k),
            decomposition: Some(self.work.decomposition),
            align_a: Some(align_a),
            align_b: Some(align_b),
            align_c: Some(align_c),
            transform_a: a.transform(),
            transform_b: b.transform(),
            spills: Some(self.limits.spills),
            ..Pins::NONE
        }));
        let pins = match self.mma.op() {
            OpKind::TensorOp => {
                Pins { emulation: Some(Multiplied::emulation_of(self.multiplied)), ..pins }
            }
            OpKind::Simt => pins,
        };
        if self.has_producer() {
            return pins;
        }
        let pins = Pins { blocks_per_sm: Some(self.limits.blocks_per_sm), ..pins };
        if !self.mma.has_smem_knobs() {
            return pins;
        }
        Pins {
            smem_a: Some(self.smem[0]),
            smem_b: Some(self.smem[1]),
            unroll: Some(self.mainloop.unroll()),
            ..pins
        }
    }

    /// Returns the knobs with the pinned ones replaced.
    #[must_use]
    pub const fn pinned(self, pins: &Pins) -> Self {
        let ([align_a, align_b, align_c], [smem_a, smem_b]) = (self.access, self.smem);
        let [multiplied_a, multiplied_b] = self.multiplied;
        Self {
            work: WorkDesc {
                swizzle: or!(pins.swizzle, self.work.swizzle),
                split_k: or!(pins.split_k, self.work.split_k),
                decomposition: or!(pins.decomposition, self.work.decomposition),
                ..self.work
            },
            mainloop: self.mainloop.pinned(pins),
            mma: self.mma.pinned(pins),
            access: [
                or!(pins.align_a, align_a),
                or!(pins.align_b, align_b),
                or!(pins.align_c, align_c),
            ],
            smem: [or!(pins.smem_a, smem_a), or!(pins.smem_b, smem_b)],
            multiplied: [
                multiplied(pins.transform_a, pins.emulation, multiplied_a),
                multiplied(pins.transform_b, pins.emulation, multiplied_b),
            ],
            limits: Limits {
                blocks_per_sm: or!(pins.blocks_per_sm, self.limits.blocks_per_sm),
                spills: or!(pins.spills, self.limits.spills),
            },
        }
    }

    /// Returns the pins that these knobs lack, and the pinned main loop, emulation, transforms, and
    /// decomposition that a kernel with this main loop and MMA does not support.
    pub const fn foreign(&self, pins: Pins) -> Pins {
        let mut others = pins.missing_in(&self.pins());
        others.epilogue = None;
        others.mainloop = match pins.mainloop {
            Some(mainloop) if !self.may_have(mainloop) => Some(mainloop),
            _ => None,
        };
        others.emulation = match pins.emulation {
            Some(emulation) if !self.mma.kind().emulates(emulation) => Some(emulation),
            _ => None,
        };
        let transforms = !self.has_producer();
        others.transform_a = if transforms { None } else { pins.transform_a };
        others.transform_b = if transforms { None } else { pins.transform_b };
        others.decomposition = match pins.decomposition {
            Some(DecompositionKind::SplitKCluster) if !self.has_producer() => pins.decomposition,
            _ => None,
        };
        others
    }

    /// Returns whether a pin may select the main loop: it feeds the MMA, and has a producer like
    /// the main loop of these knobs.
    const fn may_have(&self, mainloop: MainloopKind) -> bool {
        mainloop.feeds(self.mma.kind()) && mainloop.has_producer() == self.has_producer()
    }
}

/// Returns what the MMA multiplies of an operand under a pinned transform, a pinned emulation of
/// both operands, or neither. A transform takes precedence.
const fn multiplied(
    transform: Option<TransformId>,
    emulation: Option<EmulationKind>,
    own: Multiplied,
) -> Multiplied {
    match (transform, emulation) {
        (Some(id), _) => Multiplied::Transformed(id),
        (None, Some(emulation)) => Multiplied::from_emulation(emulation),
        (None, None) => own,
    }
}
