//! What the checked mode finds of kernels whose threads multiply what TMA brings: a map, a number
//! or a schedule of the program changed, one at a time. Each is a fault that is reported, or a D
//! that has not the bits of the fast mode.

use crate::harness::{
    descriptions::threads::plain,
    prelude::*,
    subject::{Named, every_fault_is_found, program, replace, without},
    vectors::vectors_whole,
};
use falchion::internals::plan::ThreadMaps;

/// What a change needs to be one.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Cluster,
    Together,
}

impl Needs {
    fn has(self, program: &WarpSpecializedProgram) -> bool {
        let ring = &program.components.ring;
        match self {
            Self::Nothing => true,
            Self::Cluster => ring.multicast.is_some(),
            Self::Together => ring.readers() > 1,
        }
    }
}

/// Changes the maps of threads.
fn maps(p: &mut WarpSpecializedProgram) -> &mut ThreadMaps {
    p.threads.as_mut().expect("threads multiply")
}

const FAULTS: &[Named<Needs>] = &[
    ("fragments of A are one vector off", Needs::Nothing, |p| {
        mutate(&mut maps(p).fragment[0], |map, point| map.at(point).map(|mn| mn + 4));
    }),
    ("neighbours of B's fragments are exchanged", Needs::Nothing, |p| {
        mutate(&mut maps(p).fragment[1], |map, point| map.at(at(point.row, point.column ^ 1)));
    }),
    ("all lanes hold the first one's columns", Needs::Nothing, |p| {
        mutate(&mut maps(p).fragment[1], |map, point| {
            map.at(at(point.row / 32 * 32, point.column))
        });
    }),
    ("the second consumer reads the first one's rows and columns", Needs::Together, |p| {
        for side in 0..2 {
            mutate(&mut maps(p).fragment[side], |map, point| {
                map.at(at(point.row % 128, point.column))
            });
        }
    }),
    ("k runs backwards", Needs::Nothing, |p| {
        mutate(&mut maps(p).depth, |map, point| {
            map.at(at(point.row, map.domain().column - 1 - point.column))
        });
    }),
    ("two k's change places", Needs::Nothing, |p| {
        mutate(&mut maps(p).depth, |map, point| map.at(at(point.row, point.column ^ 1)));
    }),
    ("the first k is multiplied twice, and the second never", Needs::Nothing, |p| {
        mutate(&mut maps(p).depth, |map, point| map.at(at(point.row, point.column & !1)));
    }),
    ("rows of a stage are read four elements further apart", Needs::Nothing, |p| {
        mutate(&mut maps(p).stage[0], |map, point| {
            map.at(point).map(|byte| byte + 16 * point.column)
        });
    }),
    ("a stage of B is read as if it lay along K", Needs::Nothing, |p| {
        mutate(&mut maps(p).stage[1], |map, point| {
            Some((point.row * map.domain().column + point.column) * 4)
        });
    }),
    ("the second box is read where the first lies", Needs::Cluster, |p| {
        let operand = p.components.ring.multicast.expect("a cluster").operand;
        let half = p.components.box_mn(operand);
        mutate(&mut maps(p).stage[operand.index()], move |map, point| {
            map.at(at(point.row % half, point.column))
        });
    }),
    ("the second half of A's boxes is not copied", Needs::Nothing, |p| p.operands[0].box_mn /= 2),
    ("A is copied under a swizzle", Needs::Nothing, |p| {
        p.operands[0].copy_swizzle = SwizzleMode::Bytes128
    }),
    ("boxes of B begin four columns on", Needs::Nothing, |p| {
        mutate(&mut p.operands[1].corner, |map, point| map.at(point).map(|x| x + 4));
    }),
    ("boxes of B land a kilobyte further", Needs::Nothing, |p| {
        mutate(&mut p.operands[1].landing, |map, point| map.at(point).map(|x| x + 1024));
    }),
    ("K advances by half a tile", Needs::Nothing, |p| p.operands[1].tile_k /= 2),
    ("a full barrier waits for A alone", Needs::Nothing, |p| {
        p.ring.expect_bytes = p.ring.ring.stage_bytes[0]
    }),
    ("empty barriers wait for one arrival fewer", Needs::Nothing, |p| p.ring.empty_arrivals -= 1),
    ("all blocks copy share 0", Needs::Cluster, |p| mutate(&mut p.ring.share, |_, _| Some(0))),
    ("warps arrive at their own block alone", Needs::Cluster, |p| {
        mutate(&mut p.ring.released, |_, point| Some(point.row))
    }),
    ("a stage is released before it is multiplied", Needs::Nothing, |p| {
        let body = &mut p.ring.roles.consumer.body;
        body.retain(|step| !matches!(step, RoleStep::Release { .. }));
        body.insert(0, RoleStep::Release { behind: 0 });
    }),
    ("a stage is released before the lanes have met", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Body, |step| step == RoleStep::MeetWarp);
        p.ring.roles.consumer.body.push(RoleStep::MeetWarp);
    }),
    ("stages are never released", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Body, |step| matches!(step, RoleStep::Release { .. }));
    }),
    ("a stage is not waited for", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Body, |step| step == RoleStep::AwaitNext);
    }),
    ("the last k of a stage is never multiplied", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Body, |step| step == RoleStep::MultiplyLast);
    }),
    ("fragments are those of the stage before", Needs::Nothing, |p| {
        let body = &mut p.ring.roles.consumer.body;
        body.retain(|step| !matches!(step, RoleStep::LoadFirst));
        let at = body.iter().position(|step| *step == RoleStep::Advance).expect("a step");
        body.insert(at, RoleStep::LoadFirst);
    }),
    ("threads store before they have multiplied", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Epilogue, |step| step == RoleStep::StoreThreads);
        p.ring.roles.consumer.prologue.push(RoleStep::StoreThreads);
    }),
    ("threads store twice", Needs::Nothing, |p| {
        p.ring.roles.consumer.epilogue.push(RoleStep::StoreThreads)
    }),
    ("the lanes' meeting is another multiplication", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::MeetWarp => RoleStep::MultiplyStage,
            step => step,
        });
    }),
    ("neighbouring rows of D are exchanged", Needs::Nothing, |p| {
        let n = p.desc.knobs.threadblock.n;
        mutate(&mut maps(p).accumulator, move |map, point| {
            map.at(point).map(|x| ((x / n) ^ 1) * n + x % n)
        });
    }),
    ("two accumulators go to one place", Needs::Nothing, |p| {
        mutate(&mut maps(p).accumulator, |map, point| map.at(at(point.row, point.column & !1)));
    }),
    ("the second consumer stores where the first does", Needs::Together, |p| {
        mutate(&mut maps(p).accumulator, |map, point| map.at(at(point.row % 128, point.column)));
    }),
    ("an accumulator is not stored", Needs::Nothing, |p| {
        mutate(&mut maps(p).accumulator, |map, point| map.at(point).filter(|_| point.column != 3));
    }),
    ("a block takes its first tile again and again", Needs::Nothing, |p| {
        p.units = std::sync::Arc::new(|work, cluster, rank, _| work.unit(cluster, rank, 0));
    }),
];

