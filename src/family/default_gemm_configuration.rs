//! What a kernel is configured as unless the user says otherwise: a table, whose rows stand in the
//! families' rooms, one for each class of types.
//!
//! A row names architectures, combinations of types, and the knobs. The same row answers types,
//! while compiling, and flags and files.

use super::{ALL_ROWS, check_pins::check_pins};
use crate::{
    arch::{ArchKind, OpKind},
    desc::{FamilyDesc, GemmDesc, Pins, PromotionKind},
    layout::Order,
    numeric::{Combined, ElementKind},
    refusal::Refusal,
    threadblock::MainloopKind,
};

/// Knobs for these types on these architectures.
pub(super) struct Row {
    pub op: OpKind,
    pub archs: &'static [ArchKind],
    pub types: &'static [Combined],
    /// What has to be pinned for it: accumulators that are promoted are others.
    pub promotion: Option<PromotionKind>,
    /// The first is what [`Auto`](crate::desc::Auto) stands for; all are what a problem chooses
    /// among.
    pub families: &'static [FamilyDesc],
    /// What a problem chooses among beside, whose D is column-major for the kernel: few rows are
    /// the columns of its instructions, and of an operand that may lie along K alone it is the one
    /// that does.
    pub of_columns: &'static [FamilyDesc],
    /// What a problem chooses among beside, unless shapes or how K is divided are pinned.
    pub beside: &'static [Alternative],
    /// What a problem of another family's row of these types chooses among beside, where that
    /// family would have operands copied to where TMA can read them.
    pub in_place: &'static [FamilyDesc],
}

/// A configuration beside those of a row, and how it has D.
pub(super) enum Alternative {
    /// As it is given: K of the same tiles is divided otherwise, or another family copies them.
    AsGiven(FamilyDesc),
    /// Column-major for the kernel, also in a tile that is a kernel as it is given: rows of D are
    /// columns of a tile.
    OfColumns(FamilyDesc),
}

impl Alternative {
    /// The family.
    pub(super) const fn family(&self) -> &FamilyDesc {
        match self {
            Self::AsGiven(family) | Self::OfColumns(family) => family,
        }
    }

    /// Whether it has D column-major.
    pub(super) const fn is_of_columns(&self) -> bool {
        matches!(self, Self::OfColumns(_))
    }

    /// A description of the family, with D as this has it.
    pub(super) const fn of(&self, desc: GemmDesc) -> GemmDesc {
        match self {
            Self::AsGiven(_) => desc,
            Self::OfColumns(_) => desc.of_columns(),
        }
    }
}

impl Row {
    /// Whether TMA reads the operands of its kernels.
    const fn is_of_tensors(&self) -> bool {
        matches!(self.families[0], FamilyDesc::WarpSpecialized(_))
    }
}

/// What reads operands in place beside a row of these types, which TMA feeds.
pub(super) const fn in_place(
    of: &Row,
    (op, arch, types): (OpKind, ArchKind, Combined),
) -> &'static [FamilyDesc] {
    let (mut room, mut i) = (if of.is_of_tensors() { 0 } else { ALL_ROWS.len() }, 0);
    while room < ALL_ROWS.len() {
        if i == ALL_ROWS[room].len() {
            (room, i) = (room + 1, 0);
            continue;
        }
        let row = &ALL_ROWS[room][i];
        if !row.in_place.is_empty()
            && op as u8 == row.op as u8
            && has_arch(row.archs, arch)
            && types.is_among(row.types)
        {
            return row.in_place;
        }
        i += 1;
    }
    &[]
}

/// Operands of two types.
pub(super) const fn mixed(
    a: ElementKind,
    b: ElementKind,
    accumulator: ElementKind,
    c: ElementKind,
) -> Combined {
    Combined { a, b, accumulator, c }
}

/// Operands of one type.
pub(super) const fn of(ab: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    mixed(ab, ab, accumulator, c)
}

