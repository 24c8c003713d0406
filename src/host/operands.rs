//! A product's matrices as the executor sees them: bytes, and the element type as a value.

use crate::{
    call::{HostCall, Problem, Source, View},
    desc::Class,
    error::Error,
    numeric::{ElementKind, Number, Widening, emulation::EmulationBlocks},
    operand::{OperandKind, Vectors},
    shape::Mnk,
    threadblock::{part_of_k, tile_iterator::TileIterator},
};
use core::ops::Range;

/// How a kernel walks a product.
#[derive(Clone, Copy)]
pub(super) struct Tiling {
    /// The tile of a block, and its depth.
    pub block: Mnk,
    /// Slices of a tile's depth, each with accumulators of its own.
    pub slices: u32,
    /// Which block of K each k-tile reads.
    pub blocks: EmulationBlocks,
    /// Parts into which its k-tiles are cut.
    pub split_k: u32,
}

impl Tiling {
    /// The first k-tile of each part, and how many it has.
    pub fn parts(&self) -> Vec<(u32, u32)> {
        (0..self.split_k).map(|part| part_of_k(self.blocks.tiles(), self.split_k, part)).collect()
    }
}

/// A and B.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub class: &'a Class,
    pub tiling: Tiling,
    pub problem: Problem,
    /// Their bytes.
    pub bytes: [&'a [u8]; 2],
    /// Vectors that the epilogue reads.
    pub vectors: Vectors<View<&'a [u8]>>,
}

/// One product: its operands, C where it is read, and D.
pub(super) struct Product<'a> {
    pub operands: Operands<'a>,
    pub source: Source<&'a [u8]>,
    pub d: &'a mut [u8],
}

/// An operand as MN x K.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub bytes: &'a [u8],
    pub kind: ElementKind,
    /// Distances between neighbours along MN and along K, in elements.
    pub strides: (usize, usize),
    /// Along MN and along K.
    pub extents: (usize, usize),
}

impl<'a> Matrix<'a> {
    /// The bytes from an element on; none beyond the last.
    pub fn from(&self, mn: usize, k: usize) -> &'a [u8] {
        let at = self.kind.matrix_bytes((mn * self.strides.0 + k * self.strides.1) as u64) as usize;
        self.bytes.get(at..).unwrap_or_default()
    }
}

impl<'a> Product<'a> {
    /// The product of a call, which is in the kernel's frame.
    ///
    /// # Errors
    /// [`Error::Refused`] when there is no such combination of types, or when a matrix has another.
    pub fn of(class: &'a Class, tiling: Tiling, call: HostCall<'a>) -> Result<Self, Error> {
        if !class.combined().is_of(class.op) {
            return Err(unknown(class));
        }
        let problem = call.problem();
        let source = call.c.map(|c| c.memory.bytes());
        let bytes = [call.a.memory.bytes(), call.b.memory.bytes()];
        let vectors = call.vectors.map(|_, view| view.with(view.memory.bytes()));
        let operands = Operands { class, tiling, problem, bytes, vectors };
        Ok(Self { operands, source, d: call.d.memory.into_bytes() })
    }
}

/// What is said of types that do not go together.
pub(super) fn unknown(class: &Class) -> Error {
    class.combined().refused_by(class.op).into()
}

impl<'a> Operands<'a> {
    /// The walk of the block at `origin` over an operand.
    pub fn iterator(&self, operand: OperandKind, origin: u64) -> TileIterator {
        let extent = self.matrix(operand).extents.0;
        TileIterator {
            origin,
            extent_mn: extent as u64,
            extent_k: self.problem.k as u64,
            tile_k: self.tiling.block.k,
        }
    }

    /// An operand, seen as MN x K.
    pub fn matrix(&self, operand: OperandKind) -> Matrix<'a> {
        let (problem, [rows, columns]) = (&self.problem, self.problem.operand(operand).strides);
        let (mn, strides) = match operand {
            OperandKind::A => (problem.m, (rows, columns)),
            OperandKind::B => (problem.n, (columns, rows)),
        };
        let kind = self.class.operand(operand).element;
        Matrix { bytes: self.bytes[operand.index()], kind, strides, extents: (mn, problem.k) }
    }

    /// Appends the elements of the vectors beside some columns of a row of D.
    pub fn beside(&self, row: usize, columns: Range<usize>, vectors: &mut Vectors<Vec<u8>>) {
        for (kind, view) in self.vectors.iter() {
            let elements = vectors.slot(kind).get_or_insert_default();
            columns
                .clone()
                .for_each(|column| elements.extend_from_slice(self.element(view, 0, row, column)));
        }
    }

    /// The element of a product's matrix that belongs to one of D; zeros outside of D.
    pub fn element<'b>(
        &self,
        view: &View<&'b [u8]>,
        product: u32,
        row: usize,
        column: usize,
    ) -> &'b [u8] {
        let width = self.class.output.element.bytes_of(1) as usize;
        let inside = row < self.problem.m && column < self.problem.n;
        let element = view.memory.get(
            if inside {
                (product as usize * view.batch_stride + view.offset(row, column)) * width
            } else {
                usize::MAX
            }..,
        );
        element.and_then(|bytes| bytes.get(..width)).unwrap_or(&[0; 8][..width])
    }

    /// Whether K runs through consecutive addresses of an operand.
    pub fn along_k(&self, operand: OperandKind) -> bool {
        self.problem.order(self.class, operand).along_k(operand)
    }

    /// How the elements of an operand become numbers.
    ///
    /// # Errors
    /// [`Error::Refused`] where they become others.
    pub fn widening<T: Number>(&self, operand: OperandKind) -> Result<Widening<T>, Error> {
        T::widening(self.matrix(operand).kind).ok_or_else(|| unknown(self.class))
    }
}
