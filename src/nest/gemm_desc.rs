//! [`GemmDesc`]: operands, output, frame, work, main loop, and MMA of one kernel.

use crate::{
    arch::{ArchKind, OpKind},
    epilogue::EpilogueDesc,
    layout::Orders,
    nest::{
        addressing,
        class::{Class, OperandClass, OutputClass},
        kinds::{Cut, DecompositionKind},
        knobs::{Knobs, Limits, WorkDesc},
        matrices::{OperandDesc, OutputDesc},
        pins::Pins,
    },
    numeric::{Combined, ComputeKind, EmulationKind, Multiplied},
    schedule::ScheduleKind,
    shape::{Frame, Mn, Mnk, OperandKind, at_least_one, framed},
    threadblock::{Mainloop, SwizzleKind},
    warp::WarpMma,
};

/// The complete description of a kernel, as a plain value. Its fields follow the loop nest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GemmDesc {
    /// A and B, in the kernel's frame.
    pub operands: [OperandDesc; 2],
    /// C and D.
    pub output: OutputDesc,
    /// Architecture whose instructions the kernel may use.
    pub arch: ArchKind,
    /// Relation of the kernel's GEMM to the user's GEMM.
    pub frame: Frame,
    /// Assignment of tiles of D, and of K, to CTAs.
    pub work: WorkDesc,
    /// Main loop of a CTA.
    pub mainloop: Mainloop,
    /// MMA of a warp.
    pub mma: WarpMma,
    /// Expression that computes D from an accumulator.
    pub epilogue: EpilogueDesc,
    /// Resource limits.
    pub limits: Limits,
}

impl GemmDesc {
    /// Returns the description of a class in the user's frame and of knobs. The result is not
    /// checked.
    pub(crate) const fn new(class: &Class, knobs: &Knobs) -> Self {
        Self {
            operands: [
                OperandDesc::new(&class.a, knobs, OperandKind::A),
                OperandDesc::new(&class.b, knobs, OperandKind::B),
            ],
            output: OutputDesc {
                element: class.output.element,
                access: knobs.access[2],
                accumulator: class.accumulator,
                compute: class.compute,
                indexed: class.output.indexed,
                strided: class.output.strided,
            },
            arch: class.arch,
            frame: Frame::USER,
            work: WorkDesc { mode: class.mode, ..knobs.work },
            mainloop: knobs.mainloop,
            mma: knobs.mma,
            epilogue: class.output.epilogue,
            limits: knobs.limits,
        }
    }

    /// Returns the class in the kernel's frame.
    pub const fn class(&self) -> Class {
        let [a, b] = self.operands;
        Class {
            a: OperandClass { element: a.stored, layout: a.layout, indexed: a.indexed },
            b: OperandClass { element: b.stored, layout: b.layout, indexed: b.indexed },
            output: OutputClass {
                element: self.output.element,
                epilogue: self.epilogue,
                indexed: self.output.indexed,
                strided: self.output.strided,
            },
            accumulator: self.output.accumulator,
            compute: self.output.compute,
            op: self.op(),
            arch: self.arch,
            mode: self.work.mode,
        }
    }

    /// Returns the knobs in the kernel's frame.
    pub const fn knobs(&self) -> Knobs {
        let [a, b] = self.operands;
        Knobs {
            work: self.work,
            mainloop: self.mainloop,
            mma: self.mma,
            access: [a.access, b.access, self.output.access],
            smem: [a.smem, b.smem],
            multiplied: [a.multiplied, b.multiplied],
            limits: self.limits,
        }
    }

    /// Returns the description with other knobs, which are in the kernel's frame.
    #[must_use]
    pub(crate) const fn with_kernel_knobs(self, knobs: &Knobs) -> Self {
        Self { frame: self.frame, ..Self::new(&self.class(), knobs) }
    }

    /// Returns operand A or B.
    pub const fn operand(&self, operand: OperandKind) -> OperandDesc {
        self.operands[operand.index()]
    }

    /// Returns the element types in the kernel's frame.
    pub const fn types(&self) -> Combined {
        Combined {
            a: self.operands[0].stored,
            b: self.operands[1].stored,
            accumulator: self.output.accumulator,
            c: self.output.element,
        }
    }

