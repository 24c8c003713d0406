//! Pointer arrays of warp-specialized kernels: the matrices to which the program's records point
//! become a batch.

use crate::{program::WarpSpecializedProgram, tma_ring::execute};
use falchion::{
    Error,
    internals::{
        index::{IndexMap, at, points},
        operand::{Elements, HostCall, HostMatrices, HostSlice, HostSliceMut, Source, View},
        schedule::Fault,
    },
    numeric::ElementKind,
    threadblock::{MATRICES_OF_PRODUCT, ProductRecords},
};

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
pub(crate) fn gathered(
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
    execute(program, seed, problem.with(matrices))?;
    let [own, all] = [elements[2], problem.d.batch_stride]
        .map(|elements| kinds[2].matrix_bytes(elements as u64) as usize);
    for (computed, &product) in d.chunks_exact(all).zip(&of_d) {
        calls[product].d.memory.bytes_mut()[..own].copy_from_slice(&computed[..own]);
    }
    Ok(())
}
