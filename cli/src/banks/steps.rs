//! Bank conflicts of every access of a kernel to shared memory.

use super::draw;
use crate::{args::BanksArgs, failure::Failure, gemm::description, print};
use falchion::{arch::ArchKind, refusal::Operand};
use falchion_lab::banks::{SharedStep, description_steps, wavefronts, without_threads};
use serde_json::{Value, json};

/// Counts the bank conflicts of every access.
pub fn run(args: &BanksArgs, json: bool) -> Result<(), Failure> {
    // Shared memory exists only on GPUs, so the default is the newest architecture.
    let desc = args.kernel.request()?.resolve(ArchKind::Sm90)?.desc;
    let steps = description_steps(&desc)?;
    draw(args.svg.as_deref(), steps.iter().map(|step| (title(step), step.worst)))?;
    if json {
        let object = json!({
            "steps": steps.iter().map(object).collect::<Vec<_>>(), "without_threads": without_threads(&desc),
            "description": description(&desc)?,
        });
        print::line(&object.to_string());
        return Ok(());
    }
    let head = ["step", "operand", "bytes", "accesses", "wavefronts", "ideal", "ratio", "worst"]
        .map(str::to_owned);
    print::table([head.to_vec()].into_iter().chain(steps.iter().map(row)));
    print::line(
        "\nMain-loop counts are per CTA and k-tile. Epilogue counts are per CTA and tile of D. worst is a single access.",
    );
    let others = without_threads(&desc);
    if !others.is_empty() {
        print::line("");
    }
    for other in others {
        print::line(&other);
    }
    Ok(())
}

fn operand(step: &SharedStep) -> &'static str {
    step.operand.map_or("-", Operand::name)
}

fn title(step: &SharedStep) -> String {
    match step.operand {
        Some(operand) => format!("{} of {}, the worst access", step.purpose.name(), operand.name()),
        None => format!("{} of accumulators, the worst access", step.purpose.name()),
    }
}

fn row(step: &SharedStep) -> Vec<String> {
    let &SharedStep { purpose, accesses, wavefronts: taken, ideal, worst, .. } = step;
    vec![
        purpose.name().to_owned(),
        operand(step).to_owned(),
        worst.bytes().to_string(),
        accesses.to_string(),
        taken.to_string(),
        ideal.to_string(),
        format!("{:.2}", step.ratio()),
        wavefronts(&worst).wavefronts.to_string(),
    ]
}

fn object(step: &SharedStep) -> Value {
    let &SharedStep { purpose, operand, accesses, wavefronts: taken, ideal, worst } = step;
    json!({
        "step": purpose.name(), "operand": operand.map(Operand::name), "bytes": worst.bytes(), "accesses": accesses,
        "wavefronts": taken, "ideal": ideal, "conflicts": step.conflicts(), "worst": wavefronts(&worst).wavefronts,
        "worst_addresses": worst.lanes(),
    })
}
