//! Order statistics and the geometric mean.

/// The three quartiles of a sample, by linear interpolation between order statistics (R's type 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter of the sample is smaller.
    pub lower: f64,
    /// Half of the sample is smaller.
    pub median: f64,
    /// Three quarters of the sample are smaller.
    pub upper: f64,
}

impl Quartiles {
    /// Returns the quartiles of `sample`, in any order; `None` if it is empty or contains NaN.
    #[must_use]
    pub fn from_samples(sample: &[f64]) -> Option<Self> {
        if sample.is_empty() || sample.iter().any(|x| x.is_nan()) {
            return None;
        }
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |quarter: f64| {
            let position = quarter * (sorted.len() - 1) as f64;
            let below = position.floor() as usize;
            let above = position.ceil() as usize;
            sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
        };
        Some(Self { lower: at(0.25), median: at(0.5), upper: at(0.75) })
    }

    /// Returns the interquartile range divided by the median: 0.01 is one percent.
    #[must_use]
    pub fn spread(&self) -> f64 {
        (self.upper - self.lower) / self.median
    }
}

/// Returns the median of `sample`; `None` if it is empty or contains NaN.
#[must_use]
pub fn median(sample: &[f64]) -> Option<f64> {
    Quartiles::from_samples(sample).map(|q| q.median)
}

/// Returns the geometric mean of `sample`; `None` if it is empty or contains a number that is not
/// positive.
#[must_use]
pub fn geometric_mean(sample: &[f64]) -> Option<f64> {
    if sample.is_empty() || !sample.iter().all(|&x| x > 0.0) {
        return None;
    }
    Some((sample.iter().map(|x| x.ln()).sum::<f64>() / sample.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_known_samples() {
        let q = Quartiles::from_samples(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!((q.lower, q.median, q.upper), (2.0, 3.0, 4.0));
        let q = Quartiles::from_samples(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((q.lower, q.median, q.upper), (1.75, 2.5, 3.25));
        let q = Quartiles::from_samples(&[7.0]).unwrap();
        assert_eq!((q.lower, q.median, q.upper, q.spread()), (7.0, 7.0, 7.0, 0.0));
    }

    #[test]
    fn spread_is_relative_to_the_median() {
        let q = Quartiles { lower: 99.0, median: 100.0, upper: 101.0 };
        assert!((q.spread() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn empty_and_nan_samples_have_no_statistics() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        assert!((geometric_mean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-12);
        assert!((geometric_mean(&[1.0, 10.0, 100.0]).unwrap() - 10.0).abs() < 1e-9);
    }
}
