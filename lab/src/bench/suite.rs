//! Suites: JSON lines with one problem each.
//!
//! ```text
//! {"m":4096,"n":4096,"k":4096,"a":"bf16:row","b":"bf16:col","c":"bf16:row"}
//! ```
//!
//! Unknown fields are refused. Otherwise, a misspelled `lda` would measure another problem than
//! intended.

use super::data::Data;
use crate::{Error, verify::draw};
use falchion::{
    epilogue::{EpilogueDesc, SCALARS},
    internals::{
        operand::{
            Elements, GateColumns, Groups, IndexList, Indices, Problem, Source, UpMatrix, View,
        },
        shape::Axis,
    },
    layout::MatrixType,
    numeric::{ElementKind, EmulationKind},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// An operand in the notation of suites: `bf16:row`.
pub type Operand = MatrixType;

/// The accumulation mode of fp8 tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accumulate {
    /// Accumulation in the tensor core for all of K.
    Fast,
    /// Promotion to f32 every 128 products.
    Slow,
}

/// The operand that all GEMMs of a batch share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Broadcast {
    /// A.
    A,
    /// B.
    B,
}

/// One problem: D = epilogue(alpha * A*B, beta * C). A is m x k, B is k x n, and C and D are m x n.
///
/// Leading dimensions are in elements. If absent, they are the operand's contiguous extent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteProblem {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A and rows of B.
    pub k: usize,
    /// A's type and order.
    pub a: Operand,
    /// B's type and order.
    pub b: Operand,
    /// Type and order of C and D.
    pub c: Operand,
    /// `simt` or `tensorop`. If absent, the fastest units that multiply the types as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Name of the accumulator type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acc: Option<String>,
    /// A's leading dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lda: Option<usize>,
    /// B's leading dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ldb: Option<usize>,
    /// Leading dimension of C and D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ldc: Option<usize>,
    /// Factor of A*B. If absent, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Factor of C. If absent, 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Number of independent GEMMs of this shape with consecutive matrices. If absent, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,
    /// The operand that the batch shares, with a stride of 0. If absent, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Broadcast>,
    /// Whether Falchion computes the batch as a grouped GEMM on one A, with group offsets on the
    /// device. If absent, no.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub grouped: bool,
    /// Rows of A and D per group of a ragged grouped GEMM, whose groups are consecutive. Each group
    /// has its own B, and m is the sum of all rows. If absent, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_rows: Option<Vec<usize>>,
    /// Columns of A, and rows of B, per group of a grouped GEMM along K. Groups are consecutive,
    /// each has its own D, and k is the sum of all. If absent, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_k: Option<Vec<usize>>,
    /// Whether Falchion computes the batch as a pointer array. If absent, no.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub pointers: bool,
    /// Whether the launches of a pointer array are prepared once, because its addresses do not
    /// change. If absent, no.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub bound: bool,
    /// Whether Falchion gathers the rows of A in a random order, through an index list on the
    /// device. The peer reads the rows in their order in D. If absent, no.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub gather_a: bool,
    /// An epilogue expression. If absent, the plain linear combination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epilogue: Option<String>,
    /// The accumulation mode of fp8. If absent, `fast`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accumulate: Option<Accumulate>,
    /// Seed of the random operands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Knobs that differ from the default, by JSON name, with values as flags accept them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub knobs: BTreeMap<String, String>,
    /// The emulation of `f32` on tensor cores. If absent, the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<EmulationKind>,
    /// The distribution of `f32` operands. If present, the errors of Falchion and of cuBLAS's SGEMM
    /// are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
}

impl SuiteProblem {
    /// Returns `D = A·B` with the given sizes, types, and orders. All other fields have their
    /// defaults.
    #[must_use]
    pub fn new((m, n, k): (usize, usize, usize), [a, b, c]: [Operand; 3]) -> Self {
        Self {
            m,
            n,
            k,
            a,
            b,
            c,
            op: None,
            acc: None,
            lda: None,
            ldb: None,
            ldc: None,
            alpha: None,
            beta: None,
            batch: None,
            broadcast: None,
            grouped: false,
            group_rows: None,
            group_k: None,
            pointers: false,
            bound: false,
            gather_a: false,
            epilogue: None,
            accumulate: None,
            seed: None,
            knobs: BTreeMap::new(),
            emulation: None,
            data: None,
        }
    }

