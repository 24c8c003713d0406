//! Bank conflicts of the staging of D: subtiles of a column-major D.

use crate::{harness::prelude::*, wgmma::fragments::cost};

/// If D is column-major, a thread's two rows are adjacent in each column. A warp's store of them
/// takes the minimum number of wavefronts: one for 16-bit types, and two for 32-bit types. Without
/// the swizzle it takes four times as many.
#[test]
fn column_major_subtiles_have_conflicts_only_without_the_swizzle() {
    let of = |ab, accumulator, c| element_types(ab, accumulator, c);
    for types in [
        of(ElementKind::E4m3, ElementKind::F32, ElementKind::F16),
        of(ElementKind::I8, ElementKind::I32, ElementKind::I32),
        of(ElementKind::Tf32, ElementKind::F32, ElementKind::F32),
    ] {
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, [Order::Row; 3]);
        let (tile, n) = (Mnk { m: 128, n: 128, ..d.threadblock() }, 128);
        let d = but!(d, threadblock: tile, warp: tile, instruction: Mnk { n, ..d.instruction() }, stages: 4);
        let d = d.with(Pins {
            a_operand: Some(AOperandKind::Registers),
            schedule: Some(ScheduleKind::Pingpong),
            ..Pins::NONE
        });
        assert_eq!((d.check(), d.frame.d_order(), d.frame.swapped), (Ok(()), Order::Col, true));
        let components = d.components().expect("a kernel");
        let (map, rows) = (StagingMap::new(&components), components.fragment_rows());
        laws::bijective(&Elements(map, d.output.element.bytes_of(1)))
            .expect("each element has an address");
        let (bytes, box_rows, columns) = (
            d.output.element.bytes_of(1),
            components.subtile_box_rows(),
            components.subtile_columns,
        );
        let linear = |m: u32, n: u32| {
            (m / box_rows * columns * box_rows + n * box_rows + m % box_rows) * bytes
        };
        for (warp, octet, i) in
            (0..4).flat_map(|w| (0..columns / 8).flat_map(move |o| [0, 1].map(|i| (w, o, i))))
        {
            let place = |lane: u32, lower| {
                (rows.row(32 * warp + lane, lower), 8 * octet + lane % 4 * 2 + i)
            };
            let byte = |lane, lower| {
                map.at(at(place(lane, lower).0, place(lane, lower).1)).expect("inside")
            };
            assert!((0..32).all(|lane| byte(lane, 1) == byte(lane, 0) + bytes));
            let ideal = bytes / 2;
            let store = |f: &dyn Fn(u32) -> u32| cost(Direction::Store, 2 * bytes, f).wavefronts;
            assert_eq!(store(&|lane| byte(lane, 0)), ideal, "{types:?}");
            assert_eq!(
                store(&|lane| linear(place(lane, 0).0, place(lane, 0).1)),
                4 * ideal,
                "{types:?} without the swizzle"
            );
        }
    }
}

/// If D is column-major and A is in shared memory, each 8 x 8 matrix of `stmatrix` takes one
/// wavefront. For 32-bit types, an access of one element per lane takes one. Without the swizzle
/// they take eight and four.
#[test]
fn columns_of_plain_rows_have_conflicts_only_without_the_swizzle() {
    use ElementKind::{Bf16, F32};
    for (c, n) in [Bf16, F32].into_iter().flat_map(|c| [8, 24, 64, 152].map(|n| (c, n))) {
        let types = element_types(Bf16, F32, c);
        let orders = [Order::Row, Order::Col, Order::Row];
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders).with_rows_as_columns();
        let (tile, instruction) =
            (Mnk { m: 64, n, ..d.threadblock() }, Mnk { n, ..d.instruction() });
        let d = but!(d, threadblock: tile, warp: tile, instruction: instruction, schedule: ScheduleKind::Pingpong, stages: 4);
        assert_eq!(d.check(), Ok(()));
        let components = d.components().expect("a kernel");
        let (map, staged, bytes) =
            (StagingMap::new(&components), StagedMap::new(&components), c.bytes_of(1));
        laws::bijective(&Elements(map, bytes)).expect("each element has an address");
        laws::bijective(&Elements(staged, bytes)).expect("each accumulator has an address");
        let (box_rows, columns) = (components.subtile_box_rows(), components.subtile_columns);
        let linear = |m: u32, n: u32| {
            (m / box_rows * columns * box_rows + n * box_rows + m % box_rows) * bytes
        };
        for (warp, octet, lower) in
            (0..4).flat_map(|w| (0..columns / 8).flat_map(move |o| [0, 1].map(|l| (w, o, l))))
        {
            let row = 16 * warp + 8 * lower;
            let place = |lane: u32| match bytes {
                // In an 8 x 8 matrix, lane l gives the address of column l mod 8.
                2 => (row, 8 * octet + lane % 8),
                _ => (row + lane / 4, 8 * octet + lane % 4 * 2),
            };
            let found = |f: &dyn Fn(u32, u32) -> u32| {
                let lanes = (0..32).map(|lane| {
                    Some(u64::from(f(place(lane).0, place(lane).1)))
                        .filter(|_| bytes == 4 || lane < 8)
                });
                wavefronts(
                    &WarpAccess::new(Direction::Store, if bytes == 2 { 16 } else { 4 }, lanes)
                        .expect("an access"),
                )
                .wavefronts
            };
            assert_eq!(found(&|m, n| map.at(at(m, n)).expect("inside")), 1, "{c} {n}");
            assert_eq!(
                found(&linear),
                if bytes == 2 { 8 } else { 4 },
                "{c} {n} without the swizzle"
            );
        }
    }
}

/// Converts a map to bytes into a map to elements.
struct Elements<M>(M, u32);

impl<M: IndexMap> IndexMap for Elements<M> {
    fn domain(&self) -> Coord {
        self.0.domain()
    }
    fn codomain(&self) -> u32 {
        self.0.codomain() / self.1
    }
    fn at(&self, point: Coord) -> Option<u32> {
        self.0.at(point).map(|byte| byte / self.1)
    }
}
