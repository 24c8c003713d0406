//! Tests of the ring: the layout of its regions, the order of stages, and refusals.

use super::*;
use crate::layout::index_map::laws;

/// Ring for 128x256x64 tiles of bf16 in a cluster that shares B. Two consumers store subtiles of 64
/// x 64.
const WIDE: Pipeline = Pipeline {
    stages: 4,
    stage_bytes: [16 << 10, 32 << 10],
    consumers: 2,
    pingpong: false,
    multicast: Some(SharedOperand { operand: OperandKind::B, blocks: 2 }),
    gathered: [false; 2],
    slices: None,
    staging_buffers: 1,
    staging_bytes: 8 << 10,
    vector_bytes: 768,
    source: false,
};

/// Regions do not overlap, lie within the shared memory, and fill it.
#[test]
fn regions_tile_the_shared_memory() {
    for (stages, staging_buffers, consumers) in
        [(2, 1, 1), (3, 2, 2), (4, 1, 2), (7, 4, 3), (16, 3, 1), (6, 0, 2)]
    {
        let staging_bytes = if staging_buffers == 0 { 0 } else { WIDE.staging_bytes };
        // Every other ring has split-K slices within a cluster.
        let slices =
            (stages % 2 == 1).then_some(ClusterSlices { blocks: 1 + stages.min(7), bytes: 2048 });
        let multicast = if slices.is_some() { None } else { WIDE.multicast };
        let ring = Pipeline {
            stages,
            staging_buffers,
            staging_bytes,
            consumers,
            slices,
            multicast,
            ..WIDE
        };
        let mut pieces: Vec<(u32, u32)> = Region::ALL
            .into_iter()
            .flat_map(|region| {
                (0..)
                    .map_while(move |i| ring.byte(region, i))
                    .map(move |byte| (byte, ring.extent(region).1))
            })
            .collect();
        pieces.sort_unstable();
        let end =
            pieces.iter().try_fold(0, |end, (byte, bytes)| (*byte == end).then_some(byte + bytes));
        assert_eq!(end, Some(ring.shared_bytes()), "{ring:?}");
        assert_eq!(laws::injective(&PipelineLayout(ring)), Ok(()));
        let swizzled =
            [Region::Stage(OperandKind::A), Region::Stage(OperandKind::B), Region::Staging];
        let mut bytes =
            swizzled.into_iter().flat_map(|region| (0..).map_while(move |i| ring.byte(region, i)));
        assert!(bytes.all(|byte| byte % ALIGNMENT_BYTES == 0), "{ring:?}");
    }
}

/// Tile `t + 1` is one stage behind tile `t`; the phase changes at stage 0. The period is two
/// rounds.
#[test]
fn a_tile_follows_its_predecessor_around_the_ring() {
    for stages in 1..=MOST_STAGES {
        let of = |t| RingPosition { stages }.position(t);
        assert_eq!(of(0), (0, 0));
        for t in 0..u64::from(5 * stages) {
            let ((stage, phase), (next, then)) = (of(t), of(t + 1));
            assert_eq!(
                (next, then),
                if stage + 1 == stages { (0, 1 - phase) } else { (stage + 1, phase) }
            );
            assert_eq!(of(t + u64::from(2 * stages)), of(t));
        }
    }
}

/// `setmaxnreg` moves registers among the warpgroups of a block. A block has only the registers of
/// its launch.
#[test]
fn registers_of_the_roles_fit_in_the_launch() {
    for consumers in 1..=MOST_CONSUMERS {
        let ring = Pipeline { consumers, ..WIDE };
        for producer in (LEAST_REGISTERS..=ring.launch_registers()).step_by(8) {
            let of_consumers = ring.registers_beside(producer) * consumers;
            assert!(producer + of_consumers <= ring.launch_registers() * (consumers + 1));
        }
    }
}

#[test]
fn bytes_of_a_ring() {
    let available = 227 << 10;
    let (stages, per_consumer) = (WIDE.stages * (48 << 10), (8 << 10) + WIDE.vector_bytes);
    assert_eq!(WIDE.shared_bytes(), stages + 2 * per_consumer + WIDE.stages * 16);
    assert!(Pipeline { stages: 4, ..WIDE }.shared_bytes() <= available);
    assert!(Pipeline { stages: 5, ..WIDE }.shared_bytes() > available);
    assert_eq!(
        (WIDE.launch_registers(), [24, 40].map(|producer| WIDE.registers_beside(producer))),
        (168, [240, 232])
    );
    assert_eq!(Pipeline { consumers: 3, ..WIDE }.registers_beside(32), 160);
    assert_eq!((WIDE.expect_bytes(), WIDE.empty_arrivals()), (48 << 10, 16));
    assert_eq!(OperandKind::BOTH.map(|operand| WIDE.copy_bytes(operand)), [16 << 10, 16 << 10]);
}

#[test]
fn rings_that_are_none_are_refused_in_a_sentence() {
    let says = |ring: Pipeline| ring.check().expect_err("no ring").sentence().as_str().to_owned();
    let multicast = |blocks| Some(SharedOperand { operand: OperandKind::B, blocks });
    assert_eq!(WIDE.check(), Ok(()));
    for (ring, sentence) in [
        (Pipeline { stages: 1, ..WIDE }, "stages = 1 is outside 2 to 16; try 2"),
        (Pipeline { stages: 17, ..WIDE }, "stages = 17 is outside 2 to 16; try 16"),
        (Pipeline { consumers: 0, ..WIDE }, "consumers = 0 is outside 1 to 3; try 1"),
        (
            Pipeline { multicast: multicast(1), ..WIDE },
            "blocks of a cluster = 1 is outside 2 to 8; try 2",
        ),
        (
            Pipeline { staging_buffers: 17, ..WIDE },
            "staging buffers = 17 is outside 0 to 16; try 16",
        ),
        (
            Pipeline { staging_buffers: 0, ..WIDE },
            "bytes of a staging buffer = 8192 is not 0; try 0",
        ),
        (
            Pipeline { staging_bytes: 0, ..WIDE },
            "bytes of a staging buffer = 0 is outside 1024 to 262144; try 1024",
        ),
        (
            Pipeline { stage_bytes: [u32::MAX; 2], ..WIDE },
            "bytes per stage of A = 4294967295 is outside 1024 to 262144; try 262144",
        ),
        (
            Pipeline { stage_bytes: [1 << 10, 3 << 10], ..WIDE },
            "bytes per stage of B = 3072 is not a multiple of 2048; try 4096",
        ),
        (
            Pipeline { staging_bytes: 1040, ..WIDE },
            "bytes of a staging buffer = 1040 is not a multiple of 1024; try 2048",
        ),
    ] {
        assert_eq!(says(ring), sentence);
        // Sizes of a refused ring do not overflow.
        let _ = (ring.shared_bytes(), ring.empty_arrivals(), ring.threads());
    }
}
