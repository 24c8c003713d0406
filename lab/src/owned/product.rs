//! A GEMM in host memory whose element types are run-time values.

use super::{HostMatrix, room};
use crate::verify::{self, Claim, Distribution, Fill, Verdict, bound::Accumulation};
use falchion::{
    Error,
    epilogue::SCALARS,
    internals::{
        host::Array,
        operand::{
            Call, DecomposedLayout, Elements, GateColumns, Groups, HostMatrices, HostSlice,
            IndexList, Indices, Problem, Source, UpMatrix, View, transpose::TransposeDesc,
        },
        shape::{Axis, EpilogueOperands, OperandKind},
    },
    layout::Order,
    nest::GemmDesc,
    numeric::ElementKind,
    refusal::{Field, Operand, Refusal},
};
use falchion_check::{Mode, run_in_mode};

/// Index lists of A, B, and D.
pub type IndexLists = [Option<Vec<u32>>; 3];

/// Axis and offsets of groups: the first line of each group, and the end of the last group.
type GroupOffsets = (Axis, Vec<u32>);

/// The operands, results, and scalars of a GEMM, a batch, a grouped GEMM, or a transpose, in the
/// user's layouts. The matrices of a batch are consecutive. All GEMMs of a batch may share one
/// matrix as an operand.
#[derive(Clone, Debug)]
pub struct HostProduct {
    /// A, an m x k matrix.
    pub a: HostMatrix,
    /// B, a k x n matrix, or a k x 2n matrix with the columns of a gate.
    pub b: HostMatrix,
    /// C, an m x n matrix.
    pub c: Source<HostMatrix>,
    /// D, an m x n matrix.
    pub d: HostMatrix,
    /// Vector operands of the epilogue, as rows.
    pub operands: EpilogueOperands<HostMatrix>,
    /// Operands of the epilogue that a run writes.
    pub written: EpilogueOperands<()>,
    /// The scalars alpha, beta, and s2 to s7.
    pub scalars: [f64; SCALARS],
    /// M, N, and K of one GEMM.
    extents: (usize, usize, usize),
    /// Number of GEMMs.
    batch: usize,
    offsets: Option<GroupOffsets>,
    lists: IndexLists,
    /// Order of the columns of B, if the epilogue has a gate.
    gates: Option<GateColumns>,
    /// Whether the GEMMs are a pointer array.
    array: bool,
    /// Whether D is the transpose of A, which has n x m elements, and B is the identity, which has
    /// no element.
    transposes: bool,
}

impl HostProduct {
    /// Allocates the matrices of a problem, filled with poison. Matrices of a batch are packed,
    /// except those with a stride of 0. The memory of the problem is ignored. All other properties
    /// of the problem are checked before any allocation.
    ///
    /// # Errors
    /// The refusals of a run of the problem, and [`Refusal`] of too little memory.
    pub fn poisoned(desc: &GemmDesc, problem: &Problem) -> Result<Self, Error> {
        Self::allocate(desc, problem, (None, Default::default()))
    }

    /// Allocates the matrices of a grouped GEMM with these lines per group. Groups of rows have
    /// their own B, and the sum of `lengths` is M. Groups along K have their own C and D, and the
    /// sum is K.
    ///
    /// # Errors
    /// The errors of [`poisoned`](Self::poisoned).
    pub fn poisoned_groups(
        desc: &GemmDesc,
        problem: &Problem,
        axis: Axis,
        lengths: &[usize],
    ) -> Result<Self, Error> {
        let groups = Some((axis, lengths));
        Self::poisoned_with_lists(desc, problem, (groups, Default::default()))
    }

    /// Allocates the matrices of a GEMM with index lists of A, B, and D, and with groups along an
    /// axis, as [`poisoned_groups`](Self::poisoned_groups) does. The matrices of `problem` have the
    /// extents that its lists state.
    ///
    /// # Errors
    /// The errors of [`poisoned`](Self::poisoned).
    pub fn poisoned_with_lists(
        desc: &GemmDesc,
        problem: &Problem,
        (groups, lists): (Option<(Axis, &[usize])>, IndexLists),
    ) -> Result<Self, Error> {
        let problem = match groups {
            Some((axis, lengths)) if problem.groups.is_none() => {
                problem.grouped_along(axis, lengths.len())
            }
            _ => *problem,
        };
        let offsets = groups.map(|(axis, lengths)| (axis, Self::group_offsets(lengths)));
        Self::allocate(desc, &problem, (offsets, lists))
    }

