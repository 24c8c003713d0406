//! Selection of the peer's algorithms for the rounds.

/// Number of fastest algorithms that enter the rounds.
pub const FASTEST: usize = 3;

/// Returns the indices of the [`FASTEST`] smallest of `times` and of the first, in ascending order.
///
/// A brief timing may be off by a percent or two, so the rounds determine the winner. `None` stands
/// for an algorithm that did not run.
#[must_use]
pub fn select(times: &[Option<f64>]) -> Vec<usize> {
    let mut ran: Vec<(f64, usize)> =
        times.iter().enumerate().filter_map(|(i, time)| time.map(|t| (t, i))).collect();
    ran.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    let mut chosen: Vec<usize> = ran.iter().take(FASTEST).map(|&(_, i)| i).collect();
    if matches!(times.first(), Some(Some(_))) && !chosen.contains(&0) {
        chosen.push(0);
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::select;

    #[test]
    fn the_three_fastest_and_the_first_are_selected() {
        let all = |times: &[f64]| select(&times.iter().copied().map(Some).collect::<Vec<_>>());
        assert_eq!(all(&[9.0, 5.0, 1.0, 7.0, 2.0, 3.0]), [0, 2, 4, 5]);
        assert_eq!(all(&[1.0, 5.0, 4.0, 7.0]), [0, 1, 2]);
        assert_eq!(all(&[2.0, 2.0, 2.0, 2.0]), [0, 1, 2]);
        assert_eq!(all(&[3.0, 2.0]), [0, 1]);
        assert_eq!(all(&[]), [0usize; 0]);
    }

    #[test]
    fn refused_algorithms_are_not_selected() {
        assert_eq!(select(&[None, Some(2.0), None, Some(1.0)]), [1, 3]);
        assert_eq!(select(&[None, None]), [0usize; 0]);
    }
}
