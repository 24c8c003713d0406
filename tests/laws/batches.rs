//! Batches before their launch: the parameters of the launch. No GPU is needed.

use crate::harness::prelude::*;
use falchion::{internals::nest::Launch, layout::Order};

pub fn description(
    op: OpKind,
    (a, accumulator, c): (ElementKind, ElementKind, ElementKind),
    orders: [Order; 3],
) -> GemmDesc {
    default_of(op, ArchKind::Sm90, element_types(a, accumulator, c), orders)
}

/// Returns a batch in the kernel's frame. The batch stride exceeds the packed one by some elements,
/// or is 0.
pub fn batch(
    desc: &GemmDesc,
    (m, n, k): (usize, usize, usize),
    products: usize,
    more: [Option<usize>; 4],
) -> Problem {
    let orders = desc.orders();
    let view = |number: usize, order, extents| {
        let view = View::packed(
            Elements { address: (number as u64 + 1) << 32, ..Elements::ALL },
            order,
            extents,
            None,
        );
        view.batched(more[number].map_or(0, |more| view.batch_stride + more))
    };
    let (a, b) = (view(0, orders.a, (m, k)), view(1, orders.b, (k, n)));
    let (c, d) = (Source::Matrix(view(2, orders.c, (m, n))), view(3, orders.c, (m, n)));
    let scalars = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let problem = Problem { batch: products, c, scalars, ..problem_of((m, n, k), [a, b, d]) };
    problem.enter(desc).expect("a batch")
}

/// Returns the parameters of a launch.
pub fn params<T: bytemuck::AnyBitPattern>(launch: &Launch) -> T {
    bytemuck::pod_read_unaligned(&launch.params.0[..size_of::<T>()])
}

/// Returns the properties of a launch with these tiles.
pub fn geometry(tile: Mnk, work: WorkKind) -> Geometry {
    Geometry {
        tile,
        cluster: 1,
        work,
        group_step: 1,
        threads: 384,
        shared_bytes: 0,
        reduction: None,
    }
}

#[test]
fn one_launch_has_the_parameters_of_the_whole_batch() {
    let f32 = ElementKind::F32;
    let simt = description(OpKind::Simt, (f32, f32, f32), [Row, Row, Row]).for_batch(3);
    let problem = batch(&simt, (9, 7, 5), 3, [None, Some(2), Some(0), Some(1)]);
    let tile = simt.threadblock();
    let launch = simt
        .plan()
        .expect("a kernel")
        .launch(&problem, &geometry(tile, WorkKind::DataParallel), 1)
        .expect("a launch");
    let told: GemmParams = params(&launch);
    assert_eq!((told.batch, launch.grid.clusters), (3, 3));
    assert_eq!(
        [told.stride_a, told.stride_b, told.operands[0].batch_stride, told.stride_d],
        [0, 37, 63, 64]
    );
    // The text of a description states the mode if it is not the default one.
    assert_eq!(GemmDesc::from_json(&simt.to_json().expect("text")).expect("a description"), simt);
    assert!(simt.to_json().expect("text").contains(r#""mode":"batched""#));
    let alone = description(OpKind::Simt, (f32, f32, f32), [Row, Row, Row]);
    assert!(!alone.to_json().expect("text").contains("mode"));
}