    /// Returns the group offsets of groups with these lines.
    fn group_offsets(lengths: &[usize]) -> Vec<u32> {
        // A call rejects a sum beyond 32 bits.
        let end = |end: &mut usize, length: &usize| {
            *end = end.saturating_add(*length);
            Some(u32::try_from(*end).unwrap_or(u32::MAX))
        };
        core::iter::once(0).chain(lengths.iter().scan(0, end)).collect()
    }

    fn allocate(
        desc: &GemmDesc,
        problem: &Problem,
        (offsets, lists): (Option<GroupOffsets>, IndexLists),
    ) -> Result<Self, Error> {
        let Problem { m, n, k, batch, scalars, indices, .. } = *problem;
        let [lines_of_a, lines_of_b] = indices.operands.map(|list| list.map(|list| list.extent));
        let gates = problem.gate_columns();
        let columns_of_b = if gates.is_some() { 2 * n } else { lines_of_b.unwrap_or(n) };
        let (in_a, in_b) = ((lines_of_a.unwrap_or(m), k), (k, columns_of_b));
        let in_d = (indices.output.map_or(m, |(_, list)| list.extent), n);
        let (a, b, d) =
            (packed(problem.a, in_a), packed(problem.whole_b(), in_b), packed(problem.d, in_d));
        let c = problem.c.map(|c| packed(c, in_d));
        let types = desc.user_types();
        let matrices = [
            (types.a, a, in_a),
            (types.b, b, in_b),
            (types.c, d, in_d),
            (
                types.c,
                c.matrix().copied().unwrap_or(d),
                if c.matrix().is_some() { in_d } else { (0, 0) },
            ),
        ];
        // Decomposed f32 operands need additional memory.
        let emulation = Some(desc.emulation()).filter(|emulation| emulation.decomposes());
        let parts = emulation.into_iter().flat_map(|emulation| {
            let matrices = [(a, m), (b, n)]
                .map(|(view, mn)| (if view.batch_stride == 0 { 1 } else { batch }, mn));
            let elements =
                move |mn| mn as u128 * u128::from(DecomposedLayout { emulation, mn, k }.leading());
            matrices
                .map(|(count, mn)| (ElementKind::F16, elements(mn).saturating_mul(count as u128)))
        });
        let whole =
            matrices.into_iter().map(|(kind, view, extents)| (kind, view.elements(extents, batch)));
        let user_epilogue = desc.epilogue.leave(desc.frame);
        let elements = user_epilogue.operands((desc.output.compute, types.c));
        let auxiliary = problem.operands.iter().filter_map(|(operand, view)| {
            let kind = elements.get(operand).filter(|_| operand.is_matrix())?;
            Some((*kind, view.elements(in_d, if view.batch_stride == 0 { 1 } else { batch })))
        });
        let room = || room(whole.clone().chain(parts.clone()).chain(auxiliary.clone()));
        let (of_gate, up) = match gates {
            Some(columns) => columns.matrices(b, n),
            None => (b, UpMatrix::None),
        };
        let seen = Problem { a, b: of_gate, up, c, d, ..*problem }.enter(desc);
        // If memory and grid are both too small, a larger tile does not help.
        if let Err(Refusal { field: Field::Tiles, .. }) = seen {
            room()?;
        }
        let operands = seen?.leave(desc.frame).operands;
        // A matrix that is not read has not been checked.
        room()?;
        let orders = desc.orders();
        let all = |kind, view: View<Elements>, extents, order: Order| {
            HostMatrix::batch_of(batch, kind, extents, order, view.leading(order))
        };
        let matrix = |kind, view: View<Elements>, extents, order: Order| match view.batch_stride {
            0 => HostMatrix::batch_of(1, kind, extents, order, view.leading(order)),
            _ => all(kind, view, extents, order),
        };
        let row = |kind, length| HostMatrix::poisoned(kind, (1, length), Order::Row, length);
        Ok(Self {
            a: matrix(types.a, a, in_a, orders.a)?,
            b: matrix(types.b, b, in_b, orders.b)?,
            c: c.try_map(|c| matrix(types.c, c, in_d, orders.c))?,
            // The stride of empty matrices is also 0.
            d: if matches!(offsets, Some((Axis::M, _))) {
                matrix(types.c, d, in_d, orders.c)?
            } else {
                all(types.c, d, in_d, orders.c)?
            },
            operands: operands.try_map(|operand, view| {
                let kind = elements.get(operand).copied().unwrap_or(types.c);
                match operand.side() {
                    _ if operand.is_reduction() || operand.is_scalar() => {
                        // Groups of rows share the results.
                        let each_of = if view.batch_stride == 0 { 1 } else { batch };
                        row(kind, view.elements((m, n), each_of) as usize)
                    }
                    Some(OperandKind::A) => row(kind, m),
                    Some(OperandKind::B) => row(kind, n),
                    None => matrix(kind, view, in_d, orders.c),
                }
            })?,
            written: user_epilogue.written().map(|operand| (operand, ())).collect(),
            scalars,
            extents: (m, n, k),
            batch,
            offsets,
            lists,
            gates,
            array: false,
            transposes: false,
        })
    }

