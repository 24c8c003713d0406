//! Laws of `mma.sync`: its fragments, how they come from shared memory, without conflicts of banks, and what is refused.

use crate::harness::descriptions::{self, Family, Wanted, description, mma_sync::instructions};
use falchion::{
    Refusal,
    arch::{ArchKind, OpKind},
    desc::{FamilyDesc, GemmDesc, Pins},
    internals::{
        family::{Request, default_gemm_configuration::default_gemm_configurations},
        host::machine::Purpose,
        index::{Coord, IndexMap, at, laws::bijective, points},
        operand::OperandKind,
    },
    layout::{MatrixType, Order},
    numeric::{
        Combined,
        ElementKind::{self, *},
    },
    shape::Mnk,
    threadblock::{Along, SmemLayout},
    warp::mma_tensor_op::{WarpInstruction, WordLoad},
};
use falchion_lab::banks::{of_desc, of_program, wavefronts};
use std::collections::BTreeSet;

#[test]
fn the_table_has_every_instruction() {
    let all: Vec<_> = WarpInstruction::all().collect();
    let named: BTreeSet<_> = all.iter().map(|one| one.mnemonic()).collect();
    assert_eq!((all.len(), named.len()), (22, 22), "{named:#?}");
    for name in [
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32",
        "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32",
    ] {
        assert!(named.contains(name), "{name}");
    }
}

/// Every element of an operand is held once, and every accumulator.
#[test]
fn fragments_are_bijections() {
    for one in WarpInstruction::all() {
        for operand in OperandKind::BOTH {
            let map = one.operand_map(operand);
            assert_eq!(bijective(&map), Ok(()), "{} of {}", operand.name(), one.mnemonic());
            let layout = map.layout().expect("a fragment is affine");
            for Coord { row, column } in points(&map) {
                let offset = layout.offset([u64::from(row), u64::from(column)]).ok();
                assert_eq!(offset, map.at(at(row, column)).map(u64::from), "{}", one.mnemonic());
            }
        }
    }
}

/// Rows of PTX's own tables: (instruction's inputs, shape, operand, lane, element) to (row or column, k).
#[test]
fn fragments_are_those_of_ptx() {
    let (a, b) = (OperandKind::A, OperandKind::B);
    let (f64s, halves, bytes) = ((F64, F64), (F16, F32), (I8, I32));
    for ((input, accumulator), shape, operand, (lane, element), wanted) in [
        // m16n8k8 of f64: a1 lies eight rows below a0, and a2 four k's behind it.
        (f64s, Mnk::new(16, 8, 8), a, (5, 0), (1, 1)),
        (f64s, Mnk::new(16, 8, 8), a, (5, 1), (9, 1)),
        (f64s, Mnk::new(16, 8, 8), a, (5, 2), (1, 5)),
        (f64s, Mnk::new(16, 8, 8), b, (5, 1), (1, 5)),
        (f64s, Mnk::new(16, 8, 16), a, (31, 7), (15, 15)),
        (f64s, Mnk::new(8, 8, 4), b, (30, 0), (7, 2)),
        // m16n8k16 of f16: pairs along K; a4 is eight k's behind a0.
        (halves, Mnk::new(16, 8, 16), a, (6, 1), (1, 5)),
        (halves, Mnk::new(16, 8, 16), a, (6, 2), (9, 4)),
        (halves, Mnk::new(16, 8, 16), a, (6, 5), (1, 13)),
        (halves, Mnk::new(16, 8, 16), b, (6, 3), (1, 13)),
        ((Tf32, F32), Mnk::new(16, 8, 8), a, (7, 3), (9, 7)),
        // m16n8k32 of s8: four along K.
        (bytes, Mnk::new(16, 8, 32), a, (9, 6), (10, 6)),
        (bytes, Mnk::new(16, 8, 32), a, (9, 9), (2, 21)),
        (bytes, Mnk::new(16, 8, 32), b, (9, 7), (2, 23)),
        (bytes, Mnk::new(8, 8, 16), a, (9, 3), (2, 7)),
    ] {
        let one = WarpInstruction::of([input; 2], accumulator, shape).expect("an instruction");
        let offset = one.operand_map(operand).at(at(lane, element)).expect("an element");
        assert_eq!((offset / shape.k, offset % shape.k), wanted, "{} lane {lane} element {element}", one.mnemonic());
    }
}

