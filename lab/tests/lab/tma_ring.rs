//! Shared-memory accesses of the threads of warp-specialized kernels. The expected counts are
//! derived here: bytes / 128 per wavefront, and the effect of swizzles on 8-byte accesses.

use crate::harness::{
    descriptions::{KernelKind, Wanted, description},
    random_cases::cases as config,
};
use falchion::{
    arch::{ArchKind, OpKind},
    internals::{nest::defaults::default_description, schedule::ScheduleKind, shape::OperandKind},
    layout::Order,
    nest::{AOperandKind, GemmDesc, Pins},
    numeric::{Combined, ElementKind},
    refusal::Operand,
    shape::Mnk,
};
use falchion_lab::{
    banks::{SharedStep, description_steps, without_threads},
    counters::Purpose,
};
use proptest::prelude::*;

const ROWS: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// Returns the default tensor-core kernel for these element types.
fn tensor_op(
    ab: ElementKind,
    accumulator: ElementKind,
    c: ElementKind,
    orders: [Order; 3],
) -> GemmDesc {
    let types = Combined { a: ab, b: ab, accumulator, c };
    default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders).expect("a row")
}

/// Returns the description with a 128 x 128 tile of two consumers with 64 rows each.
fn tile_of_128(desc: GemmDesc) -> GemmDesc {
    let Mnk { k, .. } = desc.threadblock();
    let instruction = Mnk { n: 128, ..desc.instruction() };
    let schedule = ScheduleKind::Cooperative;
    let (threadblock, warp) = (Mnk::new(128, 128, k), Mnk::new(64, 128, k));
    let desc = desc.with(Pins { schedule: Some(schedule), ..Pins::NONE });
    but!(desc, threadblock: threadblock, warp: warp, instruction: instruction, stages: 4).expect()
}

/// Returns (purpose, matrix, bytes per lane, accesses, wavefronts, ideal wavefronts) of each step.
pub(super) fn counted(desc: &GemmDesc) -> Vec<(Purpose, Option<Operand>, u32, u64, u64, u64)> {
    let row = |step: SharedStep| {
        (step.purpose, step.operand, step.worst.bytes(), step.accesses, step.wavefronts, step.ideal)
    };
    description_steps(desc)
        .unwrap_or_else(|error| panic!("{error}: {desc:?}"))
        .into_iter()
        .map(row)
        .collect()
}

const C: Option<Operand> = Some(Operand::C);
const D: Option<Operand> = Some(Operand::D);
const A: Option<Operand> = Some(Operand::A);

/// 16-bit types: `stmatrix.x4` stores 32 rows of 16 bytes, eight of which are in different chunks
/// of the swizzle. That is 512 bytes in 4 wavefronts. A tile of D has 128 x 128 x 2 = 32768 bytes:
/// 64 stores and 256 wavefronts. C needs as many `ldmatrix.x4`.
#[test]
fn subtiles_of_16_bits_have_no_conflicts() {
    let desc = tile_of_128(tensor_op(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16, ROWS));
    assert_eq!(
        counted(&desc),
        [
            (Purpose::EpilogueStore, D, 16, 64, 256, 256),
            (Purpose::EpilogueLoad, C, 16, 64, 256, 256)
        ]
    );
}

/// 32-bit types: a lane stores 8 bytes, and 4 lanes store 32 bytes of one row, which are two
/// chunks. A phase is half a warp, rows r to r + 3 for an even r. Chunks c and c + 1 with an even
/// c, XORed with r, are the same two chunks for each pair of rows. A phase therefore accesses each
/// bank twice, and takes two wavefronts instead of one. 65536 bytes of D are 256 stores of 256
/// bytes: at least 512 wavefronts, but 1024 are needed.
#[test]
fn subtiles_of_32_bits_have_conflicts_if_rows_are_adjacent() {
    let desc = tile_of_128(tensor_op(ElementKind::I8, ElementKind::I32, ElementKind::I32, ROWS));
    assert_eq!(
        counted(&desc),
        [
            (Purpose::EpilogueStore, D, 8, 256, 1024, 512),
            (Purpose::EpilogueLoad, C, 8, 256, 1024, 512)
        ]
    );
}

/// 32-bit A from registers: the two rows of a thread are adjacent, so the rows of a phase are 0, 2,
/// 4, 6 or 8, 10, 12, 14 of a warp. Chunks c and c + 1, XORed with even numbers, are eight chunks,
/// so stores have no conflicts. Loads of A: 128 rows x 32 k x 4 bytes = 16384, with 8 bytes per
/// lane: 64 accesses and 128 wavefronts.
#[test]
fn a_of_32_bits_from_registers_has_no_conflicts() {
    let desc = tensor_op(
        ElementKind::Tf32,
        ElementKind::F32,
        ElementKind::F32,
        [Order::Col, Order::Col, Order::Row],
    );
    let desc =
        tile_of_128(desc.with(Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE }));
    assert_eq!(
        counted(&desc),
        [
            (Purpose::Load, A, 8, 64, 128, 128),
            (Purpose::EpilogueStore, D, 8, 256, 512, 512),
            (Purpose::EpilogueLoad, C, 8, 256, 512, 512)
        ]
    );
}

