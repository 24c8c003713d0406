//! What a product is, whatever computes it.

use crate::{
    arch::{ArchKind, OpKind},
    epilogue::{EpilogueDesc, LinearCombination, Node},
    layout::Order,
    numeric::{Combined, ComputeKind, ElementKind},
    operand::{Axis, OperandKind, framed},
    words::words,
};

/// An operand that is read: A, an M x K matrix, or B, a K x N matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandClass {
    /// Its elements.
    pub element: ElementKind,
    /// Its layout.
    pub layout: Order,
}

/// What is written: D, and C, which is as D is; M x N matrices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutputClass {
    /// Elements of C and D.
    pub element: ElementKind,
    /// What becomes of an accumulator on its way to D.
    pub epilogue: EpilogueDesc,
}

words! {
    /// How many products a launch computes, as in CUTLASS's `GemmUniversalMode`. A call chooses it.
    #[derive(Default)]
    pub enum GemmMode {
        /// One.
        #[default]
        Gemm = "gemm",
        /// A batch, each product of the next matrices, which lie equal distances apart.
        Batched = "batched",
        /// The same of matrices that lie anywhere, each at an address of its own.
        Array = "array",
        /// The same of as many products as the largest parameters hold addresses of, which newer
        /// drivers take.
        LongArray = "long-array",
        /// The same, where TMA finds the maps of its matrices in memory: of as many products as
        /// there are, and not of those alone whose maps parameters hold.
        MappedArray = "mapped-array",
        /// One of each group of rows of A and D, with a B of its own.
        GroupedM = "grouped-m",
        /// One of each group of columns of B and D, with an A of its own.
        GroupedN = "grouped-n",
    }
}

impl GemmMode {
    /// That of groups along an extent of D, or of so many products.
    pub(crate) const fn of(groups: Option<Axis>, products: usize) -> Self {
        match (groups, products) {
            (Some(Axis::N), _) => Self::GroupedN,
            (Some(_), _) => Self::GroupedM,
            (None, 0 | 1) => Self::Gemm,
            _ => Self::Batched,
        }
    }

    /// The extent of D that groups share.
    pub const fn groups(self) -> Option<Axis> {
        match self {
            Self::Gemm | Self::Batched | Self::Array | Self::LongArray | Self::MappedArray => None,
            Self::GroupedM => Some(Axis::M),
            Self::GroupedN => Some(Axis::N),
        }
    }

    /// Whether there may be several products, whose matrices are told apart.
    pub const fn several(self) -> bool {
        !matches!(self, Self::Gemm)
    }

    /// Whether each matrix has an address of its own.
    pub const fn is_array(self) -> bool {
        matches!(self, Self::Array | Self::LongArray | Self::MappedArray)
    }

    /// Whether there may be more products than 4096 bytes of parameters hold addresses, or maps,
    /// of.
    #[cfg(feature = "cuda")]
    pub(crate) const fn is_of_many(self) -> bool {
        matches!(self, Self::LongArray | Self::MappedArray)
    }

    /// Whether the maps of matrices lie in memory.
    pub const fn is_mapped(self) -> bool {
        matches!(self, Self::MappedArray)
    }

    const fn swapped(self) -> Self {
        match self {
            Self::GroupedM => Self::GroupedN,
            Self::GroupedN => Self::GroupedM,
            _ => self,
        }
    }
}

/// What a product is, whatever computes it, in the kernel's frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// A.
    pub a: OperandClass,
    /// B.
    pub b: OperandClass,
    /// C and D.
    pub output: OutputClass,
    /// Elements that products are accumulated in.
    pub accumulator: ElementKind,
    /// What the epilogue computes in.
    pub compute: ComputeKind,
    /// Which units multiply.
    pub op: OpKind,
    /// Which instructions may be used.
    pub arch: ArchKind,
    /// How many of them a launch computes.
    pub mode: GemmMode,
}

impl OperandClass {
    /// The same matrix, transposed.
    const fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

impl Class {
    /// A class with the epilogue [`LinearCombination`].
    pub(crate) const fn new(
        op: OpKind,
        arch: ArchKind,
        types: Combined,
        [a, b]: [Order; 2],
    ) -> Self {
        Self {
            a: OperandClass { element: types.a, layout: a },
            b: OperandClass { element: types.b, layout: b },
            output: OutputClass { element: types.c, epilogue: <LinearCombination as Node>::DESC },
            accumulator: types.accumulator,
            compute: ComputeKind::of(types.accumulator, types.c),
            op,
            arch,
            mode: GemmMode::Gemm,
        }
    }

    /// The element types.
    pub const fn combined(&self) -> Combined {
        Combined {
            a: self.a.element,
            b: self.b.element,
            accumulator: self.accumulator,
            c: self.output.element,
        }
    }

    /// One of the operands that are read.
    pub const fn operand(&self, operand: OperandKind) -> OperandClass {
        match operand {
            OperandKind::A => self.a,
            OperandKind::B => self.b,
        }
    }

    /// Whether K runs through consecutive addresses of an operand.
    pub const fn k_contiguous(&self, operand: OperandKind) -> bool {
        self.operand(operand).layout.along_k(operand)
    }

    /// The class of the transposed GEMM: A, B, and the vectors of the epilogue are swapped.
    pub(super) const fn swapped(self) -> Self {
        let output = OutputClass { epilogue: self.output.epilogue.swapped(), ..self.output };
        Self {
            a: self.b.transposed(),
            b: self.a.transposed(),
            output,
            mode: self.mode.swapped(),
            ..self
        }
    }
}

framed!(Class);