/// A description with each of some instructions, of both orders of both operands.
fn each_instruction() -> Vec<GemmDesc> {
    let mut found = Vec::new();
    for one in WarpInstruction::all() {
        let [a, b] = OperandKind::BOTH.map(|operand| one.input(operand));
        let c = if one.accumulator() == I32 {
            I32
        } else if a == F64 {
            F64
        } else {
            F32
        };
        let c = if one.accumulator() == F16 { F16 } else { c };
        let types = Combined { a, b, accumulator: one.accumulator(), c };
        let arch = ArchKind::newest_of(one.sm()).expect("a tag");
        for orders in [[Order::Row, Order::Col], [Order::Col, Order::Row]] {
            if !types.is_of(OpKind::TensorOp) {
                continue;
            }
            let k = 2 * one.shape().k;
            let family = default_gemm_configurations(
                OpKind::TensorOp,
                ArchKind::Sm80,
                Combined { a: F16, b: F16, accumulator: F32, c: F16 },
            );
            let desc =
                GemmDesc::of_values(OpKind::TensorOp, arch, types, [orders[0], orders[1], Order::Row], family.expect("a row")[0]);
            let (stages, mainloop) = if arch == ArchKind::Sm75 {
                (2, falchion::threadblock::MainloopKind::Pipelined)
            } else {
                (3, falchion::threadblock::MainloopKind::Multistage)
            };
            let pins = Pins {
                threadblock: Some(Mnk::new(64, 64, k)),
                warp: Some(Mnk::new(32, 32, k)),
                instruction: Some(one.shape()),
                align_a: Some(a.elements_in(16).min(if orders[0].is_row() { k } else { 64 })),
                align_b: Some(b.elements_in(16).min(if orders[1].is_row() { 64 } else { k })),
                stages: Some(stages),
                mainloop: Some(mainloop),
                ..Pins::NONE
            };
            found.push(desc.pinned(pins));
        }
    }
    found
}

/// What a lane receives by ldmatrix are the words that its instruction takes: the composition over all lanes is the fragment map.
#[test]
fn ldmatrix_brings_what_an_instruction_takes() {
    let mut by_matrices = 0;
    for desc in each_instruction() {
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        let base = desc.one_schedule().expect("one schedule").base;
        for operand in OperandKind::BOTH {
            let (fragment, facts) = (base.fragment(operand).expect("warps multiply"), base.operand(operand));
            let Some(loads) = base.matrix_loads(operand) else {
                assert_eq!(WordLoad::of(facts.element, facts.smem.along), WordLoad::Elements);
                assert!(facts.element == F64 || facts.smem.along == Along::Mn && facts.element.bits() != 16);
                continue;
            };
            by_matrices += 1;
            let per_word = base.instruction.expect("an instruction").per_word();
            for Coord { row: thread, column: element } in points(&fragment) {
                let word = (element / per_word, element % per_word);
                let (lane, within) = loads.source(thread, word);
                let (mn, k) = loads.row(lane, word.0 / 4).expect("the lane says a row");
                let found = if loads.transposed() { (mn + within, k) } else { (mn, k + within) };
                assert_eq!(found, fragment.coordinate(thread, word), "{} of thread {thread} of {desc:?}", operand.name());
            }
        }
    }
    assert!(by_matrices >= 40, "{by_matrices}");
}

