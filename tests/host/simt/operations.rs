//! Operations of SIMT kernels.

use super::super::operations::{check_same_descriptions, units_on};
use crate::harness::prelude::*;
use falchion::layout::Orders;

#[test]
fn an_operation_equals_the_gemm_of_its_types() {
    check_same_descriptions! {
        f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt;
        f64, ColMajor, f64, RowMajor, f64, ColMajor, f64, Simt;
        F16, RowMajor, F16, ColMajor, F16, ColMajor, F16, Simt;
        i8, ColMajor, i8, ColMajor, f32, RowMajor, i32, Simt;
    }
}

#[test]
fn new_operation_uses_the_fastest_units_of_each_machine() {
    let of = |text: &str| text.parse().expect("a matrix");
    for types in ["f16", "bf16", "f64", "i8", "f32", "i32"] {
        let first = first_tensor_cores(types.parse().expect("an element"));
        let c = if types == "i8" { "i32:row" } else { &format!("{types}:row") };
        let ab = of(&format!("{types}:row"));
        let operation = GemmOperation::new(ab, ab, of(c)).expect("a kernel");
        assert_eq!(operation.desc().op(), OpKind::Simt, "{types} on the host");
        for arch in ArchKind::ALL {
            let best = first.is_some_and(|first| arch >= first);
            let op = if best { OpKind::TensorOp } else { OpKind::Simt };
            assert_eq!(units_on(&operation, arch), (op, arch), "{types}");
            let size = ProblemSize::new((300, 200, 100));
            assert_eq!(operation.desc_for(&size, &arch.machine()).op(), op, "{types}");
        }
    }
}

#[test]
fn request_names_cuda_cores_for_every_machine() {
    let matrix = |text: &str| Some(text.parse().expect("a matrix"));
    let bf16 = Request { a: matrix("bf16:row"), b: matrix("bf16:row"), ..Request::default() };
    let simt = Request { op: Some(OpKind::Simt), ..bf16 };
    let simt = GemmOperation::from_request(&simt).expect("a kernel");
    assert_eq!(units_on(&simt, ArchKind::Sm90), (OpKind::Simt, ArchKind::Sm80));
}

#[test]
fn request_without_layouts_is_row_major() {
    let row = Orders { a: Order::Row, b: Order::Row, c: Order::Row };
    let operation = GemmOperation::from_request(&Request::default()).expect("a kernel");
    assert_eq!(operation.desc().orders(), row);
}

/// An operand of another type is refused with both types. Bytes that are not aligned to the element
/// are refused too.
#[test]
fn operands_of_another_type_are_refused_by_name() {
    let of = MatrixType::row(ElementKind::F32);
    let epilogue = [("epilogue", "acc + beta * c + bias_n")];
    let operation =
        GemmOperation::from_request(&request(["f32:row"; 3], &epilogue)).expect("a kernel");
    let (x, mut d, wide) = ([1.0f32; 4], [0.0f32; 4], [1.0f64; 4]);
    let bias = Operand::Epilogue(EpilogueOperand::BiasN);
    for wrong in [Operand::A, Operand::B, Operand::C, bias, Operand::D] {
        let given = |operand| {
            if operand == wrong { AnySlice::new::<f64>(&wide) } else { AnySlice::new::<f32>(&x) }
        };
        let mut wide_d = [0.0f64; 4];
        let d = if wrong == Operand::D {
            AnySliceMut::new::<f64>(&mut wide_d)
        } else {
            AnySliceMut::new::<f32>(&mut d)
        };
        let arguments = Arguments::new((2, 2, 2), given(Operand::A), given(Operand::B), d)
            .source(1.0, given(Operand::C))
            .bias_n(given(bias));
        let refusal = Refusal::element_type(wrong, ElementKind::F64, ElementKind::F32);
        assert_eq!(operation.can_implement(&arguments), Err(refusal));
        assert_eq!(operation.workspace_size(&arguments), Err(refusal));
        let refused = operation.run(arguments).expect_err("refused");
        assert_eq!(refused.refusal(), Some(&refusal));
        let says = format!("element type of {} = f64 is not f32", wrong.name());
        assert_eq!(refused.to_string(), says);
    }

    let bytes = [0u8; 4 * 5];
    let begin = bytes.as_ptr().align_offset(4);
    let amid = |shift: usize| AnySlice::from_bytes(ElementKind::F32, &bytes[(begin + shift) % 4..]);
    for shift in 1..4 {
        let plain = GemmOperation::new(of, of, of).expect("a kernel");
        let arguments = Arguments::new(
            (2, 2, 2),
            AnySlice::new::<f32>(&x),
            amid(shift),
            AnySliceMut::new::<f32>(&mut d),
        );
        let refused = plain.run(arguments).message();
        let wanted = format!("address of B is not a multiple of 4 bytes (remainder {shift}; f32)");
        assert_eq!(refused, wanted);
    }
}
