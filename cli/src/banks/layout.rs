//! Bank conflicts of one access: a layout of data and a layout of threads.

use super::draw;
use crate::{args::BanksArgs, failure::Failure, print};
use falchion::numeric::ElementKind;
use falchion_lab::banks::{Direction, LANES, wavefronts};
use falchion_lab::{
    banks::LaidAccess,
    layout::expression::{Value, evaluate},
};
use serde_json::json;

/// Counts the bank conflicts of one access.
pub fn run(args: &BanksArgs, layout: &str, threads: &str, json: bool) -> Result<(), Failure> {
    if !args.kernel.is_silent() {
        return Err(Failure::refused(
            "--layout describes one access without a kernel; remove --layout, or the flags of the kernel",
        ));
    }
    let laid = LaidAccess {
        data: expression("--layout", layout)?,
        threads: expression("--threads", threads)?,
        element: args.element.unwrap_or(ElementKind::F32),
        access: args.access.unwrap_or(1),
        direction: if args.store { Direction::Store } else { Direction::Load },
    };
    let access = laid.warp().map_err(|error| Failure::refused(error.to_string()))?;
    let taken = wavefronts(&access);
    let title = format!("{} of {}, threads {}", laid.element, laid.data, laid.threads);
    draw(args.svg.as_deref(), [(title, access)])?;
    if json {
        let object = json!({
            "layout": laid.data.to_string(), "threads": laid.threads.to_string(), "element": laid.element,
            "direction": access.direction().name(), "bytes": access.bytes(), "addresses": access.lanes(),
            "wavefronts": taken.wavefronts, "ideal": taken.ideal, "conflicts": taken.conflicts(),
        });
        print::line(&object.to_string());
        return Ok(());
    }
    let lanes = format!(
        "{} of {LANES}, {} {} bytes each",
        access.active(),
        access.direction().name(),
        access.bytes()
    );
    let rows = [
        ("lanes", lanes),
        ("wavefronts", taken.wavefronts.to_string()),
        ("ideal", taken.ideal.to_string()),
        ("conflicts", taken.conflicts().to_string()),
    ];
    print::table(rows.map(|(what, how)| vec![what.to_owned(), how]));
    Ok(())
}

/// Evaluates an expression of the layout algebra. The error has a caret under the fault.
fn expression(flag: &str, text: &str) -> Result<Value, Failure> {
    evaluate(text).map_err(|error| Failure::refused(format!("{flag}: {error}")))
}