    /// Allocates the matrices of a transpose of elements of type `kind`, filled with poison. The
    /// matrices of a batch are packed. The memory of the problem is ignored. All other properties
    /// of the problem are checked before any allocation.
    ///
    /// ```
    /// use falchion::{internals::operand::{Problem, transpose::Choice}, layout::Order, numeric::ElementKind};
    /// use falchion_check::Mode;
    /// use falchion_lab::owned::HostProduct;
    ///
    /// let (kind, problem) = (ElementKind::Bf16, Problem::packed_transpose(2, 3));
    /// let desc = Choice::Auto.desc(kind, &problem);
    /// let mut transpose = HostProduct::poisoned_transpose(kind, &desc, &problem)?;
    /// transpose.a.try_fill(Order::Row, |row, column| Ok::<_, falchion::Error>((row * 3 + column) as f64))?;
    /// transpose.run_transpose(&desc, Mode::Fast)?;
    /// assert!(transpose.verify_transpose()?.is_right());
    /// let mut d = Vec::new();
    /// transpose.d.try_each(Order::Row, |x| Ok::<_, falchion::Error>(d.push(x)))?;
    /// assert_eq!(d, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// # Errors
    /// The refusals of a run of the problem, and [`Refusal`] of too little memory.
    pub fn poisoned_transpose(
        kind: ElementKind,
        desc: &TransposeDesc,
        problem: &Problem,
    ) -> Result<Self, Error> {
        let Problem { m, n, k, batch, scalars, .. } = *problem;
        let (a, d) = (packed(problem.a.transposed(), (n, m)), packed(problem.d, (m, n)));
        let c = problem.c.map(|c| packed(c, (m, n)));
        desc.check()?;
        desc.enter(Problem { a: a.transposed(), c, d, ..*problem })?;
        // A matrix that is not read has not been checked.
        let matrices = [Some((a, (n, m))), c.matrix().map(|&c| (c, (m, n))), Some((d, (m, n)))];
        let elements = |(view, extents): (View<Elements>, _)| (kind, view.elements(extents, batch));
        room(matrices.into_iter().flatten().map(elements))?;
        let matrix = |view: View<Elements>, extents| {
            let matrices = if view.batch_stride == 0 { batch.min(1) } else { batch };
            HostMatrix::batch_of(matrices, kind, extents, Order::Row, view.leading(Order::Row))
        };
        Ok(Self {
            a: matrix(a, (n, m))?,
            b: HostMatrix::poisoned(kind, (0, 0), Order::Row, 0)?,
            c: c.try_map(|c| matrix(c, (m, n)))?,
            d: matrix(d, (m, n))?,
            operands: EpilogueOperands::NONE,
            written: EpilogueOperands::NONE,
            scalars,
            extents: (m, n, k),
            batch,
            offsets: None,
            lists: Default::default(),
            gates: None,
            array: false,
            transposes: true,
        })
    }

