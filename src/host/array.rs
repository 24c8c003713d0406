//! Arrays on the host: a call for each product, whose matrices the program's map of addresses
//! finds.

use super::{
    run::{HostKernel, Mode, has_roles, run_on_host},
    warp_specialized::execute_program,
};
use crate::{
    call::{Elements, HostCall, HostMatrices, HostSlice, HostSliceMut, Source, View},
    desc::GemmDesc,
    error::Error,
    index::{IndexMap, at, points},
    numeric::ElementKind,
    plan::{HostProgram, WarpSpecializedProgram},
    schedule::Fault,
    threadblock::{MATRICES_OF_PRODUCT, ProductRecords},
};

/// A kernel as one of arrays: what it runs are the calls of all products, which are alike but for
/// their matrices' memory.
#[derive(Clone, Copy, Debug)]
pub struct Array<'k, K>(pub &'k K);

impl HostKernel for Array<'_, GemmDesc> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// In the fast mode, product by product, and so in the checked one of a warp-specialized kernel
    /// whose maps are parameters; else that is as the device does.
    fn run(&self, mode: Mode, mut calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let Some(first) = calls.first() else { return Ok(()) };
        let desc = self.0.for_array(calls.len()).for_scalars(&first.scalars);
        let alone = desc.for_array(1);
        HostCall::check_array(&calls)?;
        // Whatever can be refused of any product is before one is computed.
        calls.iter().try_for_each(|call| call.problem().enter(&desc).map(drop))?;
        if matches!(mode, Mode::Checked { .. }) && desc.class.mode.is_array() {
            desc.check()?;
            match desc.plan()?.program()? {
                HostProgram::OneSchedule(program) => {
                    return run_on_host(&Array(&*program), mode, calls);
                }
                HostProgram::Roles(program) if desc.class.mode.is_mapped() => {
                    return run_on_host(&Array(&*program), mode, calls);
                }
                HostProgram::Roles(_) => {}
            }
        }
        calls.drain(..).try_for_each(|call| run_on_host(&alone, mode, call))
    }
}

impl HostKernel for Array<'_, WarpSpecializedProgram> {
    type Call<'a> = Vec<HostCall<'a>>;

    /// All products of a launch at once: matrices are gathered from where the program finds their
    /// maps, or their addresses, and are a batch then.
    fn run(&self, mode: Mode, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let desc = self.0.desc.sum();
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

/// The product of a batch's number whose matrix the kernel finds: what lies where it looks is what
/// a pass has brought there.
fn found(
    program: &WarpSpecializedProgram,
    products: usize,
    product: usize,
    matrix: u32,
) -> Result<usize, Fault> {
    let made = ProductRecords { products: products as u32 };
    // Threads read and store C and D by addresses where TMA does not.
    let piece =
        if matrix < 2 || program.desc.by_tma() { matrix } else { MATRICES_OF_PRODUCT + matrix };
    let (row, column) = (product as u32, piece);
    let place = program.records.at(at(row, column));
    let other = points(&made)
        .find(|&point| place.is_some() && made.at(point) == place && point.column == piece);
    other.map(|point| point.row as usize).ok_or(Fault::LeftOut { map: "records", row, column })
}

/// A launch of products whose maps lie in memory.
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
    // Each begins at a multiple of 16 elements.
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
        // C that is D has D's address.
        return Err(Fault::LeftOut { map: "records", row: 0, column: 2 }.into());
    }
    let matrices = HostMatrices {
        a: HostSlice::of_bytes(kinds[0], &a),
        b: HostSlice::of_bytes(kinds[1], &b),
        c: problem.c.map(|_| HostSlice::of_bytes(kinds[2], &c)),
        d: HostSliceMut::of_bytes(kinds[2], &mut d),
        vectors: calls[0].vectors.map(|_, vector| vector.memory),
    };
    execute_program(program, seed, problem.with(matrices))?;
    let [own, all] = [elements[2], problem.d.batch_stride]
        .map(|elements| kinds[2].matrix_bytes(elements as u64) as usize);
    for (computed, &product) in d.chunks_exact(all).zip(&of_d) {
        calls[product].d.memory.bytes_mut()[..own].copy_from_slice(&computed[..own]);
    }
    Ok(())
}

/// Where an array of so many products has matrix `column` of product `row`: which product's, and
/// its number there.
fn matrix_of(
    addresses: &dyn IndexMap,
    count: usize,
    (row, column): (u32, u32),
) -> Result<(usize, u32), Fault> {
    let place = addresses.at(at(row, column)).unwrap_or(u32::MAX);
    let (product, matrix) = ((place / MATRICES_OF_PRODUCT) as usize, place % MATRICES_OF_PRODUCT);
    if product < count {
        Ok((product, matrix))
    } else {
        Err(Fault::LeftOut { map: "addresses", row, column })
    }
}

/// A and B of such a product, which are read for as long as the calls' memory is.
///
/// # Errors
/// Those of [`product_of`].
pub(super) fn factors_of<'a>(
    calls: &[HostCall<'a>],
    addresses: &dyn IndexMap,
    product: usize,
) -> Result<[HostSlice<'a>; 2], Fault> {
    if let [batch] = calls {
        return Ok(batch.factors(product));
    }
    let row = product as u32;
    let [(of_a, _), (of_b, _)] = [
        matrix_of(addresses, calls.len(), (row, 0))?,
        matrix_of(addresses, calls.len(), (row, 1))?,
    ];
    Ok([calls[of_a].a.memory, calls[of_b].b.memory])
}

/// One product of a call that is a batch, or of the calls of an array, whose matrices are where
/// `addresses` says.
///
/// # Errors
/// [`Fault::LeftOut`] where that is nowhere, or no matrix that there may be.
pub(super) fn product_of<'c>(
    calls: &'c mut [HostCall<'_>],
    addresses: &dyn IndexMap,
    product: usize,
) -> Result<HostCall<'c>, Fault> {
    if let [batch] = calls {
        return Ok(batch.product(product));
    }
    let (row, count) = (product as u32, calls.len());
    let matrix = |column| matrix_of(addresses, count, (row, column));
    let left_out = |column: u32| Fault::LeftOut { map: "addresses", row, column };
    let [(of_a, 0), (of_b, 1), of_c, (of_d, 3)] = [matrix(0)?, matrix(1)?, matrix(2)?, matrix(3)?]
    else {
        return Err(left_out(0));
    };
    let (a, b) = (calls[of_a].a, calls[of_b].b);
    let c = match (calls[of_c.0].c, of_c.1) {
        (Source::None, _) => Source::None,
        (Source::Matrix(c), 2) => Source::Matrix(c),
        // D's address.
        (Source::InPlace, 2) | (_, 3) if of_c.0 == of_d => Source::InPlace,
        _ => return Err(left_out(2)),
    };
    let call = calls[of_d].product(0);
    Ok(HostCall { a, b, c, ..call })
}