    /// Returns the axis and the lengths of ragged groups; `None` without them.
    #[must_use]
    pub fn ragged(&self) -> Option<(Axis, &[usize])> {
        let rows = self.group_rows.as_deref().map(|rows| (Axis::M, rows));
        rows.or(self.group_k.as_deref().map(|depths| (Axis::K, depths)))
    }

    /// Returns the number of GEMMs: the batch size, the number of groups, or 1.
    #[must_use]
    pub fn products(&self) -> usize {
        self.ragged().map_or(self.batch.unwrap_or(1), |(_, lengths)| lengths.len())
    }

    /// Returns the columns of B per column of D: two if the epilogue has a gate.
    fn columns_per_output(&self) -> usize {
        let epilogue = self.epilogue.as_ref().and_then(|text| text.parse::<EpilogueDesc>().ok());
        epilogue.map_or(1, |epilogue| epilogue.columns_per_output())
    }

    /// Returns the number of multiplications and additions: `2 m n k` per GEMM of the batch, or
    /// twice as many with a gate. All groups together have m rows, or a depth of k.
    #[must_use]
    pub fn operations(&self) -> f64 {
        let columns = self.n as f64 * self.columns_per_output() as f64;
        2.0 * self.m as f64 * columns * self.k as f64 * self.batch.unwrap_or(1) as f64
    }