/// The row number `nth` of a class that has what is pinned. Rows whose instruction has the pinned
/// number of rows of A come first.
///
/// # Errors
/// [`Refusal::NoSuchOperation`], [`Refusal::NoSuchCombination`] or [`Refusal::OfOtherUnits`] when
/// the table has no row; [`Refusal::OtherFamilysKnob`] or [`Refusal::OtherMainloop`] when no row of
/// these types has what is pinned.
pub(super) const fn rows(
    op: OpKind,
    arch: ArchKind,
    types: Combined,
    pins: &Pins,
    nth: usize,
) -> Result<&'static Row, Refusal> {
    let (mut room, mut i, mut elsewhere, mut refused) = (0, 0, None, None);
    let (mut left, mut with_other_rows) = (nth, false);
    while room < ALL_ROWS.len() || !with_other_rows {
        if room == ALL_ROWS.len() {
            (room, i, with_other_rows) = (0, 0, true);
        }
        if i == ALL_ROWS[room].len() {
            (room, i) = (room + 1, 0);
            continue;
        }
        let row = &ALL_ROWS[room][i];
        i += 1;
        if op as u8 != row.op as u8 || !types.is_among(row.types) {
            continue;
        }
        if !has_arch(row.archs, arch) {
            elsewhere = nearest_of(row.archs, arch, elsewhere);
            continue;
        }
        match (row.promotion, pins.promotion) {
            (None, _) | (Some(PromotionKind::Stage), Some(PromotionKind::Stage)) => {}
            _ => continue,
        }
        match check_pins(&row.families[0], pins, op, arch) {
            Ok(()) if same_rows(&row.families[0], pins) == with_other_rows => {}
            Ok(()) if left == 0 => return Ok(row),
            Ok(()) => left -= 1,
            // Of a row that has the main loop, the sentence is of the knob that it lacks.
            Err(
                refusal @ (Refusal::OtherFamilysKnob { .. } | Refusal::KnobOfOtherUnits { .. }),
            ) if pins.mainloop.is_some() => refused = Some(refusal),
            Err(refusal) if refused.is_none() => refused = Some(refusal),
            Err(_) => {}
        }
    }
    match (refused, elsewhere) {
        (Some(refusal), _) => Err(refusal),
        (None, Some(nearest)) => Err(Refusal::NoSuchOperation { types, op, arch, nearest }),
        (None, None) => Err(types.refused_by(op)),
    }
}

/// The main loop of units, on an architecture if possible, that have all that is pinned.
pub(super) const fn mainloop_with(op: OpKind, arch: ArchKind, pins: Pins) -> Option<MainloopKind> {
    let (mut room, mut i, mut found) = (0, 0, None);
    while room < ALL_ROWS.len() {
        if i == ALL_ROWS[room].len() {
            (room, i) = (room + 1, 0);
            continue;
        }
        let row = &ALL_ROWS[room][i];
        i += 1;
        if op as u8 == row.op as u8 && row.families[0].foreign(pins).is_none() {
            let mainloop = row.families[0].mainloop();
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

/// The nearest architecture of those of a row and of one that was found: the next newer one, or
/// else the next older one.
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

/// Whether an instruction that is pinned has as many rows of A as a family's.
const fn same_rows(family: &FamilyDesc, pins: &Pins) -> bool {
    match (pins.instruction, family.pins().instruction) {
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

/// What types on an architecture may take, by default the first: that is what
/// [`Auto`](crate::desc::Auto) stands for.
///
/// # Errors
/// Those of a table without a row: [`Refusal::NoSuchOperation`], [`Refusal::NoSuchCombination`] or
/// [`Refusal::OfOtherUnits`].
pub const fn default_gemm_configurations(
    op: OpKind,
    arch: ArchKind,
    types: Combined,
) -> Result<&'static [FamilyDesc], Refusal> {
    match rows(op, arch, types, &Pins::NONE, 0) {
        Ok(row) => Ok(row.families),
        Err(refusal) => Err(refusal),
    }
}

/// The description of a product whose types are values, configured by default. C may be
/// column-major: then the description is that of the exchanged problem.
///
/// # Errors
/// Those of [`default_gemm_configurations`]; the description itself is still to be checked, with
/// what the caller changes in it.
pub fn default_description(
    op: OpKind,
    arch: ArchKind,
    types: Combined,
    [a, b, c]: [Order; 3],
) -> Result<GemmDesc, Refusal> {
    let families = default_gemm_configurations(op, arch, types)?;
    Ok(GemmDesc::of_values(op, arch, types, [a, b, c], families[0]))
}