    /// Returns whether consecutive addresses of an operand run along K.
    pub const fn k_contiguous(&self, operand: OperandKind) -> bool {
        self.operand(operand).layout.along_k(operand)
    }

    /// Returns the units that multiply.
    pub const fn op(&self) -> OpKind {
        self.mma.op()
    }

    /// Returns the emulation of f32: that of A, or that of B if A has none. `check` requires the
    /// same terms of both operands.
    pub const fn emulation(&self) -> EmulationKind {
        let [a, b] = self.operands;
        Multiplied::emulation_of([a.multiplied, b.multiplied])
    }

    /// Returns whether a producer warpgroup copies tiles by TMA.
    pub const fn has_producer(&self) -> bool {
        self.mainloop.has_producer()
    }

    /// Returns the threadblock tile in elements: the tile of D that one CTA computes, and its depth
    /// along K.
    pub const fn threadblock(&self) -> Mnk {
        self.mainloop.threadblock()
    }

    /// Returns the warp tile in elements: the tile of D that one warp computes, and its share of
    /// the depth. On Hopper's tensor cores it is the tile of a warpgroup.
    pub const fn warp(&self) -> Mnk {
        self.mma.warp()
    }

    /// Returns the shape of the instruction, or the tile of a thread of a TMA-fed SIMT kernel. All
    /// extents are 0 if the resolver selects the tile of a thread.
    pub const fn instruction(&self) -> Mnk {
        or!(self.mma.instruction(), Mnk::ZERO)
    }

    /// Returns the number of k-tiles that shared memory holds at once.
    pub const fn stages(&self) -> u32 {
        self.mainloop.stages()
    }

    /// Returns the order in which CTAs compute the tiles of D.
    pub const fn swizzle(&self) -> SwizzleKind {
        self.work.swizzle
    }

    /// Returns the number of split-K slices.
    pub const fn split_k(&self) -> u32 {
        self.work.split_k
    }

    /// Returns the cluster shape in CTAs along M and N.
    pub const fn cluster(&self) -> Mn {
        self.mainloop.cluster()
    }

    /// Returns the schedule of the consumers. It is cooperative without a producer.
    pub const fn schedule(&self) -> ScheduleKind {
        or!(self.mainloop.consumers(), ScheduleKind::Cooperative)
    }

    /// Returns the number of consumer warpgroups that share a tile of D. Each reduces the split-K
    /// partials of its own part of the tile. Without the cooperative schedule, the number is 1.
    pub(crate) const fn sharing(&self) -> u32 {
        match self.mainloop.consumers() {
            Some(ScheduleKind::Cooperative) => {
                let (tile, warp) = (self.threadblock(), self.warp());
                let groups =
                    (tile.m / at_least_one(warp.m)).saturating_mul(tile.n / at_least_one(warp.n));
                groups / self.mma.warp_tiles_per_consumer()
            }
            _ => 1,
        }
    }

    /// Returns the description with K divided into `slices` split-K slices.
    #[must_use]
    pub const fn cut(self, slices: u32) -> Self {
        self.pinned(Pins { split_k: Some(slices), ..Pins::NONE })
    }

    /// Returns whether the kernel uses stream-K.
    pub const fn streams_k(&self) -> bool {
        matches!(self.decomposition(), DecompositionKind::StreamK)
    }

    /// Returns whether the kernel can produce partial accumulators, by split-K or stream-K.
    pub(crate) const fn has_slices(&self) -> bool {
        self.split_k() > 1 || self.streams_k()
    }

    /// Returns whether a second kernel reduces the split-K partials.
    pub const fn reduces_in_parallel(&self) -> bool {
        self.split_k() > 1 && matches!(self.decomposition(), DecompositionKind::SplitKParallel)
    }

    /// Returns how the k-tiles of all tiles of D are divided.
    pub const fn decomposition(&self) -> DecompositionKind {
        self.work.decomposition
    }

    /// Returns whether the compiled module has a second kernel that can reduce split-K partials.
    pub(crate) const fn has_reduction(&self) -> bool {
        self.split_k() > 1 && !self.cuts_by_cluster() && self.may_reduce()
    }

