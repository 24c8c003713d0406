//! Each GEMM of a pointer array has the bits of a separate call, for any addresses of the matrices.

mod simt;
mod simt_ring;
mod wgmma_ring;

use crate::harness::prelude::*;
use falchion::device::Host;
use std::slice;

/// Source of C.
#[derive(Clone, Copy, PartialEq, Debug)]
enum From {
    Nowhere,
    Own,
    Shared,
    D,
}

/// Matrices of several GEMMs. Each matrix has its own buffer, with a growing surplus of elements.
struct Products<A: MathType, C: MathType> {
    problem: Problem,
    from: From,
    a: Vec<Vec<A::Storage>>,
    b: Vec<Vec<A::Storage>>,
    c: Vec<Vec<C::Storage>>,
    d: Vec<Vec<C::Storage>>,
    operands: EpilogueOperands<Vec<C::Storage>>,
}

impl<A: MathType, C: MathType> Products<A, C> {
    fn new(desc: &GemmDesc, (m, n, k): (usize, usize, usize), products: usize, from: From) -> Self {
        let (orders, mut scalars) = (desc.orders(), [0.0; 8]);
        scalars[..2].copy_from_slice(if from == From::Nowhere {
            &[1.0, 0.0]
        } else {
            &[2.0, -1.0]
        });
        let view = |order: Order, (rows, columns): (usize, usize)| {
            let view = View::packed(
                Elements::ALL,
                order,
                (rows, columns),
                Some(order.packed(rows, columns) + 3),
            );
            view.with(Elements::new(view.elements((rows, columns), 1) as usize))
        };
        let (a, b, d) = (view(orders.a, (m, k)), view(orders.b, (k, n)), view(orders.c, (m, n)));
        let c = match from {
            From::Nowhere => Source::None,
            From::D => Source::InPlace,
            From::Own | From::Shared => Source::Matrix(d),
        };
        let length =
            |kind: EpilogueOperand| if kind.side() == Some(OperandKind::A) { m } else { n };
        let operands = EpilogueOperands::by(|kind| {
            kind.side().map(|side| View::vector(Elements::new(length(kind)), side))
        });
        let problem = Problem { c, operands, scalars, ..problem_of((m, n, k), [a, b, d]) };
        fn all<E: MathType>(products: usize, seed: u64, length: usize) -> Vec<Vec<E::Storage>> {
            (0..products)
                .map(|number| finite::<E>(seed + 10 * number as u64, length + number))
                .collect()
        }
        let operands =
            EpilogueOperands::by(|kind| Some(finite::<C>(4 + kind.index() as u64, length(kind))));
        let (a, b) =
            (all::<A>(products, 1, a.memory.length), all::<A>(products, 2, b.memory.length));
        let (c, d) =
            (all::<C>(products, 3, d.memory.length), all::<C>(products, 4, d.memory.length));
        Self { problem, from, a, b, c, d, operands }
    }

    /// Returns the call of each GEMM, which writes to `d`.
    fn calls<'a>(&'a self, d: &'a mut [Vec<C::Storage>]) -> Vec<HostCall<'a>> {
        let of_each = d.iter_mut().enumerate().map(|(number, d)| {
            let source = if self.from == From::Shared { 0 } else { number };
            self.problem.with(HostMatrices {
                a: HostSlice::new::<A>(&self.a[number]),
                b: HostSlice::new::<A>(&self.b[number]),
                c: self.problem.c.map(|_| HostSlice::new::<C>(&self.c[source])),
                d: HostSliceMut::new::<C>(d),
                operands: self.operands.as_ref().map(|_, vector| HostSlice::new::<C>(vector)),
            })
        });
        of_each.collect()
    }
}

fn bytes<E: bytemuck::Pod>(all: &[Vec<E>]) -> Vec<u8> {
    all.iter().flat_map(|one| bytemuck::cast_slice::<_, u8>(one).to_vec()).collect()
}

