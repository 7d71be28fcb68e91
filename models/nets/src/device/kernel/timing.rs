//! How often a launch is timed.

use std::time::Duration;

/// Launches are timed until there are so many,
const MOST_LAUNCHES: usize = 9;

/// or until they took so long together; one is timed in any case.
const LONG_ENOUGH: Duration = Duration::from_millis(300);

/// Whether another launch is worth timing.
pub(super) fn again(times: &[f64]) -> bool {
    times.len() < MOST_LAUNCHES && times.iter().sum::<f64>() < LONG_ENOUGH.as_secs_f64()
}

/// The middle one of some times; of an even number the mean of the two.
pub(super) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    match times.len() {
        0 => 0.0,
        length if length % 2 == 1 => times[length / 2],
        length => (times[length / 2 - 1] + times[length / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{again, median};

    #[test]
    fn short_launches_are_timed_often_and_long_ones_once() {
        assert!(again(&[1e-6]) && again(&[1e-6; 8]) && !again(&[1e-6; 9]));
        assert!(!again(&[0.4]) && again(&[0.1, 0.1]));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
