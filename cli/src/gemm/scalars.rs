//! Scalars of the epilogue from the flags: alpha, beta, and s2 to s7.

use crate::{args::GemmArgs, failure::Failure};
use falchion::{
    epilogue::{EpilogueDesc, Op, SCALARS},
    nest::GemmDesc,
};

/// The scalars of a GEMM. Without flags, alpha is 1 and beta is 0. Refuses a flag for a scalar that
/// the epilogue does not read, and a missing flag of s2 to s7.
pub fn from_args(args: &GemmArgs, desc: &GemmDesc) -> Result<[f64; SCALARS], Failure> {
    let (mut given, epilogue) = ([None; SCALARS], &desc.epilogue.leave(desc.frame));
    (given[0], given[1]) = (args.alpha, args.beta);
    for text in &args.scalars {
        let refuse = |because: &str| Failure::refused(format!("--scalar {text}: {because}"));
        let (slot, value) = text
            .split_once('=')
            .ok_or_else(|| refuse("the value must be SLOT=X, such as 2=0.1"))?;
        let slot =
            slot.trim_start_matches('s').parse().ok().filter(|slot| (2..SCALARS).contains(slot));
        let slot =
            slot.ok_or_else(|| refuse("slots are 2 to 7; slots 0 and 1 are --alpha and --beta"))?;
        let value = value.parse().map_err(|_| refuse("the value is not a number"))?;
        if given[slot].replace(value).is_some() {
            return Err(refuse("the flags set the slot twice"));
        }
    }
    let integers = desc.user_types().c.is_integer();
    let mut scalars = [0.0; SCALARS];
    for (slot, scalar) in scalars.iter_mut().enumerate() {
        let flag = match slot {
            0 => "--alpha".to_owned(),
            1 => "--beta".to_owned(),
            _ => format!("--scalar {slot}=X"),
        };
        *scalar = match (given[slot], reads(epilogue, slot)) {
            (Some(_), false) => {
                return Err(Failure::refused(format!(
                    "the epilogue {epilogue} does not read {flag}"
                )));
            }
            (None, true) if slot > 1 => {
                return Err(Failure::refused(format!(
                    "the epilogue {epilogue} reads s{slot}; set it with {flag}"
                )));
            }
            (Some(value), true) if integers && !f64::is_finite(value) => {
                return Err(Failure::refused(format!(
                    "{flag} is {value}, but D holds integers; set a finite number"
                )));
            }
            (value, _) => value.unwrap_or(if slot == 0 { 1.0 } else { 0.0 }),
        };
    }
    Ok(scalars)
}

/// Whether the epilogue reads a scalar.
fn reads(epilogue: &EpilogueDesc, slot: usize) -> bool {
    epilogue.ops().iter().any(|op| matches!(op, Op::Scalar(at) if usize::from(*at) == slot))
}