const CHECKED: Mode = Mode::Checked { seed: 9 };

/// Compares an array with separate GEMMs, in both modes.
pub(super) fn compare<A: MathType, C: MathType>(
    desc: &GemmDesc,
    extents: (usize, usize, usize),
    products: usize,
) {
    for from in [From::Nowhere, From::Own, From::Shared, From::D] {
        let of = Products::<A, C>::new(desc, extents, products, from);
        for mode in [Mode::Fast, CHECKED] {
            let (mut together, mut alone) = (of.d.clone(), of.d.clone());
            run_in_mode(&Array(desc), mode, of.calls(&mut together))
                .unwrap_or_else(|error| panic!("{error}"));
            of.calls(&mut alone)
                .into_iter()
                .for_each(|call| run_in_mode(desc, mode, call).expect("a product"));
            assert!(
                bytes(&together) == bytes(&alone),
                "{mode:?}, C from {from:?}: {:?}",
                of.problem
            );
            assert!(
                of.d.iter()
                    .zip(&together)
                    .all(|(before, d)| bytes(slice::from_ref(before)) != bytes(slice::from_ref(d))),
                "nothing written"
            );
        }
    }
}

/// Warp-specialized kernels, with passes.
#[test]
fn each_gemm_of_an_array_has_the_bits_of_a_separate_call() {
    type Hopper<LC> = HopperK<Bf16, f32, LC>;
    type Emulated = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, TensorOp, Sm90>;
    compare::<Bf16, f32>(&Hopper::<RowMajor>::DESC, (130, 7, 66), 2);
    compare::<f32, f32>(&Emulated::DESC, (5, 9, 40), 2);
    compare::<Bf16, f32>(
        &Hopper::<ColMajor>::new().epilogue::<WithVectors>().desc(),
        (9, 130, 3),
        2,
    );
}

/// Mutation of the map with the addresses and positions of a GEMM, given the number of GEMMs.
type Misplace = fn(&mut Map, u32);

/// Columns 0 to 3 of the map are the addresses of A, B, C, and D. Columns 4 to 7 are their
/// positions.
const MISPLACED: [(&str, Misplace); 5] = [
    ("every GEMM reads the first A", |map, _| {
        redirect(map, |i, x| (if x % 4 == 0 { 0 } else { i }, x))
    }),
    ("B is the B of the next GEMM", |map, n| next(map, n, |x| x % 4 == 1)),
    ("C is the C of the next GEMM", |map, n| next(map, n, |x| x % 4 == 2)),
    ("D is the D of the next GEMM", |map, n| next(map, n, |x| x % 4 == 3)),
    ("C is the GEMM's D", |map, _| redirect(map, |i, x| (i, x + u32::from(x % 4 == 2)))),
];

fn next(map: &mut Map, products: u32, moves: fn(u32) -> bool) {
    redirect(map, move |i, x| (if moves(x) { (i + 1) % products } else { i }, x));
}

