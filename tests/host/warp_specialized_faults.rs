//! What the checked mode finds of warp-specialized kernels: a schedule, a count, a map or a number
//! of the program changed, one at a time. Each is a fault that is reported, or a D that has not the
//! bits of the fast mode.

use crate::harness::{
    prelude::*,
    subject::{Named, every_fault_is_found, program, replace, without},
};

/// What a change needs to be one.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Cluster,
    SeveralConsumers,
    SeveralSubtiles,
    Tma,
    Threads,
    AlongMn,
    /// Descriptors say where A is read.
    Described,
    /// A comes from registers.
    Fragments,
    /// C comes through the staging buffers.
    Fetched,
    /// And several subtiles.
    SeveralFetched,
    /// No fetch of C waits for the stores too.
    StoresAlone,
    /// D is column-major for the kernel, and A is in shared memory.
    Columns,
    /// And C comes through the staging buffers.
    FetchedColumns,
}

impl Needs {
    fn has(self, program: &WarpSpecializedProgram) -> bool {
        let (d, ring) = (&program.desc, &program.components.ring);
        match self {
            Self::Nothing => true,
            Self::Cluster => ring.multicast.is_some(),
            Self::SeveralConsumers => ring.consumers > 1,
            Self::SeveralSubtiles => program.ring.subtiles > 1,
            Self::Tma => d.knobs.align_c * d.class.output.element.bytes_of(1) == 16,
            Self::Described => !d.a_from_registers(),
            Self::Fragments => d.a_from_registers(),
            Self::Threads => d.knobs.align_c * d.class.output.element.bytes_of(1) < 16,
            Self::Fetched => ring.source,
            Self::SeveralFetched => ring.source && program.ring.subtiles > 1,
            Self::StoresAlone => !ring.source || program.ring.subtiles > ring.staging_buffers,
            Self::Columns => !d.frame.d_order().is_row() && !d.a_from_registers(),
            Self::FetchedColumns => Self::Columns.has(program) && ring.source,
            Self::AlongMn => {
                !d.class.a.layout.is_row()
                    && d.class.b.layout.is_row()
                    && d.knobs.threadblock.n > 64
            }
        }
    }
}

