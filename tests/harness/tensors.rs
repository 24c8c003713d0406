//! Copies of boxes for the host's model and for the device, random and manual.

use crate::harness::prelude::*;
use proptest::prelude::*;

/// Byte that marks memory that must not change.
pub const POISON: u8 = 0xa5;

/// Returns random bytes.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    (0..count.div_ceil(8) as u64).flat_map(|i| draw(seed, i).to_le_bytes()).take(count).collect()
}

/// Returns the descriptor of a tensor whose rows have `gap` times 16 bytes of padding.
pub fn packed(
    element: ElementKind,
    dims: &[u64],
    box_dims: &[u32],
    gap: u64,
    swizzle: SwizzleMode,
) -> TensorMapDesc {
    let mut desc = TensorMapDesc {
        element,
        rank: dims.len() as u32,
        dims: [1; 5],
        strides_bytes: [0; 4],
        box_dims: [1; 5],
        swizzle,
        l2_promotion: L2PromotionKind::Bytes128,
    };
    desc.dims[..dims.len()].copy_from_slice(dims);
    desc.box_dims[..dims.len()].copy_from_slice(box_dims);
    let mut stride = (dims[0] * u64::from(element.bytes_of(1))).next_multiple_of(16) + 16 * gap;
    for (of, &extent) in desc.strides_bytes.iter_mut().zip(&dims[1..]) {
        *of = stride;
        stride = stride * extent + 16 * gap;
    }
    desc
}

/// Returns whether TMA accepts a copy as a store and writes only inside the tensor. In addition to
/// [`TensorCopy::check`], no coordinate may be negative, and rows must be multiples of 16 bytes.
///
/// Loads may begin before the tensor. A store of (8, 1) elements that did so was an illegal
/// instruction. If a row ends inside a unit of 16 bytes, a store writes the whole unit, also after
/// the row (`tests/gpu/tensor_map.rs`). [`TensorCopy::store`] defines the meaning of such stores.
pub fn stores(copy: &TensorCopy) -> bool {
    let map = copy.tile().map();
    let whole = map.element.matrix_bytes(map.dims[0]).is_multiple_of(16);
    whole
        && copy.corner()[..map.rank as usize].iter().all(|&value| value >= 0)
        && copy.check().is_ok()
}

/// Returns random copies of small tensors and boxes with up to three dimensions. A box may be
/// inside the tensor, across an edge, or outside.
pub fn copies() -> impl Strategy<Value = TensorCopy> {
    let shape = (
        proptest::sample::select(&ElementKind::ALL[..]),
        proptest::sample::select(&SwizzleMode::ALL[..]),
        1usize..=3,
        0u64..3,
        0u32..20,
    );
    shape.prop_flat_map(|(element, swizzle, rank, gap, line)| {
        let chunk = element.elements_in(16);
        // A row of a swizzled box spans the swizzle. Other rows have up to nine chunks of 16 bytes.
        let chunks = match swizzle.span_bytes() {
            Some(span) => span / 16..=span / 16,
            None => 1..=9,
        };
        let extents = (chunks, proptest::array::uniform2(1u32..20));
        let tensor = proptest::array::uniform3(1u64..40);
        // The first coordinate is a multiple of a chunk, as TMA requires.
        let chunks_of = 45 / chunk as i32;
        let corner = (-chunks_of..=chunks_of, proptest::array::uniform2(-45i32..45));
        (extents, tensor, corner).prop_map(move |((chunks, outer), dims, (first, rest))| {
            let box_dims = [chunks * chunk, outer[0], outer[1].min(4)];
            let desc = packed(element, &dims[..rank], &box_dims[..rank], gap, swizzle);
            let tile = SharedBox::new(&desc, line * 128)
                .unwrap_or_else(|refusal| panic!("{desc:?}: {refusal}"));
            TensorCopy::new(tile, [first * chunk as i32, rest[0], rest[1], 0, 0])
        })
    })
}
