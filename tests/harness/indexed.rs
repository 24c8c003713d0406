//! Calls with index lists or two strides of C and D, and plain calls on copies of their matrices.

use crate::harness::{
    groups::bytes,
    groups_k::{groups_along_k, offsets},
    prelude::*,
};
use falchion::internals::operand::{AxisSplit, IndexList, Indices};

/// Bytes of the matrices of a call.
#[derive(Clone)]
pub struct Memory {
    pub a: Vec<u8>,
    pub b: Vec<u8>,
    pub c: Vec<u8>,
    pub d: Vec<u8>,
    pub operands: EpilogueOperands<Vec<u8>>,
}

/// A call with index lists or two strides, in the user's frame.
pub struct IndexedCase {
    pub problem: Problem,
    /// Lists of A, B, and D. They may be longer than the lines that the call reads.
    pub lists: [Option<Vec<u32>>; 3],
    /// Offsets of groups along K.
    pub offsets: Option<Vec<u32>>,
    pub memory: Memory,
    types: Combined,
    elements: EpilogueOperands<ElementKind>,
}

/// Elements of a batch of matrices that move between two places.
struct Moved<'m> {
    kind: ElementKind,
    batch: usize,
    rows: &'m [usize],
    columns: &'m [usize],
}

impl Moved<'_> {
    /// Calls `visit` with the bytes of each element: in the indexed matrix, and in the plain one.
    fn each(
        &self,
        of: &View<Elements>,
        plain: &View<Elements>,
        mut visit: impl FnMut(usize, usize),
    ) {
        let width = self.kind.bytes_of(1) as usize;
        for matrix in 0..if plain.batch_stride == 0 { 1 } else { self.batch } {
            for (i, &row) in self.rows.iter().enumerate() {
                for (j, &column) in self.columns.iter().enumerate() {
                    let element = matrix * of.batch_stride + of.offset(row, column);
                    let copied = matrix * plain.batch_stride + plain.offset(i, j);
                    visit(element * width, copied * width);
                }
            }
        }
    }

    /// Returns a plain copy of the matrices.
    fn copy(&self, view: &View<Elements>, bytes: &[u8], order: Order) -> (View<Elements>, Vec<u8>) {
        let extents = (self.rows.len(), self.columns.len());
        let plain = View::packed(Elements::ALL, order, extents, None);
        let plain = if view.batch_stride == 0 { plain.batched(0) } else { plain };
        let plain = plain.with(Elements::new(plain.elements(extents, self.batch) as usize));
        let width = self.kind.bytes_of(1) as usize;
        let mut copied = vec![0; plain.memory.length * width];
        self.each(view, &plain, |from, to| {
            copied[to..to + width].copy_from_slice(&bytes[from..from + width]);
        });
        (plain, copied)
    }
}

/// Returns different numbers below `limit` in a random order.
fn distinct(random: &mut Random, count: usize, limit: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..limit as u32).collect();
    for i in 0..count {
        let other = i + random.below(limit - i);
        all.swap(i, other);
    }
    all.truncate(count);
    all
}

