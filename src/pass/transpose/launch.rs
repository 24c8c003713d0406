//! What a transpose is launched with.

use super::{Strided, TransposeDesc, TransposeShapes};
use crate::{
    call::{Grid, Launch, Source},
    codegen::TransposeParams,
    refusal::Refusal,
};

impl TransposeDesc {
    /// The launch of a problem that has been checked, whose A, B and D are at such addresses.
    ///
    /// # Errors
    ///
    /// [`Refusal::TooManyTiles`].
    pub fn launch(&self, shapes: &TransposeShapes, [a, b, d]: [u64; 3]) -> Result<Launch, Refusal> {
        let (down, across) = shapes.tiles(self);
        let source = shapes.source().unwrap_or(Strided { leading: 0, stride: 0, length: 0 });
        let b = if matches!(shapes.b, Source::InPlace) { d } else { b };
        let grid =
            Grid::of_tiles(down.saturating_mul(across).saturating_mul(shapes.batch as u64), self.threads, self.smem_bytes())?;
        let params = TransposeParams {
            a,
            b: if shapes.reads_b() { b } else { 0 },
            d,
            lda: shapes.a.leading as i64,
            ldb: source.leading as i64,
            ldd: shapes.d.leading as i64,
            stride_a: shapes.a.stride as i64,
            stride_b: source.stride as i64,
            stride_d: shapes.d.stride as i64,
            alpha: shapes.alpha,
            beta: shapes.beta,
            rows: shapes.rows as i32,
            columns: shapes.columns as i32,
            tiles_down: down as u32,
            tiles_across: across as u32,
            reads_a: u32::from(shapes.reads_a()),
            reads_b: u32::from(shapes.reads_b()),
        };
        Ok(Launch::new(grid, &params))
    }
}
