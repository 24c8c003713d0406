//! Routes of operands to a kernel, and the size of the workspace. No GPU is needed.

use crate::harness::prelude::*;
use falchion::{
    internals::operand::{IndexList, Indices, ListReader, Pass},
    layout::Order,
    refusal::Route::{Direct, Gathered, Repacked, Transposed},
};

pub const SCALARS: [f64; 8] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

pub fn bf16(orders: [Order; 3]) -> GemmDesc {
    let types = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16);
    default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders)
}

pub fn routes(
    desc: &GemmDesc,
    extents: (usize, usize, usize),
    leading: [Option<usize>; 2],
    addresses: [u64; 2],
) -> Routes {
    let problem = Problem::new(desc, extents, [leading[0], leading[1], None], SCALARS);
    desc.routes(&problem.at(addresses)).expect("a valid description")
}

/// Tensor cores read 16-bit operands in both orders.
#[test]
fn inputs_with_the_other_order_are_transposed_and_outputs_are_strided() {
    check_other_orders(&bf16([Row, Col, Row]), [Transposed, Direct]);
}

/// Checks that A and B with the other order than their types are transposed, for every kernel.
/// Threads store a D with the other order. A and B may not have gaps along both axes.
pub fn check_other_orders(desc: &GemmDesc, wanted: [falchion::refusal::Route; 2]) {
    let orders = desc.orders();
    let problem = Problem::new(desc, (512, 256, 128), [None; 3], SCALARS);
    let other = |view: View<Elements>, order: Order, extents| {
        View::packed(view.memory, order.transposed(), extents, None)
    };
    let transposed = Problem { a: other(problem.a, orders.a, (512, 128)), ..problem };
    let found = desc.routes(&transposed).expect("a kernel");
    assert_eq!([found.a.route, found.b.route], wanted, "{desc:?}");
    assert!(transposed.enter(desc).is_ok());
    let written = Problem { d: other(problem.d, orders.c, (512, 256)), ..problem };
    assert!(written.enter(desc).is_ok() && written.kernel_of(*desc).output.strided);
    assert!(!problem.kernel_of(*desc).output.strided);
    let gaps = Problem { b: View { strides: [4, 6], ..problem.b }, ..problem };
    assert_eq!(gaps.enter(desc).err(), Some(Refusal::strides(Operand::B, [4, 6], None)));
}

#[test]
fn a_missing_workspace_names_the_passes() {
    let told = |given, a, b, partials| {
        Refusal::workspace(given, 134_348_800, [a, b], partials).to_string()
    };
    for (given, a, b, partials, said) in [
        (9, Direct, Direct, true, "split-K partials"),
        (0, Direct, Repacked, true, "B repacked, split-K partials"),
        (0, Repacked, Direct, false, "A repacked"),
        (7, Direct, Transposed, false, "B transposed"),
        (0, Transposed, Repacked, false, "A transposed, B repacked"),
        (0, Direct, Direct, false, "group offsets or indices"),
    ] {
        let wanted = format!("workspace = {given} bytes is less than 134348800 bytes ({said})");
        assert_eq!(told(given, a, b, partials), wanted);
    }
}

/// Typed and textual requests give the same description, in each layout.
#[test]
fn typed_and_textual_requests_agree_for_8_bit_layouts() {
    type Bytes<LA, LB, LC> = Gemm<i8, LA, i8, LB, i32, LC, i32, TensorOp, Sm90>;
    let by_words = |words: [&str; 3]| {
        let [a, b, c] =
            words.map(|word| Some(word.parse::<MatrixType>().expect("a type and an order")));
        let (op, arch) = (Some(OpKind::TensorOp), Some(ArchKind::Sm90));
        let request =
            falchion::internals::nest::Request { a, b, c, op, arch, ..Default::default() };
        request.resolve(ArchKind::Sm90).expect("a kernel").desc
    };
    assert_eq!(
        Bytes::<ColMajor, RowMajor, RowMajor>::DESC,
        by_words(["i8:col", "i8:row", "i32:row"])
    );
    assert_eq!(
        Bytes::<ColMajor, ColMajor, ColMajor>::DESC,
        by_words(["i8:col", "i8:col", "i32:col"])
    );
    assert_eq!(
        Bytes::<RowMajor, RowMajor, RowMajor>::DESC,
        by_words(["i8:row", "i8:row", "i32:row"])
    );
    // On the host nothing is repacked, and a workspace may be given.
    let (a, b, mut d, mut none) = ([1i8; 6], [1i8; 6], [0; 4], [0u8; 0]);
    let gemm = Gemm::<i8, RowMajor, i8, RowMajor, i32, RowMajor>::new();
    assert_eq!(gemm.workspace_size(&Arguments::new((2, 2, 3), &a, &b, &mut d)), Ok(0));
    gemm.run(Arguments::new((2, 2, 3), &a, &b, &mut d).workspace(&mut none)).expect("it runs");
    assert_eq!(d, [3; 4]);
}

/// TMA reads a copy of the rows that an index list selects, if the rows are not aligned. If kernel
/// parameters carry the list, the pass reads it behind the copy in the workspace.
#[test]
fn a_gather_pass_reads_a_carried_list_in_the_workspace() {
    let desc = bf16([Row, Col, Row]);
    let (m, first) = (300, 1 << 20);
    let list = IndexList { read: ListReader::ByValue, ..IndexList::new(Elements::new(m), 500) };
    let problem = Problem {
        indices: Indices { operands: [Some(list), None], output: None },
        ..Problem::new(&desc, (m, 256, 64), [Some(68), None, None], SCALARS)
    };
    let routes = desc.routes(&problem).expect("a valid description");
    assert_eq!([routes.a.route, routes.b.route], [Gathered, Direct]);
    let passes = Pass::before(&desc, (&routes, &problem), first).expect("a copy");
    let [Some(Pass::Gather(copy)), None, None] = passes else { panic!("{passes:?}") };
    assert_eq!(copy.addresses[1..], [first, first + routes.a.bytes]);
}
