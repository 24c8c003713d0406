//! Pointer arrays: GEMMs of one size whose matrices have unrelated addresses.
//!
//! An array is one call per GEMM. The calls differ only in the memory of their matrices.

use crate::{
    arch::MOST_BLOCKS,
    nest::GemmDesc,
    numeric::ElementKind,
    operand::{Call, Elements, Memory, Problem, Source, View, route::aligned_bytes_at_any_address},
    refusal::Refusal,
    threadblock::{
        ProductRecords,
        partials::rectangles_of,
        positions::{Spread, Spreads},
    },
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

impl<R: Memory, W: Memory> Call<R, W> {
    /// Checks that calls differ only in the memory of their matrices.
    ///
    /// # Errors
    /// [`Refusal`] for the first call that differs from call 0, is a batch, or has index lists.
    pub(crate) fn check_array(calls: &[Self]) -> Result<(), Refusal> {
        let shape = |call: &Self| {
            let Problem { m, n, k, batch, groups, a, b, c, d, operands, scalars, .. } =
                call.problem();
            let (strides, scalars) = (
                (
                    [a, b, d].map(|view| (view.strides, view.splits)),
                    c.map(|c| (c.strides, c.splits)),
                ),
                scalars.map(f64::to_bits),
            );
            ((m, n, k, batch, groups.is_some()), strides, operands, scalars)
        };
        let Some(first) = calls.first().map(shape) else { return Ok(()) };
        let alone =
            |call: &Self| call.batch == 1 && call.groups.is_none() && call.indices.is_none();
        let unlike = |call: &Self| !alone(call) || shape(call) != first;
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
    pub(crate) fn spreads(problems: &[Self]) -> Option<Spreads> {
        let each = problems.iter().map(|problem| problem.matrix_addresses().map(Spread::single));
        each.reduce(|all, one| core::array::from_fn(|i| all[i].merge(one[i])))
    }

    /// Returns the addresses of A, B, C, and D, with 0 for a C that the kernel does not read.
    pub fn matrix_addresses(&self) -> [u64; 4] {
        let source = self.read_source().map_or(0, |c| c.memory.address);
        [self.a.memory.address, self.b.memory.address, source, self.d.memory.address]
    }
}