    /// Returns the call without its data. C is the previous content of D. Groups of rows share A
    /// and D, and groups along K share A and B.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let (m, n, k, batch) = (self.m, self.n, self.k, self.products());
        let matrix = |operand: Operand, leading, extents, shared: bool| {
            let view = View::packed((), operand.order, extents, leading);
            let view = if shared { view.batched(0) } else { view };
            view.with(Elements::new(
                usize::try_from(view.elements(extents, batch)).unwrap_or(usize::MAX),
            ))
        };
        let axis = self.ragged().map(|(axis, _)| axis);
        let (of_rows, along_k) = (axis == Some(Axis::M), axis == Some(Axis::K));
        let each = self.columns_per_output();
        let b = matrix(
            self.b,
            self.ldb,
            (k, each * n),
            along_k || self.broadcast == Some(Broadcast::B),
        );
        let (b, up) = match each {
            1 => (b, UpMatrix::None),
            _ => GateColumns::Halves.matrices(b, n),
        };
        let mut scalars = [0.0; SCALARS];
        scalars[0] = self.alpha.unwrap_or(1.0);
        scalars[1] = self.beta.unwrap_or(0.0);
        Problem {
            m,
            n,
            k,
            batch,
            groups: axis.map(|axis| Groups::with_count(axis, batch)),
            indices: Indices::NONE,
            a: matrix(
                self.a,
                self.lda,
                (m, k),
                axis.is_some() || self.broadcast == Some(Broadcast::A),
            ),
            b,
            up,
            c: if scalars[1] == 0.0 { Source::None } else { Source::InPlace },
            d: matrix(self.c, self.ldc, (m, n), of_rows),
            scalars,
            operands: Default::default(),
            workspace: None,
        }
    }

    /// Returns the launched call. If it is [`grouped`](Self::grouped), it has one A and one D with
    /// all rows. If it gathers A, it has an index list.
    #[must_use]
    pub fn launched(&self) -> Problem {
        let problem = self.problem();
        let rows = self.gather_a.then(|| IndexList::new(Elements::new(self.m), self.m));
        let indices = Indices { operands: [rows, None], output: None };
        if !self.grouped {
            return Problem { indices, ..problem };
        }
        Problem { m: problem.m * problem.batch, ..problem }.grouped(problem.batch)
    }

    /// Returns the index list of A, a random order of its rows; `None` if A is not gathered.
    #[must_use]
    pub fn rows_of_a(&self) -> Option<Vec<u32>> {
        self.gather_a.then(|| {
            let mut rows: Vec<_> = (0..self.m as u32).collect();
            rows.sort_by_key(|&row| draw(self.m as u64, row.into()));
            rows
        })
    }

    /// Returns the group offsets; `None` if Falchion does not compute a grouped GEMM.
    #[must_use]
    pub fn offsets(&self) -> Option<Vec<u32>> {
        let alike = || (0..=self.products()).map(|group| (group * self.m) as u32).collect();
        let unlike = |(_, lengths): (Axis, &[usize])| {
            let ends = lengths.iter().scan(0, |end, length| {
                *end += *length as u32;
                Some(*end)
            });
            core::iter::once(0).chain(ends).collect()
        };
        self.ragged().map(unlike).or_else(|| self.grouped.then(alike))
    }

    /// Returns A's leading dimension.
    #[must_use]
    pub fn lda(&self) -> usize {
        self.lda.unwrap_or(self.a.order.packed(self.m, self.k))
    }

    /// Returns B's leading dimension.
    #[must_use]
    pub fn ldb(&self) -> usize {
        self.ldb.unwrap_or(self.b.order.packed(self.k, self.n * self.columns_per_output()))
    }

    /// Returns the leading dimension of C and D.
    #[must_use]
    pub fn ldc(&self) -> usize {
        self.ldc.unwrap_or(self.c.order.packed(self.m, self.n))
    }

    /// Checks the numbers. An error is a sentence.
    fn check(&self) -> Result<(), String> {
        self.check_groups()?;
        for (name, extent) in
            [("m", self.m), ("n", self.n), ("k", self.k), ("batch", self.products())]
        {
            if extent == 0 {
                return Err(format!("`{name}` is 0; nothing would be measured"));
            }
        }
        if self.pointers && (self.batch.is_none() || self.grouped) {
            return Err("`pointers` needs a `batch` that is not `grouped`".to_owned());
        }
        if self.bound && !self.pointers {
            return Err("`bound` needs `pointers`".to_owned());
        }
        let several = self.batch.is_some() || self.ragged().is_some();
        if self.gather_a && (several || !self.a.order.is_row()) {
            return Err("`gather_a` needs a row-major A, and no batch or groups".to_owned());
        }
        for (name, ld, least) in [
            ("lda", self.lda(), self.a.order.packed(self.m, self.k)),
            ("ldb", self.ldb(), self.b.order.packed(self.k, self.n * self.columns_per_output())),
            ("ldc", self.ldc(), self.c.order.packed(self.m, self.n)),
        ] {
            if ld < least {
                return Err(format!(
                    "`{name}` is {ld}, below the operand's contiguous extent {least}"
                ));
            }
        }
        if let Some(op) = self.op.as_deref().filter(|op| !["simt", "tensorop"].contains(op)) {
            return Err(format!("`op` is `{op}`; it is `simt` or `tensorop`"));
        }
        let all_f32 =
            [self.a, self.b, self.c].iter().all(|operand| operand.element == ElementKind::F32);
        let plain = self.alpha.is_none()
            && self.beta.is_none()
            && self.epilogue.is_none()
            && self.batch.is_none()
            && self.ragged().is_none();
        if self.data.is_some() && !(all_f32 && plain) {
            return Err(
                "`data` is for plain products of f32: no alpha, beta, epilogue, batch or groups"
                    .to_owned(),
            );
        }
        if self.broadcast.is_some() && self.batch.is_none() {
            return Err("`broadcast` needs `batch`".to_owned());
        }
        if self.grouped
            && (self.batch.is_none()
                || self.broadcast == Some(Broadcast::A)
                || ![self.a, self.c].iter().all(|x| x.order.is_row()))
        {
            return Err(
                "`grouped` needs a `batch` with a row-major A and C, because the rows of all GEMMs are consecutive".to_owned()
            );
        }
        let accumulator = self.acc.as_deref().map(str::parse::<ElementKind>).transpose();
        let acc = self.acc.as_deref().unwrap_or_default();
        accumulator.map(drop).map_err(|error| format!("`acc`, `{acc}`, {}", error.because()))
    }

    /// Checks the lengths of groups. An error is a sentence.
    fn check_groups(&self) -> Result<(), String> {
        let Some((axis, lengths)) = self.ragged() else { return Ok(()) };
        let (name, lines, field, extent) = match axis {
            Axis::K => ("group_k", "columns of A", "k", self.k),
            _ => ("group_rows", "rows", "m", self.m),
        };
        if lengths.is_empty() {
            return Err(format!("`{name}` has no group; nothing would be measured"));
        }
        if self.batch.is_some() || self.grouped || self.pointers || self.broadcast.is_some() {
            return Err(format!(
                "`{name}` sets the number of GEMMs; remove `batch`, `grouped`, `pointers`, and `broadcast`"
            ));
        }
        if self.group_rows.is_some() && self.group_k.is_some() {
            return Err("`group_rows` and `group_k` exclude each other".to_owned());
        }
        let rows = [("a", self.a), ("c", self.c)].into_iter().filter(|_| axis == Axis::M);
        for (name, operand) in rows {
            if !operand.order.is_row() {
                return Err(format!(
                    "`{name}` is `{operand}`; `group_rows` is for a row-major A and C"
                ));
            }
        }
        let all = lengths.iter().fold(0, |all: usize, length| all.saturating_add(*length));
        if all != extent {
            return Err(format!(
                "`{name}` come to {all} {lines}, and `{field}`, which is all of them, is {extent}"
            ));
        }
        // Largest extent of a problem.
        let most = i32::MAX as usize;
        if all > most {
            return Err(format!("`{name}` come to {all} {lines}, and there are at most {most}"));
        }
        Ok(())
    }

    /// Returns the number of ragged groups and their lengths, such as `7 of 3 to 1900 rows`, or `7
    /// of K = 3 to 1900`; `None` without ragged groups.
    #[must_use]
    pub fn ragged_groups(&self) -> Option<String> {
        let (axis, lengths) = self.ragged()?;
        let (least, most) = (lengths.iter().min()?, lengths.iter().max()?);
        let count = lengths.len();
        Some(match axis {
            Axis::K => format!("{count} of K = {least} to {most}"),
            _ => format!("{count} of {least} to {most} rows"),
        })
    }
}

