//! `falchion transpose --ladder` verifies every rung, counts the accesses of each rung, and
//! measures each rung on a GPU.

use super::report::require_verified;
use crate::{
    args::TransposeArgs,
    cuda::Place,
    failure::Failure,
    print,
    progress::{Steps, during},
};
use falchion::numeric::ElementKind;
use falchion_lab::ladder::{TransposeClimb, TransposeRung, verify_transpose};

/// Runs the command.
pub fn run(args: &TransposeArgs, json: bool) -> Result<(), Failure> {
    let element = args.element.unwrap_or(ElementKind::F32);
    let extents =
        (args.rows.unwrap_or(TransposeClimb::SIZE), args.cols.unwrap_or(TransposeClimb::SIZE));
    let steps = Steps::new(TransposeRung::ALL.len());
    let climb = match Place::open(args.on)? {
        Place::Cuda(device) => {
            device.climb_transposes(extents, element, &mut |rung| steps.done(rung + 1))?
        }
        Place::Host => {
            for (number, rung) in TransposeRung::ALL.into_iter().enumerate() {
                require_verified(&verify_transpose(rung, element)?)?;
                steps.done(number + 1);
            }
            during("counting accesses", || TransposeClimb::counted(extents, element, "the host"))?
        }
    };
    drop(steps);
    if json {
        print::line(
            &serde_json::to_string(&climb).map_err(|error| Failure::refused(error.to_string()))?,
        );
        return Ok(());
    }
    print::line(&format!(
        "{} x {} {} transposed, on {}",
        climb.rows, climb.columns, climb.element, climb.on
    ));
    let head = TransposeClimb::HEAD.map(str::to_owned).to_vec();
    print::table(core::iter::once(head).chain(climb.table().into_iter().map(|row| row.to_vec())));
    Ok(())
}
