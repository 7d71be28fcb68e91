//! How often a launch is timed.

use std::time::Duration;

/// At most this many launches are timed,
const MOST_LAUNCHES: usize = 9;

/// or until they took so long together; one is timed in any case.
const LONG_ENOUGH: Duration = Duration::from_millis(300);

/// Whether another launch is worth timing.
pub(super) fn again(times: &[f64]) -> bool {
    times.len() < MOST_LAUNCHES && times.iter().sum::<f64>() < LONG_ENOUGH.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::again;

    #[test]
    fn short_launches_are_timed_often_and_long_ones_once() {
        assert!(again(&[1e-6]) && again(&[1e-6; 8]) && !again(&[1e-6; 9]));
        assert!(!again(&[0.4]) && again(&[0.1, 0.1]));
    }
}
