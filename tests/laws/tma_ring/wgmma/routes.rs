//! Routes of operands to kernels with `wgmma`: the table of routes, the law that TMA can read the
//! output of each pass, and the size of the workspace. No GPU is needed.

use crate::{
    harness::prelude::*,
    routes::{SCALARS, bf16, routes},
};
use falchion::{
    internals::operand::{ListReader, WORKSPACE_ALIGNMENT, Way},
    layout::Order,
    refusal::Route::{self, Direct, Repacked, Transposed},
};

fn on_tensor_cores(a: ElementKind, c: ElementKind, orders: [Order; 3]) -> GemmDesc {
    let types = element_types(a, a.accumulator(), c);
    default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders)
}

fn i8(orders: [Order; 3]) -> GemmDesc {
    on_tensor_cores(ElementKind::I8, ElementKind::I32, orders)
}

#[test]
fn the_table_of_routes() {
    type Line = (GemmDesc, (usize, usize, usize), [Option<usize>; 2], [u64; 2], [Route; 2]);
    let (none, odd) = ([None; 2], (4095, 4095, 4095));
    let table: [Line; 17] = [
        // Aligned rows, in each order that tensor cores read.
        (bf16([Row, Col, Row]), (4096, 4096, 4096), none, [0, 0], [Direct, Direct]),
        (bf16([Col, Row, Row]), (4096, 4096, 4096), none, [512, 16], [Direct, Direct]),
        (i8([Row, Col, Row]), (4096, 4096, 4096), none, [0, 0], [Direct, Direct]),
        // 4095 x 2 bytes are not a multiple of 16, and 4096 x 2 bytes are.
        (bf16([Row, Col, Row]), odd, none, [0, 0], [Repacked, Repacked]),
        (bf16([Row, Col, Row]), odd, [Some(4096), Some(4104)], [0, 0], [Direct, Direct]),
        (bf16([Row, Col, Row]), odd, [Some(4096), None], [0, 0], [Direct, Repacked]),
        (bf16([Col, Row, Row]), (4096, 4095, 77), none, [0, 0], [Direct, Repacked]),
        // Addresses.
        (bf16([Row, Col, Row]), (4096, 4096, 4096), none, [2, 0], [Repacked, Direct]),
        (bf16([Row, Col, Row]), (4096, 4096, 4096), none, [4096, 8], [Direct, Repacked]),
        // A single row has no pitch, but its address counts.
        (bf16([Row, Col, Row]), (1, 4096, 4096), [Some(4097), None], [0, 0], [Direct, Direct]),
        (bf16([Row, Col, Row]), (1, 4096, 4096), [Some(4097), None], [2, 0], [Repacked, Direct]),
        // 8-bit operands must be K-major. An MN-major operand is transposed at any pitch and
        // address.
        (i8([Col, Col, Row]), (4096, 4096, 4096), none, [0, 0], [Transposed, Direct]),
        (i8([Row, Row, Row]), (4096, 4096, 4095), none, [0, 0], [Repacked, Transposed]),
        (i8([Col, Row, Row]), odd, none, [3, 5], [Transposed, Transposed]),
        // A column-major D swaps the operands. Routes keep the user's names.
        (i8([Col, Col, Col]), (4096, 4096, 4096), none, [0, 0], [Transposed, Direct]),
        (bf16([Row, Col, Col]), (4096, 4096, 4095), [Some(4096), None], [0, 0], [Direct, Repacked]),
        (bf16([Row, Col, Col]), (4096, 4096, 4096), none, [0, 6], [Direct, Repacked]),
    ];
    for (desc, extents, leading, addresses, wanted) in table {
        assert_eq!(desc.check(), Ok(()));
        let found = routes(&desc, extents, leading, addresses);
        assert_eq!(
            [found.a.route, found.b.route],
            wanted,
            "{extents:?} {leading:?} {addresses:?} {found}"
        );
    }
}

