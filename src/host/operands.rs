//! The matrices of a GEMM in the executor: bytes, with the element type as a value.

use crate::{
    Error,
    nest::GemmDesc,
    numeric::{ElementKind, Number, Widening, emulation::EmulationBlocks},
    operand::{HostCall, HostSlice, Problem, Source, View},
    shape::{EpilogueOperands, Mnk, OperandKind},
    threadblock::{k_slice, tile_iterator::TileIterator},
};
use core::ops::Range;

/// The tiling of a GEMM: how a kernel walks it.
#[derive(Clone, Copy)]
pub struct Tiling {
    /// The tile of a CTA: M, N, and the depth of a k-tile.
    pub block: Mnk,
    /// Warp slices per k-tile, each with its own accumulators.
    pub warp_slices: u32,
    /// The map from k-tiles to blocks of K.
    pub blocks: EmulationBlocks,
    /// Number of split-K slices.
    pub split_k: u32,
}

impl Tiling {
    /// Returns the first k-tile and the number of k-tiles of each split-K slice.
    pub fn k_slices(&self) -> Vec<(u32, u32)> {
        (0..self.split_k).map(|slice| k_slice(self.blocks.tiles(), self.split_k, slice)).collect()
    }
}

/// The operands A and B of a GEMM.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    /// The description.
    pub desc: &'a GemmDesc,
    /// The tiling of its kernel.
    pub tiling: Tiling,
    /// Sizes, strides, and scalars.
    pub problem: Problem,
    /// The bytes of A and of B.
    pub bytes: [&'a [u8]; 2],
    /// The operands that the epilogue reads or writes, except C.
    pub epilogue: EpilogueOperands<View<HostSlice<'a>>>,
}

/// The operands, C if it is read, and D of a GEMM.
pub struct Product<'a> {
    /// A, B, and the operands of the epilogue.
    pub operands: Operands<'a>,
    /// The bytes of C.
    pub source: Source<&'a [u8]>,
    /// The bytes of D.
    pub d: &'a mut [u8],
}

/// An operand, seen as an MN x K matrix.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// The bytes of all elements.
    pub bytes: &'a [u8],
    /// The element type.
    pub kind: ElementKind,
    /// Strides along M or N and along K, in elements.
    pub strides: (usize, usize),
    /// Extents along M or N and along K, in elements.
    pub extents: (usize, usize),
}

impl<'a> Matrix<'a> {
    /// Returns the bytes from element (`mn`, `k`) on, or no bytes beyond the end.
    pub fn from(&self, mn: usize, k: usize) -> &'a [u8] {
        let at = self.kind.matrix_bytes((mn * self.strides.0 + k * self.strides.1) as u64) as usize;
        self.bytes.get(at..).unwrap_or_default()
    }
}

impl<'a> Product<'a> {
    /// Prepares the GEMM of a call in the kernel's frame.
    ///
    /// # Errors
    /// [`Error::Refused`] if the class does not support these types, or if a matrix has another
    /// type.
    pub fn new(desc: &'a GemmDesc, tiling: Tiling, call: HostCall<'a>) -> Result<Self, Error> {
        if !desc.types().is_of(desc.op()) {
            return Err(unknown(desc));
        }
        let problem = call.problem();
        let source = call.c.map(|c| c.memory.bytes());
        let bytes = [call.a.memory.bytes(), call.b.memory.bytes()];
        let operands = Operands { desc, tiling, problem, bytes, epilogue: call.operands };
        Ok(Self { operands, source, d: call.d.memory.into_bytes() })
    }
}

/// Returns the refusal of a combination of element types.
pub fn unknown(desc: &GemmDesc) -> Error {
    desc.types().refused_by(desc.op()).into()
}

impl<'a> Operands<'a> {
    /// Returns the k-tile iterator of an operand for the CTA whose tile begins at `origin` along M
    /// or N.
    pub fn iterator(&self, operand: OperandKind, origin: u64) -> TileIterator {
        let extent = self.matrix(operand).extents.0;
        TileIterator {
            origin,
            extent_mn: extent as u64,
            extent_k: self.problem.k as u64,
            tile_k: self.tiling.block.k,
        }
    }

    /// Returns an operand as an MN x K matrix.
    pub fn matrix(&self, operand: OperandKind) -> Matrix<'a> {
        let (problem, [rows, columns]) = (&self.problem, self.problem.operand(operand).strides);
        let (mn, strides) = match operand {
            OperandKind::A => (problem.m, (rows, columns)),
            OperandKind::B => (problem.n, (columns, rows)),
        };
        let kind = self.desc.operand(operand).stored;
        Matrix { bytes: self.bytes[operand.index()], kind, strides, extents: (mn, problem.k) }
    }

    /// Appends the elements of each operand that the epilogue reads, except C, for some columns of
    /// a row of D of GEMM `product`.
    pub fn beside(
        &self,
        (product, row, columns): (u32, usize, Range<usize>),
        operands: &mut EpilogueOperands<Vec<u8>>,
    ) {
        let read = self.epilogue.iter();
        for (operand, view) in read.filter(|(operand, _)| !self.desc.epilogue.writes(*operand)) {
            let elements = operands.slot(operand).get_or_insert_default();
            columns.clone().for_each(|column| {
                elements.extend_from_slice(self.element(view, product, row, column));
            });
        }
    }

    /// Returns the element of a batched matrix for (`row`, `column`) of GEMM `product`, or zeros
    /// outside of D.
    pub fn element<'b>(
        &self,
        view: &View<HostSlice<'b>>,
        product: u32,
        row: usize,
        column: usize,
    ) -> &'b [u8] {
        let width = view.memory.kind().bytes_of(1) as usize;
        let inside = row < self.problem.m && column < self.problem.n;
        let element = view.memory.bytes().get(
            if inside {
                (product as usize * view.batch_stride + view.offset(row, column)) * width
            } else {
                usize::MAX
            }..,
        );
        element.and_then(|bytes| bytes.get(..width)).unwrap_or(&[0; 8][..width])
    }

    /// Returns whether consecutive elements along K are contiguous in an operand's memory.
    pub fn along_k(&self, operand: OperandKind) -> bool {
        self.problem.order(self.desc, operand).along_k(operand)
    }

    /// Returns the conversion from the elements of an operand to numbers of type `T`.
    ///
    /// # Errors
    /// [`Error::Refused`] if `T` cannot represent the elements exactly.
    pub fn widening<T: Number>(&self, operand: OperandKind) -> Result<Widening<T>, Error> {
        T::widening(self.matrix(operand).kind).ok_or_else(|| unknown(self.desc))
    }
}
