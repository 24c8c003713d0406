//! Pointer arrays on the host: one call per GEMM. The program's map of records finds the matrices
//! of each GEMM.

use super::{
    batch::gemms_of_piece,
    parallel::parallel_try,
    run::{HostKernel, Mode, has_roles, run_on_host},
};
use crate::{
    call::{Elements, HostCall, HostMatrices, HostSlice, HostSliceMut, Source, View},
    error::Error,
    host::threadblock::tma_ring::execute_program,
    layout::index_map::{IndexMap, at, points},
    nest::GemmDesc,
    numeric::ElementKind,
    schedule::Fault,
    threadblock::{
        MATRICES_OF_PRODUCT, ProductRecords, mma::program::HostProgram,
        tma_ring::program::WarpSpecializedProgram,
    },
};

/// A kernel that runs as a kernel for pointer arrays. It takes one call per GEMM, and the calls
/// differ only in the memory of their matrices.
#[derive(Clone, Copy, Debug)]
pub struct Array<'k, K>(pub &'k K);

impl HostKernel for Array<'_, GemmDesc> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// Runs the GEMMs one by one, except in the checked mode of a kernel for pointer arrays. That
    /// mode runs a launch of several GEMMs as the GPU does.
    fn run(&self, mode: Mode, mut calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let Some(first) = calls.first() else { return Ok(()) };
        let desc = self.0.for_array(calls.len()).for_scalars(&first.scalars);
        let alone = desc.for_array(1);
        HostCall::check_array(&calls)?;
        // Every refusal comes before the first GEMM is computed.
        calls.iter().try_for_each(|call| call.problem().enter(&desc).map(drop))?;
        if matches!(mode, Mode::Checked { .. }) && desc.work.mode.is_array() {
            desc.check()?;
            return match desc.plan()?.program()? {
                HostProgram::OneSchedule(program) => run_on_host(&Array(&*program), mode, calls),
                HostProgram::Roles(program) => run_on_host(&Array(&*program), mode, calls),
            };
        }
        let each = match mode {
            Mode::Fast => gemms_of_piece((first.m, first.n, first.k), calls.len()).max(1),
            Mode::Checked { .. } => calls.len(),
        };
        let mut pieces = Vec::new();
        while !calls.is_empty() {
            pieces.push(calls.split_off(calls.len().saturating_sub(each)));
        }
        pieces.reverse();
        parallel_try(pieces, |piece| {
            piece.into_iter().try_for_each(|call| run_on_host(&alone, mode, call))
        })
    }
}

impl HostKernel for Array<'_, WarpSpecializedProgram> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// Runs each launch as a batch: gathers the matrices to which the program's records point.
    fn run(&self, mode: Mode, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let desc = self.0.desc;
        desc.check()?;
        let Mode::Checked { seed } = mode else { return Err(has_roles(&desc).into()) };
        let mut calls =
            calls.into_iter().map(|call| call.enter(&desc)).collect::<Result<Vec<_>, _>>()?;
        HostCall::check_array(&calls)?;
        let Some(extents) =
            calls.first().map(|call| (call.m, call.n)).filter(|&(m, n)| m > 0 && n > 0)
        else {
            return Ok(());
        };
        let mut launches = calls.chunks_mut(desc.products_at_once(extents));
        launches
            .try_for_each(|calls| gathered(self.0, seed, calls))
            .map_err(|error| error.leave(desc.frame))
    }
}

/// Returns the index of the GEMM whose matrix the kernel finds for GEMM `product`: the kernel uses
/// the record at the address that its map returns.
fn found(
    program: &WarpSpecializedProgram,
    products: usize,
    product: usize,
    matrix: u32,
) -> Result<usize, Fault> {
    let made = ProductRecords { products: products as u32, positions: true };
    // Without TMA, threads load C and store D through addresses.
    let piece =
        if matrix < 2 || program.desc.by_tma() { MATRICES_OF_PRODUCT + matrix } else { matrix };
    let (row, column) = (product as u32, piece);
    let place = program.records.at(at(row, column));
    let other = points(&made)
        .find(|&point| place.is_some() && made.at(point) == place && point.column == piece);
    other.map(|point| point.row as usize).ok_or(Fault::LeftOut { map: "records", row, column })
}

