//! Pointer arrays: GEMMs of one size whose matrices have unrelated addresses.
//!
//! An array is one call per GEMM. The calls differ only in the memory of their matrices.

use super::{
    Arguments, Call, Elements, MatrixElements, Memory, OperandView, Problem, Source, Space, View,
    partials::rectangles_of,
    positions::{Spread, Spreads},
    route::aligned_bytes_at_any_address,
    space::{OperandA, OperandB, OperandC, OperandD},
};
use crate::{
    arch::MOST_BLOCKS,
    nest::GemmDesc,
    numeric::ElementKind,
    refusal::{Field, Operand, Refusal, rules::within},
    threadblock::ProductRecords,
};

impl GemmDesc {
    /// Returns the number of GEMMs of an array in one launch, for m x n outputs in the kernel's
    /// frame. The grid size limits the number, which is at least 1.
    pub(crate) fn products_at_once(&self, extents: (usize, usize)) -> usize {
        let (rectangles, _) = rectangles_of(self, extents, 1);
        let tiles = rectangles.saturating_mul(u64::from(self.split_k())).max(1);
        (u64::from(MOST_BLOCKS) / tiles).max(1) as usize
    }

    /// Returns the bytes of the records of `products` GEMMs, or 0 if the kernel reads no records.
    pub(crate) const fn record_bytes(&self, products: usize) -> u64 {
        if !self.work.mode.is_array() {
            return 0;
        }
        ProductRecords::bytes(products, self.has_positions())
    }

    /// Returns the [description](Self::for_array) of the kernel for an array of `products` GEMMs in
    /// a workspace of `workspace` bytes, and the bytes that the records leave free. Without space
    /// for the records, each GEMM is a separate launch.
    pub(crate) const fn for_array_within(self, products: usize, workspace: u64) -> (Self, u64) {
        let desc = self.for_array(products);
        let records = desc.record_bytes(products);
        if workspace >= aligned_bytes_at_any_address(records) {
            (desc, workspace - records)
        } else {
            (self.for_array(1), workspace)
        }
    }
}

/// Checks that an operand has one matrix per GEMM.
fn check_length(operand: Operand, length: usize, products: usize) -> Result<(), Refusal> {
    if length == products { Ok(()) } else { Err(Refusal::array_length(operand, length, products)) }
}

