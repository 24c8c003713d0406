//! Wrong counts, phases, stages, ranks, bytes and orders: each named, each found in every ring in
//! which it is one.

use crate::harness::{
    prelude::*,
    ring_programs::{
        A, caught, kind,
        needs::{Needs, replace},
        subjects,
    },
};

/// A named change to a program.
pub type Named = (&'static str, Needs, fn(&mut RingProgram));

const FAULTS: &[Named] = &[
    ("the producer's phase is inverted", Needs::Nothing, |p| {
        mutate(&mut p.producer_position, |map, point| {
            map.at(point).map(|x| if point.row == 1 { x ^ 1 } else { x })
        });
    }),
    ("the consumers' phase is inverted", Needs::Nothing, |p| {
        mutate(&mut p.consumer_position, |map, point| {
            map.at(point).map(|x| if point.row == 1 { x ^ 1 } else { x })
        });
    }),
    ("the producer's phase never changes", Needs::Nothing, |p| {
        mutate(
            &mut p.producer_position,
            |map, point| if point.row == 1 { Some(0) } else { map.at(point) },
        );
    }),
    ("the consumers' phase never changes", Needs::Nothing, |p| {
        mutate(
            &mut p.consumer_position,
            |map, point| if point.row == 1 { Some(0) } else { map.at(point) },
        );
    }),
    ("the consumers' phase changes a tile too early", Needs::Nothing, |p| {
        mutate(&mut p.consumer_position, |map, point| match point.row {
            1 => map.at(at(1, (point.column + 1) % map.domain().column)),
            _ => map.at(point),
        });
    }),
    ("the producer's phase changes a tile too late", Needs::Nothing, |p| {
        mutate(&mut p.producer_position, |map, point| match point.row {
            1 => map.at(at(1, (point.column + map.domain().column - 1) % map.domain().column)),
            _ => map.at(point),
        });
    }),
    ("consumers begin one stage on", Needs::Nothing, |p| {
        mutate(&mut p.consumer_position, |map, point| {
            map.at(at(point.row, (point.column + 1) % map.domain().column))
        });
    }),
    ("the producer goes around the other way", Needs::Nothing, |p| {
        let last = p.ring.stages - 1;
        mutate(&mut p.producer_position, move |map, point| {
            map.at(point).map(|x| {
                if point.row == 0 && last > 1 { last - x } else { x ^ u32::from(point.row == 0) }
            })
        });
    }),
    ("everybody's ring leaves out its last stage", Needs::Nothing, |p| {
        let stages = p.ring.stages - 1;
        for map in [&mut p.producer_position, &mut p.consumer_position] {
            // The phase goes on as if the stage were there.
            mutate(map, move |map, point| {
                map.at(point).map(|x| if point.row == 0 { x.min(stages - 1) } else { x })
            });
        }
    }),
    ("the producer has no place for tile 1", Needs::Nothing, |p| {
        mutate(&mut p.producer_position, |map, point| map.at(point).filter(|_| point.column != 1));
    }),
    ("the consumers' stages go beyond the ring", Needs::Nothing, |p| {
        mutate(&mut p.consumer_position, |map, point| {
            map.at(point).map(|x| if point.row == 0 { x + 1 } else { x })
        });
    }),
    ("full barriers wait for two arrivals", Needs::Nothing, |p| p.full_arrivals = 2),
    ("empty barriers wait for one arrival fewer", Needs::Nothing, |p| p.empty_arrivals -= 1),
    ("empty barriers wait for one arrival more", Needs::Nothing, |p| p.empty_arrivals += 1),
    ("empty barriers wait for a warpgroup's arrivals", Needs::TwoReaders, |p| p.empty_arrivals = 4),
    ("a ping-pong consumer passes by the wrong tiles", Needs::Turns, |p| {
        p.roles.consumer.prologue = vec![RoleStep::SkipLater, RoleStep::AwaitTurn];
    }),
    ("a consumer lets the next one multiply before it has begun", Needs::Turns, |p| {
        p.roles.consumer.tail.retain(|step| *step != RoleStep::PassTurn);
        p.roles.consumer.prologue.push(RoleStep::PassTurn);
    }),
    ("all consumers are counted where one reads", Needs::Turns, |p| p.empty_arrivals *= 2),
    ("empty barriers forget the other block", Needs::Cluster, |p| p.empty_arrivals /= 2),
    ("a full barrier waits for A alone", Needs::Nothing, |p| {
        p.expect_bytes = p.ring.stage_bytes[0]
    }),
    ("a full barrier waits for 16 bytes too many", Needs::Nothing, |p| p.expect_bytes += 16),
    ("a full barrier waits for this block's share alone", Needs::Cluster, |p| {
        p.expect_bytes = p.copy_bytes.iter().sum()
    }),
    ("copies of B are half as large", Needs::Nothing, |p| p.copy_bytes[1] /= 2),
    ("C is announced by half", Needs::Source, |p| p.source_bytes /= 2),
    ("C is fetched before the buffers have been read", Needs::Source, |p| {
        let roles = &mut p.roles.consumer;
        let steps = if p.split_k { &mut roles.epilogue } else { &mut roles.prologue };
        steps.retain(|step| *step != RoleStep::ExpectSource);
        // Behind the last fetch, and before the turn.
        let last = steps
            .iter()
            .rposition(|step| matches!(step, RoleStep::FetchSource { .. }))
            .expect("fetched");
        steps.insert(last + 1, RoleStep::ExpectSource);
    }),
    ("the first subtile of C is fetched for all", Needs::Source, |p| {
        for section in [Section::Prologue, Section::Epilogue] {
            replace(p, Role::Consumer, section, |step| match step {
                RoleStep::FetchSource { .. } => vec![RoleStep::FetchSource { subtile: 0 }],
                step => vec![step],
            });
        }
    }),
    ("warps arrive at their own block twice", Needs::Cluster, |p| {
        mutate(&mut p.released, |_, point| Some(point.row))
    }),
    ("warps arrive at the other block twice", Needs::Cluster, |p| {
        mutate(&mut p.released, |_, point| Some(1 - point.row))
    }),
    ("warps arrive at block 0 twice", Needs::Cluster, |p| mutate(&mut p.released, |_, _| Some(0))),
    ("warps arrive at block 2", Needs::Cluster, |p| mutate(&mut p.released, |_, _| Some(2))),
    ("no rank for the second arrival", Needs::Cluster, |p| {
        mutate(&mut p.released, |map, point| map.at(point).filter(|_| point.column == 0));
    }),
    ("both blocks copy share 0", Needs::Cluster, |p| mutate(&mut p.share, |_, _| Some(0))),
    ("each block copies the other's share to itself", Needs::Cluster, |p| {
        mutate(&mut p.destinations, |_, point| Some(point.row));
    }),
    ("shared copies go to the other block alone", Needs::Cluster, |p| {
        mutate(&mut p.destinations, |_, point| Some(1 - point.row))
    }),
    ("shared copies go to block 0 alone", Needs::Cluster, |p| {
        mutate(&mut p.destinations, |_, _| Some(0))
    }),
    ("a stage is released one tile early", Needs::Warpgroups, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::AwaitProducts { pending } => {
                vec![RoleStep::AwaitProducts { pending: pending + 1 }]
            }
            step => vec![step],
        });
    }),
    ("a stage is released one tile late, and the last never", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::Release { behind } => vec![RoleStep::Release { behind: behind + 1 }],
            step => vec![step],
        });
    }),
    ("a stage is released twice", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::Release { .. } => vec![step, step],
            step => vec![step],
        });
    }),
    ("a stage is released before it is multiplied", Needs::Nothing, |p| {
        let body = &mut p.roles.consumer.body;
        body.retain(|step| !matches!(step, RoleStep::Release { .. }));
        body.insert(1, RoleStep::Release { behind: 0 });
    }),
    ("the producer arrives twice", Needs::Nothing, |p| {
        replace(p, Role::Producer, Section::Body, |step| {
            if step == RoleStep::Expect { vec![step, step] } else { vec![step] }
        });
    }),
    ("the producer copies A instead of B", Needs::Nothing, |p| {
        replace(p, Role::Producer, Section::Body, |step| match step {
            RoleStep::CopyTensor { .. } => vec![RoleStep::CopyTensor { operand: A }],
            step => vec![step],
        });
    }),
    ("the producer looks only once whether stages are empty", Needs::Nothing, |p| {
        p.roles.producer.body.retain(|step| *step != RoleStep::AwaitEmpty);
        p.roles.producer.prologue.push(RoleStep::AwaitEmpty);
    }),
    ("the producer drains before it has filled", Needs::Cluster, |p| {
        p.roles.producer.closing.clear();
        p.roles.producer.opening.push(RoleStep::Drain);
    }),
    ("threads wait for a full stage once a tile of D", Needs::Threads, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::AwaitNext);
    }),
    ("threads read the first fragments once a tile of D", Needs::Threads, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::LoadFirst);
    }),
    ("the last k is multiplied once a tile of D", Needs::Threads, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::MultiplyLast);
        p.roles.consumer.tail.insert(0, RoleStep::MultiplyLast);
    }),
    ("the last k is multiplied before the others", Needs::Threads, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::MultiplyLast);
        p.roles.consumer.body.insert(0, RoleStep::MultiplyLast);
    }),
    ("consumers wait for a full stage once a tile of D", Needs::Warpgroups, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::AwaitFull);
        p.roles.consumer.prologue.push(RoleStep::AwaitFull);
    }),
    ("all fragments are brought to one set", Needs::TwoSets, |p| p.fragment_sets = 1),
    ("A is brought to registers once a tile of D", Needs::Fragments, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::LoadFragments);
        p.roles.consumer.prologue.extend([RoleStep::AwaitFull, RoleStep::LoadFragments]);
    }),
    ("A is brought to registers before it is there", Needs::Fragments, |p| {
        let body = &mut p.roles.consumer.body;
        body.retain(|step| *step != RoleStep::LoadFragments);
        body.insert(0, RoleStep::LoadFragments);
    }),
    ("A is brought to registers once it was multiplied", Needs::Fragments, |p| {
        let body = &mut p.roles.consumer.body;
        body.retain(|step| *step != RoleStep::LoadFragments);
        let at = body.iter().position(|step| *step == RoleStep::CommitProducts).expect("products");
        body.insert(at, RoleStep::LoadFragments);
    }),
    ("there are no registers for A", Needs::Fragments, |p| p.fragment_sets = 0),
    ("a part is promoted before its products are there", Needs::Parts, |p| {
        let body = &mut p.roles.consumer.body;
        for i in 1..body.len() {
            if matches!(body[i], RoleStep::Promote { .. }) {
                body.swap(i - 1, i);
            }
        }
    }),
    ("a part is promoted twice", Needs::Parts, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::Promote { .. } => vec![step, step],
            step => vec![step],
        });
    }),
    ("the last part is never promoted", Needs::Parts, |p| {
        let last = p.promoted_parts as u8 - 1;
        p.roles.consumer.body.retain(|step| *step != RoleStep::Promote { part: last });
    }),
    ("the last part is promoted once a tile of D", Needs::Parts, |p| {
        let step = RoleStep::Promote { part: p.promoted_parts as u8 - 1 };
        p.roles.consumer.body.retain(|other| *other != step);
        p.roles.consumer.tail.insert(0, step);
    }),
    ("every promotion is of part 0", Needs::SeveralParts, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::Promote { .. } => vec![RoleStep::Promote { part: 0 }],
            step => vec![step],
        });
    }),
    ("every product is of part 0", Needs::SeveralParts, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::MultiplyPart { .. } | RoleStep::Promote { .. } => {
                vec![if matches!(step, RoleStep::Promote { .. }) {
                    RoleStep::Promote { part: 0 }
                } else {
                    RoleStep::MultiplyPart { part: 0 }
                }]
            }
            step => vec![step],
        });
    }),
    ("the last part is left out", Needs::SeveralParts, |p| {
        let last = p.promoted_parts as u8 - 1;
        p.roles.consumer.body.retain(|step| {
            ![RoleStep::MultiplyPart { part: last }, RoleStep::Promote { part: last }]
                .contains(step)
        });
    }),
    ("all parts are multiplied before one is promoted", Needs::SeveralParts, |p| {
        let body = &mut p.roles.consumer.body;
        let promotions: Vec<_> =
            body.extract_if(.., |step| matches!(step, RoleStep::Promote { .. })).collect();
        let at = body
            .iter()
            .position(|step| matches!(step, RoleStep::Release { .. }))
            .expect("a stage is released");
        body.splice(at..at, promotions);
    }),
    ("a stage is released before its last part is multiplied", Needs::SeveralParts, |p| {
        let body = &mut p.roles.consumer.body;
        body.retain(|step| !matches!(step, RoleStep::Release { .. }));
        let at = body
            .iter()
            .position(|step| *step == RoleStep::Promote { part: 0 })
            .expect("a promotion");
        body.insert(at, RoleStep::Release { behind: 0 });
    }),
    ("whole stages are multiplied into the accumulators", Needs::Parts, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::MultiplyPart { .. } => vec![RoleStep::MultiplyStage],
            step => vec![step],
        });
    }),
    ("accumulators are put in order once a kernel", Needs::Warpgroups, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::FenceOperands);
        p.roles.consumer.opening.push(RoleStep::FenceOperands);
    }),
    ("one store more may be under way", Needs::Warpgroups, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::AwaitStores { pending } => {
                vec![RoleStep::AwaitStores { pending: pending + 1 }]
            }
            step => vec![step],
        });
    }),
    ("one store may be under way at the end", Needs::Warpgroups, |p| {
        p.roles.consumer.closing = vec![RoleStep::AwaitStores { pending: 1 }]
    }),
    ("the warps meet once a subtile, after the store", Needs::Warpgroups, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::Meet => vec![],
            RoleStep::CommitStores => vec![step, RoleStep::Meet],
            step => vec![step],
        });
    }),
    ("the proxy's fence comes after the meeting", Needs::Warpgroups, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::FenceProxy => vec![],
            RoleStep::StoreTensor { .. } => vec![RoleStep::FenceProxy, step],
            step => vec![step],
        });
    }),
    ("every store is of subtile 0", Needs::Warpgroups, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::StoreTensor { .. } => vec![RoleStep::StoreTensor { subtile: 0 }],
            step => vec![step],
        });
    }),
    ("subtiles are staged in another group than they are stored in", Needs::Warpgroups, |p| {
        let (buffers, subtiles) = (p.ring.staging_buffers as u8, p.subtiles as u8);
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::StoreStaging { subtile } => {
                vec![RoleStep::StoreStaging { subtile: (subtile + buffers) % subtiles }]
            }
            step => vec![step],
        });
    }),
    ("all subtiles are staged before one is stored", Needs::Warpgroups, |p| {
        let (staging, stores): (Vec<_>, Vec<_>) =
            p.roles.consumer.epilogue.iter().partition(|step| {
                !matches!(step, RoleStep::StoreTensor { .. } | RoleStep::CommitStores)
            });
        p.roles.consumer.epilogue = [staging, stores].concat();
    }),
    ("lanes meet once a tile of D", Needs::Threads, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::MeetWarp);
        p.roles.consumer.tail.push(RoleStep::MeetWarp);
    }),
    ("a stage is released before the lanes have met", Needs::Threads, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::MeetWarp);
        p.roles.consumer.body.push(RoleStep::MeetWarp);
    }),
    ("threads store before they have multiplied", Needs::Threads, |p| {
        p.roles.consumer.epilogue.retain(|step| *step != RoleStep::StoreThreads);
        p.roles.consumer.prologue.push(RoleStep::StoreThreads);
    }),
    ("threads store twice", Needs::Threads, |p| {
        p.roles.consumer.epilogue.push(RoleStep::StoreThreads)
    }),
    ("threads store once a k-tile", Needs::Threads, |p| {
        p.roles.consumer.body.push(RoleStep::StoreThreads)
    }),
    ("threads multiply a part of a stage", Needs::Threads, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::StoreThreads => vec![RoleStep::MultiplyPart { part: 0 }, step],
            step => vec![step],
        });
    }),
    ("parts of K come together before the products are there", Needs::Split, |p| {
        let tail = &mut p.roles.consumer.tail;
        tail.retain(|step| *step != RoleStep::ReduceParts);
        tail.insert(0, RoleStep::ReduceParts);
    }),
    ("a part of K is brought twice", Needs::Split, |p| {
        p.roles.consumer.tail.push(RoleStep::ReduceParts)
    }),
    ("parts of K come together once a k-tile", Needs::Split, |p| {
        p.roles.consumer.body.push(RoleStep::ReduceParts)
    }),
    ("the parts of K are added once D is stored", Needs::Split, |p| {
        p.roles.consumer.tail.retain(|step| *step != RoleStep::ReduceParts);
        p.roles.consumer.epilogue.push(RoleStep::ReduceParts);
    }),
    ("the last subtile is not stored", Needs::Nothing, |p| p.subtiles += 1),
    ("consumers take too few registers", Needs::Registers, |p| {
        p.consumer_registers = 240;
        p.roles.consumer.opening = vec![RoleStep::RegistersUp { count: 232 }];
    }),
    ("the producer keeps too many registers", Needs::Registers, |p| {
        p.roles.producer.opening = vec![RoleStep::RegistersDown { count: 40 }];
        p.roles.consumer.opening = vec![RoleStep::RegistersUp { count: 240 }];
    }),
    ("the blocks of a cluster do not meet", Needs::Cluster, |p| {
        replace(p, Role::Setup, Section::Opening, |step| match step {
            RoleStep::MeetCluster => vec![RoleStep::MeetBlock],
            step => vec![step],
        });
    }),
    ("barriers are set up twice", Needs::Nothing, |p| {
        p.roles.setup.opening.insert(1, RoleStep::InitBarriers)
    }),
    ("a consumer copies", Needs::Nothing, |p| {
        p.roles.consumer.body.insert(0, RoleStep::CopyTensor { operand: A })
    }),
];

#[test]
fn named_faults_are_found() {
    assert!(FAULTS.len() >= 40);
    are_found(FAULTS);
}

/// Each fault is found in each ring in which it is one.
pub fn are_found(faults: &[Named]) {
    let (mut found, mut survivors, mut slowest) = (0, Vec::new(), 0);
    for (name, needs, change) in faults {
        let mut kinds = BTreeMap::<String, u32>::new();
        for (subject, program) in subjects() {
            if !needs.has(&program) {
                continue;
            }
            let mut changed = program.clone();
            change(&mut changed);
            match caught(&changed) {
                Some((fault, runs)) => {
                    (found, slowest) = (found + 1, runs.max(slowest));
                    *kinds.entry(kind(&fault)).or_default() += 1;
                }
                None => survivors.push(format!("{name}: {subject}")),
            }
        }
        println!("{name:56} {kinds:?}");
    }
    println!(
        "{} named faults, {found} programs found, {} survivors; the slowest took {slowest} runs",
        faults.len(),
        survivors.len()
    );
    assert!(survivors.is_empty(), "{survivors:#?}");
}
