//! Problems at the edges of a description: sizes around its tiles, padded leading dimensions, and
//! scalars that disable parts of the epilogue.

use crate::harness::prelude::*;

/// Constraints on a random problem.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Maximum number of multiplications, counted in whole tiles.
    pub most_work: u64,
    /// Whether addresses, leading dimensions, and contiguous sizes are multiples of the
    /// description's alignments, as a device requires.
    pub aligned: bool,
}

/// Problem, and the positions of its matrices in their buffers. The rest of a buffer is guard zone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Guarded {
    pub problem: Problem,
    /// First elements of A, B, C, and D.
    pub first: [usize; 4],
    /// Number of guard elements after A, B, C, and D.
    pub behind: [usize; 4],
    /// Whether unread operands are full of NaN: A and B if alpha is 0, and C and vectors if their
    /// scalar is 0.
    pub poisoned: bool,
}

const PRIMES: [usize; 10] = [2, 3, 5, 7, 13, 31, 61, 97, 127, 257];

fn extent(random: &mut Random, tile: u32) -> usize {
    let tile = tile as usize;
    match random.below(24) {
        0 => 0,
        1..4 => 1,
        4..7 => tile - 1,
        7..10 => tile,
        10..14 => tile + 1,
        14 => 2 * tile - 1,
        15 => 2 * tile + 1,
        16 => 3 * tile,
        17..21 => random.pick(&PRIMES),
        _ => 1 + random.below(2 * tile),
    }
}

fn depth(random: &mut Random, d: &GemmDesc) -> usize {
    let (tile, ring) = (d.threadblock().k as usize, (d.stages() * d.threadblock().k) as usize);
    match random.below(20) {
        0 => 0,
        1..3 => 1,
        3 => tile - 1,
        4 => tile,
        5 => tile + 1,
        6 => ring - tile,
        7 => ring - 1,
        8 => ring,
        9..11 => ring + 1,
        11 => ring + tile,
        12 => ring + tile + 1,
        13 => 3 * ring + 5,
        14..17 => random.pick(&PRIMES),
        _ => 1 + random.below(2 * ring),
    }
}

/// Returns a packed row-major problem with alpha = 1 and without C.
pub fn packed([m, n, k]: [usize; 3]) -> Problem {
    let matrix = |rows, columns| View::new(Elements::new(rows * columns), Order::Row, columns);
    let (a, b, d) = (matrix(m, k), matrix(k, n), matrix(m, n));
    problem_of((m, n, k), [a, b, d])
}

