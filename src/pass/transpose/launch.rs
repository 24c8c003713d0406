//! The launch of a transpose kernel.

use super::{TransposeDesc, TransposeProblem};
use crate::{
    call::{Elements, Grid, Launch, View},
    codegen::TransposeParams,
    layout::Order,
    refusal::Refusal,
};

impl TransposeDesc {
    /// Returns the launch for a problem that has been checked.
    ///
    /// # Errors
    /// [`Refusal`] of too many tiles.
    pub fn launch(&self, problem: &TransposeProblem) -> Result<Launch, Refusal> {
        let (work, TransposeProblem { a, d, .. }) = (problem.work(self)?, problem);
        let b = problem.source().unwrap_or(View::new(Elements::of(0), Order::Row, 0));
        let grid = Grid::of_blocks(work.clusters, self.threads, self.smem_bytes());
        let params = TransposeParams {
            a: a.memory.address,
            b: b.memory.address,
            d: d.memory.address,
            lda: a.leading(Order::Row) as i64,
            ldb: b.leading(Order::Row) as i64,
            ldd: d.leading(Order::Row) as i64,
            stride_a: a.batch_stride as i64,
            stride_b: b.batch_stride as i64,
            stride_d: d.batch_stride as i64,
            alpha: problem.scalars[0],
            beta: problem.scalars[1],
            rows: problem.rows as i32,
            columns: problem.columns as i32,
            tiles_down: work.rows,
            tiles_across: work.columns,
            reads_a: u32::from(problem.reads_a()),
            reads_b: u32::from(problem.reads_b()),
        };
        Ok(Launch::new(grid, &params))
    }
}
