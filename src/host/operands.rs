//! A product's matrices as the executor sees them: bytes, and the element type as a value.

use crate::{
    call::{HostMatrices, Shapes, Source},
    desc::Class,
    error::Error,
    numeric::{ElementKind, Number, Widening, split::SplitBlocks},
    operand::OperandKind,
    refusal::Refusal,
    shape::Mnk,
    threadblock::tile_iterator::TileIterator,
};

/// How a kernel walks a product.
#[derive(Clone, Copy)]
pub(super) struct Tiling {
    /// The tile of a block, and its depth.
    pub block: Mnk,
    /// Slices of a tile's depth, each with accumulators of its own.
    pub slices: u32,
    /// Which block of K each tile along K reads.
    pub blocks: SplitBlocks,
}

/// A and B.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub class: &'a Class,
    pub tiling: Tiling,
    pub problem: Shapes,
    /// Their bytes.
    pub bytes: [&'a [u8]; 2],
    /// Tiles along K that are multiplied: none when the epilogue reads no accumulator.
    pub tiles: u32,
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
    /// The product of some inputs; `None` where D has no element.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when there is no such combination of types, or when a matrix has another.
    pub fn of(class: &'a Class, tiling: Tiling, problem: Shapes, inputs: HostMatrices<'a>) -> Result<Option<Self>, Error> {
        let HostMatrices { a, b, c, d } = inputs;
        if !class.combined().is_of(class.op) {
            return Err(unknown(class));
        }
        let kinds = [(a.kind(), class.a.element), (b.kind(), class.b.element), (d.kind(), class.output.element)];
        for (given, wanted) in kinds {
            of_kind(given, wanted)?;
        }
        let reads = class.output.epilogue.reads(&problem.scalars);
        let tiles = if reads.accumulator { tiling.blocks.tiles() } else { 0 };
        let source = match c {
            _ if !reads.source => Source::None,
            Source::None => Source::None,
            Source::InPlace => Source::InPlace,
            Source::Matrix(c) => {
                of_kind(c.kind(), class.output.element)?;
                Source::Matrix(c.bytes())
            }
        };
        let operands = Operands { class, tiling, problem, bytes: [a.bytes(), b.bytes()], tiles };
        let there = problem.m > 0 && problem.n > 0;
        Ok(there.then(|| Self { operands, source, d: d.into_bytes() }))
    }
}

fn of_kind(given: ElementKind, wanted: ElementKind) -> Result<(), Error> {
    if given == wanted { Ok(()) } else { Err(Refusal::ElementType { given, wanted }.into()) }
}

/// What is said of types that do not go together.
pub(super) fn unknown(class: &Class) -> Error {
    class.combined().refused_by(class.op).into()
}

impl<'a> Operands<'a> {
    /// The walk of the block at `origin` over an operand.
    pub fn iterator(&self, operand: OperandKind, origin: u64) -> TileIterator {
        let extent = self.matrix(operand).extents.0;
        TileIterator { origin, extent_mn: extent as u64, extent_k: self.problem.k as u64, tile_k: self.tiling.block.k }
    }

    /// An operand, seen as MN x K.
    pub fn matrix(&self, operand: OperandKind) -> Matrix<'a> {
        let problem = &self.problem;
        let (mn, leading) = match operand {
            OperandKind::A => (problem.m, problem.a.leading),
            OperandKind::B => (problem.n, problem.b.leading),
        };
        let (kind, along_k) = (self.class.operand(operand).element, self.class.k_contiguous(operand));
        let strides = if along_k { (leading, 1) } else { (1, leading) };
        Matrix { bytes: self.bytes[operand.index()], kind, strides, extents: (mn, self.problem.k) }
    }

    /// How the elements of an operand become numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where they become others.
    pub fn widening<T: Number>(&self, operand: OperandKind) -> Result<Widening<T>, Error> {
        T::widening(self.matrix(operand).kind).ok_or_else(|| unknown(self.class))
    }
}
