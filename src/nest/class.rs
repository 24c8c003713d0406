//! The class of a GEMM: the properties that a request fixes before the resolver selects knobs.

use crate::{
    arch::{ArchKind, OpKind},
    epilogue::{EpilogueDesc, LinearCombination, Node},
    layout::Order,
    nest::addressing,
    numeric::{Combined, ComputeKind, ElementKind},
    shape::{Axis, OperandKind, framed, words::words},
};

/// An input operand: A (M x K) or B (K x N).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandClass {
    /// Element type.
    pub element: ElementKind,
    /// Layout.
    pub layout: Order,
    /// Whether an index list selects the rows of A, or the columns of B.
    pub indexed: bool,
}

/// The output matrices C and D (M x N), which have one element type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutputClass {
    /// Element type of C and D.
    pub element: ElementKind,
    /// Expression that computes D from an accumulator.
    pub epilogue: EpilogueDesc,
    /// Axis of D whose lines an index list selects.
    pub indexed: Option<Axis>,
    /// Whether C or D has another order than the layout of D, or no stride of 1.
    pub strided: bool,
}

words! {
    /// Number and arrangement of the GEMMs in one launch, as in CUTLASS's `GemmUniversalMode`. The
    /// call determines the mode.
    #[derive(Default)]
    pub enum GemmMode {
        /// One GEMM.
        #[default]
        Gemm = "gemm",
        /// A batch of GEMMs whose matrices have constant strides.
        Batched = "batched",
        /// A batch of GEMMs whose matrices have individual addresses, in records in the workspace.
        Array = "array",
        /// Groups of rows of A and D, each with its own B.
        GroupedM = "grouped-m",
        /// Groups of columns of B and D, each with its own A.
        GroupedN = "grouped-n",
        /// Groups of columns of A and rows of B, each with its own D.
        GroupedK = "grouped-k",
    }
}

impl GemmMode {
    /// Returns the mode for groups along an axis, or for a batch of `products` GEMMs.
    pub(crate) const fn for_batch(groups: Option<Axis>, products: usize) -> Self {
        match (groups, products) {
            (Some(Axis::M), _) => Self::GroupedM,
            (Some(Axis::N), _) => Self::GroupedN,
            (Some(Axis::K), _) => Self::GroupedK,
            (None, 0 | 1) => Self::Gemm,
            _ => Self::Batched,
        }
    }

    /// Returns the axis along which groups lie, or `None` without groups.
    pub const fn groups(self) -> Option<Axis> {
        match self {
            Self::Gemm | Self::Batched | Self::Array => None,
            Self::GroupedM => Some(Axis::M),
            Self::GroupedN => Some(Axis::N),
            Self::GroupedK => Some(Axis::K),
        }
    }

    /// Returns the axis of D along which groups lie. `None` if each GEMM has its own D.
    pub const fn groups_of_d(self) -> Option<Axis> {
        match self.groups() {
            Some(Axis::K) => None,
            axis => axis,
        }
    }

    /// Returns whether a launch can compute several GEMMs.
    pub const fn several(self) -> bool {
        !matches!(self, Self::Gemm)
    }

    /// Returns whether each matrix has its own address.
    pub const fn is_array(self) -> bool {
        matches!(self, Self::Array)
    }

    pub(crate) const fn swapped(self) -> Self {
        match self {
            Self::GroupedM => Self::GroupedN,
            Self::GroupedN => Self::GroupedM,
            _ => self,
        }
    }
}

/// The class of a GEMM: element types, layouts, epilogue, units, and architecture, without knobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// Operand A.
    pub a: OperandClass,
    /// Operand B.
    pub b: OperandClass,
    /// C and D.
    pub output: OutputClass,
    /// Element type of the accumulators.
    pub accumulator: ElementKind,
    /// Type in which the epilogue computes.
    pub compute: ComputeKind,
    /// Units that multiply: CUDA cores or tensor cores.
    pub op: OpKind,
    /// Architecture whose instructions the kernel may use.
    pub arch: ArchKind,
    /// Number and arrangement of the GEMMs in one launch.
    pub mode: GemmMode,
}

impl OperandClass {
    /// Returns the transposed operand.
    const fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

impl Class {
    /// Returns a class with the epilogue [`LinearCombination`].
    pub(crate) const fn new(
        op: OpKind,
        arch: ArchKind,
        types: Combined,
        [a, b]: [Order; 2],
    ) -> Self {
        Self {
            a: OperandClass { element: types.a, layout: a, indexed: false },
            b: OperandClass { element: types.b, layout: b, indexed: false },
            output: OutputClass {
                element: types.c,
                epilogue: <LinearCombination as Node>::DESC,
                indexed: None,
                strided: false,
            },
            accumulator: types.accumulator,
            compute: ComputeKind::for_types(types.accumulator, types.c),
            op,
            arch,
            mode: GemmMode::Gemm,
        }
    }

    /// Returns the element types.
    pub const fn combined(&self) -> Combined {
        Combined {
            a: self.a.element,
            b: self.b.element,
            accumulator: self.accumulator,
            c: self.output.element,
        }
    }

    /// Returns the class of operand A or B.
    pub const fn operand(&self, operand: OperandKind) -> OperandClass {
        match operand {
            OperandKind::A => self.a,
            OperandKind::B => self.b,
        }
    }

    /// Returns whether consecutive addresses of an operand run along K.
    pub const fn k_contiguous(&self, operand: OperandKind) -> bool {
        self.operand(operand).layout.along_k(operand)
    }

    /// Returns the class of the transposed GEMM: A, B, and the vectors of the epilogue are swapped.
    pub(crate) const fn swapped(self) -> Self {
        let output = OutputClass {
            epilogue: self.output.epilogue.swapped(),
            indexed: addressing::swapped(self.output.indexed),
            ..self.output
        };
        Self {
            a: self.b.transposed(),
            b: self.a.transposed(),
            output,
            mode: self.mode.swapped(),
            ..self
        }
    }
}

framed!(Class, GemmMode);
