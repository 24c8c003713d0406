//! Ranges of values in the texts of a space.

/// Largest number of values of a range.
const MOST_OF_RANGE: u32 = 1 << 10;

/// Returns the values of a range, `2-8` or `2..8`. Any other text is a single value.
pub(super) fn range(text: &str) -> Vec<String> {
    let ends = text.split_once("..").or_else(|| text.split_once('-'));
    let ends = ends.and_then(|(first, last)| {
        Some((first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?))
    });
    match ends {
        Some((first, last)) if first <= last && last - first < MOST_OF_RANGE => {
            (first..=last).map(|value| value.to_string()).collect()
        }
        _ => vec![text.to_owned()],
    }
}
