//! Laws of `mma.sync`: its fragments, conflict-free loads from shared memory, and refusals.

pub(super) mod kernels;
mod simt;
mod wgmma_ring;

use crate::harness::{descriptions, prelude::*};
use falchion::{
    internals::index::laws::bijective,
    numeric::ElementKind::{Bf16, F16, Tf32, *},
    warp::mma_sync::{MathOperator, WordLoad},
};
use falchion_check::machine::Purpose;
use falchion_lab::banks::{description_steps, program_steps};

#[test]
fn the_table_has_every_instruction() {
    let (all, emulating): (Vec<_>, Vec<_>) =
        WarpInstruction::all().partition(|one| one.math() == MathOperator::MultiplyAdd);
    let emulated: Vec<_> = emulating
        .iter()
        .map(|one| (one.math().emulation(), one.shape().k, one.mnemonic()))
        .collect();
    let named = |emulation, k: u32, term| {
        (emulation, k, format!("mma.sync.aligned.m16n8k{k}.row.col.f32.{term}.{term}.f32"))
    };
    let (tf32, bf16) =
        (|k| named(EmulationKind::Tf32x3, k, "tf32"), |k| named(EmulationKind::Bf16x1, k, "bf16"));
    assert_eq!(emulated, [tf32(8), tf32(4), bf16(16), bf16(8)]);
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

/// Each element of an operand is held exactly once.
#[test]
fn fragments_are_bijections() {
    for one in WarpInstruction::all() {
        for operand in OperandKind::BOTH {
            let elements = one.words(operand) * one.per_word();
            let held: BTreeSet<_> = (0..WARP)
                .flat_map(|lane| (0..elements).map(move |element| (lane, element)))
                .map(|(lane, element)| {
                    one.coordinate(
                        operand,
                        lane,
                        (element / one.per_word(), element % one.per_word()),
                    )
                })
                .collect();
            assert!(
                held.into_iter().eq((0..one.extent(operand))
                    .flat_map(|mn| (0..one.shape().k).map(move |k| (mn, k)))),
                "{} of {}",
                operand.name(),
                one.mnemonic()
            );
            assert_eq!(WARP * elements, one.extent(operand) * one.shape().k);
        }
    }
}

/// Two f32 numbers that round to one bf16 word belong to one row of the instruction's operand. The
/// instruction's k are permuted equally for A and B, and stay within the eight k that are added at
/// once.
#[test]
fn rounded_pairs_have_the_same_k_in_both_operands() {
    let mut found = 0;
    for one in WarpInstruction::all().filter(|one| one.math().emulation() == EmulationKind::Bf16x1)
    {
        let bf16 = WarpInstruction::new(MathOperator::MultiplyAdd, [Bf16; 2], F32, one.shape())
            .expect("an instruction for bf16");
        let mut order = vec![None; one.shape().k as usize];
        for operand in OperandKind::BOTH {
            assert_eq!(one.taken_words(operand), bf16.words(operand));
            for lane in 0..32 {
                for (w, j) in (0..bf16.words(operand)).flat_map(|w| [(w, 0), (w, 1)]) {
                    let (mn, k) = bf16.coordinate(operand, lane, (w, j));
                    let (of, from) =
                        one.coordinate(operand, lane, (one.paired(operand, (w, j)), 0));
                    assert_eq!((mn, k / 8), (of, from / 8));
                    assert_eq!(
                        *order[k as usize].get_or_insert(from),
                        from,
                        "{} of {}",
                        operand.name(),
                        one.mnemonic()
                    );
                    found += 1;
                }
            }
        }
        let sources: BTreeSet<_> = order.into_iter().collect();
        assert_eq!(sources.len(), one.shape().k as usize);
    }
    assert_eq!(found, 16 * 16 + 16 * 8 + 8 * 16 + 8 * 8);
}

/// Rows of PTX's tables: (input types, shape, operand, lane, element) to (row or column, k).
#[test]
fn fragments_equal_the_tables_of_ptx() {
    let (a, b) = (OperandKind::A, OperandKind::B);
    let (f64s, halves, bytes) = ((F64, F64), (F16, F32), (I8, I32));
    for ((input, accumulator), shape, operand, (lane, element), wanted) in [
        // m16n8k8 of f64: a1 is eight rows below a0, and a2 is four k after it.
        (f64s, Mnk::new(16, 8, 8), a, (5, 0), (1, 1)),
        (f64s, Mnk::new(16, 8, 8), a, (5, 1), (9, 1)),
        (f64s, Mnk::new(16, 8, 8), a, (5, 2), (1, 5)),
        (f64s, Mnk::new(16, 8, 8), b, (5, 1), (1, 5)),
        (f64s, Mnk::new(16, 8, 16), a, (31, 7), (15, 15)),
        (f64s, Mnk::new(8, 8, 4), b, (30, 0), (7, 2)),
        // m16n8k16 of f16: pairs along K. a4 is eight k after a0.
        (halves, Mnk::new(16, 8, 16), a, (6, 1), (1, 5)),
        (halves, Mnk::new(16, 8, 16), a, (6, 2), (9, 4)),
        (halves, Mnk::new(16, 8, 16), a, (6, 5), (1, 13)),
        (halves, Mnk::new(16, 8, 16), b, (6, 3), (1, 13)),
        ((Tf32, F32), Mnk::new(16, 8, 8), a, (7, 3), (9, 7)),
        // m16n8k32 of s8: four elements along K.
        (bytes, Mnk::new(16, 8, 32), a, (9, 6), (10, 6)),
        (bytes, Mnk::new(16, 8, 32), a, (9, 9), (2, 21)),
        (bytes, Mnk::new(16, 8, 32), b, (9, 7), (2, 23)),
        (bytes, Mnk::new(8, 8, 16), a, (9, 3), (2, 7)),
    ] {
        let one = WarpInstruction::new(MathOperator::MultiplyAdd, [input; 2], accumulator, shape)
            .expect("an instruction");
        assert_eq!(
            one.coordinate(operand, lane, (element / one.per_word(), element % one.per_word())),
            wanted,
            "{} lane {lane} element {element}",
            one.mnemonic()
        );
    }
}

/// Returns whether a description is refused because of its registers per thread.
fn needs_registers(desc: &GemmDesc) -> bool {
    desc.check().is_err_and(|refusal| refusal.field == Field::RegistersPerThread)
}

/// Returns descriptions with some instructions, for all orders of both operands.
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
            let knobs = default_gemm_configurations(
                OpKind::TensorOp,
                ArchKind::Sm80,
                element_types(F16, F32, F16),
            );
            let desc = GemmDesc::from_values(
                OpKind::TensorOp,
                arch,
                types,
                [orders[0], orders[1], Order::Row],
                knobs.expect("a row")[0],
            );
            let (stages, mainloop) = match arch {
                // The single-stage main loop does not feed `mma.sync`.
                ArchKind::Sm75 if THROUGH_REGISTERS[0].fixed_stages() == Some(1) => continue,
                ArchKind::Sm75 => (2, THROUGH_REGISTERS[0]),
                _ => (3, MULTISTAGE_OR_OTHER[0]),
            };
            let with_rows = |rows| {
                desc.pinned(Pins {
                    threadblock: Some(Mnk::new(2 * rows, 64, k)),
                    warp: Some(Mnk::new(rows, 32, k)),
                    instruction: Some(one.shape()),
                    emulation: Some(one.math().emulation()),
                    align_a: Some(a.elements_in(16).min(if orders[0].is_row() { k } else { 64 })),
                    align_b: Some(b.elements_in(16).min(if orders[1].is_row() { 64 } else { k })),
                    stages: Some(stages),
                    mainloop: Some(mainloop),
                    ..Pins::NONE
                })
            };
            // Some copies through registers leave registers for half of the tile.
            let half = !mainloop.copies_asynchronously() && needs_registers(&with_rows(32));
            found.push(with_rows(if half { 16 } else { 32 }));
        }
    }
    found
}

