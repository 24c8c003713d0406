//! GEMMs whose types, layouts, and sizes are run-time values: a `GemmOperation` equals the `Gemm`
//! of its types.

use crate::harness::{
    integers::{Data, stored},
    prelude::*,
};

const ORDERS: [Order; 2] = [Order::Row, Order::Col];

/// Checks that the operation of a GEMM's types has the descriptions of the typed GEMM, for any
/// problem and machine.
macro_rules! check_same_descriptions {
    ($($a:ty, $la:ty, $b:ty, $lb:ty, $c:ty, $lc:ty, $acc:ty, $op:ty;)*) => {
        $({
            type Typed = Gemm<$a, $la, $b, $lb, $c, $lc, $acc, $op>;
            use falchion::{arch::OpClass, layout::Layout};
            let [a, b, accumulator, c] = [<$a>::KIND, <$b>::KIND, <$acc>::KIND, <$c>::KIND];
            let orders = [<$la>::ORDER, <$lb>::ORDER, <$lc>::ORDER];
            let operation = GemmOperation::from_request(&request_of(<$op>::KIND.expect("units"), Combined { a, b, accumulator, c }, orders, &[])).expect("a kernel");
            assert_eq!(operation.desc(), Typed::DESC);
            for arch in [ArchKind::Sm80, ArchKind::Sm90] {
                for extents in [(64, 64, 64), (4096, 2112, 7168), (8192, 8192, 8192)] {
                    let machine = arch.machine();
                    let size = ProblemSize { batch: 3, ..ProblemSize::new(extents) };
                    assert_eq!(operation.desc_for(&size, &machine), Typed::new().desc_for(&size, &machine));
                }
            }
        })*
    };
}
pub(crate) use check_same_descriptions;

#[test]
fn an_operation_equals_the_gemm_of_its_types() {
    check_same_descriptions! {
        Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp;
        Bf16, ColMajor, Bf16, RowMajor, f32, ColMajor, f32, TensorOp;
        i8, RowMajor, i8, RowMajor, i32, ColMajor, i32, TensorOp;
        f32, ColMajor, f32, ColMajor, f32, ColMajor, f32, TensorOp;
    }
}

/// Returns the units and the architecture on a machine with a given architecture tag.
pub(super) fn units_on(operation: &GemmOperation, arch: ArchKind) -> (OpKind, ArchKind) {
    let class = operation.on(Some(&arch.machine())).expect("units").desc().class();
    (class.op, class.arch)
}

/// Every type combination with a kernel in every layout, from bytes. Sums of small integers are
/// exact in each type, except for 8-bit results, which saturate.
#[test]
fn every_type_combination_multiplies_bytes_in_every_layout() {
    let mut random = Random::new(26);
    let (m, n, k) = (9, 7, 5);
    for (op, types) in
        OpKind::ALL.into_iter().flat_map(|op| multiplied(op).into_iter().map(move |row| (op, row)))
    {
        for orders in (0..8).map(|bits| [0, 1, 2].map(|which| ORDERS[bits >> which & 1])) {
            let operation =
                GemmOperation::from_request(&request_of(op, types, orders, &[])).expect("a row");
            let [a, b] = [(types.a, m * k), (types.b, k * n)].map(|(kind, count)| {
                let least = if kind == ElementKind::U8 { 0 } else { -2 };
                Data::new(kind, (0..count).map(|_| random.below(6) as i32 + least))
            });
            let mut d = Data::new(types.c, (0..m * n).map(|_| 126));
            let any_a = AnySlice::from_bytes(types.a, a.slice().bytes());
            let any_b = AnySlice::from_bytes(types.b, b.slice().bytes());
            let any_d = AnySliceMut::from_bytes(types.c, d.slice_mut().into_bytes());
            operation
                .run(Arguments::new((m, n, k), any_a, any_b, any_d))
                .unwrap_or_else(|error| panic!("{types:?}: {error}"));
            let [la, lb, lc] =
                [orders[0].packed(m, k), orders[1].packed(k, n), orders[2].packed(m, n)];
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let product =
                    |x| a.get(orders[0].offset(i, x, la)) * b.get(orders[1].offset(x, j, lb));
                let (got, want) =
                    (d.get(orders[2].offset(i, j, lc)), (0..k).map(product).sum::<f64>());
                let want = stored(types.c, want);
                assert_eq!(got, want, "{op} {types:?} {orders:?} ({i}, {j})");
            }
        }
    }
}

