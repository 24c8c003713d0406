//! Batches of tensor-core kernels before their launch: what each pass reads and writes, and the
//! parameters and tensors of the launch.

use crate::{
    batches::{batch, description, geometry, params},
    harness::prelude::*,
};
use falchion::internals::operand::Pass;
use std::ops::Range;

/// Address of the workspace.
const FIRST: u64 = 1 << 40;

/// Returns the address and the range that a pass reads and writes for each matrix.
fn reads_and_writes(pass: &Pass, kind: ElementKind) -> Vec<(u64, Range<u64>)> {
    let (batch, from, to, bytes) = match pass {
        Pass::Repack(RepackCopy { shapes, addresses: [from, to], batch }) => {
            (*batch, *from, *to, shapes.reach()[1])
        }
        Pass::Transpose(_, problem) => {
            let Problem { m, n, batch, a, d, .. } = **problem;
            let strides_bytes =
                [a.batch_stride, d.batch_stride].map(|stride| kind.matrix_bytes(stride as u64));
            let bytes = kind.matrix_bytes(d.elements((m, n), 1) as u64);
            (
                PassBatch { matrices: batch as u64, strides_bytes },
                a.memory.address,
                d.memory.address,
                bytes,
            )
        }
        Pass::Gather(copy) => {
            let reach = |number: usize| (copy.extents[number] - 1) * copy.copy[number];
            let [from, to, _] = copy.addresses;
            (copy.batch, from, to, reach(0) + reach(1) + u64::from(copy.bytes))
        }
        Pass::Decompose(shapes) => {
            (shapes.batch, shapes.source, shapes.terms, shapes.layout.bytes())
        }
    };
    let [stride_source, stride] = batch.strides_bytes;
    (0..batch.matrices)
        .map(|i| (from + i * stride_source, to + i * stride..to + i * stride + bytes))
        .collect()
}