/// `ldmatrix` gives each lane the words that its instruction reads: composed over all lanes, it is
/// the fragment map.
#[test]
fn ldmatrix_loads_the_fragments_of_the_instruction() {
    let mut by_matrices = 0;
    for desc in each_instruction() {
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        let base = desc.one_schedule().expect("one schedule").base;
        for operand in OperandKind::BOTH {
            let (fragment, facts) =
                (base.fragment(operand).expect("warps multiply"), base.operand(operand));
            let Some(loads) = base.matrix_loads(operand) else {
                assert_eq!(
                    WordLoad::for_element(facts.element, facts.smem.along),
                    WordLoad::Elements
                );
                assert!(
                    facts.element == F64
                        || facts.smem.along == Along::Mn && facts.element.bits() != 16
                );
                continue;
            };
            by_matrices += 1;
            let per_word = base.instruction().expect("an instruction").per_word();
            for Coord { row: thread, column: element } in points(&fragment) {
                let word = (element / per_word, element % per_word);
                let (lane, within) = loads.source(thread, word);
                let (mn, k) =
                    loads.row(lane, word.0 / 4).expect("the lane gives the address of a row");
                let found = if loads.transposed() { (mn + within, k) } else { (mn, k + within) };
                assert_eq!(
                    found,
                    fragment.coordinate(thread, word),
                    "{} of thread {thread} of {desc:?}",
                    operand.name()
                );
            }
        }
    }
    assert!(by_matrices >= 40, "{by_matrices}");
}