/// Collects the operand of a pointer array, whose matrices have one geometry, and the number of
/// matrices. The operand is `None` for an empty array.
///
/// # Errors
/// [`Refusal`] for the first matrix with another geometry.
fn matrices<M>(
    views: impl Iterator<Item = OperandView<M>>,
) -> Result<(Option<OperandView<M>>, usize), Refusal> {
    let (mut all, mut count) = (None::<OperandView<M>>, 0);
    for view in views {
        match &mut all {
            None => all = Some(view),
            Some(all) if all.placement == view.placement => all.others.push(view.memory),
            Some(_) => return Err(Refusal::array_unlike(count)),
        }
        count += 1;
    }
    Ok((all, count))
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// Creates the arguments of a pointer array: `D[i] = A[i] * B[i]`. All GEMMs have one size. The
    /// matrices of an operand have one leading dimension and unrelated addresses. Later setters
    /// apply to all matrices of an operand. All GEMMs share the vectors and the scalars. Several
    /// GEMMs may read one matrix, for example `iter::repeat_n(&a, 3)`.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, b) = (vec![1.0f32; 8], [vec![1.0f32; 20], vec![2.0f32; 20]]);
    /// let mut d = [vec![0.0f32; 10], vec![0.0f32; 10]];
    /// let gemm = Gemm::<f32>::new();
    /// gemm.run(Arguments::array((2, 5, 4), [&a, &a], &b, &mut d)?)?;
    /// assert_eq!(d, [vec![4.0; 10], vec![8.0; 10]]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// On a device, one launch computes all GEMMs if the [workspace](Self::workspace) has space for
    /// one record per GEMM: 32 bytes, or 48 bytes for a TMA-fed kernel. A small launch before it
    /// writes the records from its parameters, so a captured graph keeps the addresses.
    /// `Kernel::bind` writes the records only once. Each GEMM is a separate launch without such a
    /// workspace, with stream-K, or if an operand needs a pass.
    ///
    /// # Errors
    /// [`Refusal`] for an empty array, if the numbers of As, Bs, and Ds differ, or if the views of
    /// an operand differ in shape, strides, or first element.
    pub fn array(
        extents: (usize, usize, usize),
        a: impl IntoIterator<Item: OperandA<'a, A, S>>,
        b: impl IntoIterator<Item: OperandB<'a, B, S>>,
        d: impl IntoIterator<Item: OperandD<'a, C, S>>,
    ) -> Result<Self, Refusal> {
        let (a, count_of_a) = matrices(a.into_iter().map(OperandA::placed))?;
        let (b, count_of_b) = matrices(b.into_iter().map(OperandB::placed))?;
        let (d, products) = matrices(d.into_iter().map(OperandD::placed))?;
        check_length(Operand::A, count_of_a, products)?;
        check_length(Operand::B, count_of_b, products)?;
        within(Field::Products, products as u64, 1, i32::MAX as u64)?;
        let (Some(a), Some(b), Some(d)) = (a, b, d) else {
            return Err(Refusal::array_length(Operand::D, 0, products));
        };
        Ok(Self::from_operands(extents, a, b, d))
    }

    /// Passes one C per GEMM of an [array](Self::array), and the scalar beta.
    /// [`source`](Self::source) passes one C for all GEMMs.
    ///
    /// # Errors
    /// [`Refusal`] if the numbers of Cs and Ds differ.
    pub fn sources(
        mut self,
        beta: impl Into<f64>,
        c: impl IntoIterator<Item: OperandC<'a, C, S>>,
    ) -> Result<Self, Refusal> {
        let (c, count) = matrices(c.into_iter().map(OperandC::placed))?;
        check_length(Operand::C, count, self.d.others.len() + 1)?;
        if let Some(c) = c {
            self.c.replace(c, Source::Matrix);
        }
        self.scalars[1] = beta.into();
        Ok(self)
    }

    /// Returns the number of GEMMs of an array, or `None` without an array.
    ///
    /// # Errors
    /// [`Refusal`] for an array of batches or groups, or for a batch of groups.
    pub(crate) fn products(&self) -> Result<Option<usize>, Refusal> {
        match self.d.others.len() {
            0 if self.batch != 1 && self.groups.is_some() => Err(Refusal::GROUPS_OF_BATCHES),
            0 => Ok(None),
            _ if self.batch != 1 || self.groups.is_some() => Err(Refusal::ARRAY_OF_BATCHES),
            others => Ok(Some(others + 1)),
        }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Checks that calls differ only in the memory of their matrices.
    ///
    /// # Errors
    /// [`Refusal`] for the first call that differs from call 0, or is a batch.
    pub(crate) fn check_array(calls: &[Self]) -> Result<(), Refusal> {
        let shape = |call: &Self| {
            let Problem { m, n, k, batch, groups, a, b, c, d, operands, scalars, .. } =
                call.problem();
            let (strides, scalars) = (
                ([a, b, d].map(|view| view.strides), c.map(|c| c.strides)),
                scalars.map(f64::to_bits),
            );
            ((m, n, k, batch, groups.is_some()), strides, operands, scalars)
        };
        let Some(first) = calls.first().map(shape) else { return Ok(()) };
        let unlike = |call: &Self| call.batch != 1 || call.groups.is_some() || shape(call) != first;
        calls.iter().position(unlike).map_or(Ok(()), |product| Err(Refusal::array_unlike(product)))
    }
}

impl Problem {
    /// Returns the problem of one launch of an array, or `None` for an empty array. The address of
    /// each operand is the lowest one, with the alignment of the least aligned matrix. The batch
    /// stride is the step of the operand's positions, or 0 if the records have no positions. The
    /// first problem holds the workspace.
    pub fn from_array(problems: &[Self], desc: &GemmDesc) -> Option<Self> {
        let mut all = *problems.first()?;
        let (a, b, c) = (desc.operands[0].stored, desc.operands[1].stored, desc.output.element);
        let step = |spread: Spread| spread.step().filter(|_| desc.has_positions()).unwrap_or(0);
        let place = |view: &mut View<Elements>, (spread, element): (Spread, ElementKind)| {
            view.memory.address = spread.origin();
            view.batch_stride = element.matrix_elements(step(spread)) as usize;
        };
        let [of_a, of_b, of_c, of_d] = Self::spreads(problems)?;
        place(&mut all.a, (of_a, a));
        place(&mut all.b, (of_b, b));
        place(&mut all.d, (of_d, c));
        if let Source::Matrix(view) = &mut all.c {
            place(view, (of_c, c));
        }
        all.batch = problems.len().min(desc.products_at_once((all.m, all.n)));
        Some(all)
    }

    /// Returns the spreads of the operands of an array, or `None` for an empty array.
    pub(super) fn spreads(problems: &[Self]) -> Option<Spreads> {
        let each = problems.iter().map(|problem| problem.matrix_addresses().map(Spread::single));
        each.reduce(|all, one| core::array::from_fn(|i| all[i].merge(one[i])))
    }

    /// Returns the addresses of A, B, C, and D, with 0 for a C that the kernel does not read.
    pub fn matrix_addresses(&self) -> [u64; 4] {
        let source = self.read_source().map_or(0, |c| c.memory.address);
        [self.a.memory.address, self.b.memory.address, source, self.d.memory.address]
    }
}