/// Returns a random problem for a description.
pub fn guarded(seed: u64, d: &GemmDesc, wanted: Wanted) -> Guarded {
    let mut random = Random::new(seed ^ 0x0070_726f_626c_656d);
    let (orders, pins) = (d.orders(), d.user_pins());
    let (a_order, b_order, c_order) = (orders.a, orders.b, orders.c);
    let [align_a, align_b] =
        [pins.align_a, pins.align_b].map(|align| align.expect("every kernel has alignments"));
    let (mut m, mut n, mut k) = extents(&mut random, d, wanted);
    // Each split-K slice needs at least one k-tile.
    let tile_k = d.threadblock().k as usize;
    k += (d.split_k() as usize).saturating_sub(k.div_ceil(tile_k)) * if k > 0 { tile_k } else { 0 };
    // TMA kernels accept any sizes. A pass repacks an A or a B that TMA cannot read.
    let roles = d.has_producer();
    let align_d = if roles {
        Random::new(seed ^ 0xd).pick(&[1, d.alignments()[2]])
    } else {
        d.alignments()[2]
    };
    if wanted.aligned && !roles {
        // The contiguous extent of each operand is a multiple of its alignment.
        for (order, align, [rows, columns]) in [
            (a_order, align_a, [0, 2]),
            (b_order, align_b, [2, 1]),
            (c_order, d.alignments()[2], [0, 1]),
        ] {
            let axis = [&mut m, &mut n, &mut k].into_iter().nth(if order.is_row() {
                columns
            } else {
                rows
            });
            if let Some(extent) = axis {
                *extent = extent.next_multiple_of(align as usize);
            }
        }
    }
    let mut first = [0; 4];
    let mut behind = [0; 4];
    let mut matrix = |which: usize, order: Order, rows: usize, columns: usize, align: u32| {
        let align = if wanted.aligned { align as usize } else { 1 };
        let packed = order.packed(rows, columns);
        let beyond = random.pick(&[0, 0, 1, 3, 16]) * align;
        let leading = packed.next_multiple_of(align) + beyond;
        let lines = order.packed(columns, rows);
        let length = if rows == 0 || columns == 0 { 0 } else { (lines - 1) * leading + packed };
        first[which] = random.pick(&[0, 1, 2, 5, 16]) * align;
        behind[which] = random.below(40);
        View::new(Elements::new(length), order, leading)
    };
    let a = matrix(0, a_order, m, k, align_a);
    let b = matrix(1, b_order, k, n, align_b);
    let c = matrix(2, c_order, m, n, align_d);
    let d_shape = matrix(3, c_order, m, n, align_d);
    let mut scalars = [0.0; 8];
    let values = if random.once_in(2) {
        &[0.0, 1.0, -1.0, 2.0][..]
    } else {
        &[0.0, 1.0, -0.5, 1.5, 2.0][..]
    };
    // Alpha is 1 more often than 0.
    (scalars[0], scalars[1]) =
        (if random.once_in(3) { 1.0 } else { random.pick(values) }, random.pick(values));
    let mut problem = Problem { scalars, ..problem_of((m, n, k), [a, b, d_shape]) };
    let reads = d.epilogue.reads(&scalars).source();
    problem.c = match random.below(3) {
        0 if !reads => Source::None,
        1 => Source::InPlace,
        _ => Source::Matrix(c),
    };
    let mut random_vectors = Random::new(seed ^ 0x0062_6961);
    let reads = d.epilogue.leave(d.frame).reads(&scalars).operands;
    problem.operands = EpilogueOperands::by(|kind| {
        if kind.is_reduction() || kind.is_scalar() {
            let written = reads.get(kind);
            return written.map(|()| {
                let results = View::reduction((), kind, (m, n));
                results.with(Elements::new(results.batch_stride))
            });
        }
        let Some(side) = kind.side() else {
            let auxiliary = reads.get(kind).map(|()| auxiliary(kind, (m, n)));
            return auxiliary.filter(|_| kind != EpilogueOperand::Source);
        };
        let length = problem.mn(side) + random_vectors.below(3);
        // A vector that the epilogue does not read may be absent.
        let given = random_vectors.once_in(2) || reads.get(kind).is_some();
        given.then(|| View::vector(Elements::new(length), side))
    });
    Guarded { problem, first, behind, poisoned: random.once_in(2) }
}

/// Returns an auxiliary matrix. The strides of aux2 and aux4 are both larger than 1.
pub fn auxiliary(operand: EpilogueOperand, (m, n): (usize, usize)) -> View<Elements> {
    let strides = match operand.index() % 4 {
        1 => [n + 3, 1],
        2 => [2 * n + 1, 2],
        3 => [1, m + 2],
        _ => [3, 3 * m + 1],
    };
    let view = View { strides, ..View::new((), Order::Row, n) };
    let length = view.elements((m, n), 1) as usize;
    view.with(Elements::new(length))
}

fn extents(random: &mut Random, d: &GemmDesc, wanted: Wanted) -> (usize, usize, usize) {
    let tile = d.threadblock();
    for attempt in 0.. {
        let (rows, columns) = (extent(random, tile.m), extent(random, tile.n));
        let mut k = depth(random, d);
        if attempt > 200 {
            k = 1 + random.below(tile.k as usize);
        }
        let whole = |x: usize, tile: u32| x.div_ceil(tile as usize) as u64 * u64::from(tile);
        if whole(rows, tile.m).max(1) * whole(columns, tile.n).max(1) * whole(k, tile.k).max(1)
            > wanted.most_work
            && attempt < 400
        {
            continue;
        }
        let user = |axis: Axis| if axis.leave(d.frame) == Axis::M { rows } else { columns };
        return (user(Axis::M), user(Axis::N), k);
    }
    unreachable!("the loop ends with a return")
}

/// Returns whether the description computes in integers with the scalars of a problem.
pub fn in_integers(d: &GemmDesc, problem: &Problem) -> bool {
    d.for_scalars(&problem.scalars).output.compute == ComputeKind::I32
}
