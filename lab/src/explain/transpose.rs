//! Explanations of transposes, for `falchion transpose --explain`.

use super::{StatedLayout, layouts_of_transpose};
use crate::{
    Error,
    counters::{SharedAccesses, TransposeCounters, count_transpose},
    ladder::TransposeRung,
};
use falchion::{
    arch::ArchKind,
    internals::{
        call::{Elements, View},
        pass::transpose::{
            Choice, Combine, GatheredTile, Lanes, Staging, TransposeDesc, TransposeProblem,
            TransposeProgram,
        },
    },
    layout::Order,
};

/// A choice, with its reason.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct TransposeChoice {
    /// Name of the property.
    pub what: &'static str,
    /// Its value.
    pub value: String,
    /// The reason, or the origin of the value.
    pub because: String,
}

/// The choices for a transpose, and their consequences.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct TransposeExplanation {
    /// The properties of the kernel, each with its reason.
    pub choices: Vec<TransposeChoice>,
    /// The memory accesses of one whole tile, counted in the host executor.
    pub tile: TransposeCounters,
    /// The maps in CuTe's notation.
    pub layouts: Vec<StatedLayout>,
    /// The order of steps, one line per section.
    pub schedule: Vec<String>,
}

/// Explains the kernel for a problem whose memory begins at multiples of 16 bytes.
///
/// # Errors
/// [`falchion::Error::Refused`] if the description is invalid.
pub fn explain_transpose(
    choice: &Choice,
    combine: Combine,
    element_bytes: u32,
    problem: &TransposeProblem,
) -> Result<TransposeExplanation, Error> {
    let desc = choice.desc(combine, element_bytes, problem);
    desc.check()?;
    let tile = tile(&desc)?;
    let mut choices = vec![origin(choice, &desc), shape(choice, &desc)];
    choices.extend(accesses(choice, &desc, problem));
    choices.extend([turn(&desc), staging(&desc, &tile)?, lanes(&desc), budget(&desc)]);
    let schedule = desc.schedule().to_string().lines().map(|line| line.trim().to_owned()).collect();
    Ok(TransposeExplanation { choices, tile, layouts: layouts_of_transpose(&desc), schedule })
}

fn origin(choice: &Choice, desc: &TransposeDesc) -> TransposeChoice {
    let because = match choice {
        Choice::Auto => "the problem's extents and leading dimensions".to_owned(),
        Choice::Desc(given) => {
            let rung = TransposeRung::ALL
                .into_iter()
                .find(|rung| rung.desc(given.combine, given.element_bytes) == *given);
            rung.map_or("a description".to_owned(), |rung| format!("the rung {}", rung.name()))
        }
    };
    TransposeChoice { what: "kernel", value: desc.to_string(), because }
}

fn shape(choice: &Choice, desc: &TransposeDesc) -> TransposeChoice {
    let TransposeDesc { rows, columns, threads, element_bytes, access_a, .. } = desc;
    let because = if is_resolved(choice) {
        format!("elements of {element_bytes} bytes, {access_a} of A at a time")
    } else {
        "as the kernel has it".to_owned()
    };
    TransposeChoice {
        what: "tile",
        value: format!("{rows} x {columns} elements of A by {threads} threads"),
        because,
    }
}

/// Returns whether the resolver selects the tile.
fn is_resolved(choice: &Choice) -> bool {
    matches!(choice, Choice::Auto)
}

