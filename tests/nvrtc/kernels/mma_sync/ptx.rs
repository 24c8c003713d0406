//! PTX of older architectures for the driver of a newer GPU: it has the requested target, and the
//! instructions of its description.

use super::{
    super::{cache, sample, unit_of},
    machine_code::kernel,
};
use crate::harness::prelude::*;

/// Returns the first fault in the PTX of a kernel.
fn fault(text: &str, one: &WarpInstruction, desc: &GemmDesc, ptx: ArchKind) -> Option<String> {
    let Explanation::MmaSync(facts) = desc.explain().expect("it checks") else {
        panic!("not an mma.sync kernel")
    };
    let target = text.lines().find_map(|line| line.strip_prefix(".target ")).map(str::trim);
    if target != Some(&format!("sm_{}", ptx.sm())) {
        return Some(format!("the target is {target:?}"));
    }
    let parts = one.math().emulation().products().len();
    let products = (facts.repeats.m * facts.repeats.n * facts.repeats.k) as usize * parts;
    let [own, all] = [&*one.mnemonic(), "mma.sync"].map(|name| text.matches(name).count());
    if (own, all) != (products, products) {
        return Some(format!(
            "{own} of {all} mma.sync instructions have the mnemonic; {products} are expected"
        ));
    }
    let matrices = text.contains("ldmatrix.sync");
    if matrices != facts.by_ldmatrix.contains(&true) {
        return Some(format!("ldmatrix: {matrices}, expected for {:?}", facts.by_ldmatrix));
    }
    let asynchronous = text.contains("cp.async");
    if asynchronous != (desc.mainloop.copies_asynchronously()) {
        return Some(format!("cp.async: {asynchronous}"));
    }
    // The driver would contract a multiplication and an addition without rounding modes.
    let loose = ["mul.f32", "add.f32", "sub.f32", "mul.f64", "add.f64", "sub.f64"]
        .into_iter()
        .find(|name| text.contains(name));
    loose.map(|name| format!("{name} may contract"))
}

/// Every instruction as PTX of the architecture that introduced it, and of sm89, the newest
/// architecture with these tensor cores.
#[test]
#[ignore = "needs NVRTC"]
fn ptx_has_the_requested_target_and_instructions() {
    let compiles_to = |ptx: ArchKind, i: usize, one: &WarpInstruction| {
        let newest = ptx == ArchKind::Sm89 && one.sm() < 89 && i.is_multiple_of(3);
        newest
            || one.sm() == ptx.sm()
            || ptx == ArchKind::Sm86 && one.sm() == 80 && i.is_multiple_of(4)
    };
    let kernels: Vec<_> = ARCHS
        .into_iter()
        .filter(|&ptx| ptx != ArchKind::Sm90)
        .flat_map(|ptx| WarpInstruction::all().enumerate().map(move |(i, one)| (ptx, i, one)))
        .filter(|(ptx, i, one)| compiles_to(*ptx, *i, one))
        .collect();
    println!("PTX of mma.sync: {} kernels", kernels.len());
    assert!(kernels.len() >= 24);
    let (cache, mut faults) = (cache(), Vec::new());
    for (ptx, _, one) in sample(kernels) {
        let arch = ArchKind::newest_of(one.sm()).expect("a tag");
        let kernel =
            kernel(&one, arch, [Order::Row, Order::Col]).expect("a kernel with K-major operands");
        let entry = compile(&cache, &unit_of(&kernel, true), CodeTarget::Ptx(ptx.sm()))
            .unwrap_or_else(|error| panic!("{error}"));
        let text = String::from_utf8(entry.image.clone()).expect("PTX is text");
        let fault = fault(&text, &one, &kernel, ptx);
        faults.extend(fault.map(|fault| format!("{} as PTX of {ptx}: {fault}", one.mnemonic())));
        assert!(!text.contains('\0') && one.input(OperandKind::A) == kernel.operands[0].stored);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
