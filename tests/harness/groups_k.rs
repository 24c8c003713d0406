//! Grouped GEMMs along K: integers with a reference, and random bytes with separate GEMMs.

use crate::harness::{
    groups::{Grouped, bytes},
    integers::{Data, PRODUCTS, element, stored},
    prelude::*,
};

/// Returns offsets of groups with lengths around a k-tile, and K. Some groups are empty, and some k
/// lie before the first or behind the last group. Groups begin at multiples of `step`.
pub(super) fn offsets(random: &mut Random, tile_k: u32, step: u32) -> (Vec<u32>, usize) {
    let lengths = [
        tile_k - 1,
        0,
        tile_k + 1,
        1,
        2 * tile_k,
        random.below(3 * tile_k as usize) as u32,
        tile_k,
        0,
    ];
    let count = 1 + random.below(lengths.len());
    let mut offsets = vec![random.below(5) as u32 * step];
    for length in lengths.into_iter().cycle().skip(random.below(lengths.len())).take(count) {
        offsets.push((offsets[offsets.len() - 1] + length).next_multiple_of(step));
    }
    let k = offsets[offsets.len() - 1] as usize + random.below(9);
    (offsets, k)
}

/// Returns the matrices of a batch with padded or packed lines, and elements between the matrices.
fn matrix(
    order: Order,
    extents: (usize, usize),
    (batch, gap): (usize, usize),
    padding: usize,
) -> View<Elements> {
    let line = order.packed(extents.0, extents.1).next_multiple_of(padding);
    let view = View::packed(Elements::ALL, order, extents, Some(line));
    let view = if batch == 0 { view.batched(0) } else { view.batched(view.batch_stride + gap) };
    view.with(Elements::new(view.elements(extents, batch.max(1)) as usize))
}

/// Returns the problem of groups along K. Lines are padded for TMA, or packed. TMA may not support
/// packed lines.
fn problem(
    desc: &GemmDesc,
    random: &mut Random,
    (m, n, k): (usize, usize, usize),
    count: usize,
) -> Problem {
    let (orders, padding) = (desc.orders(), [1, 32][random.below(2)]);
    let (a, b) =
        (matrix(orders.a, (m, k), (0, 0), padding), matrix(orders.b, (k, n), (0, 0), padding));
    let d = matrix(orders.c, (m, n), (count, [0, 16, 3][random.below(3)]), padding);
    let groups = Some(Groups::with_count(Axis::K, count));
    Problem { batch: count, groups, ..problem_of((m, n, k), [a, b, d]) }
}

/// Returns M and N that leave parts of tiles.
fn ragged(desc: &GemmDesc, random: &mut Random) -> (usize, usize) {
    let (tile, swapped) = (desc.threadblock(), desc.frame.swapped);
    let (m, n) = if swapped { (tile.n, tile.m) } else { (tile.m, tile.n) };
    [(m as usize + 3, n as usize - 5), (m as usize - 7, n as usize + 1)][random.below(2)]
}

/// Grouped GEMM along K of small integers, and its exact D.
///
/// Some groups of A and B hold NaN, infinities, or large integers, and so do the k outside all
/// groups. They must not change the D of other groups. If C is not read, it holds NaN. D is
/// poisoned.
pub struct IntegersAlongK {
    pub problem: Problem,
    pub offsets: Vec<u32>,
    pub a: Data,
    pub b: Data,
    pub c: Data,
    pub d: Data,
    /// Value of each element of D after the call. `None` for a group that holds NaN.
    wanted: Vec<Option<f64>>,
}