/// Neither copies nor loads of a kernel have conflicts, and without the swizzle of shared memory loads have some.
#[test]
fn shared_memory_is_free_of_conflicts_and_would_not_be_without_its_swizzle() {
    let mut wide = 0;
    let mut descs = each_instruction();
    for arch in descriptions::mma_sync::ARCHS {
        for types in falchion::desc::TENSOR_OP_COMBINATIONS {
            let Ok(families) = default_gemm_configurations(OpKind::TensorOp, arch, *types) else { continue };
            for &family in families.iter().filter(|family| matches!(family, FamilyDesc::MmaSync(_))) {
                for orders in [[Order::Row, Order::Col, Order::Row], [Order::Col, Order::Row, Order::Row]] {
                    descs.push(GemmDesc::of_values(OpKind::TensorOp, arch, *types, orders, family));
                }
            }
        }
    }
    // Bytes along MN leave no registers for the largest tile.
    descs.retain(|desc| !matches!(desc.check(), Err(Refusal::Registers { .. }) if desc.class.a.element.bits() == 8));
    for desc in &descs {
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        for step in of_desc(desc).expect("a kernel") {
            let found = wavefronts(&step.worst);
            // Rows of bytes along MN that are shorter than 64 are two or four to a wavefront's banks.
            let bytes = desc.class.a.element.bits() == 8 && step.purpose == Purpose::Load && desc.class.a.layout == Order::Col;
            assert!(bytes || found.wavefronts == found.ideal, "{:?} {:?} {found:?} of {desc:?}", step.purpose, step.operand);
        }
        let mut program = desc.one_schedule().expect("one schedule");
        if program.base.operands.iter().any(|operand| operand.smem.bits > 0) && desc.class.a.element.bits() > 8 {
            for (side, operand) in program.base.operands.iter_mut().enumerate() {
                operand.smem.bits = 0;
                program.maps.smem[side] = std::sync::Arc::new(operand.smem);
            }
            let steps = of_program(&program).expect("a kernel");
            let conflicts = steps.iter().any(|step| wavefronts(&step.worst).wavefronts > wavefronts(&step.worst).ideal);
            assert!(conflicts, "without a swizzle there are none: {desc:?}");
            wide += 1;
        }
    }
    assert!(wide >= 60, "{wide}");
}

/// A swizzle keeps 16 bytes whole, whatever the row.
#[test]
fn swizzles_keep_vectors_whole() {
    for element in [F64, Tf32, F16, I8] {
        for along in [Along::K, Along::Mn] {
            for row in (8..=512).step_by(8) {
                match WordLoad::of(element, along).layout(element, along, row) {
                    SmemLayout::Swizzled { bits, base, .. } => {
                        assert!(
                            1 << base >= element.elements_in(16) && row.is_multiple_of(1 << (bits + base)),
                            "{element} {row}"
                        );
                    }
                    SmemLayout::Padded { padding, .. } => assert_eq!(padding, 0),
                    SmemLayout::Auto => panic!("{element} {row}"),
                }
            }
        }
    }
}

/// Every description that checks has maps under law.
#[test]
fn maps_of_random_descriptions_are_under_law() {
    for seed in 0..60 {
        let desc = description(seed, Wanted { family: Family::MmaSync, ..Wanted::default() });
        let program = desc.one_schedule().expect("one schedule");
        for (name, map) in program.mirrored() {
            let out = points(map.as_ref()).filter_map(|point| map.at(point)).find(|&offset| offset >= map.codomain());
            assert_eq!(out, None, "{name} of {desc:?}");
        }
        assert_eq!(bijective(program.maps.accumulator.as_ref()), Ok(()), "{desc:?}");
        for operand in OperandKind::BOTH {
            let fragment = program.base.fragment(operand).expect("warps multiply");
            let layout = fragment.layout().expect("a fragment is affine");
            for point in points(&fragment).step_by(7) {
                let offset = layout.offset([u64::from(point.row), u64::from(point.column)]).ok();
                assert_eq!(offset, fragment.at(point).map(u64::from), "{} of {desc:?}", operand.name());
            }
        }
    }
}