/// Rings of two and three stages, cooperative and ping-pong consumers, clusters along M and along
/// N, operands in every order.
fn subjects() -> Vec<(&'static str, GemmDesc)> {
    let (row, col) = (Order::Row, Order::Col);
    let four = |orders, block| plain(orders, block, (32, 16), (4, 4));
    let eight = plain([col, row, row], (64, 128, 8), (32, 64), (8, 8));
    let turns =
        but!(four([row, row, row], (64, 32, 8)), schedule: ScheduleKind::Pingpong, stages: 2);
    vec![
        ("along M and N", four([col, row, row], (64, 64, 8))),
        ("8 x 8 a thread", eight),
        (
            "both turned, stored one by one",
            but!(four([row, col, row], (128, 32, 16)), align_c: 1, stages: 2),
        ),
        ("ping-pong", turns),
        ("cluster 2x1", but!(four([col, col, row], (64, 64, 8)), cluster: Mn { m: 2, n: 1 })),
        (
            "cluster 1x2, D along columns",
            but!(four([col, row, col], (64, 64, 8)), cluster: Mn { m: 1, n: 2 }),
        ),
    ]
}

#[test]
fn every_fault_is_found_and_what_ships_is_not_accused() {
    every_fault_is_found(&subjects(), FAULTS, Needs::has, 30);
}

/// For each subject: the map of a stage is a bijection onto its bytes' elements, threads hold every
/// row and column that they share, in whole vectors of 16 bytes that lie in one box, and every
/// element of the tile is one accumulator's.
#[test]
fn maps_of_threads_are_whole() {
    for (name, desc) in subjects() {
        let components = desc.components().expect("components");
        let program = program(&desc);
        let maps = program.threads.as_ref().expect("threads multiply");
        for operand in OperandKind::BOTH {
            let boxed = components.boxed_tile(operand);
            assert_eq!(laws::bijective(&boxed), Ok(()), "{name}");
            assert_eq!(
                boxed.codomain() * 4,
                components.ring.stage_bytes[operand.index()],
                "{name}"
            );
            let fragment = &maps.fragment[operand.index()];
            assert_eq!(vectors_whole(fragment.as_ref(), 4), Ok(()), "{name}");
            let mut held: Vec<u32> = (0..fragment.domain().row)
                .flat_map(|row| (0..fragment.domain().column).map(move |column| at(row, column)))
                .map(|point| fragment.at(point).expect("an element"))
                .collect();
            held.sort_unstable();
            held.dedup();
            assert_eq!(held, (0..boxed.mn).collect::<Vec<_>>(), "{name}");
            // A warp's part lies in one box.
            for thread in 0..fragment.domain().row {
                let boxes = |i| fragment.at(at(thread / 32 * 32, i)).map(|mn| mn / boxed.one.mn);
                assert!((0..fragment.domain().column).all(|i| boxes(i) == boxes(0)), "{name}");
            }
        }
        assert_eq!(laws::bijective(maps.accumulator.as_ref()), Ok(()), "{name}");
    }
}
