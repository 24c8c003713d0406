//! Arguments of pointer arrays: GEMMs of one size whose matrices have unrelated addresses.

use super::{
    Arguments, MatrixElements, OperandA, OperandB, OperandC, OperandD, OperandView, Space,
};
use crate::{
    operand::Source,
    refusal::{Field, Operand, Refusal, rules::within},
};

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
    /// [`Refusal`] for an array of batches or groups, for an array with index lists, or for a batch
    /// of groups.
    pub(crate) fn products(&self) -> Result<Option<usize>, Refusal> {
        match self.d.others.len() {
            0 if self.batch != 1 && self.groups.is_some() => Err(Refusal::GROUPS_OF_BATCHES),
            0 => Ok(None),
            _ if self.batch != 1 || self.groups.is_some() => Err(Refusal::ARRAY_OF_BATCHES),
            _ if self.has_indices() => Err(Refusal::INDICES_OF_ARRAY),
            others => Ok(Some(others + 1)),
        }
    }
}
