//! The resolver: from a class and pins to descriptions. Pinned knobs stand; the others come from a
//! row of the default table, or are computed.
//!
//! The resolver first applies the pins to each configuration of the row. If none is valid, the file
//! of the main loop and MMA completes the pins: [`GemmDesc::candidate`] computes tiles that nest,
//! accesses that divide them, and stages and registers that fit. The next candidate never depends
//! on a refusal.
//!
//! The compiler resolves the first candidate of a type. A program computes the others when it first
//! needs them ([`completions`](crate::nest::completions)).

#![expect(clippy::result_large_err, reason = "constants have no heap, so no error can be boxed")]

use crate::{
    nest::{
        Class, DecompositionKind, Frame, GemmDesc, Knobs, Pins,
        advice::Refused,
        check_pins::without_thread_instruction,
        defaults::{Row, rows},
        places::SearchBudget,
    },
    refusal::{Advice, Refusal, Rule, Unresolved, hold},
};

/// Maximum number of descriptions that one resolution checks. The limit bounds the compile time.
pub(crate) const MOST_CHECKS: u32 = 20;

/// Maximum number of times that advice is followed to a kernel.
const MOST_ADVICE: u32 = 4;

/// Maximum number of computed candidates of a row that are checked, for each order of D.
const MOST_CANDIDATES: u32 = 4;

/// The first candidate of a request, with the row that supplies further candidates.
#[derive(Clone, Copy)]
pub(crate) struct First {
    pub desc: GemmDesc,
    pub row: &'static Row,
    pub source: FirstOf,
}

/// The source of the first candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FirstOf {
    /// A configuration of the row.
    Row(usize),
    /// The pins, by arithmetic.
    Computed,
    /// A configuration of the row with swapped operands.
    Columns(usize),
}

/// Returns the first candidate of a class and pins in the user's frame, for kernels in `frame`.
///
/// # Errors
/// [`Unresolved`] if no row has the types, or if no kernel has all pinned knobs. The error lists a
/// minimal set of conflicting pins, unless the work for it exceeds [`SearchBudget::LIMIT`]. Its
/// advice leads to a kernel.
pub(crate) const fn resolve(user: Class, frame: Frame, pins: Pins) -> Result<First, Unresolved> {
    let refused = match complete(user, frame, pins, &mut { SearchBudget::LIMIT }) {
        Ok(first) => return Ok(first),
        Err(refused) => refused,
    };
    let (mut because, mut work) = (refused.refusal, SearchBudget::LIMIT);
    if !leads_to_kernel(&refused, user, frame, pins, &mut work) {
        because = because.advise(Advice::None);
    }
    let (mut needed, mut rest) = (Pins::NONE, pins);
    while let Some((one, others)) = rest.split_first() {
        work.checks = 0;
        if complete(user, frame, others.over(needed), &mut work).is_ok() || work.is_spent() {
            needed = one.over(needed);
        }
        rest = others;
    }
    Err(Unresolved { because, knobs: needed.names() })
}

/// Returns whether the advice of a refusal, followed repeatedly, leads to a kernel. Advice in words
/// is kept, and so is the name of the units or of the main loop that have a foreign knob.
const fn leads_to_kernel(
    refused: &Refused,
    user: Class,
    frame: Frame,
    pins: Pins,
    work: &mut SearchBudget,
) -> bool {
    if matches!(refused.refusal.rule, Rule::Knob) {
        return true;
    }
    let Some((mut user, mut pins)) = refused.advised(user, pins) else { return true };
    let mut steps = 1;
    while let Err(refused) = complete(user, frame, pins, work) {
        (user, pins) = match refused.advised(user, pins) {
            Some(next) if steps < MOST_ADVICE && !work.is_spent() => next,
            _ => return false,
        };
        steps += 1;
        work.checks = 0;
    }
    true
}

