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
