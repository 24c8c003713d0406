//! The launch of a transpose kernel.

use crate::{
    codegen::TransposeParams,
    layout::Order,
    operand::{Elements, Problem, View, transpose::TransposeDesc},
    refusal::Refusal,
    threadblock::{Grid, Launch},
};

impl TransposeDesc {
    /// Returns the launch for a problem that [`enter`](Self::enter) returned.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn launch(&self, problem: &Problem) -> Result<Launch, Refusal> {
        let (work, a, d) = (self.work(problem)?, problem.a.transposed(), &problem.d);
        let source = problem.read_source();
        let c = source.unwrap_or(View::new(Elements::new(0), Order::Row, 0));
        let grid = Grid::with_blocks(work.clusters, self.threads, self.smem_bytes());
        let params = TransposeParams {
            a: a.memory.address,
            c: c.memory.address,
            d: d.memory.address,
            lda: a.leading(Order::Row) as i64,
            ldc: c.leading(Order::Row) as i64,
            ldd: d.leading(Order::Row) as i64,
            stride_a: a.batch_stride as i64,
            stride_c: c.batch_stride as i64,
            stride_d: d.batch_stride as i64,
            alpha: problem.scalars[0],
            beta: problem.scalars[1],
            rows: problem.n as i32,
            columns: problem.m as i32,
            tiles_down: work.rows,
            tiles_across: work.columns,
            reads_a: u32::from(problem.k > 0),
            reads_c: u32::from(source.is_some()),
        };
        Ok(Launch::new(grid, &params))
    }
}
