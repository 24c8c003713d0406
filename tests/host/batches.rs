//! Each GEMM of a batch has the bits of a separate call, for any strides and options.

use crate::harness::prelude::*;

/// Returns a view of a batch in a buffer of exactly its length. Interleaved matrices share rows.
fn view(
    order: Order,
    (rows, columns): (usize, usize),
    batch: usize,
    apart: Apart,
) -> View<Elements> {
    let line = order.packed(rows, columns);
    let view = View::packed(Elements::ALL, order, (rows, columns), Some(line + 3));
    let view = match apart {
        Apart::Packed => View::packed(Elements::ALL, order, (rows, columns), None),
        Apart::Padded => view.batched(view.batch_stride + 5),
        Apart::One => view.batched(0),
        Apart::Interleaved => View::new(Elements::ALL, order, line * batch + 2).batched(line),
    };
    view.with(Elements::new(view.elements((rows, columns), batch) as usize))
}

#[derive(Clone, Copy, Debug)]
enum Apart {
    Packed,
    Padded,
    One,
    Interleaved,
}

/// Compares a batch with separate GEMMs in both modes. Each separate GEMM starts at its first
/// elements in the same memory.
pub(super) fn compare<A: MathType, B: MathType, C: MathType>(
    desc: &GemmDesc,
    extents: (usize, usize, usize),
) {
    compare_in::<A, B, C>(&[Mode::Fast, Mode::Checked { seed: 9 }], desc, (extents, 3));
}

/// Compares a batch with separate GEMMs in some modes.
pub(super) fn compare_in<A: MathType, B: MathType, C: MathType>(
    modes: &[Mode],
    desc: &GemmDesc,
    ((m, n, k), batch): ((usize, usize, usize), usize),
) {
    use Apart::{Interleaved, One, Packed, Padded};
    let orders = desc.orders();
    for (case, [of_a, of_b, of_c, of_d]) in [
        [Packed; 4],
        [One, Padded, One, Padded],
        [Padded, One, Interleaved, Interleaved],
        [Interleaved, Padded, Padded, Packed],
    ]
    .into_iter()
    .enumerate()
    {
        let (a, b) = (view(orders.a, (m, k), batch, of_a), view(orders.b, (k, n), batch, of_b));
        let (c, d) = (view(orders.c, (m, n), batch, of_c), view(orders.c, (m, n), batch, of_d));
        let mut scalars = [0.0; 8];
        scalars[..2].copy_from_slice(if case == 0 { &[1.0, 0.0] } else { &[2.0, -1.0] });
        let length =
            |kind: EpilogueOperand| if kind.side() == Some(OperandKind::A) { m } else { n };
        let operands = EpilogueOperands::by(|kind| {
            kind.side().map(|side| View::vector(Elements::new(length(kind)), side))
        });
        let source = if case % 2 == 0 { Source::InPlace } else { Source::Matrix(c) };
        let problem =
            Problem { batch, c: source, operands, scalars, ..problem_of((m, n, k), [a, b, d]) };
        let (x, y) = (finite::<A>(1, a.memory.length), finite::<B>(2, b.memory.length));
        let of_vectors =
            EpilogueOperands::by(|kind| Some(finite::<C>(4 + kind.index() as u64, length(kind))));
        let (z, before) = (finite::<C>(3, c.memory.length), finite::<C>(4, d.memory.length));
        for &mode in modes {
            let run = |problem: Problem, d: &mut Vec<C::Storage>, number: usize| {
                let from = |view: View<Elements>| number * view.batch_stride;
                let matrices = HostMatrices {
                    a: HostSlice::new::<A>(&x[from(a)..]),
                    b: HostSlice::new::<B>(&y[from(b)..]),
                    c: problem.c.map(|_| HostSlice::new::<C>(&z[from(c)..])),
                    d: HostSliceMut::new::<C>(&mut d[number * problem.d.batch_stride..]),
                    operands: of_vectors.as_ref().map(|_, vector| HostSlice::new::<C>(vector)),
                };
                let call: HostCall<'_> = problem.with(matrices);
                run_in_mode(desc, mode, call)
                    .unwrap_or_else(|error| panic!("{error}\n{problem:?}"));
            };
            let (mut together, mut alone) = (before.clone(), before.clone());
            run(problem, &mut together, 0);
            let one = Problem { batch: 1, ..problem };
            for number in 0..batch {
                run(one, &mut alone, number);
            }
            let bytes = |d: &[C::Storage]| bytemuck::cast_slice::<_, u8>(d).to_vec();
            assert!(bytes(&together) == bytes(&alone), "{mode:?}, case {case}: {problem:?}");
            assert!(bytes(&together) != bytes(&before), "no mode wrote to D");
        }
    }
}

#[test]
fn each_gemm_of_a_batch_has_the_bits_of_a_separate_gemm() {
    type Hopper<LC> = HopperK<Bf16, f32, LC>;
    type Emulated = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, TensorOp, Sm90>;
    compare::<Bf16, Bf16, f32>(&Hopper::<RowMajor>::DESC, (130, 7, 66));
    compare::<Bf16, Bf16, f32>(
        &Hopper::<ColMajor>::new().epilogue::<WithVectors>().desc(),
        (9, 130, 3),
    );
    compare::<f32, f32, f32>(&Emulated::DESC, (5, 9, 40));
}