const FAULTS: &[Named<Needs>] = &[
    ("the producer's phase is inverted", Needs::Nothing, |p| {
        mutate(&mut p.ring.producer_position, |map, point| {
            map.at(point).map(|x| if point.row == 1 { x ^ 1 } else { x })
        });
    }),
    ("the consumers' phase is inverted", Needs::Nothing, |p| {
        mutate(&mut p.ring.consumer_position, |map, point| {
            map.at(point).map(|x| if point.row == 1 { x ^ 1 } else { x })
        });
    }),
    ("the consumers' phase never changes", Needs::Nothing, |p| {
        mutate(
            &mut p.ring.consumer_position,
            |map, point| if point.row == 1 { Some(0) } else { map.at(point) },
        );
    }),
    ("consumers begin one stage on", Needs::Nothing, |p| {
        mutate(&mut p.ring.consumer_position, |map, point| {
            map.at(at(point.row, (point.column + 1) % map.domain().column))
        });
    }),
    ("a stage is released while products read it", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::AwaitProducts { pending } => RoleStep::AwaitProducts { pending: pending + 1 },
            step => step,
        });
    }),
    ("stages are never released", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Body, |step| matches!(step, RoleStep::Release { .. }));
    }),
    ("products are not waited for before the epilogue", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Tail, |step| {
            matches!(step, RoleStep::AwaitProducts { .. })
        });
    }),
    ("the proxy is not fenced", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Epilogue, |step| matches!(step, RoleStep::FenceProxy));
    }),
    ("accumulators are not fenced", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Body, |step| matches!(step, RoleStep::FenceOperands));
    }),
    ("barriers are not fenced", Needs::Nothing, |p| {
        without(p, Role::Setup, Section::Opening, |step| {
            matches!(step, RoleStep::FenceBarrierInit)
        });
    }),
    ("warps do not meet around staging", Needs::Nothing, |p| {
        without(p, Role::Consumer, Section::Epilogue, |step| matches!(step, RoleStep::Meet));
    }),
    ("stores are not waited for", Needs::StoresAlone, |p| {
        without(p, Role::Consumer, Section::Epilogue, |step| {
            matches!(step, RoleStep::AwaitStores { .. })
        });
    }),
    ("C is not waited for", Needs::Fetched, |p| {
        without(p, Role::Consumer, Section::Epilogue, |step| matches!(step, RoleStep::AwaitSource));
    }),
    ("C is not fetched", Needs::Fetched, |p| {
        for section in [Section::Prologue, Section::Epilogue] {
            without(p, Role::Consumer, section, |step| {
                matches!(step, RoleStep::FetchSource { .. } | RoleStep::ExpectSource)
            });
        }
    }),
    ("a source barrier waits for half of C", Needs::Fetched, |p| p.ring.source_bytes /= 2),
    ("C comes from the first subtile's place", Needs::SeveralFetched, |p| {
        mutate(&mut p.fetch.subtile, |map, _| map.at(at(0, 0)))
    }),
    ("C comes under no swizzle", Needs::Fetched, |p| p.fetch.swizzle = SwizzleMode::None),
    ("threads find C without a swizzle", Needs::Fetched, |p| {
        let (row, element) =
            (p.components.ring.staging_bytes / 64, p.desc.class.output.element.bytes_of(1));
        mutate(&mut p.fetch.staging, move |_, point| {
            Some(point.row * row + point.column * element)
        });
    }),
    ("threads find C a column on", Needs::Fetched, |p| {
        mutate(&mut p.fetch.staging, |map, point| {
            map.at(at(point.row, (point.column + 1) % map.domain().column))
        });
    }),
    ("the producer waits for no stage", Needs::Nothing, |p| {
        without(p, Role::Producer, Section::Body, |step| matches!(step, RoleStep::AwaitEmpty));
    }),
    ("a full barrier waits for A alone", Needs::Nothing, |p| {
        p.ring.expect_bytes = p.ring.ring.stage_bytes[0]
    }),
    ("empty barriers wait for one arrival fewer", Needs::Nothing, |p| p.ring.empty_arrivals -= 1),
    ("all blocks copy share 0", Needs::Cluster, |p| mutate(&mut p.ring.share, |_, _| Some(0))),
    ("each block copies its share to itself alone", Needs::Cluster, |p| {
        mutate(&mut p.ring.destinations, |_, point| Some(point.row));
    }),
    ("warps arrive at their own block alone", Needs::Cluster, |p| {
        mutate(&mut p.ring.released, |_, point| Some(point.row))
    }),
    ("a block leaves before the others' arrivals", Needs::Cluster, |p| {
        without(p, Role::Producer, Section::Closing, |step| matches!(step, RoleStep::Drain));
    }),
    ("A is copied under the next narrower swizzle", Needs::Nothing, |p| {
        p.operands[0].copy_swizzle = SwizzleMode::Bytes64
    }),
    ("B is copied under no swizzle", Needs::Nothing, |p| {
        p.operands[1].copy_swizzle = SwizzleMode::None
    }),
    ("descriptors of A say the next narrower swizzle", Needs::Described, |p| {
        p.operands[0].swizzle = SwizzleMode::Bytes64
    }),
    ("descriptors of B say no swizzle", Needs::Nothing, |p| {
        p.operands[1].swizzle = SwizzleMode::None
    }),
    ("the stride of A's descriptors is half", Needs::Described, |p| p.operands[0].stride /= 2),
    ("the stride of B's descriptors is double", Needs::Nothing, |p| p.operands[1].stride *= 2),
    ("the leading distance of B's descriptors is half", Needs::AlongMn, |p| {
        p.operands[1].leading /= 2
    }),
    ("every step reads the first 32 bytes of K", Needs::Described, |p| {
        mutate(&mut p.operands[0].start, |map, point| map.at(at(point.row, 0)));
    }),
    ("every step loads the first 32 bytes of K", Needs::Fragments, |p| {
        let step = p.desc.class.a.element.elements_in(16);
        mutate(&mut p.operands[0].fragments, move |map, point| {
            map.at(at(point.row, point.column % step))
        });
    }),
    ("the upper and the lower rows of A are exchanged", Needs::Fragments, |p| {
        let packed = p.desc.class.a.element.elements_in(4);
        mutate(&mut p.operands[0].fragments, move |map, point| {
            map.at(at(point.row, point.column ^ packed))
        });
    }),
    ("k of A are exchanged two by two", Needs::Fragments, |p| {
        let further = if p.desc.class.a.element.bytes_of(1) == 1 { 1 } else { 2 };
        mutate(&mut p.operands[0].fragments, move |map, point| {
            map.at(at(point.row, point.column ^ further))
        });
    }),
    ("every warp loads the first warp's rows", Needs::Fragments, |p| {
        mutate(&mut p.operands[0].fragments, |map, point| {
            map.at(at(point.row / 128 * 128 + point.row % 32, point.column))
        });
    }),
    ("rows of sums are called as if A came from shared memory", Needs::Fragments, |p| {
        let ordinary = p.components.warpgroup().expect("tensor cores").accumulators();
        mutate(&mut p.accumulator, move |_, point| ordinary.at(point));
    }),
    ("A is brought to one set of registers", Needs::Fragments, |p| p.ring.fragment_sets = 1),
    ("steps of B advance by half", Needs::Nothing, |p| {
        mutate(&mut p.operands[1].start, |map, point| {
            let first = map.at(at(point.row, 0))?;
            Some(first + (map.at(point)? - first) / 2)
        });
    }),
    ("every instruction reads the first rows of A", Needs::SeveralConsumers, |p| {
        mutate(&mut p.operands[0].fragments, |map, point| {
            map.at(at(point.row % 128, point.column))
        });
        mutate(&mut p.operands[0].start, |map, point| map.at(at(0, point.column)));
    }),
    ("boxes of A begin eight rows on", Needs::Nothing, |p| {
        mutate(&mut p.operands[0].corner, |map, point| map.at(point).map(|x| x + 8));
    }),
    ("every share is the first", Needs::Cluster, |p| {
        for operand in &mut p.operands {
            mutate(&mut operand.corner, |map, point| map.at(at(0, point.column)));
        }
    }),
    ("boxes of B land an atom further", Needs::Nothing, |p| {
        mutate(&mut p.operands[1].landing, |map, point| map.at(point).map(|x| x + 1024));
    }),
    ("boxes of A have half their rows", Needs::Nothing, |p| p.operands[0].box_mn /= 2),
    ("K advances by half a tile", Needs::Nothing, |p| p.operands[1].tile_k /= 2),
    ("rows of accumulators are eight off", Needs::Nothing, |p| {
        let n = p.desc.knobs.instruction.n;
        mutate(&mut p.accumulator, move |map, point| {
            map.at(point).map(|x| ((x / n) ^ 8) * n + x % n)
        });
    }),
    ("neighbouring accumulators are exchanged", Needs::Nothing, |p| {
        mutate(&mut p.accumulator, |map, point| map.at(at(point.row, point.column ^ 1)));
    }),
    ("two accumulators are taken for one", Needs::Nothing, |p| {
        mutate(&mut p.accumulator, |map, point| map.at(at(point.row, point.column & !1)));
    }),
    ("subtiles are staged without a swizzle", Needs::Nothing, |p| {
        let row = p.components.ring.staging_bytes / 64;
        let element = p.desc.class.output.element.bytes_of(1);
        mutate(&mut p.staging, move |_, point| Some(point.row * row + point.column * element));
    }),
    ("all of a subtile is staged in one row", Needs::Nothing, |p| {
        mutate(&mut p.staging, |map, point| map.at(at(0, point.column)));
    }),
    ("matrices of a column-major D are staged untransposed", Needs::Columns, |p| {
        mutate(&mut p.staging, untransposed)
    }),
    ("matrices of a column-major C are found untransposed", Needs::FetchedColumns, |p| {
        mutate(&mut p.fetch.staging, untransposed);
    }),
    ("the upper and the lower rows of a column-major D are exchanged", Needs::Columns, |p| {
        mutate(&mut p.staging, |map, point| map.at(at(point.row ^ 8, point.column)));
    }),
    ("neighbouring columns of a column-major D are exchanged", Needs::Columns, |p| {
        mutate(&mut p.staging, |map, point| map.at(at(point.row, point.column ^ 1)));
    }),
    ("subtiles are read under no swizzle", Needs::Tma, |p| p.store.swizzle = SwizzleMode::None),
    ("threads find subtiles without a swizzle", Needs::Threads, |p| {
        let row = p.components.ring.staging_bytes / 64;
        let element = p.desc.class.output.element.bytes_of(1);
        mutate(&mut p.store.staging, move |_, point| {
            Some(point.row * row + point.column * element)
        });
    }),
    ("subtiles are made of each other's accumulators", Needs::SeveralSubtiles, |p| {
        let last = p.ring.subtiles - 1;
        mutate(&mut p.subtile, move |map, point| map.at(at(0, last - point.column)));
    }),
    ("subtiles go to each other's place", Needs::SeveralSubtiles, |p| {
        let last = p.ring.subtiles - 1;
        mutate(&mut p.store.subtile, move |map, point| map.at(at(0, last - point.column)));
    }),
    ("every subtile goes to the first's place", Needs::SeveralSubtiles, |p| {
        mutate(&mut p.store.subtile, |map, _| map.at(at(0, 0)));
    }),
    ("all consumers compute the first part", Needs::SeveralConsumers, |p| {
        mutate(&mut p.part, |map, _| map.at(at(0, 0)))
    }),
    ("all blocks of a cluster take the first's tile", Needs::Cluster, |p| {
        p.units = Arc::new(|work, cluster, _, i| work.unit(cluster, 0, i));
    }),
    ("a block takes its first tile again and again", Needs::Nothing, |p| {
        p.units = Arc::new(|work, cluster, rank, _| work.unit(cluster, rank, 0));
    }),
    ("a block goes on by one cluster too few", Needs::Nothing, |p| {
        p.units = Arc::new(|work, cluster, rank, i| work.unit(cluster + i, rank, 0));
    }),
    ("rows and columns of tiles are exchanged", Needs::Nothing, |p| {
        p.units = Arc::new(|work, cluster, rank, i| {
            work.unit(cluster, rank, i).map(|unit| Unit {
                row: unit.column,
                column: unit.row,
                ..unit
            })
        });
    }),
    ("the scheduler leaves out a tile", Needs::Nothing, |p| {
        p.units = Arc::new(|work, cluster, rank, i| {
            work.unit(cluster, rank, i).filter(|unit| (unit.row, unit.column) != (0, 0))
        });
    }),
];