/// Checks that wrong addresses or units of a correct program change D or fail.
fn every_misplacement_is_found<P: Clone>(
    (program, products): (&P, u32),
    parts: fn(&mut P) -> (&mut Map, &mut Units),
    more: (&'static str, Misplace),
    run: impl Fn(&P) -> Result<Vec<u8>, Error>,
) {
    let right = run(program).expect("a correct program");
    let found = |name: &str, change: &dyn Fn(&mut Map, &mut Units)| {
        let mut mutant = program.clone();
        let (map, units) = parts(&mut mutant);
        change(map, units);
        assert!(!run(&mutant).is_ok_and(|d| d == right), "{name}");
    };
    for (name, misplace) in MISPLACED.into_iter().chain([more]) {
        found(name, &|map, _| misplace(map, products));
    }
    found("every unit computes the first GEMM", &|_, units| {
        *units = Arc::new(|work, cluster, rank, i| {
            Some(Unit { product: 0, ..work.unit(cluster, rank, i)? })
        });
    });
}

/// Checks that wrong addresses of a GEMM are found.
pub(super) fn mutated_addresses_are_found<A: MathType>(desc: &GemmDesc) {
    let desc = desc.for_array(3);
    assert_eq!(desc.work.mode, GemmMode::Array);
    let of = Products::<A, f32>::new(&desc, (5, 7, 40), 3, From::Own);
    let run = |program: &Program| {
        let mut d = of.d.clone();
        run_in_mode(&Array(program), CHECKED, of.calls(&mut d)).map(|()| bytes(&d))
    };
    every_misplacement_is_found(
        (&desc.one_schedule().expect("a kernel"), 3),
        |program| (&mut program.records, &mut program.units),
        ("A and B are swapped", |map, _| redirect(map, |i, x| (i, x ^ u32::from(x < 2)))),
        run,
    );
}

type Columns = HopperColumns<Bf16, f32>;
type OfColumns<'a> = Arguments<'a, Host, Bf16, Bf16, f32>;

/// Refusals of arrays name the operands of the user.
#[test]
fn invalid_arrays_are_refused_by_name() {
    let (a, b) = (vec![vec![Bf16::ONE; 12]; 3], vec![vec![Bf16::ONE; 15]; 3]);
    let mut d = vec![vec![7.0f32; 20]; 3];
    let made = |of_a: &[Vec<Bf16>], of_b: &[Vec<Bf16>], d: &mut [Vec<f32>]| {
        let array = OfColumns::array((4, 5, 3), of_a, of_b, d);
        let array = array.map_err(|refusal| refusal.to_string())?;
        Columns::new().run(array).map_err(|error| error.to_string())
    };
    let counts = |operand: &str, given: usize, wanted: usize| {
        let sentence = "is not {} (number of Ds); try {}".replace("{}", &wanted.to_string());
        Err(format!("number of matrices of {operand} = {given} {sentence}"))
    };
    assert_eq!(made(&a, &b, &mut []), counts("A", 3, 0));
    let none = "number of GEMMs = 0 is outside 1 to 2147483647; try 1";
    assert_eq!(made(&[], &[], &mut []), Err(none.to_owned()));
    assert_eq!(made(&a[..2], &b, &mut d), counts("A", 2, 3));
    assert_eq!(made(&a, &b[1..], &mut d), counts("B", 2, 3));
    assert_eq!(made(&a, &b, &mut d[..1]), counts("A", 3, 1));
    let short = [12, 11, 12].map(|length| vec![Bf16::ONE; length]);
    let said = "length of A = 11 elements is less than 12 elements (4 x 3, leading dimension 4)";
    assert_eq!(made(&short, &b, &mut d), Err(said.to_owned()));
    let mut one_short = vec![vec![7.0; 20], vec![7.0; 20], vec![7.0; 19]];
    let said = "length of D = 19 elements is less than 20 elements (4 x 5, leading dimension 4)";
    assert_eq!(made(&a, &b, &mut one_short), Err(said.to_owned()));
    // A refused array computes no GEMM.
    assert_eq!(
        (&d, &one_short[..2]),
        (&vec![vec![7.0; 20]; 3], &[vec![7.0; 20], vec![7.0; 20]][..])
    );
    let array = |d: &mut [Vec<f32>], change: fn(OfColumns<'_>) -> OfColumns<'_>| {
        let array = OfColumns::array((4, 5, 3), &a, &b, d).expect("an array");
        Columns::new().can_implement(&change(array)).map_err(|refusal| refusal.to_string())
    };
    let beside = "batch is not supported by pointer arrays; do not set batch or groups";
    assert_eq!(array(&mut d, |x| x.batch(2)), Err(beside.to_owned()));
    assert_eq!(array(&mut d, |x| x.groups(&[0, 4])), Err(beside.to_owned()));
    assert_eq!(array(&mut d, |x| x), Ok(()));
    let array = OfColumns::array((4, 5, 3), &a, &b, &mut d).expect("an array");
    let sources =
        array.sources(1.0, &[[1.0f32; 20]; 2]).map(|_| ()).map_err(|refusal| refusal.to_string());
    assert_eq!(sources, counts("C", 2, 3));
    // Calls that do not form an array.
    let of = Products::<Bf16, f32>::new(&Columns::DESC, (4, 5, 3), 3, From::Own);
    let unlike = |change: fn(&mut HostCall<'_>)| {
        let mut d = of.d.clone();
        let mut calls = of.calls(&mut d);
        change(&mut calls[2]);
        run_in_mode(&Array(&Columns::DESC), CHECKED, calls).map_err(|error| error.to_string())
    };
    assert_eq!(unlike(|_| ()), Ok(()));
    let changes: [fn(&mut HostCall<'_>); 5] = [
        |x| x.m = 3,
        |x| x.d.strides[1] += 1,
        |x| x.scalars[0] = 3.0,
        |x| x.c = Source::InPlace,
        |x| x.batch = 2,
    ];
    for change in changes {
        let said = unlike(change).expect_err("another operand");
        assert_eq!(
            said,
            "GEMM 2 of the array differs from GEMM 0 (extents, strides, operands of the epilogue, or scalars)"
        );
    }
}

/// Typed and run-time arguments: one matrix for all GEMMs, separate Cs, and C in place.
#[test]
fn arguments_of_arrays_are_lists_of_matrices() -> Result<(), Error> {
    let (a, b) = (vec![Bf16::ONE; 12], [1.0, 2.0].map(|x| vec![Bf16::from_f32(x); 15]));
    let (c, mut d) = (vec![vec![10.0f32; 20], vec![20.0; 20]], vec![vec![1.0f32; 20]; 2]);
    let of_a = || core::iter::repeat_n(&a, 2);
    Columns::new().run(Arguments::array((4, 5, 3), of_a(), &b, &mut d)?.sources(2.0, &c)?)?;
    assert_eq!(d, [vec![23.0; 20], vec![46.0; 20]]);
    Columns::new().run(Arguments::array((4, 5, 3), of_a(), &b, &mut d)?.source(3.0, &c[0]))?;
    assert_eq!(d, [vec![33.0; 20], vec![36.0; 20]]);
    Columns::new().run(Arguments::array((4, 5, 3), of_a(), &b, &mut d)?.in_place(1.0))?;
    assert_eq!(d, [vec![36.0; 20], vec![42.0; 20]]);
    // An array may have one GEMM.
    Columns::new().run(Arguments::array((4, 5, 3), [&a], &b[1..], &mut d[..1])?)?;
    assert_eq!(d, [vec![6.0; 20], vec![42.0; 20]]);
    let by_values = request(["bf16:col", "bf16:col", "f32:col"], &[]);
    let by_values = Request { arch: Some(ArchKind::Sm90), ..by_values };
    let by_values = GemmOperation::from_request(&by_values)?;
    let (x, y) = (of_a().map(AnySlice::new::<Bf16>), b.iter().map(AnySlice::new::<Bf16>));
    by_values.run(Arguments::array((4, 5, 3), x, y, d.iter_mut().map(AnySliceMut::new::<f32>))?)?;
    assert_eq!(d, [vec![3.0; 20], vec![6.0; 20]]);
    let wrong = [AnySlice::new::<Bf16>(&a), AnySlice::new::<i32>(&[0; 12])];
    let (y, z) = (b.iter().map(AnySlice::new::<Bf16>), d.iter_mut().map(AnySliceMut::new::<f32>));
    let refused = by_values
        .run(Arguments::array((4, 5, 3), wrong, y, z)?)
        .expect_err("the second A holds integers");
    assert_eq!(refused.to_string(), "element type of A = i32 is not bf16");
    Ok(())
}
