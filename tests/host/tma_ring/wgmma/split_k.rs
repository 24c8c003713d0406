//! Split-K through a workspace of kernels with `wgmma`.

use crate::harness::prelude::*;

/// Each of two consumers that share a tile has its own tickets, and the rectangle of a cluster has
/// tiles beyond D.
#[test]
fn the_workspace_has_slots_and_tickets_of_each_consumer() {
    let tensor_cores = |tile: &str, cluster: &str, extents| {
        let knobs = [
            ("threadblock", tile),
            ("split_k", "20"),
            ("cluster", cluster),
            ("schedule", "cooperative"),
        ];
        let types = ["bf16:row", "bf16:col", "bf16:row"];
        let desc = described(types, (OpKind::TensorOp, ArchKind::Sm90), &knobs);
        desc.routes(&Problem::new(&desc, extents, [None; 3], [1.0; 8]))
            .expect("a kernel")
            .workspace_bytes()
    };
    let slot = 128 * 64 * 4;
    assert_eq!(tensor_cores("128x64x64", "1x1", (128, 64, 2048)), 20 * slot + 256 + 256);
    assert_eq!(
        tensor_cores("128x64x64", "1x1", (1280, 64, 2048)),
        10 * 20 * slot + (10 * 2 * 4 * 4u64).next_multiple_of(256) + 256
    );
    assert_eq!(tensor_cores("128x64x64", "2x1", (128, 64, 2048)), 2 * 20 * slot + 256 + 256);
}