/// Leading dimensions, C, vectors, batches, and scalars equal those of typed calls.
#[test]
fn run_time_arguments_equal_typed_arguments() {
    type Typed = HopperK<F16, f32, ColMajor>;
    let mut random = Random::new(14);
    let mut numbers =
        |count: usize| -> Vec<f32> { (0..count).map(|_| random.below(7) as f32 - 3.0).collect() };
    let (m, n, k) = (5, 6, 4);
    let [a, b] = [2 * 5 * 7, 6 * 9]
        .map(|count| numbers(count).into_iter().map(F16::from_f32).collect::<Vec<_>>());
    let [c, poison] = [numbers(2 * 6 * 8), vec![f32::NAN; 2 * 6 * 6]];
    let (mut typed, mut valued) = (poison.clone(), poison);
    macro_rules! arguments {
        ($arguments:expr, $c:expr) => {
            $arguments
                .alpha(0.5)
                .source(-2.0, $c)
                .lda(7)
                .ldb(9)
                .ldc(8)
                .ldd(6)
                .batch(2)
                .batch_stride_b(0)
        };
    }
    Typed::new()
        .run(arguments!(Arguments::new((m, n, k), &a, &b, &mut typed), &c))
        .expect("a product");
    let request = request(["f16:row", "f16:col", "f32:col"], &[]);
    let request = Request { arch: Some(ArchKind::Sm90), ..request };
    let operation = GemmOperation::from_request(&request).expect("a kernel");
    assert_eq!(operation.desc(), Typed::DESC);
    let d = AnySliceMut::new::<f32>(&mut valued);
    let (any_a, any_b) = (
        AnySlice::new::<F16>(&a),
        AnySlice::from_bytes(ElementKind::F16, bytemuck::cast_slice(&b)),
    );
    let call = arguments!(Arguments::new((m, n, k), any_a, any_b, d), AnySlice::new::<f32>(&c));
    operation.can_implement(&call).expect("it fits");
    assert_eq!(operation.workspace_size(&call), Ok(0));
    operation.run(call).expect("a product");
    assert_eq!(bits(&typed), bits(&valued));
    assert!(
        typed.iter().any(|x| x.is_nan()) && typed.iter().filter(|x| !x.is_nan()).count() == 2 * 30
    );
}

/// The letters of BLAS in both cases, with padded leading dimensions, equal the definition.
#[test]
fn blas_letters_transpose() {
    let mut random = Random::new(1979);
    let (m, n, k) = (4, 3, 5);
    for [ta, tb] in [['N', 'N'], ['n', 'T'], ['t', 'N'], ['C', 'c'], ['T', 'n']] {
        let transposed = [ta, tb].map(|letter| !letter.eq_ignore_ascii_case(&'N'));
        // The stored matrix: m x k or k x m, column-major.
        let extents =
            |transposed, rows, columns| if transposed { (columns, rows) } else { (rows, columns) };
        let ((rows_a, columns_a), (rows_b, columns_b)) =
            (extents(transposed[0], m, k), extents(transposed[1], k, n));
        let (lda, ldb, ldc) = (rows_a + 2, rows_b + 1, m + 3);
        let mut numbers = |count: usize| -> Vec<f64> {
            (0..count).map(|_| random.below(9) as f64 - 4.0).collect()
        };
        let (a, b, c) = (numbers(lda * columns_a), numbers(ldb * columns_b), numbers(ldc * n));
        let mut d = c.clone();
        let blas = |letter| MatrixType::blas(ElementKind::F64, letter).expect("a letter of BLAS");
        let operation = GemmOperation::new(blas(ta), blas(tb), MatrixType::col(ElementKind::F64))
            .expect("a kernel")
            .typed::<f64, f64, f64>()
            .expect("f64 operands");
        let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
        operation
            .run(arguments.alpha(2.0).in_place(-1.0).lda(lda).ldb(ldb).ldd(ldc))
            .expect("a product");
        for (at, &got) in d.iter().enumerate() {
            let (i, j) = (at % ldc, at / ldc);
            let of = |x: &[f64], transposed, ld, i: usize, j: usize| {
                if transposed { x[j + i * ld] } else { x[i + j * ld] }
            };
            let product = |x| of(&a, transposed[0], lda, i, x) * of(&b, transposed[1], ldb, x, j);
            let want = if i < m { 2.0 * (0..k).map(product).sum::<f64>() - c[at] } else { c[at] };
            assert_eq!(got, want, "{ta}{tb} ({i}, {j})");
        }
    }
    // Words are case-sensitive.
    assert!(
        OpKind::ALL
            .into_iter()
            .all(|op| matches!(op.name().parse::<OpKind>(), Ok(read) if read == op))
    );
    let said = |read: Result<OpKind, Error>| read.message();
    assert_eq!(said("tensor".parse()), "the word `tensor` is none of simt, tensorop");
    let refused = MatrixType::blas(ElementKind::F32, 'x').unwrap_err().to_string();
    assert_eq!(
        refused,
        "the transposition `x` is not a BLAS letter; the letters are `N`, `T`, and `C`"
    );
}

/// An operation without a kernel is refused when it is created. The message uses the words of types
/// and flags.
#[test]
fn operations_without_a_kernel_are_refused() {
    let says = |request: &Request| GemmOperation::from_request(request).message();
    let matrix = |text: &str| Some(text.parse().expect("a matrix"));
    let mixed = request(["f32:row", "f64:row", "f32:row"], &[]);
    assert_eq!(
        says(&mixed),
        "no kernel multiplies f32 by f64 accumulating in f32 into f32; try f32 by f32 accumulating in f32 into f32"
    );
    let swizzle = request(["bf16:row"; 3], &[("swizzle", "99")]);
    assert_eq!(
        says(&swizzle),
        "swizzle = 99 is outside 1 to 64; try 64; no kernel was found with this swizzle"
    );
    let halves = GemmOperation::from_request(&Request {
        a: matrix("bf16:row"),
        op: Some(OpKind::TensorOp),
        ..Request::default()
    });
    let given = Request {
        description: Some(halves.expect("a kernel").desc()),
        a: matrix("f16:row"),
        ..Request::default()
    };
    assert!(says(&given).ends_with("A is bf16:row, but f16:row is requested"), "{}", says(&given));
}