/// An operand is read in place if and only if TMA has a map of it, it is contiguous along the index
/// along which the kernel reads, and its address is a multiple of 16. The output of a pass has a
/// TMA map and no overlapping rows. The regions of both operands in the workspace do not overlap.
#[test]
fn a_route_is_direct_only_if_tma_can_read_the_operand() {
    let mut random = Random::new(5);
    let mut seen = [0; 3];
    for _ in 0..4000 {
        let orders = [0, 1, 2].map(|_| random.pick(&[Row, Col]));
        let (kind, c) = random.pick(&[
            (ElementKind::Bf16, ElementKind::Bf16),
            (ElementKind::F16, ElementKind::F32),
            (ElementKind::I8, ElementKind::I32),
        ]);
        let desc = on_tensor_cores(kind, c, orders);
        let mut extent = || random.pick(&[1, 2, 7, 8, 16, 100, 128, 1000, 4095, 4096]);
        let (m, n, k) = (extent(), extent(), extent());
        let mut leading = |order: Order, rows, columns| {
            (order.packed(rows, columns) + random.pick(&[0, 0, 1, 7, 8, 16]))
                .next_multiple_of(random.pick(&[1, 1, 8, 16]))
        };
        let given = [Some(leading(orders[0], m, k)), Some(leading(orders[1], k, n))];
        let addresses =
            [0, 0].map(|_| 4096 + u64::from(kind.bytes_of(1)) * random.pick(&[0, 0, 0, 1, 3, 8]));
        let routes = routes(&desc, (m, n, k), given, addresses);
        let of_kernel = routes.leave(desc.frame);
        for (operand, way) in OperandKind::BOTH.into_iter().zip([of_kernel.a, of_kernel.b]) {
            let user = operand.leave(desc.frame).index();
            let mn = [m, n][user];
            let along_k = desc.reads_transposed(operand) != desc.k_contiguous(operand);
            let map = |leading: usize| {
                let order = if along_k { Row } else { Col };
                let matrix = TensorMatrix::new(
                    Operand::A,
                    kind,
                    order,
                    (mn as u64, k as u64),
                    leading as u64,
                );
                let row = kind.elements_in(128);
                matrix.map(if along_k { (8, row) } else { (row, 8) }, SwizzleMode::Bytes128).is_ok()
            };
            let same_order = along_k == desc.k_contiguous(operand);
            let can =
                same_order && addresses[user].is_multiple_of(16) && map(given[user].unwrap_or(0));
            let wanted = if !same_order {
                Transposed
            } else if can {
                Direct
            } else {
                Repacked
            };
            assert_eq!(
                way.route, wanted,
                "{operand:?} of {desc:?}, {m} {n} {k} {given:?} {addresses:?}"
            );
            assert!(map(way.leading), "{way:?}");
            seen[way.route as usize] += 1;
            let (length, lines) = if along_k { (k, mn) } else { (mn, k) };
            if way.route != Direct {
                assert!(way.leading >= length);
                assert!(way.bytes >= (way.leading * lines) as u64 * u64::from(kind.bytes_of(1)));
                assert!(way.offset.is_multiple_of(WORKSPACE_ALIGNMENT));
            }
        }
        let ends = |way: Way| way.offset + way.bytes;
        assert!(of_kernel.b.route == Direct || of_kernel.b.offset >= ends(of_kernel.a));
        let reached = ends(routes.a).max(ends(routes.b));
        // A workspace at any address has enough bytes after the first aligned address.
        assert!(
            reached == 0 && routes.workspace_bytes() == 0
                || routes.workspace_bytes() >= reached + WORKSPACE_ALIGNMENT - 1
        );
    }
    assert!(seen.iter().all(|&times| times > 500), "{seen:?}");
}

#[test]
fn workspace_size_holds_the_copies() {
    // 4096 rows of 8192 bytes, 4095 such rows of A, and 256 bytes for the alignment of the
    // workspace.
    let routes = routes(&bf16([Row, Col, Row]), (4095, 4096, 4095), [None; 2], [0, 0]);
    assert_eq!(routes.workspace_bytes(), (4095 + 4096) * 8192 + 256);
    assert_eq!((routes.a.offset, routes.b.offset), (0, 4095 * 8192));
    assert_eq!(routes.to_string(), "A repacked, B repacked");
}

#[test]
fn sizes_saturate_at_64_bits() {
    let desc = bf16([Row, Col, Row]);
    let largest = i32::MAX as usize;
    let problem = Problem::new(&desc, (largest, largest, largest), [None; 3], SCALARS);
    assert!(desc.routes(&problem.at([2, 2])).expect("a kernel").workspace_bytes() > 1 << 62);
    let garbage = Problem { m: usize::MAX, n: usize::MAX, k: usize::MAX, ..problem };
    assert_eq!(desc.routes(&garbage.at([2, 2])).expect("a kernel").workspace_bytes(), u64::MAX);
}

/// Offsets of groups that are passed by value are stored after the operands in the workspace, and
/// the kernel reads them there. Other offsets need no workspace and are read in place.
#[test]
fn offsets_by_value_follow_the_operands() {
    let desc = HopperK::<Bf16, Bf16>::DESC.for_groups(Axis::M);
    for (k, groups) in
        [72usize, 73].into_iter().flat_map(|k| [1usize, 63, 64, 1000].map(|groups| (k, groups)))
    {
        let problem =
            Problem::new(&desc, (300, 72, k), [None; 3], [1.0, 0., 0., 0., 0., 0., 0., 0.])
                .grouped(groups);
        let by_value = Problem {
            groups: problem.groups.map(|groups| Groups { read: ListReader::ByValue, ..groups }),
            ..problem
        };
        let [without, with] =
            [problem, by_value].map(|problem| desc.routes(&problem).expect("routes"));
        let (passes, bytes) =
            (without.a.bytes + without.b.bytes, (4 * (groups as u64 + 1)).next_multiple_of(8));
        assert_eq!((passes > 0, without.record_bytes, with.record_bytes), (k == 73, 0, bytes));
        assert_eq!(with.workspace_bytes(), WORKSPACE_ALIGNMENT + passes + bytes);
        assert_eq!(
            without.workspace_bytes(),
            if passes > 0 { WORKSPACE_ALIGNMENT + passes } else { 0 }
        );
        let read = |routes: &Routes, problem: &Problem| {
            let routed = routes.problem(&desc, &problem.enter_unchecked(&desc), 4096);
            routed.groups.map(|groups| groups.offsets.memory.address)
        };
        assert_eq!(
            [read(&with, &by_value), read(&without, &problem)],
            [Some(4096 + passes), Some(0)]
        );
    }
}

#[test]
fn unread_operands_need_no_pass() {
    let desc = i8([Col, Row, Row]);
    for (extents, alpha) in [((0, 9, 9), 1.0), ((9, 0, 9), 1.0), ((9, 9, 0), 1.0), ((9, 9, 9), 0.0)]
    {
        let problem =
            Problem::new(&desc, extents, [None; 3], [alpha, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let routes = desc.routes(&problem.at([1, 1])).expect("a kernel");
        assert_eq!(
            (routes.to_string().as_str(), routes.workspace_bytes()),
            ("direct", 0),
            "{extents:?} {alpha}"
        );
    }
}
