//! The device conforms.

use crate::harness::{
    asked_for,
    completions::{conform, conform_all},
    conformance::{Cases, by_threads, conforms, distinct, mma_sync, warp_specialized_only},
    cutlass_list::{kernels, list},
    on_cuda::{ByPtx, OnCuda},
    prelude::*,
};

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_device_conforms_where_threads_multiply() {
    let cases =
        Cases { descriptions: 60, problems_each: 12, most_work: 24_000_000, wanted: by_threads() };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x0c0d_a0f3);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 700 && distinct(&descriptions) >= 50);
        assert!(
            tally.largest > 0.05 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_device_conforms_for_warp_specialized_kernels() {
    let cases = Cases {
        descriptions: 90,
        problems_each: 12,
        most_work: 24_000_000,
        wanted: warp_specialized_only(),
    };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x0c0d_a090);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 1000 && distinct(&descriptions) >= 80);
        assert!(
            tally.largest > 0.02 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

/// Every instruction that Hopper has; those of older tags are compiled for the device, too.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn the_device_conforms_for_mma_sync() {
    for (arch, seed) in [(Some(ArchKind::Sm90), 0x0c0d_a0b0), (None, 0x0c0d_a0b1)] {
        let cases = Cases {
            descriptions: 90,
            problems_each: 12,
            most_work: 8_000_000,
            wanted: mma_sync(arch),
        };
        let (tally, descriptions) = conforms(&OnCuda::new(), cases, seed);
        println!("{arch:?}: {tally:?}, {} descriptions", distinct(&descriptions));
        if asked_for().is_none() {
            assert!(tally.cases >= 1000 && distinct(&descriptions) >= 80);
            assert!(
                tally.largest > 0.02 && tally.largest <= 1.0,
                "the largest error is {} of its bound",
                tally.largest
            );
        }
    }
}

/// Kernels of older machines as PTX of theirs: what the driver compiles is their text, every branch
/// of it, on the units of the device.
#[test]
#[ignore = "needs an NVIDIA GPU as new as sm89, and its driver NVRTC's PTX"]
fn older_targets_conform_by_ptx() {
    for (i, ptx) in
        [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89].into_iter().enumerate()
    {
        let of = |family| Wanted { family, arch: Some(ptx), ..Wanted::default() };
        let suites = [
            (mma_sync(Some(ptx)), 40, 6, 0x0c0d_a0c0),
            (of(Wanted::default().family), 16, 4, 0x0c0d_a0d0),
        ];
        for (wanted, descriptions, problems_each, seed) in suites {
            let cases = Cases { descriptions, problems_each, most_work: 4_000_000, wanted };
            let (tally, descriptions) = conforms(&ByPtx::of(ptx), cases, seed + i as u64);
            println!("{ptx}: {tally:?}, {} descriptions", distinct(&descriptions));
            if asked_for().is_none() {
                assert_eq!(tally.cases, cases.descriptions * problems_each);
                assert!(
                    tally.exact > 0 && tally.largest <= 1.0,
                    "the largest error is {} of its bound",
                    tally.largest
                );
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_conforms() {
    let wanted = Wanted::default();
    let cases = Cases { descriptions: 160, problems_each: 15, most_work: 3_000_000, wanted };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x0c0d_a001);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    if asked_for().is_none() {
        assert!(tally.cases >= 2000 && distinct(&descriptions) >= 100);
        assert!(
            tally.largest > 0.05 && tally.largest <= 1.0,
            "the largest error is {} of its bound",
            tally.largest
        );
    }
}

/// Whatever one knob is pinned to, what completes it computes the product: 3,191 kernels.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn completions_of_single_knobs_conform() {
    for (op, most_work) in [(OpKind::TensorOp, 4_000_000), (OpKind::Simt, 300_000)] {
        let tally = conform(&OnCuda::new(), op, most_work);
        println!("{op}: {tally:?}");
        assert!(tally.cases > 0 && tally.largest <= 1.0, "{op}: {tally:?}");
    }
}

/// CUTLASS's own configurations of `mma.sync`, of every architecture's list, compiled for the
/// device.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn cutlass_own_configurations_conform() {
    let mut list = list();
    let descriptions: Vec<_> = kernels(&mut list).0.into_iter().map(|(_, desc)| desc).collect();
    let tally = conform_all(&OnCuda::new(), &sample(descriptions), 8_000_000);
    println!("{tally:?}");
    assert!(tally.cases > 0 && tally.exact > 0 && tally.largest <= 1.0, "{tally:?}");
}

/// What compute-sanitizer's tools run: they slow a kernel down a hundredfold.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_cases_for_a_sanitizer() {
    let cases =
        Cases { descriptions: 60, problems_each: 1, most_work: 300_000, wanted: Wanted::default() };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x5a41_712e);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    assert!(tally.cases >= 60);
}

/// The same of warps that multiply by `mma.sync`.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_mma_sync_cases_for_a_sanitizer() {
    let cases = Cases {
        descriptions: 40,
        problems_each: 1,
        most_work: 1_000_000,
        wanted: mma_sync(Some(ArchKind::Sm90)),
    };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x5a41_7292);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    assert!(tally.cases >= 40);
}

/// The same of warp-specialized kernels.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_warp_specialized_cases_for_a_sanitizer() {
    let cases = Cases {
        descriptions: 40,
        problems_each: 1,
        most_work: 6_000_000,
        wanted: warp_specialized_only(),
    };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x5a41_7290);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    assert!(tally.cases >= 40);
}

/// The same where threads multiply what TMA brings.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_cases_by_threads_for_a_sanitizer() {
    let cases =
        Cases { descriptions: 20, problems_each: 1, most_work: 6_000_000, wanted: by_threads() };
    let (tally, descriptions) = conforms(&OnCuda::new(), cases, 0x5a41_7291);
    println!("{tally:?}, {} descriptions", distinct(&descriptions));
    assert!(tally.cases >= 20);
}