/// Returns the first candidate of the first row that completes the pins, and adds its cost to
/// `work`.
///
/// # Errors
/// The refusal of the first row.
pub(crate) const fn complete(
    user: Class,
    frame: Frame,
    pins: Pins,
    work: &mut SearchBudget,
) -> Result<First, Refused> {
    let pins = without_thread_instruction(pins, &user);
    let row = match rows(user.op, user.arch, user.combined(), &pins, 0) {
        Ok(row) => row,
        Err(refusal) => return Err(Refused { refusal, knobs: Pins::NONE }),
    };
    let refused = match complete_row(row, &user, frame, &pins, work) {
        Ok(first) => return Ok(first),
        Err(refused) => refused,
    };
    let mut nth = 1;
    while work.checks < MOST_CHECKS
        && let Ok(row) = rows(user.op, user.arch, user.combined(), &pins, nth)
    {
        if let Ok(first) = complete_row(row, &user, frame, &pins, work) {
            return Ok(first);
        }
        nth += 1;
    }
    Err(refused)
}

/// Returns the first candidate of a row. If no candidate has a row-major D, D becomes column-major
/// if possible: then any multiple of eight columns is valid, and the other operand may be
/// contiguous along K.
///
/// # Errors
/// The refusal of the first candidate with a row-major D.
const fn complete_row(
    row: &'static Row,
    user: &Class,
    frame: Frame,
    pins: &Pins,
    work: &mut SearchBudget,
) -> Result<First, Refused> {
    let mut i = 0;
    while i < row.knobs.len() {
        if let Some(desc) = configured(user, frame, &row.knobs[i], pins, work) {
            return Ok(First { desc, row, source: FirstOf::Row(i) });
        }
        i += 1;
    }
    let base = placed(user, frame, &row.knobs[0], pins);
    let refused = match computed(&base, &pins.enter(frame), work) {
        Ok(desc) => return Ok(First { desc, row, source: FirstOf::Computed }),
        Err(refused) => refused,
    };
    // The CTAs of a cluster reduce partials with fewer registers.
    if work.checks < MOST_CHECKS
        && base.has_producer()
        && base.split_k() > 1
        && pins.decomposition.is_none()
    {
        let cluster = (base.split_k(), DecompositionKind::SplitKCluster);
        if let Ok(desc) = computed(&base.divided(cluster), &pins.enter(frame), work) {
            return Ok(First { desc, row, source: FirstOf::Computed });
        }
    }
    let mut i = 0;
    while i < row.of_columns.len() {
        if let Some(desc) = of_columns(user, frame, &row.of_columns[i], pins, work) {
            return Ok(First { desc, row, source: FirstOf::Columns(i) });
        }
        i += 1;
    }
    let columns = base.with_rows_as_columns();
    if work.checks < MOST_CHECKS
        && columns.is_of_columns()
        && !base.is_of_columns()
        && let Ok(desc) = computed(&columns, &pins.enter(columns.frame), work)
    {
        return Ok(First { desc, row, source: FirstOf::Computed });
    }
    Err(refused)
}

/// Returns the first valid candidate that completes the pins, which are in the kernel's frame.
///
/// # Errors
/// The refusal of the first candidate, or of a description without a candidate.
const fn computed(
    base: &GemmDesc,
    pins: &Pins,
    work: &mut SearchBudget,
) -> Result<GemmDesc, Refused> {
    let base = if base.a_from_registers() { base.settled() } else { *base };
    let (mut at, mut count, mut first) = (Some([0; 4]), 0, None);
    while count < MOST_CANDIDATES
        && work.checks + 1 < MOST_CHECKS
        && let Some(desc) = base.candidate(pins, &mut at, work)
    {
        match checked(desc, pins, work) {
            Ok(desc) => return Ok(desc),
            Err(refusal) if first.is_none() => {
                first = Some(Refused { refusal, knobs: desc.user_pins() });
            }
            Err(_) => {}
        }
        count += 1;
    }
    if let Some(refused) = first {
        return Err(refused);
    }
    let desc = base.without_candidate(pins);
    match checked(desc, pins, work) {
        Ok(desc) => Ok(desc),
        Err(refusal) => Err(Refused { refusal, knobs: desc.user_pins() }),
    }
}