    /// Returns the batch as a pointer array, or as a strided batch.
    #[must_use]
    pub fn as_array(self, array: bool) -> Self {
        Self { array, ..self }
    }

    /// Returns whether the GEMMs are a pointer array.
    pub fn is_array(&self) -> bool {
        self.array
    }

    /// Returns the problem without its data.
    pub fn problem(&self) -> Problem {
        let Self { extents: (m, n, k), batch, scalars, .. } = *self;
        let (a, b, d) = (self.a.view(), self.b.view(), self.d.view());
        let a = if self.transposes { a.transposed() } else { a };
        let divided = matches!(self.offsets, Some((Axis::M, _)));
        let operands = self.operands.as_ref().map(|operand, held| match operand.side() {
            _ if operand.is_reduction() || operand.is_scalar() => {
                let results = View::reduction(held.view().memory, operand, (m, n));
                if divided { results.batched(0) } else { results }
            }
            Some(side) => View::vector(held.view().memory, side),
            None => held.view(),
        });
        let c = self.c.as_ref().map(HostMatrix::view);
        let groups = self.offsets.as_ref().map(|(axis, _)| Groups::with_count(*axis, batch));
        let list = |number: usize, extent: usize| {
            let list = self.lists[number].as_ref()?;
            Some(IndexList::new(Elements::new(list.len()), extent))
        };
        let [in_a, in_b, in_d] = [&self.a, &self.b, &self.d].map(HostMatrix::extents);
        let indices = Indices {
            operands: [list(0, in_a.0), list(1, in_b.1)],
            output: list(2, in_d.0).map(|list| (Axis::M, list)),
        };
        let (b, up) = match self.gates {
            Some(columns) => columns.matrices(b, n),
            None => (b, UpMatrix::None),
        };
        let workspace = None;
        Problem { m, n, k, batch, groups, indices, a, b, up, c, d, operands, scalars, workspace }
    }

    /// Returns the index lists of A, B, and D.
    pub fn lists(&self) -> &IndexLists {
        &self.lists
    }

    /// Returns the group offsets: the first line of each group, and the end of the last group.
    pub fn offsets(&self) -> Option<&[u32]> {
        self.offsets.as_ref().map(|(_, offsets)| offsets.as_slice())
    }

