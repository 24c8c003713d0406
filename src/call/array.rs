//! Arrays: products of one size whose matrices lie anywhere.
//!
//! An array is a call for each of its products, alike in all but the matrices' memory: what holds
//! for a product holds for each of them.

use super::{
    Arguments, Call, Elements, MatrixElements, Memory, Problem, Source, Space, View,
    partials::rectangles_of,
    route::wherever_it_begins,
    space::{OperandA, OperandB, OperandC, OperandD},
};
use crate::{
    arch::MOST_BLOCKS,
    desc::{GemmDesc, GemmMode},
    refusal::{Field, Operand, Refusal, rules::within},
    threadblock::ProductRecords,
};

/// The matrices of a product of an array, behind the first one's.
pub(crate) struct Further<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> {
    pub a: A::Ref<'a, S>,
    pub b: B::Ref<'a, S>,
    /// C, where each product has its own.
    pub c: Option<C::Ref<'a, S>>,
    pub d: C::Mut<'a, S>,
}

impl GemmDesc {
    /// Products of an array of Ds of (m, n), as the kernel sees them, that a launch takes: as many
    /// as it is told of, and whose tiles a grid has blocks for; one at least.
    pub(crate) fn products_at_once(&self, extents: (usize, usize)) -> usize {
        let (rectangles, _) = rectangles_of(self, extents, 1);
        let tiles = rectangles.saturating_mul(u64::from(self.split_k())).max(1);
        (u64::from(MOST_BLOCKS) / tiles).clamp(1, u64::from(self.products_of_launch())) as usize
    }

    /// Bytes of the records of so many products, where maps lie in memory.
    pub(crate) const fn record_bytes(&self, products: usize) -> u64 {
        if self.class.mode.is_mapped() { ProductRecords::bytes(products) } else { 0 }
    }

    /// The [description](Self::for_array) of the kernel for an array of so many products in a
    /// workspace of so many bytes, and those that are left beside maps.
    pub(crate) const fn for_array_within(self, products: usize, workspace: u64) -> (Self, u64) {
        let desc = self.for_array(products);
        let records = desc.record_bytes(products);
        if workspace >= wherever_it_begins(records) {
            (desc, workspace - records)
        } else {
            (desc.in_mode(GemmMode::Array), workspace)
        }
    }
}