    /// Returns whether a second kernel can reduce the split-K partials.
    pub(crate) const fn may_reduce(&self) -> bool {
        let by_ring = self.mma.has_ring_reduction() && !self.epilogue.is_gated();
        (!self.has_producer() || by_ring) && !self.epilogue.has_sums()
    }

    /// Returns whether the CTAs of one cluster compute the split-K slices of a tile.
    pub const fn cuts_by_cluster(&self) -> bool {
        self.has_producer() && matches!(self.work.decomposition, DecompositionKind::SplitKCluster)
    }

    /// Returns the number of split-K slices and the decomposition.
    pub(crate) const fn cut_of(&self) -> Cut {
        (self.split_k(), self.decomposition())
    }

    /// Returns the description with another number of slices and another decomposition.
    #[must_use]
    pub(crate) const fn divided(self, (slices, decomposition): Cut) -> Self {
        self.pinned(Pins {
            split_k: Some(slices),
            decomposition: Some(decomposition),
            ..Pins::NONE
        })
    }

    /// Returns the description whose kernel is compiled for this one. Any split-K description
    /// becomes two slices under `splitk`, because the launch passes the number of slices and
    /// selects the reduction. With `splitkcluster`, both are compile-time constants.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub(crate) const fn compiled(self) -> Self {
        match self.split_k() > 1 && !self.cuts_by_cluster() {
            true => self.divided((2, DecompositionKind::SplitK)),
            false => self,
        }
    }

    /// Returns the elements per access of A, of B, and of C and D.
    pub const fn alignments(&self) -> [u32; 3] {
        let [a, b] = self.operands;
        [a.access, b.access, self.output.access]
    }

    /// Returns all knobs and the epilogue as pins, in the kernel's frame.
    pub const fn pins(&self) -> Pins {
        Pins { epilogue: Some(self.epilogue), ..self.knobs().pins() }
    }

    /// Returns the description with the pinned knobs, and the epilogue if it is pinned, replaced.
    /// The pins are in the kernel's frame. An epilogue of integers becomes one of f32 if it reads
    /// an operand of another type, or has a fraction or a function that integers do not have. The
    /// result is not checked.
    #[must_use]
    pub const fn pinned(self, pins: Pins) -> Self {
        let mut desc = self.with_kernel_knobs(&self.knobs().pinned(&pins));
        desc.epilogue = or!(pins.epilogue, self.epilogue);
        if matches!(desc.output.compute, ComputeKind::I32) && !desc.epilogue.computes_in_integers()
        {
            desc.output.compute = ComputeKind::F32;
        }
        desc
    }

    /// The description of the user's GEMM with A and B swapped. The kernel's D has the other order.
    #[must_use]
    pub(crate) const fn with_swapped_operands(self) -> Self {
        let mut other = self.swapped();
        other.frame.column_major_d = !self.frame.column_major_d;
        other
    }

    /// The description with A and B swapped: layouts are transposed, and knobs stay with their
    /// operands. The kernel's D keeps its order, so the user's D has the other order.
    #[must_use]
    pub const fn swapped(self) -> Self {
        let [a, b] = self.operands;
        Self {
            operands: [b.transposed(), a.transposed()],
            output: OutputDesc { indexed: addressing::swapped(self.output.indexed), ..self.output },
            frame: self.frame.swapped(),
            work: WorkDesc { mode: self.work.mode.swapped(), ..self.work },
            epilogue: self.epilogue.swapped(),
            ..self
        }
    }

    /// Returns the layouts in the user's frame.
    pub const fn orders(&self) -> Orders {
        let [a, b] = self.operands;
        Orders { a: a.layout, b: b.layout, c: self.frame.d_order() }.leave(self.frame)
    }

    /// Returns the element types in the user's frame.
    pub const fn user_types(&self) -> Combined {
        self.types().leave(self.frame)
    }

    /// Returns the knobs in the user's frame.
    pub const fn user_pins(&self) -> Pins {
        self.pins().leave(self.frame)
    }
}

framed!(GemmDesc);
