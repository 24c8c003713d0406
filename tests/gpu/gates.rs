//! Epilogues with a gate on a device: the bits of the host in each form of B, one launch, and no
//! workspace.

use crate::harness::{
    gates::{Form, GatedCase, descriptions},
    prelude::*,
};
use falchion::{cuda::CallLog, refusal::Route};

/// Runs a case on the device, and returns D.
fn on_device(
    context: &Arc<CudaContext>,
    desc: &GemmDesc,
    case: &GatedCase,
) -> Result<Vec<u8>, Error> {
    let stream = context.new_stream()?;
    let (types, problem) = (case.types, &case.problem);
    // An allocation has at least one element.
    let copied = |bytes: &[u8]| stream.clone_htod(&[bytes, &[0; 16]].concat());
    let (a, b, c) = (copied(&case.a)?, copied(&case.b)?, copied(&case.c)?);
    let (mut d, mut workspace) = (copied(&case.d)?, stream.alloc_zeros::<u8>(1 << 26)?);
    let operands = case.operands.as_ref().map(|_, bytes| copied(bytes).expect("device memory"));
    let read = |kind: ElementKind, bytes| DeviceMatrix::read_bytes(kind, bytes, &stream);
    let matrices = CudaMatrices {
        a: read(types.a, &a),
        b: read(types.b, &b).from(case.first[0]),
        c: problem.c.map(|_| read(types.c, &c)),
        d: DeviceMatrix::write_bytes(types.c, &mut d, &stream),
        operands: operands.as_ref().map(|name, bytes| read(case.element(name), bytes)),
    };
    let up = problem.up.map(|up| up.with(read(types.b, &b).from(case.first[1])));
    let workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut workspace, &stream));
    let kernel = CudaKernel::prepare(context, desc)?;
    kernel.run(&stream, CudaCall { up, workspace, ..problem.with(matrices) })?;
    let mut found = stream.clone_dtoh(&d)?;
    found.truncate(case.d.len());
    Ok(found)
}

/// Compares the device with the host for kernels of one kind.
fn compare(kind: (MainloopKind, WarpMmaKind), seed: u64, count: usize) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let machine = ArchKind::Sm90.machine();
    let all: Vec<_> = descriptions(seed, count)
        .into_iter()
        .filter(|(_, desc)| (desc.mainloop.kind(), desc.mma.kind()) == kind)
        .filter(|(_, desc)| desc.check_on(&machine).is_ok())
        .collect();
    assert!(all.len() >= 12, "{} kernels of {kind:?}", all.len());
    all.par_iter().for_each(|(seed, desc)| {
        for number in 0..3 {
            let case = GatedCase::random(desc, draw(*seed, number), true);
            let wanted = case.on_host(desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
            let found = on_device(&context, desc, &case)
                .unwrap_or_else(|error| panic!("{error}\n{desc:?}\n{:?}", case.problem));
            if let Some(at) = found.iter().zip(&wanted).position(|(one, other)| one != other) {
                let (form, problem) = (case.form, &case.problem);
                panic!("byte {at} of D, seed {seed}, {number}, {form:?}: {desc:?} {problem:?}");
            }
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_multistage_simt_have_the_bits_of_the_host() {
    compare((MainloopKind::Multistage, WarpMmaKind::Simt), 0x6a81, 200);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_multistage_mma_sync_have_the_bits_of_the_host() {
    compare((MainloopKind::Multistage, WarpMmaKind::MmaSync), 0x6a82, 200);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_pipelined_kernels_have_the_bits_of_the_host() {
    compare((MainloopKind::Pipelined, WarpMmaKind::Simt), 0x6a83, 300);
    compare((MainloopKind::Pipelined, WarpMmaKind::MmaSync), 0x6a84, 300);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_wgmma_have_the_bits_of_the_host() {
    compare((MainloopKind::TmaRing, WarpMmaKind::Wgmma), 0x6a85, 150);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_simt_rings_have_the_bits_of_the_host() {
    compare((MainloopKind::TmaRing, WarpMmaKind::Simt), 0x6a86, 150);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn gates_of_mma_sync_rings_have_the_bits_of_the_host() {
    compare((MainloopKind::TmaRing, WarpMmaKind::MmaSync), 0x6a87, 150);
}