/// Writes `4096x4096x4096, f32:row f32:col f32:row`. A batch begins with `64 of`, ragged groups
/// begin with `7 of 3 to 1900 rows, `, and a pointer array ends with `by pointers`
/// or `by pointers, bound`. Gathered rows end with `A gathered`.
impl fmt::Display for SuiteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k, a, b, c, .. } = self;
        self.batch.map_or(Ok(()), |batch| write!(f, "{batch} of "))?;
        self.ragged_groups().map_or(Ok(()), |groups| write!(f, "{groups}, "))?;
        let by = match (self.pointers, self.gather_a) {
            (true, _) => ", by pointers",
            (false, true) => ", A gathered",
            (false, false) => "",
        };
        write!(f, "{m}x{n}x{k}, {a} {b} {c}{by}{}", if self.bound { ", bound" } else { "" })
    }
}

/// Parses a suite. Blank lines are skipped. `name` is for error messages.
///
/// # Errors
/// [`Error::Suite`] with the line number if a line is not a problem, or if there are no problems.
pub fn parse(name: &str, text: &str) -> Result<Vec<SuiteProblem>, Error> {
    parse_lines(name, text, SuiteProblem::check)
}

/// Parses a suite of one kind, and checks each problem.
pub(super) fn parse_lines<P: for<'de> Deserialize<'de>>(
    name: &str,
    text: &str,
    check: impl Fn(&P) -> Result<(), String>,
) -> Result<Vec<P>, Error> {
    let refused = |line, because| Error::Suite { suite: name.to_owned(), line, because };
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if !line.trim_start().starts_with('{') {
            return Err(refused(
                index + 1,
                "not a problem: a line is an object, {\"m\":512, ..}".to_owned(),
            ));
        }
        let problem: P = serde_json::from_str(line)
            .map_err(|e| refused(index + 1, format!("not a problem: {}", without_position(&e))))?;
        check(&problem).map_err(|because| refused(index + 1, because))?;
        problems.push(problem);
    }
    if problems.is_empty() {
        return Err(refused(1, "the suite holds no problem".to_owned()));
    }
    Ok(problems)
}

/// Returns the message of a JSON error with its column only, because serde_json sees each line as a
/// whole text.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} (column {})", error.column()),
        None => text,
    }
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
