//! The device gives the host's bits.

use crate::harness::{
    prelude::*,
    same_bits::{wgmma_ring, *},
};

fn on_device(
    device: &OnCuda,
    (desc, guarded, buffers): (&GemmDesc, &Guarded, &Buffers),
) -> Result<HostBuffer, Error> {
    let mut after = buffers.clone();
    after.run(device, desc, guarded)?;
    Ok(after.d)
}

/// Compares the fast mode and the device, eight problems for each of the descriptions that `asked`
/// selects. Returns the descriptions.
fn device_pairs(
    seed: u64,
    descriptions: usize,
    (wanted, asked): (Wanted, fn(&GemmDesc) -> bool),
    least: (usize, usize),
) -> Vec<GemmDesc> {
    let device = OnCuda::new();
    let pairs = Pairs { seed, descriptions, problems: 8, wanted, asked, aligned: true };
    let on_device = |desc: &GemmDesc, guarded: &Guarded, buffers: &Buffers, _| {
        on_device(&device, (desc, guarded, buffers))
    };
    pairs.compare(&on_device, (least.0, 0, least.1))
}

fn count(descriptions: &[GemmDesc], kind: ElementKind) -> usize {
    descriptions.iter().filter(|desc| desc.operands[0].stored == kind).count()
}

fn all(_: &GemmDesc) -> bool {
    true
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn device_has_the_bits_of_the_host() {
    let wanted = Wanted { largest_tile: MOST_WORK as u32 / 4, ..Wanted::default() };
    let descriptions = device_pairs(0xb175_0fd5, 150, (wanted, all), (500, 100));
    let kinds = [ElementKind::F32, ElementKind::F64, ElementKind::I8];
    assert!(kinds.iter().all(|&kind| count(&descriptions, kind) >= 5));
}

/// A packed instruction rounds its two products as separate instructions do, also for denormals,
/// infinities, and NaN.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn packed_halves_have_the_bits_of_the_host() {
    let device = OnCuda::new();
    let all = tiles_of_halves(ArchKind::Sm90);
    all.par_iter().enumerate().for_each(|(i, desc)| {
        let on_device =
            |guarded: &Guarded, buffers: &Buffers, _| on_device(&device, (desc, guarded, buffers));
        for seed in 0..6 {
            compare(desc, (0, draw(i as u64, seed)), true, &on_device)
                .unwrap_or_else(|error| panic!("{error} {desc:?}"));
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn tma_fed_simt_has_the_bits_of_the_host() {
    let descriptions = device_pairs(0xb175_0ff3, 60, (simt_ring(), all), (400, 50));
    let missing = Coverage::missing_threads(&descriptions);
    assert!(missing.len() <= 2, "{missing:?}");
}

/// The host adds in the order of Hopper's tensor cores.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn hopper_tensor_cores_have_the_bits_of_the_host() {
    let descriptions = device_pairs(0xb175_0f90, 90, (wgmma_ring(), all), (500, 80));
    let kinds = [ElementKind::F16, ElementKind::Bf16, ElementKind::I8];
    assert!(kinds.iter().all(|&kind| count(&descriptions, kind) >= 3));
}

/// Returns whether instructions add in the order of k.
fn in_order(desc: &GemmDesc) -> bool {
    desc.operands[0].stored.is_integer() || desc.operands[0].stored == ElementKind::F64
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn mma_sync_has_the_bits_of_the_host_for_integers_and_f64() {
    device_pairs(0xb175_55d0, 240, (mma_sync(Some(ArchKind::Sm90)), in_order), (150, 1));
}

/// Other instructions round as `numeric::Instruction` states.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn mma_sync_has_the_bits_of_the_host_for_other_floats() {
    let others = |desc: &GemmDesc| !in_order(desc);
    device_pairs(0xb175_55d1, 160, (mma_sync(Some(ArchKind::Sm90)), others), (300, 1));
}