/// Returns the description of a configuration with the pins, if it is valid.
pub(crate) const fn configured(
    user: &Class,
    frame: Frame,
    knobs: &Knobs,
    pins: &Pins,
    work: &mut SearchBudget,
) -> Option<GemmDesc> {
    fitting(placed(user, frame, knobs, pins), pins, work)
}

/// Returns the description of a configuration with swapped operands and with the pins, if the pins
/// leave its tile and it is valid.
pub(crate) const fn of_columns(
    user: &Class,
    frame: Frame,
    knobs: &Knobs,
    pins: &Pins,
    work: &mut SearchBudget,
) -> Option<GemmDesc> {
    if !(leaves_tile(knobs, pins) && leaves_clusters(knobs, pins)) {
        return None;
    }
    fitting(placed(user, frame, knobs, pins).with_rows_as_columns(), pins, work)
}

/// Returns whether the pins leave a configuration its tile: no shape is pinned, or the pinned rows
/// and columns are its own.
pub(crate) const fn leaves_tile(knobs: &Knobs, pins: &Pins) -> bool {
    let own = knobs.threadblock();
    match pins.threadblock {
        Some(pinned) => own.m == pinned.m && own.n == pinned.n,
        None => !pins.pins_shapes(),
    }
}

/// Returns whether the pins leave a configuration its split-K in a cluster. The number of slices
/// must be unpinned. If the decomposition is unpinned, the cluster must also be unpinned.
const fn leaves_clusters(knobs: &Knobs, pins: &Pins) -> bool {
    if !matches!(knobs.work.decomposition, DecompositionKind::SplitKCluster) {
        return true;
    }
    match pins.decomposition {
        None => pins.split_k.is_none() && pins.cluster.is_none(),
        Some(DecompositionKind::SplitKCluster) => pins.split_k.is_none(),
        Some(_) => false,
    }
}

/// Returns the description of a class in the user's frame with these knobs, and with the pins
/// applied.
pub(crate) const fn placed(user: &Class, frame: Frame, knobs: &Knobs, pins: &Pins) -> GemmDesc {
    GemmDesc::new(user, knobs).pinned(*pins).enter(frame)
}

/// Returns the description if it is valid, after its source of A is resolved.
///
/// # Errors
/// The refusal in the user's frame.
pub(crate) const fn legal(desc: GemmDesc, pins: &Pins) -> Result<GemmDesc, Refusal> {
    hold!(desc.mainloop.check_pinned(pins));
    let desc = desc.settled();
    match desc.check() {
        Ok(()) => Ok(desc),
        Err(refusal) => Err(refusal.leave(desc.frame)),
    }
}

/// Returns the description if it is valid, and counts the check.
const fn checked(
    desc: GemmDesc,
    pins: &Pins,
    work: &mut SearchBudget,
) -> Result<GemmDesc, Refusal> {
    work.checks += 1;
    legal(desc, pins)
}

/// Returns the description if its tiles nest, its accesses fit, and it is valid. If the partials
/// of a cluster leave too little shared memory, unpinned stages are reduced to those that fit. The
/// last check is left for the refusal.
const fn fitting(desc: GemmDesc, pins: &Pins, work: &mut SearchBudget) -> Option<GemmDesc> {
    let desc = if desc.cuts_by_cluster() { desc.with_fitting_stages(pins) } else { desc };
    if !desc.may_fit() || work.checks + 1 >= MOST_CHECKS {
        return None;
    }
    match checked(desc, pins, work) {
        Ok(desc) => Some(desc),
        Err(_) => None,
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
