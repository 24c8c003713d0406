//! What a problem becomes on a machine: tiles, waves, passes.

use falchion::{
    Error,
    arch::Machine,
    desc::GemmDesc,
    device::Explanation,
    internals::{call::Problem, operand::Axis},
};

/// How a problem falls into tiles and waves there, and how its operands reach the kernel: what, and how.
///
/// # Errors
/// Those of [`GemmDesc::check_on`].
pub fn on_machine(desc: &GemmDesc, problem: &Problem, machine: &Machine) -> Result<Vec<(&'static str, String)>, Error> {
    desc.check_on(machine)?;
    let explanation = desc.explain()?;
    let tile = desc.threadblock();
    let extent = |axis: Axis| match axis.framed(desc.frame) {
        Axis::M => problem.m,
        Axis::N => problem.n,
        Axis::K => problem.k,
    };
    let (m, n) = (extent(Axis::M), extent(Axis::N));
    let (down, across) = (m.div_ceil(tile.m.max(1) as usize), n.div_ceil(tile.n.max(1) as usize));
    let tiles = down as f64 * across as f64 * problem.batch as f64;
    let filled = (m as f64 * n as f64) / (down as f64 * across as f64 * f64::from(tile.m) * f64::from(tile.n));
    let side_by_side = side_by_side(&explanation, machine);
    let slots = f64::from(side_by_side) * f64::from(machine.multiprocessors);
    let waves = tiles / slots;
    let busy = waves / waves.ceil();
    let products = if problem.batch == 1 { String::new() } else { format!(", {} products", problem.batch) };
    let mut facts = Vec::new();
    if tiles > 0.0 {
        facts.push((
            "tiles of D",
            format!("{down} x {across} of {} x {}{products}; {:.0} % of them is D", tile.m, tile.n, 100.0 * filled),
        ));
        facts.push((
            "waves",
            format!(
                "{waves:.2}: {} multiprocessors, {side_by_side} {} each at a time; {:.0} % of {} are used",
                machine.multiprocessors,
                if side_by_side == 1 { "block" } else { "blocks" },
                100.0 * busy,
                waves.ceil()
            ),
        ));
    }
    let routes = desc.routes(problem)?;
    let workspace = match routes.workspace_bytes() {
        0 => String::new(),
        bytes => format!(", in a workspace of {bytes} bytes"),
    };
    facts.push(("operands", format!("{routes}{workspace}")));
    Ok(facts)
}

/// Blocks that a multiprocessor holds at a time, by its registers, threads and shared memory.
fn side_by_side(explanation: &Explanation, machine: &Machine) -> u32 {
    match explanation {
        Explanation::Simt(facts) => {
            let threads = facts.threads.max(1);
            let registers = machine.registers_per_sm / (facts.registers.max(1) * threads);
            let most = (machine.threads_per_sm / threads).min(registers).max(1);
            (1..=most).rev().find(|&blocks| machine.shared_bytes_each_of(blocks) >= facts.smem_bytes).unwrap_or(1)
        }
        // Persistent: one a multiprocessor.
        Explanation::WarpSpecialized(_) => 1,
    }
}
