use super::*;

#[test]
fn scalars_are_the_bytes_of_their_type() {
    assert_eq!(Scalar::new(1.0, ElementKind::F32).0[..4], 1.0f32.to_ne_bytes());
    assert_eq!(Scalar::new(-0.5, ElementKind::F64).0, (-0.5f64).to_ne_bytes());
    assert_eq!(Scalar::new(3.0, ElementKind::I32).0[..4], 3i32.to_ne_bytes());
    assert_eq!(Scalar::new(1.0, ElementKind::F16).0[..2], 0x3c00u16.to_ne_bytes());
    assert_eq!(align_of::<Scalar>(), 8);
}

/// The library accepts every descriptor. Descriptors need no device, and the library checks the
/// size of each attribute.
#[test]
#[ignore = "needs cuBLASLt"]
fn the_library_accepts_every_descriptor() {
    use crate::sys::cublaslt::{LtOperand, scale};
    use cudarc::cublaslt::sys::cublasComputeType_t::*;
    use falchion::layout::Order;
    let table = Table::get(None).unwrap();
    for (compute, element, batch) in [
        (CUBLAS_COMPUTE_32F, ElementKind::E4m3, 1),
        (CUBLAS_COMPUTE_32F_PEDANTIC, ElementKind::F32, 1),
        (CUBLAS_COMPUTE_32F_FAST_TF32, ElementKind::F32, 2),
        (CUBLAS_COMPUTE_64F, ElementKind::F64, 1),
        (CUBLAS_COMPUTE_16F, ElementKind::F16, 3),
        (CUBLAS_COMPUTE_32I, ElementKind::I8, 1),
    ] {
        let x = |order| LtOperand { element, order, ld: 16, batch_stride: 256 };
        let (a, b, c, d) = (
            x(Order::Row),
            LtOperand { batch_stride: 0, ..x(Order::Col) },
            x(Order::Col),
            x(Order::Row),
        );
        let scale = scale(compute);
        let (alpha, beta, fast_accumulation, alignment) =
            (1.0, 0.0, element == ElementKind::E4m3, [2, 256, 16, 4]);
        let problem = LtProblem {
            m: 16,
            n: 16,
            k: 16,
            a,
            b,
            c,
            d,
            batch,
            compute,
            scale,
            alpha,
            beta,
            epilogue: LtEpilogue::Default,
            fast_accumulation,
            alignment,
        };
        let plan = LtPlan::new(table, &problem, 0).unwrap();
        assert_eq!(plan.alignments(), [256, 2, 16, 4], "D is row-major: A and B change places");
        preference(table, 1 << 20, plan.alignments()).unwrap();
    }
}
