//! Pointer arrays before their launch: records, routes, the parameters of a launch, and the access
//! width. No GPU is needed.

use crate::harness::prelude::*;
use falchion::{layout::Order, threadblock::ProductRecords};

pub const F32: Combined = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);

/// Returns GEMMs of 64 x 48 x 32. Each matrix begins `beyond` bytes after a multiple of 256.
pub fn problems(orders: [Order; 3], beyond: &[[u64; 4]]) -> Vec<Problem> {
    let scalars = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let of_product = |(number, beyond): (usize, &[u64; 4])| {
        let view = |matrix: usize, order, extents| {
            let address = ((number as u64 * 4 + matrix as u64 + 1) << 20) + beyond[matrix];
            View::packed(Elements { address, ..Elements::ALL }, order, extents, None)
        };
        let (a, b) = (view(0, orders[0], (64, 32)), view(1, orders[1], (32, 48)));
        let (c, d) = (Source::Matrix(view(2, orders[2], (64, 48))), view(3, orders[2], (64, 48)));
        Problem { c, scalars, ..problem_of((64, 48, 32), [a, b, d]) }
    };
    beyond.iter().enumerate().map(of_product).collect()
}

/// Addresses are two aligned words, and positions are one word. No two pieces overlap.
#[test]
fn pieces_of_records_do_not_overlap() {
    for (products, positions) in
        [1, 2, 7, 110, 300].into_iter().flat_map(|n| [(n, false), (n, true)])
    {
        let records = ProductRecords { products, positions };
        let pieces = if positions { 8 } else { 4 };
        assert_eq!(laws::injective(&records), Ok(()));
        let bytes = ProductRecords::bytes(products as usize, positions);
        assert_eq!(bytes, 4 * u64::from(records.codomain()));
        let mut taken = vec![false; records.codomain() as usize];
        for (product, piece) in
            (0..products).flat_map(|product| (0..pieces).map(move |piece| (product, piece)))
        {
            let (place, words) = (
                records.at(at(product, piece)).expect("a place") as usize,
                if piece < 4 { 2 } else { 1 },
            );
            assert!(place.is_multiple_of(words), "product {product}, piece {piece}");
            assert!(
                !taken[place..place + words].iter().any(|&taken| taken),
                "product {product}, piece {piece}"
            );
            taken[place..place + words].fill(true);
            // The offset does not depend on the number of GEMMs.
            assert_eq!(
                ProductRecords { products: product + 1, positions }.at(at(product, piece)),
                Some(place as u32)
            );
        }
        assert_eq!((records.at(at(products, 0)), records.at(at(0, pieces))), (None, None));
    }
    assert_eq!(
        [false, true].map(|positions| ProductRecords::bytes(300, positions)),
        [300 * 32, 300 * 48]
    );
}

/// Checks that the workspace size that the selection assumes covers all GEMMs if the workspace has
/// space for the records. It excludes the bytes that the records need.
pub fn check_workspace_for_selection(desc: &GemmDesc, record: u64) {
    let size = ProblemSize::new((64, 48, 32));
    let told = |workspace, products| {
        let ProblemSize { batch, workspace, .. } =
            ProblemSize { workspace, ..size }.for_array(desc, products);
        (batch, workspace)
    };
    assert_eq!(told(0, 6), (1, 0));
    assert_eq!(told(300 * record + 255, 300), (1, 300 * record + 255));
    assert_eq!(told(300 * record + 256, 300), (300, 256));
    assert_eq!(told(u64::MAX, 300), (300, u64::MAX - 300 * record));
    assert_eq!(told(u64::MAX, 1), (1, u64::MAX));
}

/// Checks that an array of at least two GEMMs is one launch.
pub fn check_modes(desc: GemmDesc) {
    let (one, array) = (GemmMode::Gemm, GemmMode::Array);
    for desc in [desc, desc.for_array(2), desc.for_array(7)] {
        let modes = [0, 1, 2, 300].map(|products| desc.for_array(products).work.mode);
        assert_eq!(modes, [one, one, array, array]);
    }
}

/// Returns the size of an array's workspace, and the number of its launches. Each matrix begins
/// `beyond` bytes after a multiple of 256.
pub fn bytes(desc: GemmDesc, products: usize, beyond: u64) -> (u64, usize) {
    let orders = desc.orders();
    let all = problems([orders.a, orders.b, orders.c], &vec![[beyond; 4]; products]);
    let bytes = desc.workspace_of(&all).expect("a size");
    let routes = Routes::for_array(&desc.for_array(products), &all);
    assert_eq!(bytes, routes.iter().map(Routes::workspace_bytes).max().unwrap_or(0));
    (bytes, routes.len())
}