/// A pass reads the operand of each GEMM, and writes it to the address that the kernel reads. The
/// outputs do not overlap and are inside the workspace. An operand that all GEMMs share is written
/// once.
#[test]
fn passes_copy_the_operands_of_each_gemm() {
    let (bf16, i8, i32, f32) =
        (ElementKind::Bf16, ElementKind::I8, ElementKind::I32, ElementKind::F32);
    let (mut random, mut seen) = (Random::new(11), 0);
    for case in 0..600 {
        let orders = [0, 1, 2].map(|_| random.pick(&[Row, Col]));
        let types = [(bf16, f32, bf16), (i8, i32, i32), (f32, f32, f32)][case % 3];
        let desc = description(OpKind::TensorOp, types, orders);
        let mut extent = || random.pick(&[1, 7, 8, 64, 100, 129]);
        let extents = (extent(), extent(), extent());
        let more = [0; 4].map(|_| random.pick(&[None, Some(0), Some(1), Some(16)]));
        let more = [more[0], more[1], more[2], more[3].or(Some(3))];
        let mut problem = batch(&desc, extents, random.pick(&[2, 5]), more);
        for view in [&mut problem.a, &mut problem.b] {
            // Every fourth operand has overlapping rows.
            if random.below(4) == 0 {
                let strides = random.pick(&[[0, 1], [1, 0], [1, 1], [2, 1], [1, 16]]);
                *view = View { strides, overlapping: true, ..*view };
            }
        }
        // Passes gather rows of A and columns of B, but not terms.
        for operand in OperandKind::BOTH {
            if random.below(4) == 0 && !desc.emulation().decomposes() {
                let list = IndexList::new(Elements::ALL, 1 << 20);
                problem.indices.operands[operand.index()] = Some(list);
            }
        }
        let routes = Routes::new(&desc, &problem);
        let routed = routes.problem(&desc, &problem, FIRST);
        let mut written: Vec<Range<u64>> = Vec::new();
        let passes = Pass::before(&desc, (&routes, &problem), FIRST).expect("passes");
        for (operand, pass) in OperandKind::BOTH.into_iter().zip(passes) {
            let (view, read) = (problem.operand(operand), routed.operand(operand));
            assert_eq!(pass.is_some(), read.memory.address >= FIRST, "{problem:?}");
            let Some(pass) = pass else { continue };
            let element = desc.operand(operand).stored;
            let brought = reads_and_writes(&pass, element);
            assert_eq!(
                brought.len(),
                if view.batch_stride > 0 { problem.batch } else { 1 },
                "{problem:?}"
            );
            let blocks: Vec<u64> = pass
                .launches()
                .expect("launches")
                .iter()
                .map(|launch| launch.grid.clusters.into())
                .collect();
            assert!(
                blocks
                    .iter()
                    .all(|blocks| *blocks > 0 && blocks.is_multiple_of(brought.len() as u64)),
                "{blocks:?}"
            );
            for (number, (from, to)) in brought.into_iter().enumerate() {
                assert_eq!(
                    from,
                    view.memory.address + element.matrix_bytes((number * view.batch_stride) as u64)
                );
                let read_as = if types.0 == f32 { ElementKind::F16 } else { element };
                assert_eq!(
                    to.start,
                    read.memory.address + read_as.matrix_bytes((number * read.batch_stride) as u64)
                );
                written.push(to);
                seen += 1;
            }
        }
        written.sort_by_key(|range| range.start);
        assert!(written.windows(2).all(|two| two[0].end <= two[1].start), "{written:?}");
        assert!(
            written.last().is_none_or(|last| last.end <= FIRST + routes.workspace_bytes()),
            "{written:?}"
        );
        assert!(written.is_empty() == (routes.workspace_bytes() == 0));
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn one_tma_launch_has_the_parameters_of_the_whole_batch() {
    let (bf16, f32) = (ElementKind::Bf16, ElementKind::F32);
    let desc = description(OpKind::TensorOp, (bf16, f32, bf16), [Row, Col, Row]).for_batch(5);
    assert_eq!(
        (desc.work.mode, desc.for_batch(1).work.mode),
        (GemmMode::Batched, GemmMode::Batched)
    );
    let problem = batch(&desc, (200, 104, 64), 5, [Some(8), None, None, Some(16)]);
    let plan = desc.plan().expect("a kernel");
    let launch = plan
        .launch(&problem, &geometry(desc.threadblock(), WorkKind::Persistent), 132)
        .expect("a launch");
    let told: GemmParams = params(&launch);
    assert_eq!(
        (told.batch, told.own, told.operands[0].batch_stride, told.stride_d),
        (5, 0b001, 0, 200 * 104 + 16)
    );
    let of = |number: usize| launch.tensors[number].expect("a tensor").desc;
    assert_eq!(
        [0, 1, 2, 3].map(|number| (of(number).rank, of(number).dims[2])),
        [(3, 5), (3, 1), (3, 1), (3, 5)]
    );
    assert_eq!(
        (of(0).strides_bytes[1], of(3).strides_bytes[1]),
        ((200 * 64 + 8) * 2, (200 * 104 + 16) * 2)
    );
    let tiles = 200usize.div_ceil(desc.threadblock().m as usize)
        * 104usize.div_ceil(desc.threadblock().n as usize);
    assert_eq!(launch.grid.clusters as usize, tiles * 5);
    // A kernel without a batch has parameters for the matrices only.
    let alone = description(OpKind::TensorOp, (bf16, f32, bf16), [Row, Col, Row]);
    let launch = alone.plan().expect("a kernel").launch(
        &Problem { batch: 1, ..problem },
        &geometry(desc.threadblock(), WorkKind::Persistent),
        132,
    );
    let launch = launch.expect("a launch");
    assert_eq!(launch.tensors.map(|tensor| tensor.map(|tensor| tensor.desc.rank)), [Some(2); 4]);
    assert_eq!((params::<GemmParams>(&launch).batch, params::<GemmParams>(&launch).own), (1, 0));
    assert!(!alone.to_json().expect("text").contains("mode"));
}
