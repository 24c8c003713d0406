//! Random layouts that are small enough for a comparison point by point.

use crate::harness::prelude::*;
use proptest::prelude::*;

/// 50,000 cases per law. Failures are printed and not stored.
pub fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: 50_000,
        failure_persistence: None,
        max_global_rejects: 10_000_000,
        ..ProptestConfig::default()
    }
}

const EXTENTS: [u64; 8] = [1, 2, 2, 3, 4, 4, 6, 8];

/// Returns a layout of one to three modes with these extents and strides. `nest` selects the
/// nesting, and the bits of `fixed` the static values.
fn nested(modes: &[(u64, u64)], nest: usize, fixed: u64) -> Layout {
    let int = |value, bit: usize| Int { value, is_static: fixed >> (bit % 8) & 1 == 1 };
    let tree = |ints: Vec<Int>| match (ints.as_slice(), nest % 3) {
        ([one], 0) => IntTuple::Int(*one),
        ([a, b, c], 1) => IntTuple::Tuple(vec![(*a).into(), IntTuple::from_ints([*b, *c])]),
        ([a, b, c], 2) => IntTuple::Tuple(vec![IntTuple::from_ints([*a, *b]), (*c).into()]),
        (all, _) => IntTuple::from_ints(all.iter().copied()),
    };
    let shape = modes.iter().enumerate().map(|(i, mode)| int(mode.0, i)).collect();
    let stride = modes.iter().enumerate().map(|(i, mode)| int(mode.1, i + 3)).collect();
    Layout::new(tree(shape), tree(stride)).expect("a small layout")
}

prop_compose! {
    /// Any layout.
    pub fn any_layout()(
        rank in 1usize..4,
        extents in prop::array::uniform3(0usize..8),
        strides in prop::array::uniform3(0u64..25),
        nest in 0usize..3,
        fixed in 0u64..64,
    ) -> Layout {
        let modes: Vec<_> = (0..rank).map(|i| (EXTENTS[extents[i]], strides[i])).collect();
        nested(&modes, nest, fixed)
    }
}

prop_compose! {
    /// A layout whose modes, in any order, begin at the end of the previous modes, or at a small
    /// multiple of it. It is injective and has a complement.
    fn spread(gaps: u64)(
        rank in 1usize..4,
        extents in prop::array::uniform3(0usize..8),
        apart in prop::array::uniform3(1u64..=gaps),
        order in 0usize..6,
        nest in 0usize..3,
        fixed in 0u64..64,
    ) -> Layout {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let mut modes = vec![(1, 0); rank];
        let mut filled = 1;
        for i in ORDERS[order].into_iter().filter(|i| *i < rank) {
            modes[i] = (EXTENTS[extents[i]], filled * apart[i]);
            filled *= apart[i] * EXTENTS[extents[i]];
        }
        nested(&modes, nest, fixed)
    }
}

/// An injective layout that has a complement.
pub fn injective() -> impl Strategy<Value = Layout> {
    spread(3)
}

/// A bijection of the integers below its size.
pub fn bijection() -> impl Strategy<Value = Layout> {
    spread(1)
}

/// A matrix: a bijection of rank 2 whose extents are multiples of 2 and 4.
pub fn matrix() -> impl Strategy<Value = Layout> {
    (0usize..4, 0usize..4, any::<bool>()).prop_map(|(rows, columns, row_major)| {
        let (m, n) = ([4, 8, 12, 16][rows], [4, 8, 12, 16][columns]);
        nested(&if row_major { [(m, n), (n, 1)] } else { [(m, 1), (n, m)] }, 0, 0)
    })
}

/// Returns the offsets of all integers below the size.
pub fn offsets(layout: &Layout) -> Vec<u64> {
    (0..layout.size()).map(|i| layout.offset(i).expect("inside")).collect()
}

/// Returns the offsets of all integers below the size in ascending order.
pub fn image(layout: &Layout) -> Vec<u64> {
    let mut image = offsets(layout);
    image.sort_unstable();
    image
}