fn refused(arch: ArchKind, (ab, accumulator, c): (ElementKind, ElementKind, ElementKind), knobs: &[(&str, &str)]) -> String {
    let of = |element, order| Some(MatrixType { element, order });
    let request = Request {
        a: of(ab, Order::Row),
        b: of(ab, Order::Col),
        c: of(c, Order::Row),
        accumulator: Some(accumulator),
        op: Some(OpKind::TensorOp),
        arch: Some(arch),
        description: None,
        knobs: knobs.iter().map(|(knob, words)| ((*knob).to_owned(), (*words).to_owned())).collect(),
    };
    match request.resolve(arch) {
        Ok(resolved) => panic!("{:?}", resolved.desc),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_an_architecture_does_not_have_is_refused_with_what_it_has() {
    let (f64s, halves) = ((F64, F64, F64), (F16, F32, F16));
    for (arch, types, knobs, wanted) in [
        (ArchKind::Sm80, f64s, &[("instruction", "16x8x8")][..], "instruction M = 16 is not one of 8; try 8"),
        (ArchKind::Sm90, f64s, &[("instruction", "16x16x8")], "instruction N = 16 is not one of 8; try 8"),
        (ArchKind::Sm90, f64s, &[("instruction", "16x8x12")], "instruction K = 12 is not one of 16, 8, 4; try 16"),
        (ArchKind::Sm75, halves, &[("instruction", "16x8x16")], "instruction K = 16 is not one of 8; try 8"),
        (ArchKind::Sm75, halves, &[("stages", "3")], "stages = 3, and the pipelined main loop has 2"),
        (ArchKind::Sm75, halves, &[("mainloop", "multistage")], "which sm75 cannot"),
        (ArchKind::Sm80, halves, &[("mainloop", "multistage"), ("align_a", "1")], "try alignment 2"),
        (ArchKind::Sm80, halves, &[("align_b", "3")], "alignment of B = 3 is not one of 1, 2, 4, 8"),
        (ArchKind::Sm80, halves, &[("warp", "40x64x32")], "warp M = 40 is not a multiple of 16; try 48"),
        (ArchKind::Sm80, halves, &[("warp", "64x144x32")], "warp N = 144 is out of range (8 to 128)"),
        (
            ArchKind::Sm80,
            halves,
            &[("warp", "64x64x8"), ("instruction", "16x8x16")],
            "warp K = 8 is not a multiple of 16; try 16",
        ),
        (ArchKind::Sm86, halves, &[("stages", "9"), ("threadblock", "128x128x32")], "bytes of shared memory"),
        (ArchKind::Sm75, (E4m3, F32, F16), &[], "is unsupported; try sm"),
    ] {
        let sentence = refused(arch, types, knobs);
        assert!(sentence.contains(wanted), "{arch} {types:?} {knobs:?}: {sentence}");
    }
}

/// What tensor cores multiply has a kernel in every order of A, B and D.
#[test]
fn every_order_of_what_has_an_instruction_is_a_kernel() {
    let mut kernels = 0;
    for arch in descriptions::mma_sync::ARCHS {
        for &types in falchion::desc::TENSOR_OP_COMBINATIONS {
            if default_gemm_configurations(OpKind::TensorOp, arch, types).is_err() {
                continue;
            }
            for bits in 0..8 {
                let of = |element, bit: u32| {
                    Some(MatrixType { element, order: if bits >> bit & 1 == 1 { Order::Col } else { Order::Row } })
                };
                let (a, b, c) = (of(types.a, 0), of(types.b, 1), of(types.c, 2));
                let request =
                    Request { a, b, c, accumulator: Some(types.accumulator), op: Some(OpKind::TensorOp), ..Request::default() };
                request.resolve(arch).unwrap_or_else(|error| panic!("{arch} {types:?} {bits}: {error}"));
                kernels += 1;
            }
        }
    }
    assert!(kernels >= 600, "{kernels}");
}

/// Whole sums that become other types are this family's on Hopper, too, and no other's.
#[test]
fn whole_sums_become_narrow_types_by_this_family_alone() {
    for (ab, c) in [(I8, I8), (I8, F16), (I8, F32), (U8, U8)] {
        let types = Combined { a: ab, b: ab, accumulator: I32, c };
        for arch in descriptions::mma_sync::ARCHS {
            let families =
                default_gemm_configurations(OpKind::TensorOp, arch, types).unwrap_or_else(|refusal| panic!("{arch}: {refusal}"));
            assert!(families.iter().all(|family| matches!(family, FamilyDesc::MmaSync(_))), "{arch} {types:?}");
        }
        let sums = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm90, Combined { c: I32, ..types }).expect("a row");
        let orders = [Order::Row, Order::Col, Order::Row];
        let refusal =
            GemmDesc::of_values(OpKind::TensorOp, ArchKind::Sm90, types, orders, sums[0]).check().expect_err("not stored by TMA");
        let sentence = refusal.to_string();
        assert!(sentence.contains("multistage"), "{sentence}");
        let sentence = refused(ArchKind::Sm90, (ab, I32, c), &[("mainloop", "warpspecialized")]);
        assert!(sentence.contains("warpspecialized") && sentence.contains("multistage"), "{sentence}");
    }
}

/// Along an operand that lies along M or N a warp's tile is a power of two; along rows of shared memory it is a multiple of 16.
#[test]
fn warps_have_tiles_of_48_rows_where_rows_lie_along_k() {
    let types = Combined { a: F16, b: F16, accumulator: F32, c: F16 };
    let family = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm80, types).expect("a row")[1];
    let of = |a, b, block, warp| {
        let desc = GemmDesc::of_values(OpKind::TensorOp, ArchKind::Sm80, types, [a, b, Order::Row], family);
        desc.pinned(Pins { threadblock: Some(block), warp: Some(warp), ..Pins::NONE })
            .check()
            .map_err(|refusal| refusal.to_string())
    };
    let (row, col) = (Order::Row, Order::Col);
    for (block, warp) in [((96, 128), (48, 64)), ((128, 96), (64, 48)), ((192, 96), (96, 48)), ((112, 80), (112, 16))] {
        let [block, warp] = [block, warp].map(|(m, n)| Mnk::new(m, n, 32));
        assert_eq!(of(row, col, block, warp), Ok(()));
        let refused = of(col, row, block, warp).expect_err("operands lie along M and N");
        assert!(refused.starts_with("warp ") && refused.contains("is not one of 8, 16, 32, 64, 128; try "), "{refused}");
    }
}