/// Each 8 x 8 of a subtile, transposed.
fn untransposed(map: &dyn IndexMap, point: Coord) -> Option<u32> {
    let Coord { row, column } = point;
    map.at(at(row / 8 * 8 + column % 8, column / 8 * 8 + row % 8))
}

/// Rings of two and three stages, clusters along M and along N, operands along K and along MN,
/// stores of both kinds.
fn subjects() -> Vec<(&'static str, GemmDesc)> {
    use ElementKind::{Bf16, E4m3, F16, F32, I8, I32, Tf32};
    let of = |ab, accumulator, c, orders, block, warp, n, cluster: (u32, u32)| {
        let types = Combined { a: ab, b: ab, accumulator, c };
        let d =
            default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders).expect("a row");
        let k = ab.elements_in(128);
        let mnk = |(m, n)| Mnk::new(m, n, k);
        but!(d, threadblock: mnk(block), warp: mnk(warp), instruction: Mnk { n, ..d.roles().knobs.instruction }, cluster: Mn { m: cluster.0, n: cluster.1 }, schedule: falchion::internals::schedule::ScheduleKind::Cooperative, stages: 3)
    };
    let registers =
        |d: GemmDesc| d.with(Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE });
    let (row, col) = (Order::Row, Order::Col);
    let bf16 = of(Bf16, F32, Bf16, [row, col, row], (128, 64), (64, 64), 64, (1, 1));
    vec![
        ("bf16 along K", bf16),
        ("bf16 along K, stored by threads", but!(bf16, align_c: 2, stages: 2)),
        (
            "f16 along MN, cluster 2x1",
            of(F16, F32, F32, [col, row, row], (128, 128), (64, 128), 128, (2, 1)),
        ),
        (
            "i8, cluster 1x2",
            but!(of(I8, I32, I32, [row, col, row], (128, 32), (128, 32), 32, (1, 2)), align_c: 1),
        ),
        (
            "e4m3 from registers",
            but!(of(E4m3, F32, Bf16, [col, col, row], (128, 64), (64, 64), 64, (1, 1)), a_operand: AOperandKind::Registers),
        ),
        (
            "i8 from registers, exchanged, stored by threads",
            but!(registers(of(I8, I32, I32, [row, row, row], (128, 64), (64, 64), 64, (1, 1))), align_c: 2),
        ),
        (
            "e4m3 from registers, exchanged",
            registers(of(E4m3, F32, Bf16, [col, col, col], (128, 64), (64, 64), 64, (1, 1))),
        ),
        (
            "tf32 from registers, exchanged",
            registers(of(Tf32, F32, F32, [row, row, row], (64, 64), (64, 64), 64, (1, 1))),
        ),
        (
            "tf32 from registers, cluster 2x1",
            but!(of(Tf32, F32, F32, [col, col, row], (128, 64), (64, 64), 64, (2, 1)), a_operand: AOperandKind::Registers),
        ),
        (
            "bf16 by columns",
            of(Bf16, F32, Bf16, [row, col, row], (128, 24), (64, 24), 24, (1, 1)).of_columns(),
        ),
        (
            "i8 by columns, stored by threads, cluster 1x2",
            but!(of(I8, I32, I32, [row, col, col], (128, 32), (128, 32), 32, (1, 2)).of_columns(), align_c: 1),
        ),
        (
            "f16 by columns, several subtiles",
            of(F16, F32, F32, [row, col, row], (128, 64), (64, 64), 64, (1, 1)).of_columns(),
        ),
        (
            "f16 in f16, cluster 4x1",
            of(F16, F16, F16, [row, col, col], (128, 64), (64, 64), 32, (4, 1)),
        ),
    ]
}

#[test]
fn every_fault_is_found_and_what_ships_is_not_accused() {
    every_fault_is_found(&subjects(), FAULTS, Needs::has, 24);
}

/// The bytes of what moves are the description's: of the boxes of A and B, and of the subtiles of
/// D.
#[test]
fn a_program_spells_the_description() {
    for (name, desc) in subjects() {
        let program = program(&desc);
        for operand in OperandKind::BOTH {
            let maps = &program.operands[operand.index()];
            let (shares, copies) = (maps.corner.domain().row, maps.corner.domain().column);
            let bytes = shares * copies * maps.box_mn * 128;
            assert_eq!(bytes, program.components.ring.stage_bytes[operand.index()], "{name}");
            assert_eq!(shares, program.components.ring.shares(operand), "{name}");
        }
        let subtiles = program.ring.subtiles * program.components.ring.staging_bytes;
        assert_eq!(
            subtiles,
            desc.warp().m * desc.warp().n * desc.class.output.element.bytes_of(1),
            "{name}"
        );
    }
}
