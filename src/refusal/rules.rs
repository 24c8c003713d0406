//! Rules that many a number is held to: each refuses what breaks it, with the nearest number that
//! does not.

use super::{Field, Legal, Refusal};

/// Refuses what is not from `least` to `most`.
pub const fn within(field: Field, value: u64, least: u64, most: u64) -> Result<(), Refusal> {
    if value < least || value > most {
        Err(Refusal::OutOfRange { field, value, least, most })
    } else {
        Ok(())
    }
}

/// `value` is a multiple of `of`; the next one above is the nearest, or the last one up to `most`,
/// which is no less than `of`.
pub(crate) const fn multiple(field: Field, value: u64, of: u64, most: u64) -> Result<(), Refusal> {
    if value.is_multiple_of(of) {
        return Ok(());
    }
    let most = most / of * of;
    let nearest = if value > most - of { most } else { (value / of + 1) * of };
    Err(Refusal::NotMultiple { field, value, of, nearest })
}

/// The power of two from `least` to `most`, both powers of two, that is nearest to `value`; of two
/// such, the greater.
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

/// The multiple of `of`, up to `most`, that is nearest to `value`; of two such, the greater.
pub(crate) const fn nearest_multiple(value: u32, of: u32, most: u32) -> u32 {
    let below = value / of * of;
    let above = below + of;
    if above <= most && (below == 0 || above - value <= value - below) { above } else { below }
}

/// Refuses what is no power of two, or is wider than 16 bytes.
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
    Err(Refusal::NotOneOf { field, value: align as u64, legal, nearest })
}