/// Returns the widths of accesses to A and D, and what limits them.
fn accesses(
    choice: &Choice,
    desc: &TransposeDesc,
    problem: &TransposeProblem,
) -> [TransposeChoice; 2] {
    let stride = |matrix: View<Elements>| if problem.batch > 1 { matrix.batch_stride } else { 0 };
    let leading =
        |matrix: View<Elements>, rows: usize| if rows > 1 { matrix.leading(Order::Row) } else { 0 };
    let (a, d, b) = (problem.a, problem.d, problem.source());
    let of_a = [
        ("the number of columns", problem.columns),
        ("A's leading dimension", if problem.reads_a() { leading(a, problem.rows) } else { 0 }),
        ("A's stride", if problem.reads_a() { stride(a) } else { 0 }),
    ];
    let of_d = [
        ("the number of rows", problem.rows),
        ("D's leading dimension", leading(d, problem.columns)),
        ("D's stride", stride(d)),
        ("B's leading dimension", b.map_or(0, |b| leading(b, problem.columns))),
        ("B's stride", b.map_or(0, stride)),
    ];
    let said = |what, access: u32, numbers: &[(&str, usize)]| {
        let bytes = access * desc.element_bytes;
        let limit = numbers.iter().find(|(_, number)| !number.is_multiple_of(2 * access as usize));
        let because = match limit {
            _ if desc.is_gathered() => "rows are gathered: nothing has to be aligned".to_owned(),
            _ if bytes >= 16 => "the widest there is".to_owned(),
            _ if !is_resolved(choice) => "as the kernel has it".to_owned(),
            Some((name, number)) => {
                format!("{name}, {number}, is not a multiple of {}", 2 * access)
            }
            None => "the widest that this tile takes".to_owned(),
        };
        TransposeChoice { what, value: format!("{} ({bytes} bytes)", elements(access)), because }
    };
    [said("access to A", desc.access_a, &of_a), said("access to D", desc.access_d, &of_d)]
}
fn elements(count: u32) -> String {
    format!("{count} element{}", if count == 1 { "" } else { "s" })
}

/// Counts the memory accesses of one whole tile.
fn tile(desc: &TransposeDesc) -> Result<TransposeCounters, Error> {
    count_transpose(
        &TransposeProgram::of(desc),
        &TransposeProblem::packed(desc.rows as usize, desc.columns as usize),
    )
}

fn turn(desc: &TransposeDesc) -> TransposeChoice {
    let because = if desc.is_gathered() {
        "rows wait as they lie, and threads gather what they write".to_owned()
    } else if desc.is_staged() {
        format!("shared memory is written {} bytes at a time", desc.turn * desc.element_bytes)
    } else {
        "a thread writes what it has turned".to_owned()
    };
    TransposeChoice {
        what: "turned in registers",
        value: format!("{} of A", rows(desc.turn)),
        because,
    }
}

fn rows(count: u32) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

fn staging(desc: &TransposeDesc, with: &TransposeCounters) -> Result<TransposeChoice, Error> {
    let value = match desc.staging {
        Staging::Direct => {
            let value = "registers alone".to_owned();
            return Ok(TransposeChoice {
                what: "staging",
                value,
                because: "there is no shared memory".to_owned(),
            });
        }
        Staging::Gathered => {
            let GatheredTile { lines, pitch, group, skew } = desc.gathered();
            format!("[{lines}][{pitch}], {skew} further after every {}", rows(group))
        }
        Staging::Padded(0) => format!("[{}][{}]", desc.columns, desc.rows),
        Staging::Padded(padding) => format!("[{}][{} + {padding}]", desc.columns, desc.rows),
        Staging::Swizzled { bits, base, shift } => format!(
            "[{}][{}], chunks of {} swizzled by {bits} bits of the column from bit {shift} on",
            desc.columns,
            desc.rows,
            elements(1 << base)
        ),
    };
    let ratio =
        |shared: &SharedAccesses| format!("{} of {} wavefronts", shared.wavefronts, shared.ideal);
    let mut because =
        format!("a tile's stores take {}, its loads {}", ratio(&with.stores), ratio(&with.loads));
    if !matches!(desc.staging, Staging::Padded(0) | Staging::Gathered) {
        let without = tile(&TransposeDesc { staging: Staging::Padded(0), ..*desc })?;
        because +=
            &format!("; without, {} and {}", without.stores.wavefronts, without.loads.wavefronts);
    }
    Ok(TransposeChoice { what: "staging", value, because })
}

fn lanes(desc: &TransposeDesc) -> TransposeChoice {
    let (value, because) = match desc.lanes {
        Lanes::Along if desc.is_staged() => ("along D's rows", "a warp writes neighbours"),
        _ => ("across D's rows", "a warp writes as many rows of D as it has lanes"),
    };
    TransposeChoice {
        what: "lanes that write",
        value: value.to_owned(),
        because: because.to_owned(),
    }
}

fn budget(desc: &TransposeDesc) -> TransposeChoice {
    let available = ArchKind::Sm90.machine().shared_bytes_each_of(desc.blocks_per_sm);
    TransposeChoice {
        what: "blocks a multiprocessor",
        value: desc.blocks_per_sm.to_string(),
        because: format!(
            "about {} registers a thread, {} of {available} bytes of shared memory a block",
            desc.registers(),
            desc.smem_bytes()
        ),
    }
}
