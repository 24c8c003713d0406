//! A product's matrices as the executor sees them: bytes, and the element type as a value.

use crate::{
    call::{HostMatrices, Shapes, Source},
    desc::GemmDesc,
    error::Error,
    numeric::{ElementKind, Number, Widening},
    operand::OperandKind,
    refusal::Refusal,
    threadblock::tile_iterator::TileIterator,
};

/// A and B.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub desc: &'a GemmDesc,
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
    pub fn of(desc: &'a GemmDesc, problem: Shapes, inputs: HostMatrices<'a>) -> Result<Option<Self>, Error> {
        let HostMatrices { a, b, c, d } = inputs;
        if !desc.combined().is_of(desc.op) {
            return Err(unknown(desc));
        }
        for (given, wanted) in [(a.kind(), desc.a), (b.kind(), desc.b), (d.kind(), desc.c)] {
            of_kind(given, wanted)?;
        }
        let reads = desc.epilogue.reads(&problem.scalars);
        let tiles = if reads.accumulator { desc.blocks(problem.k).tiles() } else { 0 };
        let source = match c {
            _ if !reads.source => Source::None,
            Source::None => Source::None,
            Source::InPlace => Source::InPlace,
            Source::Matrix(c) => {
                of_kind(c.kind(), desc.c)?;
                Source::Matrix(c.bytes())
            }
        };
        let operands = Operands { desc, problem, bytes: [a.bytes(), b.bytes()], tiles };
        let there = problem.m > 0 && problem.n > 0;
        Ok(there.then(|| Self { operands, source, d: d.into_bytes() }))
    }
}

fn of_kind(given: ElementKind, wanted: ElementKind) -> Result<(), Error> {
    if given == wanted { Ok(()) } else { Err(Refusal::ElementType { given, wanted }.into()) }
}

/// What is said of types that do not go together.
pub(super) fn unknown(desc: &GemmDesc) -> Error {
    desc.combined().refused_by(desc.op).into()
}

impl<'a> Operands<'a> {
    /// The walk of the block at `origin` over an operand.
    pub fn iterator(&self, operand: OperandKind, origin: u64) -> TileIterator {
        let extent = self.matrix(operand).extents.0;
        TileIterator { origin, extent_mn: extent as u64, extent_k: self.problem.k as u64, tile_k: self.desc.threadblock.k }
    }

    /// An operand, seen as MN x K.
    pub fn matrix(&self, operand: OperandKind) -> Matrix<'a> {
        let (desc, problem) = (self.desc, &self.problem);
        let (kind, mn, leading, along_k) = match operand {
            OperandKind::A => (desc.a, problem.m, problem.a.leading, desc.layout_a.is_row()),
            OperandKind::B => (desc.b, problem.n, problem.b.leading, !desc.layout_b.is_row()),
        };
        let strides = if along_k { (leading, 1) } else { (1, leading) };
        Matrix { bytes: self.bytes[operand.index()], kind, strides, extents: (mn, self.problem.k) }
    }

    /// How the elements of an operand become numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where they become others.
    pub fn widening<T: Number>(&self, operand: OperandKind) -> Result<Widening<T>, Error> {
        T::widening(self.matrix(operand).kind).ok_or_else(|| unknown(self.desc))
    }
}
