//! The kernel that writes offsets of groups under NVRTC: it compiles for every architecture without
//! a spill, and keeps nothing in local memory.

use crate::harness::prelude::*;
use falchion::{cuda::compile, internals::pass::OffsetsDesc};

#[test]
#[ignore = "needs NVRTC"]
fn the_kernel_compiles_clean_on_every_architecture() {
    for sm in [75, 80, 86, 89, 90] {
        let entry = compile(&Cache::new(CacheDir::Off), &OffsetsDesc.translation_unit(), sm)
            .unwrap_or_else(|error| panic!("sm_{sm}: {error}"));
        let report = Report::read(&entry.log)
            .unwrap_or_else(|| panic!("sm_{sm}: no report in\n{}", entry.log));
        assert!(report.is_clean() && report.stack_bytes == 0, "sm_{sm}: {report:?}");
        println!("sm_{sm}: {} registers", report.registers);
    }
}

/// It may run before every kernel of groups, behind what brings operands, and before no other.
#[test]
fn it_is_prepared_with_kernels_of_groups() {
    const THREADS: GemmDesc = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::DESC;
    const TMA: GemmDesc = HopperK::<Bf16, Bf16>::DESC;
    for desc in [THREADS, TMA] {
        let offsets = PassDesc::Offsets(OffsetsDesc);
        assert!(
            !PassDesc::before(&desc).contains(&offsets)
                && !PassDesc::before(&desc.for_batch(3)).contains(&offsets)
        );
        assert_eq!(PassDesc::before(&desc.for_groups(Axis::M)).last(), Some(&offsets));
    }
}