/// On Hopper 16-bit products are warp-specialized, and an instruction or a main loop that is pinned reaches this family.
#[test]
fn pins_reach_the_family_on_hopper() {
    let types = Combined { a: Bf16, b: Bf16, accumulator: F32, c: Bf16 };
    assert_eq!(instructions(types, ArchKind::Sm90).len(), 2);
    let resolved = |knobs: &[(&str, &str)]| {
        let of = |element, order| Some(MatrixType { element, order });
        let request = Request {
            a: of(Bf16, Order::Row),
            b: of(Bf16, Order::Col),
            c: of(Bf16, Order::Row),
            op: Some(OpKind::TensorOp),
            knobs: knobs.iter().map(|(knob, words)| ((*knob).to_owned(), (*words).to_owned())).collect(),
            ..Request::default()
        };
        request.resolve(ArchKind::Sm90).expect("a kernel").desc.family
    };
    assert!(matches!(resolved(&[]), FamilyDesc::WarpSpecialized(_)));
    assert!(matches!(resolved(&[("instruction", "64x128x16")]), FamilyDesc::WarpSpecialized(_)));
    for knobs in
        [[("instruction", "16x8x16")], [("instruction", "16x8x8")], [("mainloop", "multistage")], [("mainloop", "pipelined")]]
    {
        assert!(matches!(resolved(&knobs), FamilyDesc::MmaSync(_)), "{knobs:?}");
    }
}
