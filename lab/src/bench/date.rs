//! The date of a measurement.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the date of `time` in UTC, such as `2026-11-20`. Times before 1970 give 1970-01-01.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
#[must_use]
pub fn utc_date(time: SystemTime) -> String {
    let days = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    // Years begin in March, and eras of 400 years begin on 0000-03-01, so the leap day is the last
    // day of a year.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let (civil_month, civil_day) =
        (if month < 10 { month + 3 } else { month - 9 }, day_of_year - (153 * month + 2) / 5 + 1);
    format!("{:04}-{civil_month:02}-{civil_day:02}", era * 400 + year + u64::from(civil_month <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_include_leap_days() {
        let on = |days: u64| utc_date(UNIX_EPOCH + Duration::from_secs(days * 86_400 + 3_600));
        assert_eq!(
            [on(0), on(11_016), on(11_017), on(19_782), on(20_777)],
            ["1970-01-01", "2000-02-29", "2000-03-01", "2024-02-29", "2026-11-20"]
        );
    }
}
