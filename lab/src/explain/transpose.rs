//! Explanations of transposes, for `falchion transpose --explain`.

use super::{StatedLayout, layouts_of_transpose};
use crate::{
    Error,
    counters::{SharedAccesses, TransposeCounters, count_transpose},
    ladder::TransposeRung,
};
use falchion::{
    arch::ArchKind,
    internals::operand::{
        Elements, Problem, View,
        transpose::{Choice, GatheredTile, Lanes, Staging, TransposeDesc, TransposeProgram},
    },
    layout::Order,
    numeric::ElementKind,
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
    kind: ElementKind,
    problem: &Problem,
) -> Result<TransposeExplanation, Error> {
    let desc = choice.desc(kind, problem);
    desc.check()?;
    let problem = &problem.read_by_transpose();
    let tile = tile(&desc)?;
    let mut choices = vec![origin(choice, &desc), shape(choice, &desc)];
    choices.extend(accesses(choice, &desc, problem));
    choices.extend([
        transposed_in_registers(&desc),
        staging(&desc, &tile)?,
        lanes(&desc),
        budget(&desc),
    ]);
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
        "given by the description".to_owned()
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
fn accesses(choice: &Choice, desc: &TransposeDesc, problem: &Problem) -> [TransposeChoice; 2] {
    let Problem { m: columns, n: rows, .. } = *problem;
    let stride = |matrix: View<Elements>| if problem.batch > 1 { matrix.batch_stride } else { 0 };
    let leading =
        |matrix: View<Elements>, rows: usize| if rows > 1 { matrix.leading(Order::Row) } else { 0 };
    let (a, d, c) = (problem.a.transposed(), problem.d, problem.read_source());
    let a = Some(a).filter(|_| problem.k > 0);
    let of_a = [
        ("the number of columns", columns),
        ("A's leading dimension", a.map_or(0, |a| leading(a, rows))),
        ("A's batch stride", a.map_or(0, stride)),
    ];
    let of_d = [
        ("the number of rows", rows),
        ("D's leading dimension", leading(d, columns)),
        ("D's batch stride", stride(d)),
        ("C's leading dimension", c.map_or(0, |c| leading(c, columns))),
        ("C's batch stride", c.map_or(0, stride)),
    ];
    let explained = |what, access: u32, numbers: &[(&str, usize)]| {
        let bytes = access * desc.element_bytes;
        let limit = numbers.iter().find(|(_, number)| !number.is_multiple_of(2 * access as usize));
        let because = match limit {
            _ if desc.is_gathered() => "gathered rows need no alignment".to_owned(),
            _ if bytes >= 16 => "the widest access".to_owned(),
            _ if !is_resolved(choice) => "given by the description".to_owned(),
            Some((name, number)) => {
                format!("{name} = {number} is not a multiple of {}", 2 * access)
            }
            None => "the widest access of this tile".to_owned(),
        };
        TransposeChoice { what, value: format!("{} ({bytes} bytes)", elements(access)), because }
    };
    [explained("access to A", desc.access_a, &of_a), explained("access to D", desc.access_d, &of_d)]
}

fn elements(count: u32) -> String {
    format!("{count} element{}", if count == 1 { "" } else { "s" })
}

/// Counts the memory accesses of one whole tile.
fn tile(desc: &TransposeDesc) -> Result<TransposeCounters, Error> {
    let problem = Problem::packed_transpose(desc.rows as usize, desc.columns as usize);
    count_transpose(&TransposeProgram::new(desc), &problem)
}

fn transposed_in_registers(desc: &TransposeDesc) -> TransposeChoice {
    let because = if desc.is_gathered() {
        "rows stay as they are in shared memory, and threads gather the elements of D".to_owned()
    } else if desc.is_staged() {
        format!("a store to shared memory has {} bytes", desc.thread_rows * desc.element_bytes)
    } else {
        "a thread stores the elements that it transposes".to_owned()
    };
    TransposeChoice {
        what: "transposed in registers",
        value: format!("{} of A", rows(desc.thread_rows)),
        because,
    }
}

fn rows(count: u32) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

fn staging(desc: &TransposeDesc, with: &TransposeCounters) -> Result<TransposeChoice, Error> {
    let value = match desc.staging {
        Staging::Direct => {
            let value = "registers".to_owned();
            return Ok(TransposeChoice {
                what: "staging",
                value,
                because: "the kernel uses no shared memory".to_owned(),
            });
        }
        Staging::Gathered => {
            let GatheredTile { lines, pitch, group, skew } = desc.gathered();
            format!(
                "[{lines}][{pitch}], with an offset of {skew} elements after every {}",
                rows(group)
            )
        }
        Staging::Padded(0) => format!("[{}][{}]", desc.columns, desc.rows),
        Staging::Padded(padding) => format!("[{}][{} + {padding}]", desc.columns, desc.rows),
        Staging::Swizzled { bits, base, shift } => format!(
            "[{}][{}], chunks of {} swizzled by {bits} bits of the column, from bit {shift}",
            desc.columns,
            desc.rows,
            elements(1 << base)
        ),
    };
    let ratio = |shared: &SharedAccesses| {
        format!("{} wavefronts (ideal {})", shared.wavefronts, shared.ideal)
    };
    let mut because = format!(
        "the stores of a tile take {}, and its loads {}",
        ratio(&with.stores),
        ratio(&with.loads)
    );
    if !matches!(desc.staging, Staging::Padded(0) | Staging::Gathered) {
        let without = tile(&TransposeDesc { staging: Staging::Padded(0), ..*desc })?;
        because += &format!(
            "; without it, {} and {}",
            without.stores.wavefronts, without.loads.wavefronts
        );
    }
    Ok(TransposeChoice { what: "staging", value, because })
}

fn lanes(desc: &TransposeDesc) -> TransposeChoice {
    let (value, because) = match desc.lanes {
        Lanes::Along if desc.is_staged() => {
            ("along D's rows", "a warp stores consecutive elements")
        }
        _ => ("across D's rows", "each lane of a warp stores to its own row of D"),
    };
    TransposeChoice {
        what: "direction of stores",
        value: value.to_owned(),
        because: because.to_owned(),
    }
}

fn budget(desc: &TransposeDesc) -> TransposeChoice {
    let available = ArchKind::Sm90.machine().shared_bytes_each_of(desc.blocks_per_sm);
    TransposeChoice {
        what: "thread blocks per SM",
        value: desc.blocks_per_sm.to_string(),
        because: format!(
            "about {} registers per thread, and {} of {available} bytes of shared memory per thread block",
            desc.registers(),
            desc.smem_bytes()
        ),
    }
}
