//! Every access to shared memory of warp-specialized kernels' threads, at counts that are derived
//! here: bytes over 128 a wavefront, and what swizzles do to 8-byte accesses.

use crate::harness::{
    descriptions::{Family, Wanted, description, threads::plain},
    random_cases::cases as config,
};
use falchion::{
    arch::{ArchKind, OpKind},
    internals::{
        nest::defaults::default_description, operand::OperandKind, schedule::ScheduleKind,
    },
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

/// The default kernel of tensor cores for such elements.
fn tensor_op(
    ab: ElementKind,
    accumulator: ElementKind,
    c: ElementKind,
    orders: [Order; 3],
) -> GemmDesc {
    let types = Combined { a: ab, b: ab, accumulator, c };
    default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders).expect("a row")
}

/// A tile of 128 x 128 by two consumers of 64 rows.
fn tile_of_128(desc: GemmDesc) -> GemmDesc {
    let Mnk { k, .. } = desc.threadblock();
    let instruction = Mnk { n: 128, ..desc.instruction() };
    let schedule = ScheduleKind::Cooperative;
    let (threadblock, warp) = (Mnk::new(128, 128, k), Mnk::new(64, 128, k));
    let desc = desc.with(Pins { schedule: Some(schedule), ..Pins::NONE });
    but!(desc, threadblock: threadblock, warp: warp, instruction: instruction, stages: 4).expect()
}

/// (purpose, matrix, bytes a lane, accesses, wavefronts, ideal) of each step.
fn counted(desc: &GemmDesc) -> Vec<(Purpose, Option<Operand>, u32, u64, u64, u64)> {
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

/// Of 16 bits: `stmatrix.x4` stores 32 rows of 16 bytes, eight of which are on different chunks of
/// the swizzle: 512 bytes in 4 wavefronts. A tile of D has 128 x 128 x 2 = 32768 bytes: 64 stores,
/// 256 wavefronts; C comes by as many `ldmatrix.x4`.
#[test]
fn subtiles_of_16_bits_are_free_of_conflicts() {
    let desc = tile_of_128(tensor_op(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16, ROWS));
    assert_eq!(
        counted(&desc),
        [
            (Purpose::EpilogueStore, D, 16, 64, 256, 256),
            (Purpose::EpilogueLoad, C, 16, 64, 256, 256)
        ]
    );
}

/// Of 32 bits: a lane stores 8 bytes, 4 lanes 32 bytes of one row, which are two chunks. A phase is
/// half a warp, rows r to r + 3 of even r: chunks c and c + 1 of even c, xor-ed with r, are the
/// same two for each pair of rows. So a phase has each bank twice: two wavefronts, where one would
/// do. 65536 bytes of D are 256 stores of 256 bytes: 512 wavefronts at least, 1024 taken.
#[test]
fn subtiles_of_32_bits_collide_where_rows_are_neighbours() {
    let desc = tile_of_128(tensor_op(ElementKind::I8, ElementKind::I32, ElementKind::I32, ROWS));
    assert_eq!(
        counted(&desc),
        [
            (Purpose::EpilogueStore, D, 8, 256, 1024, 512),
            (Purpose::EpilogueLoad, C, 8, 256, 1024, 512)
        ]
    );
}

/// A from registers, of 32 bits: two rows of a thread are neighbours, so those of a phase are 0, 2,
/// 4, 6 or 8, 10, 12, 14 of a warp: chunks c and c + 1, xor-ed with even numbers, are eight chunks,
/// and stores are free of conflicts. Loads of A: 128 rows x 32 k x 4 bytes = 16384, 8 bytes a lane:
/// 64 accesses, 128 wavefronts.
#[test]
fn a_of_32_bits_from_registers_is_free_of_conflicts() {
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

/// A from registers, of 8 bits: 128 x 128 bytes by `ldmatrix.x4.trans` of 512: 32 accesses, 128
/// wavefronts. Rows are crossed, and `stmatrix` is free of conflicts, too.
#[test]
fn a_of_8_bits_from_registers_is_free_of_conflicts() {
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

/// Where D is not aligned for TMA threads read the slice that they store, and C in global memory:
/// of 16 bits one element at a time, 64 bytes a warp: 32768 / 64 = 512 accesses of one wavefront.
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

/// `f32` over TMA, 256 x 128 x 16 by warps of 64 x 64 and threads of 16 x 8: 8 warps read 16 k's, A
/// by 4 accesses and B by 2: 512 and 256. Lanes (i, i^2) read the same of A and (i, i^1) the same
/// of B, so that an access is two phases, and each has at most 64 bytes: two wavefronts.
#[test]
fn fragments_of_f32_take_two_wavefronts() {
    let desc =
        plain([Order::Col, Order::Row, Order::Row], (256, 128, 16), (64, 64), (16, 8)).expect();
    let b = Some(Operand::B);
    assert_eq!(
        counted(&desc),
        [(Purpose::Load, A, 16, 512, 1024, 1024), (Purpose::Load, b, 16, 256, 512, 512)]
    );
    assert!(
        without_threads(&desc)[2]
            .starts_with("C and D: threads read and write them in global memory")
    );
}

/// Bytes that steps of a purpose and a matrix touch, lanes that are off included.
fn bytes(steps: &[SharedStep], purpose: Purpose, of: Operand) -> u64 {
    let mine = steps.iter().filter(|step| (step.purpose, step.operand) == (purpose, Some(of)));
    mine.map(|step| step.accesses * 32 * u64::from(step.worst.bytes())).sum()
}

proptest! {
    #![proptest_config(config(96))]

    /// Whatever the kernel: each element of D is staged once, each of C loaded once where it comes
    /// by TMA, each of D once where threads store it, and A is loaded once by each column of
    /// consumers.
    #[test]
    fn every_element_is_accessed_once(seed in any::<u64>()) {
        let desc = description(seed, Wanted { family: Family::WarpSpecialized, ..Wanted::default() });
        let (components, steps) = (desc.components().expect("a kernel"), description_steps(&desc).expect("steps"));
        let (Mnk { m, n, .. }, d) = (desc.threadblock(), desc);
        let of_d = u64::from(d.multiplied().output.element.bytes_of(m * n));
        // Matrices of an octet of columns that is alone leave half of the lanes off.
        let by_columns = components.layout_c == Order::Col && components.fragment_load().is_none();
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
        let loaded = components.fragment_load().map_or(0, |load| load.tile.bytes() * components.consumers.n);
        prop_assert_eq!(bytes(&steps, Purpose::Load, Operand::from_kind(a)), u64::from(loaded));
        // Loads of A are free of conflicts, whatever the kernel.
        prop_assert!(steps.iter().filter(|step| step.purpose == Purpose::Load).all(|step| step.conflicts() == 0));
        prop_assert_eq!(without_threads(&desc).len(), if components.ring.source || d.epilogue.has_source() { 4 } else { 3 });
    }
}
