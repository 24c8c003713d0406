//! Stream-K kernels whose threads all follow one schedule.

use super::{all_clean, defaults, random_descriptions, unit_of};
use crate::harness::prelude::*;

/// Defaults and random descriptions of SIMT and `mma.sync` kernels, with every main loop, on every
/// machine, for single GEMMs, batches, and arrays.
#[test]
#[ignore = "needs NVRTC"]
fn stream_k_of_one_schedule_compiles_clean() {
    let mut kernels: Vec<_> =
        defaults(ArchKind::Sm90, ArchKind::Sm90).into_iter().step_by(5).collect();
    for (i, &types) in TENSOR_OP_COMBINATIONS.iter().enumerate() {
        let orders = [i & 1 != 0, i & 2 == 0, i & 4 != 0]
            .map(|column| if column { Order::Col } else { Order::Row });
        let arch = ARCHS[i % 5];
        let all = default_gemm_configurations(OpKind::TensorOp, arch, types).unwrap_or_default();
        let ours = all
            .iter()
            .map(|knobs| GemmDesc::from_values(OpKind::TensorOp, arch, types, orders, *knobs));
        let legal = ours.filter(|desc| !desc.has_producer() && desc.check().is_ok());
        kernels.extend(legal.take(2).map(|desc| ("a default".to_owned(), desc, arch)));
    }
    let defaults_that_stream =
        kernels.iter().filter(|(_, desc, _)| with_stream_k(*desc).is_some()).count();
    assert!(
        defaults_that_stream >= 30 && defaults_that_stream + 3 >= kernels.len(),
        "{defaults_that_stream} of {} defaults support stream-K",
        kernels.len()
    );
    kernels.extend(random_descriptions(24_000, 32, ArchKind::Sm90, description));
    kernels.extend(random_descriptions(25_000, 6, ArchKind::Sm80, description));
    kernels.extend(random_descriptions(26_000, 6, ArchKind::Sm75, description));
    let by_mma =
        |seed, wanted| description(seed, Wanted { kernel_kind: KernelKind::MmaSync, ..wanted });
    kernels.extend(random_descriptions(27_000, 24, ArchKind::Sm90, by_mma));
    for (arch, seed) in ARCHS.into_iter().zip([28_000, 28_100, 28_200, 28_300]) {
        kernels.extend(random_descriptions(seed, 4, arch, by_mma));
    }
    let of = |(i, (name, desc, arch)): (usize, (String, GemmDesc, ArchKind))| {
        // Some descriptions do not have enough registers for stream-K.
        let [_, streamed] = with_stream_k(desc)?;
        let mode = [streamed, streamed.for_batch(2), streamed, streamed.for_array(2)][i % 4];
        assert!(unit_of(&mode, true).config.contains("kWork = threadblock::WorkKind::StreamK"));
        Some((name, mode, arch))
    };
    let kernels: Vec<_> = kernels.into_iter().enumerate().filter_map(of).collect();
    assert!(kernels.len() >= 110, "{} kernels", kernels.len());
    all_clean("stream-K kernels of one schedule", kernels);
}
