//! The default configurations: a table with one row per class of element types. The rows are
//! beside their MMAs: in `defaults.rs` of a folder of `src/warp/`, and of its folder `tma_ring`.
//!
//! A row names architectures, combinations of element types, and knobs. The same rows serve `Gemm`
//! at compile time, and flags and files at run time.

use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    nest::{GemmDesc, Knobs, Pins, PromotionKind, check_pins::check_pins},
    numeric::{Combined, ElementKind},
    refusal::{Refusal, Rule},
    threadblock::MainloopKind,
    warp::DEFAULT_TABLES,
};

/// Returns knobs with some of them replaced: `with!(knobs, stages: 3)`.
macro_rules! with {
    ($knobs:expr, $($field:ident $(: $value:expr)?),+ $(,)?) => {
        $knobs.pinned(&$crate::nest::Pins {
            $($field: Some($crate::nest::defaults::with!(@value $field $(, $value)?)),)+
            ..$crate::nest::Pins::NONE
        })
    };
    (@value $field:ident) => { $field };
    (@value $field:ident, $value:expr) => { $value };
}
pub(crate) use with;

/// The rows of the default tables of all MMAs.
const ALL_ROWS: [&Row; rows_of(DEFAULT_TABLES)] = {
    let (mut rows, mut found) = ([&DEFAULT_TABLES[0][0]; rows_of(DEFAULT_TABLES)], 0);
    let mut table = 0;
    while table < DEFAULT_TABLES.len() {
        let mut i = 0;
        while i < DEFAULT_TABLES[table].len() {
            (rows[found], found, i) = (&DEFAULT_TABLES[table][i], found + 1, i + 1);
        }
        table += 1;
    }
    rows
};

/// Returns the number of rows of all tables.
const fn rows_of(tables: &[&[Row]]) -> usize {
    let (mut rows, mut table) = (0, 0);
    while table < tables.len() {
        (rows, table) = (rows + tables[table].len(), table + 1);
    }
    rows
}

/// Configurations for some element types on some architectures.
pub(crate) struct Row {
    pub op: OpKind,
    pub archs: &'static [ArchKind],
    pub types: &'static [Combined],
    /// The promotion that must be pinned to use this row, because promotion changes the result.
    pub promotion: Option<PromotionKind>,
    /// Candidate configurations of a problem. The first is the configuration of
    /// [`Auto`](crate::nest::Auto).
    pub knobs: &'static [Knobs],
    /// Additional candidates with swapped operands, whose D is column-major in the kernel. A small
    /// M maps to the instruction's N. If an operand must be K-major, swapping the operands selects
    /// the one that is.
    pub of_columns: &'static [Knobs],
    /// Additional candidates, unless the pins contain shapes or the division of K.
    pub alternatives: &'static [Alternative],
    /// Candidates for another kernel's row of these types, if that kernel needs copies that TMA can
    /// read.
    pub in_place: &'static [Knobs],
}

/// An additional configuration, and the order of its D.
pub(crate) enum Alternative {
    /// D keeps its order. K of the same tiles is divided differently, or another main loop
    /// copies them.
    AsGiven(Knobs),
    /// D is column-major in the kernel, even if the tile is also valid with a row-major D. Rows of
    /// D are columns of a tile.
    OfColumns(Knobs),
}

impl Alternative {
    /// Returns the knobs.
    pub(crate) const fn knobs(&self) -> &Knobs {
        match self {
            Self::AsGiven(knobs) | Self::OfColumns(knobs) => knobs,
        }
    }

    /// Returns whether D is column-major.
    pub(crate) const fn is_of_columns(&self) -> bool {
        matches!(self, Self::OfColumns(_))
    }

    /// Returns `desc` with D in the order of this alternative.
    pub(crate) const fn apply(&self, desc: GemmDesc) -> GemmDesc {
        match self {
            Self::AsGiven(_) => desc,
            Self::OfColumns(_) => desc.with_rows_as_columns(),
        }
    }
}

impl Row {
    /// Returns a row with `knobs` as its only candidates.
    pub(crate) const fn new(
        op: OpKind,
        archs: &'static [ArchKind],
        types: &'static [Combined],
        knobs: &'static [Knobs],
    ) -> Self {
        Self {
            op,
            archs,
            types,
            promotion: None,
            knobs,
            of_columns: &[],
            alternatives: &[],
            in_place: &[],
        }
    }

    /// Returns whether TMA loads the operands.
    const fn is_of_tensors(&self) -> bool {
        self.knobs[0].has_producer()
    }
}

/// Returns the configurations that read operands in place, as alternatives to a TMA row of these
/// types.
pub(crate) const fn in_place(
    of: &Row,
    (op, arch, types): (OpKind, ArchKind, Combined),
) -> &'static [Knobs] {
    let mut i = if of.is_of_tensors() { 0 } else { ALL_ROWS.len() };
    while i < ALL_ROWS.len() {
        let row = ALL_ROWS[i];
        i += 1;
        if !row.in_place.is_empty()
            && op as u8 == row.op as u8
            && has_arch(row.archs, arch)
            && types.is_among(row.types)
        {
            return row.in_place;
        }
    }
    &[]
}

/// Returns a combination whose operands have two types.
pub(crate) const fn mixed(
    a: ElementKind,
    b: ElementKind,
    accumulator: ElementKind,
    c: ElementKind,
) -> Combined {
    Combined { a, b, accumulator, c }
}

/// Returns a combination whose operands have one type.
pub(crate) const fn combined(
    ab: ElementKind,
    accumulator: ElementKind,
    c: ElementKind,
) -> Combined {
    mixed(ab, ab, accumulator, c)
}