/// Batches of small GEMMs whose tiles several threads compute.
#[test]
fn batches_of_small_gemms_have_the_bits_of_separate_gemms() {
    for call in small_batches() {
        compare_in::<Bf16, Bf16, f32>(&[Mode::Fast], &HopperK::<Bf16, f32>::DESC, call);
    }
}

/// Returns extents and numbers of small GEMMs.
pub(super) fn small_batches() -> impl Iterator<Item = ((usize, usize, usize), usize)> {
    let extents = [(1, 1, 1), (225, 1, 4), (3, 70, 9), (140, 9, 2)];
    extents.into_iter().flat_map(|extents| [33, 401].map(|batch| (extents, batch)))
}

/// Mutation of a CTA's unit of work.
type Mutation = fn(&Work, Unit) -> Option<Unit>;

/// Checks that wrong units of a batch are found.
pub(super) fn wrong_units_are_found<A: MathType>(desc: &GemmDesc) {
    #[rustfmt::skip]
    let mutations: [(&str, Mutation); 4] = [
        ("every unit computes the first GEMM", |_, unit| Some(Unit { product: 0, ..unit })),
        ("GEMMs are numbered from 1", |_, unit| { Some(Unit { product: unit.product + 1, ..unit }) }),
        ("the last GEMM is omitted", |work, unit| { (unit.product + 1 < work.batch).then_some(unit) }),
        ("tiles of two GEMMs are swapped", |_, unit| { Some(Unit { row: unit.row ^ unit.product, ..unit }) }),
    ];
    fn run<A: MathType>(desc: &GemmDesc, program: &HostProgram) -> Result<Vec<f32>, Error> {
        let (m, n, k, batch) = (130, 7, 40, 3);
        let (orders, mut scalars) = (desc.orders(), [0.0; 8]);
        scalars[0] = 1.0;
        let (a, b) = (
            view(orders.a, (m, k), batch, Apart::Packed),
            view(orders.b, (k, n), batch, Apart::One),
        );
        let d = view(orders.c, (m, n), batch, Apart::Padded);
        let problem = Problem { batch, scalars, ..problem_of((m, n, k), [a, b, d]) };
        let (x, y, mut z) = (
            finite::<A>(1, a.memory.length),
            finite::<A>(2, b.memory.length),
            vec![f32::NAN; d.memory.length],
        );
        let (a, b) = (HostSlice::new::<A>(&x), HostSlice::new::<A>(&y));
        let matrices = matrices(a, b, HostSliceMut::new::<f32>(&mut z));
        run_in_mode(program, Mode::Checked { seed: 5 }, problem.with(matrices)).map(|()| z)
    }
    let program = HostProgram::new(desc).expect("a kernel");
    let right = run::<A>(desc, &program).expect("a correct program");
    for (name, mutated) in mutations {
        let units: Units =
            Arc::new(move |work, cluster, rank, i| mutated(work, work.unit(cluster, rank, i)?));
        let mut program = program.clone();
        match &mut program {
            HostProgram::OneSchedule(program) => program.units = units,
            HostProgram::Roles(program) => program.units = units,
        }
        let found = run::<A>(desc, &program);
        let bits = |d: &[f32]| d.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(!found.is_ok_and(|d| bits(&d) == bits(&right)), "{name}: {:?}", desc.mma);
    }
}

#[test]
fn wrong_units_of_a_batch_are_found() {
    wrong_units_are_found::<Bf16>(&HopperK::<Bf16, f32>::DESC);
}

type Changed<'a> = Arguments<'a, falchion::device::Host, Bf16, Bf16, f32>;

/// Invalid batches are refused with the names of the user's operands. An empty batch writes
/// nothing.
#[test]
fn invalid_batches_are_refused_by_name() {
    type Columns = HopperColumns<Bf16, f32>;
    let (a, b, mut d) = (vec![Bf16::ONE; 60], vec![Bf16::ONE; 60], vec![7.0f32; 60]);
    let mut said = |change: fn(Changed) -> Changed| {
        let refused =
            Columns::new().run(change(Arguments::new((4, 5, 3), &a, &b, &mut d).batch(3)));
        refused.map_err(|error| error.to_string())
    };
    let overlap = "batch stride of D = 0 is less than 20 (matrices of the batch overlap); try 20";
    assert_eq!(said(|x| x.batch_stride_d(0)), Err(overlap.to_owned()));
    let short = said(|x| x.batch_stride_b(23)).expect_err("61 elements");
    assert_eq!(
        short,
        "length of B = 60 elements is less than 61 elements (3 x 5, leading dimension 3, batch of 3, batch stride 23)"
    );
    assert_eq!(said(|x| x.batch(0)), Ok(()));
    let many =
        said(|x| x.batch(1 << 40).batch_stride_a(0).batch_stride_b(0)).expect_err("too many");
    assert_eq!(
        many,
        "length of D = 60 elements is less than 21990232555520 elements (4 x 5, leading dimension 4, batch of 1099511627776, batch stride 20)"
    );
    let nothing =
        Arguments::new((0, 5, 3), &[Bf16::ZERO; 0], &b, &mut d).batch(usize::MAX).batch_stride_b(0);
    Columns::new().run(nothing).expect("GEMMs without elements are skipped");
    let mut said = || {
        Columns::new()
            .run(Arguments::new((4, 5, 3), &a, &b, &mut d).batch(3))
            .map_err(|error| error.to_string())
    };
    assert_eq!(said(), Ok(()));
    assert_eq!(d, [3.0; 60]);
}