    /// Returns the matrices, with D for writing.
    ///
    /// # Errors
    /// The errors of [`HostMatrix::slice`].
    pub fn matrices(&mut self) -> Result<HostMatrices<'_>, Error> {
        let c = self.c.as_ref().try_map(HostMatrix::slice)?;
        let written = &self.written;
        let operands = self.operands.iter_mut().map(|(operand, matrix)| {
            let slice = match written.get(operand) {
                Some(()) => matrix.slice_mut()?.into_shared(),
                None => matrix.slice()?,
            };
            Ok((operand, slice))
        });
        let operands = operands.collect::<Result<_, Error>>()?;
        Ok(HostMatrices {
            a: self.a.slice()?,
            b: self.b.slice()?,
            c,
            d: self.d.slice_mut()?,
            operands,
        })
    }

    /// Computes D on the host.
    ///
    /// # Errors
    /// The errors of [`run_in_mode`].
    pub fn run(&mut self, desc: &GemmDesc, mode: Mode) -> Result<(), Error> {
        let problem = self.problem();
        if self.array {
            return run_in_mode(&Array(desc), mode, problem.with(self.matrices()?).each()?);
        }
        let offsets = self.offsets.take();
        let groups = problem.groups.zip(offsets.as_ref()).map(|(groups, (_, all))| {
            groups.with(HostSlice::new::<i32>(bytemuck::cast_slice(all)))
        });
        let lists = core::mem::take(&mut self.lists);
        let words = lists
            .each_ref()
            .map(|list| Some(HostSlice::new::<i32>(bytemuck::cast_slice(list.as_deref()?))));
        let indices = problem.indices.with(words);
        let ran = self.matrices().and_then(|matrices| {
            let b = verify::from(matrices.b, problem.up_offset());
            let up = problem.up.map(|up| up.with(b));
            run_in_mode(desc, mode, Call { groups, indices, up, ..problem.with(matrices) })
        });
        (self.offsets, self.lists) = (offsets, lists);
        ran
    }

    /// Computes D of a transpose on the host.
    ///
    /// # Errors
    /// The errors of [`run_in_mode`].
    pub fn run_transpose(&mut self, desc: &TransposeDesc, mode: Mode) -> Result<(), Error> {
        let problem = self.problem();
        run_in_mode(desc, mode, problem.with(self.matrices()?))
    }

    /// Fills A and C of a transpose with random elements from a seed.
    ///
    /// # Errors
    /// The errors of [`HostMatrix::draw`].
    pub fn draw_transpose(&mut self, seed: u64) -> Result<(), Error> {
        let seed = seed.wrapping_mul(2);
        self.a.draw(Distribution::Random, seed)?;
        match &mut self.c {
            Source::Matrix(c) => c.draw(Distribution::Random, seed.wrapping_add(1)),
            Source::None | Source::InPlace => Ok(()),
        }
    }

    /// Returns the default distributions of the operands: random numbers, or whole numbers if the
    /// sums are too long for the accumulator's precision, because random numbers would decide
    /// nothing.
    pub fn distributions(&self, desc: &GemmDesc) -> [Distribution; 2] {
        let (k, types) = (self.extents.2, desc.user_types());
        let fill = if Accumulation::for_description(desc, k).relative.is_finite() {
            Fill::Random
        } else {
            Fill::Integers
        };
        [fill.operands(types, k), fill.source()]
    }

    /// Compares D of each GEMM with a reference: every element, or those of some rows if all
    /// elements would take too long.
    ///
    /// # Errors
    /// The errors of [`verify::check`]. A GEMM in place is refused, because its C is lost.
    pub fn verify(&self, desc: &GemmDesc) -> Result<Verdict, Error> {
        self.verify_rows(desc, false)
    }

    /// Compares every element of D with a reference, however long it takes.
    ///
    /// # Errors
    /// The errors of [`verify`](Self::verify).
    pub fn verify_all(&self, desc: &GemmDesc) -> Result<Verdict, Error> {
        self.verify_rows(desc, true)
    }

    /// Compares every element of D of a transpose with a reference.
    ///
    /// # Errors
    /// The errors of [`verify::transpose`]. A transpose in place is refused, because its C is lost.
    pub fn verify_transpose(&self) -> Result<Verdict, Error> {
        let c = self.previous_source()?;
        verify::transpose(&self.problem(), [self.a.slice()?, self.d.slice()?], c)
    }

    /// Returns C. C of a GEMM in place is lost, and refused.
    fn previous_source(&self) -> Result<Option<HostSlice<'_>>, Error> {
        match &self.c {
            Source::InPlace => Err(Refusal::missing_operand(Operand::C).into()),
            Source::None => Ok(None),
            Source::Matrix(matrix) => matrix.slice().map(Some),
        }
    }

    /// Returns the GEMM of the selected rows and columns, without lists.
    fn without_lists(&self) -> Result<Self, Error> {
        let (m, n, _) = self.extents;
        let [of_a, of_b, of_d] = self.lists.each_ref().map(Option::as_deref);
        let [of_a, of_d] = [of_a, of_d].map(|list| list.map(|list| &list[..m.min(list.len())]));
        let of_b = of_b.map(|list| &list[..n.min(list.len())]);
        let output = |matrix: &HostMatrix| matrix.selected(of_d, None);
        Ok(Self {
            a: self.a.selected(of_a, None)?,
            b: self.b.selected(None, of_b)?,
            c: self.c.as_ref().try_map(output)?,
            d: output(&self.d)?,
            operands: self.operands.as_ref().try_map(|operand, matrix| {
                if operand.is_matrix() { output(matrix) } else { Ok(matrix.clone()) }
            })?,
            lists: Default::default(),
            ..self.clone()
        })
    }

    fn verify_rows(&self, desc: &GemmDesc, all: bool) -> Result<Verdict, Error> {
        if self.lists.iter().any(Option::is_some) {
            return self.without_lists()?.verify_rows(desc, all);
        }
        let problem = self.problem();
        let products = if problem.groups.is_some() { 1 } else { problem.batch };
        let multiplied = products as f64 * problem.m as f64 * problem.n as f64 * problem.k as f64;
        let some =
            (!all && multiplied > ALL_ROWS).then(|| SOME_ROWS.div_ceil(problem.batch.max(1)));
        let c = self.previous_source()?;
        let (a, b, d) = (self.a.slice()?, self.b.slice()?, self.d.slice()?);
        let operands = self.operands.as_ref().try_map(|_, vector| vector.slice())?;
        let claim = Claim { desc, problem: &problem, a, b, c, d, operands };
        match (&self.offsets, some) {
            (Some((_, offsets)), some) => verify::grouped(&claim, offsets, some),
            (None, Some(rows)) => verify::sampled(&claim, rows, 0),
            (None, None) => verify::check(&claim),
        }
    }
}