/// Whether there is a matrix of an operand for each of so many products.
fn check_length(operand: Operand, length: usize, products: usize) -> Result<(), Refusal> {
    if length == products {
        Ok(())
    } else {
        Err(Refusal::ArrayLength { operand, length, products })
    }
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// `D[i] = A[i]·B[i]` for each of several products: matrices of one size and one leading
    /// dimension each, which lie anywhere. What is said of A, B, C or D after this is said of each
    /// of theirs, and vectors and scalars are the same for all. A matrix may be read by several
    /// products, as by `iter::repeat_n(&a, 3)`.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, b) = (vec![1.0f32; 8], [vec![1.0f32; 20], vec![2.0f32; 20]]);
    /// let mut d = [vec![0.0f32; 10], vec![0.0f32; 10]];
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// gemm.run(Arguments::array((2, 5, 4), [&a, &a], &b, &mut d)?)?;
    /// assert_eq!(d, [vec![4.0; 10], vec![8.0; 10]]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// On a device the addresses ride in the launch's parameters: nothing is copied beside, and a
    /// captured graph holds them. A call of more products than parameters have room for, 119, is
    /// several launches. A kernel that TMA feeds takes maps, of which parameters hold those of 6
    /// products: more are one launch where the [workspace](Self::workspace) has room for their
    /// maps, 640 bytes a product, which a pass makes there in a launch of its own; without such a
    /// workspace they are a launch for each 6. Where an operand takes a pass before its kernel,
    /// each product is a launch.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] for no product, [`Refusal::ArrayLength`] where there are not as many
    /// As or Bs as Ds.
    pub fn array(
        extents: (usize, usize, usize),
        a: impl IntoIterator<Item: OperandA<'a, A, S>>,
        b: impl IntoIterator<Item: OperandB<'a, B, S>>,
        d: impl IntoIterator<Item: OperandD<'a, C, S>>,
    ) -> Result<Self, Refusal> {
        let a: Vec<_> = a.into_iter().map(OperandA::elements).collect();
        let b: Vec<_> = b.into_iter().map(OperandB::elements).collect();
        let d: Vec<_> = d.into_iter().map(OperandD::elements).collect();
        let products = d.len();
        check_length(Operand::A, a.len(), products)?;
        check_length(Operand::B, b.len(), products)?;
        let mut all = a.into_iter().zip(b).zip(d).map(|((a, b), d)| Further { a, b, c: None, d });
        let none = Refusal::OutOfRange {
            field: Field::Products,
            value: 0,
            least: 1,
            most: i32::MAX as u64,
        };
        let Further { a, b, d, .. } = all.next().ok_or(none)?;
        within(Field::Products, products as u64, 1, i32::MAX as u64)?;
        let further = all.collect();
        Ok(Self { further, ..Self::of(extents, a, b, d) })
    }

    /// A C for each product of an [array](Self::array), and the scalar beta;
    /// [`source`](Self::source) has one C for all of them.
    ///
    /// # Errors
    /// [`Refusal::ArrayLength`] where there are not as many Cs as Ds.
    pub fn sources(
        mut self,
        beta: f64,
        c: impl IntoIterator<Item: OperandC<'a, C, S>>,
    ) -> Result<Self, Refusal> {
        let c: Vec<_> = c.into_iter().map(OperandC::elements).collect();
        check_length(Operand::C, c.len(), self.further.len() + 1)?;
        let mut all = c.into_iter();
        self.c = all.next().map_or(Source::None, Source::Matrix);
        self.further.iter_mut().zip(all).for_each(|(further, c)| further.c = Some(c));
        self.scalars[1] = beta;
        Ok(self)
    }

    /// How many products of an array there are; `None` of what is none.
    ///
    /// # Errors
    /// [`Refusal::ArrayOfBatches`] for a batch, or groups, beside; [`Refusal::GroupsOfBatches`] for
    /// a batch of groups.
    pub(crate) fn products(&self) -> Result<Option<usize>, Refusal> {
        match self.further.len() {
            0 if self.batch != 1 && self.groups.is_some() => Err(Refusal::GroupsOfBatches),
            0 => Ok(None),
            _ if self.batch != 1 || self.groups.is_some() => Err(Refusal::ArrayOfBatches),
            further => Ok(Some(further + 1)),
        }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Whether calls are products of an array: alike in all but the memory of their matrices.
    ///
    /// # Errors
    /// [`Refusal::ArrayUnlike`] for the first that is not as the first one is, or is a batch.
    pub(crate) fn check_array(calls: &[Self]) -> Result<(), Refusal> {
        let shape = |call: &Self| {
            let Problem { m, n, k, batch, groups, a, b, c, d, vectors, scalars, .. } =
                call.problem();
            let (strides, scalars) = (
                ([a, b, d].map(|view| view.strides), c.map(|c| c.strides)),
                scalars.map(f64::to_bits),
            );
            ((m, n, k, batch, groups.is_some()), strides, vectors, scalars)
        };
        let Some(first) = calls.first().map(shape) else { return Ok(()) };
        let unlike = |call: &Self| call.batch != 1 || call.groups.is_some() || shape(call) != first;
        calls
            .iter()
            .position(unlike)
            .map_or(Ok(()), |product| Err(Refusal::ArrayUnlike { product }))
    }
}

impl Problem {
    /// The problem of all products of an array, as many as a launch of a description's kernel
    /// takes: each matrix begins at an address that is as aligned as the least aligned one is, and
    /// the workspace is the first one's. `None` of no product.
    pub fn of_array(problems: &[Self], desc: &GemmDesc) -> Option<Self> {
        let mut all = *problems.first()?;
        let meet = |view: &mut View<Elements>, other: &View<Elements>| {
            view.memory.address |= other.memory.address;
            view.batch_stride = 0;
        };
        for problem in problems {
            meet(&mut all.a, &problem.a);
            meet(&mut all.b, &problem.b);
            meet(&mut all.d, &problem.d);
            if let (Source::Matrix(c), Source::Matrix(other)) = (&mut all.c, &problem.c) {
                meet(c, other);
            }
        }
        all.batch = problems.len().min(desc.products_at_once((all.m, all.n)));
        Some(all)
    }

    /// The same of so many products.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub(crate) fn of_products(self, products: usize) -> Self {
        Self { batch: products, ..self }
    }

    /// The addresses of a product's A, B, C and D; 0 of a C that is not read.
    pub fn matrix_addresses(&self) -> [u64; 4] {
        let source = self.read_source().map_or(0, |c| c.memory.address);
        [self.a.memory.address, self.b.memory.address, source, self.d.memory.address]
    }
}
