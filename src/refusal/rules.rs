//! Rules for numbers. Each returns a refusal with the nearest number that the rule accepts.

use super::{Advice, Because, Field, Legal, Refusal};

/// Refuses a number outside of `least` to `most`.
pub const fn within(field: Field, value: u64, least: u64, most: u64) -> Result<(), Refusal> {
    if value < least || value > most {
        Err(Refusal::out_of_range(field, value, least, most))
    } else {
        Ok(())
    }
}

/// Refuses a number that is not a multiple of `of`. The nearest multiple is the next greater one,
/// or the greatest up to `most`. `most` is at least `of`.
pub(crate) const fn multiple(field: Field, value: u64, of: u64, most: u64) -> Result<(), Refusal> {
    if value.is_multiple_of(of) {
        return Ok(());
    }
    let most = most / of * of;
    let nearest = if value > most - of { most } else { (value / of + 1) * of };
    Err(Refusal::not_multiple(field, value, of, nearest))
}

/// Returns the power of two nearest to `value`, from `least` to `most`, and the greater one on a
/// tie. Both limits are powers of two.
pub(crate) const fn nearest_power_of_two(value: u32, least: u32, most: u32) -> u32 {
    if value <= least {
        return least;
    }
    if value >= most {
        return most;
    }
    let above = value.next_power_of_two();
    if above - value <= value - above / 2 { above } else { above / 2 }
}

/// Returns the multiple of `of` nearest to `value`, up to `most`, and the greater one on a tie.
pub(crate) const fn nearest_multiple(value: u32, of: u32, most: u32) -> u32 {
    let below = value / of * of;
    let above = below + of;
    if above <= most && (below == 0 || above - value <= value - below) { above } else { below }
}

/// Refuses an alignment that is not a power of two, or exceeds 16 bytes.
pub(crate) const fn check_alignment(field: Field, align: u32, most: u32) -> Result<(), Refusal> {
    if align.is_power_of_two() && align <= most {
        return Ok(());
    }
    let legal = Legal::OneOf(match most {
        2 => &[1, 2],
        4 => &[1, 2, 4],
        8 => &[1, 2, 4, 8],
        _ => &[1, 2, 4, 8, 16],
    });
    let nearest = nearest_power_of_two(align, 1, most) as u64;
    Err(Refusal::not_one_of(field, align as u64, legal, nearest))
}

/// Adds a reason to the refusal of a rule.
pub(crate) const fn explained(rule: Result<(), Refusal>, because: Because) -> Result<(), Refusal> {
    match rule {
        Err(refusal) => Err(refusal.because(because)),
        Ok(()) => Ok(()),
    }
}

/// Adds an action to the nearest number of a refusal.
pub(crate) const fn or(rule: Result<(), Refusal>, action: &'static str) -> Result<(), Refusal> {
    match rule {
        Err(refusal) => Err(match refusal.nearest() {
            Some(nearest) => refusal.advise(Advice::ValueOr(nearest, action)),
            None => refusal,
        }),
        Ok(()) => Ok(()),
    }
}
