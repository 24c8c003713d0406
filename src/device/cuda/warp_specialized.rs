//! The launch of a kernel whose warpgroups have roles: tensor maps, and as many clusters as the device holds at once.
//!
//! Twin: `kernels/device/cuda/warp_specialized.cuh`.

use super::{loaded::Loaded, tensor_map};
use crate::{
    desc::{GemmDesc, OperandKind},
    error::Error,
    layout::Order,
    mirror::{TensorGemmParams, TensorMap},
    numeric::ElementKind,
    refusal::Refusal,
    sys::driver::{Grid, max_active_clusters},
    threadblock::{Along, TensorMatrix, TensorSwizzle, WarpSpecialized},
    warp::mma_warpgroup::ROWS,
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
    /// Length of the dot products; 0 where the epilogue reads no accumulator.
    pub depth: usize,
    pub a: Placed,
    pub b: Placed,
    /// `None` where the epilogue does not read C.
    pub c: Option<Placed>,
    pub d: Placed,
    pub scalars: [f64; 8],
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

    /// What a product is launched with, ready to be enqueued.
    pub fn ready(&self, desc: &GemmDesc, call: &Call) -> Result<(Grid, TensorGemmParams), Error> {
        let (tile, cluster) = (desc.threadblock, desc.cluster);
        let tiles_m = call.m.div_ceil(tile.m as usize).div_ceil(cluster.m as usize);
        let tiles_n = call.n.div_ceil(tile.n as usize).div_ceil(cluster.n as usize);
        let (rectangles, most) = (tiles_m as u64 * tiles_n as u64, u64::from(desc.arch.machine().grid_x));
        if rectangles > most {
            return Err(Refusal::TooManyTiles { tiles: rectangles, most }.into());
        }
        let d = self.slices(desc, call)?;
        let params = TensorGemmParams {
            a: if call.depth == 0 { NOTHING } else { self.operand(desc, OperandKind::A, call.m, call.depth, call.a)? },
            b: if call.depth == 0 { NOTHING } else { self.operand(desc, OperandKind::B, call.n, call.depth, call.b)? },
            d,
            c: call.c.map_or(0, |c| c.address),
            d_address: call.d.address,
            ldc: call.c.map_or(0, |c| c.leading) as i64,
            ldd: call.d.leading as i64,
            scalars: call.scalars,
            m: call.m as i32,
            n: call.n as i32,
            tiles_k: call.depth.div_ceil(tile.k as usize) as u32,
            tiles_m: tiles_m as u32,
            tiles_n: tiles_n as u32,
            reads_source: u32::from(call.c.is_some()),
            unscaled: u32::from(call.c.is_none() && call.scalars[..2] == [1.0, 0.0]),
            reserved: 0,
        };
        let clusters = self.resident.min(rectangles as u32);
        Ok((Self::grid(&self.components, clusters), params))
    }

    /// The map of an operand, whose boxes are what one copy moves.
    fn operand(
        &self,
        desc: &GemmDesc,
        operand: OperandKind,
        mn: usize,
        depth: usize,
        placed: Placed,
    ) -> Result<TensorMap, Error> {
        let tile = self.components.tile(operand);
        let element = if operand == OperandKind::A { desc.a } else { desc.b };
        let rows_along_k = tile.along().is(Along::K);
        let order = if rows_along_k { Order::Row } else { Order::Col };
        // Seen as MN x K, which is row-major where K is contiguous.
        let matrix =
            TensorMatrix::new(operand.name(), bits_alone(element), order, (mn as u64, depth as u64), placed.leading as u64);
        let map = matrix.map((self.components.box_mn(operand), tile.k()), TensorSwizzle::Bytes128)?;
        tensor_map(&map, placed.address)
    }

    /// The map of D, whose boxes are slices; nothing where threads store them.
    fn slices(&self, desc: &GemmDesc, call: &Call) -> Result<TensorMap, Error> {
        if desc.align_c * desc.c.bytes() < 16 {
            return Ok(NOTHING);
        }
        let extents = (call.m as u64, call.n as u64);
        let matrix = TensorMatrix::new("D", desc.c, Order::Row, extents, call.d.leading as u64);
        let map = matrix.map((ROWS, self.components.slice_columns), self.components.slice_swizzle)?;
        tensor_map(&map, call.d.address)
    }
}

/// No map: of an operand that is not copied.
const NOTHING: TensorMap = TensorMap { word: [0; 16] };

/// Elements as the engine is to move them: the bits of tf32 as they are.
const fn bits_alone(element: ElementKind) -> ElementKind {
    match element {
        ElementKind::Tf32 => ElementKind::F32,
        other => other,
    }
}
