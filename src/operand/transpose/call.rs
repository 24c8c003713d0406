//! A call of a transpose kernel: its checks, its work, and the width of its accesses.

use crate::{
    epilogue::{LinearCombination, Node},
    layout::Order,
    operand::{
        Call, Elements, LARGEST, Memory, Problem, Source, View, check_memory, check_output,
        check_written,
        transpose::desc::{Combine, TransposeDesc},
    },
    refusal::{Field, Operand, Refusal, Scalar},
    shape::{Mn, Mnk},
    thread::access::dividing,
    threadblock::{Work, WorkKind},
};

impl<R, W> Call<R, W> {
    /// Returns the call of a transpose without the operands that D does not depend on. K is 0 if D
    /// does not depend on A.
    pub fn read_by_transpose(self) -> Self {
        let reads = <LinearCombination as Node>::DESC.reads(&self.scalars);
        self.reading(&reads)
    }
}

impl TransposeDesc {
    /// Drops the operands that D does not depend on. Checks that the kernel supports the element
    /// types, sizes, orders, strides, and scalars of a transpose.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand, its value, and the limit.
    pub fn enter<R: Memory, W: Memory>(&self, call: Call<R, W>) -> Result<Call<R, W>, Refusal> {
        let call = call.read_by_transpose();
        self.check_problem(&call.problem())?;
        self.check_types(&call)?;
        Ok(call)
    }

    fn check_problem(&self, problem: &Problem) -> Result<(), Refusal> {
        let Problem { m: columns, n: rows, batch, .. } = *problem;
        for (field, value) in [(Field::Rows, rows), (Field::Columns, columns)] {
            if value > LARGEST {
                return Err(Refusal::extent_too_large(field, value, LARGEST as u64));
            }
        }
        let [alpha, beta, ..] = problem.scalars;
        if matches!(self.combine, Combine::Move) && [alpha, beta] != [1.0, 0.0] {
            let scalar = if beta == 0.0 { Scalar::ALPHA } else { Scalar::BETA };
            return Err(Refusal::not_scaled(scalar));
        }
        check_written(&problem.d, Order::Row, (columns, rows), batch)?;
        if alpha != 0.0 {
            let a = problem.a.transposed();
            check_output(Operand::A, &a, Order::Row, (rows, columns), batch)?;
        }
        match &problem.c {
            Source::Matrix(c) => check_output(Operand::C, c, Order::Row, (columns, rows), batch)?,
            Source::None if beta != 0.0 => return Err(Refusal::missing_operand(Operand::C)),
            _ => {}
        }
        self.work(problem).map(drop)
    }

    /// Checks the element types of the matrices, unless a problem states none.
    fn check_types<R: Memory, W: Memory>(&self, call: &Call<R, W>) -> Result<(), Refusal> {
        let Some(given) = call.d.memory.kind() else { return Ok(()) };
        let wanted = self.combine.kind().unwrap_or(given);
        check_memory(Operand::D, &call.d.memory, wanted)?;
        check_memory(Operand::A, &call.a.memory, wanted)?;
        call.c.matrix().map_or(Ok(()), |c| check_memory(Operand::C, &c.memory, wanted))?;
        let bytes = self.element_bytes;
        if given.bytes_of(1) == bytes { Ok(()) } else { Err(Refusal::element_bytes(given, bytes)) }
    }

    /// Returns the work of the kernel, with one CTA per tile of D.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn work(&self, problem: &Problem) -> Result<Work, Refusal> {
        let Problem { m: columns, n: rows, batch, .. } = *problem;
        // A row of D may begin before the first tile.
        let before = if rows > 0 { self.lines_before() as usize } else { 0 };
        let (tile, one) = (Mnk { m: self.columns, n: self.rows, k: 1 }, Mn::ONE);
        let extents = (columns, rows.saturating_add(before));
        let kind = (WorkKind::DataParallel, self.order, 1);
        Work::new(kind, (tile, one), (extents, batch, 0), u32::MAX)
    }

    /// Returns the elements per access to A and to D that a problem allows, at most those of the
    /// description.
    pub(super) fn widths(&self, problem: &Problem) -> (u32, u32) {
        let Problem { m: columns, n: rows, batch, .. } = *problem;
        // A matrix that is not read has no limit. A single row has no pitch, and a single matrix
        // has no batch stride.
        let limits = |matrix: View<Elements>, rows: usize| {
            let next = |count: usize, stride: usize| if count > 1 { stride as u64 } else { 0 };
            let first = matrix.memory.address / u64::from(self.element_bytes.max(1));
            [first, next(rows, matrix.leading(Order::Row)), next(batch, matrix.batch_stride)]
        };
        let mut access_a = dividing(self.access_a, &[columns as u64]);
        if problem.k > 0 {
            access_a = dividing(access_a, &limits(problem.a.transposed(), rows));
        }
        let mut access_d = dividing(self.access_d, &limits(problem.d, columns));
        if let Some(c) = problem.read_source() {
            access_d = dividing(access_d, &limits(c, columns));
        }
        (access_a, dividing(access_d, &[rows as u64]))
    }
}
