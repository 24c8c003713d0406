//! Grouped GEMMs, and one separate GEMM per group on the same memory.

use crate::harness::prelude::*;

/// Grouped GEMM, and the bytes of its matrices.
pub struct Grouped {
    pub problem: Problem,
    pub offsets: Vec<u32>,
    pub a: Vec<u8>,
    pub b: Vec<u8>,
    pub c: Vec<u8>,
    pub d: Vec<u8>,
    pub operands: EpilogueOperands<Vec<u8>>,
}

/// GEMM of one group, and its first elements of A, B, C, and D. `row` is its first element of
/// vectors.
pub struct SeparateGemm {
    pub problem: Problem,
    pub first: [usize; 4],
    pub row: usize,
}

/// Returns whether a kernel can copy single elements, which packed lines with odd lengths require.
/// Without enough registers, the kernel refuses such a problem. TMA copies no single elements.
pub fn copies_single_elements(desc: &GemmDesc) -> bool {
    desc.has_producer() || desc.narrowed([1; 3]).check().is_ok()
}

/// Returns bytes of finite elements: the highest bit of each exponent is 0. All `f32` elements are
/// in one binade, so that they can be scaled.
pub fn bytes(kind: ElementKind, seed: u64, length: usize) -> Vec<u8> {
    if kind == ElementKind::F32 {
        return (0..length as u64)
            .flat_map(|i| (draw(seed, i) as u32 & 0x807f_ffff | 0x3f80_0000).to_ne_bytes())
            .collect();
    }
    (0..kind.matrix_bytes(length as u64)).map(|i| draw(seed, i) as u8 & 0xbf).collect()
}

impl Grouped {
    /// Creates groups with lengths around the tile size of a description. Some are empty, and some
    /// rows are before the first or after the last group.
    pub fn random(desc: &GemmDesc, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (tile, types, orders) = (desc.threadblock(), desc.user_types(), desc.orders());
        let swapped = desc.frame.swapped;
        let (rows, across) = if swapped { (tile.n, tile.m) } else { (tile.m, tile.n) };
        let lengths = [rows - 1, 0, rows + 1, 1, 2 * rows, random.below(rows as usize) as u32, 0];
        let mut offsets = vec![random.below(5) as u32];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let m = (offsets[offsets.len() - 1] + random.below(9) as u32) as usize;
        let (n, k) = (
            across as usize + random.below(20),
            tile.k as usize + random.below(2 * tile.k as usize),
        );
        // Rows are padded for TMA or packed. TMA may not support packed rows.
        let padded = random.once_in(2);
        let matrix = |order: Order, extents: (usize, usize), batch: usize| {
            let line = order.packed(extents.0, extents.1);
            let view = View::packed(
                Elements::ALL,
                order,
                extents,
                padded.then(|| line.next_multiple_of(32)),
            );
            let view = if batch == 1 { view.batched(0) } else { view };
            view.with(Elements::new(view.elements(extents, batch) as usize))
        };
        let count = offsets.len() - 1;
        let (a, b, d) = (
            matrix(orders.a, (m, k), 1),
            matrix(orders.b, (k, n), count),
            matrix(orders.c, (m, n), 1),
        );
        let mut scalars = [0.0; 8];
        scalars[..3].copy_from_slice(&[1.0, [0.0, 1.0][random.below(2)], 1.0]);
        let length =
            |kind: EpilogueOperand| if kind.side() == Some(OperandKind::A) { m } else { n };
        let operands = EpilogueOperands::by(|kind| {
            kind.side().map(|side| View::vector(Elements::new(length(kind)), side))
        });
        let c = if random.once_in(2) { Source::InPlace } else { Source::Matrix(d) };
        let groups = Some(Groups::with_count(Axis::M, count));
        let problem = Problem {
            batch: count,
            groups,
            c,
            operands,
            scalars,
            ..problem_of((m, n, k), [a, b, d])
        };
        Self {
            problem,
            offsets,
            a: bytes(types.a, 1, a.memory.length),
            b: bytes(types.b, 2, b.memory.length),
            c: bytes(types.c, 3, d.memory.length),
            d: bytes(types.c, 4, d.memory.length),
            operands: EpilogueOperands::by(|kind| {
                Some(bytes(types.c, 4 + kind.index() as u64, length(kind)))
            }),
        }
    }

    /// Returns one GEMM per group that is not empty.
    pub fn separate_gemms(&self) -> impl Iterator<Item = SeparateGemm> + '_ {
        let Problem { a, b, d, .. } = self.problem;
        self.offsets.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]).map(
            move |(number, ends)| {
                let row = ends[0] as usize;
                let problem = Problem {
                    m: (ends[1] - ends[0]) as usize,
                    batch: 1,
                    groups: None,
                    ..self.problem
                };
                SeparateGemm {
                    problem,
                    first: [
                        a.offset(row, 0),
                        number * b.batch_stride,
                        d.offset(row, 0),
                        d.offset(row, 0),
                    ],
                    row,
                }
            },
        )
    }

    /// Returns the bytes of the offsets.
    pub fn offset_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.offsets)
    }
}

/// Returns the description without split-K, which grouped GEMM does not support.
pub fn whole(desc: GemmDesc) -> GemmDesc {
    but!(desc, split_k: 1)
}

/// Returns the maximum tile of a kind of kernel in multiplications. Warpgroup tiles are larger.
pub const fn largest(kernel_kind: KernelKind) -> u32 {
    match kernel_kind {
        KernelKind::WgmmaRing => 1 << 20,
        _ => 1 << 16,
    }
}
