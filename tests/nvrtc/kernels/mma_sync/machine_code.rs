//! `mma.sync` in machine code: the main loop has the number of instructions that the description
//! states, and the kernel neither spills nor exceeds the machine's shared memory.

use super::super::{cache, sample, unit_of};
use crate::{harness::prelude::*, sass::Sass};

/// Returns the default kernel of an architecture with a given instruction.
pub fn kernel(one: &WarpInstruction, arch: ArchKind, orders: [Order; 2]) -> Option<GemmDesc> {
    let [a, b] = OperandKind::BOTH.map(|operand| one.input(operand));
    let types = TENSOR_OP_COMBINATIONS
        .iter()
        .find(|types| [types.a, types.b, types.accumulator] == [a, b, one.accumulator()])?;
    let shape = one.shape();
    // Warp-specialized kernels have no instruction with 8 rows.
    let mainloop = match arch {
        ArchKind::Sm75 => THROUGH_REGISTERS[0].name(),
        _ => MULTISTAGE_OR_OTHER[0].name(),
    };
    let instruction = format!("{}x{}x{}", shape.m, shape.n, shape.k);
    // Emulated f32 with terms that threads compute from fragments.
    let emulation =
        Some(one.math().emulation()).filter(|emulation| *emulation != EmulationKind::None);
    let mut knobs = vec![("instruction", &*instruction), ("mainloop", mainloop)];
    knobs.extend(emulation.map(|emulation| ("emulation", emulation.name())));
    let orders = [orders[0], orders[1], Order::Row];
    let request = request_of(OpKind::TensorOp, *types, orders, &knobs);
    let desc = request.resolve(arch).ok()?.desc;
    (desc.mma.kind() == WarpMmaKind::MmaSync).then_some(desc)
}

/// Returns the SASS opcode of `mma.sync` for an input type.
const fn opcode(input: ElementKind) -> &'static str {
    match input {
        ElementKind::F64 => "DMMA.",
        ElementKind::I8 | ElementKind::U8 => "IMMA.",
        ElementKind::E4m3 | ElementKind::E5m2 => "QMMA.",
        _ => "HMMA.",
    }
}

/// Returns whether an instruction multiplies matrices.
fn multiplies(name: &str) -> bool {
    ["HMMA", "IMMA", "DMMA", "QMMA", "BMMA"].iter().any(|mma| name.starts_with(mma))
}

/// Returns the first fault of a kernel's machine code.
fn fault(cache: &Cache, one: &WarpInstruction, desc: &GemmDesc) -> Option<String> {
    let Explanation::MmaSync(facts) = desc.explain().expect("it checks") else {
        panic!("not an mma.sync kernel")
    };
    let machine = desc.arch.machine();
    let entry = match compile(cache, &unit_of(desc, false), machine.sm) {
        Ok(entry) => entry,
        Err(error) => return Some(error.to_string()),
    };
    let report = Report::read(&entry.log).expect("a kernel");
    if !report.is_clean() || report.shared_bytes + facts.smem_bytes > machine.shared_bytes_per_block
    {
        return Some(format!(
            "{} of {} bytes, {report:?}",
            facts.smem_bytes, machine.shared_bytes_per_block
        ));
    }
    let sass = Sass::disassemble(&entry.image);
    let own = |name: &str| name.starts_with(opcode(one.input(OperandKind::A)));
    // The innermost loop has one instruction per instruction tile of the warp tile. No other code
    // has any.
    let (warp, shape) = (desc.warp(), one.shape());
    let products = one.math().emulation().products().len();
    let wanted = ((warp.m / shape.m) * (warp.n / shape.n) * (warp.k / shape.k)) as usize * products;
    let found = (sass.in_loops(own), sass.count(multiplies));
    (found != (vec![wanted], wanted)).then(|| format!("{found:?} instead of {wanted} instructions"))
}

/// The instructions that an architecture introduced, and every second older one.
#[test]
#[ignore = "needs NVRTC and nvdisasm"]
fn the_main_loop_has_the_described_instructions() {
    let (cache, mut kernels) = (cache(), Vec::new());
    let (along_k, along_mn) = ([Order::Row, Order::Col], [Order::Col, Order::Row]);
    for (i, arch) in ARCHS.into_iter().enumerate() {
        for (j, one) in WarpInstruction::all().filter(|one| one.sm() <= arch.sm()).enumerate() {
            let orders = if (i + j) % 3 == 0 { [along_mn, along_k] } else { [along_k, along_mn] };
            let Some(desc) = orders.into_iter().find_map(|orders| kernel(&one, arch, orders))
            else {
                let hopper = arch == ArchKind::Sm90 && one.input(OperandKind::A).is_fp8();
                assert!(hopper, "{} on {arch} is unsupported", one.mnemonic());
                continue;
            };
            if one.sm() == arch.sm() || (i + j) % 2 == 0 {
                kernels.push((one, desc));
            }
            if one.sm() != arch.sm() || j % 2 != 0 {
                continue;
            }
            // A tile of one k-block, in which A has one fragment, and a warp tile whose numbers of
            // instructions are not powers of two.
            let (k, rows) = (
                one.shape().k,
                if one.input(OperandKind::A) == ElementKind::F64 { 16 } else { 48 },
            );
            let tiles = [
                (Mnk::new(64, 64, k), Mnk::new(32, 32, k)),
                (Mnk::new(2 * rows, 96, 2 * k), Mnk::new(rows, 48, 2 * k)),
            ];
            for (block, warp) in tiles.into_iter().filter(|(_, warp)| warp.k >= 8) {
                let desc = kernel(&one, arch, along_k).expect("a kernel with K-major operands");
                let aligned = |align| {
                    let [align_a, align_b] = [Some(align); 2];
                    desc.pinned(Pins {
                        threadblock: Some(block),
                        warp: Some(warp),
                        align_a,
                        align_b,
                        ..Pins::NONE
                    })
                };
                let desc =
                    [16, 8, 4, 2, 1].map(aligned).into_iter().find(|desc| desc.check().is_ok());
                kernels
                    .push((one, desc.unwrap_or_else(|| panic!("{}: {block:?}", one.mnemonic()))));
            }
        }
    }
    let sampled = sample(kernels.clone());
    let wrong = sampled.par_iter().filter_map(|(one, desc)| {
        fault(&cache, one, desc)
            .map(|fault| format!("{} on {}: {fault}", one.mnemonic(), desc.arch))
    });
    let faults: Vec<_> = wrong.collect();
    let (all, covered): (BTreeSet<_>, BTreeSet<_>) = (
        WarpInstruction::all().map(|one| one.mnemonic()).collect(),
        kernels.iter().map(|(one, _)| one.mnemonic()).collect(),
    );
    assert_eq!(all, covered);
    let deep = |desc: &GemmDesc| desc.warp().k == desc.pins().instruction.map_or(0, |one| one.k);
    assert!(kernels.iter().filter(|(_, desc)| deep(desc)).count() >= 6);
    assert!(kernels.iter().filter(|(_, desc)| desc.warp().n == 48).count() >= 8);
    println!("machine code of mma.sync: {} kernels, {} instructions", kernels.len(), covered.len());
    assert!(
        faults.is_empty() && kernels.len() >= 40,
        "{} kernels: {}",
        kernels.len(),
        faults.join("\n")
    );
}
