//! Kernels of sm_89 on GPUs that are newer than Hopper. Such GPUs have no kernels of their own.

use super::{cache, default, sample, unit_of};
use crate::harness::prelude::*;

/// Compute capabilities of data-center and of consumer Blackwell.
const BLACKWELL: [u32; 2] = [100, 120];

/// The default kernel of every combination of types, on CUDA cores and on tensor cores, compiles
/// for Blackwell. Spills are allowed: on sm_100, some fp8 kernels spill. These GPUs are
/// unsupported, and no table is tuned for them.
#[test]
#[ignore = "needs NVRTC"]
fn sm_89_kernels_compile_for_blackwell() {
    let orders = [Order::Row, Order::Col, Order::Row];
    let simt = COMBINATIONS.iter().map(|types| default(ArchKind::Sm89, *types, orders));
    let tensor_cores = TENSOR_OP_COMBINATIONS.iter().filter_map(|types| {
        default_description(OpKind::TensorOp, ArchKind::Sm89, *types, orders).ok()
    });
    let all: Vec<GemmDesc> = simt.chain(tensor_cores).collect();
    assert!(all.len() > 20, "{} descriptions", all.len());
    for sm in BLACKWELL {
        assert_eq!(ArchKind::newest_of(sm), Some(ArchKind::Sm89));
    }
    let cache = cache();
    let kernels = all.iter().flat_map(|desc| BLACKWELL.map(|sm| (desc, sm))).collect();
    for (desc, sm) in sample(kernels) {
        let entry = compile(&cache, &unit_of(desc, true), sm)
            .unwrap_or_else(|error| panic!("{desc} for sm_{sm}: {error}"));
        assert!(Report::read(&entry.log).is_some(), "{desc} for sm_{sm}: {}", entry.log);
    }
}