/// Returns row `nth` of a class whose kernel has the pinned knobs. Rows whose instruction has the
/// pinned number of rows of A come first.
///
/// # Errors
/// [`Refusal`] of the types or the operation if the table has no row. [`Refusal`] of a knob or of
/// the main loop if no row of these types has the pinned knobs.
pub(crate) const fn rows(
    op: OpKind,
    arch: ArchKind,
    types: Combined,
    pins: &Pins,
    nth: usize,
) -> Result<&'static Row, Refusal> {
    let (mut i, mut refused) = (0, None);
    let (mut left, mut with_other_rows) = (nth, false);
    while i < ALL_ROWS.len() || !with_other_rows {
        if i == ALL_ROWS.len() {
            (i, with_other_rows) = (0, true);
        }
        let row = ALL_ROWS[i];
        i += 1;
        if op as u8 != row.op as u8 || !has_arch(row.archs, arch) || !types.is_among(row.types) {
            continue;
        }
        match (row.promotion, pins.promotion) {
            (None, _) | (Some(PromotionKind::Stage), Some(PromotionKind::Stage)) => {}
            _ => continue,
        }
        match check_pins(&row.knobs[0], pins, op, arch) {
            Ok(()) if same_rows(&row.knobs[0], pins) == with_other_rows => {}
            Ok(()) if left == 0 => return Ok(row),
            Ok(()) => left -= 1,
            // If a row has the pinned main loop, the refusal names the knob that the row lacks.
            Err(refusal @ Refusal { rule: Rule::Knob, .. }) if pins.mainloop.is_some() => {
                refused = Some(refusal)
            }
            Err(refusal) if refused.is_none() => refused = Some(refusal),
            Err(_) => {}
        }
    }
    match (refused, nearest_arch(op, arch, types)) {
        (Some(refusal), _) => Err(refusal),
        (None, Some(nearest)) => Err(Refusal::no_such_operation(types, op, arch, nearest)),
        (None, None) => Err(types.refused_by(op)),
    }
}

/// Returns the main loop of units that has all pinned knobs, on this architecture if
/// possible.
pub(crate) const fn mainloop_with(op: OpKind, arch: ArchKind, pins: Pins) -> Option<MainloopKind> {
    let (mut i, mut found) = (0, None);
    while i < ALL_ROWS.len() {
        let row = ALL_ROWS[i];
        i += 1;
        if op as u8 == row.op as u8 && row.knobs[0].foreign(pins).is_none() {
            let mainloop = row.knobs[0].mainloop.kind();
            if has_arch(row.archs, arch) {
                return Some(mainloop);
            }
            if found.is_none() {
                found = Some(mainloop);
            }
        }
    }
    found
}

/// Returns the architecture nearest to `arch` whose rows have the types.
const fn nearest_arch(op: OpKind, arch: ArchKind, types: Combined) -> Option<ArchKind> {
    let (mut i, mut nearest) = (0, None);
    while i < ALL_ROWS.len() {
        let row = ALL_ROWS[i];
        i += 1;
        if op as u8 == row.op as u8 && types.is_among(row.types) && !has_arch(row.archs, arch) {
            nearest = nearest_of(row.archs, arch, nearest);
        }
    }
    nearest
}

/// Returns the nearest architecture among those of a row and `nearest`: the next newer one, or else
/// the next older one.
const fn nearest_of(
    archs: &[ArchKind],
    arch: ArchKind,
    mut nearest: Option<ArchKind>,
) -> Option<ArchKind> {
    let mut i = 0;
    while i < archs.len() {
        let (other, own) = (archs[i] as u8, arch as u8);
        nearest = match nearest {
            Some(found) if found as u8 > own && (other <= own || other >= found as u8) => {
                Some(found)
            }
            Some(found) if (found as u8) < own && other <= found as u8 => Some(found),
            _ => Some(archs[i]),
        };
        i += 1;
    }
    nearest
}

/// Returns whether a pinned instruction has as many rows of A as the instruction of the knobs.
const fn same_rows(knobs: &Knobs, pins: &Pins) -> bool {
    match (pins.instruction, knobs.mma.instruction()) {
        (Some(pinned), Some(own)) => pinned.m == own.m,
        _ => true,
    }
}

const fn has_arch(archs: &[ArchKind], arch: ArchKind) -> bool {
    let mut i = 0;
    while i < archs.len() {
        if archs[i] as u8 == arch as u8 {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns the candidate configurations of element types on an architecture. The first is the
/// configuration of [`Auto`](crate::nest::Auto).
///
/// # Errors
/// [`Refusal`] of the types or the operation if the table has no row.
pub const fn default_gemm_configurations(
    op: OpKind,
    arch: ArchKind,
    types: Combined,
) -> Result<&'static [Knobs], Refusal> {
    match rows(op, arch, types, &Pins::NONE, 0) {
        Ok(row) => Ok(row.knobs),
        Err(refusal) => Err(refusal),
    }
}

/// Returns the default description of a GEMM whose element types are values. A column-major C swaps
/// the operands. The result is not checked, because callers may change it first.
///
/// # Errors
/// The errors of [`default_gemm_configurations`].
pub fn default_description(
    op: OpKind,
    arch: ArchKind,
    types: Combined,
    [a, b, c]: [Order; 3],
) -> Result<GemmDesc, Refusal> {
    let knobs = default_gemm_configurations(op, arch, types)?;
    Ok(GemmDesc::from_values(op, arch, types, [a, b, c], knobs[0]))
}
