//! How fast a run goes on.

use std::time::Duration;

#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    window: Option<(Duration, u64)>,
    /// Steps a second; absent until it has been measured.
    pub per_second: Option<f64>,
}

impl Rate {
    pub fn update(&mut self, elapsed: Duration, steps: u64) {
        const WINDOW: Duration = Duration::from_millis(500);
        let (since, from) = *self.window.get_or_insert((elapsed, steps));
        let span = elapsed.saturating_sub(since);
        if span >= WINDOW {
            self.per_second = Some(steps.saturating_sub(from) as f64 / span.as_secs_f64());
            self.window = Some((elapsed, steps));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_measured_over_half_a_second() {
        let mut rate = Rate::default();
        for (millis, steps, measured) in [(0, 0, None), (100, 50, None), (500, 250, Some(500.0))] {
            rate.update(Duration::from_millis(millis), steps);
            assert_eq!(rate.per_second, measured);
        }
    }
}