/// Copies and loads of a kernel have no bank conflicts. Without the swizzle of shared memory, loads
/// have conflicts.
#[test]
fn shared_memory_has_conflicts_only_without_its_swizzle() {
    let mut wide = 0;
    let mut descs = each_instruction();
    for arch in descriptions::ARCHS {
        for types in falchion::nest::TENSOR_OP_COMBINATIONS {
            let Ok(all) = default_gemm_configurations(OpKind::TensorOp, arch, *types) else {
                continue;
            };
            for &knobs in all.iter().filter(|knobs| knobs.mma.kind() == WarpMmaKind::MmaSync) {
                for orders in
                    [[Order::Row, Order::Col, Order::Row], [Order::Col, Order::Row, Order::Row]]
                {
                    descs.push(GemmDesc::from_values(
                        OpKind::TensorOp,
                        arch,
                        *types,
                        orders,
                        knobs,
                    ));
                }
            }
        }
    }
    // 8-bit types along MN and copies through registers leave no registers for the largest tile.
    descs.retain(|desc| {
        let asynchronous = MULTISTAGE_OR_OTHER[0].copies_asynchronously();
        desc.operands[0].stored.bits() > 8 && asynchronous || !needs_registers(desc)
    });
    for desc in &descs {
        assert_eq!(desc.check(), Ok(()), "{desc:?}");
        for step in description_steps(desc).expect("a kernel") {
            let found = wavefronts(&step.worst);
            // Two or four MN-major rows of fewer than 64 8-bit elements fit into the banks of one
            // wavefront.
            let bytes = desc.operands[0].stored.bits() == 8
                && step.purpose == Purpose::Load
                && desc.operands[0].layout == Order::Col;
            assert!(
                bytes || found.wavefronts == found.ideal,
                "{:?} {:?} {found:?} of {desc:?}",
                step.purpose,
                step.operand
            );
        }
        let mut program = desc.one_schedule().expect("one schedule");
        if program.base.operands.iter().any(|operand| operand.smem.bits > 0)
            && desc.operands[0].stored.bits() > 8
        {
            for (side, operand) in program.base.operands.iter_mut().enumerate() {
                operand.smem.bits = 0;
                program.maps.smem[side] = std::sync::Arc::new(operand.smem);
            }
            let steps = program_steps(&program).expect("a kernel");
            let conflicts = steps
                .iter()
                .any(|step| wavefronts(&step.worst).wavefronts > wavefronts(&step.worst).ideal);
            assert!(conflicts, "without a swizzle there are none: {desc:?}");
            wide += 1;
        }
    }
    assert!(wide >= 60, "{wide}");
}

/// A swizzle keeps each 16 bytes contiguous in every row.
#[test]
fn swizzles_keep_vectors_whole() {
    for element in [F64, Tf32, F16, I8] {
        for along in [Along::K, Along::Mn] {
            for row in (8..=512).step_by(8) {
                match WordLoad::for_element(element, along).layout(element, along, row) {
                    SmemLayout::Swizzled { bits, base, .. } => {
                        assert!(
                            1 << base >= element.elements_in(16)
                                && row.is_multiple_of(1 << (bits + base)),
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

/// The maps of every valid description satisfy the laws.
#[test]
fn maps_of_random_descriptions_satisfy_the_laws() {
    for seed in 0..60 {
        let desc =
            description(seed, Wanted { kernel_kind: KernelKind::MmaSync, ..Wanted::default() });
        let program = desc.one_schedule().expect("one schedule");
        for (name, _, map) in program.mirrored() {
            let out = points(map.as_ref())
                .filter_map(|point| map.at(point))
                .find(|&offset| offset >= map.codomain());
            assert_eq!(out, None, "{name} of {desc:?}");
        }
        assert_eq!(bijective(program.maps.accumulator.as_ref()), Ok(()), "{desc:?}");
        for operand in OperandKind::BOTH {
            let fragment = program.base.fragment(operand).expect("warps multiply");
            let layout = fragment.layout().expect("a fragment is affine");
            for point in points(&fragment).step_by(7) {
                let offset = layout.offset([u64::from(point.row), u64::from(point.column)]).ok();
                assert_eq!(
                    offset,
                    fragment.at(point).map(u64::from),
                    "{} of {desc:?}",
                    operand.name()
                );
            }
        }
    }
}
