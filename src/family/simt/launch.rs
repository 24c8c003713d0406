//! What a product on the CUDA cores is launched with: a block for each tile.

use crate::{
    call::{Grid, Launch, Problem},
    codegen::GemmParams,
    desc::SimtDesc,
    plan::Geometry,
    refusal::Refusal,
};

impl SimtDesc {
    /// The launch of a kernel of this geometry, which computes what the description says.
    pub(super) fn launch(&self, problem: &Problem, geometry: &Geometry) -> Result<Launch, Refusal> {
        let (class, tile) = (&self.class, geometry.tile);
        let source = problem.read_source(class);
        let (tiles_m, tiles_n) = (problem.m.div_ceil(tile.m as usize), problem.n.div_ceil(tile.n as usize));
        let params = GemmParams {
            a: problem.a.memory.address,
            b: problem.b.memory.address,
            c: source.map_or(0, |c| c.memory.address),
            d: problem.d.memory.address,
            lda: problem.a.leading(class.a.layout) as i64,
            ldb: problem.b.leading(class.b.layout) as i64,
            ldc: source.map_or(0, |c| c.leading(class.output.layout)) as i64,
            ldd: problem.d.leading(class.output.layout) as i64,
            scalars: problem.scalars,
            m: problem.m as i32,
            n: problem.n as i32,
            k: problem.k as i32,
            tiles_k: problem.k.div_ceil(tile.k as usize) as u32,
            tiles_m: tiles_m as u32,
            tiles_n: tiles_n as u32,
            reads_source: u32::from(source.is_some()),
            reserved: 0,
        };
        let grid = Grid::of_tiles(tiles_m as u64 * tiles_n as u64, geometry.threads, geometry.shared_bytes)?;
        Ok(Launch::new(grid, &params))
    }
}
