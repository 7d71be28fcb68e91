//! How fast a run goes on.

use std::time::Duration;

#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    window: Option<(Duration, u64)>,
    last: (Duration, u64),
    is_paused: bool,
    /// The time in which the run was paused.
    pub paused: Duration,
    /// The steps of the rest of the time.
    pub timed: u64,
    /// Steps a second; absent until it has been measured.
    pub per_second: Option<f64>,
}

impl Rate {
    /// What comes until the next step is done is not the run's time.
    pub fn pause(&mut self) {
        (self.is_paused, self.window) = (true, None);
    }

    pub fn update(&mut self, elapsed: Duration, steps: u64) {
        const WINDOW: Duration = Duration::from_millis(500);
        let (before, done) = self.last;
        if self.is_paused {
            // Pictures that are asked for in a pause come without a step.
            self.paused += elapsed.saturating_sub(before);
            self.is_paused = steps <= done;
        } else {
            self.timed += steps.saturating_sub(done);
        }
        self.last = (elapsed, steps);
        if self.is_paused {
            return;
        }
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

    #[test]
    fn a_pause_is_left_out() {
        let mut rate = Rate::default();
        let at = Duration::from_millis;
        rate.update(at(100), 10);
        rate.update(at(700), 70);
        rate.pause();
        // A picture that is asked for in the pause.
        rate.update(at(5_700), 70);
        rate.update(at(10_700), 71);
        rate.update(at(11_300), 131);
        assert_eq!((rate.per_second, rate.paused, rate.timed), (Some(100.0), at(10_000), 130));
    }
}