impl IntegersAlongK {
    /// Creates groups for a description whose epilogue is the linear combination.
    pub fn random(desc: &GemmDesc, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (offsets, k) = offsets(&mut random, desc.threadblock().k, 1);
        let (m, n) = ragged(desc, &mut random);
        let count = offsets.len() - 1;
        let mut problem = problem(desc, &mut random, (m, n, k), count);
        let with_c = random.once_in(2);
        problem.c = Source::Matrix(problem.d);
        problem.scalars = scalars(1.0, if with_c { 2.0 } else { 0.0 });
        let Problem { a, b, d, .. } = problem;

        // A group has at most `PRODUCTS` nonzero products per element of D.
        let mut depth = vec![None; k];
        for (group, ends) in offsets.windows(2).enumerate() {
            let kept = (ends[1] - ends[0]).div_ceil(PRODUCTS as u32).max(1);
            let poisoned = count > 1 && random.once_in(3);
            depth[ends[0] as usize..ends[1] as usize].fill((!poisoned).then_some((group, kept)));
        }
        let types = desc.user_types();
        let fill = |kind: ElementKind, view: &View<Elements>, mn: usize, salt: u64| {
            let mut values = vec![None; view.memory.length];
            for (line, l) in (0..mn).flat_map(|line| (0..k).map(move |l| (line, l))) {
                let at = if salt == 1 { view.offset(line, l) } else { view.offset(l, line) };
                let kept = |kept| salt != 1 || (line + l).is_multiple_of(kept as usize);
                values[at] =
                    depth[l].map(|(_, of)| if kept(of) { element(kind, salt, at) } else { 0 });
            }
            values
        };
        let (of_a, of_b) = (fill(types.a, &a, m, 1), fill(types.b, &b, n, 2));
        let of_c = (0..d.memory.length).map(|at| with_c.then(|| element(types.c, 3, at)));
        let of_c: Vec<_> = of_c.collect();

        let mut wanted = vec![Some(f64::from(POISON)); d.memory.length];
        for (group, ends) in offsets.windows(2).enumerate() {
            let depth = ends[0] as usize..ends[1] as usize;
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let at = group * d.batch_stride + d.offset(i, j);
                let sum = depth.clone().try_fold(0, |sum, l| {
                    Some(sum + of_a[a.offset(i, l)]? * of_b[b.offset(l, j)]?)
                });
                wanted[at] = sum.map(|sum| f64::from(sum + 2 * of_c[at].unwrap_or(0)));
            }
        }
        let data = |kind: ElementKind, values: Vec<Option<i32>>| Data::poisoned(kind, &values);
        let d = vec![Some(POISON); d.memory.length];
        Self {
            problem,
            offsets,
            a: data(types.a, of_a),
            b: data(types.b, of_b),
            c: data(types.c, of_c),
            d: data(types.c, d),
            wanted: wanted.into_iter().map(|want| Some(stored(types.c, want?))).collect(),
        }
    }

    /// Returns the first element of a computed D that is wrong.
    pub fn wrong(&self, d: &Data) -> Option<String> {
        let all = self.wanted.iter().enumerate();
        let at = all.filter_map(|(at, want)| Some((at, (*want)?))).find(|&(at, x)| d.get(at) != x);
        at.map(|(at, want)| format!("element {at} of D is {}, and should be {want}", d.get(at)))
    }
}

/// Value of D before the GEMM. No sum of [`PRODUCTS`] products and twice a C reaches it.
const POISON: i32 = 120;

impl Grouped {
    /// Creates groups along K of random bytes. Groups begin at multiples of the vectors that the
    /// kernel reads along K, so that separate GEMMs have the same k-tiles.
    pub fn random_along_k(desc: &GemmDesc, seed: u64) -> Self {
        let step = desc.for_groups(Axis::K).group_step();
        Self::along_k_at(desc, seed, step)
    }

    /// Creates groups along K of random bytes. Groups begin at multiples of `step`.
    pub fn along_k_at(desc: &GemmDesc, seed: u64, step: u32) -> Self {
        let mut random = Random::new(seed);
        let (offsets, k) = offsets(&mut random, desc.threadblock().k, step);
        let (m, n) = ragged(desc, &mut random);
        let problem = problem(desc, &mut random, (m, n, k), offsets.len() - 1);
        let Problem { a, b, d, .. } = problem;
        let mut scalars = [0.0; 8];
        scalars[..3].copy_from_slice(&[1.0, [0.0, 1.0][random.below(2)], 1.0]);
        let length =
            |kind: EpilogueOperand| if kind.side() == Some(OperandKind::A) { m } else { n };
        let operands = EpilogueOperands::by(|kind| {
            kind.side().map(|side| View::vector(Elements::new(length(kind)), side))
        });
        let c = if random.once_in(2) { Source::InPlace } else { Source::Matrix(d) };
        let types = desc.user_types();
        Self {
            problem: Problem { c, operands, scalars, ..problem },
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

    /// Returns one GEMM per group along K.
    pub fn separate_gemms_along_k(&self) -> impl Iterator<Item = SeparateGemm> + '_ {
        let Problem { a, b, d, .. } = self.problem;
        self.offsets.windows(2).enumerate().map(move |(number, ends)| {
            let (first, k) = (ends[0] as usize, (ends[1] - ends[0]) as usize);
            let problem = Problem { k, batch: 1, groups: None, ..self.problem };
            let of_d = number * d.batch_stride;
            let first = [a.offset(0, first), b.offset(first, 0), of_d, of_d];
            SeparateGemm { problem, first, row: 0 }
        })
    }
}

/// Returns whether kernels of a description compute groups along K.
pub fn groups_along_k(desc: &GemmDesc) -> bool {
    desc.for_groups(Axis::K).check().is_ok()
}
