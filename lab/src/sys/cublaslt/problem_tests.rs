use super::*;
use Order::{Col, Row};

fn operand(order: Order, rows: u64, columns: u64) -> LtOperand {
    let ld = if order == Row { columns } else { rows } + 1;
    LtOperand { element: ElementKind::F64, order, ld, batch_stride: 0 }
}

/// Returns element `(i, j)` of op(X) for a column-major `x` in `memory`, as cuBLASLt defines it.
fn read(memory: &[f64], x: &Stored, i: u64, j: u64) -> f64 {
    let (i, j) = if x.transposed { (j, i) } else { (i, j) };
    assert!(i < x.rows && j < x.columns && x.ld >= x.rows, "({i}, {j}) of {x:?}");
    memory[(i + j * x.ld) as usize]
}

fn address(x: &LtOperand, i: u64, j: u64) -> usize {
    (if x.order == Row { i * x.ld + j } else { j * x.ld + i }) as usize
}

#[test]
fn the_column_major_form_computes_the_same_gemm() {
    let (m, n, k) = (3, 4, 5);
    for (a, b, d) in [Row, Col]
        .into_iter()
        .flat_map(|a| [Row, Col].map(|b| (a, b)))
        .flat_map(|(a, b)| [(a, b, Row), (a, b, Col)])
    {
        let problem = LtProblem {
            m,
            n,
            k,
            a: operand(a, m, k),
            b: operand(b, k, n),
            c: operand(d, m, n),
            d: operand(d, m, n),
            batch: 1,
            compute: cublasComputeType_t::CUBLAS_COMPUTE_64F,
            scale: ElementKind::F64,
            alpha: 1.0,
            beta: 0.0,
            epilogue: LtEpilogue::Default,
            fast_accumulation: false,
            alignment: [ALIGNMENT_BYTES; 4],
        };
        let filled = |x: &LtOperand, rows, columns, salt: u64| -> Vec<f64> {
            (0..x.span_bytes(rows, columns, 1).unwrap() as u64 / 8)
                .map(|i| ((i * 7 + salt) % 11) as f64)
                .collect()
        };
        let (ma, mb) = (filled(&problem.a, m, k, 1), filled(&problem.b, k, n, 5));
        let form = problem.column_major();
        assert_eq!(form.c, form.d);
        let (first, second) = if form.swapped { (&mb, &ma) } else { (&ma, &mb) };
        let mut result = vec![f64::NAN; problem.d.span_bytes(m, n, 1).unwrap() / 8];
        for j in 0..form.d.columns {
            for i in 0..form.d.rows {
                result[(i + j * form.d.ld) as usize] = (0..k)
                    .map(|p| read(first, &form.first, i, p) * read(second, &form.second, p, j))
                    .sum();
            }
        }
        for i in 0..m {
            for j in 0..n {
                let expected: f64 = (0..k)
                    .map(|p| ma[address(&problem.a, i, p)] * mb[address(&problem.b, p, j)])
                    .sum();
                assert_eq!(
                    result[address(&problem.d, i, j)],
                    expected,
                    "{a:?} {b:?} {d:?} at ({i}, {j})"
                );
            }
        }
    }
}

#[test]
fn row_major_tn_equals_column_major_tn_with_swapped_operands() {
    let mut problem = LtProblem {
        m: 3,
        n: 4,
        k: 5,
        a: operand(Row, 3, 5),
        b: operand(Col, 5, 4),
        c: operand(Col, 3, 4),
        d: operand(Row, 3, 4),
        batch: 1,
        compute: cublasComputeType_t::CUBLAS_COMPUTE_64F,
        scale: ElementKind::F64,
        alpha: 1.0,
        beta: 0.0,
        epilogue: LtEpilogue::Default,
        fast_accumulation: false,
        alignment: [ALIGNMENT_BYTES; 4],
    };
    let form = problem.column_major();
    // Both operands are K-major, the library's preferred form: the first is transposed, and the
    // second is not.
    assert!(form.swapped && form.first.transposed && !form.second.transposed);
    assert_eq!(
        (form.first.rows, form.first.columns, form.second.rows, form.second.columns),
        (5, 4, 5, 3)
    );
    assert!(form.c.row_major && !form.d.row_major);
    assert_eq!((form.c.rows, form.c.columns), (4, 3));
    problem.d.order = Col;
    assert!(!problem.column_major().swapped && problem.column_major().first.transposed);
}

/// The batch strides stay with their operands, with swapped operands or without. A shared matrix
/// has a stride of 0.
#[test]
fn strides_of_a_batch_stay_with_their_operands() {
    for d in [Row, Col] {
        let apart = |order, batch_stride| LtOperand { batch_stride, ..operand(order, 8, 8) };
        let (a, b, c, d) = (apart(Row, 100), apart(Col, 0), apart(d, 200), apart(d, 300));
        let (compute, scale) = (cublasComputeType_t::CUBLAS_COMPUTE_64F, ElementKind::F64);
        let (m, n, k, batch, alpha, beta, fast_accumulation) = (8, 8, 8, 5, 1.0, 0.0, false);
        let form = LtProblem {
            m,
            n,
            k,
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
            alignment: [ALIGNMENT_BYTES; 4],
        }
        .column_major();
        let strides = [form.first, form.second, form.c, form.d].map(|x| x.batch_stride);
        assert_eq!(strides, if form.swapped { [0, 100, 200, 300] } else { [100, 0, 200, 300] });
    }
}

#[test]
fn spans_count_leading_dimensions_and_batches() {
    let x = LtOperand { element: ElementKind::Bf16, order: Row, ld: 10, batch_stride: 100 };
    assert_eq!(x.span_bytes(3, 4, 1), Some(2 * (20 + 4)));
    assert_eq!(x.span_bytes(3, 4, 2), Some(2 * (20 + 4 + 100)));
    assert_eq!(LtOperand { batch_stride: 0, ..x }.span_bytes(3, 4, 9), x.span_bytes(3, 4, 1));
    assert_eq!(x.span_bytes(0, 4, 1), Some(0));
    assert_eq!(LtOperand { ld: u64::MAX, ..x }.span_bytes(u64::MAX, 4, 1), None);
}
