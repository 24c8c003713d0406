//! Views of matrices: their shapes, and results of matrices whose lines overlap. Transposes read
//! and write views.

use crate::harness::prelude::*;

pub(super) const SHAPES: [(usize, usize, usize); 4] =
    [(5, 7, 3), (1, 9, 4), (33, 1, 17), (64, 48, 40)];

/// Memory of a view: row-major or column-major, with additional rows and columns.
pub(super) struct Stored {
    pub(super) memory: Vec<f32>,
    shape: (usize, usize),
    column_major: bool,
}

impl Stored {
    pub(super) fn new(shape: (usize, usize), column_major: bool, seed: usize) -> Self {
        let length = (shape.0 + 3) * (shape.1 + 4);
        Self { memory: (0..length).map(|i| rounding(i + seed)).collect(), shape, column_major }
    }

    /// Returns the view of the middle of the memory.
    pub(super) fn view(&self) -> MatRef<'_, f32> {
        let (rows, columns) = self.shape;
        let whole = if self.column_major {
            MatRef::new(&self.memory, (columns + 4, rows + 3)).t()
        } else {
            MatRef::new(&self.memory, (rows + 3, columns + 4))
        };
        whole.rows(2..rows + 2).unwrap().columns(1..=columns).unwrap()
    }
}

/// Returns the elements of a view in row-major order.
pub(super) fn packed<T: Element>(view: MatRef<'_, T>) -> Vec<T> {
    let (rows, columns) = view.shape();
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    all.map(|(row, column)| view.get(row, column).unwrap()).collect()
}

/// Strides of matrices whose lines overlap.
pub(super) const OVERLAPPING: [[isize; 2]; 6] = [[0, 1], [1, 0], [1, 1], [2, 1], [1, 8], [16, 1]];

/// Lines of A and B may overlap, down to a stride of 0, which repeats one line. Kernels read such
/// matrices from a copy for TMA. The result has the bits of packed copies.
#[test]
fn lines_of_inputs_may_overlap() {
    let gemm = HopperK::<Bf16, f32>::new();
    let memory: Vec<_> = (0..2000).map(|i| Bf16::from_f32(rounding(i))).collect();
    for (m, n, k) in SHAPES {
        for (down, across) in OVERLAPPING.iter().flat_map(|a| OVERLAPPING.map(|b| (*a, b))) {
            let mut results = [(); 2].map(|()| vec![f32::NAN; m * n]);
            let [d, wanted] = &mut results;
            let a = MatRef::new(&memory, (m, k)).strides(down[0], down[1]);
            let b = MatRef::new(&memory, (k, n)).strides(across[0], across[1]);
            gemm.run(Arguments::new((m, n, k), a, b, &mut *d)).unwrap();
            let (a, b) = (packed(a), packed(b.t()));
            gemm.run(Arguments::new((m, n, k), &a, &b, &mut *wanted)).unwrap();
            assert!(d == wanted, "{m} {n} {k} {down:?} {across:?}");
        }
    }
}

#[test]
fn owned_matrices_check_their_shape() {
    let mat = Mat::from_fn((2, 3), |row, column| (10 * row + column) as i32).unwrap();
    assert_eq!(mat.elements(), [0, 1, 2, 10, 11, 12]);
    assert_eq!((mat.get(1, 2), mat.get(2, 0), mat.get(0, 3)), (Some(12), None, None));
    let refused = Mat::from_vec(vec![1.0f32; 5], (2, 3)).unwrap_err();
    assert_eq!(refused.to_string(), "length of the tensor = 5 elements is not 2 x 3");
    assert_eq!(Mat::from_vec(vec![1.0f32; 6], (2, 3)).unwrap().into_vec(), [1.0; 6]);
    for shape in [(usize::MAX, 2), (1 << 40, 1 << 20)] {
        let refused = Mat::<f32>::zeros(shape).unwrap_err();
        assert!(matches!(refused, Refusal { field: Field::Matrix, .. }), "{refused}");
    }
    assert!(Mat::<f32>::from_fn((3, 0), |_, _| 1.0).unwrap().elements().is_empty());
}

/// A transpose reads and writes sub-views of row-major matrices, and refuses other views.
#[test]
fn transposes_accept_row_major_views() {
    let a = Stored::new((6, 4), false, 1);
    let mut d = vec![7.0f32; 5 * 9];
    let part = MatMut::new(&mut d, (5, 9)).rows(1..).unwrap().columns(2..8).unwrap();
    Transpose::<f32>::new().run(Arguments::transpose((6, 4), a.view(), part)).unwrap();
    for (index, &x) in d.iter().enumerate() {
        let (row, column) = (index / 9, index % 9);
        let inside = row >= 1 && (2..8).contains(&column);
        let wanted = if inside { a.view().get(column - 2, row - 1).unwrap() } else { 7.0 };
        assert_eq!(x, wanted, "{row} {column}");
    }
    let mut d = [0.0f32; 24];
    let mut refused = |a: MatRef<'_, f32>, leading: Option<usize>| {
        let arguments = Arguments::transpose((6, 4), a, &mut d);
        let arguments = match leading {
            Some(leading) => arguments.lda(leading),
            None => arguments,
        };
        let Error::Refused(refusal) = Transpose::<f32>::new().run(arguments).unwrap_err() else {
            panic!("no refusal")
        };
        *refusal
    };
    let memory = [1.0f32; 64];
    let view = MatRef::new(&memory, (6, 4));
    assert!(matches!(
        refused(MatRef::col_major(&memory, (6, 4)), None),
        Refusal { field: Field::StridesOf(_), .. }
    ));
    assert!(matches!(
        refused(view.strides(-4, 1), None),
        Refusal { field: Field::StridesOf(_), .. }
    ));
    assert!(matches!(
        refused(MatRef::new(&memory, (4, 6)), None),
        Refusal { field: Field::ShapeOf(_), .. }
    ));
    assert!(matches!(refused(view, Some(4)), Refusal { rule: Rule::SetOnce, .. }));
    assert!(matches!(refused(view.ld(20), None), Refusal { field: Field::Length(_), .. }));
}