/// 8-bit A from registers: 128 x 128 bytes by `ldmatrix.x4.trans` of 512 bytes: 32 accesses and 128
/// wavefronts. Rows are crossed, so `stmatrix` has no conflicts either.
#[test]
fn a_of_8_bits_from_registers_has_no_conflicts() {
    let desc = tensor_op(
        ElementKind::E4m3,
        ElementKind::F32,
        ElementKind::Bf16,
        [Order::Col, Order::Col, Order::Row],
    );
    let desc =
        tile_of_128(desc.with(Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE }));
    let d = [
        (Purpose::EpilogueStore, D, 16, 64, 256, 256),
        (Purpose::EpilogueLoad, C, 16, 64, 256, 256),
    ];
    assert_eq!(counted(&desc), [vec![(Purpose::Load, A, 16, 32, 128, 128)], d.to_vec()].concat());
    assert_eq!(
        without_threads(&desc)[..2],
        [
            "A: TMA writes its tile, and the loads of it to registers are counted",
            "B: TMA writes its tile, and wgmma reads it by matrix descriptors: no thread accesses it",
        ]
    );
}

/// If D is not aligned for TMA, threads read the slice that they store, and read C in global
/// memory. For 16-bit types they read one element at a time, 64 bytes per warp: 32768 / 64 = 512
/// accesses of one wavefront.
#[test]
fn threads_that_store_read_their_subtiles() {
    let desc = but!(tile_of_128(tensor_op(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16, ROWS)), align_c: 1);
    assert_eq!(
        counted(&desc),
        [
            (Purpose::EpilogueStore, D, 16, 64, 256, 256),
            (Purpose::EpilogueLoad, D, 2, 512, 512, 512)
        ]
    );
    let said = without_threads(&desc);
    assert_eq!(
        said[2..],
        [
            "C: threads read it in global memory",
            "D: threads store it from the staging buffers, and their loads are counted"
        ]
    );
}

/// Returns the bytes that the steps of a purpose and a matrix access, including inactive lanes.
fn bytes(steps: &[SharedStep], purpose: Purpose, of: Operand) -> u64 {
    let mine = steps.iter().filter(|step| (step.purpose, step.operand) == (purpose, Some(of)));
    mine.map(|step| step.accesses * 32 * u64::from(step.worst.bytes())).sum()
}

proptest! {
    #![proptest_config(config(96))]

    /// For every kernel: each element of D is staged once. Each element of C is loaded once if TMA
    /// fetches C, and each element of D once if threads store D. Each column of consumers loads A
    /// once.
    #[test]
    fn every_element_is_accessed_once(seed in any::<u64>()) {
        let desc = description(seed, Wanted { kernel_kind: KernelKind::WgmmaRing, ..Wanted::default() });
        let (components, steps) = (desc.components().expect("a kernel"), description_steps(&desc).expect("steps"));
        let (Mnk { m, n, .. }, d) = (desc.threadblock(), desc);
        let of_d = u64::from(d.multiplied().output.element.bytes_of(m * n));
        // A single group of 8 columns leaves half of the lanes of a matrix access inactive.
        let by_columns = components.layout_c == Order::Col && !desc.a_from_registers();
        let columns = components.subtile_columns;
        let lanes = if by_columns && d.output.element.bits() == 16 { columns.next_multiple_of(16) } else { columns };
        let staged = of_d / u64::from(columns) * u64::from(lanes);
        prop_assert_eq!(bytes(&steps, Purpose::EpilogueStore, Operand::D), staged);
        prop_assert_eq!(bytes(&steps, Purpose::EpilogueLoad, Operand::C), if components.ring.source { staged } else { 0 });
        let staging = |step: &&SharedStep| by_columns && (step.purpose == Purpose::EpilogueStore || step.operand == C);
        prop_assert!(steps.iter().filter(staging).all(|step| step.conflicts() == 0), "{:?}", steps);
        let stored = bytes(&steps, Purpose::EpilogueLoad, Operand::D);
        prop_assert_eq!(stored, if d.output.element.bytes_of(d.output.access) < 16 { of_d } else { 0 });
        let a = OperandKind::A.enter(desc.frame);
        let loaded = if desc.a_from_registers() { components.tile(OperandKind::A).bytes() * components.consumers.n } else { 0 };
        prop_assert_eq!(bytes(&steps, Purpose::Load, Operand::from_kind(a)), u64::from(loaded));
        // Loads of A have no conflicts in any kernel.
        prop_assert!(steps.iter().filter(|step| step.purpose == Purpose::Load).all(|step| step.conflicts() == 0));
        prop_assert_eq!(without_threads(&desc).len(), if components.ring.source || d.epilogue.has_source() { 4 } else { 3 });
    }
}