impl IndexedCase {
    /// Creates a call with repeated rows of A, repeated columns of B, different rows of D, or two
    /// strides of C and D. Some calls are a batch, and some have groups along K.
    pub fn random(desc: &GemmDesc, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (types, orders, tile) = (desc.user_types(), desc.orders(), desc.threadblock());
        let (rows, across) = if desc.frame.swapped { (tile.n, tile.m) } else { (tile.m, tile.n) };
        let mut extent = |tile: u32| match random.below(8) {
            0 => 1,
            1 => tile as usize,
            _ => 1 + random.below(2 * tile as usize),
        };
        let (mut m, mut n, k) = (extent(rows), extent(across), extent(tile.k));
        // Each split-K slice has a k-tile.
        let k = k + (desc.split_k() - 1) as usize * tile.k as usize;
        match random.below(24) {
            0 => m = 0,
            1 => n = 0,
            _ => {}
        }
        let batch = random.pick(&[1, 1, 2, 3]);
        let along_k = seed >> 28 & 3 == 0 && groups_along_k(desc);
        let offsets = along_k.then(|| offsets(&mut Random::new(seed ^ 9), tile.k, 1));
        let groups =
            offsets.as_ref().map(|(offsets, _)| Groups::with_count(Axis::K, offsets.len() - 1));
        let k = offsets.as_ref().map_or(k, |(_, k)| *k);
        // Producers of a TMA ring gather lines that are multiples of 16 bytes.
        let k = if seed >> 32 & 1 == 0 { k.next_multiple_of(16) } else { k };
        let batch = offsets.as_ref().map_or(batch, |(offsets, _)| offsets.len() - 1);
        // Terms of f32 are made of neighboring rows.
        let gathers = !desc.emulation().decomposes();
        let mask = if gathers { random.below(8) } else { 4 * random.below(2) };
        let lines = [m, n, m];
        let mut extents = lines;
        let mut lists = [None, None, None];
        for number in 0..3 {
            if mask >> number & 1 == 0 {
                continue;
            }
            let extra = random.below(9);
            extents[number] =
                if number == 2 { m + extra } else { 1 + random.below(lines[number] + 9) };
            let limit = extents[number];
            let mut list = match number {
                2 => distinct(&mut random, m, limit),
                _ => (0..lines[number]).map(|_| random.below(limit) as u32).collect::<Vec<_>>(),
            };
            // The first and the last line, and numbers behind the list, which nothing reads.
            if let ([first, .., last], 0 | 1) = (&mut list[..], number) {
                (*first, *last) = (limit as u32 - 1, 0);
            }
            list.extend(vec![u32::MAX; random.below(3)]);
            lists[number] = Some(list);
        }
        let padded = random.once_in(2);
        let matrix = |order: Order, extents: (usize, usize), shared: bool| {
            let line = order.packed(extents.0, extents.1);
            let leading = padded.then(|| line.next_multiple_of(32));
            let view = View::packed(Elements::ALL, order, extents, leading);
            let view = if shared { view.batched(0) } else { view };
            view.with(Elements::new(view.elements(extents, batch) as usize))
        };
        let [shared_a, shared_b] = [0; 2].map(|_| random.once_in(4) || along_k);
        let a = matrix(orders.a, (extents[0], k), shared_a);
        let b = matrix(orders.b, (k, extents[1]), shared_b);
        let of_d = (extents[2], n);
        let d = matrix(orders.c, of_d, false);
        let with_strides = |strides: [usize; 2]| {
            let view = View { strides, ..d }.one_behind_another(of_d);
            view.with(Elements::new(view.elements(of_d, batch) as usize))
        };
        // Two strides, or the other order.
        let [whole_row, whole_column] = [2 * n + 1, 3 * extents[2] + 2];
        let strides = [[whole_row, 2], [3, whole_column], [1, extents[2].max(1)], [n.max(1), 1]];
        let d = if random.once_in(3) { with_strides(random.pick(&strides)) } else { d };
        let of_c = if random.once_in(4) { with_strides(random.pick(&strides)) } else { d };
        // Split rows and columns, as of a permuted tensor. An axis with a list has no split.
        let mut split = |view: View<Elements>, extents: (usize, usize)| {
            let [rows, columns] =
                [extents.0, extents.1].map(|extent| 1 + random.below(extent.max(1)));
            let (tile, across) = (rows * columns, extents.1.div_ceil(columns).max(1));
            let splits = [
                AxisSplit { inner: rows, outer: across * tile },
                AxisSplit { inner: columns, outer: tile },
            ];
            let shared = view.batch_stride == 0;
            let view = View { strides: [columns, 1], ..view }.with_splits(splits);
            let view = view.one_behind_another(extents);
            let view = if shared { view.batched(0) } else { view };
            view.with(Elements::new(view.elements(extents, batch) as usize))
        };
        let plain_mask =
            |bit: usize| gathers && mask >> bit & 1 == 0 && seed >> (20 + bit) & 3 == 0;
        let a = if plain_mask(0) { split(a, (extents[0], k)) } else { a };
        let b = if plain_mask(1) { split(b, (k, extents[1])) } else { b };
        let permuted = mask >> 2 & 1 == 0 && seed >> 24 & 3 == 0;
        let beside = d;
        let (d, of_c) = if permuted { (split(d, of_d), split(of_c, of_d)) } else { (d, of_c) };
        let c = if random.once_in(2) { Source::InPlace } else { Source::Matrix(of_c) };
        let elements = desc.epilogue.leave(desc.frame).operands((desc.output.compute, types.c));
        let operands = EpilogueOperands::by(|name| {
            elements.get(name).filter(|_| name != EpilogueOperand::Source)?;
            Some(match name.side() {
                Some(side) => {
                    let length = if side == OperandKind::A { m } else { n };
                    View::vector(Elements::new(length), side)
                }
                None if name.is_scalar() => {
                    View::beside(Elements::new(batch), name, (orders.c, (m, n)))
                }
                None => beside,
            })
        });
        let list = |number: usize| {
            let list: &Vec<u32> = lists[number].as_ref()?;
            Some(IndexList::new(Elements::new(list.len()), extents[number]))
        };
        let indices =
            Indices { operands: [list(0), list(1)], output: list(2).map(|list| (Axis::M, list)) };
        let mut scalars = [0.0; 8];
        scalars[..3].copy_from_slice(&[1.0, [0.0, 1.0][random.below(2)], 1.0]);
        let problem = Problem {
            batch,
            groups,
            indices,
            c,
            operands,
            scalars,
            ..problem_of((m, n, k), [a, b, d])
        };
        let offsets = offsets.map(|(offsets, _)| offsets);
        let memory = Memory {
            a: bytes(types.a, seed ^ 1, a.memory.length),
            b: bytes(types.b, seed ^ 2, b.memory.length),
            c: bytes(types.c, seed ^ 3, of_c.memory.length),
            d: bytes(types.c, seed ^ 4, d.memory.length),
            operands: operands.map(|name, view: View<Elements>| {
                let kind = elements.get(name).copied().unwrap_or(types.c);
                bytes(kind, seed ^ (5 + name.index() as u64), view.memory.length)
            }),
        };
        Self { problem, lists, offsets, memory, types, elements }
    }