/// Runs one launch of GEMMs by a warp-specialized program.
fn gathered(
    program: &WarpSpecializedProgram,
    seed: u64,
    calls: &mut [HostCall<'_>],
) -> Result<(), Error> {
    let products = calls.len();
    let find = |matrix: u32| {
        (0..products)
            .map(|product| found(program, products, product, matrix))
            .collect::<Result<Vec<_>, _>>()
    };
    let [of_a, of_b, of_c, of_d] = [find(0)?, find(1)?, find(2)?, find(3)?];
    let mut problem = calls[0].problem();
    let (m, n, k) = (problem.m, problem.n, problem.k);
    problem.batch = products;
    // Each matrix begins at a multiple of 16 elements.
    let apart = |view: &mut View<Elements>, extents| {
        let elements = view.elements(extents, 1) as usize;
        *view = view.batched(elements.next_multiple_of(16));
        elements
    };
    let elements = [
        apart(&mut problem.a, (m, k)),
        apart(&mut problem.b, (k, n)),
        apart(&mut problem.d, (m, n)),
    ];
    let (own_c, apart_c) = match &mut problem.c {
        Source::Matrix(c) => (apart(c, (m, n)), c.batch_stride),
        _ => (0, 0),
    };
    fn bytes<'c>(
        kind: ElementKind,
        of_each: impl Iterator<Item = &'c [u8]>,
        elements: usize,
        stride: usize,
    ) -> Vec<u8> {
        let [own, all] =
            [elements, stride].map(|elements| kind.matrix_bytes(elements as u64) as usize);
        of_each
            .flat_map(|bytes| {
                bytes[..own].iter().copied().chain(core::iter::repeat_n(0, all - own))
            })
            .collect()
    }
    let kinds = [calls[0].a.memory.kind(), calls[0].b.memory.kind(), calls[0].d.memory.kind()];
    let a = bytes(
        kinds[0],
        of_a.iter().map(|&i| calls[i].a.memory.bytes()),
        elements[0],
        problem.a.batch_stride,
    );
    let b = bytes(
        kinds[1],
        of_b.iter().map(|&i| calls[i].b.memory.bytes()),
        elements[1],
        problem.b.batch_stride,
    );
    let mut d = bytes(
        kinds[2],
        of_d.iter().map(|&i| calls[i].d.memory.bytes()),
        elements[2],
        problem.d.batch_stride,
    );
    let mut c = Vec::new();
    if let Source::Matrix(_) = problem.c {
        let matrices =
            of_c.iter().filter_map(|&i| calls[i].c.as_ref().matrix().map(|c| c.memory.bytes()));
        c = bytes(kinds[2], matrices, own_c, apart_c);
    } else if of_c != of_d {
        // If C is D in place, its address has to be D's.
        return Err(Fault::LeftOut { map: "records", row: 0, column: 2 }.into());
    }
    let matrices = HostMatrices {
        a: HostSlice::from_bytes(kinds[0], &a),
        b: HostSlice::from_bytes(kinds[1], &b),
        c: problem.c.map(|_| HostSlice::from_bytes(kinds[2], &c)),
        d: HostSliceMut::from_bytes(kinds[2], &mut d),
        operands: calls[0].operands.map(|_, vector| vector.memory),
    };
    execute_program(program, seed, problem.with(matrices))?;
    let [own, all] = [elements[2], problem.d.batch_stride]
        .map(|elements| kinds[2].matrix_bytes(elements as u64) as usize);
    for (computed, &product) in d.chunks_exact(all).zip(&of_d) {
        calls[product].d.memory.bytes_mut()[..own].copy_from_slice(&computed[..own]);
    }
    Ok(())
}

/// Returns the GEMM and the matrix number to which the map of records sends matrix `column` of GEMM
/// `row`, in an array of `count` GEMMs.
fn matrix_of(
    records: &dyn IndexMap,
    count: usize,
    (row, column): (u32, u32),
) -> Result<(usize, u32), Fault> {
    let record = ProductRecords { products: 1, positions: false };
    let place = records.at(at(row, column)).unwrap_or(u32::MAX);
    let (product, word) = ((place / record.words()) as usize, place % record.words());
    let matrix = (0..MATRICES_OF_PRODUCT).find(|&piece| record.at(at(0, piece)) == Some(word));
    let found = matrix.filter(|_| product < count).map(|matrix| (product, matrix));
    found.ok_or(Fault::LeftOut { map: "records", row, column })
}

/// Returns A and B of GEMM `product`, with the lifetime of the calls' memory.
///
/// # Errors
/// [`Fault::LeftOut`] if the map of records has no matrix there.
pub(super) fn factors_of<'a>(
    calls: &[HostCall<'a>],
    records: &dyn IndexMap,
    product: usize,
) -> Result<[HostSlice<'a>; 2], Fault> {
    if let [batch] = calls {
        return Ok(batch.factors(product));
    }
    let row = product as u32;
    let [(of_a, _), (of_b, _)] =
        [matrix_of(records, calls.len(), (row, 0))?, matrix_of(records, calls.len(), (row, 1))?];
    Ok([calls[of_a].a.memory, calls[of_b].b.memory])
}

/// Returns one GEMM of a batched call, or of the calls of an array. The map of records of an
/// array selects the matrices.
///
/// # Errors
/// [`Fault::LeftOut`] if the map of records has no matrix there, or a matrix of another kind.
pub(super) fn product_of<'c>(
    calls: &'c mut [HostCall<'_>],
    records: &dyn IndexMap,
    product: usize,
) -> Result<HostCall<'c>, Fault> {
    if let [batch] = calls {
        return Ok(batch.product(product));
    }
    let (row, count) = (product as u32, calls.len());
    let matrix = |column| matrix_of(records, count, (row, column));
    let left_out = |column: u32| Fault::LeftOut { map: "records", row, column };
    let [(of_a, 0), (of_b, 1), of_c, (of_d, 3)] = [matrix(0)?, matrix(1)?, matrix(2)?, matrix(3)?]
    else {
        return Err(left_out(0));
    };
    let (a, b) = (calls[of_a].a, calls[of_b].b);
    let c = match (calls[of_c.0].c, of_c.1) {
        (Source::None, _) => Source::None,
        (Source::Matrix(c), 2) => Source::Matrix(c),
        // C in place has D's address.
        (Source::InPlace, 2) | (_, 3) if of_c.0 == of_d => Source::InPlace,
        _ => return Err(left_out(2)),
    };
    let call = calls[of_d].product(0);
    Ok(HostCall { a, b, c, ..call })
}
