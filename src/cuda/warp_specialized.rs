//! The launch of a kernel whose warpgroups have roles: tensor maps, and as many clusters as the device holds at once.

use super::{loaded::Loaded, tensor_map};
use crate::{
    codegen::{TensorGemmParams, TensorMap},
    desc::WarpSpecializedDesc,
    error::Error,
    operand::OperandKind,
    refusal::{Operand, Refusal},
    sys::driver::{Grid, max_active_clusters},
    threadblock::WarpSpecialized,
};
use cudarc::driver::CudaStream;

/// A matrix in device memory, as the row-major problem has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub address: u64,
    pub leading: usize,
}

/// A row-major problem whose operands have been checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub m: usize,
    pub n: usize,
    /// Length of the rows that the copy engine reads, all parts of factors that are split; 0 where the epilogue reads no accumulator.
    pub depth: usize,
    pub a: Placed,
    pub b: Placed,
    /// `None` where the epilogue does not read C.
    pub c: Option<Placed>,
    pub d: Placed,
    pub scalars: [f64; 8],
    /// Addresses of the facts of A's rows and of B's columns, where those are scaled.
    pub lines: [u64; 2],
}

/// A description's components, and what one device holds of its kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Persistent {
    components: WarpSpecialized,
    /// Clusters that the device holds at once.
    resident: u32,
}

impl Persistent {
    /// That of a kernel that is loaded.
    pub fn of(components: WarpSpecialized, loaded: &Loaded, stream: &CudaStream) -> Result<Self, Error> {
        let resident = max_active_clusters(&loaded.function, stream, &Self::grid(&components, 1))?;
        Ok(Self { components, resident: resident.max(1) })
    }

    const fn grid(components: &WarpSpecialized, clusters: u32) -> Grid {
        let ring = components.ring;
        Grid { clusters, cluster: ring.blocks(), threads: ring.threads(), shared_bytes: ring.shared_bytes() }
    }

    /// What a product is launched with, ready to be enqueued. The description is of what the kernel reads ([`WarpSpecializedDesc::multiplied`]).
    pub fn ready(&self, desc: &WarpSpecializedDesc, call: &Call) -> Result<(Grid, TensorGemmParams), Error> {
        let (tile, cluster) = (desc.knobs.threadblock, desc.knobs.cluster);
        let tiles_m = call.m.div_ceil(tile.m as usize).div_ceil(cluster.m as usize);
        let tiles_n = call.n.div_ceil(tile.n as usize).div_ceil(cluster.n as usize);
        let (rectangles, most) = (tiles_m as u64 * tiles_n as u64, u64::from(desc.class.arch.machine().grid_x));
        if rectangles > most {
            return Err(Refusal::TooManyTiles { tiles: rectangles, most }.into());
        }
        let blocks = desc.blocks(call.depth);
        let params = TensorGemmParams {
            a: self.operand(desc, OperandKind::A, (call.m, call.depth), call.a)?,
            b: self.operand(desc, OperandKind::B, (call.n, call.depth), call.b)?,
            source: call.c.map_or(Ok(NOTHING), |c| self.slices(desc, (Operand::C, c), call))?,
            d: self.slices(desc, (Operand::D, call.d), call)?,
            c: call.c.map_or(0, |c| c.address),
            d_address: call.d.address,
            ldc: call.c.map_or(0, |c| c.leading) as i64,
            ldd: call.d.leading as i64,
            scalars: call.scalars,
            m: call.m as i32,
            n: call.n as i32,
            tiles_k: blocks.tiles(),
            tiles_m: tiles_m as u32,
            tiles_n: tiles_n as u32,
            reads_source: u32::from(call.c.is_some()),
            unscaled: u32::from(call.c.is_none() && call.scalars[..2] == [1.0, 0.0]),
            part_blocks: blocks.blocks,
            lines: call.lines,
            reserved: [0; 6],
        };
        let clusters = self.resident.min(rectangles as u32);
        Ok((Self::grid(&self.components, clusters), params))
    }

    /// The map of an operand; nothing where none is read.
    fn operand(
        &self,
        desc: &WarpSpecializedDesc,
        operand: OperandKind,
        extents: (usize, usize),
        placed: Placed,
    ) -> Result<TensorMap, Error> {
        if extents.1 == 0 {
            return Ok(NOTHING);
        }
        let (element, extents) = (desc.class.operand(operand).element, (extents.0 as u64, extents.1 as u64));
        let map = self.components.operand_map(operand, element, extents, placed.leading as u64)?;
        tensor_map(&map, placed.address)
    }

    /// The map of C or D; nothing where threads read and store them.
    fn slices(&self, desc: &WarpSpecializedDesc, (name, placed): (Operand, Placed), call: &Call) -> Result<TensorMap, Error> {
        if !desc.by_copy_engine() {
            return Ok(NOTHING);
        }
        let map =
            self.components.slice_map(name, desc.class.output.element, (call.m as u64, call.n as u64), placed.leading as u64)?;
        tensor_map(&map, placed.address)
    }
}

/// No map: of a matrix that the engine does not copy.
const NOTHING: TensorMap = TensorMap { word: [0; 16] };