    /// Returns the element type of an operand of the epilogue.
    pub fn element(&self, name: EpilogueOperand) -> ElementKind {
        self.elements.get(name).copied().unwrap_or(self.types.c)
    }

    /// Returns the list of A, B, or D, or the group offsets.
    pub fn list(&self, number: usize) -> Option<&[u32]> {
        self.lists.get(number).unwrap_or(&self.offsets).as_deref()
    }

    /// Returns the lines that the list of a matrix selects, or all lines.
    fn lines(&self, number: usize, count: usize) -> Vec<usize> {
        match &self.lists[number] {
            Some(list) => list[..count].iter().map(|&line| line as usize).collect(),
            None => (0..count).collect(),
        }
    }

    /// Returns the plain call on copies, and its memory.
    pub fn plain(&self, desc: &GemmDesc) -> (Problem, Memory) {
        let Problem { m, n, k, batch, a, b, d, .. } = self.problem;
        let (types, orders) = (self.types, desc.orders());
        let (rows_of_a, columns_of_b, rows_of_d) =
            (self.lines(0, m), self.lines(1, n), self.lines(2, m));
        let [all_n, all_k]: [Vec<usize>; 2] = [n, k].map(|count| (0..count).collect());
        let copied =
            |kind,
             rows: &[usize],
             columns: &[usize],
             view: &View<Elements>,
             bytes: &[u8],
             order| { Moved { kind, batch, rows, columns }.copy(view, bytes, order) };
        let (a, of_a) = copied(types.a, &rows_of_a, &all_k, &a, &self.memory.a, orders.a);
        let (b, of_b) = copied(types.b, &all_k, &columns_of_b, &b, &self.memory.b, orders.b);
        let of_output = |view: &View<Elements>, kind, bytes: &[u8]| {
            copied(kind, &rows_of_d, &all_n, view, bytes, orders.c)
        };
        let (plain_d, of_d) = of_output(&d, types.c, &self.memory.d);
        let of_c = self.problem.c.matrix().map(|c| of_output(c, types.c, &self.memory.c).1);
        let of_c = of_c.unwrap_or_else(|| self.memory.c.clone());
        let operands = self.memory.operands.as_ref().map(|name, bytes| match name.side() {
            Some(_) => bytes.clone(),
            None if name.is_scalar() => bytes.clone(),
            None => {
                let view = self.problem.operands.get(name).unwrap_or(&d);
                of_output(view, self.element(name), bytes).1
            }
        });
        let views = self.problem.operands.map(|name, view| match name.side() {
            Some(_) => view,
            None if name.is_scalar() => view,
            None => plain_d,
        });
        let problem = Problem {
            indices: Indices::NONE,
            a,
            b,
            c: self.problem.c.map(|_| plain_d),
            d: plain_d,
            operands: views,
            ..self.problem
        };
        (problem, Memory { a: of_a, b: of_b, c: of_c, d: of_d, operands })
    }

    /// Returns D of this call, given D of the plain call.
    pub fn scattered(&self, (plain, d): (&Problem, &[u8])) -> Vec<u8> {
        let Problem { m, n, batch, .. } = self.problem;
        let (rows, columns): (_, Vec<usize>) = (self.lines(2, m), (0..n).collect());
        let mut result = self.memory.d.clone();
        let width = self.types.c.bytes_of(1) as usize;
        let moved = Moved { kind: self.types.c, batch, rows: &rows, columns: &columns };
        moved.each(&self.problem.d, &plain.d, |to, from| {
            result[to..to + width].copy_from_slice(&d[from..from + width]);
        });
        result
    }
}

/// Returns random kernels of each main loop and MMA, and seeds. Their epilogues read vectors and
/// matrices.
pub fn descriptions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    crate::harness::epilogue_operands::descriptions(seed, count)
}