/// Places the matrices of a batch consecutively, in memory of any length. A stride of 0 stays.
fn packed(view: View<Elements>, extents: (usize, usize)) -> View<Elements> {
    let all = view.with(Elements::ALL);
    if view.batch_stride == 0 { all } else { all.one_behind_another(extents) }
}

/// Largest number of multiply-adds of a GEMM that is verified completely, which takes some seconds.
const ALL_ROWS: f64 = 8e9;
/// Number of verified rows of a larger GEMM.
const SOME_ROWS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::refusal::Rule;
    use falchion::{
        arch::{ArchKind, OpKind},
        internals::nest::Request,
        layout::MatrixType,
    };

    fn described(a: &str, b: &str, c: &str) -> GemmDesc {
        let read = |text: &str| Some(text.parse::<MatrixType>().unwrap());
        let request = Request { a: read(a), b: read(b), c: read(c), ..Request::default() };
        request.resolve(ArchKind::Sm80).unwrap().desc
    }

    /// Returns every element, row by row.
    fn numbers(matrix: &HostMatrix) -> Vec<f64> {
        let mut numbers = Vec::new();
        let each = matrix.try_each(Order::Row, |x| {
            numbers.push(x);
            Ok::<_, Error>(())
        });
        each.map(|()| numbers).unwrap()
    }

    #[test]
    fn a_gemm_of_given_values_is_exact() {
        for (a, b, c) in [
            ("f32:row", "f32:col", "f32:col"),
            ("i8:col", "i8:row", "i32:row"),
            ("f64:col", "f64:col", "f64:col"),
        ] {
            let desc = described(a, b, c);
            let problem = Problem::new(
                &desc,
                (5, 7, 3),
                [None, Some(9), Some(8)],
                [2.0, -1.0, 0., 0., 0., 0., 0., 0.],
            );
            let mut product = HostProduct::poisoned(&desc, &problem).unwrap();
            let (x, y, z) = (
                |i: usize, l: usize| (i * 3 + l) as f64 - 4.0,
                |l: usize, j: usize| (l * 2 + j) as f64,
                3.0,
            );
            product.a.try_fill(Order::Row, |i, l| Ok::<_, Error>(x(i, l))).unwrap();
            product.b.try_fill(Order::Col, |l, j| Ok::<_, Error>(y(l, j))).unwrap();
            let Source::Matrix(source) = &mut product.c else { panic!("beta is not 0") };
            source.try_fill(Order::Row, |_, _| Ok::<_, Error>(z)).unwrap();
            product.run(&desc, Mode::Fast).unwrap();
            for (at, got) in numbers(&product.d).into_iter().enumerate() {
                let (i, j) = (at / 7, at % 7);
                assert_eq!(
                    got,
                    2.0 * (0..3).map(|l| x(i, l) * y(l, j)).sum::<f64>() - z,
                    "{a} {b} {c} {i} {j}"
                );
            }
        }
    }

    /// Checks a batch in which all GEMMs share B and C. The right result is accepted, and one wrong
    /// element of the last GEMM is found.
    #[test]
    fn gemms_that_share_an_operand_are_verified() {
        for (a, b, c) in [("f32:row", "f32:col", "f32:col"), ("i8:col", "i8:row", "i32:row")] {
            let desc = described(a, b, c);
            let one = Problem::new(
                &desc,
                (5, 7, 3),
                [None, Some(9), Some(8)],
                [2.0, -1.0, 0., 0., 0., 0., 0., 0.],
            );
            let shared = |view: View<Elements>| view.batched(0);
            let problem = Problem { batch: 4, b: shared(one.b), c: one.c.map(shared), ..one };
            let mut product = HostProduct::poisoned(&desc, &problem).unwrap();
            let source = product.c.as_ref().matrix().map(|c| c.batch());
            assert_eq!(
                (product.a.batch(), product.b.batch(), source, product.d.batch()),
                (4, 1, Some(1), 4)
            );
            let [from, of_c] = product.distributions(&desc);
            product.a.draw(from, 1).unwrap();
            product.b.draw(from, 2).unwrap();
            let Source::Matrix(source) = &mut product.c else { panic!("beta is not 0") };
            source.draw(of_c, 3).unwrap();
            product.run(&desc, Mode::Fast).unwrap();
            let verdict = product.verify(&desc).unwrap();
            assert!(verdict.is_right() && verdict.elements_checked == 4 * 35, "{verdict}");
            let mut places = 0..4 * 35;
            let was = numbers(&product.d);
            let changed = |at: usize| if at == 4 * 35 - 1 { was[at] + 64.0 } else { was[at] };
            product
                .d
                .try_fill(Order::Row, |_, _| Ok::<_, Error>(changed(places.next().unwrap())))
                .unwrap();
            let verdict = product.verify(&desc).unwrap();
            assert_eq!(
                (verdict.elements_wrong, verdict.first_wrong.map(|x| (x.row, x.column))),
                (1, Some((4, 6)))
            );
        }
        let desc = described("f32:row", "f32:col", "f32:col");
        let one = Problem::new(&desc, (5, 7, 3), [None; 3], [1.0, 0., 0., 0., 0., 0., 0., 0.]);
        let error = HostProduct::poisoned(&desc, &Problem { batch: 2, d: one.d.batched(0), ..one })
            .unwrap_err();
        assert!(
            matches!(error.refusal(), Some(Refusal { field: Field::BatchStrideOf(_), .. })),
            "{error}"
        );
    }

    /// Checks a grouped GEMM. The right result is accepted, and one wrong element of the last group
    /// is found at its place in D.
    #[test]
    fn groups_are_verified() {
        for (a, b, c) in [("f32:row", "f32:col", "f32:col"), ("i8:col", "i8:row", "i32:row")] {
            let desc = described(a, b, c);
            let problem = Problem::new(
                &desc,
                (9, 7, 3),
                [None, None, Some(9)],
                [2.0, -1.0, 0., 0., 0., 0., 0., 0.],
            );
            let mut product =
                HostProduct::poisoned_groups(&desc, &problem, Axis::M, &[4, 0, 5]).unwrap();
            assert_eq!((product.a.batch(), product.b.batch(), product.d.batch()), (1, 3, 1));
            let [from, of_c] = product.distributions(&desc);
            product.a.draw(from, 1).unwrap();
            product.b.draw(from, 2).unwrap();
            let Source::Matrix(source) = &mut product.c else { panic!("beta is not 0") };
            source.draw(of_c, 3).unwrap();
            product.run(&desc, Mode::Fast).unwrap();
            let verdict = product.verify(&desc).unwrap();
            assert!(verdict.is_right() && verdict.elements_checked == 63, "{verdict}");
            let mut places = 0..63;
            let was = numbers(&product.d);
            let changed = |at: usize| if at == 5 * 7 + 2 { was[at] + 64.0 } else { was[at] };
            product
                .d
                .try_fill(Order::Row, |_, _| Ok::<_, Error>(changed(places.next().unwrap())))
                .unwrap();
            let verdict = product.verify(&desc).unwrap();
            assert_eq!(
                (verdict.elements_wrong, verdict.first_wrong.map(|x| (x.row, x.column))),
                (1, Some((5, 2)))
            );
            // Each group has its own B.
            let mut product = product.clone();
            product.b.draw(from, 5).unwrap();
            assert!(!product.verify(&desc).unwrap().is_right());
        }
    }

    /// Checks a grouped GEMM along K. The D of an empty group counts, and one wrong element of the
    /// last group is found.
    #[test]
    fn groups_along_k_are_verified() {
        for (a, b, c) in [("f32:col", "f32:row", "f32:col"), ("i8:row", "i8:col", "i32:row")] {
            let desc = described(a, b, c);
            let scalars = [2.0, -1.0, 0., 0., 0., 0., 0., 0.];
            let problem = Problem::new(&desc, (4, 7, 9), [None; 3], scalars);
            let lengths = [4, 0, 5];
            let mut product =
                HostProduct::poisoned_groups(&desc, &problem, Axis::K, &lengths).unwrap();
            assert_eq!((product.a.batch(), product.b.batch(), product.d.batch()), (1, 1, 3));
            let [from, of_c] = product.distributions(&desc);
            product.a.draw(from, 1).unwrap();
            product.b.draw(from, 2).unwrap();
            let Source::Matrix(source) = &mut product.c else { panic!("beta is not 0") };
            source.draw(of_c, 3).unwrap();
            product.run(&desc, Mode::Fast).unwrap();
            let verdict = product.verify(&desc).unwrap();
            assert!(verdict.is_right() && verdict.elements_checked == 3 * 28, "{verdict}");
            let was = numbers(&product.d);
            let last = was.len() - 1;
            let mut places = 0..was.len();
            let changed = |at: usize| if at == last { was[at] + 64.0 } else { was[at] };
            let next = |_: usize, _: usize| Ok::<_, Error>(changed(places.next().unwrap()));
            product.d.try_fill(Order::Row, next).unwrap();
            assert_eq!(product.verify(&desc).unwrap().elements_wrong, 1);
        }
    }

    #[test]
    fn too_large_problems_are_refused_before_allocation() {
        let desc = described("f32:col", "f32:col", "f32:col");
        let refused = |extents, leading| match HostProduct::poisoned(
            &desc,
            &Problem::new(&desc, extents, leading, [1.0; SCALARS]),
        ) {
            Err(Error::Refused(refusal)) => *refusal,
            other => panic!("{other:?}"),
        };
        assert!(matches!(
            refused((1 << 40, 1, 1), [None; 3]),
            Refusal { rule: Rule::AtMost, field: Field::Extent(_), .. }
        ));
        assert!(matches!(
            refused((1 << 30, 1, 1 << 30), [None; 3]),
            Refusal { field: Field::HostMemory, .. }
        ));
        assert!(matches!(
            refused((4, 4, 4), [None, Some(3), None]),
            Refusal { field: Field::LeadingDimensionOf(_), .. }
        ));
        // There is memory for the operand, but not for its decomposition.
        if let Some(available) = crate::resources::available_bytes() {
            let [a, b, c] = ["f32:row"; 3].map(|matrix| matrix.parse().ok());
            let knobs = vec![("emulation".to_owned(), "bf16x6".to_owned())];
            let (op, arch) = (Some(OpKind::TensorOp), Some(ArchKind::Sm90));
            let request = Request { a, b, c, op, arch, knobs, ..Request::default() };
            let desc = request.resolve(ArchKind::Sm90).unwrap().desc;
            let m = (available / 2 / 4 / 65536) as usize;
            let problem = Problem::new(&desc, (m, 1, 65536), [None; 3], [1.0; SCALARS]);
            let told = HostProduct::poisoned(&desc, &problem)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(told.ends_with("use a smaller problem"), "{told}");
        }
        assert!(matches!(
            refused((4, 4, 4), [Some(usize::MAX), None, None]).field,
            Field::SizeOf(_) | Field::HostMemory
        ));
    }
}
